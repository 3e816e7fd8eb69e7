//! `appsrc`: sends what the application gives (`Engine::app_source`).
//!
//! It fills buffers of a pool of its own; a buffer that the application had from `alloc` changes places
//! with one of those, so that no byte is copied where both have the same shape.

use super::queue::{Bounds, Given, Mode, OwnEnd, Queue, Shape};
use super::{AppBuffer, AppSource};
use crate::element::{
    Buffers, CapsQuery, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use crate::outside::{Awaited, Waker};
use bevy_ecs::component::Component;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::caps::{Caps, Structure};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Granted;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::time::{Rounding, TimeBase};
use tickpipe_components::video::{Frame, FrameMut, Layout, VideoInfo};

/// Bytes of a buffer unless caps or settings say otherwise.
const BLOCK: u32 = 4096;

/// Buffers that wait at most, whatever is set.
const MOST: usize = 65_536;

/// Settings of `appsrc`.
#[derive(Component, Clone, Debug)]
pub struct AppSrcElement {
    caps: Caps,
    max_buffers: u64,
    max_bytes: u64,
    alloc_buffers: u32,
    blocksize: u32,
    block: bool,
    is_live: bool,
    do_timestamp: bool,
    end: Arc<OwnEnd>,
}

impl Default for AppSrcElement {
    fn default() -> Self {
        AppSrcElement {
            caps: Caps::any(),
            max_buffers: 0,
            max_bytes: 200_000,
            alloc_buffers: 32,
            blocksize: BLOCK,
            block: false,
            is_live: false,
            do_timestamp: false,
            end: Arc::default(),
        }
    }
}

/// Why it cannot send.
#[derive(Debug, Error)]
enum Wrong {
    #[error("no application has it: Engine::app_source gives a handle")]
    Nobody,
    #[error("the application let go of its last handle and gave no end")]
    Abandoned,
    #[error("{len} bytes are given, and a picture of {caps} has {want}")]
    Picture {
        len: usize,
        want: usize,
        caps: String,
    },
    #[error("{len} bytes are given, and a buffer has {max}")]
    Size { len: usize, max: usize },
}

impl From<Wrong> for ElementError {
    fn from(error: Wrong) -> ElementError {
        let (domain, code) = match error {
            Wrong::Nobody => (Domain::Resource, Code::Settings),
            Wrong::Abandoned => (Domain::Resource, Code::Closed),
            Wrong::Picture { .. } | Wrong::Size { .. } => (Domain::Stream, Code::Damaged),
        };
        ElementError::new(domain, code, error)
    }
}

impl AppSrcElement {
    /// A handle of the application.
    pub fn handle(&self, waker: Arc<Waker>) -> AppSource {
        AppSource::of(&self.end.0, waker)
    }

    /// The element works no more: its run failed, or nobody takes anything any more.
    pub fn over(&self, failure: Option<(Domain, Code)>) {
        if self.end.0.lock().mode != Mode::Running {
            return;
        }
        self.end.0.leave(match failure {
            Some((domain, code)) => Mode::Failed(domain, code),
            None => Mode::Over,
        });
    }
}

impl Element for AppSrcElement {
    const NAME: &'static str = "appsrc";
    const SUMMARY: &'static str = "Sends what the application gives";
    const KLASS: &'static str = "Generic/Source";
    const FLOW: Flow = Flow::Separate;
    const READY_ONLY: &'static [&'static str] = &[
        "max-buffers",
        "max-bytes",
        "alloc-buffers",
        "blocksize",
        "block",
        "is-live",
        "do-timestamp",
    ];
    const IGNORED: &'static [&'static str] = &[
        "automatic-eos",
        "duration",
        "emit-signals",
        "format",
        "handle-segment-change",
        "leaky-type",
        "max-latency",
        "max-time",
        "min-latency",
        "min-percent",
        "name",
        "num-buffers",
        "parent",
        "size",
        "stream-type",
        "typefind",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            crate::field!(Caps, "caps", "What it sends", caps),
            crate::field!(
                Int(0, i64::MAX),
                "max-buffers",
                "Buffers that wait at most; 0, and more, is 65536",
                max_buffers
            ),
            crate::field!(
                Int(0, i64::MAX),
                "max-bytes",
                "Bytes that wait at most, one buffer in any case; 0 for no limit",
                max_bytes
            ),
            crate::field!(
                Int(1, 65_536),
                "alloc-buffers",
                "Buffers that the application has at most, those that wait included",
                alloc_buffers
            ),
            crate::field!(
                Int(1, 1 << 30),
                "blocksize",
                "Bytes of a buffer; of raw video those of a picture",
                blocksize
            ),
            crate::field!(Bool, "block", "Whether a push waits for room", block),
            crate::field!(Bool, "is-live", "Give buffers only in PLAYING", is_live),
            crate::field!(
                Bool,
                "do-timestamp",
                "Give buffers without a time the running time at which they are sent",
                do_timestamp
            ),
        ]
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let info = pads
            .source(0)
            .and_then(|s| VideoInfo::from_structure(s).ok());
        let size = match info {
            Some(info) => info.layout.size(),
            None => self.blocksize as usize,
        };
        let own = PoolConfig {
            size,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn is_live(&self) -> bool {
        self.is_live
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if !self.end.0.lock().known {
            return Err(Wrong::Nobody.into());
        }
        self.end.0.start(Bounds {
            buffers: match self.max_buffers {
                0 => MOST,
                most => usize::try_from(most).unwrap_or(MOST).min(MOST),
            },
            bytes: usize::try_from(self.max_bytes).unwrap_or_default(),
            alloc: self.alloc_buffers,
            blocks: self.block,
        });
        Ok(Box::new(Sending {
            queue: Arc::clone(&self.end.0),
            do_timestamp: self.do_timestamp,
            info: None,
            packed: None,
            asked: None,
            sent: 0,
        }))
    }
}

