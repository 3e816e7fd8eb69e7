//! `hstack`, `vstack`, `xstack`: pictures side by side, one above the other, or as a layout says.
//!
//! A set is made at each new frame of any input; the others show their last one (FFmpeg: sync level 1
//! each, before `stop`, after `infinity`, or `stop` with `shortest`). All have one pixel format. Where
//! chroma is halved, a picture's chroma begins at its column and row, halved and rounded up, as in FFmpeg;
//! of two pictures that meet in one sample the later input's counts.
//!
//! `tickpipe launch 'videotestsrc num-buffers=3 ! hstack name=h ! fakesink videotestsrc num-buffers=3 pattern=ball ! h.'`

pub mod colour;
pub mod layout;

use crate::element::{
    Buffers, Element, Flow, PadAt, PadCapsOf, PadTemplate, Process, Property, SyncSettings,
    Synchronises, Transformed, Work, each_set, shortest, strict,
};
use crate::elements::raw_video::{FORMATS, frame_of, frame_pool, raw_video_caps, stream_info};
use bevy_ecs::component::Component;
use colour::Fill;
use core::marker::PhantomData;
use layout::{PlaceError, Placed, Size, Written};
use thiserror::Error;
use tickpipe_components::caps::{Caps, Fraction, Structure, ValueSet};
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::Latency;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{FormError, PropertyKind, PropertyValue, TextForm};
use tickpipe_components::sync::SyncTerms;
use tickpipe_components::video::{Frame, FrameMut, MAX_DIMENSION, VideoFormat, VideoInfo};

/// What tells the three apart.
pub trait Kind: Send + Sync + Default + Clone + 'static {
    /// The element's name.
    const NAME: &'static str;
    /// What it does.
    const SUMMARY: &'static str;
    /// The fields that all inputs share besides the format.
    const SHARED: &'static [&'static str];
    /// Whether `layout`, `grid` and `fill` say where pictures stand and what is between them.
    const FREE: bool = false;

    /// Where pictures stand.
    ///
    /// # Errors
    /// [`PlaceError`].
    fn place(stack: &Stack<Self>, sizes: &[Size]) -> Result<Placed, PlaceError>;
}

/// Settings of a stack.
#[derive(Component, Clone, Debug, Default)]
pub struct Stack<K: Kind> {
    /// How many inputs it must have; 0 for as many as are linked.
    inputs: u32,
    layout: Written,
    layout_text: String,
    grid: Option<(u32, u32)>,
    fill: Fill,
    sync: SyncSettings,
    kind: PhantomData<K>,
}

/// Side by side.
#[derive(Clone, Debug, Default)]
pub struct Row;
/// One above the other.
#[derive(Clone, Debug, Default)]
pub struct Column;
/// As a layout says.
#[derive(Clone, Debug, Default)]
pub struct Free;

/// `hstack`.
pub type HStack = Stack<Row>;
/// `vstack`.
pub type VStack = Stack<Column>;
/// `xstack`.
pub type XStack = Stack<Free>;

impl Kind for Row {
    const NAME: &'static str = "hstack";
    const SUMMARY: &'static str = "Puts pictures of one height side by side";
    const SHARED: &'static [&'static str] = &["height"];

    fn place(_: &Stack<Self>, sizes: &[Size]) -> Result<Placed, PlaceError> {
        layout::in_a_row(sizes, MAX_DIMENSION)
    }
}

impl Kind for Column {
    const NAME: &'static str = "vstack";
    const SUMMARY: &'static str = "Puts pictures of one width one above the other";
    const SHARED: &'static [&'static str] = &["width"];

    fn place(_: &Stack<Self>, sizes: &[Size]) -> Result<Placed, PlaceError> {
        layout::in_a_column(sizes, MAX_DIMENSION)
    }
}

