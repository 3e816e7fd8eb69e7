//! The rows of each pattern, as samples at full resolution. Drawn from a small table of
//! colours; computes no colour.

use super::Pattern;
use super::ball::Ball;
use crate::elements::video::pixels::convert::source::Source;
use crate::elements::video::pixels::cpu::Cpu;

/// A colour in full-range R, G, B; for colours that R, G, B cannot say also in
/// limited-range 8-bit Y, U, V.
#[derive(Clone, Copy, Debug)]
pub struct Colour {
    pub rgb: [u8; 3],
    pub studio: Option<[i16; 3]>,
}

const fn rgb(r: u8, g: u8, b: u8) -> Colour {
    Colour {
        rgb: [r, g, b],
        studio: None,
    }
}

const fn studio(r: u8, g: u8, b: u8, yuv: [i16; 3]) -> Colour {
    Colour {
        rgb: [r, g, b],
        studio: Some(yuv),
    }
}

// Indices into COLOURS; the first seven are the bars from left to right.
const WHITE: usize = 0;
const GREEN: usize = 3;
const RED: usize = 5;
const BLUE: usize = 6;
const BLACK: usize = 7;
const MINUS_I: usize = 8;
const PLUS_Q: usize = 9;
const BELOW_BLACK: usize = 10;
const DARK_GREY: usize = 11;

const COLOURS: [Colour; 12] = [
    rgb(255, 255, 255),
    rgb(255, 255, 0),
    rgb(0, 255, 255),
    rgb(0, 255, 0),
    rgb(255, 0, 255),
    rgb(255, 0, 0),
    rgb(0, 0, 255),
    rgb(0, 0, 0),
    studio(0, 0, 128, [16, 198, 21]),
    studio(0, 128, 255, [16, 235, 198]),
    studio(0, 0, 0, [0, 128, 128]),
    rgb(19, 19, 19),
];

/// One pattern at one size and frame.
#[derive(Debug)]
pub struct Picture {
    pattern: Pattern,
    width: usize,
    height: usize,
    seed: u64,
    frame: u64,
    ball: Ball,
    /// Samples of each colour.
    palette: [[i16; 3]; COLOURS.len()],
    /// Samples of each grey level, by component.
    greys: Box<[[i16; 256]; 3]>,
}

impl Picture {
    /// The colours' samples come from `colour`.
    pub fn new(
        pattern: Pattern,
        width: usize,
        height: usize,
        seed: u64,
        colour: impl Fn(Colour) -> [i16; 3],
    ) -> Picture {
        let mut greys = Box::new([[0; 256]; 3]);
        for level in 0..=255u8 {
            let samples = colour(rgb(level, level, level));
            for (table, sample) in greys.iter_mut().zip(samples) {
                table[usize::from(level)] = sample;
            }
        }
        Picture {
            pattern,
            width,
            height,
            seed,
            frame: 0,
            ball: Ball::at(0, width, height),
            palette: COLOURS.map(&colour),
            greys,
        }
    }

    /// Chooses the frame that is drawn.
    pub fn set_frame(&mut self, frame: u64) {
        self.frame = frame;
        self.ball = Ball::at(frame, self.width, self.height);
    }

    /// Component `c` of row `y`.
    fn draw(&self, c: usize, y: usize, out: &mut [i16]) {
        let colour = |index: usize| self.palette.get(index).map_or(0, |s| s[c]);
        match self.pattern {
            Pattern::Smpte => self.smpte(c, y, out),
            Pattern::Snow => self.noise(c, y, out),
            Pattern::Black => out.fill(colour(BLACK)),
            Pattern::White => out.fill(colour(WHITE)),
            Pattern::Red => out.fill(colour(RED)),
            Pattern::Green => out.fill(colour(GREEN)),
            Pattern::Blue => out.fill(colour(BLUE)),
            Pattern::Checkers1 => self.checkers(c, y, 0, out),
            Pattern::Checkers2 => self.checkers(c, y, 1, out),
            Pattern::Checkers4 => self.checkers(c, y, 2, out),
            Pattern::Checkers8 => self.checkers(c, y, 3, out),
            Pattern::Blink => out.fill(colour(if self.frame & 1 == 0 { BLACK } else { WHITE })),
            Pattern::Gradient => {
                let level = (255 * y / self.height.max(1)).min(255);
                out.fill(self.grey(level as u8, c));
            }
            Pattern::Ball => {
                out.fill(self.grey(0, c));
                self.ball.row(y, out.len(), |x, level| {
                    if let Some(o) = out.get_mut(x) {
                        *o = self.grey(level, c);
                    }
                });
            }
        }
    }

