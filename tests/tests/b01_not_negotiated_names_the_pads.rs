//! A graph without caps names the pads that cannot agree, the field, what each can have, the way
//! between them, and a change that makes the graph work; never an innocent source. (B01: `reason
//! not-negotiated (-4)` of the source, far from the conflict.)

mod negotiating;

use negotiating::{
    agreed, assert_minimal, caps_at, engine, failure, fixes, launch, mended, pad_caps, run, sides,
    told,
};
use tickpipe::components::buffer::BufferSlot;

/// `src{NV12, w=16..4096, h=480, 30/1} -> queue -> identity -> filter{w=320} -> convert(format only)
/// -> sink{w=640}`.
const CASE: &str = "capssrc caps=\"video/x-raw,format=NV12,width=[16,4096],height=480,framerate=30/1\" \
     ! queue ! identity ! video/x-raw,width=320 \
     ! capsmap map=\"video/x-raw,format=NV12 -> video/x-raw,format=I420\" \
     ! capssink caps=\"video/x-raw,width=640\"";

#[test]
#[cfg(feature = "video")]
fn the_case() {
    insta::assert_snapshot!(told(CASE), @r"
    capsfilter0.src and capssink0.sink cannot agree on width: 320 against 640 (path: capsfilter0 -> capsmap0 -> capssink0)
      it works if you insert videoscale between capsmap0.src and capssink0.sink
    ");
    let failure = failure(CASE);
    assert!(failure.mended && !failure.cut_short);
    let [conflict] = &failure.conflicts[..] else {
        panic!("{failure}");
    };
    assert_eq!(conflict.field(), Some("width"));
    assert_eq!(conflict.fields, ["width"]);
    let want = [("capsfilter0.src", "320"), ("capssink0.sink", "640")];
    assert_eq!(sides(conflict), want);
    assert_eq!(conflict.path, ["capsfilter0", "capsmap0", "capssink0"]);
    assert_minimal(CASE, conflict);
    // The change is what a person would write, and the graph has caps then.
    let by_hand = CASE.replace("! capssink", "! videoscale ! capssink");
    for text in [by_hand, mended(CASE, &failure)] {
        let plan = agreed(&text);
        let last = caps_at(&plan, "videoscale0.src");
        assert!(last.contains("width=640"), "{text}: {last}");
        let before = caps_at(&plan, "capsmap0.src");
        assert!(before.contains("width=320"), "{text}: {before}");
        assert_eq!(plan.cost.conversion_cost(), 2, "{text}");
    }
}

#[test]
fn it_fails_before_any_buffer_exists() {
    let mut engine = engine();
    let pipeline = launch(&mut engine, CASE);
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "failed");
    let conflict = report.conflict.as_ref().expect("a conflict");
    assert_eq!(conflict.field.as_deref(), Some("width"));
    let pads: Vec<&str> = conflict.pads.iter().map(|p| p.0.as_str()).collect();
    assert_eq!(pads, ["capsfilter0.src", "capssink0.sink"]);
    assert_eq!(conflict.path, ["capsfilter0", "capsmap0", "capssink0"]);
    for element in &report.elements {
        assert_eq!(
            (element.buffers_in, element.buffers_out),
            (0, 0),
            "{element:?}"
        );
    }
    assert!(report.pools.is_empty(), "{:?}", report.pools);
    let world = engine.world_mut();
    assert_eq!(world.query::<&BufferSlot>().iter(world).count(), 0);
    // The message is the pipeline's: no element is blamed, the source least of all.
    let errors: Vec<_> = report
        .messages
        .iter()
        .filter(|m| m.kind == "error")
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].element, None);
    assert_eq!(errors[0].domain.as_deref(), Some("caps"));
    assert_eq!(errors[0].code.as_deref(), Some("not-negotiated"));
    assert!(pad_caps(&mut engine).iter().all(|(_, caps)| caps == "ANY"));
}

/// A graph with one conflict of two members that are elements with caps: its text, field, members
/// with their values, path, and what to do.
struct Case {
    text: &'static str,
    field: &'static str,
    sides: [(&'static str, &'static str); 2],
    path: &'static str,
    fix: &'static [&'static str],
}

