//! The name that was probably meant. Pure; touches nothing.

/// Names longer than this, in characters, are not compared.
const MAX_COMPARED: usize = 64;

/// The candidate nearest to `name` by edit distance (insert, remove, change, swap of neighbours,
/// upper and lower case taken as equal), if it is near enough: at
/// most a third of the name's length, at least 1, at most 3. Of several equally near ones the
/// first in alphabetical order, so the order of candidates does not matter.
#[must_use]
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = lower(name, MAX_COMPARED + 1);
    if wanted.is_empty() || wanted.len() > MAX_COMPARED {
        return None;
    }
    let allowed = (wanted.len() / 3).clamp(1, 3);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let other = lower(candidate, MAX_COMPARED + 1);
        if other.is_empty() || other.len().abs_diff(wanted.len()) > allowed {
            continue;
        }
        let found = distance(&wanted, &other);
        // A name of one character is near to every other: then only the case may differ.
        let near = found <= allowed && (found < wanted.len() || found == 0);
        if near && best.is_none_or(|best| (found, candidate) < best) {
            best = Some((found, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn lower(name: &str, max: usize) -> Vec<char> {
    name.chars()
        .take(max)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Optimal string alignment distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let mut cost = (at(&above, j) + usize::from(from != to))
                .min(at(&above, j + 1) + 1)
                .min(left + 1);
            let swapped = i > 0
                && j > 0
                && a.get(i - 1) == Some(&to)
                && b.get(j - 1) == Some(&from)
                && from != to;
            if swapped {
                cost = cost.min(at(&before, j - 1).saturating_add(1));
            }
            row.push(cost);
            left = cost;
        }
        before = above;
        above = row;
    }
    above.last().copied().unwrap_or(usize::MAX)
}
