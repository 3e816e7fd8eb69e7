//! `overlay`: one picture laid on another at (x, y).
//!
//! The input that is linked first (`sink_0`) leads: one frame goes out for each of its frames,
//! with its times and caps; `sink_1` shows its last frame until the next is due. The two may
//! differ in rate, aspect, range and siting, and must have the same pixel format. The position
//! is rounded down to the chroma grid (FFmpeg's overlay). Frames are written in place where
//! nobody else holds them.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! overlay name=mix x=16 y=8 ! fakesink videotestsrc pattern=ball ! video/x-raw,width=64,height=48 ! mix.'`

use super::pixels::overlay_opaque;
use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Pair, Process, Property, SyncSettings,
    Synchronises, Transformed, Work, each_pair, sync_properties, writable,
};
use crate::elements::raw_video::{FORMATS, frame_of, frame_pool, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::{Granted, Latency};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::BufferId;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::sync::{OutBase, SyncTerms};
use tickpipe_components::video::{FrameMut, Layout, VideoFormat, VideoInfo};

/// Settings of `overlay`.
#[derive(Component, Clone, Debug, Default)]
pub struct Overlay {
    /// Left edge of the picture on top, in pixels of the one below; may be negative.
    pub x: i32,
    /// Its upper edge.
    pub y: i32,
    /// How its inputs are synchronised.
    pub sync: SyncSettings,
}

impl Synchronises for Overlay {
    fn sync(&self) -> &SyncSettings {
        &self.sync
    }

    fn sync_mut(&mut self) -> &mut SyncSettings {
        &mut self.sync
    }
}

fn opaque_formats() -> tickpipe_components::caps::Caps {
    let opaque: Vec<VideoFormat> = FORMATS.iter().copied().filter(|f| !f.has_alpha()).collect();
    raw_video_caps(&opaque)
}

impl Element for Overlay {
    const NAME: &'static str = "overlay";
    const SUMMARY: &'static str = "Lays one picture on another";
    const KLASS: &'static str = "Filter/Editor/Video/Compositor";
    const FLOW: Flow = Flow::Lead;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_0", opaque_formats()),
            PadTemplate::sink("sink_1", opaque_formats()),
            PadTemplate::source("src", opaque_formats()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        let own: [Property<Self>; 2] = [
            crate::field!(
                Int(i32::MIN as i64, i32::MAX as i64),
                "x",
                "Left edge of the picture on top, in pixels; rounded down to the chroma grid",
                x
            ),
            crate::field!(
                Int(i32::MIN as i64, i32::MAX as i64),
                "y",
                "Upper edge of the picture on top, in pixels; rounded down to the chroma grid",
                y
            ),
        ];
        own.into_iter().chain(sync_properties()).collect()
    }

    fn sync_terms(&self, _inputs: usize) -> SyncTerms {
        self.sync.dual(OutBase::First)
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        _to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        let mut only_format = caps.clone();
        only_format.retain(|name, _| name == "format");
        (index == 0).then(|| Transformed::tying(only_format, &["format"]))
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        stream_info(pads.sink(0))?;
        stream_info(pads.sink(1)).map(drop)
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        frame_pool(pads.source(0), downstream).map(Buffers::InPlace)
    }

    /// The leading frame that is shown, and the one that waits for the other's next; of the other the
    /// frame that is shown, the next, and one that a set still shows.
    fn retains(&self, pad: PadAt) -> u32 {
        if pad.index == 0 { 2 } else { 3 }
    }

    /// Of the other as many for a frame of the leading one as its rate is higher.
    fn takes_for(&self, pad: PadAt, pads: &PadCapsOf, outputs: u64, _bytes: usize) -> Option<u64> {
        let rate = |index: usize| {
            let rate = pads.sink(index)?.fraction("framerate")?;
            let (num, den) = (
                u128::try_from(rate.num()).ok()?,
                u128::try_from(rate.den()).ok()?,
            );
            (num > 0).then_some((num, den))
        };
        let kept = u64::from(self.retains(pad));
        let many = match (rate(0), rate(pad.index)) {
            (Some(lead), Some(own)) => {
                let all = u128::from(outputs) * own.0 * lead.1;
                u64::try_from(all.div_ceil(own.1 * lead.0)).unwrap_or(u64::MAX)
            }
            _ => outputs,
        };
        Some(many.max(1).saturating_add(kept))
    }

    /// A leading frame may wait for the other's next.
    fn latency(&self, pads: &PadCapsOf) -> Latency {
        Latency::of(pads.frames_last(1, 1))
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Overlaying {
            x: self.x.into(),
            y: self.y.into(),
            streams: None,
            frames: 0,
        }))
    }
}

