//! What can be wrong with a WAV header, and what is merely odd. Text is made when shown.

use crate::cut::FourCc;
use crate::y4m::Found;

/// Why a WAV stream cannot be read. Offsets are from its start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WavError {
    /// There is not one byte.
    #[error("empty: no WAV header")]
    Empty,
    /// It begins with something else.
    #[error("not a WAV file: expected RIFF, RF64 or BW64 at byte 0, found {found}")]
    NotRiff {
        /// The first bytes, up to and including the first wrong one.
        found: Found,
    },
    /// A RIFF file of another kind.
    #[error("not a WAV file: expected WAVE at byte 8, found {found}")]
    NotWave {
        /// The kind.
        found: FourCc,
    },
    /// Something that is no chunk stands before the samples.
    #[error("byte {offset}: expected a chunk, found {found}")]
    NoChunk {
        /// Where.
        offset: u64,
        /// What stands there in the place of an id.
        found: FourCc,
    },
    /// `fmt ` has fewer bytes than the least that says something.
    #[error("byte {offset}: fmt of {len} bytes, at least 14 are needed")]
    FormatTooShort {
        /// Where the chunk begins.
        offset: u64,
        /// Its size.
        len: u32,
    },
    /// Number of channels, rate, or size of a sample is 0 or beyond what can be.
    #[error("byte {offset}: {field} must be from 1 to {max}, found {value}")]
    OutOfRange {
        /// Where the field stands.
        offset: u64,
        /// `channels`, `rate`, `block align` or `bits`.
        field: &'static str,
        /// As written.
        value: u32,
        /// Greatest value.
        max: u32,
    },
    /// The samples begin and there was no `fmt `.
    #[error("byte {offset}: data begins and there was no fmt chunk before")]
    NoFormat {
        /// Where `data` begins.
        offset: u64,
    },
    /// The stream ends and there was no `data`.
    #[error("byte {offset}: the file ends without a data chunk")]
    NoData {
        /// Where it ends.
        offset: u64,
    },
}

/// Something odd in a stream that can be read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WavWarning {
    /// The RIFF size is not that of the file; the `data` size counts.
    #[error("byte 4: RIFF size {written}, at least {least} is needed; the data size counts")]
    RiffSize {
        /// As written.
        written: u64,
        /// The least that holds the samples.
        least: u64,
    },
    /// The `data` size is a placeholder; samples go on to the end.
    #[error("byte {offset}: data size {written} says nothing; taken until the end")]
    DataOpen {
        /// Where `data` begins.
        offset: u64,
        /// As written.
        written: u64,
    },
    /// The stream ends before the samples do.
    #[error("data at byte {offset}: {have} of {written} bytes are there")]
    DataCut {
        /// Where the samples begin.
        offset: u64,
        /// Bytes that are there.
        have: u64,
        /// The `data` size.
        written: u64,
    },
    /// The `data` size is no whole number of samples.
    #[error("byte {offset}: {len} bytes at the end of data are no whole sample of {align}")]
    PartSample {
        /// Where the part begins.
        offset: u64,
        /// Its bytes.
        len: u64,
        /// Bytes of a sample of all channels.
        align: u32,
    },
    /// Block align does not fit; what follows from channels and bits counts.
    #[error("byte {offset}: block align {written}, taken for {believed}")]
    BlockAlign {
        /// Where the field stands.
        offset: u64,
        /// As written.
        written: u16,
        /// What counts.
        believed: u32,
    },
    /// Bytes a second do not fit rate and block align, which count.
    #[error("byte {offset}: {written} bytes a second, {believed} follow from rate and block align")]
    ByteRate {
        /// Where the field stands.
        offset: u64,
        /// As written.
        written: u32,
        /// What follows.
        believed: u64,
    },
    /// An extensible format without its extension; read as PCM.
    #[error("byte {offset}: an extensible fmt of {len} bytes, 40 are needed; taken for PCM")]
    NoExtension {
        /// Where `fmt ` begins.
        offset: u64,
        /// Its size.
        len: u32,
    },
    /// A subformat that is not made of a tag; its first two bytes are taken for one.
    #[error("byte {offset}: unknown subformat, its first bytes are taken for tag {tag}")]
    SubFormat {
        /// Where it stands.
        offset: u64,
        /// The tag.
        tag: u16,
    },
    /// The channel mask names another number of speakers than there are channels.
    #[error("byte {offset}: channel mask {mask:#x} does not name {channels} channels")]
    Mask {
        /// Where it stands.
        offset: u64,
        /// As written.
        mask: u32,
        /// Number of channels.
        channels: u16,
    },
    /// A second `fmt ` or `ds64`; the first counts.
    #[error("byte {offset}: a second {id} chunk; the first counts")]
    Repeated {
        /// Where it begins.
        offset: u64,
        /// Which.
        id: FourCc,
    },
    /// A chunk of odd size without its pad byte.
    #[error("byte {offset}: no pad byte behind a chunk of odd size")]
    NotPadded {
        /// Where it should stand.
        offset: u64,
    },
}
