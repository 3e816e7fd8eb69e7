//! Stamps and arrivals of `stampsrc` as texts. Pure.
//!
//! **Stamps** are items with commas between them:
//!
//! | item | buffers |
//! |---|---|
//! | `5`, `-5` | one with that time |
//! | `none` | one without a time |
//! | `0..9` | one for each time from 0 to 9, both included; `9..0` goes down |
//! | `0..9000/3000` | one for each third thousandth: 0, 3000, 6000, 9000 |
//! | `0..9+70000`, `0..9-500` | the same, moved |
//! | `7*3`, `none*3`, `0..1*2` | the item so many times |
//!
//! **Arrivals** are the times between a buffer and the next, the first coming at 0: `24/8ms` is 24
//! and 8 ms by turns for ever, `16ms*9,3s,24/8ms` is nine times 16 ms, once 3 s, then 24 and 8 ms by
//! turns. Units are `ns` (also where there is none), `us`, `ms` and `s`. What is last goes on for
//! ever, unless it has a `*`: then there is no wait any more.

use thiserror::Error;
use tickpipe_components::property::FormError;

/// The most items of such a text.
pub const MAX_ITEMS: usize = 65_536;

/// A text that is not as it must be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("byte {offset}: {kind}")]
pub struct StampsTextError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What is wrong there.
    pub kind: StampsTextErrorKind,
}

/// What is wrong in a text of stamps or arrivals.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StampsTextErrorKind {
    /// Nothing between two commas.
    #[error("expected an item such as `0..9` or `none`, found nothing")]
    Empty,
    /// Not a number of 64 bits.
    #[error("`{0}` is no number in {min}..={max}", min = i64::MIN, max = i64::MAX)]
    Number(String),
    /// A step or a count that cannot be.
    #[error("{what} `{value}` is outside of 1..={max}", max = u32::MAX)]
    Positive {
        /// Which of the two.
        what: &'static str,
        /// What was found.
        value: String,
    },
    /// A time that no number of 64 bits can say.
    #[error("`{0}` has times that do not fit 64 bits")]
    TooFar(String),
    /// Not a length of time.
    #[error("`{0}` is no length of time such as `24ms`; units are ns, us, ms and s")]
    Length(String),
    /// Too many.
    #[error("{0} items are past the limit stamps-items={MAX_ITEMS}")]
    Limit(usize),
}

use StampsTextErrorKind as Kind;

impl From<StampsTextError> for FormError {
    fn from(error: StampsTextError) -> FormError {
        FormError {
            offset: error.offset,
            problem: error.kind.to_string(),
        }
    }
}

/// Buffers with times at equal distances, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first time; `None` is none for all of them.
    first: Option<i64>,
    step: i64,
    /// Buffers before it begins anew.
    length: u64,
    times: u64,
}

impl Run {
    /// How many buffers there are.
    pub fn count(&self) -> u64 {
        self.length.saturating_mul(self.times)
    }

    /// The time of a buffer of it.
    pub fn at(&self, index: u64) -> Option<i64> {
        let within = index.checked_rem(self.length)?;
        let way = i128::from(self.step) * i128::from(within);
        i64::try_from(i128::from(self.first?) + way).ok()
    }
}

/// Items between commas, each with its place.
fn items(text: &str) -> Result<Vec<(usize, &str)>, StampsTextError> {
    let mut found = Vec::new();
    if text.trim().is_empty() {
        return Ok(found);
    }
    let mut offset = 0;
    for piece in text.split(',') {
        let at = offset + piece.len() - piece.trim_start().len();
        offset += piece.len() + 1;
        if piece.trim().is_empty() {
            let kind = Kind::Empty;
            return Err(StampsTextError { offset: at, kind });
        }
        found.push((at, piece.trim()));
    }
    if found.len() > MAX_ITEMS {
        let offset = found[MAX_ITEMS].0;
        let kind = Kind::Limit(found.len());
        return Err(StampsTextError { offset, kind });
    }
    Ok(found)
}

