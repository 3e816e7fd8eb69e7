//! Exact fractions: `i32/i32`, reduced, denominator above zero. Touches nothing else.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The largest numerator (in magnitude) and denominator of a [`Fraction`]: `i32::MAX`.
const LARGEST: i64 = i32::MAX as i64;

/// A reduced fraction whose numerator lies in `-i32::MAX..=i32::MAX` and whose denominator lies
/// in `1..=i32::MAX`, as in a frame rate or a pixel aspect ratio.
///
/// The range is symmetric and bounded, so between any two fractions lie finitely many others and
/// every fraction has a [next](Fraction::next_up) one: sets of fractions are closed under
/// subtraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fraction {
    num: i32,
    den: i32,
}

/// A text that is not a fraction such as `25/1` or `25`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is not a fraction N/D with |N| <= 2147483647 and 1 <= |D| <= 2147483647")]
pub struct FractionParseError {
    /// The text.
    pub text: String,
}

const fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    if a < 0 { -a } else { a }
}

impl Fraction {
    /// 0/1.
    pub const ZERO: Fraction = Fraction { num: 0, den: 1 };
    /// 1/1.
    pub const ONE: Fraction = Fraction { num: 1, den: 1 };
    /// The lowest fraction, -2147483647/1.
    pub const MIN: Fraction = Fraction {
        num: -i32::MAX,
        den: 1,
    };
    /// The highest fraction, 2147483647/1.
    pub const MAX: Fraction = Fraction {
        num: i32::MAX,
        den: 1,
    };

    /// `num/den`, reduced. `None` if `den` is zero or a part does not fit after reduction.
    pub const fn new(num: i32, den: i32) -> Option<Fraction> {
        Fraction::from_i64(num as i64, den as i64)
    }

    /// `num/den` of wider parts, reduced. `None` if `den` is zero or a part does not fit after
    /// reduction.
    pub const fn from_i64(num: i64, den: i64) -> Option<Fraction> {
        if den == 0 || num == i64::MIN || den == i64::MIN {
            return None;
        }
        let (num, den) = if den < 0 { (-num, -den) } else { (num, den) };
        let common = gcd(num, den);
        let (num, den) = (num / common, den / common);
        if num > LARGEST || num < -LARGEST || den > LARGEST {
            return None;
        }
        Some(Fraction {
            num: num as i32,
            den: den as i32,
        })
    }

    /// `num/den` for templates and other constants.
    ///
    /// # Panics
    /// Where [`Fraction::new`] answers `None`; in a constant that is an error of the compiler.
    pub const fn of(num: i32, den: i32) -> Fraction {
        match Fraction::new(num, den) {
            Some(fraction) => fraction,
            None => panic!("not a fraction: zero denominator, or a part out of range"),
        }
    }

    /// A whole number. `None` for `i32::MIN`.
    pub const fn whole(num: i32) -> Option<Fraction> {
        Fraction::new(num, 1)
    }

    /// Numerator, `-i32::MAX..=i32::MAX`.
    pub const fn num(self) -> i32 {
        self.num
    }

    /// Denominator, `1..=i32::MAX`.
    pub const fn den(self) -> i32 {
        self.den
    }

    /// 1 divided by this. `None` for zero.
    pub const fn recip(self) -> Option<Fraction> {
        Fraction::new(self.den, self.num)
    }

    /// Product. `None` if it does not fit.
    pub const fn checked_mul(self, other: Fraction) -> Option<Fraction> {
        Fraction::from_i64(
            self.num as i64 * other.num as i64,
            self.den as i64 * other.den as i64,
        )
    }

    /// Quotient. `None` for a zero divisor or if it does not fit.
    pub const fn checked_div(self, other: Fraction) -> Option<Fraction> {
        match other.recip() {
            Some(inverse) => self.checked_mul(inverse),
            None => None,
        }
    }

    /// The least fraction above this one, `None` for [`Fraction::MAX`].
    ///
    /// Fractions with bounded parts are closed under taking Stern-Brocot ancestors, so
    /// neighbours have determinant 1 and the one with the largest denominator is the nearest.
    pub fn next_up(self) -> Option<Fraction> {
        (-self).next_down().map(|f| -f)
    }

