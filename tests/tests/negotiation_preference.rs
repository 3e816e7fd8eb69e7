//! Which of several answers is taken: fewest conversions, then what loses least colour, depth, size,
//! rate and channels, then the order in which elements list what they offer, sources first.

mod negotiating;

use negotiating::{agreed, all_caps, failure, plan};
use tickpipe::Plan;

const V: &str = "video/x-raw";
const A: &str = "audio/x-raw";

fn line(source: &str, map: &str, sink: &str) -> String {
    format!(
        "capssrc name=s caps=\"{source}\" ! capsmap name=m map=\"{map}\" ! capssink name=k caps=\"{sink}\""
    )
}

/// What a source, a converter and a sink agree on before and behind the converter.
fn through(source: &str, map: &str, sink: &str) -> (String, String, Plan) {
    let plan = agreed(&line(source, map, sink));
    let all = all_caps(&plan);
    (all[0].clone(), all[1].clone(), plan)
}

#[track_caller]
fn takes(source: &str, map: &str, sink: &str, before: &str, behind: &str, conversions: u64) {
    let (got_before, got_behind, plan) = through(source, map, sink);
    let got = (got_before.as_str(), got_behind.as_str());
    assert_eq!(got, (before, behind), "{source} | {map} | {sink}\n{plan}");
    assert_eq!(
        plan.cost.conversion_cost(),
        conversions,
        "{source} | {map} | {sink}"
    );
}

#[test]
fn fewest_conversions_come_first() {
    // The first and richest choice of the source would have to be converted.
    for source in [
        "video/x-raw,format={RGBA,NV12}",
        "video/x-raw,format=RGBA; video/x-raw,format=NV12",
    ] {
        takes(
            source,
            "video/x-raw,format=RGBA -> video/x-raw,format=NV12 | video/x-raw,format=NV12 -> video/x-raw,format=NV12",
            "video/x-raw,format=NV12",
            "video/x-raw,format=NV12",
            "video/x-raw,format=NV12",
            0,
        );
    }
    // A dearer converter is avoided by a way through two cheap ones.
    let text = "capssrc caps=a/x,f=1 ! capsmap name=m cost=3 map=\"a/x,f=1 -> a/x,f=9 | a/x -> a/x\" \
         ! capsmap map=\"a/x,f=1 -> a/x,f=2 | a/x -> a/x\" ! capsmap map=\"a/x,f=2 -> a/x,f=9 | a/x -> a/x\" \
         ! capssink caps=a/x,f=9";
    let plan = agreed(text);
    assert_eq!(plan.cost.conversion_cost(), 2, "{plan}");
    assert_eq!(
        all_caps(&plan),
        ["a/x,f=1", "a/x,f=1", "a/x,f=2", "a/x,f=9"]
    );
    let plan = agreed(&text.replace("cost=3", "cost=1"));
    assert_eq!(plan.cost.conversion_cost(), 1);
    assert_eq!(
        all_caps(&plan),
        ["a/x,f=1", "a/x,f=9", "a/x,f=9", "a/x,f=9"]
    );
    // A free conversion is one that costs nothing.
    let plan = agreed(&text.replace("cost=3", "cost=0"));
    assert_eq!(plan.cost.conversion_cost(), 0);
    // On one branch rather than before all of three.
    let text = "capssrc caps=\"a/x,f={1,2}\" ! tee name=t \
         t. ! capsmap name=m1 map=\"a/x,f=1 -> a/x,f=2 | a/x,f=2 -> a/x,f=1 | a/x -> a/x\" ! capssink name=k1 caps=a/x,f=1 \
         t. ! capsmap name=m2 map=\"a/x,f=1 -> a/x,f=2 | a/x,f=2 -> a/x,f=1 | a/x -> a/x\" ! capssink name=k2 caps=a/x,f=2 \
         t. ! capsmap name=m3 map=\"a/x,f=1 -> a/x,f=2 | a/x,f=2 -> a/x,f=1 | a/x -> a/x\" ! capssink name=k3 caps=a/x,f=2";
    let plan = agreed(text);
    assert_eq!(plan.cost.conversion_cost(), 1, "{plan}");
    assert_eq!(negotiating::caps_at(&plan, "t.src_0"), "a/x,f=2");
}

