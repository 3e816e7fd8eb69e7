//! `filesink`: writes all bytes to a file; of raw video the visible rows, packed, without the
//! padding that buffers have (case B50).
//!
//! A file that this graph or another program reads or writes is refused, whatever its name.
//! The file is made when the first buffer, or the end, arrives: a graph that does not start
//! leaves an existing file alone. At the end everything is handed to the system before the end
//! is told.
//!
//! `tickpipe launch 'videotestsrc num-buffers=9 ! y4menc ! filesink location=out.y4m'`

use super::errors::FileError;
use crate::element::{Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work};
use crate::elements::core::FrameHasher;
use bevy_ecs::component::Component;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, Write};
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::fabric::SinkTerms;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;
use tickpipe_components::video::{Frame, VideoInfo};
use tickpipe_components::y4m::payload;

/// Settings of `filesink`.
#[derive(Component, Clone, Debug, Default)]
pub struct FileSink {
    /// The file.
    pub location: String,
    /// Write behind what is there.
    pub append: bool,
    /// How it keeps time.
    pub terms: SinkTerms,
}

impl Element for FileSink {
    const NAME: &'static str = "filesink";
    const SUMMARY: &'static str = "Writes all bytes to a file";
    const KLASS: &'static str = "Sink/File";
    const FLOW: Flow = Flow::Separate;
    const READY_ONLY: &'static [&'static str] = &[
        "location",
        "sync",
        "max-lateness",
        "qos",
        "ts-offset",
        "render-delay",
        "throttle-time",
    ];
    const IGNORED: &'static [&'static str] = &[
        "async",
        "blocksize",
        "buffer-mode",
        "buffer-size",
        "enable-last-sample",
        "max-bitrate",
        "max-transient-error-timeout",
        "name",
        "o-sync",
        "parent",
        "processing-deadline",
    ];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut all: Vec<Property<Self>> = vec![
            crate::field!(Text, "location", "The file to write", location),
            crate::field!(
                Bool,
                "append",
                "Write behind what is in the file instead of replacing it",
                append
            ),
        ];
        all.extend(crate::sink_terms!());
        all
    }

    fn sink_terms(&self) -> SinkTerms {
        self.terms
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        if self.location.is_empty() {
            return Err(FileError::NoLocation.into());
        }
        let path = std::path::Path::new(&self.location);
        if path.is_dir() {
            return Err(FileError::Folder(self.location.clone()).into());
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::metadata(folder)
                .map_err(|error| FileError::io("create", &self.location, error))?;
        }
        Ok(Box::new(Writing {
            location: self.location.clone(),
            append: self.append,
            file: None,
            written: 0,
            stream: None,
            hasher: FrameHasher::default(),
        }))
    }
}

struct Writing {
    location: String,
    append: bool,
    file: Option<BufWriter<File>>,
    written: u64,
    /// What frames look like, where they are raw video.
    stream: Option<VideoInfo>,
    hasher: FrameHasher,
}

impl Writing {
    fn file(&mut self) -> Result<&mut BufWriter<File>, ElementError> {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            // Not truncated yet: it may be what this very graph reads, under any name.
            options.write(true).create(true).append(self.append);
            let create = |error| FileError::io("create", &self.location, error);
            let file = options.open(&self.location).map_err(create)?;
            if file.metadata().map_err(create)?.is_file() {
                if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                    return Err(FileError::InUse(self.location.clone()).into());
                }
                if !self.append {
                    file.set_len(0).map_err(create)?;
                }
            }
            self.file = Some(BufWriter::with_capacity(1 << 16, file));
        }
        self.file
            .as_mut()
            .ok_or_else(|| FileError::NoLocation.into())
    }

    /// Writes a buffer: of raw video the visible rows of each plane, packed.
    fn write_buffer(
        &mut self,
        process: &Process<'_>,
        buffer: BufferId,
    ) -> Result<(), ElementError> {
        let bytes = process.bytes(buffer);
        let Some(stream) = self.stream else {
            return self.write(bytes);
        };
        match Frame::new(&process.picture(buffer, &stream), bytes) {
            Ok(frame) => payload(&frame).try_for_each(|rows| self.write(rows)),
            Err(_) => self.write(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ElementError> {
        let outcome = self.file()?.write_all(bytes);
        self.written += bytes.len() as u64;
        self.checked(outcome)
    }

    fn flush(&mut self) -> Result<(), ElementError> {
        let outcome = self.file()?.flush();
        self.checked(outcome)
    }

    /// After a failure nothing is tried again: what the buffer still holds is given up.
    fn checked(&mut self, outcome: std::io::Result<()>) -> Result<(), ElementError> {
        outcome.map_err(|error| {
            if let Some(file) = self.file.take() {
                drop(file.into_parts());
            }
            FileError::io("write", &self.location, error)
        })
    }
}

impl Work for Writing {
    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        self.stream = pads.sink(0).and_then(|s| VideoInfo::from_structure(s).ok());
        self.hasher = FrameHasher::new(pads);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                self.flush()?;
                process.finish();
                break;
            };
            process.show(buffer);
            let outcome = self.write_buffer(process, buffer);
            if outcome.is_ok() && process.recording() {
                let hash = self.hasher.hash(process, buffer);
                let meta = *process.meta(buffer);
                process.record(meta.pts, meta.time_base, hash);
            }
            process.release(buffer);
            outcome?;
            if process.timed() {
                break;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), ElementError> {
        match self.file {
            Some(_) => self.flush(),
            None => Ok(()),
        }
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("written", self.written);
    }
}