impl Kind for Free {
    const NAME: &'static str = "xstack";
    const SUMMARY: &'static str = "Puts pictures where a layout says";
    const SHARED: &'static [&'static str] = &[];
    const FREE: bool = true;

    fn place(stack: &Stack<Self>, sizes: &[Size]) -> Result<Placed, PlaceError> {
        match stack.grid {
            _ if !stack.layout.is_empty() => stack.layout.place(sizes, MAX_DIMENSION),
            Some(grid) => layout::in_a_grid(grid, sizes, MAX_DIMENSION),
            None if sizes.len() <= 2 => layout::in_a_row_of_any(sizes, MAX_DIMENSION),
            None => Err(PlaceError::NoLayout {
                inputs: sizes.len(),
            }),
        }
    }
}

impl<K: Kind> Synchronises for Stack<K> {
    fn sync(&self) -> &SyncSettings {
        &self.sync
    }

    fn sync_mut(&mut self) -> &mut SyncSettings {
        &mut self.sync
    }
}

/// Why a stack refuses what was agreed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Wrong {
    #[error("{linked} inputs are linked, and inputs={wanted}")]
    Inputs { linked: usize, wanted: u32 },
    #[error("{0}")]
    Place(#[from] PlaceError),
    #[error("the pictures together are {made}, and downstream wants {wanted}")]
    Size { made: Size, wanted: Size },
}

impl From<Wrong> for ElementError {
    fn from(wrong: Wrong) -> ElementError {
        ElementError::new(Domain::Caps, Code::Refused, wrong)
    }
}

fn formats() -> Caps {
    let packed = |f: &VideoFormat| matches!(f, VideoFormat::Yuy2 | VideoFormat::Uyvy);
    let formats: Vec<_> = FORMATS.iter().copied().filter(|f| !packed(f)).collect();
    raw_video_caps(&formats)
}

fn size_of(caps: &Structure) -> Option<Size> {
    let side = |name: &str| u32::try_from(caps.int(name)?).ok();
    Some(Size {
        width: side("width")?,
        height: side("height")?,
    })
}

/// Reads `2x3`; empty for none.
fn grid(text: &str) -> Result<Option<(u32, u32)>, FormError> {
    let number = |digits: &str| {
        digits
            .parse::<u32>()
            .ok()
            .filter(|n| (1..=layout::MAX_INPUTS as u32).contains(n))
    };
    let read = text
        .split_once('x')
        .and_then(|(c, r)| Some((number(c)?, number(r)?)));
    match (text, read) {
        ("", _) => Ok(None),
        (_, Some(grid)) => Ok(Some(grid)),
        _ => Err(FormError {
            offset: 0,
            problem: format!(
                "{text:?}: expected COLUMNSxROWS, each from 1 to {}",
                layout::MAX_INPUTS
            ),
        }),
    }
}

const LAYOUT: PropertyKind = PropertyKind::Form(TextForm {
    example: "0_0|w0_0",
    check: |text| match Written::parse(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(FormError {
            offset: error.offset,
            problem: error.problem,
        }),
    },
});
const GRID: PropertyKind = PropertyKind::Form(TextForm {
    example: "2x2",
    check: |text| grid(text).map(drop),
});
const FILL: PropertyKind = PropertyKind::Form(TextForm {
    example: "none, black, 0x102030",
    check: |text| Fill::parse(text).map(drop),
});

