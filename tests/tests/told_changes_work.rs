//! Changes that a conflict proposes make the graph work: random graphs of real elements, with every
//! change made that was told, have caps. (B01)

#![cfg(feature = "video")]

mod negotiating;

use negotiating::{Dice, mended, plan};
use tickpipe::PlanError;

/// Values that a filter may name, of a field each.
const FIELDS: [(&str, &[&str]); 5] = [
    (
        "format",
        &["NV12", "I420", "RGB", "{NV12,RGB}", "{I420,GRAY8}", "YUY2"],
    ),
    (
        "width",
        &["320", "640", "[16,100]", "[64,640,64]", "{320,640}"],
    ),
    ("height", &["240", "480", "[16,100]"]),
    ("pixel-aspect-ratio", &["1/1", "2/1"]),
    ("colorimetry", &["bt601", "bt709"]),
];

fn filter(dice: &mut Dice) -> String {
    let mut caps = "video/x-raw".to_owned();
    for (i, (name, values)) in FIELDS.iter().enumerate() {
        if dice.below(2 + i) == 0 {
            let value = values[dice.below(values.len())];
            caps.push_str(&format!(",{name}={value}"));
        }
    }
    format!("capsfilter caps=\"{caps}\"")
}

/// Up to `most` elements in a row.
fn chain(dice: &mut Dice, most: usize) -> String {
    let elements = (0..dice.below(most + 1)).map(|_| match dice.below(8) {
        0 => "queue ! ".to_owned(),
        1 => "videoconvert ! ".to_owned(),
        2 => "videoscale ! ".to_owned(),
        3 => "identity ! ".to_owned(),
        _ => filter(dice) + " ! ",
    });
    elements.collect()
}

/// A chain, or a tee, a join or a synchroniser with chains around it.
fn graph(dice: &mut Dice) -> String {
    let source = format!("videotestsrc ! {}", chain(dice, 3));
    let kind = dice.below(5);
    let branches = 1 + dice.below(3);
    let mut text = source;
    match kind {
        0 => {
            text += &format!("overlay name=o ! {} fakesink ", chain(dice, 2));
            text += &format!("videotestsrc ! {} o.", chain(dice, 2));
        }
        1 => {
            text += &format!("funnel name=f ! {} fakesink ", chain(dice, 2));
            for _ in 0..branches {
                text += &format!("videotestsrc ! {} f. ", chain(dice, 2));
            }
        }
        2 => text += &format!("{} fakesink", chain(dice, 4)),
        _ => {
            text += "tee name=t ";
            for _ in 0..branches {
                text += &format!("t. ! {} fakesink ", chain(dice, 2));
            }
        }
    }
    text
}

#[test]
fn of_random_graphs() {
    let (mut agreed, mut changed, mut several) = (0, 0, 0);
    for seed in 0..600 {
        let text = graph(&mut Dice(seed));
        match plan(&text) {
            Ok(_) => agreed += 1,
            Err(PlanError::Conflict(failure)) => {
                // Size, shape, format and colorimetry can all be converted.
                assert!(failure.mended && !failure.cut_short, "{text}\n{failure}");
                for conflict in &failure.conflicts {
                    assert!(conflict.sides.len() >= 2, "{text}\n{failure}");
                    assert!(!conflict.fix.is_empty(), "{text}\n{failure}");
                }
                let changes = mended(&text, &failure);
                if let Err(error) = plan(&changes) {
                    panic!("{text}\n{failure}\nwith all changes: {changes}\n{error}");
                }
                changed += 1;
                several += usize::from(failure.conflicts.len() > 1);
            }
            Err(error) => panic!("{text}\n{error}"),
        }
    }
    assert!(
        agreed > 100 && changed > 100 && several > 10,
        "{agreed} {changed} {several}"
    );
}
