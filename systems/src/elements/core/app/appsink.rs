//! `appsink`: gives what comes to the application (`Engine::app_sink`).
//!
//! A frame that the application keeps is a buffer that it holds, and a stall names it as the holder. With
//! `copy-when-below=N` a buffer is let go at once where fewer than N of its pool are free.

use super::AppSink;
use super::sink::{Offered, OwnEnd, Queue, SampleInfo};
use crate::element::CapsQuery;
use crate::element::{Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, Work};
use crate::elements::core::FrameHasher;
use crate::outside::{Awaited, Waker};
use bevy_ecs::component::Component;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::SinkTerms;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::BufferId;
use tickpipe_components::occurrence::Reason;
use tickpipe_components::video::{Frame, VideoInfo};

/// Settings of `appsink`.
#[derive(Component, Clone, Debug)]
pub struct AppSinkElement {
    caps: Caps,
    max_buffers: u32,
    drop: bool,
    hold: u32,
    copy_when_below: u32,
    /// How it keeps time.
    pub terms: SinkTerms,
    end: Arc<OwnEnd>,
}

impl Default for AppSinkElement {
    fn default() -> Self {
        AppSinkElement {
            caps: Caps::any(),
            max_buffers: 0,
            drop: false,
            hold: 1,
            copy_when_below: 0,
            terms: SinkTerms {
                sync: true,
                ..SinkTerms::default()
            },
            end: Arc::default(),
        }
    }
}

impl AppSinkElement {
    /// A handle of the application.
    pub fn handle(&self, waker: Arc<Waker>) -> AppSink {
        AppSink::of(&self.end.0, waker)
    }

    /// The element works no more: its run failed, or its end came.
    pub fn over(&self, failure: Option<(Domain, Code)>) {
        self.end.0.over(failure);
    }
}

impl Element for AppSinkElement {
    const NAME: &'static str = "appsink";
    const SUMMARY: &'static str = "Gives what comes to the application";
    const KLASS: &'static str = "Generic/Sink";
    const FLOW: Flow = Flow::Separate;
    const LENDS: bool = true;
    const READY_ONLY: &'static [&'static str] = crate::elements::core::sink_terms::TERMS;
    const IGNORED: &'static [&'static str] = &[
        "async",
        "blocksize",
        "buffer-list",
        "drop-out-of-segment",
        "emit-signals",
        "enable-last-sample",
        "max-bitrate",
        "max-bytes",
        "max-time",
        "name",
        "parent",
        "processing-deadline",
        "wait-on-eos",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut all = crate::sink_terms!();
        let own: [Property<Self>; 5] = [
            crate::field!(Caps, "caps", "What it takes", caps),
            crate::field!(
                Int(0, u32::MAX as i64),
                "max-buffers",
                "Frames that wait for the application at most; 0 is 16, more than 65536 is 65536",
                max_buffers
            ),
            crate::field!(
                Bool,
                "drop",
                "Whether frames that find no place are let go, the newest first; else they wait",
                drop
            ),
            crate::field!(
                Int(0, 65_536),
                "hold",
                "Buffers that the application is expected to hold, for the size of pools",
                hold
            ),
            crate::field!(
                Int(0, 65_536),
                "copy-when-below",
                "Let a buffer go at once, as the application has its own copy, where fewer of its \
                 pool are free; 0 never",
                copy_when_below
            ),
        ];
        all.extend(own);
        all
    }

    fn enum_caps(
        &self,
        query: &CapsQuery<'_>,
        _pad: PadAt,
        index: u32,
    ) -> Result<Option<Structure>, ElementError> {
        Ok(query.answer(&self.caps, index))
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        self.hold
    }

    fn sink_terms(&self) -> SinkTerms {
        self.terms
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        self.end.0.start(match self.max_buffers {
            0 => 16,
            most => (most as usize).min(65_536),
        });
        Ok(Box::new(Giving {
            queue: Arc::clone(&self.end.0),
            drop: self.drop,
            copy_when_below: self.copy_when_below,
            caps: Arc::new(Caps::any()),
            info: None,
            hasher: FrameHasher::default(),
            returned: Vec::new(),
            ended: false,
            blocked: false,
            kept: 0,
            told: false,
        }))
    }
}

struct Giving {
    queue: Arc<Queue>,
    drop: bool,
    copy_when_below: u32,
    caps: Arc<Caps>,
    info: Option<VideoInfo>,
    hasher: FrameHasher,
    /// Buffers that the application let go.
    returned: Vec<BufferId>,
    ended: bool,
    /// What came finds no place with the application.
    blocked: bool,
    /// Buffers that the application has.
    kept: usize,
    /// That no application is there was told.
    told: bool,
}

