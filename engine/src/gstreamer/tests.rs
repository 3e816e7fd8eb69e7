//! Values as GStreamer 1.22.0 reads them, each tried in it, and the facts about themselves.

use super::*;
use proptest::prelude::*;
use tickpipe_components::caps::Caps;
use tickpipe_systems::element::Registry;

fn read(factory_name: &str, property: &str, text: &str) -> Result<GstValue, NotRead> {
    let fact = factory(factory_name).and_then(|facts| facts.property(property));
    fact.expect("is known").read(text)
}

#[test]
fn whole_numbers() {
    use NotRead::{Outside, Refused};
    let whole = |n: i128| Ok(GstValue::Whole(n));
    for (property, text, expected) in [
        ("kx", "5", whole(5)),
        ("kx", "+5", whole(5)),
        ("kx", " 5", whole(5)),
        ("kx", "", whole(0)),
        ("kx", "0x10", whole(16)),
        ("kx", "-0x10", whole(-16)),
        ("kx", "010", whole(8)),
        ("kx", "max", whole(i32::MAX.into())),
        ("kx", "MIN", whole(i32::MIN.into())),
        ("kx", "big_endian", whole(4321)),
        ("kx", "4294967295", whole(-1)),
        ("kx", "-2147483648", whole(i32::MIN.into())),
        ("kx", "-2147483649", Err(Refused)),
        ("kx", "4294967296", Err(Refused)),
        ("kx", "5 ", Err(Refused)),
        ("kx", " ", Err(Refused)),
        ("kx", "08", Err(Refused)),
        ("kx", "0x", Err(Refused)),
        ("kx", "--5", Err(Refused)),
        ("kx", "+-5", Err(Refused)),
        ("kx", "-", Err(Refused)),
        ("kx", "5.5", Err(Refused)),
        ("kx", "5k", Err(Refused)),
        ("num-buffers", "-1", whole(-1)),
        ("num-buffers", "-5", Err(Outside)),
        ("num-buffers", "2147483648", Err(Outside)),
        ("blocksize", "-1", whole(u32::MAX.into())),
        ("blocksize", "4294967296", whole(0)),
        ("blocksize", "18446744073709551615", whole(u32::MAX.into())),
        ("blocksize", "18446744073709551616", Err(Refused)),
    ] {
        assert_eq!(read("videotestsrc", property, text), expected, "{text:?}");
    }
    let time = |text| read("queue", "max-size-time", text);
    assert_eq!(time("-1"), whole(u64::MAX.into()));
    assert_eq!(time("max"), whole(u64::MAX.into()));
    assert_eq!(time("18446744073709551616"), Err(Refused));
    let offset = |text| read("fakesink", "ts-offset", text);
    assert_eq!(offset("18446744073709551615"), whole(-1));
    assert_eq!(offset("min"), whole(i64::MIN.into()));
}

