//! Raw video: test pictures, conversion, scaling, overlay.

mod imagefreeze;
mod overlay;
pub mod pixels;
mod psnr;
mod rating;
mod stack;
mod videoconvert;
mod videorate;
mod videoscale;
mod videotestsrc;

pub use imagefreeze::ImageFreeze;
pub use overlay::Overlay;
pub use psnr::Psnr;
pub use stack::{HStack, Stack, VStack, XStack};
pub use videoconvert::VideoConvert;
pub use videorate::{Choose, VideoRate};
pub use videoscale::VideoScale;
pub use videotestsrc::VideoTestSrc;

use crate::element::{Process, Registry, RegistryError};
use crate::elements::raw_video::frame_of;
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::video::{Frame, FrameMut, VideoInfo};

/// Registers the elements of this folder.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<ImageFreeze>()?;
    registry.register::<Overlay>()?;
    registry.register::<Psnr>()?;
    registry.register::<HStack>()?;
    registry.register::<VStack>()?;
    registry.register::<XStack>()?;
    registry.register::<VideoConvert>()?;
    registry.register::<VideoRate>()?;
    registry.register::<VideoScale>()?;
    registry.register::<VideoTestSrc>()
}

/// Makes one new frame of each frame that arrives, with the same times, by `f`.
fn each_frame(
    process: &mut Process<'_>,
    from: &VideoInfo,
    to: &VideoInfo,
    mut f: impl FnMut(&Frame<'_>, &mut FrameMut<'_>) -> Result<(), ElementError>,
) -> Result<(), ElementError> {
    if process.end_is_next(0) {
        process.finish();
        return Ok(());
    }
    while process.room(0) > 0 && process.granted() > 0 {
        let Some(item) = process.next(0) else { break };
        let Some(buffer) = item.as_buffer() else {
            process.finish();
            break;
        };
        let Some(mut out) = process.acquire() else {
            break;
        };
        let read = process.picture(buffer, from);
        let written = process.picture(out.buffer, to);
        let outcome = frame_of(&read, process.bytes(buffer)).and_then(|src| {
            let mut dst = FrameMut::new(&written, out.memory.as_mut_slice())
                .map_err(|e| ElementError::new(Domain::Pool, Code::Refused, e))?;
            f(&src, &mut dst)
        });
        out.meta = *process.meta(buffer);
        out.meta.len = written.size();
        process.release(buffer);
        match outcome {
            Ok(()) => process.push(0, out),
            Err(error) => {
                process.discard(out);
                return Err(error);
            }
        }
    }
    Ok(())
}
