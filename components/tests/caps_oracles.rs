//! The caps algebra against recorded answers: GStreamer 1.22.0 about caps texts
//! (`gstcaps-dev.json`), and Zephyr's mpipe about values and structures (`mpipe-caps-dev.json`).
//!
//! GStreamer's texts are compared as sets. An answer of mpipe's that ours differs from is right only
//! if ours is the exact set intersection, which is computed here from single numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value as Json;
use tickpipe_components::caps::pair::{self, EditError, MPIPE_FIELDS};
use tickpipe_components::caps::{Caps, CapsLimits, Structure, Value, ValueSet};

const GST: &str = include_str!("data/gstcaps-dev.json");
const MPIPE: &str = include_str!("data/mpipe-caps-dev.json");

const MPIPE_LIMITS: CapsLimits = CapsLimits {
    fields: 5,
    ..CapsLimits::DEFAULT
};

fn read(text: &str) -> Json {
    serde_json::from_str(text).expect("the data file is JSON")
}

fn items<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json[key].as_array().map(Vec::as_slice).expect("a list")
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().expect("a text")
}

#[test]
fn gstreamer_cases() {
    let data = read(GST);
    let cases = items(&data, "cases");
    assert!(cases.len() >= 300);
    for case in cases {
        let a = Caps::parse(text(case, "a")).unwrap();
        let b = Caps::parse(text(case, "b")).unwrap();
        let expected = Caps::parse(text(case, "intersect")).unwrap();
        let both = a.intersect(&b).unwrap();
        assert!(both.is_equal(&expected).unwrap(), "{case}\n{both}");
        assert_eq!(a.can_intersect(&b), case["can_intersect"], "{case}");
        assert_eq!(b.can_intersect(&a), case["can_intersect"], "{case}");
        assert_eq!(a.is_subset(&b).unwrap(), case["a_subset_of_b"], "{case}");
        assert_eq!(b.is_subset(&a).unwrap(), case["b_subset_of_a"], "{case}");
        assert_eq!(a.is_equal(&b).unwrap(), case["equal"], "{case}");
        // All are open, as users write them, so the pair rule adds nothing.
        assert_eq!(
            pair::meet(&a, true, &b, true).is_ok(),
            case["can_intersect"]
        );
        assert_eq!(
            pair::caps_conflict(&a, &b).is_none(),
            case["can_intersect"],
            "{case}"
        );
        for caps in [&a, &b, &both] {
            assert_eq!(&Caps::parse(&caps.to_gst().to_string()).unwrap(), caps);
            assert_eq!(&Caps::parse(&caps.to_string()).unwrap(), caps);
        }
    }
}

#[test]
fn gstreamer_texts() {
    let data = read(GST);
    let texts = items(&data, "parse");
    assert!(texts.len() >= 30);
    for case in texts {
        let read = Caps::parse(text(case, "text"));
        match case["caps"].as_str() {
            Some(expected) => {
                let expected = Caps::parse(expected).unwrap();
                let caps = read.unwrap();
                assert!(caps.is_equal(&expected).unwrap(), "{case}: {caps}");
            }
            None => {
                let error = read.expect_err(text(case, "text"));
                assert!(error.offset <= text(case, "text").len(), "{case}: {error}");
            }
        }
    }
}

/// A value of mpipe's as it stands in the file: kind and numbers.
fn set(json: &[Json]) -> ValueSet {
    let int = |i: usize| json[i].as_i64().expect("a number");
    let uint = |i: usize| u32::try_from(int(i)).expect("an unsigned number");
    match json[0].as_str().expect("a kind") {
        "bool" => ValueSet::from(json[1].as_bool().expect("a truth value")),
        "int" => ValueSet::from(int(1)),
        "uint" => ValueSet::from(uint(1)),
        "int_range" => ValueSet::int_range(int(1), int(2), int(3)).unwrap(),
        "uint_range" => ValueSet::uint_range(uint(1), uint(2), uint(3)).unwrap(),
        other => panic!("unknown kind {other}"),
    }
}

