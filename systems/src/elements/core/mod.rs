//! Elements that pass buffers on, count them or swallow them, whatever is in them.

pub mod app;
mod caps_changes;
mod caps_text;
mod capsfilter;
mod capsmap;
mod capsmap_rows;
mod capssink;
mod capssrc;
mod concat;
mod delay;
mod device;
mod fakesink;
mod fakesrc;
mod frame_hash;
mod framesync_probe;
mod funnel;
mod hold;
mod identity;
mod input_selector;
mod join;
mod output_selector;
mod poolsink;
mod poolsrc;
mod queue;
mod silentsrc;
pub(crate) mod sink_terms;
mod skip;
mod stamps;
mod stamps_text;
mod stampsrc;
mod tee;
mod valve;
mod watch;
mod work;
mod work_time;

pub use caps_changes::{ChangesError, ChangesErrorKind, MAX_CHANGES, parse_changes};
pub use capsfilter::CapsFilter;
pub use capsmap::CapsMap;
pub use capsmap_rows::{MAX_PAIRS, MAX_ROWS, MapError, MapErrorKind, Rows};
pub use capssink::CapsSink;
pub use capssrc::CapsSrc;
pub use concat::Concat;
pub use delay::Delay;
pub use device::{DeviceSink, DeviceSrc};
pub use fakesink::FakeSink;
pub use fakesrc::FakeSrc;
pub(crate) use frame_hash::FrameHasher;
pub use framesync_probe::FramesyncProbe;
pub use funnel::Funnel;
pub use hold::Hold;
pub use identity::Identity;
pub use input_selector::InputSelector;
pub use join::Join;
pub use output_selector::OutputSelector;
pub use poolsink::PoolSink;
pub use poolsrc::PoolSrc;
pub use queue::Queue;
pub use silentsrc::SilentSrc;
pub use skip::Skip;
pub use stamps::Stamps;
#[cfg(feature = "video")]
pub(crate) use stamps::stamp_failure;
pub use stamps_text::{
    Gaps, MAX_ITEMS, Run, StampsTextError, StampsTextErrorKind, gap_before, parse_arrivals,
    parse_stamps,
};
pub use stampsrc::StampSrc;
pub use tee::Tee;
pub use valve::{DropMode, Valve};
pub use watch::Watch;
pub use work::WorkElement;

use crate::element::{Registry, RegistryError};

/// Registers the elements of this folder.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<app::AppSinkElement>()?;
    registry.register::<app::AppSrcElement>()?;
    registry.register::<CapsFilter>()?;
    registry.register::<CapsMap>()?;
    registry.register::<CapsSink>()?;
    registry.register::<CapsSrc>()?;
    registry.register::<Concat>()?;
    registry.register::<Delay>()?;
    registry.register::<DeviceSink>()?;
    registry.register::<DeviceSrc>()?;
    registry.register::<FakeSink>()?;
    registry.register::<FakeSrc>()?;
    registry.register::<FramesyncProbe>()?;
    registry.register::<Funnel>()?;
    registry.register::<Hold>()?;
    registry.register::<Identity>()?;
    registry.register::<InputSelector>()?;
    registry.register::<Join>()?;
    registry.register::<OutputSelector>()?;
    registry.register::<PoolSink>()?;
    registry.register::<PoolSrc>()?;
    registry.register::<Queue>()?;
    registry.register::<SilentSrc>()?;
    registry.register::<Skip>()?;
    registry.register::<StampSrc>()?;
    registry.register::<Stamps>()?;
    registry.register::<Tee>()?;
    registry.register::<Valve>()?;
    registry.register::<Watch>()?;
    registry.register::<WorkElement>()
}