impl<K: Kind> Element for Stack<K> {
    const NAME: &'static str = K::NAME;
    const SUMMARY: &'static str = K::SUMMARY;
    const KLASS: &'static str = "Filter/Editor/Video/Compositor";
    const FLOW: Flow = Flow::Sets;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink_%u", formats()).on_request(),
            PadTemplate::source("src", formats()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut own: Vec<Property<Self>> = vec![
            crate::field!(
                Int(0, layout::MAX_INPUTS as i64),
                "inputs",
                "How many inputs must be linked; 0 for any number",
                inputs
            ),
            shortest(),
            strict(),
        ];
        if K::FREE {
            own.push(Property::new(
                "layout",
                "Column and row of each input, as sums of numbers and of widths and heights of inputs; empty for grid, or two side by side",
                LAYOUT,
                |s| PropertyValue::Text(s.layout_text.clone()),
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(layout) = Written::parse(&v)
                    {
                        (s.layout, s.layout_text) = (layout, v);
                    }
                },
            ));
            own.push(Property::new(
                "grid",
                "Columns and rows of equal pictures",
                GRID,
                |s| PropertyValue::Text(s.grid.map_or(String::new(), |(c, r)| format!("{c}x{r}"))),
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(grid) = grid(&v)
                    {
                        s.grid = grid;
                    }
                },
            ));
            own.push(Property::new(
                "fill",
                "Colour where no picture stands: a name, 0xRRGGBB, or none, which is black",
                FILL,
                |s| PropertyValue::Text(s.fill.to_string()),
                |s, v| {
                    if let PropertyValue::Text(v) = v
                        && let Ok(fill) = Fill::parse(&v)
                    {
                        s.fill = fill;
                    }
                },
            ));
        }
        own
    }

    fn sync_terms(&self, inputs: usize) -> SyncTerms {
        self.sync.equal(inputs)
    }

    fn transform_caps(
        &self,
        _from: PadAt,
        to: PadAt,
        caps: &Structure,
        index: u32,
    ) -> Option<Transformed> {
        if index > 0 {
            return None;
        }
        if to.is_sink() {
            let shared = |name: &str| name == "format" || K::SHARED.contains(&name);
            let mut kept = caps.clone();
            kept.retain(|name, _| shared(name));
            let tied: Vec<&str> = core::iter::once("format")
                .chain(K::SHARED.iter().copied())
                .collect();
            return Some(Transformed::tying(kept, &tied));
        }
        let free: Vec<&str> = ["width", "height", "framerate"]
            .into_iter()
            .filter(|name| !K::SHARED.contains(name))
            .collect();
        let mut made = caps.clone();
        made.retain(|name, _| !free.contains(&name));
        Some(Transformed::converting(made, &free).at_cost(0))
    }

    fn fixate_set(&self, caps: &Structure, inputs: &[Option<&Structure>]) -> Structure {
        let first = inputs.first().copied().flatten();
        let mut made = caps.clone();
        let sizes: Option<Vec<Size>> = inputs.iter().map(|i| i.and_then(size_of)).collect();
        let placed = sizes.and_then(|sizes| K::place(self, &sizes).ok());
        if let Some(Placed { size, .. }) = placed {
            // A number that fits caps; if it is not allowed, what is agreed is refused with both.
            let _ = made.set("width", ValueSet::int(size.width.into()));
            let _ = made.set("height", ValueSet::int(size.height.into()));
        }
        let rates: Vec<Option<Fraction>> = inputs
            .iter()
            .map(|i| i.and_then(|i| i.fraction("framerate")))
            .collect();
        let same = rates
            .first()
            .copied()
            .flatten()
            .filter(|r| rates.iter().all(|o| *o == Some(*r)));
        if let Some(rate) = same.or(Fraction::new(0, 1)) {
            let _ = made.set("framerate", rate);
        }
        crate::element::keep_values(&made, first)
    }

    fn accept_caps(&self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let (_, placed) = self.placed(pads)?;
        let out = stream_info(pads.source(0))?;
        let wanted = Size {
            width: out.width(),
            height: out.height(),
        };
        match wanted == placed.size {
            true => Ok(()),
            false => Err(Wrong::Size {
                made: placed.size,
                wanted,
            }
            .into()),
        }
    }

    fn decide_pool(
        &self,
        pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        frame_pool(pads.source(0), downstream).map(Buffers::Own)
    }

    /// The frame that is shown, the next, and one that a set still shows.
    fn retains(&self, _pad: PadAt) -> u32 {
        3
    }

    fn latency(&self, pads: &PadCapsOf) -> Latency {
        Latency::of(pads.longest_frame(0..pads.sinks.len()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Stacking {
            stack: self.clone(),
            inputs: Vec::new(),
            placed: None,
            out: None,
            gaps: false,
            sets: 0,
        }))
    }
}

