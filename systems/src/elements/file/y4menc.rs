//! `y4menc`: a Y4M byte stream out of raw video.
//!
//! The header is written from the caps; rows are packed, padding is never written. A stream of
//! no frame is a header alone.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! y4menc ! filesink location=out.y4m'`

use super::y4mdec::STYLE;
use super::{y4m_stream, y4m_video};
use crate::element::{Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Work};
use crate::elements::raw_video::{frame_of, stream_info};
use bevy_ecs::component::Component;
use thiserror::Error;
use tickpipe_components::caps::Structure;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::video::VideoInfo;
use tickpipe_components::y4m::{FRAME_LINE, Facts, Header, write_frame};

/// Settings of `y4menc`.
#[derive(Component, Clone, Debug, Default)]
pub struct Y4mEnc;

#[derive(Debug, Error)]
#[error("{0}")]
struct NoHeader(String);

#[derive(Debug, Error)]
#[error("the header is written, and caps that need another come from frame {0} on")]
struct HeaderWritten(u64);

/// The stream and the header that caps stand for.
fn header_of(caps: Option<&Structure>) -> Result<(VideoInfo, Vec<u8>), ElementError> {
    let mut info = stream_info(caps)?;
    if info.format().is_gray() && info.colorimetry.is_none() {
        // Grey without a statement is of full range here, and of limited range in Y4M: say it.
        info.colorimetry = Some(info.effective_colorimetry());
    }
    let unsupported =
        |text: String| ElementError::new(Domain::Stream, Code::Unsupported, NoHeader(text));
    let (facts, _) = Facts::from_info(&info).map_err(|e| unsupported(e.to_string()))?;
    let style = caps.and_then(|s| s.string(STYLE));
    let header = match style.and_then(|s| Header::from_style(&facts, s).ok()) {
        Some(header) => header,
        None => Header::from_facts(&facts).map_err(|e| unsupported(e.to_string()))?,
    };
    Ok((info, header.to_bytes()))
}

impl Element for Y4mEnc {
    const NAME: &'static str = "y4menc";
    const SUMMARY: &'static str = "A Y4M byte stream out of raw video";
    const KLASS: &'static str = "Encoder/Video";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;
    const IGNORED: &'static [&'static str] =
        &["min-force-key-unit-interval", "name", "parent", "qos"];

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", y4m_video()),
            PadTemplate::source("src", y4m_stream()),
        ]
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        header_of(pads.sink(0)).map(drop)
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let (info, header) = header_of(pads.sink(0))?;
        let size = header.len() + FRAME_LINE.len() + info.layout.visible_bytes();
        Ok(Buffers::Own(PoolConfig {
            size: size.max(downstream.size),
            ..downstream
        }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Encoding {
            stream: None,
            frames: 0,
        }))
    }
}

struct Encoding {
    stream: Option<(VideoInfo, Vec<u8>)>,
    frames: u64,
}

impl Work for Encoding {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let now = header_of(pads.sink(0))?;
        if self.frames > 0 && self.stream.as_ref().is_some_and(|(_, h)| *h != now.1) {
            let written = HeaderWritten(self.frames);
            return Err(ElementError::new(Domain::Caps, Code::Refused, written));
        }
        self.stream = Some(now);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let Some((info, header)) = &self.stream else {
            return Ok(());
        };
        if self.frames > 0 && process.end_is_next(0) {
            process.finish();
            return Ok(());
        }
        while process.room(0) > 0 && process.granted() > 0 {
            let Some(item) = process.next(0) else { break };
            let Some(mut out) = process.acquire() else {
                break;
            };
            let head = if self.frames == 0 { &header[..] } else { &[] };
            let space = out.memory.as_mut_slice();
            space[..head.len()].copy_from_slice(head);
            let Some(buffer) = item.as_buffer() else {
                out.meta.len = head.len();
                if head.is_empty() {
                    process.discard(out);
                } else {
                    process.push(0, out);
                }
                process.finish();
                break;
            };
            let layout = process.picture(buffer, info);
            let written = frame_of(&layout, process.bytes(buffer)).and_then(|frame| {
                write_frame(FRAME_LINE, &frame, &mut space[head.len()..])
                    .map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))
            });
            let meta = *process.meta(buffer);
            process.release(buffer);
            out.meta = meta;
            out.meta.len = head.len() + written?;
            out.meta.index = self.frames;
            self.frames += 1;
            process.push(0, out);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("frames", self.frames);
    }
}
