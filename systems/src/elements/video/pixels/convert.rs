//! Conversion between pixel formats: format, depth, colour matrix, range, chroma
//! subsampling and siting, alpha. Sizes stay. Slices in, slices out.
//!
//! What counts is [`VideoInfo::effective_colorimetry`] and
//! [`VideoInfo::effective_chroma_site`] of both sides. The rules:
//!
//! - Where nothing but the place of samples differs, they are copied.
//! - Else a component is resampled if the subsampling differs
//!   ([`super::chroma`]), goes through the colour matrix ([`super::colour_matrix`]),
//!   and is rounded once. Colour differences of YUV are converted at chroma
//!   resolution; R, G and B are averaged before they become colour differences.
//! - Sitings are used where the subsampling changes; between two formats of equal
//!   subsampling a difference of siting is not converted.
//! - Grey has no matrix of its own against YUV; it gives neutral chroma.
//! - Alpha is straight: carried over, 255 where the source has none, dropped where
//!   the destination has none; colours are not multiplied by it.
//! - Of 10-bit words the upper six bits are ignored, except when samples are copied.
//! - In packed 4:2:2 of odd width the second luma of the last group repeats the
//!   first; on input it is ignored.
//! - Interleaved frames are resampled within fields ([`InterlaceMode::Interleaved`] of
//!   the source); other modes as progressive.

use thiserror::Error;
use tickpipe_components::video::{
    Family, Frame, FrameMut, InterlaceMode, Layout, VideoFormat, VideoInfo,
};

use super::colour_matrix::Meaning;
use super::cpu::Cpu;
use super::repack::Repack;
use stages::{Shape, Stages};

pub(super) mod source;
pub(super) mod stages;
mod store;
mod window;

/// Why a conversion cannot be made or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConvertError {
    /// The two sides differ in size; scaling is another element's work.
    #[error("cannot convert {}x{} to {}x{} pixels: conversion keeps the size",
        .from.0, .from.1, .to.0, .to.1)]
    Size {
        /// Width and height of the source.
        from: (u32, u32),
        /// Width and height of the destination.
        to: (u32, u32),
    },
    /// A frame is not of the format and size that the converter was made for.
    #[error("a {} {}x{} frame was given to a converter made for {} {}x{}",
        .got.0, .got.1, .got.2, .made_for.0, .made_for.1, .made_for.2)]
    Frame {
        /// Format, width and height of the frame.
        got: (VideoFormat, u32, u32),
        /// Format, width and height that were configured.
        made_for: (VideoFormat, u32, u32),
    },
}

/// A conversion between two streams, made once per pair of caps.
///
/// It owns its scratch rows; [`Converter::run`] allocates nothing.
#[derive(Debug)]
pub struct Converter {
    from: (VideoFormat, u32, u32),
    to: (VideoFormat, u32, u32),
    cpu: Cpu,
    plan: Plan,
}

#[derive(Debug)]
enum Plan {
    Repack(Repack),
    Stages(Box<Stages>),
}

impl Converter {
    /// Prepares the conversion from `from` to `to`.
    ///
    /// # Errors
    /// [`ConvertError::Size`] if width or height differ.
    pub fn new(from: &VideoInfo, to: &VideoInfo) -> Result<Converter, ConvertError> {
        Self::with_cpu(from, to, Cpu::detect())
    }

    /// The same for a given instruction set; the result of a run is the same.
    ///
    /// # Errors
    /// [`ConvertError::Size`] if width or height differ.
    pub fn with_cpu(from: &VideoInfo, to: &VideoInfo, cpu: Cpu) -> Result<Converter, ConvertError> {
        let size = |info: &VideoInfo| (info.width(), info.height());
        if size(from) != size(to) {
            return Err(ConvertError::Size {
                from: size(from),
                to: size(to),
            });
        }
        let (a, b) = (meaning(from), meaning(to));
        let plan = match Repack::new(from.format(), to.format()) {
            Some(repack) if same_samples(&a, &b) => Plan::Repack(repack),
            _ => Plan::Stages(Box::new(Stages::new(&shape(from), to, &b))),
        };
        Ok(Converter {
            from: key(&from.layout),
            to: key(&to.layout),
            cpu,
            plan,
        })
    }

    /// Whether a run only copies samples.
    pub fn is_copy(&self) -> bool {
        matches!(self.plan, Plan::Repack(_))
    }

    /// Converts one frame. Strides and offsets may be any; padding is not touched.
    ///
    /// # Errors
    /// [`ConvertError::Frame`] if a frame is not of the format and size configured.
    pub fn run(&mut self, src: &Frame<'_>, dst: &mut FrameMut<'_>) -> Result<(), ConvertError> {
        for (got, made_for) in [(key(src.layout()), self.from), (key(dst.layout()), self.to)] {
            if got != made_for {
                return Err(ConvertError::Frame { got, made_for });
            }
        }
        match &mut self.plan {
            Plan::Repack(repack) => {
                repack.run(self.cpu, src, dst);
                store::repeat_last_luma(dst);
            }
            Plan::Stages(stages) => stages.run(self.cpu, src, dst),
        }
        Ok(())
    }
}

/// What a frame must agree in.
pub(super) fn key(layout: &Layout) -> (VideoFormat, u32, u32) {
    (layout.format(), layout.width(), layout.height())
}

/// What the rows of frames of `info` are.
fn shape(info: &VideoInfo) -> Shape {
    Shape {
        meaning: meaning(info),
        sub: info.format().chroma_subsampling(),
        site: info.effective_chroma_site(),
        fields_apart: info.interlace == InterlaceMode::Interleaved,
    }
}

/// What the samples of frames of `info` mean.
pub(super) fn meaning(info: &VideoInfo) -> Meaning {
    let format = info.format().info();
    Meaning {
        family: format.family,
        bits: format.bits,
        colorimetry: info.effective_colorimetry(),
    }
}

/// Whether samples of one side are samples of the other, where both have them.
fn same_samples(a: &Meaning, b: &Meaning) -> bool {
    let matrices = match (a.family, b.family) {
        (Family::Yuv, Family::Yuv) => a.colorimetry.matrix == b.colorimetry.matrix,
        (Family::Rgb, Family::Rgb) => true,
        (Family::Rgb, _) | (_, Family::Rgb) => false,
        _ => true,
    };
    matrices && a.bits == b.bits && a.colorimetry.range == b.colorimetry.range
}