/// A converter that can make one of two things of what a source has: the better one is made, in
/// whichever order they are listed.
#[track_caller]
fn better(source: &str, better: &str, worse: &str) {
    for makes in [format!("{better}; {worse}"), format!("{worse}; {better}")] {
        let (_, behind, plan) = through(source, &format!("{source} -> {makes}"), ANY_OF);
        assert_eq!(behind, better, "{source} -> {makes}\n{plan}");
    }
}

const ANY_OF: &str = "video/x-raw; audio/x-raw";

#[test]
fn what_conversions_lose() {
    // Colour.
    better(
        "video/x-raw,format=RGB",
        "video/x-raw,format=Y444",
        "video/x-raw,format=I420",
    );
    better(
        "video/x-raw,format=RGB",
        "video/x-raw,format=I420",
        "video/x-raw,format=GRAY8",
    );
    better(
        "video/x-raw,format=RGBA",
        "video/x-raw,format=ARGB",
        "video/x-raw,format=RGB",
    );
    better(
        "video/x-raw,format=Y42B",
        "video/x-raw,format=YUY2",
        "video/x-raw,format=NV12",
    );
    // What is more than there was is no gain, but no loss either.
    better(
        "video/x-raw,format=I420",
        "video/x-raw,format=RGBA",
        "video/x-raw,format=GRAY8",
    );
    // Depth.
    better(
        "video/x-raw,format=I420_10LE",
        "video/x-raw,format=P010_10LE",
        "video/x-raw,format=NV12",
    );
    better(
        "audio/x-raw,format=S24LE",
        "audio/x-raw,format=S32LE",
        "audio/x-raw,format=S16LE",
    );
    better(
        "audio/x-raw,format=S32LE",
        "audio/x-raw,format=F64LE",
        "audio/x-raw,format=F32LE",
    );
    // Size, rate, channels.
    better(
        "video/x-raw,width=100",
        "video/x-raw,width=200",
        "video/x-raw,width=99",
    );
    better(
        "video/x-raw,height=100",
        "video/x-raw,height=80",
        "video/x-raw,height=50",
    );
    better(
        "video/x-raw,framerate=30/1",
        "video/x-raw,framerate=60/1",
        "video/x-raw,framerate=25/1",
    );
    better(
        "audio/x-raw,rate=44100",
        "audio/x-raw,rate=48000",
        "audio/x-raw,rate=32000",
    );
    better(
        "audio/x-raw,channels=6",
        "audio/x-raw,channels=2",
        "audio/x-raw,channels=1",
    );
}

#[test]
fn kinds_of_loss_in_their_order() {
    for (source, less, more) in [
        // A loss of depth before one of colour.
        (
            "video/x-raw,format=Y444_16LE",
            "video/x-raw,format=Y444",
            "video/x-raw,format=I420_12LE",
        ),
        // Of size before depth.
        (
            "video/x-raw,format=GBR_16LE,width=100",
            "video/x-raw,format=GBR_16LE,width=50",
            "video/x-raw,format=GBR,width=100",
        ),
        // Of rate before size.
        (
            "video/x-raw,width=100,framerate=30/1",
            "video/x-raw,width=100,framerate=1/1",
            "video/x-raw,width=99,framerate=30/1",
        ),
        // Of channels before rate.
        (
            "audio/x-raw,rate=48000,channels=8",
            "audio/x-raw,rate=48000,channels=1",
            "audio/x-raw,rate=44100,channels=8",
        ),
        // Of rate before depth of sound.
        (
            "audio/x-raw,format=S32LE,rate=48000",
            "audio/x-raw,format=S32LE,rate=8000",
            "audio/x-raw,format=S24LE,rate=48000",
        ),
    ] {
        better(source, less, more);
    }
    // A conversion more is worse than any loss.
    let plan = agreed(
        "capssrc caps=video/x-raw,format=RGBA \
         ! capsmap map=\"video/x-raw,format=RGBA -> video/x-raw,format=GRAY8; video/x-raw,format=BGRA\" \
         ! capsmap map=\"video/x-raw,format=BGRA -> video/x-raw,format=ARGB | video/x-raw -> video/x-raw\" \
         ! capssink caps=\"video/x-raw,format=ARGB; video/x-raw,format=GRAY8\"",
    );
    assert_eq!(plan.cost.conversion_cost(), 1);
    assert!(all_caps(&plan)[1].contains("GRAY8"), "{plan}");
}

