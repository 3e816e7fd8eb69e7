//! What conversions lose, and what sources do without: rows of a problem split so that each says
//! what is lost. Looks only at what a cheapest answer can have.

use super::cost::{Cost, Loss};
use super::eliminate::Joiner;
use super::parts::{Parts, What};
use super::problem::{Factor, Problem};
use super::quality;
use super::relation::{Relation, Row, Rows};
use super::rows::{is_unnamed, unnamed};
use std::collections::HashMap;
use std::rc::Rc;
use tickpipe_components::caps::{FractionRange, IntRange, Structure, Value, ValueSet};
use tickpipe_components::limits::LimitExceeded;

/// Into how many rows one may fall; fields that would make more are not looked at any more.
const MOST_PIECES: usize = 512;
/// How many values of one field are told apart.
const MOST_VALUES: usize = 32;

/// Ranges of no more values are looked at value by value.
const FEW_VALUES: i64 = 8;

/// Fields that say how much a stream holds, most important first, and what of it.
const MEASURED: [(&str, Measure); 6] = [
    ("format", Measure::Format),
    ("width", Measure::Number(Loss::Size)),
    ("height", Measure::Number(Loss::Size)),
    ("framerate", Measure::Number(Loss::Rate)),
    ("rate", Measure::Number(Loss::Rate)),
    ("channels", Measure::Number(Loss::Channels)),
];

#[derive(Clone, Copy)]
enum Measure {
    Format,
    Number(Loss),
}

/// The problem with rows that say what they lose; `None` if nothing can be lost or gained.
pub(super) fn with_losses(
    problem: &Problem,
    parts: &Parts,
    regions: &[Rows],
    joiner: &mut Joiner,
) -> Result<Option<Problem>, LimitExceeded> {
    let mut changed = false;
    let mut factors = Vec::with_capacity(problem.factors.len());
    // Splits made before, by the rows and regions that they depend on, and whether they cost.
    let mut before: HashMap<[usize; 4], Option<Split>> = HashMap::new();
    for factor in &problem.factors {
        let address = |rows: &Rows| Rc::as_ptr(rows) as usize;
        let region = |i: usize| {
            let wire = factor.relation.scope.get(i);
            wire.map_or(0, |w| address(&regions[*w as usize]))
        };
        let forward = factor.forward.map_or(2, usize::from);
        let key = [
            address(&factor.relation.rows),
            region(0),
            region(1),
            forward,
        ];
        let split = match parts.parts.get(factor.part).map(|p| &p.what) {
            Some(What::Demand {
                caps,
                charged: true,
                ..
            }) => shared(factor, charges(problem, factor, caps, regions), joiner)?,
            Some(What::Ways { .. }) => match before.get(&key) {
                Some(split) => split.clone(),
                None => {
                    let pieces = factor
                        .forward
                        .and_then(|forward| conversions(problem, factor, forward, regions));
                    let split = shared(factor, pieces, joiner)?;
                    before.insert(key, split.clone());
                    split
                }
            },
            _ => None,
        };
        let mut new = Factor {
            part: factor.part,
            rank: factor.rank,
            relation: factor.relation.clone(),
            said: factor.said.clone(),
            forward: factor.forward,
        };
        if let Some(split) = split {
            changed |= split.costs;
            new.said = Some((factor.relation.clone(), split.origin));
            new.relation.rows = split.rows;
        }
        factors.push(new);
    }
    Ok(changed.then(|| Problem {
        fields: problem.fields.clone(),
        wire_of: problem.wire_of.clone(),
        first_link: problem.first_link.clone(),
        factors,
    }))
}

/// Rows that fell into pieces.
#[derive(Clone)]
struct Split {
    rows: Rows,
    origin: Vec<u32>,
    /// Some piece costs more than the row that it is of.
    costs: bool,
}