#[test]
fn other_values() {
    use NotRead::{Outside, Refused};
    let truth = |text| read("queue", "silent", text);
    for (yes, no) in [("true", "false"), ("T", "F"), ("Yes", "nO"), ("1", "0")] {
        assert_eq!(truth(yes), Ok(GstValue::Truth(true)));
        assert_eq!(truth(no), Ok(GstValue::Truth(false)));
    }
    for bad in ["", "2", "on", "maybe", " true"] {
        assert_eq!(truth(bad), Err(Refused), "{bad:?}");
    }
    let leaky = |text| read("queue", "leaky", text);
    for (text, nick) in [
        ("downstream", "downstream"),
        ("2", "downstream"),
        ("0x2", "downstream"),
        ("4294967298", "downstream"),
        ("", "no"),
    ] {
        assert_eq!(leaky(text), Ok(GstValue::Nick(nick)), "{text:?}");
    }
    for bad in ["3", "-1", "Downstream", "2x"] {
        assert_eq!(leaky(bad), Err(Refused), "{bad:?}");
    }
    let long = |text| read("videotestsrc", "pattern", text);
    assert_eq!(long("Moving ball"), Ok(GstValue::Nick("ball")));
    assert_eq!(long("SMPTE 100% color bars"), Ok(GstValue::Nick("smpte")));
    assert_eq!(long("moving ball"), Err(Refused));
    assert_eq!(read("fakesrc", "pattern", "a"), Ok(GstValue::Nothing));
    let odds = |text| read("identity", "drop-probability", text);
    assert_eq!(odds("0.1"), Ok(GstValue::Real(0.100_000_001_490_116_12)));
    assert_eq!(odds(" .5"), Ok(GstValue::Real(0.5)));
    assert_eq!(odds(""), Ok(GstValue::Real(0.0)));
    assert_eq!(odds("2"), Err(Outside));
    assert_eq!(odds("nan"), Err(Outside));
    assert_eq!(odds("1,5"), Err(Refused));
    for half in ["0x1p-1", "0X.8", "+0x0.4P1", "0x8000000000000000000000p-88"] {
        assert_eq!(odds(half), Ok(GstValue::Real(0.5)), "{half:?}");
    }
    for bad in ["0x", "0x.", "0x1p", "0x1q", "0x1p1.5", "x1"] {
        assert_eq!(odds(bad), Err(Refused), "{bad:?}");
    }
    let flags = |text| read("identity", "drop-buffer-flags", text);
    assert_eq!(flags("gap+0x40"), Ok(GstValue::Whole(0x840)));
    assert_eq!(flags("GST_BUFFER_FLAG_GAP+"), Ok(GstValue::Whole(0x800)));
    assert_eq!(flags("0x1"), Ok(GstValue::Whole(0)));
    assert_eq!(flags("gap + discont"), Err(Refused));
    let fact = factory("identity").and_then(|f| f.property("drop-buffer-flags"));
    let names = fact.and_then(|fact| fact.flag_names(0x840));
    assert_eq!(
        names.as_deref(),
        Some("GST_BUFFER_FLAG_DISCONT+GST_BUFFER_FLAG_GAP")
    );
}

/// Rates on one pad of an element that changes them, by those of the other one; each as GStreamer has
/// it.
#[test]
fn rates_across_an_element() {
    let rated = |rates: Rates, theirs: &str, sink| {
        let caps: Caps = theirs.parse().expect("are caps");
        rates.of(&caps, sink).to_gst().to_string()
    };
    const RATE: &str = "framerate=(fraction)";
    for (rates, theirs, sink, expected) in [
        (Rates::Free, "5/1", true, "[ 0/1, 2147483647/1 ]"),
        (Rates::UpTo(5), "25/1", false, "[ 0/1, 5/1 ]"),
        (Rates::UpTo(5), "25/1", true, "[ 0/1, 2147483647/1 ]"),
        (Rates::Dropping(9), "{ 3/1, 7/1 }", false, "[ 0/1, 7/1 ]"),
        (Rates::Dropping(5), "[ 3/1, 7/1 ]", false, "[ 0/1, 5/1 ]"),
        (Rates::Dropping(5), "25/1", false, "[ 0/1, 5/1 ]"),
        (Rates::Dropping(5), "0/1", false, "0/1"),
        (Rates::Dropping(4), "6/1", true, "[ 0/1, 2147483647/1 ]"),
    ] {
        let theirs = format!("video/x-raw, {RATE}{theirs}");
        let expected = format!("video/x-raw, {RATE}{expected}");
        assert_eq!(rated(rates, &theirs, sink), expected, "{rates:?} {theirs}");
    }
    let both = rated(Rates::Dropping(9), "video/x-raw, framerate=[2/1,6/1]", true);
    assert_eq!(
        both,
        "video/x-raw, framerate=(fraction)[ 2/1, 2147483647/1 ]; video/x-raw, framerate=(fraction)0/1"
    );
    // Nothing is said where the other pad says nothing, but of what is given.
    assert_eq!(rated(Rates::UpTo(5), "video/x-raw", true), "video/x-raw");
    let given = rated(Rates::UpTo(5), "video/x-raw(memory:DMABuf)", false);
    assert_eq!(
        given,
        "video/x-raw(memory:DMABuf), framerate=(fraction)[ 0/1, 5/1 ]"
    );
}