fn check(case: &Case) {
    let text = case.text;
    let failure = failure(text);
    let [conflict] = &failure.conflicts[..] else {
        panic!("{text}\nhas several conflicts: {failure}");
    };
    assert_eq!(conflict.field(), Some(case.field), "{text}\n{failure}");
    assert_eq!(sides(conflict), case.sides, "{text}\n{failure}");
    assert_eq!(conflict.path.join(" "), case.path, "{text}\n{failure}");
    assert_eq!(fixes(conflict), case.fix, "{text}\n{failure}");
    assert_minimal(text, conflict);
    assert!(!failure.cut_short, "{text}");
    assert_eq!(failure.mended, !case.fix.is_empty(), "{text}");
    // Innocent elements are not named but on the way.
    let told = failure.to_string();
    let before_path = told.split("(path:").next().unwrap_or("");
    for innocent in ["videotestsrc", "queue", "identity"] {
        assert!(!before_path.contains(innocent), "{text}\n{told}");
    }
    if failure.mended {
        agreed(&mended(text, &failure));
    }
}

#[test]
#[cfg(feature = "video")]
fn with_real_elements() {
    for case in [
        Case {
            text: "videotestsrc ! queue ! identity ! video/x-raw,width=320 ! videoconvert \
                   ! video/x-raw,width=640 ! fakesink",
            field: "width",
            sides: [("capsfilter0.src", "320"), ("capsfilter1.sink", "640")],
            path: "capsfilter0 videoconvert0 capsfilter1",
            fix: &["insert videoscale between videoconvert0.src and capsfilter1.sink"],
        },
        Case {
            text: "videotestsrc ! queue ! video/x-raw,height=480 ! videoconvert ! identity \
                   ! videoconvert ! queue ! video/x-raw,height=[16,240] ! fakesink",
            field: "height",
            sides: [("capsfilter0.src", "480"), ("capsfilter1.sink", "[16,240]")],
            path: "capsfilter0 videoconvert0 identity0 videoconvert1 queue1 capsfilter1",
            fix: &["insert videoscale between queue1.src and capsfilter1.sink"],
        },
        Case {
            text: "videotestsrc ! video/x-raw,format=NV12 ! videoscale ! queue ! videoscale \
                   ! video/x-raw,format={RGB,BGR} ! fakesink",
            field: "format",
            sides: [
                ("capsfilter0.src", "NV12"),
                ("capsfilter1.sink", "{RGB,BGR}"),
            ],
            path: "capsfilter0 videoscale0 queue0 videoscale1 capsfilter1",
            fix: &["insert videoconvert between videoscale1.src and capsfilter1.sink"],
        },
        Case {
            text: "videotestsrc ! video/x-raw,pixel-aspect-ratio=1/1 ! videoconvert \
                   ! video/x-raw,pixel-aspect-ratio=2/1 ! fakesink",
            field: "pixel-aspect-ratio",
            sides: [("capsfilter0.src", "1/1"), ("capsfilter1.sink", "2/1")],
            path: "capsfilter0 videoconvert0 capsfilter1",
            fix: &["insert videoscale between videoconvert0.src and capsfilter1.sink"],
        },
        Case {
            // Nothing changes rates, but a filter can go.
            text: "videotestsrc ! video/x-raw,framerate=25/1 ! videoconvert ! identity \
                   ! videoscale ! video/x-raw,framerate=50/1 ! fakesink",
            field: "framerate",
            sides: [("capsfilter0.src", "25/1"), ("capsfilter1.sink", "50/1")],
            path: "capsfilter0 videoconvert0 identity0 videoscale0 capsfilter1",
            fix: &["insert videorate between videoscale0.src and capsfilter1.sink"],
        },
    ] {
        check(&case);
    }
}

