//! The fields of a header line one by one: which field a text is, what it says, and how each fact
//! is written canonically (as FFmpeg writes it). Pure functions on bytes.

use super::error::{Found, HeaderError, HeaderProblem, HeaderWarning};
use super::tags::{ChromaTag, DEFAULT_TAG, Interlacing, Range};

/// Greatest width and height that are read or written (GStreamer's caps and V4L2 stop there too).
pub const MAX_DIMENSION: u32 = 32_767;

/// Greatest part of a ratio (a caps fraction holds 32-bit signed parts).
const MAX_PART: u32 = i32::MAX as u32;

/// A frame rate or pixel aspect ratio as written, not reduced; both parts at most 2147483647 and
/// the denominator at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// Numerator.
    pub num: u32,
    /// Denominator.
    pub den: u32,
}

impl PartialEq for Ratio {
    /// Equal in value: 50:2 is 25:1.
    fn eq(&self, other: &Ratio) -> bool {
        u64::from(self.num) * u64::from(other.den) == u64::from(other.num) * u64::from(self.den)
    }
}

impl Eq for Ratio {}

/// What a header says, with what it leaves open as `None` or `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Width in luma samples, 1 to [`MAX_DIMENSION`].
    pub width: u32,
    /// Height in luma samples, 1 to [`MAX_DIMENSION`].
    pub height: u32,
    /// Frames a second; `None` is unknown (`F0:0`, or no `F`).
    pub rate: Option<Ratio>,
    /// Interlacing of the stream.
    pub interlacing: Interlacing,
    /// Pixel aspect ratio; `None` is unknown (`A0:0`, or no `A`).
    pub aspect: Option<Ratio>,
    /// Planes and siting; [`DEFAULT_TAG`] if nothing is said.
    pub chroma: ChromaTag,
    /// Range of sample values; `None` if nothing is said.
    pub range: Option<Range>,
}

impl Facts {
    /// The same facts with every gap filled by what readers assume: progressive, limited range,
    /// square pixels, `420` as `420jpeg`. `422jpeg`, which FFmpeg reads as `422`, is taken for it.
    /// Two headers of one meaning are equal in this form.
    pub fn filled(mut self) -> Facts {
        if self.interlacing == Interlacing::Unknown {
            self.interlacing = Interlacing::Progressive;
        }
        self.range = Some(self.range.unwrap_or(Range::Limited));
        self.aspect = Some(self.aspect.unwrap_or(Ratio { num: 1, den: 1 }));
        let text = match self.chroma.text() {
            "420" => "420jpeg",
            "422jpeg" => "422",
            text => text,
        };
        self.chroma = ChromaTag::find(text.as_bytes()).unwrap_or(self.chroma);
        self
    }
}

/// Which field a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Width,
    Height,
    Rate,
    Interlacing,
    Aspect,
    Chroma,
    Xyscss,
    Range,
}

impl Key {
    /// The fields in FFmpeg's order, which is the canonical one.
    pub(super) const ALL: [Key; 8] = [
        Key::Width,
        Key::Height,
        Key::Rate,
        Key::Interlacing,
        Key::Aspect,
        Key::Chroma,
        Key::Xyscss,
        Key::Range,
    ];

    /// What the field's text begins with, `=` aside.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Key::Width => "W",
            Key::Height => "H",
            Key::Rate => "F",
            Key::Interlacing => "I",
            Key::Aspect => "A",
            Key::Chroma => "C",
            Key::Xyscss => "XYSCSS",
            Key::Range => "XCOLORRANGE",
        }
    }

    /// The field that a text is, with its value; `None` for other comments and unknown fields.
    pub(super) fn of(text: &[u8]) -> Option<(Key, &[u8])> {
        if let Some(value) = text.strip_prefix(b"XYSCSS=") {
            return Some((Key::Xyscss, value));
        }
        if let Some(value) = text.strip_prefix(b"XCOLORRANGE=") {
            return Some((Key::Range, value));
        }
        let (letter, value) = text.split_first()?;
        let key = match letter {
            b'W' => Key::Width,
            b'H' => Key::Height,
            b'F' => Key::Rate,
            b'I' => Key::Interlacing,
            b'A' => Key::Aspect,
            b'C' => Key::Chroma,
            _ => return None,
        };
        Some((key, value))
    }

    /// The field's canonical text for these facts; `None` if it is left out.
    pub(super) fn canonical(self, facts: &Facts) -> Option<String> {
        let ratio = |r: Option<Ratio>| r.map_or((0, 0), |r| (r.num, r.den));
        Some(match self {
            Key::Width => format!("W{}", facts.width),
            Key::Height => format!("H{}", facts.height),
            Key::Rate => {
                let (n, d) = ratio(facts.rate);
                format!("F{n}:{d}")
            }
            Key::Interlacing => format!("I{}", char::from(facts.interlacing.letter())),
            Key::Aspect => {
                let (n, d) = ratio(facts.aspect);
                format!("A{n}:{d}")
            }
            Key::Chroma => facts.chroma.to_string(),
            Key::Xyscss => format!("XYSCSS={}", facts.chroma.xyscss()?),
            Key::Range => format!("XCOLORRANGE={}", facts.range?.text()),
        })
    }
}

/// What the fields of a line say, the last of each kind counting.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
    pub(super) rate: Option<Ratio>,
    pub(super) interlacing: Interlacing,
    pub(super) aspect: Option<Ratio>,
    /// The `C` tag and the offset of its field.
    pub(super) chroma: Option<(ChromaTag, u64)>,
    /// The `XYSCSS` tag, the offset of its field, and its text.
    pub(super) xyscss: Option<(ChromaTag, u64, Found)>,
    pub(super) range: Option<Range>,
    /// Offset of the last occurrence of each field, in [`Key::ALL`]'s order.
    last: [Option<u64>; 8],
    pub(super) warnings: Vec<HeaderWarning>,
}

