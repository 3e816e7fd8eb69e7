//! Structures that share no field do not meet between closed templates, whatever their values, and
//! are united where one is open; media types that differ never meet. (B06: a loop that compared
//! nothing answered "can intersect".)

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tickpipe_components::caps::pair::{MeetError, conflict, meet, meet_structures};
use tickpipe_components::caps::{Caps, CapsLimits, Structure, Value, ValueSet};

fn caps(text: &str) -> Caps {
    text.parse().expect("caps")
}

fn structure(text: &str) -> Structure {
    caps(text).structures()[0].clone()
}

/// What two structures are together, each open or not.
fn pair(a: &str, b: &str, open: [bool; 2]) -> Result<Structure, MeetError> {
    let limits = CapsLimits::DEFAULT;
    meet_structures(&structure(a), open[0], &structure(b), open[1], &limits)
}

const OPEN: [[bool; 2]; 3] = [[true, false], [false, true], [true, true]];

#[test]
fn media_types_that_differ() {
    for (a, b) in [
        ("video/x-raw,format=NV12", "audio/x-raw,rate=48000"),
        ("video/x-raw,width=640", "audio/x-raw,width=640"),
        ("video/x-raw", "audio/x-raw"),
    ] {
        for open in OPEN.into_iter().chain([[false, false]]) {
            for (a, b) in [(a, b), (b, a)] {
                let got = pair(a, b, open);
                assert!(
                    matches!(got, Err(MeetError::MediaType { .. })),
                    "{a} {b}: {got:?}"
                );
                let all = meet(&caps(a), open[0], &caps(b), open[1]);
                assert!(all.is_err(), "{a} {b}: {all:?}");
            }
        }
        assert_eq!(structure(a).intersect(&structure(b)), Ok(None));
        assert!(
            caps(a)
                .intersect(&caps(b))
                .expect("within limits")
                .is_empty()
        );
    }
}

#[test]
fn no_common_field() {
    for (a, b, united) in [
        (
            "video/x-raw,width=640",
            "video/x-raw,height=480",
            "video/x-raw,width=640,height=480",
        ),
        ("a/x,f={1,2}", "a/x,g=[1,9]", "a/x,f={1,2},g=[1,9]"),
        ("a/x", "a/x,g=1", "a/x,g=1"),
        ("a/x", "a/x", "a/x"),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            // Between closed ones nothing was compared, so nothing meets.
            let got = pair(a, b, [false, false]);
            assert!(
                matches!(got, Err(MeetError::NoCommonField { .. })),
                "{a} {b}: {got:?}"
            );
            assert_eq!(conflict(&structure(a), &structure(b)), None, "{a} {b}");
            assert!(meet(&caps(a), false, &caps(b), false).is_err(), "{a} {b}");
            // What a user writes as a filter is open: the other side's and its own.
            for open in OPEN {
                assert_eq!(pair(a, b, open).ok(), Some(structure(united)), "{a} {b}");
                let all = meet(&caps(a), open[0], &caps(b), open[1]);
                assert_eq!(all.ok(), Some(caps(united)), "{a} {b}");
            }
            // So does the set algebra that solving is done with.
            assert_eq!(
                structure(a).intersect(&structure(b)),
                Ok(Some(structure(united)))
            );
        }
    }
    // One common field is enough.
    let got = pair("a/x,f=1,g=2", "a/x,g=2,h=3", [false, false]);
    assert_eq!(got.ok(), Some(structure("a/x,f=1,g=2,h=3")));
    // Unless it differs.
    for open in OPEN.into_iter().chain([[false, false]]) {
        let got = pair("a/x,f=1,g=2", "a/x,g=3,h=3", open);
        assert!(matches!(got, Err(MeetError::Fields { .. })), "{got:?}");
    }
}

#[test]
fn any_and_empty() {
    for open in OPEN.into_iter().chain([[false, false]]) {
        let [a, b] = open;
        let some = caps("a/x,f=1; a/y");
        assert_eq!(meet(&Caps::any(), a, &some, b).ok(), Some(some.clone()));
        assert_eq!(meet(&some, a, &Caps::any(), b).ok(), Some(some.clone()));
        for (x, y) in [(&Caps::empty(), &some), (&some, &Caps::empty())] {
            assert!(matches!(meet(x, a, y, b), Err(MeetError::Empty { .. })));
        }
        for (x, y) in [
            (Caps::empty(), Caps::any()),
            (Caps::any(), Caps::empty()),
            (Caps::empty(), Caps::empty()),
        ] {
            assert!(meet(&x, a, &y, b).is_err());
        }
    }
}

