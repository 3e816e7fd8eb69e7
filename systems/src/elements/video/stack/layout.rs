//! Where the pictures of a stack stand: in a row, in a column, or as `xstack`'s `layout` says.
//!
//! FFmpeg xstack: `layout` has an entry for each input, divided by `|`; an entry is column and row,
//! divided by `_`; each is a sum of numbers and of widths (`w0`) or heights (`h1`) of inputs. `grid`
//! is columns and rows, such as `2x2`; all pictures are of one size then, a row has one height.

use core::fmt;
use thiserror::Error;

/// The most inputs.
pub const MAX_INPUTS: usize = 1024;
/// The most parts of a sum.
const MAX_TERMS: usize = 64;

/// A size in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Where each picture stands, by its upper left pixel, and the size of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Column and row of each input.
    pub at: Vec<(u32, u32)>,
    /// The size of all.
    pub size: Size,
}

/// A part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Pixels(u32),
    Width(usize),
    Height(usize),
}

/// A layout as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written(Vec<[Vec<Term>; 2]>);

/// A layout's text that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
pub struct LayoutTextError {
    /// Where, in bytes from the start.
    pub offset: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Pictures that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// Side by side or one above the other they need one height or width.
    #[error("input {input} has {size}, input 0 has {first}: {what} must be equal")]
    Unequal {
        /// The input.
        input: usize,
        /// Its size.
        size: Size,
        /// That of the first.
        first: Size,
        /// Heights or widths.
        what: &'static str,
    },
    /// The layout names an input that is not there.
    #[error("the layout names input {input}, and there are {inputs}")]
    NoInput {
        /// The input.
        input: usize,
        /// How many there are.
        inputs: usize,
    },
    /// There are more or fewer places than pictures.
    #[error("the layout has {places} places, and there are {inputs} inputs")]
    Places {
        /// Places.
        places: usize,
        /// Inputs.
        inputs: usize,
    },
    /// Rows of a grid are not as wide.
    #[error(
        "the row that ends with input {input} is {x} wide, the first {wide}: they must be equal"
    )]
    Rows {
        /// The last input of the row.
        input: usize,
        /// Columns of the first row.
        wide: u64,
        /// Columns of this one.
        x: u64,
    },
    /// They reach beyond what a picture can be.
    #[error("input {input} reaches to {reach}, a picture has at most {most} rows and columns")]
    TooLarge {
        /// The input.
        input: usize,
        /// How far.
        reach: u64,
        /// The bound.
        most: u32,
    },
    /// Two or more pictures without a word where they stand.
    #[error("{inputs} inputs need a layout or a grid")]
    NoLayout {
        /// Inputs.
        inputs: usize,
    },
}

impl Written {
    /// Reads `0_0|w0_0`.
    ///
    /// # Errors
    /// [`LayoutTextError`]: what is not of the form, and where.
    pub fn parse(text: &str) -> Result<Written, LayoutTextError> {
        let (mut places, mut offset) = (Vec::new(), 0);
        if text.is_empty() {
            return Ok(Written(places));
        }
        for entry in text.split('|') {
            let wrong = |offset, problem: String| LayoutTextError { offset, problem };
            if places.len() >= MAX_INPUTS {
                let problem = format!("more than {MAX_INPUTS} places");
                return Err(wrong(offset, problem));
            }
            let Some((column, row)) = entry.split_once('_') else {
                let problem = format!("{entry:?}: expected COLUMN_ROW, such as w0_0");
                return Err(wrong(offset, problem));
            };
            let row_at = offset + column.len() + 1;
            places.push([sum(column, offset)?, sum(row, row_at)?]);
            offset += entry.len() + 1;
        }
        Ok(Written(places))
    }