impl Seen {
    /// Takes in one field that begins at `offset`.
    pub(super) fn take(&mut self, text: &[u8], offset: u64) -> Result<(), HeaderError> {
        if text.is_empty() {
            self.warnings.push(HeaderWarning::EmptyField { offset });
            return Ok(());
        }
        let Some((key, value)) = Key::of(text) else {
            if text.first() != Some(&b'X') {
                let field = Found::new(text);
                self.warnings
                    .push(HeaderWarning::UnknownField { field, offset });
            }
            return Ok(());
        };
        if let Some(last) = self.last.get_mut(key as usize) {
            if let Some(first) = *last {
                self.warnings.push(HeaderWarning::Repeated {
                    field: key.label(),
                    first,
                    offset,
                });
            }
            *last = Some(offset);
        }
        let fail = |problem| HeaderError { offset, problem };
        match key {
            Key::Width => self.width = Some(dimension('W', value).map_err(fail)?),
            Key::Height => self.height = Some(dimension('H', value).map_err(fail)?),
            Key::Rate => self.rate = ratio('F', value).map_err(fail)?,
            Key::Aspect => self.aspect = ratio('A', value).map_err(fail)?,
            Key::Interlacing => {
                let known = match value {
                    [letter] => Interlacing::from_letter(*letter),
                    _ => None,
                };
                self.interlacing = known.ok_or_else(|| {
                    fail(HeaderProblem::Interlacing {
                        value: Found::new(value),
                    })
                })?;
            }
            Key::Chroma => {
                let tag = ChromaTag::find(value).ok_or_else(|| {
                    fail(HeaderProblem::UnknownChroma {
                        value: Found::new(value),
                    })
                })?;
                self.chroma = Some((tag, offset));
            }
            Key::Xyscss => match ChromaTag::find_xyscss(value) {
                Some(tag) => self.xyscss = Some((tag, offset, Found::new(text))),
                None => self.unknown_value(text, offset),
            },
            Key::Range => match Range::from_text(value) {
                Some(range) => self.range = Some(range),
                None => self.unknown_value(text, offset),
            },
        }
        Ok(())
    }

    fn unknown_value(&mut self, text: &[u8], offset: u64) {
        let comment = Found::new(text);
        self.warnings
            .push(HeaderWarning::UnknownValue { comment, offset });
    }

    /// The tag that counts: `C`, else `XYSCSS`, else none.
    pub(super) fn tag(&self) -> Option<ChromaTag> {
        self.chroma
            .map(|(tag, _)| tag)
            .or(self.xyscss.as_ref().map(|(tag, _, _)| *tag))
    }

    /// The facts, if width and height are there; else the letter that is missing.
    pub(super) fn facts(&self) -> Result<Facts, char> {
        let width = self.width.ok_or('W')?;
        let height = self.height.ok_or('H')?;
        Ok(self.facts_or(&(width, height)))
    }

    /// The facts, with this width and height where none is given.
    pub(super) fn facts_or(&self, (width, height): &(u32, u32)) -> Facts {
        Facts {
            width: self.width.unwrap_or(*width),
            height: self.height.unwrap_or(*height),
            rate: self.rate,
            interlacing: self.interlacing,
            aspect: self.aspect,
            chroma: self.tag().unwrap_or(DEFAULT_TAG),
            range: self.range,
        }
    }
}

fn dimension(letter: char, value: &[u8]) -> Result<u32, HeaderProblem> {
    let (min, max) = (1, MAX_DIMENSION);
    let out_of_range = || HeaderProblem::OutOfRange {
        letter,
        value: Found::new(value),
        min,
        max,
    };
    match digits(value) {
        Digits::Number(n) if (min..=max).contains(&n) => Ok(n),
        Digits::Number(_) | Digits::TooLarge => Err(out_of_range()),
        Digits::None => Err(HeaderProblem::NotANumber {
            letter,
            value: Found::new(value),
            min,
            max,
        }),
    }
}

/// `N:D`; 0 over anything is unknown (yuv4mpeg(5) writes 0:0, GStreamer 0:1).
fn ratio(letter: char, value: &[u8]) -> Result<Option<Ratio>, HeaderProblem> {
    let parts = value
        .iter()
        .position(|b| *b == b':')
        .and_then(|colon| Some((value.get(..colon)?, value.get(colon + 1..)?)))
        .map(|(n, d)| (digits(n), digits(d)));
    match parts {
        Some((Digits::Number(num), Digits::Number(den))) if num <= MAX_PART && den <= MAX_PART => {
            match (num, den) {
                (0, _) => Ok(None),
                (_, 0) => Err(HeaderProblem::ZeroDenominator {
                    letter,
                    value: Found::new(value),
                }),
                _ => Ok(Some(Ratio { num, den })),
            }
        }
        _ => Err(HeaderProblem::NotARatio {
            letter,
            value: Found::new(value),
            max: MAX_PART,
        }),
    }
}

enum Digits {
    None,
    Number(u32),
    TooLarge,
}

/// Decimal digits alone: no sign, no space.
fn digits(text: &[u8]) -> Digits {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Digits::None;
    }
    let mut n: u32 = 0;
    for digit in text {
        let next = n
            .checked_mul(10)
            .and_then(|n| n.checked_add(u32::from(digit - b'0')));
        match next {
            Some(next) => n = next,
            None => return Digits::TooLarge,
        }
    }
    Digits::Number(n)
}