impl<K: Kind> Stack<K> {
    fn placed(&self, pads: &PadCapsOf) -> Result<(Vec<VideoInfo>, Placed), ElementError> {
        let linked = pads.sinks.len();
        if self.inputs > 0 && linked != self.inputs as usize {
            let wanted = self.inputs;
            return Err(Wrong::Inputs { linked, wanted }.into());
        }
        let infos: Vec<VideoInfo> = (0..linked)
            .map(|k| stream_info(pads.sink(k)))
            .collect::<Result<_, _>>()?;
        let size = |i: &VideoInfo| Size {
            width: i.width(),
            height: i.height(),
        };
        let sizes: Vec<Size> = infos.iter().map(size).collect();
        let placed = K::place(self, &sizes).map_err(Wrong::Place)?;
        Ok((infos, placed))
    }
}

struct Stacking<K: Kind> {
    stack: Stack<K>,
    inputs: Vec<VideoInfo>,
    placed: Option<Placed>,
    out: Option<VideoInfo>,
    /// Some pixels may be of no picture.
    gaps: bool,
    sets: u64,
}

impl<K: Kind> Work for Stacking<K> {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let (inputs, placed) = self.stack.placed(pads)?;
        let area = |size: Size| u64::from(size.width) * u64::from(size.height);
        let covered = inputs
            .iter()
            .map(|i| u64::from(i.width()) * u64::from(i.height()));
        // Pictures that overlap leave more open than their sum says: `layout` is looked at as having gaps.
        self.gaps =
            K::FREE && (self.stack.grid.is_none() || covered.sum::<u64>() < area(placed.size));
        (self.inputs, self.placed) = (inputs, Some(placed));
        self.out = Some(stream_info(pads.source(0))?);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let (Some(placed), Some(out_info)) = (&self.placed, &self.out) else {
            return Ok(());
        };
        let (inputs, gaps, fill) = (&self.inputs, self.gaps, self.stack.fill);
        each_set(process, &mut self.sets, |process, set, stamp| {
            let Some(mut out) = process.acquire() else {
                let frames = set.frames.iter().flatten();
                frames.for_each(|&buffer| process.drop_buffer(buffer));
                return Ok(());
            };
            let written = process.picture(out.buffer, out_info);
            let first = set.frame(0).map(|f| *process.meta(f)).unwrap_or_default();
            let made = (|| {
                let space = out.memory.as_mut_slice();
                let mut picture = FrameMut::new(&written, space)
                    .map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))?;
                if gaps {
                    fill.paint(&mut picture);
                }
                for ((buffer, info), at) in set.frames.iter().zip(inputs).zip(&placed.at) {
                    let Some(buffer) = *buffer else { continue };
                    let read = process.picture(buffer, info);
                    put(&mut picture, &frame_of(&read, process.bytes(buffer))?, *at);
                }
                Ok(())
            })();
            out.meta = stamp.apply(&first);
            out.meta.len = written.size();
            let frames = set.frames.iter().flatten();
            frames.for_each(|&buffer| process.release(buffer));
            match made {
                Ok(()) => process.push(0, out),
                Err(error) => {
                    process.discard(out);
                    return Err(error);
                }
            }
            Ok(())
        })
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("sets", self.sets);
    }
}

/// Copies a picture to its place in another of the same format; what lies beyond that is left out.
fn put(to: &mut FrameMut<'_>, from: &Frame<'_>, (x, y): (u32, u32)) {
    let format = from.layout().format();
    for (index, plane) in format.info().planes.iter().enumerate() {
        let (Some(from), Some(mut to)) = (from.plane(index), to.plane_mut(index)) else {
            continue;
        };
        let halved = |v: u32, sub: u8| (v as usize).div_ceil(1 << sub);
        let left = halved(x, plane.h_sub) * usize::from(plane.group_bytes);
        let rows = to.rows_mut().skip(halved(y, plane.v_sub));
        for (out, row) in rows.zip(from.rows()) {
            if let Some(out) = out.get_mut(left..) {
                let len = out.len().min(row.len());
                out[..len].copy_from_slice(&row[..len]);
            }
        }
    }
}