#[test]
fn a_source_is_charged_for_its_poorer_choice() {
    // All of its choices lose nothing when they are converted to RGB but grey has least to lose.
    let map = "video/x-raw,format=RGBA -> video/x-raw,format=RGB | video/x-raw,format=GRAY8 -> video/x-raw,format=RGB";
    for source in [
        "video/x-raw,format=RGBA; video/x-raw,format=GRAY8",
        "video/x-raw,format=GRAY8; video/x-raw,format=RGBA",
        "video/x-raw,format={GRAY8,RGBA}",
    ] {
        takes(
            source,
            map,
            "video/x-raw,format=RGB",
            "video/x-raw,format=RGBA",
            "video/x-raw,format=RGB",
            1,
        );
    }
    // Without a converter too: of what both have the richest.
    for (source, sink, want) in [
        (
            "video/x-raw,format={GRAY8,I420,RGB}",
            V,
            "video/x-raw,format=RGB",
        ),
        (
            "video/x-raw,format={GRAY16_LE,I420}",
            V,
            "video/x-raw,format=I420",
        ),
        (
            "video/x-raw,format={I420,I420_10LE}",
            V,
            "video/x-raw,format=I420_10LE",
        ),
        ("video/x-raw,width={320,640}", V, "video/x-raw,width=640"),
        (
            "video/x-raw,width={320,640}",
            "video/x-raw,width=[1,500]",
            "video/x-raw,width=320",
        ),
        (
            "audio/x-raw,rate={8000,48000},channels={1,2}",
            A,
            "audio/x-raw,rate=48000,channels=2",
        ),
        (
            "audio/x-raw,rate=8000,channels=2; audio/x-raw,rate=48000,channels=1",
            A,
            "audio/x-raw,rate=48000,channels=1",
        ),
    ] {
        let plan = agreed(&format!(
            "capssrc caps=\"{source}\" ! capssink caps=\"{sink}\""
        ));
        assert_eq!(all_caps(&plan), [want], "{source}");
    }
    // What a test picture is made of is no loss.
    #[cfg(feature = "video")]
    {
        let plan = agreed("videotestsrc ! capssink caps=\"video/x-raw,format={GRAY8,RGB}\"");
        assert!(
            all_caps(&plan)[0].contains("width=320,height=240"),
            "{plan}"
        );
        assert!(plan.cost.parts().next().is_none(), "{}", plan.cost);
    }
}

#[test]
fn then_the_order_of_lists() {
    // Equal in all that is measured: the first that is listed, never the lowest code.
    for (first, second) in [("NV12", "I420"), ("I420", "NV12"), ("YV12", "NV21")] {
        let (a, b) = (
            format!("{V},format={first}"),
            format!("{V},format={second}"),
        );
        let lists = format!("{V},format={{{first},{second}}}");
        let turned = format!("{V},format={{{second},{first}}}");
        // The source's counts more than the sink's.
        for (source, sink) in [
            (&lists, &turned),
            (&lists, &V.to_owned()),
            (&format!("{a}; {b}"), &format!("{b}; {a}")),
            (&format!("{a}; {b}"), &turned),
            (&V.to_owned(), &lists),
            (&V.to_owned(), &format!("{a}; {b}")),
        ] {
            let plan = agreed(&format!(
                "capssrc caps=\"{source}\" ! capssink caps=\"{sink}\""
            ));
            assert_eq!(all_caps(&plan), [a.as_str()], "{source} and {sink}");
        }
        // And that of a converter's right side; what it takes has no order.
        let yuy2 = "video/x-raw,format=YUY2,width=8";
        for makes in [
            format!("{V},format={{{first},{second}}},width=8"),
            format!("{a},width=8; {b},width=8"),
        ] {
            let map = format!("{yuy2} -> {makes}");
            takes(yuy2, &map, &turned, yuy2, &format!("{a},width=8"), 1);
        }
    }
    // A sink's list decides where a source says nothing of it.
    let plan = agreed("capssrc caps=a/x ! capssink caps=\"a/x,f={3,1,2}\"");
    assert_eq!(all_caps(&plan), ["a/x,f=3"]);
    // Of a range the lowest.
    let plan = agreed("capssrc caps=\"a/x,f=[3,9]\" ! capssink caps=\"a/x,f=[1,7]\"");
    assert_eq!(all_caps(&plan), ["a/x,f=3"]);
    // Structures before values: the first structure that leads to an answer.
    let plan = agreed("capssrc caps=\"a/x,f={1,2}; a/y,f={5,6}\" ! capssink caps=\"a/y; a/x,f=2\"");
    assert_eq!(all_caps(&plan), ["a/x,f=2"]);
    // The source of the first name goes first where two meet.
    let text = "funnel name=f ! capssink capssrc name=b caps=\"a/x,f={2,1}\" ! f. \
                capssrc name=a caps=\"a/x,f={1,2}\" ! f.";
    assert_eq!(all_caps(&agreed(text))[0], "a/x,f=1");
}