fn set_of(json: &Json) -> ValueSet {
    set(json.as_array().expect("a value"))
}

fn structure(json: &Json) -> Structure {
    let mut out = Structure::new(text(json, "media"));
    for field in items(json, "fields") {
        let field = field.as_array().expect("a field");
        out.append_mpipe(
            field[0].as_str().expect("a name"),
            set(&field[1..]),
            &MPIPE_LIMITS,
        )
        .unwrap();
    }
    out
}

fn caps(json: &Json) -> Caps {
    if json["any"] == true {
        Caps::any()
    } else {
        structure(json).into()
    }
}

/// Minimum, maximum and step of a set of numbers, and whether it is of the unsigned family.
fn grid(set: &ValueSet) -> Option<(i128, i128, i128, bool)> {
    let wide = |v: i64| i128::from(v);
    match set {
        ValueSet::One(Value::Int(v)) => Some((wide(*v), wide(*v), 1, false)),
        ValueSet::One(Value::Uint(v)) => Some(((*v).into(), (*v).into(), 1, true)),
        ValueSet::IntRange(r) => Some((wide(r.min()), wide(r.max()), wide(r.step()), false)),
        ValueSet::UintRange(r) => Some((wide(r.min()), wide(r.max()), wide(r.step()), true)),
        _ => None,
    }
}

fn on_grid(v: i128, (min, max, step, _): (i128, i128, i128, bool)) -> bool {
    (min..=max).contains(&v) && (v - min) % step == 0
}

/// The first common members of two sets of numbers, and the last, by trying single numbers: first
/// up to two periods of the common grid from each end.
fn ends(a: &ValueSet, b: &ValueSet) -> Vec<i128> {
    let (Some(a), Some(b)) = (grid(a), grid(b)) else {
        return Vec::new();
    };
    if a.3 != b.3 {
        return Vec::new();
    }
    let (low, high) = (a.0.max(b.0), a.1.min(b.1));
    let reach = 2 * a.2 * b.2;
    let mut found: Vec<i128> = (low..=high.min(low + reach))
        .chain((high - reach).max(low)..=high)
        .filter(|v| on_grid(*v, a) && on_grid(*v, b))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a set that is claimed to be the intersection has exactly the common members near both
/// ends of where they can be.
fn is_exact(a: &ValueSet, b: &ValueSet, claimed: Option<&ValueSet>) -> bool {
    let common = ends(a, b);
    let Some(claimed) = claimed.map(|set| grid(set).expect("numbers")) else {
        return common.is_empty();
    };
    let (a, b) = (grid(a).expect("numbers"), grid(b).expect("numbers"));
    let (low, high) = (a.0.max(b.0), a.1.min(b.1));
    let reach = 2 * a.2 * b.2;
    let near = |v: &i128| on_grid(*v, claimed);
    let mine: Vec<i128> = (low..=high.min(low + reach))
        .chain((high - reach).max(low).max(low + reach + 1)..=high)
        .filter(near)
        .collect();
    claimed.3 == a.3 && claimed.0 >= low && claimed.1 <= high && mine == common
}

#[test]
fn mpipe_values() {
    let data = read(MPIPE);
    let cases = items(&data, "value_intersect");
    assert!(cases.len() >= 200);
    let mut exact = 0;
    for case in cases {
        let (a, b) = (set_of(&case["a"]), set_of(&case["b"]));
        let ours = a.intersect(&b);
        let theirs = (case["result"] == "ok").then(|| set_of(&case["out"]));
        if ours == theirs {
            continue;
        }
        exact += 1;
        assert!(is_exact(&a, &b, ours.as_ref()), "{case}: {ours:?}");
        assert!(!is_exact(&a, &b, theirs.as_ref()), "{case}: both are exact");
    }
    assert!(exact < cases.len() / 2, "{exact} of {}", cases.len());
}

#[test]
fn mpipe_structures() {
    let data = read(MPIPE);
    let cases = items(&data, "structure_intersect");
    assert!(cases.len() >= 200);
    for case in cases {
        let (a, b) = (caps(&case["a"]), caps(&case["b"]));
        let ours = meet_mpipe(&a, &b);
        let theirs = match case["result"].as_str() {
            Some("ok") => Ok(caps(&case["out"])),
            Some(errno) => Err(errno),
            None => panic!("no result"),
        };
        if ours == theirs {
            continue;
        }
        // Only the exactness of a common field can make the difference.
        let (a, b) = (a.first().unwrap(), b.first().unwrap());
        let mut differing = 0;
        for (name, mine) in a.fields() {
            let Some(yours) = b.get(name) else { continue };
            let both = mine.intersect(yours);
            let claimed = match &theirs {
                Ok(out) => out.first().unwrap().get(name).cloned(),
                Err(_) => None,
            };
            if grid(mine).is_some() && grid(yours).is_some() {
                assert!(is_exact(mine, yours, both.as_ref()), "{case}: {name}");
                differing += usize::from(both != claimed);
            }
        }
        assert!(differing > 0, "{case}: {ours:?}");
        if let (Ok(ours), Ok(theirs)) = (&ours, &theirs) {
            let names = |c: &Caps| c.first().unwrap().names().collect::<Vec<_>>();
            assert_eq!(names(ours), names(theirs));
        } else {
            // mpipe took them to meet, and may then have found no room for the union.
            let took_to_meet = matches!(theirs, Ok(_) | Err("ENOSPC"));
            assert_eq!((ours, took_to_meet), (Err("ENOENT"), true), "{case}");
        }
    }
}

/// mpipe's answer. Its structure without fields is not "nothing": it lacks a common field.
fn meet_mpipe(a: &Caps, b: &Caps) -> Result<Caps, &'static str> {
    pair::meet_within(a, false, b, false, &MPIPE_LIMITS).map_err(|error| error.errno())
}