fn shared(
    factor: &Factor,
    pieces: Option<Vec<(u32, Row)>>,
    joiner: &mut Joiner,
) -> Result<Option<Split>, LimitExceeded> {
    let Some(pieces) = pieces else {
        return Ok(None);
    };
    joiner.spend(pieces.len() as u64)?;
    let whole = &factor.relation.rows;
    let costs = pieces.iter().any(|(at, row)| {
        let of = whole.get(*at as usize);
        of.is_none_or(|of| of.cost != row.cost)
    });
    let (origin, rows) = pieces.into_iter().unzip();
    Ok(Some(Split {
        rows: joiner.intern(rows),
        origin,
        costs,
    }))
}

/// What a source does without when it makes a poorer choice of those that it lists. Ranges are no
/// list: what lies in one is as good as anything else in it.
fn charges(
    problem: &Problem,
    factor: &Factor,
    offers: &[Structure],
    regions: &[Rows],
) -> Option<Vec<(u32, Row)>> {
    let wire = *factor.relation.scope.first()?;
    let mut any = false;
    let mut pieces: Vec<(u32, Row)> = numbered(&factor.relation);
    for (name, measure) in MEASURED {
        let Some(place) = problem.fields.place(name) else {
            continue;
        };
        let listed: Vec<Value> = offers
            .iter()
            .filter_map(|s| s.get(name)?.members())
            .flatten()
            .collect();
        let best = best(&listed, measure);
        if listed.len() < 2 || best == Cost::ZERO {
            continue;
        }
        let mut next = Vec::new();
        for (origin, row) in &pieces {
            let set = row.get(place).and_then(ValueSet::members);
            let near = narrowed(row.get(place), &regions[wire as usize], place);
            let Some(values) = set.filter(|_| !near.is_empty()) else {
                next.push((*origin, row.clone()));
                continue;
            };
            let wanted = values
                .into_iter()
                .filter(|v| near.iter().any(|set| set.contains(v)));
            for (cost, set) in grouped(wanted, |v| best.minus(held(v, measure))) {
                any |= cost != Cost::ZERO;
                let mut piece = row.clone();
                piece.cost = piece.cost + cost;
                if piece.narrow(place, &set) {
                    next.push((*origin, piece));
                }
            }
        }
        if next.len() <= MOST_PIECES {
            pieces = next;
        }
    }
    any.then_some(pieces)
}

/// The most that any value holds, kind by kind.
fn best(values: &[Value], measure: Measure) -> Cost {
    values.iter().fold(Cost::ZERO, |best, v| {
        let mut most = best;
        for (most, held) in most.0.iter_mut().zip(held(v, measure).0) {
            *most = (*most).max(held);
        }
        most
    })
}

/// How much a value holds. What is not known holds nothing, and so nothing of it is lost.
fn held(value: &Value, measure: Measure) -> Cost {
    match (measure, value) {
        (Measure::Format, Value::Text(text)) => match quality::format(text.as_str()) {
            Some((colour, depth)) => {
                Cost::loss(Loss::Colour, colour) + Cost::loss(Loss::Depth, depth)
            }
            None => Cost::ZERO,
        },
        (Measure::Number(kind), value) => {
            quality::scale(value).map_or(Cost::ZERO, |n| Cost::loss(kind, n))
        }
        _ => Cost::ZERO,
    }
}

/// What is lost from one value to another; nothing where one of them is not known.
fn lost(from: &Value, to: &Value, measure: Measure) -> Cost {
    let (a, b) = (held(from, measure), held(to, measure));
    match a == Cost::ZERO || b == Cost::ZERO {
        true => Cost::ZERO,
        false => a.minus(b),
    }
}

fn numbered(relation: &Relation) -> Vec<(u32, Row)> {
    (0u32..).zip(relation.rows.iter().cloned()).collect()
}

/// A set cut down to what the rows of a region allow at a place, without repetition.
fn narrowed(set: Option<&ValueSet>, region: &[Row], place: usize) -> Vec<ValueSet> {
    let Some(set) = set else {
        // The row says nothing of it: what the wire can have counts, or that nobody names it.
        let mut found: Vec<ValueSet> = Vec::new();
        for row in region {
            let set = row.get(place).cloned().unwrap_or_else(unnamed);
            if !found.contains(&set) {
                found.push(set);
            }
        }
        if found.iter().all(is_unnamed) {
            return Vec::new();
        }
        return found;
    };
    let mut found: Vec<ValueSet> = Vec::new();
    for row in region {
        let met = match row.get(place) {
            None => Some(set.clone()),
            Some(allowed) => set.intersect(allowed),
        };
        if let Some(met) = met
            && !found.contains(&met)
        {
            found.push(met);
        }
    }
    found
}

