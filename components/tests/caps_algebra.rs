//! Laws of the caps algebra, against a plain model: sets of single values over small domains.
//!
//! A set of a field is modelled by the members of [`universe`] that it should contain, worked out
//! from how the set was made and not by asking it. Caps are modelled by the full combinations of
//! three fields (one of which may be left open) that they allow.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use tickpipe_components::caps::{
    Caps, CapsLimitError, CapsLimits, Features, FlagSet, Fraction, Structure, Value, ValueSet, pair,
};

/// A set, and the members of the universe that it should have.
#[derive(Clone, Debug)]
struct Modelled {
    set: ValueSet,
    members: Vec<Value>,
}

const INTS: std::ops::RangeInclusive<i64> = -3..=40;
const WORDS: [&str; 6] = ["I420", "NV12", "RGBA", "S16LE", "progressive", "odd word"];

/// Small fractions, and their neighbours, which subtraction makes bounds of.
fn fractions() -> Vec<Fraction> {
    let mut all = Vec::new();
    for (n, d) in [
        (0, 1),
        (1, 3),
        (1, 2),
        (24_000, 1001),
        (24, 1),
        (25, 1),
        (60, 1),
    ] {
        let f = Fraction::of(n, d);
        all.extend([f.next_down(), Some(f), f.next_up()].into_iter().flatten());
    }
    all
}

fn universe() -> Vec<Value> {
    let mut all: Vec<Value> = INTS.map(Value::Int).collect();
    all.extend((0..=20).map(Value::Uint));
    all.extend(fractions().into_iter().map(Value::Fraction));
    all.extend(WORDS.map(Value::text));
    all.extend([true, false].map(Value::Bool));
    all.extend([0, 3].map(Value::Bitmask));
    all
}

fn scalar() -> impl Strategy<Value = Value> {
    prop::sample::select(universe())
}

fn listed(values: Vec<Value>) -> Modelled {
    Modelled {
        set: ValueSet::list(values.clone()).unwrap(),
        members: values,
    }
}

fn modelled() -> impl Strategy<Value = Modelled> {
    let int_range = (-3_i64..=30, 0_i64..=40, 0_i64..=7).prop_map(|(min, span, step)| Modelled {
        set: ValueSet::int_range(min, min + span, step).unwrap(),
        members: (min..=min + span)
            .step_by(step.max(1) as usize)
            .map(Value::Int)
            .collect(),
    });
    let uint_range = (0_u32..=15, 0_u32..=20, 0_u32..=5).prop_map(|(min, span, step)| Modelled {
        set: ValueSet::uint_range(min, min + span, step).unwrap(),
        members: (min..=min + span)
            .step_by(step.max(1) as usize)
            .map(Value::Uint)
            .collect(),
    });
    let bound = || prop::sample::select(fractions());
    let fraction_range = (bound(), bound()).prop_map(|(a, b)| Modelled {
        set: ValueSet::fraction_range(a.min(b), a.max(b)).unwrap(),
        members: fractions()
            .into_iter()
            .filter(|f| a.min(b) <= *f && *f <= a.max(b))
            .map(Value::Fraction)
            .collect(),
    });
    let words = vec(prop::sample::select(WORDS.to_vec()), 1..5)
        .prop_map(|words| listed(words.into_iter().map(Value::text).collect()));
    let ints = vec(INTS, 1..7).prop_map(|ints| listed(ints.into_iter().map(Value::Int).collect()));
    prop_oneof![
        3 => int_range,
        1 => uint_range,
        2 => fraction_range,
        2 => words,
        2 => ints,
        1 => vec(scalar(), 1..6).prop_map(listed),
        2 => scalar().prop_map(|value| listed(vec![value])),
    ]
}

fn model(set: Option<&ValueSet>) -> Vec<Value> {
    let has = |v: &Value| set.is_some_and(|set| set.contains(v));
    universe().into_iter().filter(has).collect()
}

fn expected(keep: impl Fn(&Value) -> bool) -> Vec<Value> {
    universe().into_iter().filter(keep).collect()
}