#[test]
fn of_lists_the_pairs_that_meet() {
    let closed = meet(
        &caps("a/x,f=1; a/x,g=2"),
        false,
        &caps("a/x,g=[1,3]; a/y"),
        false,
    );
    assert_eq!(closed.ok(), Some(caps("a/x,g=2")));
    let open = meet(
        &caps("a/x,f=1; a/x,g=2"),
        true,
        &caps("a/x,g=[1,3]; a/y"),
        false,
    );
    assert_eq!(open.ok(), Some(caps("a/x,f=1,g=[1,3]; a/x,g=2")));
    assert!(
        meet(
            &caps("a/x,f=1; a/z"),
            false,
            &caps("a/x,g=[1,3]; a/y"),
            false
        )
        .is_err()
    );
}

/// Values of fields: few, so that much meets and much does not.
fn set() -> impl Strategy<Value = ValueSet> {
    prop_oneof![
        (0..6_i64).prop_map(|v| ValueSet::One(Value::Int(v))),
        proptest::sample::subsequence(vec![0_i64, 1, 2, 3, 4, 5], 1..4)
            .prop_shuffle()
            .prop_map(|l| ValueSet::list(l.into_iter().map(Value::Int)).expect("a list")),
        (0..4_i64, 1..4_i64, 1..3_i64).prop_map(|(low, n, step)| ValueSet::int_range(
            low,
            low + n * step,
            step
        )
        .expect("a range")),
    ]
}

fn any_structure() -> impl Strategy<Value = Structure> {
    let fields = btree_map(prop_oneof!["f", "g", "h"], set(), 0..4);
    (prop_oneof!["a/x", "a/y"], fields).prop_map(|(media, fields)| {
        let mut made = Structure::new(media.as_str());
        for (name, set) in fields {
            made.set(name.as_str(), set).expect("few fields");
        }
        made
    })
}

fn any_caps() -> impl Strategy<Value = Caps> {
    vec(any_structure(), 1..4).prop_map(|all| all.into_iter().collect())
}

/// Every concrete structure of two media types and three fields.
fn points() -> Vec<Structure> {
    let mut all = Vec::new();
    for media in ["a/x", "a/y"] {
        for n in 0..6 * 6 * 6 {
            let mut point = Structure::new(media);
            for (name, value) in ["f", "g", "h"].into_iter().zip([n % 6, n / 6 % 6, n / 36]) {
                point
                    .set(name, ValueSet::One(Value::Int(value)))
                    .expect("few fields");
            }
            all.push(point);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_algebra_is_commutative_associative_and_idempotent(
        a in any_caps(), b in any_caps(), c in any_caps()
    ) {
        let and = |a: &Caps, b: &Caps| a.intersect(b).expect("within limits");
        let equal = |a: &Caps, b: &Caps| a.is_equal(b).expect("within limits");
        prop_assert!(equal(&and(&a, &b), &and(&b, &a)));
        prop_assert!(equal(&and(&and(&a, &b), &c), &and(&a, &and(&b, &c))));
        prop_assert!(equal(&and(&a, &a), &a));
    }

    #[test]
    fn a_point_is_in_both_if_it_is_in_the_intersection(a in any_caps(), b in any_caps()) {
        let both = a.intersect(&b).expect("within limits");
        let inside = |a: &Caps, b: &Caps| a.is_subset(b).expect("within limits");
        prop_assert!(inside(&both, &a) && inside(&both, &b));
        for point in points() {
            let point = Caps::from(point);
            let each = inside(&point, &a) && inside(&point, &b);
            prop_assert_eq!(each, inside(&point, &both), "{}", point);
        }
    }

    #[test]
    fn the_pair_rule_compares_something_or_says_so(
        a in any_structure(), b in any_structure(), open in any::<[bool; 2]>()
    ) {
        let limits = CapsLimits::DEFAULT;
        let got = meet_structures(&a, open[0], &b, open[1], &limits);
        let same = meet_structures(&b, open[1], &a, open[0], &limits);
        prop_assert_eq!(got.is_ok(), same.is_ok());
        let common = a.names().any(|name| b.names().any(|other| name == other));
        let exact = a.intersect(&b).expect("within limits");
        match got {
            Ok(met) => {
                prop_assert!(common || open[0] || open[1]);
                prop_assert!(met.is_subset(&a) && met.is_subset(&b));
                prop_assert_eq!(Some(met), exact);
            }
            Err(MeetError::NoCommonField { .. }) => {
                prop_assert!(!common && !open[0] && !open[1]);
                prop_assert_eq!(a.media(), b.media());
            }
            Err(MeetError::MediaType { .. }) => prop_assert_ne!(a.media(), b.media()),
            Err(MeetError::Fields { .. }) => prop_assert!(common && exact.is_none()),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