/// Values of equal cost as one set, cheapest first.
fn grouped(
    values: impl IntoIterator<Item = Value>,
    cost: impl Fn(&Value) -> Cost,
) -> Vec<(Cost, ValueSet)> {
    let mut groups: Vec<(Cost, Vec<Value>)> = Vec::new();
    for value in values {
        let cost = cost(&value);
        match groups.iter_mut().find(|g| g.0 == cost) {
            Some(group) => group.1.push(value),
            None => groups.push((cost, vec![value])),
        }
    }
    groups.sort_by_key(|g| g.0);
    groups
        .into_iter()
        .filter_map(|(cost, values)| Some((cost, ValueSet::list(values).ok()?)))
        .collect()
}

/// One way to fill a field on both sides, and what it loses.
struct Choice {
    cost: Cost,
    from: ValueSet,
    to: ValueSet,
    tied: bool,
}

/// Splits the rows of a converter by what they lose.
fn conversions(
    problem: &Problem,
    factor: &Factor,
    forward: bool,
    regions: &[Rows],
) -> Option<Vec<(u32, Row)>> {
    let &[a, b] = &factor.relation.scope[..] else {
        return None;
    };
    let count = problem.fields.len();
    let mut split = Vec::new();
    let mut any = false;
    for (origin, row) in numbered(&factor.relation) {
        let mut pieces = vec![row];
        for (name, measure) in MEASURED {
            let Some(place) = problem.fields.place(name) else {
                continue;
            };
            let (from, to) = match forward {
                true => (place, count + place),
                false => (count + place, place),
            };
            let (before, after) = if forward { (a, b) } else { (b, a) };
            let first = &pieces[0];
            if first.class[from] == first.class[to] {
                continue;
            }
            let before = narrowed(first.get(from), &regions[before as usize], place);
            let after = narrowed(first.get(to), &regions[after as usize], place);
            let choices = choices(&before, &after, measure);
            let idle = choices.iter().all(|c| c.cost == Cost::ZERO && !c.tied);
            if idle || choices.len() * pieces.len() > MOST_PIECES {
                continue;
            }
            any = true;
            let mut next = Vec::with_capacity(pieces.len() * choices.len());
            for piece in &pieces {
                next.extend(choices.iter().filter_map(|c| filled(piece, from, to, c)));
            }
            if !next.is_empty() {
                pieces = next;
            }
        }
        split.extend(pieces.into_iter().map(|p| (origin, p)));
    }
    any.then_some(split)
}

/// A row with one field filled.
fn filled(row: &Row, from: usize, to: usize, choice: &Choice) -> Option<Row> {
    let mut row = row.clone();
    row.cost = row.cost + choice.cost;
    let fits = row.narrow(from, &choice.from) && row.narrow(to, &choice.to);
    if choice.tied {
        row.class[to] = row.class[from];
    }
    fits.then_some(row)
}

