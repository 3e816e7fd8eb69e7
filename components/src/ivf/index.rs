//! Where the frames of an IVF file lie: made from the frames' heads alone, for seeking and for
//! reading by position.

use crate::cut::{Cut, ReadAt, Span, Truncated, WalkError, Walker};

use super::header::{FRAME_HEAD_BYTES, Header, IvfError, IvfWarning};
use super::split::{Part, Splitter};

/// A frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The payload's bytes; its head stands right before.
    pub data: Span,
    /// Its presentation time in ticks of [`Header::rate`].
    pub pts: u64,
}

/// The frames of a file, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The file's header.
    pub header: Header,
    /// What is odd about it.
    pub warnings: Vec<IvfWarning>,
    /// The whole frames.
    pub frames: Vec<Entry>,
    /// What the file ends within, if it does not end behind a frame.
    pub rest: Option<Truncated>,
}

/// Why there is no index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The file cannot be read.
    #[error(transparent)]
    Walk(#[from] WalkError<IvfError>),
    /// The file ends within its header.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// There are more frames than an index may have.
    #[error("frame {limit} at byte {offset}: an index has at most {limit} frames")]
    TooMany {
        /// Most frames.
        limit: usize,
        /// Where the first one too many begins.
        offset: u64,
    },
}

impl Index {
    /// Reads the heads of all frames, at most `limit`; 12 bytes a frame are read.
    ///
    /// # Errors
    /// [`IndexError`].
    pub fn build<R: ReadAt + ?Sized>(source: &R, limit: usize) -> Result<Index, IndexError> {
        let mut walker = Walker::new(source, Splitter::heads(), usize::from(u16::MAX), 0);
        let (mut warnings, mut frames) = (Vec::new(), Vec::new());
        let rest = loop {
            match walker.next_cut()? {
                Cut::Part { span, part } => match part {
                    Part::Header(_) => {}
                    Part::Warning(warning) => warnings.push(warning),
                    Part::Frame(_) if frames.len() >= limit => {
                        let offset = span.offset;
                        return Err(IndexError::TooMany { limit, offset });
                    }
                    Part::Frame(info) => {
                        let head = FRAME_HEAD_BYTES as u64;
                        frames.push(Entry {
                            data: Span {
                                offset: span.offset + head,
                                len: span.len.saturating_sub(head),
                            },
                            pts: info.pts,
                        });
                    }
                },
                Cut::Rest(rest) => break Some(rest),
                Cut::End => break None,
                Cut::NeedInput | Cut::Frame { .. } | Cut::Junk(_) => {}
            }
        };
        match (walker.split().header(), rest) {
            (Some(header), rest) => Ok(Index {
                header: *header,
                warnings,
                frames,
                rest,
            }),
            (None, Some(rest)) => Err(rest.into()),
            (None, None) => Err(WalkError::Cut(IvfError::Empty.into()).into()),
        }
    }

    /// The last frame whose time is not after `pts`, where times go up; the first one if there is
    /// none.
    pub fn at(&self, pts: u64) -> Option<usize> {
        let after = self.frames.partition_point(|f| f.pts <= pts);
        (!self.frames.is_empty()).then(|| after.saturating_sub(1))
    }
}