#[test]
fn other_fields_and_kinds() {
    for case in [
        Case {
            text: "capssrc caps=audio/x-raw,rate={44100,48000},channels=2 ! queue ! identity \
                   ! capsmap map=\"audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE\" \
                   ! capssink caps=audio/x-raw,rate=[8000,32000]",
            field: "rate",
            sides: [
                ("capssrc0.src", "{44100,48000}"),
                ("capssink0.sink", "[8000,32000]"),
            ],
            path: "capssrc0 queue0 identity0 capsmap0 capssink0",
            fix: &[],
        },
        Case {
            text: "capssrc caps=audio/x-raw,channels=[1,8] ! audio/x-raw,channels=[1,2] ! identity \
                   ! capssink caps=audio/x-raw,channels=[4,8]",
            field: "channels",
            sides: [("capsfilter0.src", "[1,2]"), ("capssink0.sink", "[4,8]")],
            path: "capsfilter0 identity0 capssink0",
            fix: &["drop capsfilter0"],
        },
        Case {
            // Steps that never meet.
            text: "capssrc caps=v/x,width=[2,100,2] ! queue ! capssink caps=v/x,width=[1,99,2]",
            field: "width",
            sides: [
                ("capssrc0.src", "[2,100,2]"),
                ("capssink0.sink", "[1,99,2]"),
            ],
            path: "capssrc0 queue0 capssink0",
            fix: &[],
        },
        Case {
            text: "capssrc caps=a/x,layout=interleaved ! queue ! capssink caps=a/x,layout=planar",
            field: "layout",
            sides: [
                ("capssrc0.src", "interleaved"),
                ("capssink0.sink", "planar"),
            ],
            path: "capssrc0 queue0 capssink0",
            fix: &[],
        },
        Case {
            text: "capssrc caps=\"a/x,parsed=(boolean)false\" ! queue \
                   ! capssink caps=\"a/x,parsed=(boolean)true\"",
            field: "parsed",
            sides: [("capssrc0.src", "false"), ("capssink0.sink", "true")],
            path: "capssrc0 queue0 capssink0",
            fix: &[],
        },
        Case {
            // Two structures a side: both rule the other out by the same field.
            text: "capssrc caps=\"v/x,f=1,g=1; v/x,f=2,g=1\" ! identity ! capssink caps=v/x,f=3",
            field: "f",
            sides: [("capssrc0.src", "1 or 2"), ("capssink0.sink", "3")],
            path: "capssrc0 identity0 capssink0",
            fix: &[],
        },
    ] {
        check(&case);
    }
}

#[test]
fn across_tees_and_bins() {
    for case in [
        Case {
            text: "capssrc ! tee name=t t. ! v/x,width=320 ! capssink \
                   t. ! queue ! ( identity ! v/x,width=640 ! capssink )",
            field: "width",
            sides: [("capsfilter0.sink", "320"), ("capsfilter1.sink", "640")],
            path: "capsfilter0 t queue0 identity0 capsfilter1",
            fix: &["drop capsfilter1"],
        },
        Case {
            // Of three tees in a row the way leads through those between the two pads only.
            text: "capssrc caps=a/x,mode={a,b} ! a/x,mode=a ! tee name=t t. ! queue \
                   ! tee name=u u. ! capssink u. ! a/x,mode=b ! capssink t. ! tee name=w \
                   ! capssink",
            field: "mode",
            sides: [("capsfilter0.src", "a"), ("capsfilter1.sink", "b")],
            path: "capsfilter0 t queue0 u capsfilter1",
            fix: &["drop capsfilter1"],
        },
        Case {
            // Two sources that meet.
            text: "funnel name=f ! capssink capssrc caps=a/x,rate=48000 ! queue ! f. \
                   capssrc caps=a/x,rate=44100 ! f.",
            field: "rate",
            sides: [("capssrc0.src", "48000"), ("capssrc1.src", "44100")],
            path: "capssrc0 queue0 f capssrc1",
            fix: &[],
        },
    ] {
        check(&case);
    }
}

#[test]
#[cfg(feature = "video")]
fn a_change_on_a_branch() {
    let text = "videotestsrc ! tee name=t t. ! queue ! video/x-raw,width=320 ! fakesink \
                t. ! identity ! video/x-raw,width=640 ! fakesink t. ! fakesink";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capsfilter1.sink and capsfilter0.sink cannot agree on width: 640 against 320 (path: capsfilter1 -> identity0 -> t -> queue0 -> capsfilter0)
      it works if you insert videoscale between queue0.src and capsfilter0.sink
    ");
    assert_minimal(text, &failure.conflicts[0]);
    let plan = agreed(&mended(text, &failure));
    assert!(caps_at(&plan, "t.src_0").contains("width=640"));
    assert!(caps_at(&plan, "videoscale0.src").contains("width=320"));
}

