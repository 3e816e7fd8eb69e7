//! The moving ball: its path by an integer sine, its rows with soft edges. Geometry
//! only; knows no colour.

/// Radius in pixels.
const RADIUS: i64 = 20;

/// Sine of the first quarter turn in 64 steps, times 32768, rounded.
const QUARTER: [i32; 65] = [
    0, 804, 1608, 2411, 3212, 4011, 4808, 5602, 6393, 7180, 7962, 8740, 9512, 10279, 11039, 11793,
    12540, 13279, 14010, 14733, 15447, 16151, 16846, 17531, 18205, 18868, 19520, 20160, 20788,
    21403, 22006, 22595, 23170, 23732, 24279, 24812, 25330, 25833, 26320, 26791, 27246, 27684,
    28106, 28511, 28899, 29269, 29622, 29957, 30274, 30572, 30853, 31114, 31357, 31581, 31786,
    31972, 32138, 32286, 32413, 32522, 32610, 32679, 32729, 32758, 32768,
];

/// Turns per frame down the picture, `sqrt(2) / 200`, in 2^-64.
const DOWN: u64 = 130_438_178_253_327_822;

/// Sine times 32768 of `phase / 2^32` turns, linear between the table's steps.
fn sine(phase: u32) -> i64 {
    let in_half = phase & 0x7fff_ffff;
    // The second quarter mirrors the first.
    let in_quarter = in_half.min(0x8000_0000 - in_half);
    let (step, rest) = (
        (in_quarter >> 24) as usize,
        i64::from(in_quarter & 0xff_ffff),
    );
    let at = |i: usize| QUARTER.get(i).map_or(0, |&s| i64::from(s));
    let value = at(step) + (((at(step + 1) - at(step)) * rest) >> 24);
    let value = if step >= 64 { at(64) } else { value };
    if phase >> 31 == 0 { value } else { -value }
}

/// The ball in one frame: centre in 1/256 of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ball {
    x: i64,
    y: i64,
}

impl Ball {
    /// Where it is in frame `frame` of a picture of that size.
    pub fn at(frame: u64, width: usize, height: usize) -> Ball {
        let across = (((frame % 200) << 32) / 200) as u32;
        let down = (frame.wrapping_mul(DOWN) >> 32) as u32;
        let centre = |phase: u32, size: usize| {
            // The way between both edges, at (1 + sine) / 2 of it.
            let way = (size as i64 - 2 * RADIUS) * 256;
            RADIUS * 256 + ((way * (32768 + sine(phase))) >> 16)
        };
        Ball {
            x: centre(across, width),
            y: centre(down, height),
        }
    }

    /// Calls `level(x, brightness)` for the pixels of row `y` within the ball's box;
    /// brightness is 255 inside, and falls to 0 over the last pixel of the radius.
    pub fn row(&self, y: usize, width: usize, mut level: impl FnMut(usize, u8)) {
        let dy = y as i64 * 256 - self.y;
        let first = (self.x / 256 - RADIUS).clamp(0, width as i64);
        let last = (self.x / 256 + RADIUS + 2).clamp(0, width as i64);
        if dy.abs() >= RADIUS * 256 {
            return;
        }
        for x in first..last {
            let dx = x * 256 - self.x;
            let distance = ((dx * dx + dy * dy) as u64).isqrt() as i64;
            let inside = (RADIUS * 256 - distance).clamp(0, 256);
            level(x as usize, (inside * 255 / 256) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_a_sine() {
        assert_eq!(sine(0), 0);
        assert_eq!(sine(1 << 30), 32768);
        assert_eq!(sine(1 << 31), 0);
        assert_eq!(sine(3 << 30), -32768);
        for k in 0..4096u32 {
            let phase = k << 20;
            let exact = (f64::from(k) / 4096.0 * std::f64::consts::TAU).sin() * 32768.0;
            assert!((sine(phase) as f64 - exact).abs() < 12.0, "{k}");
        }
    }

    #[test]
    fn the_path_is_videotestsrcs() {
        for frame in [0u64, 1, 49, 50, 133, 200, 12_345, 1_000_003] {
            let turn = |t: f64| 0.5 + 0.5 * (t * std::f64::consts::TAU).sin();
            let x = 20.0 + turn(frame as f64 / 200.0) * 280.0;
            let y = 20.0 + turn(frame as f64 * 2f64.sqrt() / 200.0) * 200.0;
            let ball = Ball::at(frame, 320, 240);
            assert!((ball.x as f64 / 256.0 - x).abs() < 0.1, "{frame}");
            assert!((ball.y as f64 / 256.0 - y).abs() < 0.1, "{frame}");
        }
    }

    #[test]
    fn rows_stay_in_pictures_of_any_size() {
        for (w, h) in [(1, 1), (19, 19), (39, 41), (320, 240)] {
            for frame in 0..300 {
                let ball = Ball::at(frame, w, h);
                for y in 0..h {
                    ball.row(y, w, |x, _| assert!(x < w));
                }
            }
        }
    }
}
