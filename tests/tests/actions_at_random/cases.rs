//! Graphs, and what is done to them at random.

use super::CHAOS;
use proptest::prelude::*;
use tickpipe::{ClockMode, Flush, MessageMask, Removal, State};

/// What is done.
#[derive(Clone, Debug)]
pub enum Act {
    State(State),
    Seek {
        frame: i64,
        stop: Option<i64>,
        flush: bool,
    },
    Flush(Option<usize>, Flush),
    Set(usize, u32),
    Event(usize, u8, bool),
    Branch,
    /// The branch that was added last leaves, with all that is in it.
    Leave(Removal),
    /// Another element is put behind one.
    Insert(usize, &'static str),
    /// An element is taken out, and those beside it are linked.
    Bypass(usize),
    /// An element is taken out, and nothing is linked instead.
    Remove(usize, Removal),
    /// The links to the next element are taken away.
    Unlink(usize),
    /// When a message of a kind comes, this is asked for, so many times.
    Handler(MessageMask, Box<Act>, u32),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub text: String,
    pub clock: ClockMode,
    pub acts: Vec<(usize, Act)>,
    pub last: Vec<State>,
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        1 => Just(State::Ready),
        3 => Just(State::Paused),
        4 => Just(State::Playing),
    ]
}

fn simple() -> impl Strategy<Value = Act> {
    let flush = prop_oneof![
        Just(Flush::Start),
        Just(Flush::Stop),
        Just(Flush::Discard),
        Just(Flush::DiscardAndEnd)
    ];
    prop_oneof![
        4 => state().prop_map(Act::State),
        3 => (0i64..40, proptest::option::of(0i64..30), any::<bool>()).prop_map(
            |(frame, length, flush)| Act::Seek { frame, stop: length.map(|l| frame + l), flush }
        ),
        2 => (proptest::option::of(0usize..12), flush).prop_map(|(e, f)| Act::Flush(e, f)),
        1 => (0usize..12, 0u32..40).prop_map(|(e, v)| Act::Set(e, v)),
        1 => (0usize..12, 0u8..4, any::<bool>()).prop_map(|(e, k, up)| Act::Event(e, k, up)),
        1 => Just(Act::Branch),
        1 => prop_oneof![Just(Removal::Drain), Just(Removal::Discard)].prop_map(Act::Leave),
        1 => (0usize..12, prop_oneof![Just("identity"), Just("queue"), Just("hold")])
            .prop_map(|(e, class)| Act::Insert(e, class)),
        1 => (0usize..12).prop_map(Act::Bypass),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let kind = prop_oneof![
        Just(MessageMask::EOS),
        Just(MessageMask::STATE_CHANGED),
        Just(MessageMask::ASYNC_DONE),
        Just(MessageMask::SEEKED),
        Just(MessageMask::WARNING | MessageMask::OCCURRENCE),
    ];
    prop_oneof![
        8 => simple(),
        1 => (kind, simple(), 1u32..4).prop_map(|(k, a, n)| Act::Handler(k, Box::new(a), n)),
    ]
}

fn source(kind: u8) -> BoxedStrategy<String> {
    let count = prop_oneof![1 => Just(0u32), 1 => Just(1), 6 => 2u32..40];
    let live = prop_oneof![4 => Just(false), 1 => Just(true)];
    let made = (count, live, 0u32..4);
    made.prop_map(move |(count, live, most)| match kind {
        0 => format!("fakesrc num-buffers={count} is-live={live}"),
        1 => format!(
            "videotestsrc num-buffers={count} is-live={live} ! video/x-raw,width=16,height=8"
        ),
        _ => format!(
            "actsrc label=random counts=true is-live={live} max-buffers={} script={}e",
            if most == 0 { 0 } else { 30 * most },
            "b".repeat(count as usize)
        ),
    })
    .boxed()
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(" ! identity".to_owned()),
        (1u32..6).prop_map(|n| format!(" ! queue max-size-buffers={n}")),
        (1u32..4).prop_map(|n| format!(" ! hold buffers={n}")),
    ]
}

fn chain() -> impl Strategy<Value = String> {
    proptest::collection::vec(part(), 0..3).prop_map(|parts| parts.concat())
}

fn sink() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(" ! fakesink".to_owned()),
        1 => Just(" ! fakesink sync=true".to_owned()),
        1 => Just(" ! fakesink sync=true max-lateness=5000000 qos=true".to_owned()),
        1 => Just(" ! fakesink hold=2".to_owned()),
    ]
}

/// What comes behind a stream: a sink, or a tee with two, or one whose branches meet again.
fn end(name: &'static str) -> impl Strategy<Value = String> {
    let branches = (chain(), sink(), chain(), sink());
    let tee = branches.prop_map(move |(a, x, b, y)| {
        format!(" ! tee name={name} {name}.{a} ! queue{x} {name}.{b} ! queue{y}")
    });
    let meets = (chain(), sink(), any::<bool>()).prop_map(move |(a, x, join)| {
        let meet = if join { "join" } else { "funnel" };
        format!(" ! tee name={name} {name}.{a} ! {meet} name={name}x{x} {name}. ! queue ! {name}x.")
    });
    prop_oneof![
        3 => (chain(), sink()).prop_map(|(a, x)| format!("{a}{x}")),
        2 => tee,
        1 => meets,
    ]
}

fn graph() -> impl Strategy<Value = String> {
    let apart = (0u8..3, 0u8..3)
        .prop_flat_map(|(a, b)| (source(a), end("t"), source(b), end("u"), any::<bool>()))
        .prop_map(|(a, x, b, y, both)| match both {
            true => format!("{a}{x} {b}{y}"),
            false => format!("{a}{x}"),
        });
    let together = (0u8..3)
        .prop_flat_map(|kind| {
            let sources = proptest::collection::vec((source(kind), chain()), 1..4);
            (sources, end("t"), any::<bool>())
        })
        .prop_map(|(sources, end, join)| {
            let meet = if join { "join" } else { "funnel" };
            let mut text = format!("{meet} name=m{end}");
            for (source, chain) in sources {
                text += &format!(" {source}{chain} ! m.");
            }
            text
        });
    prop_oneof![apart, together]
}

pub fn case() -> impl Strategy<Value = Case> {
    let clock = prop_oneof![Just(ClockMode::Free), Just(ClockMode::Virtual)];
    let acts = proptest::collection::vec((0..CHAOS, act()), 0..14);
    let last = proptest::collection::vec(state(), 1..4);
    (graph(), clock, acts, last).prop_map(|(text, clock, acts, last)| Case {
        text,
        clock,
        acts,
        last,
    })
}

/// Graphs that are torn apart while they run. What is left of them cannot start again, as links that
/// it needs are missing: nothing asks for READY.
pub fn torn() -> impl Strategy<Value = Case> {
    let tear = prop_oneof![
        2 => (0usize..12, any::<bool>()).prop_map(|(e, drain)| {
            Act::Remove(e, if drain { Removal::Drain } else { Removal::Discard })
        }),
        1 => (0usize..12).prop_map(Act::Unlink),
    ];
    let tears = proptest::collection::vec((0..CHAOS, tear), 1..4);
    (case(), tears).prop_map(|(mut case, tears)| {
        case.acts.extend(tears);
        for (_, act) in &mut case.acts {
            stay(act);
        }
        for state in &mut case.last {
            *state = (*state).max(State::Paused);
        }
        case
    })
}

/// PAUSED in place of READY.
fn stay(act: &mut Act) {
    match act {
        Act::State(state) => *state = (*state).max(State::Paused),
        Act::Handler(_, act, _) => stay(act),
        _ => {}
    }
}
