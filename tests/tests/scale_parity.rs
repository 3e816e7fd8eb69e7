//! Scaling gives the same bytes on every instruction set of `fast_image_resize`.
//!
//! Contract: for every format, method and size, the crate's portable code, SSE4.1 and
//! AVX2 (those that the machine has) write the same frame. The library cannot show
//! this of itself: which code the crate runs is its own choice, and the only way to
//! force it is an unsafe function.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]
#![allow(
    unsafe_code,
    reason = "Resizer::set_cpu_extensions is unsafe; it is called with what the machine has"
)]

use fast_image_resize::{CpuExtensions, Resizer};
use tickpipe_components::video::{Frame, FrameMut, VideoFormat, VideoInfo};
use tickpipe_systems::elements::video::pixels::{Method, Scaler};

/// Every instruction set that the crate has code for and this machine runs.
fn extensions() -> Vec<CpuExtensions> {
    let all = [
        CpuExtensions::None,
        #[cfg(target_arch = "x86_64")]
        CpuExtensions::Sse4_1,
        #[cfg(target_arch = "x86_64")]
        CpuExtensions::Avx2,
        #[cfg(target_arch = "aarch64")]
        CpuExtensions::Neon,
    ];
    all.into_iter()
        .filter(CpuExtensions::is_supported)
        .collect()
}

fn forced(extension: CpuExtensions) -> Resizer {
    assert!(extension.is_supported());
    let mut resizer = Resizer::new();
    // SAFETY: the machine supports the extension, as asserted above.
    unsafe { resizer.set_cpu_extensions(extension) };
    assert_eq!(resizer.cpu_extensions(), extension);
    resizer
}

#[test]
fn every_instruction_set_gives_the_same_bytes() {
    let sizes = [
        ((160, 120), (97, 61)),
        ((160, 120), (201, 149)),
        ((19, 19), (67, 35)),
        ((67, 35), (19, 19)),
        ((33, 1), (1, 33)),
        ((64, 48), (64, 31)),
        ((64, 48), (31, 48)),
        ((321, 243), (320, 240)),
    ];
    let mut compared = 0;
    for format in VideoFormat::ALL {
        for (method, name, _) in Method::ALL {
            for ((w, h), (tw, th)) in sizes {
                let from = VideoInfo::new(format, w, h).unwrap();
                let to = VideoInfo::new(format, tw, th).unwrap();
                let mut state = u64::from(w * 31 + tw);
                let src: Vec<u8> = (0..from.layout.size())
                    .map(|_| {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                        (state >> 56) as u8
                    })
                    .collect();
                let src = Frame::new(&from.layout, &src).unwrap();
                let frames = extensions().into_iter().map(|extension| {
                    let mut dst = vec![0; to.layout.size()];
                    Scaler::with_resizer(&from, &to, method, forced(extension))
                        .unwrap()
                        .run(&src, &mut FrameMut::new(&to.layout, &mut dst).unwrap())
                        .unwrap();
                    (extension, dst)
                });
                let frames: Vec<_> = frames.collect();
                for (extension, frame) in &frames {
                    assert!(
                        *frame == frames[0].1,
                        "{format} {name} {w}x{h} to {tw}x{th}: {extension:?} differs"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, extensions().len() * 16 * 4 * sizes.len());
}