#[test]
fn a_range_is_not_fixed_too_early() {
    // The lowest of the source's range would have to be scaled.
    takes(
        "a/x,width=[1,10]",
        "a/x,width=[1,99] -> a/x,width=[1,99],done=1 | a/x -> a/x",
        "a/x,width=8",
        "a/x,width=8",
        "a/x,width=8",
        0,
    );
    #[cfg(feature = "video")]
    for scalers in [1, 2, 5] {
        let plan = agreed(&format!(
            "capssrc caps=\"video/x-raw,format=I420,width=[1,10],height=[1,10],framerate=30/1\" ! {} \
             capssink caps=video/x-raw,width=8,height=6",
            "videoscale ! ".repeat(scalers)
        ));
        assert_eq!(plan.cost.conversion_cost(), 0, "{plan}");
        assert!(plan.conversions.is_empty());
        for caps in all_caps(&plan) {
            assert!(caps.contains("width=8,height=6"), "{caps}");
        }
    }
}

#[test]
fn fields_are_not_mixed() {
    // {A,1};{B,2} is not {A,B}x{1,2}.
    let pairs = "a/x,f=A,g=1; a/x,f=B,g=2";
    for (want, sink) in [
        ("a/x,f=A,g=1", "a/x,f=A"),
        ("a/x,f=B,g=2", "a/x,g=2"),
        ("a/x,f=A,g=1", "a/x"),
    ] {
        let plan = agreed(&format!(
            "capssrc caps=\"{pairs}\" ! queue ! capssink caps={sink}"
        ));
        for caps in all_caps(&plan) {
            assert_eq!(caps, want);
        }
    }
    for sinks in [
        "capssink caps=a/x,f=B,g=1",
        "tee name=t ! capssink caps=a/x,f=A t. ! capssink caps=a/x,g=2",
        "identity ! a/x,f=B ! capssink caps=a/x,g=1",
        "capsmap map=\"a/x,h=1 -> a/x,h=2 | a/x -> a/x\" ! capssink caps=a/x,f=A,g=2",
    ] {
        let failure = failure(&format!("capssrc caps=\"{pairs}\" ! {sinks}"));
        let fields = &failure.conflicts[0].fields;
        assert!(
            fields.contains(&"f".to_owned()) && fields.contains(&"g".to_owned()),
            "{failure}"
        );
    }
    // Through converters whose rows have the same cost.
    let map = "a/x,f=A,g=1 -> a/y,f=C,g=3 | a/x,f=B,g=2 -> a/y,f=D,g=4";
    takes(pairs, map, "a/y,f=D", "a/x,f=B,g=2", "a/y,f=D,g=4", 1);
    assert!(plan(&line(pairs, map, "a/y,f=D,g=3")).is_err());
}

