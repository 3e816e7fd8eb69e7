//! The hash of what a sink takes: of the visible pixels for raw video, else of all valid bytes.
//!
//! Padding never counts, so equal pictures have equal hashes whatever their strides.

use crate::element::{PadCapsOf, Process};
use tickpipe_components::digest::hash_bytes;
use tickpipe_components::id::BufferId;
use tickpipe_components::video::{Frame, VideoInfo};
use xxhash_rust::xxh3::Xxh3;

/// Hashes frames of one stream.
#[derive(Default)]
pub(crate) struct FrameHasher {
    info: Option<VideoInfo>,
}

impl FrameHasher {
    /// For what arrives on sink pad 0.
    pub(crate) fn new(pads: &PadCapsOf) -> FrameHasher {
        FrameHasher {
            info: pads.sink(0).and_then(|s| VideoInfo::from_structure(s).ok()),
        }
    }

    /// xxh3-64 of the frame in a buffer: rows of each plane in order, without padding.
    pub(crate) fn hash(&self, process: &Process<'_>, buffer: BufferId) -> u64 {
        let bytes = process.bytes(buffer);
        let layout = self.info.as_ref().map(|i| process.picture(buffer, i));
        let frame = layout.as_ref().and_then(|l| Frame::new(l, bytes).ok());
        let Some(frame) = frame else {
            return hash_bytes(bytes);
        };
        let mut hash = Xxh3::new();
        for plane in frame.planes() {
            for row in plane.rows() {
                hash.update(row);
            }
        }
        hash.digest()
    }
}
