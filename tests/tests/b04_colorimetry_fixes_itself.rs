//! Colorimetry and interlacing need not be spelt out: what a source offers and a sink takes meets,
//! and where it does not, the error is about colorimetry. (B04: a camera and an encoder with the
//! same format and size did not agree until the user named both.)

mod negotiating;

use negotiating::{agreed, all_caps, assert_minimal, failure, sides};

fn line(camera: &str, between: &str) -> String {
    format!(
        "capssrc caps=\"video/x-raw,format=NV12,width=1280,height=720,{camera}\" ! {between} \
         ! capssink caps=\"video/x-raw,format=NV12,colorimetry=bt709,interlace-mode=progressive\""
    )
}

const CAMERA: &str = "colorimetry={bt601,bt709,srgb},interlace-mode={progressive,mixed}";
const FILTER: &str = "video/x-raw,format=NV12,width=1280,height=720";

#[test]
fn the_case() {
    let want = "video/x-raw,format=NV12,width=1280,height=720,colorimetry=bt709,\
                interlace-mode=progressive";
    let want: tickpipe::components::caps::Caps = want.parse().expect("caps");
    let through = format!("queue ! {FILTER} ! identity");
    for between in [FILTER, "queue", "tee name=t ! queue", &through] {
        let text = line(CAMERA, between);
        let plan = agreed(&text);
        for link in &plan.links {
            assert_eq!(link.caps, want, "{text}\n{plan}");
        }
        assert_eq!(plan.cost.conversion_cost(), 0, "{text}");
        assert!(plan.conversions.is_empty(), "{text}");
    }
}

#[test]
fn the_order_of_what_is_offered_decides_where_the_sink_does_not() {
    let text = format!("capssrc caps=\"video/x-raw,format=NV12,{CAMERA}\" ! {FILTER} ! capssink");
    for caps in all_caps(&agreed(&text)) {
        assert!(caps.contains("colorimetry=bt601"), "{caps}");
        assert!(caps.contains("interlace-mode=progressive"), "{caps}");
    }
    let text = format!(
        "capssrc caps=\"video/x-raw,format=NV12,{CAMERA}\" ! {FILTER} \
         ! capssink caps=video/x-raw,colorimetry={{srgb,bt709}}"
    );
    // The source is asked first.
    for caps in all_caps(&agreed(&text)) {
        assert!(caps.contains("colorimetry=bt709"), "{caps}");
    }
}

#[test]
fn the_variant_is_about_colorimetry() {
    let text = line(
        "colorimetry=jpeg,interlace-mode={progressive,mixed}",
        FILTER,
    );
    let failure = failure(&text);
    let conflict = &failure.conflicts[0];
    assert_eq!(conflict.field(), Some("colorimetry"), "{failure}");
    assert_eq!(
        sides(conflict),
        [("capssrc0.src", "jpeg"), ("capssink0.sink", "bt709")]
    );
    assert_eq!(conflict.path, ["capssrc0", "capsfilter0", "capssink0"]);
    let told = failure.to_string();
    assert!(
        told.contains("cannot agree on colorimetry: jpeg against bt709"),
        "{told}"
    );
    assert!(!told.contains("format"), "{told}");
    assert_minimal(&text, conflict);
    assert_eq!(failure.conflicts.len(), 1);
}

#[test]
#[cfg(feature = "video")]
fn a_converter_settles_it() {
    // One that the converter knows, at a rate that it can keep.
    let camera = "colorimetry=bt601,interlace-mode={progressive,mixed},framerate=30/1";
    let text = line(camera, FILTER);
    let failure = failure(&text);
    insta::assert_snapshot!(failure, @r"
    capssrc0.src and capssink0.sink cannot agree on colorimetry: bt601 against bt709 (path: capssrc0 -> capsfilter0 -> capssink0)
      it works if you insert videoconvert between capsfilter0.src and capssink0.sink
    ");
    assert!(failure.mended);
    let plan = agreed(&negotiating::mended(&text, &failure));
    let last = plan.links.last().expect("links").caps.to_string();
    assert!(last.contains("colorimetry=bt709"), "{last}");
    let conversion = &plan.conversions[0];
    assert_eq!(conversion.element, "videoconvert0");
    assert_eq!(conversion.fields[0].0, "colorimetry");
}

#[test]
fn other_variants_are_about_what_differs() {
    for (camera, field, against) in [
        (
            "colorimetry=bt709,interlace-mode=mixed",
            "interlace-mode",
            "mixed",
        ),
        (
            "colorimetry={bt601,srgb},interlace-mode=progressive",
            "colorimetry",
            "{bt601,srgb}",
        ),
    ] {
        let text = line(camera, FILTER);
        let failure = failure(&text);
        let conflict = &failure.conflicts[0];
        assert_eq!(conflict.field(), Some(field), "{failure}");
        assert_eq!(sides(conflict)[0], ("capssrc0.src", against), "{failure}");
        assert_minimal(&text, conflict);
    }
}

#[test]
#[cfg(feature = "video")]
fn real_elements_agree_on_their_own() {
    let plan = agreed(
        "videotestsrc ! video/x-raw,format=NV12,width=1280,height=720 \
         ! capssink caps=video/x-raw,format=NV12,colorimetry=bt709,interlace-mode=progressive",
    );
    for link in &plan.links {
        let caps = link.caps.to_string();
        assert!(caps.contains("colorimetry=bt709"), "{caps}");
        assert!(caps.contains("interlace-mode=progressive"), "{caps}");
    }
}