    /// The greatest fraction below this one, `None` for [`Fraction::MIN`].
    pub fn next_down(self) -> Option<Fraction> {
        let (p, q) = (i64::from(self.num), i64::from(self.den));
        if p == -LARGEST && q == 1 {
            return None;
        }
        // n/d below p/q with p*d - n*q = 1: d = p^-1 modulo q, the largest within bounds.
        let first = inverse(p.rem_euclid(q), q);
        // |n| <= LARGEST, where n = (p*d - 1)/q.
        let (pw, qw, largest) = (i128::from(p), i128::from(q), i128::from(LARGEST));
        let highest = match p.cmp(&0) {
            Ordering::Greater => ((largest * qw + 1) / pw).min(largest),
            Ordering::Equal => largest,
            Ordering::Less => ((largest * qw - 1) / -pw).min(largest),
        };
        let first = i128::from(if first == 0 { q } else { first });
        if highest < first {
            return None;
        }
        let d = first + (highest - first) / qw * qw;
        let n = (pw * d - 1) / qw;
        Fraction::from_i64(n as i64, d as i64)
    }

    /// Which of two candidates lies nearer to this one; `Equal` when both are as near.
    pub fn nearer(self, a: Fraction, b: Fraction) -> Ordering {
        let distance = |x: Fraction| {
            let n =
                i128::from(x.num) * i128::from(self.den) - i128::from(self.num) * i128::from(x.den);
            n.abs()
        };
        (distance(a) * i128::from(b.den)).cmp(&(distance(b) * i128::from(a.den)))
    }
}

/// `a^-1` modulo `m`, in `0..m`; `a` and `m` have no common divisor.
fn inverse(a: i64, m: i64) -> i64 {
    let (mut r0, mut r1, mut t0, mut t1) = (m, a, 0_i64, 1_i64);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    t0.rem_euclid(m)
}

impl std::ops::Neg for Fraction {
    type Output = Fraction;
    fn neg(self) -> Fraction {
        Fraction {
            num: -self.num,
            den: self.den,
        }
    }
}

impl Ord for Fraction {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let left = i64::from(self.num) * i64::from(other.den);
        left.cmp(&(i64::from(other.num) * i64::from(self.den)))
    }
}

impl PartialOrd for Fraction {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fraction {
    type Err = FractionParseError;

    /// Reads `N/D` or `N`, in decimal.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (num, den) = text.split_once('/').unwrap_or((text, "1"));
        num.trim()
            .parse::<i64>()
            .ok()
            .zip(den.trim().parse::<i64>().ok())
            .and_then(|(n, d)| Fraction::from_i64(n, d))
            .ok_or_else(|| FractionParseError {
                text: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_reduced_and_bounded() {
        assert_eq!(Fraction::new(50, -2), Fraction::new(-25, 1));
        assert_eq!(Fraction::new(1, 0), None);
        assert_eq!(Fraction::new(i32::MIN, 1), None);
        assert_eq!(
            Fraction::new(i32::MIN, 2).map(Fraction::num),
            Some(-(1 << 30))
        );
        assert_eq!("30000/1001".parse(), Ok(Fraction::of(30000, 1001)));
        assert_eq!("25".parse(), Ok(Fraction::of(25, 1)));
        assert!("".parse::<Fraction>().is_err());
        assert!("1/0".parse::<Fraction>().is_err());
    }

    #[test]
    fn neighbours_are_inverse_and_adjacent() {
        let mut cases = vec![Fraction::ZERO, Fraction::MAX, Fraction::MIN];
        for num in [-2_147_483_646, -30, -1, 1, 2, 7, 30, 30_000, 2_147_483_646] {
            for den in [1, 2, 3, 1001, 65_537, 2_147_483_629, i32::MAX] {
                cases.push(Fraction::of(num, den));
            }
        }
        for x in cases {
            if let Some(up) = x.next_up() {
                assert!(up > x);
                assert_eq!(up.next_down(), Some(x), "{x} {up}");
                let det = i128::from(up.num()) * i128::from(x.den())
                    - i128::from(x.num()) * i128::from(up.den());
                assert_eq!(det, 1);
                // The mediant, the simplest fraction between, must not fit.
                assert_eq!(
                    Fraction::from_i64(
                        i64::from(x.num()) + i64::from(up.num()),
                        i64::from(x.den()) + i64::from(up.den())
                    ),
                    None
                );
            } else {
                assert_eq!(x, Fraction::MAX);
            }
        }
        assert_eq!(Fraction::MIN.next_down(), None);
        assert_eq!(Fraction::ZERO.next_up(), Fraction::new(1, i32::MAX));
    }

    #[test]
    fn nearer_compares_exactly() {
        let t = Fraction::of(30, 1);
        assert_eq!(
            t.nearer(Fraction::of(30000, 1001), Fraction::of(25, 1)),
            Ordering::Less
        );
        assert_eq!(
            t.nearer(Fraction::of(29, 1), Fraction::of(31, 1)),
            Ordering::Equal
        );
    }
}
