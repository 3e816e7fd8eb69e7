//! `devicesink`: stands for a device that shows frames which another device has in its memory: it opens
//! each by its descriptor and never sees bytes in the program's buffers.
//!
//! `tickpipe launch 'devicesrc num-buffers=5 ! devicesink hold=2'`

use crate::element::{Element, Flow, PadAt, PadTemplate, Process, Property, Work};
use bevy_ecs::component::Component;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use thiserror::Error;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::{StateVisitor, hash_bytes};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::graph::Transport;
use tickpipe_components::id::BufferId;
use tickpipe_components::pool::NotExportable;

/// Settings of `devicesink`.
#[derive(Component, Clone, Debug, Default)]
pub struct DeviceSink {
    /// Newest frames that it keeps before it lets the oldest go.
    pub hold: u32,
}

/// The device cannot show a frame.
#[derive(Debug, Error)]
enum NotShown {
    #[error("frame {0} has no descriptor: {1}")]
    NoDescriptor(u64, NotExportable),
    #[error("the device cannot read frame {0}: {1}")]
    Read(u64, io::Error),
}

impl From<NotShown> for ElementError {
    fn from(error: NotShown) -> ElementError {
        let code = match error {
            NotShown::NoDescriptor(..) => Code::Unsupported,
            NotShown::Read(..) => Code::Read,
        };
        ElementError::new(Domain::Resource, code, error)
    }
}

impl Element for DeviceSink {
    const NAME: &'static str = "devicesink";
    const SUMMARY: &'static str = "Stands for a device that shows frames of another device";
    const KLASS: &'static str = "Sink/Device";
    const FLOW: Flow = Flow::Separate;
    const READY_ONLY: &'static [&'static str] = &["hold"];

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any()).over(&[Transport::Device])]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![crate::field!(
            Int(0, 65_536),
            "hold",
            "Newest frames that it keeps before it lets the oldest go",
            hold
        )]
    }

    fn retains(&self, _pad: PadAt) -> u32 {
        self.hold
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Showing {
            hold: self.hold as usize,
            frame: Vec::new(),
        }))
    }
}

struct Showing {
    hold: usize,
    /// What the device read last.
    frame: Vec<u8>,
}

impl Showing {
    /// The device reads a frame where it lies. The hash of it.
    fn scan(&mut self, buffer: BufferId, process: &Process<'_>) -> Result<u64, NotShown> {
        let number = process.meta(buffer).index;
        let descriptor = process.descriptor(buffer);
        let file = File::from(descriptor.map_err(|e| NotShown::NoDescriptor(number, e))?);
        let failed = |error| NotShown::Read(number, error);
        let len = usize::try_from(file.metadata().map_err(failed)?.len());
        self.frame.resize(len.unwrap_or_default(), 0);
        file.read_exact_at(&mut self.frame, 0).map_err(failed)?;
        Ok(hash_bytes(&self.frame))
    }
}

impl Work for Showing {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while let Some(item) = process.next(0) {
            let Some(buffer) = item.as_buffer() else {
                while let Some(kept) = process.take_kept() {
                    process.release(kept);
                }
                process.finish();
                break;
            };
            process.keep(buffer);
            process.show(buffer);
            let hash = self.scan(buffer, process)?;
            if process.recording() {
                let meta = *process.meta(buffer);
                process.record(meta.pts, meta.time_base, hash);
            }
            if process.kept().len() > self.hold
                && let Some(oldest) = process.take_kept()
            {
                process.release(oldest);
            }
        }
        Ok(())
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}
