//! Sentences about messages: the only place where they are made.

use crate::build::PipelineHandle;
use crate::engine::Engine;
use core::fmt::Write;
use tickpipe_components::graph::{Element, Pipeline};
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::occurrence::{Occurrence, Reason};

impl Engine {
    /// A message of a pipeline as a sentence for people. Nothing should be read out of it: the
    /// message itself has element, kind, domain and code.
    pub fn describe(&self, pipeline: PipelineHandle, message: &Message) -> String {
        let of = |id| {
            let elements = self.elements(pipeline).into_iter();
            let mut infos = elements.filter_map(|e| self.world.get::<Element>(e.0));
            infos.find(|e| e.id == id).map(|e| e.name.clone())
        };
        let pipeline = || {
            self.world
                .get::<Pipeline>(pipeline.entity)
                .map(|p| p.name.clone())
        };
        let who = match message.element {
            Some(id) => of(id).unwrap_or_else(|| format!("element {}", id.0)),
            None => pipeline().unwrap_or_default(),
        };
        format!("tick {}: {who}: {}", message.tick, sentence(message.kind))
    }
}

fn sentence(kind: MessageKind) -> String {
    match kind {
        MessageKind::Eos => "every sink is at its end".to_owned(),
        MessageKind::Error(domain, code) => format!("failed ({domain}/{code})"),
        MessageKind::Warning(domain, code) => format!("something is odd ({domain}/{code})"),
        MessageKind::ChangeFailed(from, to, domain, code) => {
            format!("failed on the way from {from} to {to} ({domain}/{code})")
        }
        MessageKind::StateChanged(state) => format!("is {state} now"),
        MessageKind::AsyncDone => "every sink holds its first buffer".to_owned(),
        MessageKind::Seeked => "goes on elsewhere".to_owned(),
        MessageKind::Removed => "has left the pipeline".to_owned(),
        MessageKind::Stalled => "nobody can go on".to_owned(),
        MessageKind::Occurrence(occurrence) => told(&occurrence),
    }
}

fn told(o: &Occurrence) -> String {
    let bytes = matches!(o.reason, Reason::Junk | Reason::Unfinished);
    let what = if bytes { "byte" } else { "buffer" };
    let mut text = format!("{what} {}: {}, {}", o.index, o.reason, o.deed);
    let _ = match (o.value, o.reason) {
        (None, _) => Ok(()),
        (Some(ticks), Reason::Discontinuity) => write!(text, " ({ticks} ticks)"),
        (Some(late), Reason::Late) => write!(text, " ({late} x {} s late)", o.time_base),
        (Some(count), _) if bytes => write!(text, " ({count} bytes)"),
        (Some(at), _) => write!(text, " (at {at} x {} s)", o.time_base),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickpipe_components::fault::{Code, Domain};
    use tickpipe_components::occurrence::Deed;
    use tickpipe_components::state::State;
    use tickpipe_components::time::TimeBase;

    #[test]
    fn each_kind_has_a_sentence() {
        let mut engine = Engine::new().expect("an engine");
        let text = "fakesrc name=s ! fakesink";
        let (p, _) = engine.launch("main", text).expect("a graph");
        let s = engine.element(p, "s").expect("it is there");
        let id = engine.world.get::<Element>(s.0).map(|e| e.id);
        let occurrence = |reason, value| {
            MessageKind::Occurrence(Occurrence {
                reason,
                deed: Deed::Dropped,
                index: 7,
                value,
                time_base: TimeBase::NANOSECONDS,
            })
        };
        let (flow, loops) = (Domain::Flow, Code::Loop);
        let cases = [
            (
                None,
                MessageKind::Eos,
                "tick 3: main: every sink is at its end",
            ),
            (
                id,
                MessageKind::Error(flow, loops),
                "tick 3: s: failed (flow/loop)",
            ),
            (
                id,
                MessageKind::ChangeFailed(State::Paused, State::Playing, flow, loops),
                "tick 3: s: failed on the way from paused to playing (flow/loop)",
            ),
            (
                None,
                MessageKind::StateChanged(State::Ready),
                "tick 3: main: is ready now",
            ),
            (
                id,
                occurrence(Reason::Junk, Some(5)),
                "tick 3: s: byte 7: junk, dropped (5 bytes)",
            ),
            (
                id,
                occurrence(Reason::Late, Some(5)),
                "tick 3: s: buffer 7: late, dropped (5 x 1/1000000000 s late)",
            ),
            (
                id,
                occurrence(Reason::MissingStamp, None),
                "tick 3: s: buffer 7: missing-stamp, dropped",
            ),
        ];
        for (element, kind, want) in cases {
            let message = Message {
                tick: 3,
                element,
                kind,
            };
            assert_eq!(engine.describe(p, &message), want);
        }
    }
}
