//! Pairs of structures and lists of them, against the plain way: field by field, pair by pair,
//! each structure with each other one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use tickpipe_components::caps::{
    Caps, CapsLimitError, CapsLimits, FIELDS_LIMIT, Features, FieldName, Fraction, MAX_FIELDS,
    STRUCTURES_LIMIT, Structure, Value, ValueSet,
};

/// Names in the vocabulary and outside of it, first and last ones of either.
const NAMES: [&str; 10] = [
    "format",
    "width",
    "framerate",
    "interlace-mode",
    "rate",
    "frame_interval",
    "a-name",
    "m-name",
    "n-name",
    "z-name",
];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0_i64..6).prop_map(Value::Int),
        (0_u32..6).prop_map(Value::Uint),
        (0_i32..6, 1_i32..3).prop_map(|(n, d)| Value::Fraction(Fraction::of(n, d))),
        prop::sample::select(vec!["I420", "NV12", "S16LE", "mixed", "odd word"])
            .prop_map(Value::text),
        any::<bool>().prop_map(Value::Bool),
        (0_u64..3).prop_map(Value::Bitmask),
    ]
}

fn set() -> impl Strategy<Value = ValueSet> {
    prop_oneof![
        3 => value().prop_map(ValueSet::One),
        2 => vec(value(), 1..6).prop_map(|values| ValueSet::list(values).unwrap()),
        6 => (0_i64..4, 0_i64..6, 0_i64..4)
            .prop_map(|(min, span, step)| ValueSet::int_range(min, min + span, step).unwrap()),
        1 => (0_u32..4, 0_u32..6, 0_u32..4)
            .prop_map(|(min, span, step)| ValueSet::uint_range(min, min + span, step).unwrap()),
        3 => (0_i32..4, 0_i32..4).prop_map(|(min, span)| {
            ValueSet::fraction_range(Fraction::of(min, 2), Fraction::of(min + span, 2)).unwrap()
        }),
    ]
}

fn structure() -> impl Strategy<Value = Structure> {
    let features = prop_oneof![
        8 => Just(Features::System),
        1 => Just(Features::Any),
        1 => Just(Features::named(["memory:DMABuf"]).unwrap()),
    ];
    let fields = vec(prop::option::weighted(0.4, set()), NAMES.len());
    (0..8, features, fields).prop_map(|(media, features, fields)| {
        let media = if media == 0 {
            "own/media"
        } else {
            "video/x-raw"
        };
        let mut out = Structure::new(media).with_features(features);
        for (name, set) in NAMES.into_iter().zip(fields) {
            if let Some(set) = set {
                out.set(name, set).unwrap();
            }
        }
        out
    })
}

/// Structures of few fields, so that many contain one another.
fn lists() -> impl Strategy<Value = Caps> {
    let few = (set(), prop::option::of(set()), prop::option::of(set()));
    let few = few.prop_map(|(width, rate, own)| {
        let mut out = Structure::new("video/x-raw").with("width", width);
        for (name, set) in [("framerate", rate), ("own", own)] {
            if let Some(set) = set {
                out.set(name, set).unwrap();
            }
        }
        out
    });
    let mixed = prop_oneof![6 => few, 1 => structure()];
    prop_oneof![1 => Just(Caps::any()), 12 => vec(mixed, 0..9).prop_map(Caps::from_iter)]
}

