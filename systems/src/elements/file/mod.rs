//! Elements that read and write files, and the containers of raw video.

mod arriving;
mod audio_caps;
mod avi_caps;
mod avi_frames;
mod avi_playing;
mod avi_raw;
mod avi_seek;
mod avidemux;
mod cutting;
mod errors;
mod filesink;
mod filesrc;
mod heading;
mod ivf_seek;
mod ivfparse;
mod jpegparse;
mod parse_error;
mod parser;
mod parsing;
mod pulling;
mod served;
mod wavparse;
mod y4mdec;
mod y4menc;

pub use avidemux::AviDemux;
pub use filesink::FileSink;
pub use filesrc::FileSrc;
pub use ivfparse::IvfParse;
pub use jpegparse::JpegParse;
pub use wavparse::WavParse;
pub use y4mdec::Y4mDec;
pub use y4menc::Y4mEnc;

use crate::element::{Registry, RegistryError};
use tickpipe_components::caps::Caps;

/// Registers the elements of this folder.
///
/// # Errors
/// [`RegistryError::Taken`] if a name is registered already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.register::<AviDemux>()?;
    registry.register::<FileSink>()?;
    registry.register::<FileSrc>()?;
    registry.register::<IvfParse>()?;
    registry.register::<JpegParse>()?;
    registry.register::<WavParse>()?;
    registry.register::<Y4mDec>()?;
    registry.register::<Y4mEnc>()
}

/// The caps of a Y4M byte stream, as GStreamer writes them.
fn y4m_stream() -> Caps {
    let stream = tickpipe_components::caps::Structure::new("application/x-yuv4mpeg")
        .with("y4mversion", tickpipe_components::caps::ValueSet::int(2));
    Caps::from(stream)
}

/// The raw video that Y4M carries here.
fn y4m_video() -> Caps {
    use tickpipe_components::video::VideoFormat as F;
    crate::elements::raw_video::raw_video_caps(&[F::I420, F::Y42b, F::Y444, F::Gray8, F::I42010Le])
}
