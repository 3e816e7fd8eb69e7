//! Has a stream go on elsewhere: all who are concerned agree first, then it is done at once.
//!
//! The request goes from the sinks upstream to whoever can do it. With a flush, what is under way
//! behind them is discarded and running time begins anew; without, the new segment follows what is
//! under way. A second request finds the first one done, so that only one segment is ever active.
//! It may touch lanes and elements at work.

use super::flush::{Origin, discard, discard_until};
use crate::element::Seeking;
use crate::pipelines::PipelineWorks;
use thiserror::Error;
use tickpipe_components::event::Event;
use tickpipe_components::fabric::PipelineFabric;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::id::ElementId;
use tickpipe_components::seek::{Seek, SeekFormat};
use tickpipe_components::time::Segment;

/// Why a stream cannot go on elsewhere.
#[derive(Debug, Error)]
pub enum SeekError {
    /// The request makes no sense by itself.
    #[error("cannot go to {seek}: {what}")]
    Range {
        /// What was asked for.
        seek: Seek,
        /// What is wrong with that.
        what: &'static str,
    },
    /// A source cannot go elsewhere.
    #[error("{element} cannot go to {seek}: it is a source that knows no seeking")]
    CannotSeek {
        /// Its name.
        element: String,
        /// What was asked for.
        seek: Seek,
    },
    /// An element that was asked to go to two places.
    #[error("{element} would have to go to two places at once")]
    TwoPlaces {
        /// Its name.
        element: String,
    },
    /// What an element answered.
    #[error("{element} cannot go to {seek}: {error}")]
    Refused {
        /// Its name.
        element: String,
        /// What was asked of it.
        seek: Seek,
        /// Why.
        error: ElementError,
    },
    /// Who would have to go elsewhere for it is not there any more.
    #[error("{element} cannot go to {seek}: nothing feeds it")]
    Unfed {
        /// Its name.
        element: String,
        /// What was asked of it.
        seek: Seek,
    },
    /// No source is left that leads to a sink.
    #[error("cannot go to {seek}: no source is linked to any sink")]
    NoSource {
        /// What was asked for.
        seek: Seek,
    },
    /// Nothing is under way that the new part could follow.
    #[error("{element} is at its end: nothing follows it without a flush")]
    Ended {
        /// Its name.
        element: String,
    },
}

impl From<SeekError> for ElementError {
    fn from(error: SeekError) -> ElementError {
        ElementError::new(Domain::Flow, Code::Refused, error)
    }
}

/// Who goes where.
pub struct SeekPlan {
    parts: Vec<(u32, Seek, Segment)>,
    /// Those for whom others upstream go elsewhere.
    through: Vec<u32>,
}

/// Asks all who are concerned; nothing is done yet.
///
/// # Errors
/// [`SeekError`], and the element that it is about.
pub fn plan(
    p: &PipelineFabric,
    works: &PipelineWorks,
    seek: &Seek,
) -> Result<SeekPlan, (Option<ElementId>, SeekError)> {
    let range = |what| SeekError::Range { seek: *seek, what };
    if seek.start < 0 {
        return Err((None, range("it lies before the start")));
    }
    if seek.stop.is_some_and(|stop| stop < seek.start) {
        return Err((None, range("it would end before it starts")));
    }
    let mut parts: Vec<(u32, Seek, Segment)> = Vec::new();
    let mut through = Vec::new();
    let mut asked: Vec<Option<Seek>> = vec![None; p.lanes.len()];
    let sinks = p.sinks.iter();
    let mut open: Vec<(u32, Seek, Option<u32>)> = sinks.map(|&s| (s, *seek, None)).collect();
    while let Some((lane, seek, for_whom)) = open.pop() {
        let (Some(l), Some(slot)) = (p.lanes.get(lane as usize), works.slots.get(lane as usize))
        else {
            continue;
        };
        // Where nothing is linked nobody goes anywhere.
        if l.plug {
            let asks = for_whom.and_then(|lane| works.slots.get(lane as usize));
            if let (Some(slot), Some(lane)) = (asks, for_whom) {
                let element = slot.name.to_string();
                let of = p.lanes[lane as usize].element;
                return Err((Some(of), SeekError::Unfed { element, seek }));
            }
            continue;
        }
        let element = || slot.name.to_string();
        let bad = |error| Err((Some(l.element), error));
        match asked[lane as usize].replace(seek) {
            Some(before) if before == seek => continue,
            Some(_) => return bad(SeekError::TwoPlaces { element: element() }),
            None => {}
        }
        let mut for_whom = for_whom;
        let upstream = match slot.work.plan_seek(&seek) {
            Err(error) => {
                let element = element();
                return bad(SeekError::Refused {
                    element,
                    seek,
                    error,
                });
            }
            Ok(Seeking::Pass) if l.inputs.is_empty() => {
                let element = element();
                return bad(SeekError::CannotSeek { element, seek });
            }
            Ok(Seeking::Pass) => Some(seek),
            Ok(Seeking::Here(segment)) => {
                parts.push((lane, seek, segment));
                None
            }
            Ok(Seeking::Through(upstream, segment)) => {
                parts.push((lane, seek, segment));
                through.push(lane);
                for_whom = Some(lane);
                Some(upstream)
            }
        };
        // What feeds a parser that goes elsewhere is discarded in any case.
        if !seek.flush && seek.format != SeekFormat::Bytes && l.outputs.iter().any(|o| o.eos) {
            return bad(SeekError::Ended { element: element() });
        }
        if let Some(seek) = upstream {
            open.extend(l.inputs.iter().map(|i| (i.from.0.0, seek, for_whom)));
        }
    }
    if parts.is_empty() && !p.sinks.is_empty() {
        return Err((None, SeekError::NoSource { seek: *seek }));
    }
    parts.sort_by_key(|part| part.0);
    Ok(SeekPlan { parts, through })
}

