//! `devicesrc` and `devicesink`: stand for two devices that hand frames to one another without their
//! bytes ever being in the program. What goes over the link is a buffer that names memory of the first
//! device; the second opens that by its descriptor.

mod devicesink;
mod devicesrc;
mod memory;

pub use devicesink::DeviceSink;
pub use devicesrc::DeviceSrc;
