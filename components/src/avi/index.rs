//! The indexes of an AVI file: `idx1`, and OpenDML's `indx` with its `ix##`. What they list, not
//! whether it is so. Reads by position; no I/O of its own.

use crate::cut::{FourCc, ReadAt, ReadFault, Span, read_exact_at, u16_at, u32_at, u64_at};

use super::header::{Header, frame_id};

/// Bytes read at a time: a whole number of entries of any kind.
const BLOCK: u64 = 48 * 1024;
/// Bytes before the entries of an OpenDML index.
const HEAD: u64 = 24;

/// What an index lists: a frame's payload, whose head is the 8 bytes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) stream: u16,
    pub(super) data: Span,
    pub(super) key: bool,
}

/// Why an index does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexFault {
    /// There is none.
    #[error("there is no index")]
    None,
    /// It lists nothing.
    #[error("the index at byte {offset} lists no frame")]
    Empty {
        /// Where its first entry should be.
        offset: u64,
    },
    /// It ends within an entry, or is no index of a kind that is known.
    #[error("the index at byte {offset} makes no sense")]
    Malformed {
        /// Where.
        offset: u64,
    },
    /// An entry lies outside the file, or before the frames.
    #[error("the index lists a frame of {len} bytes at byte {offset}, outside the file's frames")]
    Outside {
        /// Where the frame should stand.
        offset: u64,
        /// Its bytes.
        len: u64,
    },
    /// Two entries share bytes.
    #[error("the index lists two frames that share byte {offset}")]
    Overlap {
        /// Where.
        offset: u64,
    },
    /// There is no such frame where an entry says.
    #[error("the index lists a frame at byte {offset}, and {found} stands before it")]
    NoFrame {
        /// Where the frame should stand.
        offset: u64,
        /// What stands in the place of its id.
        found: FourCc,
    },
    /// A frame stands between those that it lists, or something that cannot be read.
    #[error("the index does not list what stands at byte {offset}")]
    Unlisted {
        /// Where its chunk begins.
        offset: u64,
    },
}

/// A failed reading of an index.
pub(super) enum Failed {
    Fault(IndexFault),
    Read(ReadFault),
    TooMany,
}

impl From<ReadFault> for Failed {
    fn from(fault: ReadFault) -> Failed {
        Failed::Read(fault)
    }
}

impl From<IndexFault> for Failed {
    fn from(fault: IndexFault) -> Failed {
        Failed::Fault(fault)
    }
}

/// Frames listed so far, at most a number.
pub(super) struct Lists<'h> {
    header: &'h Header,
    limit: usize,
    pub(super) listed: Vec<Listed>,
}

