//! Caps as text: what is printed reads back as the same, no text makes the parser panic, errors
//! point at their place, and constants and limits are as promised.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use tickpipe_components::caps::pair::{self, MeetError};
use tickpipe_components::caps::{
    Caps, CapsLimitError, CapsLimits, CapsParseErrorKind, Features, FieldName, FlagSet, Fraction,
    FractionRange, IntRange, MAX_FIELDS, MAX_LIST, Structure, Value, ValueItems, ValueSet,
    WordOrder, audio_formats, video_formats,
};

static FORMATS: WordOrder = WordOrder::of(&["NV12", "I420", "RGBA"]);
static RATES: ValueItems = ValueItems::Static(&[
    Value::Fraction(Fraction::of(30, 1)),
    Value::Fraction(Fraction::of(25, 1)),
]);
static TEMPLATE: [Structure; 1] = [Structure::of("video/x-raw")
    .field("framerate", ValueSet::items(&RATES))
    .field("width", ValueSet::IntRange(IntRange::of(16, 1280, 2)))
    .field("format", ValueSet::words(&FORMATS))
    .field("interlace-mode", ValueSet::word("progressive"))];

#[test]
fn templates_are_constants() {
    let template = Caps::from_static(&TEMPLATE);
    assert_eq!(
        template.to_string(),
        "video/x-raw,format={NV12,I420,RGBA},width=[16,1280,2],framerate={30/1,25/1},\
         interlace-mode=progressive"
    );
    assert_eq!(template, Caps::parse(&template.to_string()).unwrap());
    let mut edited = template.clone();
    edited.structures_mut()[0].set("custom", 1).unwrap();
    assert_eq!(edited.structures()[0].len(), 5);
    assert_eq!(edited.structures()[0].int("custom"), Some(1));
    assert_eq!(TEMPLATE[0].len(), 4);
    assert_eq!(template.fixate().unwrap().string("format"), Some("NV12"));
}

#[test]
fn order_is_preference_and_not_identity() {
    let read = |text: &str| Caps::parse(text).unwrap();
    let (a, b) = (read("v,format={NV12,I420}"), read("v,format={I420,NV12}"));
    assert!(a == b && a.is_equal(&b).unwrap());
    assert_eq!(a.fixate().unwrap().string("format"), Some("NV12"));
    assert_eq!(b.intersect(&a).unwrap().to_string(), "v,format={I420,NV12}");
}

#[test]
fn limits_are_stated() {
    let mut full = Structure::new("video/x-raw");
    for i in 0..MAX_FIELDS / 2 {
        full.set(&format!("own-{i}"), 1).unwrap();
    }
    // A name outside of the vocabulary takes two slots.
    let before = full.clone();
    assert!(matches!(
        full.set("width", 1),
        Err(CapsLimitError::Exceeded {
            limit: "caps-fields",
            allowed: 24,
            ..
        })
    ));
    assert_eq!(full, before);
    let more = Structure::new("video/x-raw").with("width", 5);
    let error = full.intersect(&more).unwrap_err();
    assert_eq!(
        error.to_string(),
        "25 fields of a structure are past the limit caps-fields=24"
    );
    let differs = more.clone().with("own-0", 2);
    assert_eq!(full.intersect(&differs), Ok(None));
    let all = video_formats().iter().copied();
    assert!(ValueSet::list(all.clone()).is_ok());
    assert!(ValueSet::list(all.chain(audio_formats().iter().copied())).is_err());
    let error = ValueSet::list(0..=MAX_LIST as i32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "121 members of a list are past the limit caps-list=120"
    );
    let tight = CapsLimits {
        structures: 3,
        ..CapsLimits::DEFAULT
    };
    let two = Caps::parse("a,x=1;a,x=2").unwrap();
    let open = Caps::parse("a,y=1;a,y=2").unwrap();
    assert!(two.intersect_within(&open, &tight).is_err());
    assert!(Caps::parse_within("a;a;a;a", &tight).is_err());
    assert!(Caps::parse(&"a".repeat(65_537)).is_err());
    let deep = format!("a,x={}1{}", "{".repeat(5), "}".repeat(5));
    assert_eq!(
        Caps::parse(&deep).unwrap_err().kind,
        CapsParseErrorKind::TooDeep
    );
}

