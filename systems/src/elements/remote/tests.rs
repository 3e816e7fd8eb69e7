//! Messages of hostile ends: whatever bytes come, there is an error or a message, and what is claimed of
//! buffers is checked.

use super::apply::check;
use super::messages::{
    Answered, Ask, Call, Came, CameBuffer, Emit, Outcome, Replied, Reply, Request, Shown, Sink,
    Source, Waits,
};
use super::wire::{Reader, Wire};
use proptest::prelude::*;
use std::sync::Arc;
use tickpipe_components::buffer::BufferMeta;
use tickpipe_components::event::{Custom, Event};
use tickpipe_components::fault::{Code, Domain};
use tickpipe_components::occurrence::{Deed, Reason};
use tickpipe_components::time::Segment;
use tickpipe_components::video::{Layout, VideoFormat};

fn bytes<T: Wire>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    value.put(&mut out);
    out
}

fn whole<T: Wire>(bytes: &[u8]) -> Option<T> {
    let mut reader = Reader::new(bytes);
    let value = T::get(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

fn call() -> Call {
    Call {
        ask: Ask::Drain(Some(Event::Custom(Arc::new(Custom {
            name: "name".to_owned(),
            fields: [("a".to_owned(), "b".to_owned())].into(),
        })))),
        element: 3,
        tick: 9,
        time: (5, 1),
        clock: (true, false),
        timed: false,
        sink: Some(Sink {
            came: vec![Came::Buffer(CameBuffer {
                slot: 0,
                meta: BufferMeta {
                    len: 12,
                    ..BufferMeta::default()
                },
                layout: Layout::packed(VideoFormat::Gray8, 4, 3).ok(),
            })],
            ended: false,
            may_be_silent: false,
            segment: Segment::default(),
        }),
        source: Some(Source {
            room: 2,
            ended: false,
            segment: Segment::default(),
        }),
        granted: vec![(1, 12), (2, 12)],
        pool: Some((2, None)),
        kept: vec![(3, 7)],
        aside: None,
        offers: vec![(0, "video/x-raw".to_owned())],
    }
}

fn outcome() -> Outcome {
    Outcome {
        answer: Answered::Done,
        took: 1,
        emitted: vec![
            Emit::Filled((
                1,
                BufferMeta {
                    len: 12,
                    ..BufferMeta::default()
                },
            )),
            Emit::Forward(3),
        ],
        released: vec![0],
        retained: Vec::new(),
        kept: Vec::new(),
        aside: None,
        waits: Waits::default(),
        dropped: 0,
        tally: vec![(Reason::Late, Deed::Dropped, 1)],
        said: Vec::new(),
        sentences: vec!["odd".to_owned()],
        copied: (0, 0),
        announced: None,
        upward: Vec::new(),
    }
}

fn replied(outcome: Outcome) -> Replied {
    Replied {
        reply: Reply::Outcome(Box::new(outcome)),
        state: vec![Shown::Number(4), Shown::Bytes(vec![1, 2])],
    }
}

#[test]
fn messages_come_back_as_they_were() {
    let request = Request::Call(Box::new(call()));
    assert_eq!(whole::<Request>(&bytes(&request)), Some(request));
    let reply = replied(outcome());
    assert_eq!(whole::<Replied>(&bytes(&reply)), Some(reply));
    let failed = Replied {
        reply: Reply::Failed(super::messages::Failure {
            domain: Domain::Stream,
            code: Code::Damaged,
            text: "why".to_owned(),
        }),
        state: Vec::new(),
    };
    assert_eq!(whole::<Replied>(&bytes(&failed)), Some(failed));
}

#[test]
fn what_a_child_may_do_is_done() {
    assert!(check(&call(), &outcome()).is_ok());
    let kept = Outcome {
        emitted: Vec::new(),
        released: Vec::new(),
        kept: vec![(3, 7), (0, 9)],
        ..outcome()
    };
    assert!(check(&call(), &kept).is_ok());
    let twice = Outcome {
        emitted: vec![Emit::Forward(3)],
        released: vec![],
        retained: vec![0],
        kept: vec![(0, 9), (0, 9)],
        ..outcome()
    };
    assert!(check(&call(), &twice).is_ok());
}

#[test]
fn what_a_child_may_not_do_is_refused() {
    let meta = |len| BufferMeta {
        len,
        ..BufferMeta::default()
    };
    let bad = [
        // A buffer is nowhere, twice, or another's.
        Outcome {
            released: vec![],
            ..outcome()
        },
        Outcome {
            released: vec![0, 0],
            ..outcome()
        },
        Outcome {
            released: vec![0, 3],
            ..outcome()
        },
        Outcome {
            released: vec![77],
            ..outcome()
        },
        Outcome {
            kept: vec![(3, 0)],
            ..outcome()
        },
        Outcome {
            retained: vec![1],
            ..outcome()
        },
        // It did not take what it lets go.
        Outcome {
            took: 0,
            ..outcome()
        },
        Outcome {
            took: 2,
            ..outcome()
        },
        // It fills what it has not, too much, or twice.
        Outcome {
            emitted: vec![Emit::Forward(3), Emit::Filled((9, meta(1)))],
            ..outcome()
        },
        Outcome {
            emitted: vec![Emit::Forward(3), Emit::Filled((1, meta(13)))],
            ..outcome()
        },
        Outcome {
            emitted: vec![Emit::Filled((1, meta(1))), Emit::Filled((1, meta(1)))],
            kept: vec![(3, 7)],
            ..outcome()
        },
        Outcome {
            aside: Some(1),
            ..outcome()
        },
        Outcome {
            aside: Some(5),
            ..outcome()
        },
        Outcome {
            emitted: vec![Emit::Forward(3), Emit::View((1, 9, meta(1)))],
            ..outcome()
        },
        // More than there is room for.
        Outcome {
            emitted: vec![
                Emit::Filled((1, meta(1))),
                Emit::Filled((2, meta(1))),
                Emit::Forward(3),
            ],
            ..outcome()
        },
        Outcome {
            emitted: vec![Emit::Forward(3), Emit::End, Emit::End],
            ..outcome()
        },
    ];
    for (n, outcome) in bad.iter().enumerate() {
        assert!(check(&call(), outcome).is_err(), "{n}: {outcome:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_an_error_or_a_message(bytes: Vec<u8>) {
        let _ = whole::<Request>(&bytes);
        if let Some(Replied { reply: Reply::Outcome(outcome), .. }) = whole::<Replied>(&bytes) {
            let _ = check(&call(), &outcome);
        }
    }

    #[test]
    fn messages_that_were_tampered_with(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        shorten: bool,
    ) {
        for mut message in [bytes(&Request::Call(Box::new(call()))), bytes(&replied(outcome()))] {
            for (at, value) in &changes {
                let at = at.index(message.len());
                message[at] = *value;
            }
            if shorten {
                message.truncate(cut.index(message.len()));
            }
            let _ = whole::<Request>(&message);
            if let Some(Replied { reply: Reply::Outcome(outcome), .. }) = whole::<Replied>(&message) {
                let _ = check(&call(), &outcome);
            }
        }
    }
}
