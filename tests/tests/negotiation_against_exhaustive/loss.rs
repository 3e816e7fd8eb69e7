//! What is lost from one value of a wire to another, and what a source does without: the rule, value
//! by value. Floats are good enough for the few small numbers here.

use super::graph::{Domain, Graph, NAMED, Set, Structure};

/// Conversions, colour, depth, size, rate, channels; the first counts most.
pub type Cost = [u64; 6];

/// Names of the kinds, as reports have them.
pub const KINDS: [&str; 6] = ["conversions", "colour", "depth", "size", "rate", "channels"];

/// Colour (2 for each of grey, 4:1:0, 4:1:1, 4:2:0, 4:2:2, and 4:4:4 or RGB; 1 for alpha) and bits.
const FORMATS: [(&str, u64, u64); 8] = [
    ("GRAY8", 0, 8),
    ("GRAY16_LE", 0, 16),
    ("I420", 6, 8),
    ("NV12", 6, 8),
    ("I420_10LE", 6, 10),
    ("Y42B", 8, 8),
    ("RGB", 10, 8),
    ("RGBA", 11, 8),
];

/// How much each digit of each field holds.
pub struct Losses {
    held: Vec<Vec<Option<Cost>>>,
}

impl Losses {
    pub fn new(domain: &Domain) -> Losses {
        let held = |place: usize| {
            let field = &domain.fields[place];
            let mut held: Vec<Option<Cost>> =
                field.values.iter().map(|v| held(field.name, v)).collect();
            held.push(None);
            held
        };
        Losses {
            held: (0..domain.fields.len()).map(held).collect(),
        }
    }

    /// What a converter loses. Of what is not known nothing is lost.
    pub fn between(&self, from: &[u8], to: &[u8]) -> Cost {
        let mut lost = Cost::default();
        for (place, held) in self.held.iter().enumerate().skip(NAMED) {
            let (before, after) = (held[usize::from(from[place])], held[usize::from(to[place])]);
            if let (Some(before), Some(after)) = (before, after) {
                (0..lost.len()).for_each(|i| lost[i] += before[i].saturating_sub(after[i]));
            }
        }
        lost
    }

    /// What a source does without by emitting `value`, beside the best that it lists. What lies in a
    /// range is as good as anything else in it.
    pub fn without(&self, graph: &Graph, caps: &[Structure], value: &[u8]) -> Cost {
        let allows = |s: &Structure| {
            let masks = s.masks(&graph.domain);
            masks
                .iter()
                .zip(value)
                .all(|(mask, digit)| mask >> digit & 1 == 1)
        };
        let charged = |s: &Structure| {
            let mut lost = Cost::default();
            for (place, held) in self.held.iter().enumerate().skip(NAMED) {
                let listed = |s: &Structure| match &s.sets[place - NAMED] {
                    Some(Set::List(digits)) => digits.clone(),
                    _ => Vec::new(),
                };
                if listed(s).is_empty() {
                    continue;
                }
                let mut best = Cost::default();
                for digit in caps.iter().flat_map(listed) {
                    let held = held[usize::from(digit)].unwrap_or_default();
                    (0..best.len()).for_each(|i| best[i] = best[i].max(held[i]));
                }
                let held = held[usize::from(value[place])].unwrap_or_default();
                (0..lost.len()).for_each(|i| lost[i] += best[i].saturating_sub(held[i]));
            }
            lost
        };
        caps.iter()
            .filter(|s| allows(s))
            .map(charged)
            .min()
            .unwrap_or_default()
    }
}

fn held(field: &str, value: &str) -> Option<Cost> {
    let mut cost = Cost::default();
    let kind = match field {
        "format" => {
            let (_, colour, depth) = FORMATS.iter().find(|f| f.0 == value)?;
            cost[1] = *colour;
            cost[2] = *depth;
            return Some(cost);
        }
        "width" | "height" => 3,
        "framerate" | "rate" => 4,
        "channels" => 5,
        _ => return None,
    };
    let (num, den) = value.split_once('/').unwrap_or((value, "1"));
    let (num, den): (f64, f64) = (num.parse().ok()?, den.parse().ok()?);
    cost[kind] = ((32.0 + (num / den).log2()) * 65_536.0).floor() as u64;
    Some(cost)
}