struct Overlaying {
    x: i64,
    y: i64,
    streams: Option<(VideoInfo, VideoInfo)>,
    frames: u64,
}

/// A copy of the leading frame, in the layout of the buffer that it goes to.
fn copy(
    process: &mut Process<'_>,
    main: BufferId,
    to: &mut Granted,
    stream: &VideoInfo,
) -> Result<usize, ElementError> {
    let bytes = process.bytes(main);
    let (read, written) = (
        process.picture(main, stream),
        process.picture(to.buffer, stream),
    );
    let space = to.memory.as_mut_slice();
    match read == written {
        true => Ok(copied(bytes, space)),
        false => {
            to.meta.len = written.size();
            copied_by_rows(&read, bytes, &written, space)
        }
    }
}

/// Passes on the leading frame as it is; a copy where it is shown once more at another time.
fn pass_main(
    process: &mut Process<'_>,
    pair: &Pair,
    stream: &VideoInfo,
) -> Result<(), ElementError> {
    if pair.stamp.is_time_of(process.meta(pair.main)) {
        process.forward(0, pair.main);
        return Ok(());
    }
    let own = writable(process, pair.main, |process, main, to| {
        copy(process, main, to, stream)
    });
    if let Some(mut own) = own? {
        own.meta = pair.stamp.apply(&own.meta);
        process.push(0, own);
    }
    Ok(())
}

/// Copies all bytes that there is room for; how many.
fn copied(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

/// Copies a picture whose planes lie elsewhere; how many bytes.
fn copied_by_rows(
    from: &Layout,
    bytes: &[u8],
    to: &Layout,
    space: &mut [u8],
) -> Result<usize, ElementError> {
    let from = frame_of(from, bytes)?;
    let mut to =
        FrameMut::new(to, space).map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))?;
    let mut len = 0;
    for (plane, target) in from.planes().zip(to.planes_mut().iter_mut().flatten()) {
        for (row, target) in plane.rows().zip(target.rows_mut()) {
            len += copied(row, target);
        }
    }
    Ok(len)
}

impl Work for Overlaying {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<Overlay>() {
            (self.x, self.y) = (settings.x.into(), settings.y.into());
        }
        Ok(())
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.streams = Some((stream_info(pads.sink(0))?, stream_info(pads.sink(1))?));
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some((main_info, top_info)) = &self.streams else {
            return Ok(());
        };
        let (x, y) = (self.x, self.y);
        each_pair(
            process,
            &mut self.frames,
            |_| true,
            |process, pair| {
                let Some(top) = pair.second else {
                    return pass_main(process, &pair, main_info);
                };
                let copied = writable(process, pair.main, |process, main, to| {
                    copy(process, main, to, main_info)
                });
                let Some(mut below) = copied? else {
                    return Ok(());
                };
                below.meta = pair.stamp.apply(&below.meta);
                let above = process.picture(top, top_info);
                let layout = process.picture(below.buffer, main_info);
                let drawn = frame_of(&above, process.bytes(top)).and_then(|top| {
                    let space = below.memory.as_mut_slice();
                    let mut frame = FrameMut::new(&layout, space)
                        .map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))?;
                    overlay_opaque(&mut frame, &top, x, y)
                        .map_err(|e| ElementError::new(Domain::Core, Code::Failed, e))
                });
                process.push(0, below);
                drawn
            },
        )
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("frames", self.frames);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickpipe_components::video::Frame;

    #[test]
    fn a_copy_with_other_strides_shows_the_same() {
        for format in FORMATS {
            let packed = Layout::packed(format, 13, 7).expect("a picture");
            let aligned = Layout::aligned(format, 13, 7, 64).expect("a picture");
            for (from, to) in [(packed, aligned), (aligned, packed)] {
                let bytes: Vec<u8> = (0..from.size()).map(|i| (i * 7 + i / 256) as u8).collect();
                let mut space = vec![0; to.size()];
                let len = copied_by_rows(&from, &bytes, &to, &mut space);
                assert_eq!(len.ok(), Some(packed.visible_bytes()), "{format}");
                let (a, b) = (Frame::new(&from, &bytes), Frame::new(&to, &space));
                let same = a.expect("whole").same_pixels(&b.expect("whole"));
                assert!(same, "{format}");
                let short = copied_by_rows(&from, &bytes[1..], &to, &mut space);
                assert_eq!(
                    short.map_err(|e| (e.domain, e.code)),
                    Err((Domain::Stream, Code::Truncated))
                );
            }
        }
    }
}
