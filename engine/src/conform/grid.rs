//! The intersection of two mpipe values by two rules, written apart from the caps algebra so that
//! it can judge it: exact set intersection, and mpipe's own, which does not respect step grids.

use tickpipe_components::caps::{Value, ValueSet};

/// How two values meet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// On the grids of both, each anchored at its minimum; step 0 counts as 1.
    Exact,
    /// mpipe's: between the bounds, whatever the steps; of two ranges the step is the greatest
    /// common divisor.
    Gridless,
}

/// A value or range of one of the two families of numbers.
struct Grid {
    min: i128,
    max: i128,
    step: i128,
    scalar: bool,
    unsigned: bool,
}

/// What two values have in common by a rule.
pub(super) fn meet(a: &ValueSet, b: &ValueSet, rule: Rule) -> Option<ValueSet> {
    let (Some(x), Some(y)) = (grid(a), grid(b)) else {
        return (a == b).then(|| a.clone());
    };
    if x.unsigned != y.unsigned {
        return None;
    }
    let (low, high) = (x.min.max(y.min), x.max.min(y.max));
    if low > high {
        return None;
    }
    match rule {
        Rule::Gridless if x.scalar => Some(a.clone()),
        Rule::Gridless if y.scalar => Some(b.clone()),
        Rule::Gridless => range(low, high, divisor(x.step, y.step), x.unsigned),
        Rule::Exact => {
            let (x_step, y_step) = (x.step.max(1), y.step.max(1));
            let period = x_step / divisor(x_step, y_step) * y_step;
            let anchor = common(x.min, x_step, y.min, y_step)?;
            let first = low + (anchor - low).rem_euclid(period);
            let last = high - (high - anchor).rem_euclid(period);
            match first == last {
                true => range(first, first, 1, x.unsigned),
                false => range(first, last, period, x.unsigned),
            }
        }
    }
}

fn grid(set: &ValueSet) -> Option<Grid> {
    let (min, max, step, scalar, unsigned) = match set {
        ValueSet::One(Value::Int(v)) => (*v, *v, 1, true, false),
        ValueSet::One(Value::Uint(v)) => ((*v).into(), (*v).into(), 1, true, true),
        ValueSet::IntRange(r) => (r.min(), r.max(), r.raw_step(), false, false),
        ValueSet::UintRange(r) => (r.min(), r.max(), r.raw_step(), false, true),
        _ => return None,
    };
    Some(Grid {
        min: min.into(),
        max: max.into(),
        step: step.into(),
        scalar,
        unsigned,
    })
}

/// A range; none if it is empty.
fn range(min: i128, max: i128, step: i128, unsigned: bool) -> Option<ValueSet> {
    let whole = |v: i128| i64::try_from(v).ok();
    let set = if unsigned {
        let part = |v: i128| u32::try_from(v).ok();
        ValueSet::uint_range(part(min)?, part(max)?, part(step)?)
    } else {
        ValueSet::int_range(whole(min)?, whole(max)?, whole(step)?)
    };
    set.ok()
}

fn divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A number that is `a` modulo `m` and `b` modulo `n` (both above 0), if there is one: `a + m * k`,
/// where `k` undoes the difference modulo `n`.
fn common(a: i128, m: i128, b: i128, n: i128) -> Option<i128> {
    let g = divisor(m, n);
    if (b - a) % g != 0 {
        return None;
    }
    let (m_part, n_part) = (m / g, n / g);
    // Bézout: `inverse * m_part` is 1 modulo `n_part`.
    let (mut old, mut new) = ((m_part, 1), (n_part, 0));
    while new.0 != 0 {
        let q = old.0 / new.0;
        (old, new) = (new, (old.0 - q * new.0, old.1 - q * new.1));
    }
    let k = ((b - a) / g % n_part * old.1).rem_euclid(n_part);
    Some(a + m * k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of small ranges against single numbers.
    #[test]
    fn the_exact_rule_is_exact() {
        let mut ranges = Vec::new();
        for min in -2..4 {
            for max in min..9 {
                for step in 0..5 {
                    ranges.push((min, max, step));
                }
            }
        }
        let has = |(min, max, step): (i64, i64, i64), v: i64| {
            (min..=max).contains(&v) && (v - min) % step.max(1) == 0
        };
        for &x in &ranges {
            for &y in &ranges {
                let set = |(min, max, step)| ValueSet::int_range(min, max, step).expect("a range");
                let both = meet(&set(x), &set(y), Rule::Exact);
                for v in -3..10 {
                    let expected = has(x, v) && has(y, v);
                    let got = both
                        .as_ref()
                        .is_some_and(|both| both.contains(&Value::Int(v)));
                    assert_eq!(got, expected, "{x:?} {y:?} {v}");
                }
            }
        }
    }

    #[test]
    fn the_largest_numbers_fit() {
        let all = ValueSet::uint_range(0, u32::MAX, u32::MAX).expect("a range");
        let odd = ValueSet::uint_range(1, u32::MAX, u32::MAX - 1).expect("a range");
        let end = ValueSet::uint_range(u32::MAX, u32::MAX, 1).expect("a range");
        assert_eq!(meet(&all, &odd, Rule::Exact), Some(end));
        let low = ValueSet::int_range(i32::MIN.into(), i32::MAX.into(), 2).expect("a range");
        assert_eq!(meet(&low, &low, Rule::Exact), Some(low.clone()));
        assert_eq!(meet(&low, &low, Rule::Gridless), Some(low));
    }

    #[test]
    fn mpipes_rule_ignores_the_grid() {
        let range = ValueSet::int_range(1, 10, 2).expect("a range");
        let two = ValueSet::from(2);
        assert_eq!(meet(&range, &two, Rule::Gridless), Some(two.clone()));
        assert_eq!(meet(&range, &two, Rule::Exact), None);
        let other = ValueSet::int_range(2, 12, 4).expect("a range");
        let both = ValueSet::int_range(2, 10, 2).expect("a range");
        assert_eq!(meet(&range, &other, Rule::Gridless), Some(both));
        assert_eq!(meet(&range, &other, Rule::Exact), None);
        assert_eq!(meet(&two, &ValueSet::from(2_u32), Rule::Gridless), None);
    }
}