#[test]
fn three_that_cannot_agree_though_any_two_can() {
    let text = "capssrc caps=\"a/x,f={1,2,3}\" ! tee name=t t. ! capssink caps=\"a/x,f={1,2}\" \
                t. ! queue ! capssink caps=\"a/x,f={1,3}\" t. ! capssink caps=\"a/x,f={2,3}\"";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capssink0.sink, capssink2.sink and capssink1.sink cannot agree on f: {1,2} against {2,3} against {1,3} (path: capssink0 -> t -> queue0 -> capssink1)
      no change in the catalogue settles it
    ");
    let conflict = &failure.conflicts[0];
    assert_eq!(conflict.sides.len(), 3);
    assert_minimal(text, conflict);
    // On a chain, by two fields together: any two of the three agree.
    let text = "capssrc caps=\"v/x,f=A,w=1; v/x,f=B,w=2\" ! queue ! v/x,f=B ! identity \
                ! capssink caps=v/x,w=1";
    let failure = negotiating::failure(text);
    insta::assert_snapshot!(failure, @r"
    capssrc0.src, capsfilter0.src and capssink0.sink cannot agree on f and w: f=A,w=1 or f=B,w=2 against f=B against w=1 (path: capssrc0 -> queue0 -> capsfilter0 -> identity0 -> capssink0)
      it works if you drop capsfilter0
    ");
    let conflict = &failure.conflicts[0];
    assert_eq!(
        (conflict.field(), &conflict.fields[..]),
        (None, &["f".into(), "w".into()][..])
    );
    assert_eq!(
        sides(conflict),
        [
            ("capssrc0.src", "f=A,w=1 or f=B,w=2"),
            ("capsfilter0.src", "f=B"),
            ("capssink0.sink", "w=1"),
        ]
    );
    assert_minimal(text, conflict);
    agreed(&mended(text, &failure));
}

#[test]
#[cfg(feature = "video")]
fn two_conflicts_at_once() {
    let text = "videotestsrc ! video/x-raw,format=NV12,width=320 ! queue ! tee name=t \
                t. ! video/x-raw,width=640 ! fakesink t. ! queue ! video/x-raw,format=RGB ! fakesink";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capsfilter0.src and capsfilter1.sink cannot agree on width: 320 against 640 (path: capsfilter0 -> queue0 -> t -> capsfilter1)
      it works if you insert videoscale between t.src_0 and capsfilter1.sink
    and then capsfilter0.src and capsfilter2.sink cannot agree on format: NV12 against RGB (path: capsfilter0 -> queue0 -> t -> queue1 -> capsfilter2)
      it works if you insert videoconvert between queue1.src and capsfilter2.sink
    with all of these together the graph works
    ");
    assert_eq!(failure.conflicts.len(), 2);
    assert!(failure.mended);
    let plan = agreed(&mended(text, &failure));
    assert_eq!(plan.cost.conversion_cost(), 2);
    // One of two changes alone is not enough.
    for keep in 0..2 {
        let mut half = failure.clone();
        half.conflicts.remove(keep);
        let left = negotiating::failure(&mended(text, &half));
        assert_eq!(left.conflicts.len(), 1, "{left}");
        assert_eq!(left.conflicts[0].fields, failure.conflicts[keep].fields);
    }
}

#[test]
#[cfg(feature = "video")]
fn two_graphs_side_by_side_in_one_pipeline() {
    // The second one cannot be settled; the first one can, and that is said.
    let text = "videotestsrc ! video/x-raw,width=320 ! identity ! video/x-raw,width=640 ! fakesink \
                capssrc caps=a/x,rate=1 ! capssink caps=a/x,rate=2";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capssrc0.src and capssink0.sink cannot agree on rate: 1 against 2 (path: capssrc0 -> capssink0)
      no change in the catalogue settles it
    and then capsfilter0.src and capsfilter1.sink cannot agree on width: 320 against 640 (path: capsfilter0 -> identity0 -> capsfilter1)
      this one is settled if you insert videoscale between identity0.src and capsfilter1.sink
    ");
    assert_eq!(failure.conflicts.len(), 2);
    assert!(!failure.mended);
}

#[test]
#[cfg(feature = "video")]
fn a_change_of_two_elements() {
    let text = "videotestsrc ! video/x-raw,format=NV12,width=320 ! queue \
                ! video/x-raw,format=RGB,width=640 ! fakesink";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capsfilter0.src and capsfilter1.sink cannot agree on width: 320 against 640 (path: capsfilter0 -> queue0 -> capsfilter1)
      it works if you insert videoscale ! videoconvert between queue0.src and capsfilter1.sink
    ");
    assert_eq!(
        failure.conflicts.iter().map(|c| c.fix.len()).sum::<usize>(),
        2
    );
    assert!(failure.mended);
    let plan = agreed(&mended(text, &failure));
    let last = plan.links.last().expect("links").caps.to_string();
    assert!(
        last.contains("format=RGB") && last.contains("width=640"),
        "{last}"
    );
}

#[test]
fn nothing_in_the_catalogue() {
    let text = "capssrc caps=audio/x-raw,rate=48000 ! queue ! capssink caps=audio/x-raw,rate=44100";
    insta::assert_snapshot!(told(text), @r"
    capssrc0.src and capssink0.sink cannot agree on rate: 48000 against 44100 (path: capssrc0 -> queue0 -> capssink0)
      no change in the catalogue settles it
    ");
    assert!(!failure(text).mended);
    // What could be put in does not take these formats.
    let text =
        "capssrc caps=video/x-raw,format=ENCODED,width=320 ! capssink caps=video/x-raw,width=640";
    insta::assert_snapshot!(told(text), @r"
    capssrc0.src and capssink0.sink cannot agree on width: 320 against 640 (path: capssrc0 -> capssink0)
      no change in the catalogue settles it
    ");
}

#[test]
fn a_filter_that_is_dropped() {
    let text = "capssrc caps=audio/x-raw,rate=48000 ! audio/x-raw,rate=44100 ! capssink";
    let failure = failure(text);
    insta::assert_snapshot!(failure, @r"
    capssrc0.src and capsfilter0.sink cannot agree on rate: 48000 against 44100 (path: capssrc0 -> capsfilter0)
      it works if you drop capsfilter0
    ");
    let mended = mended(text, &failure);
    assert!(!mended.contains("44100"), "{mended}");
    assert_eq!(
        caps_at(&agreed(&mended), "capssrc0.src"),
        "audio/x-raw,rate=48000"
    );
}

#[test]
fn media_types() {
    for (text, pads) in [
        (
            "capssrc caps=audio/x-raw ! queue ! capssink caps=video/x-raw",
            ["capssrc0.src", "capssink0.sink"],
        ),
        (
            "capssrc caps=audio/x-raw ! capsmap ! identity ! capssink caps=video/x-raw",
            ["capssrc0.src", "capssink0.sink"],
        ),
        (
            "capssrc caps=\"audio/x-raw; audio/mpeg\" ! tee name=t t. ! capssink \
             t. ! queue ! image/jpeg ! capssink",
            ["capssrc0.src", "capsfilter0.sink"],
        ),
    ] {
        let failure = failure(text);
        let conflict = &failure.conflicts[0];
        assert!(conflict.fields.is_empty(), "{text}\n{failure}");
        assert!(
            failure
                .to_string()
                .contains("cannot agree on the media type"),
            "{failure}"
        );
        let named: Vec<&str> = conflict.sides.iter().map(|s| s.pad.as_str()).collect();
        assert_eq!(named, pads, "{text}\n{failure}");
        assert_minimal(text, conflict);
    }
}

#[test]
fn a_long_way_is_cut_in_its_middle() {
    let text = format!(
        "capssrc caps=a/x,f=1 ! {} capssink caps=a/x,f=2",
        "identity ! ".repeat(50)
    );
    let failure = failure(&text);
    assert_eq!(failure.conflicts[0].path.len(), 52);
    insta::assert_snapshot!(failure, @r"
    capssrc0.src and capssink0.sink cannot agree on f: 1 against 2 (path: capssrc0 -> identity0 -> identity1 -> 46 more -> identity48 -> identity49 -> capssink0)
      no change in the catalogue settles it
    ");
}
