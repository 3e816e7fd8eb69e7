//! What a report says of messages, and of what happened to single buffers.

use super::{Report, base};
use crate::build::PipelineHandle;
use crate::engine::Engine;
use serde::Serialize;
use std::collections::BTreeMap;
use tickpipe_components::graph::Element;
use tickpipe_components::id::ElementId;
use tickpipe_components::message::{Message, MessageKind};
use tickpipe_components::occurrence::{Deed, Reason};
use tickpipe_systems::state::Graphs;

/// A message.
#[derive(Clone, Debug, Serialize)]
pub struct MessageReport {
    /// When.
    pub tick: u64,
    /// Whose; null is the pipeline.
    pub element: Option<String>,
    /// What kind.
    pub kind: String,
    /// What kind of thing went wrong, or null.
    pub domain: Option<String>,
    /// Why, or the state reached, or null.
    pub code: Option<String>,
    /// The step at which it failed, where it was one from a state to the next: `paused-to-playing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
    /// What happened to which buffer, of an occurrence. Of each element at most 1,000 of a kind are
    /// listed; how many there were is in its `occurrences`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<OccurrenceReport>,
}

/// Something that happened to one buffer.
#[derive(Clone, Debug, Serialize)]
pub struct OccurrenceReport {
    /// What was done: `dropped`, `duplicated`, `derived`, `rebased`, `gap`, `passed`, `failed`.
    pub deed: &'static str,
    /// The how-manyth buffer of its stream it was, from 0; where the code is `junk` or `unfinished`, the
    /// byte at which that begins.
    pub index: u64,
    /// The time that was found; how late it was where the code is `late`; how many bytes, where it is
    /// `junk` or `unfinished`.
    pub value: Option<i64>,
    /// The unit of `value`.
    pub time_base: [u32; 2],
}

/// How often something happened to buffers of an element.
#[derive(Clone, Debug, Serialize)]
pub struct TallyReport {
    /// Why.
    pub reason: &'static str,
    /// What was done.
    pub deed: &'static str,
    /// How often.
    pub count: u64,
}

/// Occurrences of one kind and element that are listed.
const MOST_TOLD: u64 = 1000;

/// The messages of a run that its report lists, as they come: what happens to each of many buffers
/// takes no more memory than is listed of it.
#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) messages: Vec<Message>,
    told: BTreeMap<(Option<ElementId>, Reason, Deed), u64>,
}

impl Listed {
    pub(crate) fn push(&mut self, message: Message) {
        if let MessageKind::Occurrence(o) = message.kind {
            let told = self.told.entry((message.element, o.reason, o.deed));
            let told = told.or_insert(0);
            if *told == MOST_TOLD {
                return;
            }
            *told += 1;
        }
        self.messages.push(message);
    }
}

/// Names of elements, for messages.
pub(crate) type Names = BTreeMap<ElementId, String>;

impl Engine {
    /// Adds the names of a pipeline's elements, also of those that left while it ran.
    pub(crate) fn add_names(&self, pipeline: PipelineHandle, names: &mut Names) {
        let left = self.fabric(pipeline).into_iter().flat_map(|p| &p.left.told);
        names.extend(left.map(|l| (l.lane.element, l.name.clone())));
        let running = self.world.resource::<Graphs>().running(pipeline.id);
        let nodes = running.into_iter().flat_map(|topology| &topology.nodes);
        names.extend(nodes.map(|n| (n.id, n.name.clone())));
        let members = self.elements(pipeline).into_iter();
        let members = members.filter_map(|e| self.world.get::<Element>(e.0));
        names.extend(members.map(|e| (e.id, e.name.clone())));
    }
}

impl Report {
    /// Adds the run's messages, with the elements' names.
    pub(crate) fn add_messages(&mut self, names: &Names, messages: &[Message]) {
        for message in messages {
            let (domain, code) = match message.kind {
                MessageKind::Error(d, c) | MessageKind::Warning(d, c) => {
                    (Some(d.name().to_owned()), Some(c.name().to_owned()))
                }
                MessageKind::StateChanged(state) => (None, Some(state.name().to_owned())),
                MessageKind::ChangeFailed(_, _, d, c) => {
                    (Some(d.name().to_owned()), Some(c.name().to_owned()))
                }
                MessageKind::Eos
                | MessageKind::Stalled
                | MessageKind::AsyncDone
                | MessageKind::Seeked
                | MessageKind::Removed => (None, None),
                MessageKind::Occurrence(o) => (None, Some(o.reason.name().to_owned())),
            };
            let occurrence = match message.kind {
                MessageKind::Occurrence(o) => Some(OccurrenceReport {
                    deed: o.deed.name(),
                    index: o.index,
                    value: o.value,
                    time_base: base(o.time_base),
                }),
                _ => None,
            };
            self.messages.push(MessageReport {
                tick: message.tick,
                element: message.element.and_then(|id| names.get(&id).cloned()),
                kind: message.kind.name().to_owned(),
                domain,
                code,
                transition: match message.kind {
                    MessageKind::ChangeFailed(from, to, ..) => {
                        Some(format!("{}-to-{}", from.name(), to.name()))
                    }
                    _ => None,
                },
                occurrence,
            });
        }
    }
}