    /// How many places it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where pictures of these sizes stand.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn place(&self, sizes: &[Size], most: u32) -> Result<Placed, PlaceError> {
        if self.len() != sizes.len() {
            return Err(PlaceError::Places {
                places: self.len(),
                inputs: sizes.len(),
            });
        }
        let value = |terms: &[Term]| {
            let term = |t: &Term| {
                let (input, wide) = match *t {
                    Term::Pixels(pixels) => return Ok(u64::from(pixels)),
                    Term::Width(input) => (input, true),
                    Term::Height(input) => (input, false),
                };
                let size = sizes.get(input).ok_or(PlaceError::NoInput {
                    input,
                    inputs: sizes.len(),
                })?;
                Ok(u64::from(if wide { size.width } else { size.height }))
            };
            terms.iter().map(term).sum::<Result<u64, PlaceError>>()
        };
        let at: Vec<(u64, u64)> = self
            .0
            .iter()
            .map(|[column, row]| Ok((value(column)?, value(row)?)))
            .collect::<Result<_, PlaceError>>()?;
        placed(&at, sizes, most)
    }
}

fn sum(text: &str, offset: usize) -> Result<Vec<Term>, LayoutTextError> {
    let (mut terms, mut at) = (Vec::new(), offset);
    for part in text.split('+') {
        let wrong = |problem: String| LayoutTextError {
            offset: at,
            problem,
        };
        if terms.len() >= MAX_TERMS {
            return Err(wrong(format!("more than {MAX_TERMS} parts")));
        }
        let number = |digits: &str| {
            let all = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| all)
        };
        let term = match part.split_at_checked(1) {
            Some(("w", input)) => number(input).map(|n| Term::Width(n as usize)),
            Some(("h", input)) => number(input).map(|n| Term::Height(n as usize)),
            _ => number(part).map(Term::Pixels),
        };
        let expected = "a number, or w or h and the number of an input";
        terms.push(term.ok_or_else(|| wrong(format!("{part:?}: expected {expected}")))?);
        at += part.len() + 1;
    }
    Ok(terms)
}

fn placed(at: &[(u64, u64)], sizes: &[Size], most: u32) -> Result<Placed, PlaceError> {
    let mut all = Placed {
        at: Vec::with_capacity(at.len()),
        size: Size {
            width: 0,
            height: 0,
        },
    };
    for (input, (&(x, y), size)) in at.iter().zip(sizes).enumerate() {
        let end = |from: u64, len: u32| {
            let reach = from.saturating_add(len.into());
            let fits = u32::try_from(reach).ok().filter(|&r| r <= most);
            fits.ok_or(PlaceError::TooLarge { input, reach, most })
        };
        let (right, low) = (end(x, size.width)?, end(y, size.height)?);
        all.size.width = all.size.width.max(right);
        all.size.height = all.size.height.max(low);
        // Each is below its end, which fits.
        all.at.push((right - size.width, low - size.height));
    }
    Ok(all)
}

/// Side by side, of one height.
///
/// # Errors
/// [`PlaceError`].
pub fn in_a_row(sizes: &[Size], most: u32) -> Result<Placed, PlaceError> {
    equal(sizes, "heights", |s| s.height)?;
    in_a_row_of_any(sizes, most)
}

/// One above the other, of one width.
///
/// # Errors
/// [`PlaceError`].
pub fn in_a_column(sizes: &[Size], most: u32) -> Result<Placed, PlaceError> {
    equal(sizes, "widths", |s| s.width)?;
    let mut y = 0u64;
    let at = |s: &Size| {
        let at = (0, y);
        y += u64::from(s.height);
        at
    };
    let at: Vec<_> = sizes.iter().map(at).collect();
    placed(&at, sizes, most)
}

/// Side by side, of any heights.
///
/// # Errors
/// [`PlaceError`].
pub fn in_a_row_of_any(sizes: &[Size], most: u32) -> Result<Placed, PlaceError> {
    let mut x = 0u64;
    let at = |s: &Size| {
        let at = (x, 0);
        x += u64::from(s.width);
        at
    };
    let at: Vec<_> = sizes.iter().map(at).collect();
    placed(&at, sizes, most)
}