#[test]
fn errors_point_at_their_place() {
    for (text, offset, says) in [
        (
            "video/x-raw width=3",
            12,
            "expected `,`, `;` or the end, found `w`",
        ),
        ("video/x-raw,width=", 18, "expected a value, found the end"),
        ("video/x-raw,=3", 12, "expected a field name, found `=`"),
        (
            "video/x-raw,width=(int)abc",
            23,
            "`abc` is not a value of type int",
        ),
        ("video/x-raw,width=(foo)3", 19, "unknown type `foo`"),
        ("video/x-raw,width=[9,1]", 18, "range [9, 1] is empty"),
        ("video/x-raw,width=[5,5]", 18, "for one value write 5"),
        ("video/x-raw,width=[1,9,-2]", 18, "step -2 is outside 0..="),
        ("video/x-raw,width=[1,9", 22, "expected `]`, found the end"),
        (
            "video/x-raw,width={}",
            18,
            "a list needs at least one member",
        ),
        (
            "video/x-raw,width=1,width=2",
            20,
            "field `width` is given twice",
        ),
        (
            "video/x-raw,rate=25/0",
            17,
            "`25/0` is not a value of type fraction",
        ),
        ("video/x-raw,rate=1.5", 17, "no decimal point"),
        ("video/x-raw(foo)", 12, "`foo` is not a feature"),
        ("video/x-raw(memory:A", 20, "expected `)` after features"),
        ("a,b=\"c", 6, "expected a closing quote, found the end"),
        (";a", 0, "expected a media type"),
    ] {
        let error = Caps::parse(text).expect_err(text);
        assert_eq!(error.offset, offset, "{text}: {error}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

#[test]
fn fields_and_types_of_gstreamers_raw_caps() {
    for text in [
        "video/x-raw(memory:DMABuf, meta:GstVideoOverlayComposition), format=(string)NV12, \
         width=(int)1920, height=(int)1080, framerate=(fraction)30000/1001, \
         max-framerate=(fraction)60/1, pixel-aspect-ratio=(fraction)1/1, \
         interlace-mode=(string)interleaved, field-order=(string)top-field-first, \
         colorimetry=(string)2:4:5:1, chroma-site=(string)h-cosited+alt-line, \
         multiview-mode=(string)mono, multiview-flags=(flagset)0:ffffffff, views=(int)1, \
         mastering-display-info=(string)35400:14600:8500, content-light-level=(string)1000:400, \
         texture-target=(string)2D",
        "audio/x-raw, format=(string)S16LE, rate=(int)48000, channels=(int)2, \
         channel-mask=(bitmask)0x0000000000000003, layout=(string)interleaved",
        "video/x-raw(ANY), width=(int)[ 1, 2147483647 ]",
        "video/x-raw, name=(string)\"a\\ b\\\"\\303\\251\\012\"",
    ] {
        let caps = Caps::parse(text).unwrap();
        assert_eq!(caps.to_gst().to_string(), text);
        assert_eq!(Caps::parse(&caps.to_string()).unwrap(), caps, "{caps}");
    }
    let text =
        "v,multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff:/right-view-first/left-flipped";
    assert!(Caps::parse(text).unwrap().is_fixed());
    // A list that holds ranges is several structures, which is the same set.
    let caps = Caps::parse("v,width={[1,3],9,[5,6]},height={1,2}").unwrap();
    assert_eq!(
        caps.to_string(),
        "v,width=[1,3],height={1,2}; v,width=9,height={1,2}; v,width=[5,6],height={1,2}"
    );
}

#[test]
fn conflicts_are_told_by_field_and_sets() {
    let read = |text: &str| Caps::parse(text).unwrap();
    let tell = |a: &str, b: &str| {
        let error = pair::meet(&read(a), false, &read(b), false).unwrap_err();
        (error.to_string(), error.errno())
    };
    let (says, errno) = tell("v,width=320,height=[1,9]", "v,width={640,800},height=5");
    assert_eq!(says, "v: width: 320 and {640,800} have no value in common");
    assert_eq!(errno, "ENOENT");
    assert_eq!(
        tell("v,width=1", "a,width=1"),
        ("media type v is not a".to_owned(), "EINVAL")
    );
    assert!(tell("v", "v").0.contains("no field in common"));
    assert!(
        tell("v(memory:DMABuf),w=1", "v,w=1")
            .0
            .contains("v(memory:SystemMemory)")
    );
    assert_eq!(tell("EMPTY", "ANY").0, "the first side allows nothing");
    // The nearest pair of structures is told.
    let error = pair::caps_conflict(&read("a,x=1;v,x=1,y=1"), &read("v,x=2,y=2;v,x=2,y=1"));
    let Some(MeetError::Fields { fields, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(fields.len(), 1);
    assert_eq!(fields[0].field, FieldName::new("x"));
}

#[test]
fn fixing_takes_the_nearest() {
    let caps = Caps::parse("v,width=[16,1280,16],rate={24/1,30000/1001,60/1},height=[1,99]");
    let mut s = caps.unwrap().structures()[0].clone();
    assert!(s.fixate_nearest("width", 330));
    assert!(s.fixate_nearest("rate", Fraction::of(30, 1)));
    assert!(!s.fixate_nearest("rate", 30) && !s.fixate_nearest("depth", 8));
    assert_eq!(s.int("width"), Some(336));
    assert_eq!(s.fraction("rate"), Some(Fraction::of(30_000, 1001)));
    assert_eq!(s.int("height"), None);
    assert_eq!(s.fixated().int("height"), Some(1));
    assert!(s.fixated().is_fixed() && !s.is_fixed());
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "I420",
            "S16LE",
            "progressive",
            "max",
            "10",
            "1/2",
            "true",
            "1.5",
            "1:2",
            "NULL",
            "",
            "ANY",
            "a b",
            "\"",
            "\\",
            "é",
            "\n",
            "\u{0}",
            "{",
            "[1,2]",
            "2:4:5:1",
            "x;y",
            "=",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        any::<u32>().prop_map(Value::Uint),
        any::<u64>().prop_map(Value::Bitmask),
        any_fraction().prop_map(Value::Fraction),
        any_text().prop_map(|text| Value::text(&text)),
    ]
}

fn any_fraction() -> impl Strategy<Value = Fraction> {
    (any::<i32>(), 1..=i32::MAX).prop_filter_map("in range", |(n, d)| Fraction::new(n, d))
}

fn any_set() -> impl Strategy<Value = ValueSet> {
    prop_oneof![
        any_value().prop_map(ValueSet::One),
        vec(any_value(), 1..6).prop_map(|values| ValueSet::list(values).unwrap()),
        vec(any_text(), 1..6)
            .prop_map(|texts| { ValueSet::list(texts.iter().map(String::as_str)).unwrap() }),
        (any::<i32>(), any::<i32>(), 0_i64..=100).prop_map(|(a, b, step)| {
            ValueSet::int_range(a.min(b).into(), a.max(b).into(), step).unwrap()
        }),
        (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(a, b, step)| ValueSet::uint_range(
            a.min(b),
            a.max(b),
            step
        )
        .unwrap()),
        (any_fraction(), any_fraction())
            .prop_map(|(a, b)| FractionRange::new(a.min(b), a.max(b)).unwrap())
            .prop_map(ValueSet::FractionRange),
        (any::<u32>(), any::<u32>()).prop_map(|(f, m)| ValueSet::Flags(FlagSet::new(f, m))),
    ]
}

fn any_structure() -> impl Strategy<Value = Structure> {
    let names = prop_oneof![
        prop::sample::select(vec!["width", "format", "channel-mask", "own"])
            .prop_map(str::to_owned),
        any_text(),
    ];
    let features = prop::sample::select(vec![
        Features::System,
        Features::Any,
        Features::named(["memory:DMABuf", "meta:Some"]).unwrap(),
    ]);
    (any_text(), features, vec((names, any_set()), 0..6)).prop_map(|(media, features, fields)| {
        let mut out = Structure::new(&media).with_features(features);
        for (name, set) in fields {
            out.set(&name, set).unwrap();
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_printed_reads_back(structures in vec(any_structure(), 0..4)) {
        let caps = Caps::from_iter(structures);
        for text in [caps.to_string(), caps.to_gst().to_string()] {
            let read = Caps::parse(&text);
            prop_assert_eq!(read.as_ref(), Ok(&caps), "{}", text);
            // The order of lists too, which equality does not see.
            let again = read.unwrap();
            prop_assert_eq!(again.to_gst().to_string(), caps.to_gst().to_string());
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,60}", words in vec(any_text(), 0..12)) {
        for text in [text, words.concat(), format!("video/x-raw,a={}", words.join(","))] {
            match Caps::parse(&text) {
                Ok(caps) => {
                    prop_assert!(caps.is_equal(&Caps::parse(&caps.to_string()).unwrap()).unwrap());
                }
                Err(error) => {
                    prop_assert!(error.offset <= text.len());
                    prop_assert!(text.is_char_boundary(error.offset));
                }
            }
        }
    }

    #[test]
    fn mutated_texts_do_not_panic(
        at in 0_usize..120,
        with in prop::sample::select(vec!["{", "}", "[", "]", "(", ")", "\"", ",", ";", "=", "\\", "é", ""]),
    ) {
        let text = "video/x-raw(memory:DMABuf), format=(string){ I420, \"a b\" }, width=[2,64,2], \
                    framerate=[0/1,60/1]; audio/x-raw, rate={1,[5,9]}, mask=(bitmask)0x3";
        let mut changed: String = text.chars().take(at).collect();
        changed.push_str(with);
        changed.extend(text.chars().skip(at + 1));
        if let Ok(caps) = Caps::parse(&changed) {
            prop_assert_eq!(Caps::parse(&caps.to_string()), Ok(caps));
        }
    }

    #[test]
    fn fields_are_kept_by_name(
        edits in vec((prop::sample::select(vec![
            "width", "format", "zeta", "alpha", "rate", "video", "I420", "mid",
        ]), prop::option::of(0_i32..50)), 0..30),
    ) {
        let mut model = std::collections::BTreeMap::new();
        let mut built = Structure::new("video/x-raw");
        for (name, value) in edits {
            match value {
                Some(value) => {
                    built.set(name, value).unwrap();
                    model.insert(name, i64::from(value));
                }
                None => {
                    prop_assert_eq!(built.remove(name).is_some(), model.remove(name).is_some());
                }
            }
            prop_assert_eq!(built.len(), model.len());
            let mut names: Vec<String> = built.fields().map(|(n, _)| n.to_owned()).collect();
            names.sort();
            prop_assert_eq!(names, model.keys().map(|n| (*n).to_owned()).collect::<Vec<_>>());
            for (name, value) in &model {
                prop_assert_eq!(built.int(name), Some(*value));
                prop_assert!(built.get_named(&FieldName::new(name)).is_some());
            }
        }
        prop_assert_eq!(built.clone(), built.clone());
        let mut fewer = built.clone();
        fewer.retain(|name, _| name < "m");
        model.retain(|name, _| *name < "m");
        prop_assert_eq!(fewer.len(), model.len());
        prop_assert_eq!(built.intersect(&fewer).unwrap(), Some(built));
    }
}