/// Does what was planned.
pub(crate) fn apply(p: &mut PipelineFabric, works: &mut PipelineWorks, plan: SeekPlan) {
    let flush = plan.parts.iter().any(|part| part.1.flush);
    if flush {
        let origins: Vec<Origin> = plan.parts.iter().map(|s| Origin::Element(s.0)).collect();
        discard(p, works, &origins);
        p.base_time = p.now;
    } else if !plan.through.is_empty() {
        let upstream = plan.parts.iter().map(|part| part.0);
        let upstream = upstream.filter(|lane| !plan.through.contains(lane));
        let origins: Vec<Origin> = upstream.map(Origin::Element).collect();
        discard_until(p, works, &origins, &plan.through);
    }
    for (lane, seek, segment) in plan.parts {
        let Some(slot) = works.slots.get_mut(lane as usize) else {
            continue;
        };
        let before = slot.work.position();
        slot.work.seek(&seek);
        // Bytes have no time.
        if seek.format == SeekFormat::Bytes {
            continue;
        }
        let outputs = p.lanes[lane as usize].outputs.len();
        for pad in 0..outputs {
            let base = match flush {
                true => 0,
                false => played(p, lane, pad, before, &segment),
            };
            inject(p, lane, pad, Event::Segment(Segment { base, ..segment }));
        }
        p.touch(lane);
    }
}

/// The running time that was emitted on a source pad, in the unit of a segment.
fn played(
    p: &PipelineFabric,
    lane: u32,
    pad: usize,
    position: Option<(i64, tickpipe_components::time::TimeBase)>,
    next: &Segment,
) -> i64 {
    use tickpipe_components::time::Rounding;
    let signals = p.lanes[lane as usize].signals.as_ref();
    let segment = signals.map(|s| s.output(pad));
    let played = position.and_then(|(at, base)| {
        // The default segment has no unit of its own.
        let Some(segment) = segment.filter(|s| *s != Segment::default()) else {
            return base.convert(at, next.time_base, Rounding::Up);
        };
        let at = base.convert(at, segment.time_base, Rounding::Up)?;
        let running = segment.to_running_any(at)?;
        segment
            .time_base
            .convert(running, next.time_base, Rounding::Up)
    });
    played.unwrap_or_default()
}

/// Puts an event behind all that was emitted on a source pad.
pub(crate) fn inject(p: &mut PipelineFabric, lane: u32, pad: usize, event: Event) {
    let l = &mut p.lanes[lane as usize];
    let Some(output) = l.outputs.get(pad).filter(|o| !o.eos) else {
        return;
    };
    let (to, at) = output.to;
    if let Event::Segment(segment) = event {
        l.signals_mut().set_output(pad, segment);
    }
    let receiver = &mut p.lanes[to.index()];
    if receiver.done {
        return;
    }
    let item = tickpipe_components::fabric::Item::event(p.events.insert(event));
    receiver.inputs[at as usize].queue.push(item);
    receiver.marked += 1;
    p.touch(to.0);
}
