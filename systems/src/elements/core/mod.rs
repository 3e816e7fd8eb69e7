//! Elements that pass buffers on, count them or swallow them, whatever is in them.

mod capsfilter;
mod fakesink;
mod fakesrc;
mod frame_hash;
mod identity;
mod queue;
mod tee;

pub use capsfilter::CapsFilter;
pub use fakesink::FakeSink;
pub use fakesrc::FakeSrc;
pub(crate) use frame_hash::FrameHasher;
pub use identity::Identity;
pub use queue::Queue;
pub use tee::Tee;

use crate::element::{Registry, RegistryError};

/// Registers the elements of this folder.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<CapsFilter>()?;
    registry.register::<FakeSink>()?;
    registry.register::<FakeSrc>()?;
    registry.register::<Identity>()?;
    registry.register::<Queue>()?;
    registry.register::<Tee>()
}
