//! The text of a length of time: `40ms`, `1.5s`, `250us`, or a whole number of nanoseconds. Pure.

use tickpipe_components::property::FormError;

const UNITS: [(&str, u64); 4] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// Reads a length of time, in nanoseconds: a number, which may have a fraction, and `ns`, `us`, `ms`
/// or `s`; without a unit it is nanoseconds.
///
/// # Errors
/// Where it is not so, and why; also if it is beyond `i64::MAX` nanoseconds (292 years) or has parts
/// of a nanosecond.
pub(super) fn parse_time(text: &str) -> Result<i64, FormError> {
    let wrong = |offset: usize, problem: String| FormError { offset, problem };
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return Err(wrong(0, format!("`{text}` does not begin with a number")));
    }
    let (whole, rest) = text.split_at(digits);
    let (fraction, unit) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                return Err(wrong(
                    text.len() - rest.len(),
                    "no digit after the point".into(),
                ));
            }
            rest.split_at(digits)
        }
    };
    let at = text.len() - unit.len();
    let unit = unit.trim_start();
    let nanoseconds = match unit {
        "" => 1,
        unit => match UNITS.iter().find(|u| u.0 == unit) {
            Some(known) => known.1,
            None => return Err(wrong(at, format!("unit `{unit}` is none of ns, us, ms, s"))),
        },
    };
    let too_long = || wrong(0, format!("{text} is longer than {} ns", i64::MAX));
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    let mut all = whole.checked_mul(nanoseconds).ok_or_else(too_long)?;
    let mut place = nanoseconds;
    for (i, digit) in fraction.bytes().enumerate() {
        let digit = u64::from(digit - b'0');
        if !place.is_multiple_of(10) && digit > 0 {
            let offset = digits + 1 + i;
            return Err(wrong(offset, format!("{text} has parts of a nanosecond")));
        }
        place /= 10;
        all = all.checked_add(digit * place).ok_or_else(too_long)?;
    }
    i64::try_from(all).map_err(|_| too_long())
}

/// Checks a text, as a property does.
pub(super) fn check_time(text: &str) -> Result<(), FormError> {
    parse_time(text).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read() {
        let cases = [
            ("0", 0),
            ("40ms", 40_000_000),
            ("40 ms", 40_000_000),
            ("1.5s", 1_500_000_000),
            ("250us", 250_000),
            ("7", 7),
            ("0.000000001s", 1),
            ("1.0ns", 1),
            ("9223372036854775807", i64::MAX),
        ];
        for (text, want) in cases {
            assert_eq!(parse_time(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_length_of_time_is_told() {
        let cases = [
            ("", "byte 0: `` does not begin with a number"),
            ("-1ms", "byte 0: `-1ms` does not begin with a number"),
            ("1.s", "byte 2: no digit after the point"),
            ("4m", "byte 1: unit `m` is none of ns, us, ms, s"),
            ("0.5ns", "byte 2: 0.5ns has parts of a nanosecond"),
            (
                "0.0000000001s",
                "byte 11: 0.0000000001s has parts of a nanosecond",
            ),
            (
                "9223372036854775808",
                "byte 0: 9223372036854775808 is longer than 9223372036854775807 ns",
            ),
            (
                "99999999999999999999999s",
                "byte 0: 99999999999999999999999s is longer than 9223372036854775807 ns",
            ),
        ];
        for (text, want) in cases {
            let error = parse_time(text).expect_err(text);
            assert_eq!(error.to_string(), want, "{text}");
        }
    }
}
