//! Variables of a launch text: `${dir}`, the scenario file's folder. Pure.

use crate::error::{Bad, ScenarioErrorKind as Kind};
use std::path::Path;

/// A launch text with its variables filled in, and how its bytes map back to what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// What the launch syntax reads.
    pub text: String,
    /// Per variable: where it starts in `text`, its length there, and its length as written.
    moves: Vec<(usize, usize, usize)>,
}

impl Filled {
    /// The byte of the text as written for a byte of [`Filled::text`]; inside a variable, its
    /// start.
    pub fn written(&self, at: usize) -> usize {
        let mut shift = 0isize;
        for &(start, filled, written) in &self.moves {
            if at < start {
                break;
            }
            if at < start + filled {
                return start.saturating_add_signed(shift);
            }
            shift += written as isize - filled as isize;
        }
        at.saturating_add_signed(shift)
    }
}

/// Fills in the variables of `text`. `dir` is escaped so that it means itself in a bare value as
/// well as in a quoted one.
pub(crate) fn fill(text: &str, dir: &Path) -> Result<Filled, Bad> {
    let mut filled = Filled {
        text: String::with_capacity(text.len()),
        moves: Vec::new(),
    };
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let start = text.len() - rest.len() + at;
        let (before, variable) = rest.split_at(at);
        filled.text.push_str(before);
        let end = variable.find('}').unwrap_or(variable.len());
        let name = variable.get(2..end).unwrap_or("");
        let written = (end + 1).min(variable.len());
        let span = start..start + written;
        if name != "dir" || end == variable.len() {
            let name = name.chars().take(32).collect();
            return Err(Bad::new(Kind::UnknownVariable { name }, span));
        }
        let value = escaped(dir).map_err(|kind| Bad::new(kind, span))?;
        filled.moves.push((filled.text.len(), value.len(), written));
        filled.text.push_str(&value);
        rest = variable.get(written..).unwrap_or("");
    }
    filled.text.push_str(rest);
    Ok(filled)
}

/// A folder's name with a backslash before every character that could mean something.
fn escaped(dir: &Path) -> Result<String, Kind> {
    let refused = || Kind::Folder(dir.display().to_string());
    let dir = match dir.to_str() {
        Some("") => ".",
        Some(dir) if !dir.contains(['\n', '\0']) => dir,
        _ => return Err(refused()),
    };
    let mut out = String::with_capacity(dir.len());
    for c in dir.chars() {
        if !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-')) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tickpipe::launch;

    /// The value that the launch syntax reads.
    fn location(text: &str) -> String {
        let description = launch::parse(text).expect("can be read");
        description.elements[0].properties[0].value.clone()
    }

    #[test]
    fn maps_places_back() {
        let written = "a l=${dir}/x ! b l=${dir}/y ! c";
        let filled = fill(written, Path::new("a long folder")).expect("is right");
        assert_eq!(
            filled.text,
            "a l=a\\ long\\ folder/x ! b l=a\\ long\\ folder/y ! c"
        );
        for part in ["a l=", "/x ! b", "/y ! c", "c"] {
            let (at, want) = (filled.text.rfind(part), written.rfind(part));
            assert_eq!(at.map(|at| filled.written(at)), want, "{part}");
        }
        let inside = filled.text.find("long").expect("is there");
        assert_eq!(filled.written(inside), 4);
        assert_eq!(filled.written(filled.text.len()), written.len());
    }

    #[test]
    fn unknown_variables_are_refused() {
        for (text, want) in [
            ("a l=${home}/x", 4..11),
            ("a l=${dir", 4..9),
            ("a l=${}", 4..7),
        ] {
            let bad = fill(text, Path::new("x")).expect_err("is wrong");
            assert!(matches!(*bad.kind, Kind::UnknownVariable { .. }), "{text}");
            assert_eq!(bad.span, want, "{text}");
        }
        let bad = fill("a l=${dir}/x", Path::new("a\nb")).expect_err("is wrong");
        assert!(matches!(*bad.kind, Kind::Folder(_)));
        assert_eq!(
            fill("a l=$dir$ {dir}", Path::new("x"))
                .expect("is right")
                .text,
            "a l=$dir$ {dir}"
        );
    }

    proptest! {
        #[test]
        fn a_folder_means_itself_bare_and_quoted(dir in "[^\n\0]{1,12}") {
            let want = format!("{dir}/a.y4m");
            for text in ["e l=${dir}/a.y4m ! f", "e l=\"${dir}/a.y4m\" ! f", "e l='${dir}/a.y4m' ! f"] {
                let filled = fill(text, Path::new(&dir)).expect("is right");
                prop_assert_eq!(&location(&filled.text), &want, "{}", text);
            }
        }
    }
}
