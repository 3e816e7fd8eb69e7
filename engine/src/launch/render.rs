//! Shows a message with the line of the text it is about and a mark under the place. Pure; used
//! for errors of the syntax and for those found later (unknown element, bad value, unlinkable pads).

use super::describe::{Span, Warning};

/// Columns of text shown at most; a longer line is shown as a window around the place.
const WINDOW: usize = 96;
/// Columns kept before the place in a window.
const LEAD: usize = 40;
/// Columns that a tab is shown as.
const TAB: usize = 4;
/// Stands for text left out.
const GAP: &str = "...";

/// An error with its place: the message, the line, a mark under `span`, and the help if any.
///
/// ```text
/// error: no element named `mixx`
///   filesrc location=a.y4m ! mixx.
///                            ^^^^^
///   help: did you mean `mix`?
/// ```
///
/// A text of several lines shows the right one with its number; a place over several lines is
/// marked on its first. Tabs are shown as four columns, other control characters as `�`, wide
/// characters count two columns and combining ones none. A span outside the text is cut to it.
/// The result has no newline at its end.
#[must_use]
pub fn render(text: &str, span: Span, message: &str, help: Option<&str>) -> String {
    show("error", text, span, message, help)
}

/// A [`Warning`] in the form of [`render`], with `warning:` instead of `error:`.
#[must_use]
pub fn render_warning(text: &str, warning: &Warning) -> String {
    show(
        "warning",
        text,
        warning.span,
        &warning.kind.to_string(),
        None,
    )
}

fn show(level: &str, text: &str, span: Span, message: &str, help: Option<&str>) -> String {
    let start = boundary(text, span.start);
    let end = boundary(text, span.end.max(start));
    let (number, line, offset) = line_at(text, start);
    let shown = Window::new(line, start - offset, end.saturating_sub(offset));
    let several = text.trim_end_matches(['\n', '\r']).contains('\n');
    let (gutter, blank) = if several {
        let gutter = format!("{number} | ");
        let blank = format!("{}| ", " ".repeat(gutter.len().saturating_sub(2)));
        (gutter, blank)
    } else {
        (String::new(), String::new())
    };
    let mut out = format!("{level}: {message}");
    if !line.trim().is_empty() {
        let marks = "^".repeat(shown.marked.max(1));
        out.push_str(&format!("\n  {gutter}{}", shown.text.trim_end()));
        out.push_str(&format!("\n  {blank}{}{marks}", " ".repeat(shown.before)));
    }
    if let Some(help) = help {
        out.push_str(&format!("\n  help: {help}"));
    }
    out
}

/// The largest character boundary that is not above `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Number (from 1), text without its end, and offset of the line that holds `at`.
fn line_at(text: &str, at: usize) -> (usize, &str, usize) {
    let head = text.get(..at).unwrap_or(text);
    let offset = head.rfind('\n').map_or(0, |newline| newline + 1);
    let number = head.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let line = text.get(offset..).unwrap_or("");
    let line = line.split('\n').next().unwrap_or("");
    (number, line.strip_suffix('\r').unwrap_or(line), offset)
}

struct Window {
    text: String,
    /// Columns before the mark.
    before: usize,
    /// Columns marked.
    marked: usize,
}

impl Window {
    fn new(line: &str, start: usize, end: usize) -> Self {
        let total: usize = line.chars().map(columns).sum();
        let lead: usize = line
            .char_indices()
            .take_while(|(at, _)| *at < start)
            .map(|(_, c)| columns(c))
            .sum();
        let whole = total <= WINDOW;
        // First and last column shown.
        let first = if whole || lead <= LEAD {
            0
        } else {
            lead - LEAD
        };
        let last = if whole { total } else { first + WINDOW };
        let mut shown = Self {
            text: String::new(),
            before: 0,
            marked: 0,
        };
        if first > 0 {
            shown.text.push_str(GAP);
            shown.before = GAP.len();
        }
        let mut column = 0;
        let mut cut = false;
        for (at, c) in line.char_indices() {
            let width = columns(c);
            if column >= first && column + width <= last {
                push(&mut shown.text, c);
                if at < start {
                    shown.before += width;
                } else if at < end {
                    shown.marked += width;
                }
            } else if column + width > last {
                cut = true;
                break;
            }
            column += width;
        }
        if cut {
            shown.text.push_str(GAP);
        }
        shown
    }
}

fn push(out: &mut String, c: char) {
    match c {
        '\t' => out.push_str(&" ".repeat(TAB)),
        c if c.is_control() => out.push('\u{fffd}'),
        c => out.push(c),
    }
}

/// Columns that a terminal gives a character; ranges after Unicode's East Asian Width (W and F)
/// and the combining blocks, coarsely.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x9 => TAB,
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