struct Sending {
    queue: Arc<Queue>,
    do_timestamp: bool,
    info: Option<VideoInfo>,
    /// Where the planes of a picture lie in what the application gives: rows without padding.
    packed: Option<Layout>,
    /// Caps that were announced and are not agreed on yet.
    asked: Option<Caps>,
    sent: u64,
}

impl Sending {
    /// Moves what the application gave into a buffer of the pool.
    fn fill(
        &self,
        given: &mut AppBuffer,
        granted: &mut Granted,
        process: &Process<'_>,
    ) -> Result<(), Wrong> {
        let len = given.bytes().len();
        let (Some(info), Some(packed)) = (&self.info, &self.packed) else {
            if given.swap(&mut granted.memory) {
                granted.meta.len = len;
                return Ok(());
            }
            let max = granted.memory.len();
            let to = granted.memory.as_mut_slice().get_mut(..len);
            to.ok_or(Wrong::Size { len, max })?
                .copy_from_slice(given.bytes());
            granted.meta.len = len;
            return Ok(());
        };
        let layout = process.picture(granted.buffer, info);
        let wrong = || Wrong::Picture {
            len,
            want: info.layout.visible_bytes(),
            caps: info.to_structure().to_string(),
        };
        if len != info.layout.visible_bytes() {
            return Err(wrong());
        }
        granted.meta.len = layout.size();
        if layout == *packed && given.swap(&mut granted.memory) {
            return Ok(());
        }
        let from = Frame::new(packed, given.bytes()).map_err(|_| wrong())?;
        let to = granted.memory.as_mut_slice();
        let mut to = FrameMut::new(&layout, to).map_err(|_| wrong())?;
        for (from, to) in from.planes().zip(to.planes_mut().iter_mut().flatten()) {
            for (from, to) in from.rows().zip(to.rows_mut()) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    fn send(&mut self, process: &mut Process<'_>) -> Result<bool, ElementError> {
        if let Some(caps) = &self.asked {
            if !process.announce(0, caps) {
                return Ok(false);
            }
            self.asked = None;
        }
        if process.granted() == 0 {
            return Ok(false);
        }
        let given = match self.queue.take() {
            Some(given) => given,
            None => {
                self.queue.call_need();
                match self.queue.take() {
                    Some(given) => given,
                    None if self.queue.is_abandoned() => return Err(Wrong::Abandoned.into()),
                    None => {
                        process.wait_for_device();
                        return Ok(false);
                    }
                }
            }
        };
        let mut buffer = match given {
            Given::Buffer(buffer) => buffer,
            Given::Caps(caps) => {
                self.asked = Some(*caps);
                return Ok(true);
            }
            Given::End => {
                process.finish();
                return Ok(false);
            }
        };
        let Some(mut granted) = process.acquire() else {
            self.queue.put_back(Given::Buffer(buffer));
            return Ok(false);
        };
        if let Err(error) = self.fill(&mut buffer, &mut granted, process) {
            process.discard(granted);
            return Err(error.into());
        }
        let meta = &mut granted.meta;
        meta.index = self.sent;
        (meta.pts, meta.duration) = (buffer.pts, buffer.duration);
        meta.time_base = buffer.time_base;
        meta.flags |= buffer.flags;
        if meta.pts.is_none() && self.do_timestamp {
            let now = process.running_time();
            meta.pts = TimeBase::NANOSECONDS.convert(now, meta.time_base, Rounding::Down);
        }
        self.sent += 1;
        process.push(0, granted);
        Ok(true)
    }
}

impl Work for Sending {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.info = pads
            .source(0)
            .and_then(|s| VideoInfo::from_structure(s).ok());
        let packed = |i: &VideoInfo| {
            Layout::packed(i.layout.format(), i.layout.width(), i.layout.height()).ok()
        };
        self.packed = self.info.as_ref().and_then(packed);
        if let Some(caps) = pads.sources.first() {
            self.queue.agree(caps);
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if let Some(config) = process.pool_config() {
            self.queue.set_shape(Shape {
                size: config.size,
                align: config.align,
                prefix: config.prefix,
            });
        }
        while process.room(0) > 0 && self.send(process)? {}
        Ok(())
    }

    fn awaited(&self) -> Awaited {
        self.queue.awaited()
    }

    fn flushed(&mut self, flushing: bool) {
        self.queue.leave(match flushing {
            true => Mode::Flushing,
            false => Mode::Running,
        });
    }

    fn close(&mut self) -> Result<(), ElementError> {
        self.queue.leave(Mode::Stopped);
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("sent", self.sent);
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.queue.leave(Mode::Stopped);
    }
}