impl<'h> Lists<'h> {
    pub(super) const fn new(header: &'h Header, limit: usize) -> Lists<'h> {
        Lists {
            header,
            limit,
            listed: Vec::new(),
        }
    }

    fn add(&mut self, listed: Listed) -> Result<(), Failed> {
        if self.listed.len() >= self.limit {
            return Err(Failed::TooMany);
        }
        self.listed.push(listed);
        Ok(())
    }

    fn stream(&self, id: FourCc) -> Option<u16> {
        let (stream, is_frame) = frame_id(id)?;
        (is_frame && usize::from(stream) < self.header.streams.len()).then_some(stream)
    }

    /// Reads an `idx1` whose body is at `body`; `movie` is the first byte of the `movi` list. Says
    /// whether its offsets count from the file's start.
    pub(super) fn read_idx1<R: ReadAt + ?Sized>(
        &mut self,
        source: &R,
        body: Span,
        movie: u64,
    ) -> Result<bool, Failed> {
        let mut base = None;
        entries(source, body, 16, |source, entry| {
            let Some((id, flags)) = FourCc::at(entry, 0).zip(u32_at(entry, 4)) else {
                return Ok(());
            };
            let Some((offset, len)) = u32_at(entry, 8).zip(u32_at(entry, 12)) else {
                return Ok(());
            };
            // The list flag, for `rec `.
            let Some(stream) = self.stream(id).filter(|_| flags & 1 == 0) else {
                return Ok(());
            };
            // The first entry decides: from `movi`, the kind of its list, or from the file's start.
            let base = match base {
                Some(base) => base,
                None => {
                    let from_movie = movie + 8;
                    let stands = |base: u64| stands_at(source, base + u64::from(offset), id, len);
                    let absolute = !stands(from_movie)? && stands(0)?;
                    *base.insert(if absolute { 0 } else { from_movie })
                }
            };
            self.add(Listed {
                stream,
                data: Span {
                    offset: base + u64::from(offset) + 8,
                    len: u64::from(len),
                },
                key: flags & 0x10 != 0,
            })
        })?;
        match base {
            Some(base) => Ok(base == 0),
            None => Err(IndexFault::Empty {
                offset: body.offset,
            }
            .into()),
        }
    }

    /// Reads the `indx` of all streams; each must have one.
    pub(super) fn read_indx<R: ReadAt + ?Sized>(&mut self, source: &R) -> Result<(), Failed> {
        for (stream, said) in (0u16..).zip(&self.header.streams) {
            let body = said.index.ok_or(IndexFault::None)?;
            self.read_one(source, stream, body, true)?;
        }
        Ok(())
    }

    /// Reads an OpenDML index whose body is at `body`.
    fn read_one<R: ReadAt + ?Sized>(
        &mut self,
        source: &R,
        stream: u16,
        body: Span,
        may_be_super: bool,
    ) -> Result<(), Failed> {
        let malformed = || IndexFault::Malformed {
            offset: body.offset,
        };
        let mut head = [0; HEAD as usize];
        if body.len < HEAD || read_exact_at(source, body.offset, &mut head)? < head.len() {
            return Err(malformed().into());
        }
        let size = 4 * u64::from(u16_at(&head, 0).unwrap_or(0));
        let kind = head.get(3).copied().unwrap_or(u8::MAX);
        let count = u64::from(u32_at(&head, 4).unwrap_or(0));
        let base = u64_at(&head, 12).unwrap_or(0);
        let room = body.len - HEAD;
        let entries_at = Span {
            offset: body.offset + HEAD,
            len: count.saturating_mul(size),
        };
        if size == 0 || entries_at.len > room {
            return Err(malformed().into());
        }
        match kind {
            0 if may_be_super && size == 16 => {
                entries(source, entries_at, size, |source, entry| {
                    let Some((offset, len)) = u64_at(entry, 0).zip(u32_at(entry, 8)) else {
                        return Ok(());
                    };
                    let inner = Span {
                        offset: offset.saturating_add(8),
                        len: u64::from(len).saturating_sub(8),
                    };
                    self.read_one(source, stream, inner, false)
                })
            }
            1 if size >= 8 => entries(source, entries_at, size, |_, entry| {
                let Some((offset, len)) = u32_at(entry, 0).zip(u32_at(entry, 4)) else {
                    return Ok(());
                };
                self.add(Listed {
                    stream,
                    data: Span {
                        offset: base.saturating_add(u64::from(offset)),
                        len: u64::from(len & 0x7FFF_FFFF),
                    },
                    key: len >> 31 == 0,
                })
            }),
            _ => Err(malformed().into()),
        }
    }
}

/// Whether a chunk of this id and size stands at a place.
pub(super) fn stands_at<R: ReadAt + ?Sized>(
    source: &R,
    offset: u64,
    id: FourCc,
    len: u32,
) -> Result<bool, ReadFault> {
    Ok(head_at(source, offset)? == Some((id, len)))
}

/// The head of a chunk; `None` at the file's end.
pub(super) fn head_at<R: ReadAt + ?Sized>(
    source: &R,
    offset: u64,
) -> Result<Option<(FourCc, u32)>, ReadFault> {
    let mut head = [0; 8];
    let got = read_exact_at(source, offset, &mut head)?;
    let head = head.get(..got).unwrap_or(&[]);
    Ok(FourCc::at(head, 0).zip(u32_at(head, 4)))
}

/// Gives each whole entry of `size` bytes to `take`.
fn entries<R: ReadAt + ?Sized>(
    source: &R,
    body: Span,
    size: u64,
    mut take: impl FnMut(&R, &[u8]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut at = body.offset;
    let mut block = Vec::new();
    while at < body.end() {
        let many = (BLOCK / size).max(1) * size;
        let due = many.min(body.end() - at);
        block.resize(due.min(source.size().saturating_sub(at)) as usize, 0);
        let got = read_exact_at(source, at, &mut block)? as u64;
        if got < due {
            return Err(IndexFault::Malformed { offset: at + got }.into());
        }
        for entry in block.chunks_exact(size as usize) {
            take(source, entry)?;
        }
        at += due;
    }
    Ok(())
}
