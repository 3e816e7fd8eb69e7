//! Columns of text. Pure.

/// A column's side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows under each other, columns two spaces apart, without spaces at line ends.
pub(crate) fn table(sides: &[Side], rows: &[Vec<String>]) -> String {
    let width = |cell: &str| cell.chars().count();
    let mut widths = vec![0usize; sides.len()];
    for row in rows {
        for (w, cell) in widths.iter_mut().zip(row) {
            *w = (*w).max(width(cell));
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, side), w) in row.iter().zip(sides).zip(&widths) {
            let gap = " ".repeat(w - width(cell));
            match side {
                Side::Left => line.push_str(&format!("{cell}{gap}  ")),
                Side::Right => line.push_str(&format!("{gap}{cell}  ")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns() {
        let row = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
        let text = table(
            &[Side::Left, Side::Right, Side::Left],
            &[row("a", "1", "x"), row("äbc", "234", "")],
        );
        assert_eq!(text, "a      1  x\näbc  234\n");
    }
}