fn number(text: &str) -> Result<i64, Kind> {
    text.trim()
        .parse()
        .map_err(|_| Kind::Number(text.to_owned()))
}

fn positive(what: &'static str, text: &str) -> Result<u64, Kind> {
    let value: Option<u32> = text.trim().parse().ok();
    let wrong = || Kind::Positive {
        what,
        value: text.to_owned(),
    };
    value.filter(|v| *v > 0).map(u64::from).ok_or_else(wrong)
}

fn run(item: &str) -> Result<Run, Kind> {
    let (body, times) = match item.split_once('*') {
        Some((body, times)) => (body.trim(), positive("count", times)?),
        None => (item, 1),
    };
    let once = |first| Run {
        first,
        step: 0,
        length: 1,
        times,
    };
    if body == "none" {
        return Ok(once(None));
    }
    let Some((from, rest)) = body.split_once("..") else {
        return number(body).map(|value| once(Some(value)));
    };
    // A sign behind the first digit of the end begins what is added.
    let sign = rest
        .char_indices()
        .skip(1)
        .find(|c| matches!(c.1, '+' | '-'));
    let (rest, shift) = match sign {
        Some((at, _)) => (&rest[..at], number(&rest[at..])?),
        None => (rest, 0),
    };
    let (to, step) = match rest.split_once('/') {
        Some((to, step)) => (to, positive("step", step)? as i64),
        None => (rest, 1),
    };
    let (from, to) = (number(from)?, number(to)?);
    let too_far = || Kind::TooFar(item.to_owned());
    let moved = |v: i64| v.checked_add(shift).ok_or_else(too_far);
    moved(to)?;
    Ok(Run {
        first: Some(moved(from)?),
        step: if to < from { -step } else { step },
        length: to.abs_diff(from) / step.unsigned_abs() + 1,
        times,
    })
}

/// Reads a text of stamps.
///
/// # Errors
/// Where it is not so, and why.
pub fn parse_stamps(text: &str) -> Result<Vec<Run>, StampsTextError> {
    let read = |(offset, item)| run(item).map_err(|kind| StampsTextError { offset, kind });
    items(text)?.into_iter().map(read).collect()
}

/// Lengths of time by turns, so many of them, or for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    nanoseconds: Vec<i64>,
    count: u64,
}

fn length(text: &str, unit: Option<&str>) -> Result<i64, Kind> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let own = text[digits.len()..].trim();
    let unit = if own.is_empty() {
        unit.unwrap_or("ns")
    } else {
        own
    };
    let wrong = || Kind::Length(text.to_owned());
    let scale = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let value: Option<u32> = digits.trim().parse().ok();
    let value = value.map(i64::from).and_then(|v| v.checked_mul(scale));
    value.ok_or_else(wrong)
}

fn gaps(item: &str, last: bool) -> Result<Gaps, Kind> {
    let (body, times) = match item.split_once('*') {
        Some((body, times)) => (body, Some(positive("count", times)?)),
        None => (item, None),
    };
    // The unit of the last holds for those that have none.
    let last_one = body.rsplit('/').next().unwrap_or(body).trim();
    let unit = last_one.trim_start_matches(|c: char| c.is_ascii_digit());
    let unit = Some(unit.trim()).filter(|u| !u.is_empty());
    let lengths: Result<Vec<i64>, Kind> = body.split('/').map(|l| length(l, unit)).collect();
    let nanoseconds = lengths?;
    let turn = nanoseconds.len() as u64;
    Ok(Gaps {
        count: match times {
            Some(times) => times,
            None if last => u64::MAX,
            None => turn,
        },
        nanoseconds,
    })
}

/// Reads a text of arrivals.
///
/// # Errors
/// Where it is not so, and why.
pub fn parse_arrivals(text: &str) -> Result<Vec<Gaps>, StampsTextError> {
    let items = items(text)?;
    let count = items.len();
    let read = |(i, (offset, item)): (usize, (usize, &str))| {
        gaps(item, i + 1 == count).map_err(|kind| StampsTextError { offset, kind })
    };
    items.into_iter().enumerate().map(read).collect()
}