/// Every property of a factory has one description, and its default can be written.
#[test]
fn defaults_are_values() {
    let mut count = 0;
    for name in [
        "videotestsrc",
        "fakesink",
        "fakesrc",
        "identity",
        "queue",
        "tee",
        "bin",
    ] {
        let facts = factory(name).expect("is known");
        assert_eq!(facts.name, name);
        let mut names: Vec<&str> = facts.properties().map(|fact| fact.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{name}");
        count += all;
        for fact in facts.properties() {
            let text = match fact.default() {
                GstValue::Truth(value) => value.to_string(),
                GstValue::Whole(value) => value.to_string(),
                GstValue::Real(value) => value.to_string(),
                GstValue::Nick(nick) => nick.to_owned(),
                _ => continue,
            };
            assert_eq!(fact.read(&text), Ok(fact.default()), "{name}.{}", fact.name);
        }
    }
    assert_eq!(count, 95);
    let sync = factory("fakesink").and_then(|facts| facts.property("sync"));
    let sync = sync.expect("is known");
    assert_eq!(sync.default(), GstValue::Truth(true));
    assert_eq!(sync.start("fakesink"), GstValue::Truth(false));
}

/// Elements of the same name take all that GStreamer's take, if only to do nothing with it.
#[test]
fn elements_take_what_gstreamers_take() {
    let mut registry = Registry::default();
    tickpipe_systems::elements::register(&mut registry).expect("no name is taken");
    let mut count = 0;
    for class in registry.iter() {
        for fact in factory(class.name)
            .iter()
            .flat_map(|facts| facts.properties())
        {
            let own = class.properties.iter().any(|info| info.name == fact.name);
            let known = own || class.ignored.contains(&fact.name);
            assert!(known, "{}.{}", class.name, fact.name);
            count += 1;
        }
    }
    assert!(count > 0, "at least the core elements are there");
}

#[test]
fn caps_of_links() {
    let caps = |text: &str| text.parse::<Caps>().expect("are caps");
    // A text that could not be read would be ANY.
    for (factory, sink) in [
        ("videotestsrc", false),
        ("videoconvert", true),
        ("videorate", true),
        ("imagefreeze", false),
        ("y4menc", true),
        ("y4menc", false),
        ("y4mdec", true),
        ("y4mdec", false),
    ] {
        let template = template(factory, sink);
        assert!(!template.is_any() && !template.is_empty(), "{factory}");
        assert!(!template.can_intersect(&caps("audio/x-raw")), "{factory}");
    }
    assert!(template("fakesink", true).is_any());
    let meets = |text| template("videotestsrc", false).can_intersect(&caps(text));
    assert!(meets("video/x-raw,format=GRAY10_LE32") && meets("video/x-bayer,format=rggb"));
    assert!(!meets("video/x-raw,format=NOSUCH") && !meets("video/x-raw,width=0"));
    let across = |factory, text: &str| across(factory).of(&caps(text)).to_gst().to_string();
    let full = "video/x-raw, format=(string)I420, width=(int)5, framerate=(fraction)6/1";
    assert_eq!(across("queue", full), full);
    assert_eq!(
        across("videoconvert", full),
        "video/x-raw, width=(int)5, framerate=(fraction)6/1"
    );
    assert_eq!(
        across("videoscale", full),
        "video/x-raw, format=(string)I420, framerate=(fraction)6/1"
    );
    assert_eq!(across("funnel", full), "ANY");
    let device = "video/x-raw(memory:DMABuf), format=(string)I420";
    assert_eq!(across("videoconvert", device), device);
}

proptest! {
    /// Whatever the text, there is an answer, and what is read of a number's text is that number.
    #[test]
    fn any_text_is_answered(text in "[ +0-9a-fx.-]{0,8}|\\PC{0,8}", number in any::<i32>()) {
        for (name, property) in [
            ("queue", "silent"),
            ("queue", "max-size-time"),
            ("queue", "leaky"),
            ("identity", "drop-probability"),
            ("identity", "drop-buffer-flags"),
            ("capsfilter", "caps"),
        ] {
            let _ = read(name, property, &text);
        }
        let whole = Ok(GstValue::Whole(number.into()));
        prop_assert_eq!(read("videotestsrc", "kx", &number.to_string()), whole.clone());
        prop_assert_eq!(read("videotestsrc", "kx", &format!("{:#x}", number)), whole);
    }
}
