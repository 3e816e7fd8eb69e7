//! What can be wrong with an AVI stream, and what is merely odd. Text is made when shown.

use crate::cut::FourCc;
use crate::wav::{WavError, WavWarning};
use crate::y4m::Found;

use super::header::MAX_STREAMS;
use super::split::MAX_DEPTH;

/// Why an AVI stream cannot be read. Offsets are from its start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AviError {
    /// There is not one byte.
    #[error("empty: no AVI header")]
    Empty,
    /// It begins with something else.
    #[error("not an AVI file: expected RIFF at byte 0, found {found}")]
    NotRiff {
        /// The first bytes, up to and including the first wrong one.
        found: Found,
    },
    /// A RIFF file of another kind.
    #[error("not an AVI file: expected \"AVI \" at byte 8, found {found}")]
    NotAvi {
        /// The kind.
        found: FourCc,
    },
    /// Something that is no chunk stands in the header.
    #[error("byte {offset}: expected a chunk, found {found}")]
    NoChunk {
        /// Where.
        offset: u64,
        /// What stands there in the place of an id.
        found: FourCc,
    },
    /// Frames begin and no stream was described.
    #[error("byte {offset}: movi begins and there was no stream before")]
    NoStreams {
        /// Where the list begins.
        offset: u64,
    },
    /// The stream ends and there were no frames.
    #[error("byte {offset}: the file ends without a movi list")]
    NoMovie {
        /// Where it ends.
        offset: u64,
    },
    /// The stream ends within a list, behind one of its chunks.
    #[error("truncated: the file ends at byte {offset}, and the list in it goes on to byte {end}")]
    Unfinished {
        /// Where it ends.
        offset: u64,
        /// Where the list would end.
        end: u64,
    },
    /// Lists within lists beyond what can be.
    #[error("byte {offset}: a list within {MAX_DEPTH} others")]
    TooDeep {
        /// Where the list begins.
        offset: u64,
    },
    /// More streams than two digits can number.
    #[error("byte {offset}: a stream beyond the {MAX_STREAMS} that there can be")]
    TooManyStreams {
        /// Where its `strh` begins.
        offset: u64,
    },
}

/// Something odd in a stream that can be read all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AviWarning {
    /// A chunk of the header is too short to say anything.
    #[error("byte {offset}: {id} of {len} bytes, {least} are needed; not looked at")]
    Short {
        /// Where it begins.
        offset: u64,
        /// Its id.
        id: FourCc,
        /// Its size.
        len: u32,
        /// Least size.
        least: u32,
    },
    /// A `strf`, `strn` or `indx` without a stream before it, or the second of its kind.
    #[error("byte {offset}: {id} belongs to no stream, or is its second; not looked at")]
    Stray {
        /// Where it begins.
        offset: u64,
        /// Its id.
        id: FourCc,
    },
    /// Rate or scale of a stream is 0.
    #[error("stream {stream}: rate {rate} and scale {scale} give no times; {}", instead(.taken))]
    NoRate {
        /// The stream.
        stream: u16,
        /// As written.
        rate: u32,
        /// As written.
        scale: u32,
        /// What is taken for it: rate and scale.
        taken: Option<(u32, u32)>,
    },
    /// The format of an audio stream is wrong; its frames are cut all the same.
    #[error("stream {stream}: {problem}")]
    NoAudioFormat {
        /// The stream.
        stream: u16,
        /// What is wrong.
        problem: WavError,
    },
    /// The format of an audio stream is odd.
    #[error("stream {stream}: {oddity}")]
    AudioFormat {
        /// The stream.
        stream: u16,
        /// What is odd.
        oddity: WavWarning,
    },
    /// A frame of a stream that was not described; passed over.
    #[error("byte {offset}: {id} is of stream {stream}, which there is not")]
    NoSuchStream {
        /// Where its chunk begins.
        offset: u64,
        /// The chunk's id.
        id: FourCc,
        /// The stream's number.
        stream: u16,
    },
    /// A chunk ends behind the list that it is in; the chunk counts. Told once a list.
    #[error(
        "byte {offset}: {id} ends behind its list, {end} bytes into the file; the chunk counts"
    )]
    BeyondList {
        /// Where the chunk begins.
        offset: u64,
        /// Its id.
        id: FourCc,
        /// Where the list ends as written.
        end: u64,
    },
    /// A chunk of odd size without its pad byte.
    #[error("byte {offset}: no pad byte behind a chunk of odd size")]
    NotPadded {
        /// Where it should stand.
        offset: u64,
    },
}

fn instead(taken: &Option<(u32, u32)>) -> String {
    taken.map_or_else(
        || "they are unknown".to_owned(),
        |(rate, scale)| format!("taken for {rate} and {scale}"),
    )
}