/// Sets of whole numbers have all their members listed; others only those in the universe.
fn whole(m: &Modelled) -> bool {
    !matches!(m.set, ValueSet::FractionRange(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn membership_is_as_written(m in modelled()) {
        prop_assert_eq!(model(Some(&m.set)), expected(|v| m.members.contains(v)));
        for value in &m.members {
            prop_assert!(m.set.contains(value));
        }
        let fixed = m.set.single();
        prop_assert_eq!(m.set.is_fixed(), fixed.is_some());
        if whole(&m) {
            let only = m.members.iter().all(|v| *v == m.members[0]);
            prop_assert_eq!(only, m.set.is_fixed());
            // The first of a list, the least of a range.
            prop_assert_eq!(m.set.fixated(), ValueSet::One(m.members[0].clone()));
        }
    }

    #[test]
    fn intersection_is_exact(a in modelled(), b in modelled()) {
        let both = a.set.intersect(&b.set);
        let keep = |v: &Value| a.members.contains(v) && b.members.contains(v);
        prop_assert_eq!(model(both.as_ref()), expected(keep));
        prop_assert_eq!(a.set.meets(&b.set), both.is_some());
        if whole(&a) || whole(&b) {
            let common = a.members.iter().any(|v| b.set.contains(v));
            let common = common || b.members.iter().any(|v| a.set.contains(v));
            prop_assert_eq!(both.is_some(), common);
        }
        prop_assert_eq!(&both, &b.set.intersect(&a.set));
        if let Some(both) = both {
            prop_assert!(both.is_subset(&a.set) && both.is_subset(&b.set));
            prop_assert_eq!(both.canonical(), both);
        }
    }

    #[test]
    fn intersection_is_associative(a in modelled(), b in modelled(), c in modelled()) {
        let left = a.set.intersect(&b.set).and_then(|ab| ab.intersect(&c.set));
        let right = b.set.intersect(&c.set).and_then(|bc| a.set.intersect(&bc));
        prop_assert_eq!(left, right);
        prop_assert_eq!(a.set.intersect(&a.set), Some(a.set));
    }

    #[test]
    fn lists_keep_the_left_order(a in vec(-3_i64..=40, 2..8), b in modelled()) {
        let a = listed(a.into_iter().map(Value::Int).collect());
        if let Some(members) = a.set.intersect(&b.set).and_then(|set| set.members()) {
            let mut left: Vec<Value> = Vec::new();
            for value in a.members {
                if b.set.contains(&value) && !left.contains(&value) {
                    left.push(value);
                }
            }
            prop_assert_eq!(members.into_vec(), left);
        }
    }

    #[test]
    fn subset_and_subtraction_are_exact(a in modelled(), b in modelled()) {
        let rest = a.set.subtract(&b.set, &CapsLimits::DEFAULT).unwrap();
        prop_assert_eq!(a.set.is_subset(&b.set), rest.is_empty());
        if whole(&a) {
            let inside = a.members.iter().all(|v| b.set.contains(v));
            prop_assert_eq!(a.set.is_subset(&b.set), inside);
            for value in &a.members {
                let pieces = rest.iter().filter(|piece| piece.contains(value)).count();
                prop_assert_eq!(pieces, usize::from(!b.set.contains(value)));
            }
        }
        let keep = |v: &Value| a.members.contains(v) && !b.members.contains(v);
        let left: Vec<Value> = universe()
            .into_iter()
            .filter(|v| rest.iter().any(|piece| piece.contains(v)))
            .collect();
        prop_assert_eq!(left, expected(keep));
        for (i, piece) in rest.iter().enumerate() {
            prop_assert!(piece.is_subset(&a.set));
            prop_assert!(!piece.meets(&b.set));
            prop_assert!(rest[..i].iter().all(|other| !other.meets(piece)));
        }
        if let Some(union) = a.set.union(&b.set) {
            prop_assert_eq!(
                model(Some(&union)),
                expected(|v| a.members.contains(v) || b.members.contains(v))
            );
            prop_assert!(a.set.is_subset(&union) && b.set.is_subset(&union));
        }
        prop_assert_eq!(a.set == b.set, a.set.is_subset(&b.set) && b.set.is_subset(&a.set));
    }

    #[test]
    fn nearest_is_nearest(a in modelled(), target in -10_i64..=80) {
        let nearest = a.set.nearest(&Value::Int(target));
        let distance = |v: &Value| match v {
            Value::Int(v) => Some(v.abs_diff(target)),
            _ => None,
        };
        let best = a.members.iter().filter_map(distance).min();
        prop_assert_eq!(nearest.as_ref().and_then(distance), best);
        prop_assert!(nearest.is_none_or(|v| a.set.contains(&v)));
    }

    #[test]
    fn flags_are_exact(a in (0_u32..16, 0_u32..16), b in (0_u32..16, 0_u32..16)) {
        let words = |(flags, mask): (u32, u32)| -> Vec<u32> {
            (0..16).filter(|w| w & mask == flags & mask).collect()
        };
        let set = |(flags, mask)| ValueSet::Flags(FlagSet::new(flags, mask));
        let holds = |set: &ValueSet, word: u32| {
            set.meets(&ValueSet::Flags(FlagSet::new(word, u32::MAX)))
        };
        let both = set(a).intersect(&set(b));
        let rest = set(a).subtract(&set(b), &CapsLimits::DEFAULT).unwrap();
        for word in 0..16 {
            let (x, y) = (words(a).contains(&word), words(b).contains(&word));
            prop_assert_eq!(both.as_ref().is_some_and(|s| holds(s, word)), x && y);
            let pieces = rest.iter().filter(|s| holds(s, word)).count();
            prop_assert_eq!(pieces, usize::from(x && !y));
        }
        let inside = words(a).iter().all(|w| words(b).contains(w));
        prop_assert_eq!(set(a).is_subset(&set(b)), inside);
    }

    #[test]
    fn wide_grids_meet_where_both_have_points(
        a in (-2_147_483_648_i64..=2_147_483_647, 1_i64..=2_000_000_000),
        b in (-2_147_483_648_i64..=2_147_483_647, 1_i64..=2_000_000_000),
        pick in 0_i64..=4_294_967_295,
    ) {
        let set = |(min, step): (i64, i64)| {
            ValueSet::int_range(min, 2_147_483_647.max(min), step).unwrap()
        };
        let both = set(a).intersect(&set(b));
        // A point of the first grid, and the first common point by walking it.
        let on_a = Value::Int(a.0 + pick / a.1 * a.1);
        let inside = set(a).contains(&on_a) && set(b).contains(&on_a);
        prop_assert_eq!(both.as_ref().is_some_and(|s| s.contains(&on_a)), inside);
        if a.1 > 1_000_000 {
            let points = (a.0..=2_147_483_647).step_by(a.1 as usize).map(Value::Int);
            let common: Vec<Value> = points.filter(|v| set(b).contains(v)).collect();
            match both {
                Some(ValueSet::IntRange(r)) => {
                    prop_assert_eq!(r.count() as usize, common.len());
                    prop_assert_eq!(Value::Int(r.min()), common[0].clone());
                    prop_assert_eq!(Some(&Value::Int(r.last())), common.last());
                }
                _ => prop_assert!(common.is_empty()),
            }
        }
    }
}

/// What a field of the model's structures can be; the last stands for "anything else".
const HEIGHTS: [i64; 4] = [1, 2, 3, 4];
const FIELDS: [&str; 3] = ["width", "height", "custom-field"];
const ELSEWHERE: i64 = 1000;

/// Sets within the model's domain, or an open field.
fn domain_set() -> impl Strategy<Value = Option<ValueSet>> {
    let range = (1_i64..=4, 0_i64..=3, 1_i64..=2)
        .prop_map(|(min, span, step)| ValueSet::int_range(min, (min + span).min(4), step).unwrap());
    let list =
        vec(prop::sample::select(HEIGHTS.to_vec()), 1..4).prop_map(|v| ValueSet::list(v).unwrap());
    prop_oneof![
        1 => Just(None),
        2 => range.prop_map(Some),
        2 => list.prop_map(Some),
    ]
}

fn structure() -> impl Strategy<Value = Structure> {
    let media = prop::sample::select(vec!["video/x-raw", "audio/x-raw"]);
    let features = prop_oneof![
        6 => Just(Features::System),
        1 => Just(Features::Any),
        1 => Just(Features::named(["memory:DMABuf"]).unwrap()),
    ];
    (media, features, domain_set(), domain_set(), domain_set()).prop_map(
        |(media, features, width, height, custom)| {
            let mut out = Structure::new(media).with_features(features);
            for (name, set) in FIELDS.into_iter().zip([width, height, custom]) {
                if let Some(set) = set {
                    out.set(name, set).unwrap();
                }
            }
            out
        },
    )
}

fn caps() -> impl Strategy<Value = Caps> {
    prop_oneof![
        1 => Just(Caps::any()),
        12 => vec(structure(), 0..4).prop_map(Caps::from_iter),
    ]
}

/// All single points of the model: each combination of media type, features and field values.
fn points() -> Vec<(&'static str, &'static str, [i64; 3])> {
    let mut all = Vec::new();
    let values = [1, 2, 3, 4, ELSEWHERE];
    for media in ["video/x-raw", "audio/x-raw", "text/x-raw"] {
        for feature in ["memory:SystemMemory", "memory:DMABuf", "memory:Other"] {
            for width in values {
                for height in values {
                    all.extend(values.map(|custom| (media, feature, [width, height, custom])));
                }
            }
        }
    }
    all
}

fn allows(caps: &Caps, (media, feature, values): &(&str, &str, [i64; 3])) -> bool {
    caps.is_any()
        || caps.structures().iter().any(|s| {
            let features = match s.features() {
                Features::Any => true,
                other => Features::named([*feature]).as_ref() == Some(other),
            };
            features
                && s.media() == *media
                && FIELDS.iter().zip(values).all(|(name, value)| {
                    s.get(name)
                        .is_none_or(|set| set.contains(&Value::Int(*value)))
                })
        })
}

fn agrees(
    caps: &Caps,
    rule: impl Fn(&(&str, &str, [i64; 3])) -> bool,
) -> Result<(), TestCaseError> {
    for point in points() {
        prop_assert_eq!(
            allows(caps, &point),
            rule(&point),
            "{} at {:?}",
            caps,
            point
        );
    }
    Ok(())
}

fn digest(caps: &Caps) -> Vec<u8> {
    let mut bytes = Vec::new();
    caps.hash_into(&mut |part| bytes.extend_from_slice(part));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn caps_intersection_is_exact(a in caps(), b in caps(), c in caps()) {
        let both = a.intersect(&b).unwrap();
        agrees(&both, |p| allows(&a, p) && allows(&b, p))?;
        prop_assert_eq!(a.can_intersect(&b), !both.is_empty());
        prop_assert!(both.is_equal(&b.intersect(&a).unwrap()).unwrap());
        let left = both.intersect(&c).unwrap();
        let right = a.intersect(&b.intersect(&c).unwrap()).unwrap();
        prop_assert!(left.is_equal(&right).unwrap());
        prop_assert!(a.intersect(&a).unwrap().is_equal(&a).unwrap());
        prop_assert!(both.is_subset(&a).unwrap() && both.is_subset(&b).unwrap());
    }

    #[test]
    fn caps_subset_is_exact(a in caps(), b in caps()) {
        let inside = points().iter().all(|p| allows(&b, p) || !allows(&a, p));
        prop_assert_eq!(a.is_subset(&b).unwrap(), inside && (b.is_any() || !a.is_any()));
    }

    #[test]
    fn caps_subtraction_is_exact(a in caps(), b in caps()) {
        match a.subtract(&b) {
            Ok(rest) => {
                agrees(&rest, |p| allows(&a, p) && !allows(&b, p))?;
                prop_assert_eq!(rest.is_empty(), a.is_subset(&b).unwrap());
            }
            Err(CapsLimitError::Unbounded { .. }) => {
                // Only where something that is left open would have to exclude something.
                let open = a.is_any() || a.structures().iter().any(|s| {
                    s.len() < FIELDS.len() || *s.features() == Features::Any
                });
                prop_assert!(open);
                prop_assert!(!a.is_subset(&b).unwrap());
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn union_and_simplification_keep_the_set(a in caps(), b in caps()) {
        let mut sum = a.clone();
        sum.append(&b).unwrap();
        agrees(&sum, |p| allows(&a, p) || allows(&b, p))?;
        let mut merged = a.clone();
        merged.merge(&b).unwrap();
        agrees(&merged, |p| allows(&a, p) || allows(&b, p))?;
        prop_assert!(merged.structures().len() <= sum.structures().len());
        let mut simple = sum.clone();
        simple.simplify();
        prop_assert!(simple.is_equal(&sum).unwrap());
        prop_assert!(simple.structures().len() <= merged.structures().len());
    }

    #[test]
    fn the_pair_rule_adds_one_condition(a in structure(), b in structure()) {
        let (x, y) = (Caps::from(a.clone()), Caps::from(b.clone()));
        let both = x.intersect(&y).unwrap();
        prop_assert_eq!(pair::conflict(&a, &b).is_none(), !both.is_empty());
        prop_assert_eq!(pair::caps_conflict(&x, &y).is_none(), !both.is_empty());
        for (a_open, b_open) in [(true, false), (false, true), (true, true)] {
            prop_assert_eq!(pair::meet(&x, a_open, &y, b_open).ok(),
                (!both.is_empty()).then(|| both.clone()));
        }
        let common = FIELDS.iter().any(|f| a.get(f).is_some() && b.get(f).is_some());
        match pair::meet(&x, false, &y, false) {
            Ok(met) => prop_assert!(common && met == both),
            Err(pair::MeetError::NoCommonField { .. }) => {
                prop_assert!(!common && !both.is_empty());
            }
            Err(error) => {
                prop_assert!(both.is_empty());
                if let pair::MeetError::Fields { fields, .. } = error {
                    for conflict in fields {
                        prop_assert!(!conflict.a.meets(&conflict.b));
                    }
                }
            }
        }
    }

    #[test]
    fn digests_do_not_depend_on_the_order_of_fields(
        sets in vec(modelled(), 1..6),
        names in Just(["width", "zeta", "format", "alpha", "rate"]).prop_shuffle(),
    ) {
        let fields: Vec<_> = names.into_iter().zip(sets).collect();
        let build = |rev: bool| {
            let mut out = Structure::new("video/x-raw");
            for i in 0..fields.len() {
                let i = if rev { fields.len() - 1 - i } else { i };
                out.set(fields[i].0, fields[i].1.set.clone()).unwrap();
            }
            Caps::from(out)
        };
        prop_assert_eq!(build(false), build(true));
        prop_assert_eq!(digest(&build(false)), digest(&build(true)));
        let mut less = build(false);
        less.structures_mut()[0].remove(fields[0].0);
        prop_assert_ne!(digest(&less), digest(&build(false)));
    }
}