/// In rows of so many, from left to right. The pictures of a row have one height, and all rows are as
/// wide as the first.
///
/// # Errors
/// [`PlaceError`].
pub fn in_a_grid(
    (columns, rows): (u32, u32),
    sizes: &[Size],
    most: u32,
) -> Result<Placed, PlaceError> {
    let places = columns as usize * rows as usize;
    if places != sizes.len() {
        return Err(PlaceError::Places {
            places,
            inputs: sizes.len(),
        });
    }
    let (mut at, mut y) = (Vec::with_capacity(places), 0u64);
    let mut wide = None;
    for row in sizes.chunks(columns.max(1) as usize) {
        equal(row, "heights of a row", |s| s.height)?;
        let mut x = 0u64;
        for size in row {
            at.push((x, y));
            x += u64::from(size.width);
        }
        let input = at.len().saturating_sub(1);
        let wide = *wide.get_or_insert(x);
        if wide != x {
            return Err(PlaceError::Rows { input, wide, x });
        }
        y += row.first().map_or(0, |s| u64::from(s.height));
    }
    placed(&at, sizes, most)
}

fn equal(sizes: &[Size], what: &'static str, of: fn(&Size) -> u32) -> Result<(), PlaceError> {
    let Some(&first) = sizes.first() else {
        return Ok(());
    };
    let other = sizes.iter().position(|s| of(s) != of(&first));
    match other {
        None => Ok(()),
        Some(input) => Err(PlaceError::Unequal {
            input,
            size: sizes[input],
            first,
            what,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> Size {
        Size { width, height }
    }

    #[test]
    fn sums_of_sizes() {
        let written = Written::parse("0_0|w0_0|0_h0|w0+w1_h0+3").expect("a layout");
        let sizes = [size(3, 2), size(4, 2), size(5, 5), size(1, 1)];
        let placed = written.place(&sizes, 100).expect("fits");
        assert_eq!(placed.at, [(0, 0), (3, 0), (0, 2), (7, 5)]);
        assert_eq!(placed.size, size(8, 7));
    }

    #[test]
    fn what_is_no_layout_is_told_with_its_place() {
        for (text, offset) in [
            ("0_0|w0", 4),
            ("0_0|w_0", 4),
            ("0_0|0_h1+", 9),
            ("0_0|0_-1", 6),
            ("x_0", 0),
            ("0_w+1", 2),
            ("0_0|0_0_0", 6),
            ("0_99999999999", 2),
        ] {
            let error = Written::parse(text).expect_err(text);
            assert_eq!(error.offset, offset, "{text}: {error}");
        }
        let many = "0_0|".repeat(5000);
        assert!(Written::parse(&many).is_err());
        let long = format!("{}0_0", "1+".repeat(1000));
        assert!(Written::parse(&long).is_err());
    }

    #[test]
    fn what_does_not_go_together_is_told() {
        let sizes = [size(2, 2), size(2, 3)];
        let unequal = PlaceError::Unequal {
            input: 1,
            size: size(2, 3),
            first: size(2, 2),
            what: "heights",
        };
        assert_eq!(in_a_row(&sizes, 100), Err(unequal));
        assert_eq!(in_a_column(&sizes, 100).map(|p| p.size), Ok(size(2, 5)));
        let reach = PlaceError::TooLarge {
            input: 1,
            reach: 5,
            most: 4,
        };
        assert_eq!(in_a_column(&sizes, 4), Err(reach));
        let layout = |text: &str| Written::parse(text).expect("a layout").place(&sizes, 100);
        let places = PlaceError::Places {
            places: 1,
            inputs: 2,
        };
        assert_eq!(layout("0_0"), Err(places));
        let none = PlaceError::NoInput {
            input: 7,
            inputs: 2,
        };
        assert_eq!(layout("0_0|w7_0"), Err(none));
        let huge = "4294967295_0|4294967295+4294967295_0";
        assert!(matches!(
            layout(huge),
            Err(PlaceError::TooLarge { input: 0, .. })
        ));
        assert!(in_a_grid((2, 1), &sizes, 100).is_err());
        let grid = in_a_grid((1, 2), &sizes, 100).expect("fits");
        assert_eq!((grid.at, grid.size), (vec![(0, 0), (0, 2)], size(2, 5)));
    }
}