#[test]
fn ties_and_free_fields() {
    // Equal sides tie what they name: no scaler.
    takes(
        "a/x,w=[1,2]",
        "a/x,w=[1,2] -> a/x,w=[1,2]",
        "a/x,w=2",
        "a/x,w=2",
        "a/x,w=2",
        0,
    );
    assert!(plan(&line("a/x,w=1", "a/x,w=[1,2] -> a/x,w=[1,2]", "a/x,w=2")).is_err());
    // Sides that differ free it, and the row is paid for though the value stays.
    takes(
        "a/x,w=1",
        "a/x,w=[1,2] -> a/x,w=[1,3]",
        "a/x,w=2",
        "a/x,w=1",
        "a/x,w=2",
        1,
    );
    takes(
        "a/x,w=1",
        "a/x,w=[1,2] -> a/x,w=[1,3]",
        "a/x,w=1",
        "a/x,w=1",
        "a/x,w=1",
        1,
    );
    // A field that only what is taken names is consumed: the other side may have any of it.
    let map = "v/x,format=I420,width=[1,9] -> v/x,format=NV12";
    let i420 = "v/x,format=I420,width=5";
    takes(
        i420,
        map,
        "v/x,width=[100,200]",
        i420,
        "v/x,format=NV12,width=100",
        1,
    );
    takes(i420, map, "v/x", i420, "v/x,format=NV12", 1);
    assert!(plan(&line("v/x,format=I420,width=50", map, "v/x")).is_err());
    // One that only what is made names is made.
    let map = "v/x,format=I420 -> v/x,format=NV12,width=[1,9]";
    takes(
        "v/x,format=I420,width=50",
        map,
        "v/x,width=7",
        "v/x,format=I420,width=50",
        "v/x,format=NV12,width=7",
        1,
    );
    assert!(plan(&line("v/x,format=I420", map, "v/x,width=10")).is_err());
    // One that neither names passes through.
    let map = "v/x,format=I420 -> v/x,format=NV12";
    takes(
        i420,
        map,
        "v/x,width=[1,9]",
        i420,
        "v/x,format=NV12,width=5",
        1,
    );
    let failure = failure(&line(i420, map, "v/x,width=6"));
    assert_eq!(failure.conflicts[0].field(), Some("width"), "{failure}");
    // Media types are converted where they differ, and tied where not.
    takes("a/x,w=1", "a/x -> b/y", "b/y", "a/x,w=1", "b/y,w=1", 1);
    assert!(plan(&line("a/x", "a/x,w=1 -> a/x,w=2", "b/y")).is_err());
}

#[test]
fn every_field_of_a_diamond_is_the_same_at_both_ends() {
    let text = |map: &str| {
        format!(
            "capssrc caps=\"a/x,f={{1,2}},g=[1,9]\" ! tee name=t t. ! capsmap name=m map=\"{map}\" ! f. \
             t. ! queue ! f. funnel name=f ! capssink caps=\"a/x,f={{1,2}}\""
        )
    };
    // A converter on one side of it must convert nothing.
    let plan = agreed(&text("a/x,f=1 -> a/x,f=2 | a/x,f=2 -> a/x,f=2"));
    assert_eq!(plan.cost.conversion_cost(), 0, "{plan}");
    for caps in all_caps(&plan) {
        assert_eq!(caps, "a/x,f=2,g=1", "{plan}");
    }
    // What converts only cannot stand there.
    assert!(negotiating::plan(&text("a/x,f=1 -> a/x,f=2 | a/x,f=2 -> a/x,f=1")).is_err());
}

#[test]
fn losses_add_up_over_a_chain() {
    // Each converter loses a little one way, and the first one loses it all the other way: of two
    // ways with as many conversions that of the least sum is taken, in either order of rows.
    for (first, second) in [("A", "B"), ("B", "A")] {
        let row = |name: &str| match name {
            "A" => "video/x-raw,width=64,height=64 -> video/x-raw,width=32,height=64,way=A",
            _ => "video/x-raw,width=64,height=64 -> video/x-raw,width=64,height=64,way=B",
        };
        let text = format!(
            "capssrc caps=video/x-raw,width=64,height=64 ! capsmap map=\"{} | {}\" \
             ! capsmap map=\"video/x-raw,way=A,width=32 -> video/x-raw,way=C,width=32 \
             | video/x-raw,way=B,width=64 -> video/x-raw,way=C,width=48\" \
             ! capssink caps=video/x-raw,way=C",
            row(first),
            row(second)
        );
        let plan = agreed(&text);
        assert_eq!(
            all_caps(&plan)[1],
            "video/x-raw,width=64,height=64,way=B",
            "{plan}"
        );
        let size = plan.cost.parts().find(|p| p.0 == "size").map(|p| p.1);
        let links: u64 = plan
            .links
            .iter()
            .flat_map(|l| l.cost.parts())
            .filter(|p| p.0 == "size")
            .map(|p| p.1)
            .sum();
        // 64 to 48 is a little under half a doubling.
        assert_eq!(size, Some(links));
        assert!((27_000..27_500).contains(&links), "{links}");
    }
}