#[test]
fn mpipe_fixation() {
    let data = read(MPIPE);
    let cases = items(&data, "fixate");
    assert!(cases.len() >= 100);
    for case in cases {
        let given = caps(&case["in"]);
        let only = given.first();
        let fixed = only.is_some_and(Structure::is_primitive);
        assert_eq!(fixed, case["is_fixed"], "{case}");
        let ours = only.and_then(Structure::fixate_mpipe);
        let theirs = (case["result"] == "ok").then(|| structure(&case["out"]));
        assert_eq!(ours, theirs, "{case}");
    }
}

#[test]
fn mpipe_edits() {
    let data = read(MPIPE);
    let cases = items(&data, "edit");
    assert!(cases.len() >= 50);
    for case in cases {
        let mut built = Structure::new("video");
        for op in items(case, "ops") {
            let op = op.as_array().expect("an operation");
            // A number is a field identifier that mpipe does not have.
            let name = op[1]
                .as_str()
                .map_or_else(|| op[1].to_string(), str::to_owned);
            assert_eq!(op[1].is_string(), MPIPE_FIELDS.contains(&name.as_str()));
            let answer = match op[0].as_str() {
                Some("append") => built.append_mpipe(&name, set_of(&op[2]), &MPIPE_LIMITS),
                Some("remove") => built.remove_mpipe(&name).map(|_| ()),
                other => panic!("unknown operation {other:?}"),
            };
            let answer = answer.as_ref().map_or_else(EditError::errno, |()| "ok");
            assert_eq!(answer, *op.last().unwrap(), "{case}: {op:?}");
        }
        let out = structure(&case["out"]);
        assert_eq!(built, out, "{case}");
        // The grid is kept as it was written, step 0 included.
        for (field, json) in built.fields().zip(out.fields()) {
            assert_eq!(format!("{field:?}"), format!("{json:?}"));
        }
    }
}