impl Giving {
    /// The bytes of a frame; of a picture the visible ones.
    fn bytes(&self, buffer: BufferId, process: &Process<'_>) -> Arc<[u8]> {
        let bytes = process.bytes(buffer);
        let layout = self.info.as_ref().map(|info| process.picture(buffer, info));
        let Some(layout) = layout.filter(|l| l.size() != l.visible_bytes()) else {
            return bytes.into();
        };
        match Frame::new(&layout, bytes) {
            Err(_) => bytes.into(),
            Ok(frame) => {
                let rows = frame.planes().flat_map(|p| p.rows().collect::<Vec<_>>());
                let mut all = Vec::with_capacity(layout.visible_bytes());
                rows.for_each(|row| all.extend_from_slice(row));
                all.into()
            }
        }
    }

    fn give(&mut self, buffer: BufferId, process: &mut Process<'_>) {
        let meta = *process.meta(buffer);
        process.show(buffer);
        if process.recording() {
            let hash = self.hasher.hash(process, buffer);
            process.record(meta.pts, meta.time_base, hash);
        }
        let info = SampleInfo {
            caps: Arc::clone(&self.caps),
            pts: meta.pts,
            duration: meta.duration,
            time_base: meta.time_base,
            index: meta.index,
            flags: meta.flags,
        };
        let bytes = self.bytes(buffer, process);
        let scarce = process.pool_free(buffer) < self.copy_when_below;
        if scarce {
            process.count_copy(bytes.len());
            process.release(buffer);
        } else {
            process.keep(buffer);
        }
        self.queue.give(bytes, info, (!scarce).then_some(buffer));
    }

    fn drop(&mut self, buffer: BufferId, process: &mut Process<'_>) {
        self.queue.count_dropped();
        process.drop_for(buffer, Reason::Leak);
    }
}

impl Work for Giving {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.hasher = FrameHasher::new(pads);
        self.info = pads.sink(0).and_then(|s| VideoInfo::from_structure(s).ok());
        if let Some(caps) = pads.sinks.first() {
            self.caps = Arc::new(caps.clone());
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        self.queue.returned(&mut self.returned);
        while let Some(buffer) = self.returned.pop() {
            if process.take_kept_one(buffer) {
                process.release(buffer);
            }
        }
        while !self.ended
            && let Some(item) = process.peek(0)
        {
            let Some(buffer) = item.as_buffer() else {
                process.next(0);
                self.ended = true;
                self.queue.end();
                break;
            };
            match self.queue.offers() {
                Offered::Full if !self.drop => break,
                Offered::Full => {
                    process.next(0);
                    self.drop(buffer, process);
                }
                Offered::Nobody => {
                    if !core::mem::replace(&mut self.told, true) {
                        process.say("no application takes what comes: it is let go");
                        process.warn(Domain::Resource, Code::Settings);
                    }
                    process.next(0);
                    process.show(buffer);
                    if process.recording() {
                        let meta = *process.meta(buffer);
                        let hash = self.hasher.hash(process, buffer);
                        process.record(meta.pts, meta.time_base, hash);
                    }
                    process.release(buffer);
                }
                Offered::Taken => {
                    process.next(0);
                    self.give(buffer, process);
                }
            }
            if process.timed() {
                break;
            }
        }
        if self.ended {
            // What the application has it may keep: that is nobody's business at the end.
            while let Some(kept) = process.take_kept() {
                process.release(kept);
            }
            process.finish();
            return Ok(());
        }
        self.blocked = self.queue.offers() == Offered::Full && process.peek(0).is_some();
        self.kept = process.kept().len();
        if self.blocked {
            process.wait_for_device();
        }
        Ok(())
    }

    fn awaited(&self) -> Awaited {
        let place = self.blocked && self.queue.offers() != Offered::Full;
        if self.queue.has_returned() || place {
            return Awaited::Ready;
        }
        let waits = self.kept > 0 || (self.blocked && self.queue.handles() > 0);
        match waits && !self.ended {
            true => Awaited::Pending,
            false => Awaited::Never,
        }
    }

    /// Frames that nobody pulled yet have copies of their own.
    fn relents(&self) -> bool {
        self.queue.let_go()
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.queue.flush();
        (self.ended, self.blocked, self.kept) = (false, false, 0);
    }

    fn close(&mut self) -> Result<(), ElementError> {
        self.queue.stop();
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.flag("ended", self.ended);
        visitor.unsigned("waiting", self.queue.waiting() as u64);
    }
}

impl Drop for Giving {
    fn drop(&mut self) {
        self.queue.stop();
    }
}