/// The time between a buffer and the one before it; `None` is no wait.
pub fn gap_before(gaps: &[Gaps], mut index: u64) -> Option<i64> {
    index = index.checked_sub(1)?;
    for gaps in gaps {
        if index < gaps.count {
            let turn = index.checked_rem(gaps.nanoseconds.len() as u64)?;
            return gaps.nanoseconds.get(turn as usize).copied();
        }
        index -= gaps.count;
    }
    None
}

/// Checks a text of stamps, as a property does.
pub(super) fn check_stamps(text: &str) -> Result<(), FormError> {
    parse_stamps(text).map(drop).map_err(FormError::from)
}

/// Checks a text of arrivals, as a property does.
pub(super) fn check_arrivals(text: &str) -> Result<(), FormError> {
    parse_arrivals(text).map(drop).map_err(FormError::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Option<i64>> {
        let runs = parse_stamps(text).expect("stamps");
        let one = |r: &Run| (0..r.count()).map(|i| r.at(i)).collect::<Vec<_>>();
        runs.iter().flat_map(one).collect()
    }

    #[test]
    fn stamps() {
        let of = |values: &[i64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(all("0..3"), of(&[0, 1, 2, 3]));
        assert_eq!(all("2..-1"), of(&[2, 1, 0, -1]));
        assert_eq!(all(" 0..9000/3000 , -5"), of(&[0, 3000, 6000, 9000, -5]));
        assert_eq!(all("0..10/3"), of(&[0, 3, 6, 9]));
        assert_eq!(
            all("3..4+70000,3..4-500,-2..-1-7"),
            of(&[70003, 70004, -497, -496, -9, -8])
        );
        assert_eq!(all("0..1*2,7*2"), of(&[0, 1, 0, 1, 7, 7]));
        assert_eq!(all("1,none*2,2"), [Some(1), None, None, Some(2)]);
        assert_eq!(all(""), []);
    }

    #[test]
    fn what_is_no_stamps() {
        let error = |text| {
            parse_stamps(text)
                .map_err(|e| e.to_string())
                .expect_err("wrong")
        };
        assert_eq!(
            error("0,,1"),
            "byte 2: expected an item such as `0..9` or `none`, found nothing"
        );
        assert_eq!(
            error("0, x"),
            "byte 3: `x` is no number in -9223372036854775808..=9223372036854775807"
        );
        assert_eq!(
            error("0..9/0"),
            "byte 0: step `0` is outside of 1..=4294967295"
        );
        assert_eq!(
            error("7*-1"),
            "byte 0: count `-1` is outside of 1..=4294967295"
        );
        assert_eq!(
            error("0..1+9223372036854775807"),
            "byte 0: `0..1+9223372036854775807` has times that do not fit 64 bits"
        );
        let many = vec!["1"; MAX_ITEMS + 1].join(",");
        assert_eq!(
            error(&many),
            "byte 131072: 65537 items are past the limit stamps-items=65536"
        );
    }

    #[test]
    fn arrivals() {
        let of = |text: &str, count: u64| -> Vec<Option<i64>> {
            let gaps = parse_arrivals(text).expect("arrivals");
            (0..count).map(|i| gap_before(&gaps, i)).collect()
        };
        let ms = |v: i64| Some(v * 1_000_000);
        assert_eq!(of("24/8ms", 4), [None, ms(24), ms(8), ms(24)]);
        assert_eq!(
            of("16ms*2,3s,24/8ms*3", 8),
            [None, ms(16), ms(16), ms(3000), ms(24), ms(8), ms(24), None]
        );
        assert_eq!(of("1us/5", 3), [None, Some(1000), Some(5)]);
        assert_eq!(of("", 2), [None, None]);
        let error = parse_arrivals("1ms,2h").map_err(|e| e.to_string());
        assert_eq!(
            error,
            Err(
                "byte 4: `2h` is no length of time such as `24ms`; units are ns, us, ms and s"
                    .to_owned()
            )
        );
    }
}
