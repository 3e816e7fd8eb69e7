//! Small graphs that went wrong once, found by the search, with their right answers and why.

use super::checks::plan;

/// The caps of each link with what they cost, or why there are none.
fn answer(text: &str) -> Vec<String> {
    let report = plan(text).unwrap_or_else(|f| panic!("{text}: {}", f.what));
    match (report.verdict, report.error) {
        ("agreed", _) => {
            let links = report.links.iter();
            links.map(|l| format!("{} {}", l.cost, l.caps)).collect()
        }
        (verdict, error) => vec![verdict.to_owned(), error.unwrap_or_default()],
    }
}

#[test]
fn a_field_that_was_left_out_stays_out() {
    // The first two converters pass the width on, so the third cannot be given one that the source
    // never had. It went wrong by taking `format=f`, and with it the row that wants a width.
    assert_eq!(
        answer(
            r#"capssrc caps=a/x ! capsmap map="a/x -> b/y"
            ! capsmap map="b/y -> c/z,format={f,g}"
            ! capsmap map="c/z,width=3 -> b/y | c/z,format=g -> b/y" ! capssink"#
        ),
        ["0 a/x", "1 b/y", "1 c/z,format=g", "1 b/y"]
    );
    // The format is passed on by all: it cannot begin to be there at the last link.
    assert_eq!(
        answer(
            r#"capssrc caps=b/y ! capsmap map="b/y -> c/z" ! capsmap map="c/z,width=4 -> c/z; b/y"
            ! capssink caps="b/y; c/z,format=I420""#
        ),
        ["0 b/y,width=4", "1 c/z,width=4", "1 b/y"]
    );
}

#[test]
fn any_features_are_the_same_on_both_sides() {
    // `a/x(ANY)` on both sides passes features on: the row with `f` makes no DMABuf of plain memory.
    assert_eq!(
        answer(
            r#"capssrc caps="a/x(ANY)" ! capsmap map="a/x -> a/x"
            ! capsmap map="a/x -> a/x(memory:DMABuf) | a/x(ANY),f=1 -> a/x(ANY),f=1"
            ! capssink caps="a/x(memory:DMABuf)""#
        ),
        ["0 a/x", "0 a/x", "1 a/x(memory:DMABuf)"]
    );
    // Nor do two rows of which one takes a part of what the other does.
    let got = answer(
        r#"capssrc name=s caps=a/x ! capsmap name=m map="a/x(ANY) -> a/x(ANY),w=3 | a/x,w=1 -> a/x"
        ! capssink name=k caps="a/x(memory:DMABuf)""#,
    );
    assert_eq!(got[0], "conflict");
    let told = "s.src and k.sink cannot agree on the media type: a/x against a/x(memory:DMABuf) (path: s -> m -> k)";
    assert_eq!(got[1].lines().next(), Some(told));
}

#[test]
fn values_of_equal_total_cost_are_looked_at_one_by_one() {
    // Width 4 costs one conversion on the one branch, width 6 one on the other; 4 loses half of it.
    assert_eq!(
        answer(
            r#"capssrc caps="a/x" ! tee name=t
            ! capsmap map="a/x,width=4 -> a/x,width=4 | a/x,width=6 -> a/x" ! capssink
            t. ! capsmap map="a/x,width=4 -> a/x,width=2 | a/x,width=6 -> a/x,width=6" ! capssink"#
        ),
        [
            "0 a/x,width=6",
            "0 a/x,width=6",
            "0 a/x,width=6",
            "1 a/x",
            "0 a/x,width=6"
        ]
    );
}
