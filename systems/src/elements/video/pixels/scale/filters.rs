//! The filter whose values the scaling crate would take from the system's `sin`,
//! computed here from sums and products alone, which are the same on every CPU.

use std::f64::consts::PI;

/// Lanczos with three lobes: `sinc(x) * sinc(x / 3)` within 3, else 0.
pub fn lanczos3(x: f64) -> f64 {
    if x.abs() < 3.0 {
        sinc(x) * sinc(x / 3.0)
    } else {
        0.0
    }
}

/// `sin(pi x) / (pi x)`; the error is below 1e-13 for |x| up to 3.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    sin_pi(x) / (PI * x)
}

/// `sin(pi x)` by its series around the nearest integer.
fn sin_pi(x: f64) -> f64 {
    let nearest = (x + 0.5).floor();
    let t = (x - nearest) * PI;
    let odd = nearest - 2.0 * (nearest / 2.0).floor() != 0.0;
    let square = t * t;
    // From the last term, t^19 / 19!, inwards.
    let mut sum = 0.0;
    for k in (1..=9).rev() {
        let (a, b) = (f64::from(2 * k), f64::from(2 * k + 1));
        sum = -square / (a * b) * (1.0 + sum);
    }
    let sine = t * (1.0 + sum);
    if odd { -sine } else { sine }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_close() {
        for k in -3000..=3000 {
            let x = f64::from(k) / 1000.0;
            assert!((sin_pi(x) - (PI * x).sin()).abs() < 1e-13, "{x}");
        }
        assert_eq!(lanczos3(0.0), 1.0);
        assert_eq!(lanczos3(3.5), 0.0);
        assert!(lanczos3(1.0).abs() < 1e-15);
        assert!((lanczos3(0.5) - 0.607_927_101_854_027).abs() < 1e-12);
    }
}
