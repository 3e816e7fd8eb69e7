//! What passed through an element that tells of it: how much of all, and what came last. Plain data.

use crate::buffer::BufferMeta;
use crate::digest::StateVisitor;
use core::fmt;
use std::collections::VecDeque;

/// Something that passed.
#[derive(Clone, Debug, PartialEq)]
pub enum Passed {
    /// A buffer, with its times, length and flags.
    Buffer(BufferMeta),
    /// Other caps.
    Caps(String),
    /// An event, by its name.
    Event(&'static str),
    /// The end.
    Eos,
}

/// All that passed.
#[derive(Debug, Default)]
pub struct Watched {
    /// Buffers.
    pub buffers: u64,
    /// Their valid bytes.
    pub bytes: u64,
    /// Events; changes of caps and the end are none.
    pub events: u64,
    most: usize,
    last: VecDeque<Passed>,
}

impl Watched {
    /// Nothing passed yet; what passes is remembered, so many at most.
    pub fn new(most: usize) -> Watched {
        Watched {
            most,
            last: VecDeque::with_capacity(most),
            ..Watched::default()
        }
    }

    /// So many are remembered from now on.
    pub fn remember(&mut self, most: usize) {
        self.most = most;
        self.last.drain(..self.last.len().saturating_sub(most));
        self.last.reserve(most.saturating_sub(self.last.len()));
    }

    /// Something passes.
    pub fn add(&mut self, what: Passed) {
        match &what {
            Passed::Buffer(meta) => {
                self.buffers += 1;
                self.bytes += meta.len as u64;
            }
            Passed::Event(_) => self.events += 1,
            Passed::Caps(_) | Passed::Eos => {}
        }
        if self.most == 0 {
            return;
        }
        if self.last.len() == self.most {
            self.last.pop_front();
        }
        self.last.push_back(what);
    }

    /// What came last, oldest first.
    pub fn last(&self) -> impl ExactSizeIterator<Item = &Passed> {
        self.last.iter()
    }

    /// Shows how much there was; the rest follows from what is queued.
    pub fn visit(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("buffers", self.buffers);
        visitor.unsigned("bytes", self.bytes);
        visitor.unsigned("events", self.events);
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passed::Buffer(meta) => {
                write!(f, "buffer {}", meta.index)?;
                for (name, time) in [("pts", meta.pts), ("duration", meta.duration)] {
                    match time {
                        Some(time) => write!(f, " {name} {time}")?,
                        None => write!(f, " {name} none")?,
                    }
                }
                write!(f, " of {} s, {} bytes", meta.time_base, meta.len)?;
                match meta.flags.is_empty() {
                    true => Ok(()),
                    false => {
                        let names = meta.flags.iter_names().map(|(name, _)| name);
                        let names: Vec<String> = names.map(str::to_lowercase).collect();
                        write!(f, ", {}", names.join("+"))
                    }
                }
            }
            Passed::Caps(caps) => write!(f, "caps {caps}"),
            Passed::Event(name) => f.write_str(name),
            Passed::Eos => f.write_str("end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferFlags;
    use crate::time::TimeBase;

    #[test]
    fn the_last_few_are_remembered_and_all_are_counted() {
        let mut watched = Watched::new(2);
        let meta = BufferMeta {
            pts: Some(3),
            time_base: TimeBase::of_rate(25, 1).expect("a rate"),
            index: 4,
            len: 12,
            flags: BufferFlags::KEY | BufferFlags::DISCONTINUITY,
            ..BufferMeta::default()
        };
        watched.add(Passed::Caps("video/x-raw".to_owned()));
        watched.add(Passed::Buffer(meta));
        watched.add(Passed::Event("gap"));
        watched.add(Passed::Eos);
        let last: Vec<String> = watched.last().map(Passed::to_string).collect();
        assert_eq!(last, ["gap", "end"]);
        assert_eq!((watched.buffers, watched.bytes, watched.events), (1, 12, 1));
        assert_eq!(
            Passed::Buffer(meta).to_string(),
            "buffer 4 pts 3 duration none of 1/25 s, 12 bytes, key+discontinuity"
        );
        watched.remember(1);
        assert_eq!(watched.last().collect::<Vec<_>>(), [&Passed::Eos]);
    }
}