    fn grey(&self, level: u8, c: usize) -> i16 {
        self.greys
            .get(c)
            .map_or(0, |table| table[usize::from(level)])
    }

    fn span(&self, c: usize, from: usize, to: usize, colour: usize, out: &mut [i16]) {
        let sample = self.palette.get(colour).map_or(0, |s| s[c]);
        if let Some(span) = out.get_mut(from..to) {
            span.fill(sample);
        }
    }

    fn smpte(&self, c: usize, y: usize, out: &mut [i16]) {
        let (w, h) = (self.width, self.height);
        if y < 3 * h / 4 {
            for bar in 0..7 {
                let colour = match (y < 2 * h / 3, bar) {
                    (true, bar) => bar,
                    (false, 1 | 3 | 5) => BLACK,
                    (false, bar) => BLUE - bar,
                };
                self.span(c, bar * w / 7, (bar + 1) * w / 7, colour, out);
            }
            return;
        }
        let strip = [
            (0, w / 6, MINUS_I),
            (w / 6, w / 3, WHITE),
            (w / 3, w / 2, PLUS_Q),
            (w / 2, w / 2 + w / 12, BELOW_BLACK),
            (w / 2 + w / 12, w / 2 + w / 6, BLACK),
            (w / 2 + w / 6, w * 3 / 4, DARK_GREY),
        ];
        for (from, to, colour) in strip {
            self.span(c, from, to, colour, out);
        }
        if let Some(rest) = out.get_mut(w * 3 / 4..w) {
            self.noise(c, y, rest);
        }
    }

    fn checkers(&self, c: usize, y: usize, log2: u32, out: &mut [i16]) {
        let (red, green) = (self.palette[RED][c], self.palette[GREEN][c]);
        for (x, o) in out.iter_mut().enumerate() {
            *o = if (x ^ y) >> log2 & 1 == 0 { red } else { green };
        }
    }

    /// Grey noise: xorshift64 (shifts 13, 7, 17), eight levels a step from the lowest
    /// byte up, started for each row from seed, frame and row by splitmix64.
    fn noise(&self, c: usize, y: usize, out: &mut [i16]) {
        let Some(table) = self.greys.get(c) else {
            return;
        };
        if table[0] == table[255] {
            // A component that no grey has.
            out.fill(table[0]);
            return;
        }
        let mut state = splitmix(splitmix(self.seed ^ self.frame) ^ y as u64).max(1);
        for group in out.chunks_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            for (o, level) in group.iter_mut().zip(state.to_le_bytes()) {
                *o = table[usize::from(level)];
            }
        }
    }
}

/// One step of splitmix64 (Steele, Lea, Flood 2014).
fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Source for Picture {
    fn luma(&self, _cpu: Cpu, y: usize, out: &mut [i16]) {
        self.draw(0, y, out);
    }

    fn chroma(&self, _cpu: Cpu, y: usize, [u, v]: [&mut [i16]; 2]) {
        self.draw(1, y, u);
        self.draw(2, y, v);
    }

    fn rgb(&self, _cpu: Cpu, y: usize, [r, g, b]: [&mut [i16]; 3]) {
        self.draw(0, y, r);
        self.draw(1, y, g);
        self.draw(2, y, b);
    }
}
