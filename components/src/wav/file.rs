//! A WAV file by position: its header, and where each sample stands.

use crate::cut::{Cut, ReadAt, Span, Truncated, WalkError, Walker};

use super::error::{WavError, WavWarning};
use super::format::Format;
use super::split::{Header, Part, Splitter};

/// Bytes of a header that are kept at a time; more than any chunk that is looked at has.
const LIMIT: usize = 256;

/// A WAV file: what its samples are, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WavFile {
    /// What the samples are.
    pub format: Format,
    /// The whole samples that are there.
    pub data: Span,
    /// What is odd.
    pub warnings: Vec<WavWarning>,
}

/// Why a file cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError<WavError>),
    /// It ends before its samples begin.
    #[error(transparent)]
    Truncated(#[from] Truncated),
}

impl WavFile {
    /// Reads the chunks before the samples.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open<R: ReadAt + ?Sized>(source: &R) -> Result<WavFile, OpenError> {
        let mut walker = Walker::new(source, Splitter::new(1), LIMIT, 0);
        let mut warnings = Vec::new();
        let header = loop {
            match walker.next_cut()? {
                Cut::Part { part, .. } => match part {
                    Part::Warning(warning) => warnings.push(warning),
                    Part::Header(header) => break header,
                    _ => {}
                },
                Cut::Rest(rest) => return Err(rest.into()),
                Cut::End => return Err(WalkError::Cut(WavError::Empty.into()).into()),
                Cut::NeedInput | Cut::Frame { .. } | Cut::Junk(_) => {}
            }
        };
        warnings.extend(walker.split().due());
        Ok(WavFile::clamped(header, source.size(), warnings))
    }

    /// The samples that are there, in a file of `size` bytes.
    fn clamped(header: Header, size: u64, mut warnings: Vec<WavWarning>) -> WavFile {
        let Header {
            format,
            data_offset: offset,
            data_len,
        } = header;
        let align = u64::from(format.block_align.max(1));
        let there = size.saturating_sub(offset);
        let have = data_len.map_or(there, |len| len.min(there));
        if let Some(written) = data_len.filter(|len| *len > there) {
            warnings.push(WavWarning::DataCut {
                offset,
                have,
                written,
            });
        }
        let part = have % align;
        if part > 0 {
            warnings.push(WavWarning::PartSample {
                offset: offset + have - part,
                len: part,
                align: format.block_align,
            });
        }
        WavFile {
            format,
            data: Span {
                offset,
                len: have - part,
            },
            warnings,
        }
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.data.len / u64::from(self.format.block_align.max(1))
    }

    /// Where up to `count` samples from sample `first` on stand; without bytes behind the last.
    pub fn block(&self, first: u64, count: u32) -> Span {
        let align = u64::from(self.format.block_align.max(1));
        let first = first.min(self.samples());
        let count = u64::from(count).min(self.samples() - first);
        Span {
            offset: self.data.offset + first * align,
            len: count * align,
        }
    }
}