/// All ways to fill a field, and what each loses.
fn choices(before: &[ValueSet], after: &[ValueSet], measure: Measure) -> Vec<Choice> {
    let (Some(before), Some(after)) = (atoms(before, measure), atoms(after, measure)) else {
        return Vec::new();
    };
    let mut choices: Vec<Choice> = Vec::new();
    let mut add = |cost: Cost, from: &ValueSet, to: &ValueSet, tied: bool| {
        choices.push(Choice {
            cost,
            from: from.clone(),
            to: to.clone(),
            tied,
        });
    };
    for from in &before {
        for to in &after {
            let (Some(low), Some(high)) = (&from.low, &to.high) else {
                add(Cost::ZERO, &from.set, &to.set, false);
                continue;
            };
            let (top, bottom) = (
                from.high.as_ref().unwrap_or(low),
                to.low.as_ref().unwrap_or(high),
            );
            if from.single && to.single {
                add(lost(low, high, measure), &from.set, &to.set, false);
                continue;
            }
            // Ranges: first what stays as it is, then what loses least, then the rest of it. With
            // one value on one side that is all that is not less.
            let same = from.set.intersect(&to.set);
            if let (Some(same), false) = (same, from.single || to.single) {
                add(Cost::ZERO, &same, &same, true);
            } else {
                let least = lost(low, high, measure);
                let (near, far) = match least == Cost::ZERO {
                    true => (up_to(&from.set, high), down_to(&to.set, low)),
                    false => (
                        Some(ValueSet::One(low.clone())),
                        Some(ValueSet::One(high.clone())),
                    ),
                };
                if let (Some(near), Some(far)) = (near, far) {
                    add(least, &near, &far, false);
                }
            }
            let most = lost(top, bottom, measure);
            if most != Cost::ZERO {
                add(most, &from.set, &to.set, false);
            }
        }
    }
    choices
}

/// Values that are as good as one another, or a range.
struct Atom {
    set: ValueSet,
    low: Option<Value>,
    high: Option<Value>,
    single: bool,
}

/// What is told apart of some sets; `None` if that is too much, or nothing.
fn atoms(sets: &[ValueSet], measure: Measure) -> Option<Vec<Atom>> {
    let mut values: Vec<Value> = Vec::new();
    let mut atoms: Vec<Atom> = Vec::new();
    for set in sets {
        match set {
            set if is_unnamed(set) => atoms.push(Atom {
                set: set.clone(),
                low: None,
                high: None,
                single: true,
            }),
            ValueSet::IntRange(r) if (r.last() - r.min()) / r.step().max(1) < FEW_VALUES => {
                for value in (r.min()..=r.last()).step_by(r.step().max(1) as usize) {
                    let value = Value::Int(value);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
            ValueSet::IntRange(r) => atoms.push(Atom {
                set: set.clone(),
                low: Some(Value::Int(r.min())),
                high: Some(Value::Int(r.last())),
                single: r.is_single(),
            }),
            ValueSet::FractionRange(r) => atoms.push(Atom {
                set: set.clone(),
                low: Some(Value::Fraction(r.min())),
                high: Some(Value::Fraction(r.max())),
                single: r.is_single(),
            }),
            _ => {
                for value in set.members()? {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
    }
    if values.len() > MOST_VALUES && matches!(measure, Measure::Number(_)) {
        return None;
    }
    for (_, set) in grouped(values, |v| held(v, measure)) {
        let value = set.members()?.first().cloned();
        atoms.push(Atom {
            set,
            low: value.clone(),
            high: value,
            single: true,
        });
    }
    (!atoms.is_empty()).then_some(atoms)
}

/// The part of a range up to a value.
fn up_to(set: &ValueSet, high: &Value) -> Option<ValueSet> {
    match (set, high) {
        (ValueSet::IntRange(r), Value::Int(high)) => {
            let range = IntRange::new(r.min(), r.max().min(*high), r.step()).ok()?;
            Some(ValueSet::IntRange(range))
        }
        (ValueSet::FractionRange(r), Value::Fraction(high)) => {
            let range = FractionRange::new(r.min(), r.max().min(*high)).ok()?;
            Some(ValueSet::FractionRange(range))
        }
        _ => Some(set.clone()),
    }
}

/// The part of a range from a value on.
fn down_to(set: &ValueSet, low: &Value) -> Option<ValueSet> {
    match (set, low) {
        (ValueSet::IntRange(r), Value::Int(low)) => {
            let whole = IntRange::new((*low).max(r.min()), r.max().max(*low), 1).ok()?;
            set.intersect(&ValueSet::IntRange(whole))
        }
        (ValueSet::FractionRange(r), Value::Fraction(low)) => {
            let range = FractionRange::new(r.min().max(*low), r.max()).ok()?;
            Some(ValueSet::FractionRange(range))
        }
        _ => Some(set.clone()),
    }
}