fn bytes(hash: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<u8> {
    let mut out = Vec::new();
    hash(&mut |part| out.extend_from_slice(part));
    out
}

/// The same in form: also the order of lists, and how ranges are written but for their step 0.
fn same_form(a: &Structure, b: &Structure) -> bool {
    let digest = |s: &Structure| bytes(|mut out| s.hash_into(&mut out));
    a == b && digest(a) == digest(b) && a.to_string() == b.to_string()
}

fn plain_intersection(a: &Structure, b: &Structure) -> Option<Structure> {
    let features = match (a.features(), b.features()) {
        (Features::Any, other) | (other, Features::Any) => other.clone(),
        (one, other) if one == other => one.clone(),
        _ => return None,
    };
    if a.media() != b.media() {
        return None;
    }
    let mut out = a.clone().with_features(features);
    for (name, theirs) in b.fields() {
        let set = match a.get(name) {
            Some(mine) => mine.intersect(theirs)?,
            None => theirs.clone(),
        };
        out.set(name, set).unwrap();
    }
    Some(out)
}

fn plain_subset(a: &Structure, b: &Structure) -> bool {
    let features = *b.features() == Features::Any || a.features() == b.features();
    features
        && a.media() == b.media()
        && b.fields()
            .all(|(name, theirs)| a.get(name).is_some_and(|mine| mine.is_subset(theirs)))
}

/// Those that no other one contains, of equal ones the first.
fn plain_absorption(all: &[Structure]) -> Vec<Structure> {
    let absorbed = |i: usize| {
        all.iter().enumerate().any(|(j, other)| {
            i != j && plain_subset(&all[i], other) && (j < i || !plain_subset(other, &all[i]))
        })
    };
    let kept = (0..all.len()).filter(|i| !absorbed(*i));
    kept.map(|i| all[i].clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn structures_meet_field_by_field(a in structure(), b in structure()) {
        let both = a.intersect(&b).unwrap();
        let plain = plain_intersection(&a, &b);
        prop_assert_eq!(both.is_some(), plain.is_some());
        prop_assert_eq!(a.can_intersect(&b), plain.is_some());
        if let (Some(both), Some(plain)) = (both, plain) {
            prop_assert!(same_form(&both, &plain), "{} is not {}", both, plain);
            prop_assert!(both.names().eq(plain.names()));
            prop_assert!(both.is_subset(&a) && both.is_subset(&b));
        }
        prop_assert_eq!(a.is_subset(&b), plain_subset(&a, &b));
        let common = a.names().filter(|name| b.get_named(name).is_some());
        prop_assert_eq!(a.common_fields(&b), common.count());
    }

    #[test]
    fn lists_meet_pair_by_pair(a in lists(), b in lists()) {
        let both = a.intersect(&b).unwrap();
        let plain: Vec<Structure> = match (a.is_any(), b.is_any()) {
            (true, _) => b.structures().to_vec(),
            (_, true) => a.structures().to_vec(),
            _ => a
                .structures()
                .iter()
                .flat_map(|x| b.structures().iter().filter_map(|y| plain_intersection(x, y)))
                .collect(),
        };
        prop_assert_eq!(both.is_any(), a.is_any() && b.is_any());
        prop_assert_eq!(both.structures().len(), plain.len());
        prop_assert!(both.structures().iter().zip(&plain).all(|(x, y)| same_form(x, y)));

        let absorbed = a.intersect_absorbed(&b).unwrap();
        let left = plain_absorption(&plain);
        prop_assert_eq!(absorbed.is_any(), both.is_any());
        prop_assert_eq!(absorbed.structures().len(), left.len(), "{} of {}", absorbed, both);
        prop_assert!(absorbed.structures().iter().zip(&left).all(|(x, y)| same_form(x, y)));
        prop_assert!(absorbed.is_equal(&both).unwrap());

        let mut simple = both.clone();
        simple.simplify();
        prop_assert!(simple.structures().len() <= left.len());
        prop_assert!(simple.is_equal(&both).unwrap());
    }

    #[test]
    fn copies_are_the_same(all in vec(structure(), 0..40)) {
        let caps = Caps::from_iter(all.clone());
        let copy = caps.clone();
        drop(caps);
        prop_assert_eq!(copy.structures().len(), all.len());
        prop_assert!(copy.structures().iter().zip(&all).all(|(x, y)| same_form(x, y)));
    }

    #[test]
    fn edits_keep_fields_by_name(
        start in structure(),
        edits in vec((0..NAMES.len(), prop::option::of(0_i64..9)), 0..20),
    ) {
        let mut model: Vec<(&str, ValueSet)> = NAMES
            .into_iter()
            .filter_map(|name| Some((name, start.get(name)?.clone())))
            .collect();
        let mut edited = start;
        for (name, value) in edits {
            model.retain(|(other, _)| *other != NAMES[name]);
            match value {
                Some(value) => {
                    edited.set(NAMES[name], value).unwrap();
                    model.push((NAMES[name], value.into()));
                }
                None => {
                    edited.remove(NAMES[name]);
                }
            }
        }
        model.sort_by_key(|(name, _)| NAMES.iter().position(|other| other == name));
        let fields: Vec<_> = edited.fields().map(|(name, set)| (name, set.clone())).collect();
        prop_assert_eq!(&fields, &model);
        let names: Vec<FieldName> = model.iter().map(|(name, _)| FieldName::new(name)).collect();
        prop_assert!(edited.names().eq(names));
    }
}

fn exceeded(limit: &'static str, needed: u64, error: CapsLimitError) {
    match error {
        CapsLimitError::Exceeded {
            limit: name,
            needed: count,
            ..
        } => assert_eq!((name, count), (limit, needed)),
        other => panic!("{other}"),
    }
}

/// Words of the vocabulary that are names of fields.
const KNOWN: &str = "format width height framerate max-framerate pixel-aspect-ratio interlace-mode \
    field-order colorimetry chroma-site multiview-mode multiview-flags views texture-target rate \
    channels channel-mask layout interleaved stream-format alignment profile level tier parsed";

#[test]
fn a_union_is_as_large_as_may_be() {
    let known: Vec<&str> = KNOWN.split(' ').collect();
    assert_eq!(known.len(), MAX_FIELDS + 1);
    let of = |names: &[&str]| {
        let mut out = Structure::of("video/x-raw");
        for name in names {
            out.set(name, 1).unwrap();
        }
        out
    };
    let within = |fields| CapsLimits {
        fields,
        ..CapsLimits::DEFAULT
    };
    // Half and half, and some in common.
    let (a, b) = (of(&known[..14]), of(&known[10..24]));
    let both = a.intersect(&b).unwrap().unwrap();
    assert_eq!(both, of(&known[..24]));
    assert_eq!(a.intersect_within(&b, &within(24)).unwrap(), Some(both));
    exceeded(
        FIELDS_LIMIT,
        24,
        a.intersect_within(&b, &within(23)).unwrap_err(),
    );
    let c = of(&known[10..]);
    exceeded(FIELDS_LIMIT, 25, a.intersect(&c).unwrap_err());
    exceeded(
        FIELDS_LIMIT,
        25,
        Caps::from(a.clone())
            .intersect(&Caps::from(c.clone()))
            .unwrap_err(),
    );
    // What does not meet is none, however large.
    let c = c.with(known[12], 2);
    assert_eq!(a.intersect(&c).unwrap(), None);
    // A name outside of the vocabulary takes a second slot; one that both have takes it once.
    let a = of(&["a-name", "b-name", "c-name"]).with("d-name", 1);
    let b = of(&known[..14]).with("d-name", 1);
    let both = a.intersect(&b).unwrap().unwrap();
    assert_eq!(both.len(), 18);
    assert_eq!(both.fields().last().unwrap().0, "d-name");
    let b = of(&known[..16]).with("d-name", 1);
    assert_eq!(a.intersect(&b).unwrap().unwrap().len(), 20);
    let b = of(&known[..17]).with("d-name", 1);
    exceeded(FIELDS_LIMIT, 25, a.intersect(&b).unwrap_err());
    assert_eq!(a.intersect(&b.with("d-name", 2)).unwrap(), None);
}

/// Structures of ranges, each of which meets each other one and contains none.
fn ranges(count: i64, reversed: bool) -> Caps {
    let structure = |i: i64| {
        let k = if reversed { count - 1 - i } else { i };
        let size = ValueSet::int_range(1 + k, 10_000 - k, 1).unwrap();
        let rate = ValueSet::fraction_range(Fraction::ZERO, Fraction::of(60 + k as i32, 1));
        Structure::new("video/x-raw")
            .with("format", "I420")
            .with("width", size.clone())
            .with("height", size)
            .with("framerate", rate.unwrap())
    };
    (0..count).map(structure).collect()
}

#[test]
fn only_what_stays_counts() {
    let within = |structures| CapsLimits {
        structures,
        ..CapsLimits::DEFAULT
    };
    let (a, b) = (ranges(30, false), ranges(30, true));
    assert_eq!(a.intersect(&b).unwrap().structures().len(), 900);
    assert_eq!(a.intersect_absorbed(&b).unwrap(), a);
    assert_eq!(
        b.intersect_absorbed_within(&a, &within(30)).unwrap(),
        b,
        "each is its own row"
    );
    let error = a.intersect_absorbed_within(&b, &within(29)).unwrap_err();
    exceeded(STRUCTURES_LIMIT, 30, error);
    assert!(a.intersect_within(&b, &within(900)).is_ok());
    let error = a.intersect_within(&b, &within(899)).unwrap_err();
    exceeded(STRUCTURES_LIMIT, 900, error);
    // Each result contains all before it, and one stays.
    let growing: Caps = (1..=20)
        .map(|i| Structure::new("v").with("width", ValueSet::int_range(1, i, 1).unwrap()))
        .collect();
    let last: Caps = growing.structures().last().cloned().into_iter().collect();
    assert_eq!(
        growing
            .intersect_absorbed_within(&growing, &within(1))
            .unwrap(),
        last
    );
    let mut simple = growing.clone();
    simple.simplify();
    assert_eq!(simple, last);
    assert_eq!(growing.intersect_absorbed(&Caps::any()).unwrap(), last);
    // Nothing contains another: all stay.
    let side = |name: &str| -> Caps {
        let set = |i| ValueSet::int_range(i, 40 + i, 1).unwrap();
        (0..20)
            .map(|i| Structure::new("v").with(name, set(i)))
            .collect()
    };
    let (a, b) = (side("width"), side("height"));
    let both = a.intersect(&b).unwrap();
    assert_eq!(both.structures().len(), 400);
    assert_eq!(a.intersect_absorbed(&b).unwrap(), both);
}
