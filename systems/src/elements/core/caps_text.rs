//! Cuts texts that hold caps at marks of their own, which count only outside of quotes and
//! brackets. Touches nothing.

use thiserror::Error;

/// A quote or bracket without its end.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("`{mark}` is not closed")]
pub struct NotClosed {
    /// Where it stands, in bytes from the start of the text.
    pub offset: usize,
    /// The quote or bracket.
    pub mark: char,
}

/// The pieces of a text between the places where `mark`, which is ASCII, stands outside of quotes
/// and brackets; each with its offset. One piece if it stands nowhere.
///
/// A closing bracket ends what was opened last, whatever its shape: whoever reads the piece as caps
/// sees what is wrong with it.
pub(super) fn cut<'a>(text: &'a str, mark: &str) -> Result<Vec<(usize, &'a str)>, NotClosed> {
    let bytes = text.as_bytes();
    let mut open: Vec<NotClosed> = Vec::new();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let not_closed = NotClosed {
                    offset: at,
                    mark: '"',
                };
                at += quoted(&bytes[at..]).ok_or(not_closed)?;
                continue;
            }
            b'{' | b'[' | b'(' => open.push(NotClosed {
                offset: at,
                mark: byte.into(),
            }),
            b'}' | b']' | b')' => drop(open.pop()),
            _ if open.is_empty() && bytes[at..].starts_with(mark.as_bytes()) => {
                pieces.push((start, &text[start..at]));
                at += mark.len();
                start = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if let Some(last) = open.pop() {
        return Err(last);
    }
    pieces.push((start, &text[start..]));
    Ok(pieces)
}

/// How many bytes a quoted text has from its opening quote on, if it ends.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_count_outside_of_quotes_and_brackets() {
        assert_eq!(cut("", "|"), Ok(vec![(0, "")]));
        assert_eq!(
            cut("a|b||", "|"),
            Ok(vec![(0, "a"), (2, "b"), (4, ""), (5, "")])
        );
        assert_eq!(cut("é->é", "->"), Ok(vec![(0, "é"), (4, "é")]));
        for whole in [
            r#""a|\"|b""#,
            "{|}",
            "[(|)]",
            r#"{"}"|}"#,
            r#"a"\\""#,
            "[|}",
        ] {
            assert_eq!(cut(whole, "|"), Ok(vec![(0, whole)]), "{whole}");
        }
        // What closes nothing is for the caps' parser to tell.
        assert_eq!(cut("}|a", "|"), Ok(vec![(0, "}"), (2, "a")]));
    }

    #[test]
    fn what_is_not_closed_is_named() {
        for (text, offset, mark) in [
            ("a,b={1|2", 4, '{'),
            ("a,b={[1,2}", 4, '{'),
            (r#"a|"b\""#, 2, '"'),
            (r#""\"#, 0, '"'),
            ("a(", 1, '('),
        ] {
            assert_eq!(cut(text, "|"), Err(NotClosed { offset, mark }), "{text}");
        }
    }

    proptest! {
        #[test]
        fn pieces_and_marks_are_the_text(text in r#"[a|"\\{}()é-]{0,40}"#) {
            if let Ok(pieces) = cut(&text, "|") {
                for &(offset, piece) in &pieces {
                    prop_assert!(text[offset..].starts_with(piece));
                }
                let joined: Vec<&str> = pieces.iter().map(|p| p.1).collect();
                prop_assert_eq!(joined.join("|"), text);
            }
        }
    }
}
