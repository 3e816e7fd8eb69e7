//! Source: https://github.com/Netflix/vmaf/pull/1604 , https://github.com/image-rs/y4m/pull/17
//! What went wrong: chroma of odd sizes was rounded down, so bytes were left behind in each frame
//! (38 of 561 at 19x19) and every later frame was misread.
//! Contract: chroma is `ceil` in every format and direction; each frame begins where the file has
//! it; reading and then writing gives the same bytes, whatever the strides in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use tickpipe_components::video::{Frame, FrameMut, Layout};
use tickpipe_components::y4m::{
    ChromaTag, FRAME_LINE, Header, Reader, TooShort, frame_len, write_frame,
};
use y4m_support::{file, read, read_chunked};

/// Tag, width, height, bytes of a frame.
const SIZES: &[(&str, u32, u32, u64)] = &[
    ("mono", 1, 1, 1),
    ("mono", 19, 19, 361),
    ("mono", 67, 35, 2345),
    ("mono", 2, 1, 2),
    ("444", 1, 1, 3),
    ("444", 19, 19, 1083),
    ("444", 67, 35, 7035),
    ("444", 2, 1, 6),
    ("422", 1, 1, 3),
    ("422", 19, 19, 741),
    ("422", 67, 35, 4725),
    ("422", 2, 1, 4),
    ("420", 1, 1, 3),
    ("420", 19, 19, 561),
    ("420", 67, 35, 3569),
    ("420", 2, 1, 4),
    ("420jpeg", 3, 5, 27),
    ("420p10", 1, 1, 6),
    ("420p10", 19, 19, 1122),
    ("420p10", 67, 35, 7138),
    ("420p10", 2, 1, 8),
    ("411", 1, 1, 3),
    ("411", 19, 19, 551),
    ("411", 67, 35, 3535),
    ("411", 2, 1, 4),
    ("440", 19, 19, 741),
    ("440", 2, 1, 6),
    ("444alpha", 19, 19, 1444),
    ("444p16", 3, 3, 54),
    ("mono12", 3, 3, 18),
];

#[test]
fn chroma_is_rounded_up_in_every_format() {
    for &(tag, width, height, bytes) in SIZES {
        let planes = ChromaTag::find(tag.as_bytes())
            .unwrap()
            .planes(width, height);
        assert_eq!(planes.bytes(), bytes, "C{tag} {width}x{height}");
        let header = format!("YUV4MPEG2 W{width} H{height} F25:1 C{tag}\n");
        let (header, _) = Header::parse(header.as_bytes()).unwrap().unwrap();
        assert_eq!(header.planes(), planes);
        if let Ok(info) = header.to_info() {
            assert_eq!(
                info.layout.visible_bytes() as u64,
                bytes,
                "C{tag} {width}x{height}"
            );
        }
    }
}

#[test]
fn three_frames_are_read_and_written_back_at_every_size() {
    for &(tag, width, height, bytes) in SIZES {
        let line = format!("YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag}\n");
        let bytes = bytes as usize;
        let file = file(&line, 3, bytes);
        let header = Header::parse(file.as_slice()).unwrap().unwrap().0;
        for sizes in [&[usize::MAX][..], &[1], &[7, 1, 64]] {
            let got = read_chunked(&file, sizes);
            assert_eq!(got.end, Ok(3), "{line}");
            let starts = [0, 1, 2].map(|n| (line.len() + n * (bytes + 6)) as u64);
            assert_eq!(got.offsets, starts, "{line}");
            let Ok(info) = header.to_info() else {
                continue; // known, but no raw format: the frames were passed over
            };
            let packed = Layout::packed(info.format(), width, height).unwrap();
            let mut written = header.to_bytes();
            for frame in &got.frames {
                let frame = Frame::new(&packed, frame).unwrap();
                let mut out = vec![0; frame_len(FRAME_LINE, &frame)];
                assert_eq!(write_frame(FRAME_LINE, &frame, &mut out), Ok(bytes + 6));
                written.extend_from_slice(&out);
            }
            assert_eq!(written, file, "{line}");
        }
    }
}

/// Padding of any value never reaches the file (the class of
/// https://github.com/raspberrypi/rpicam-apps/issues/151).
#[test]
fn padding_is_never_written() {
    let line = "YUV4MPEG2 W19 H19 F25:1 C420jpeg\n";
    let file = file(line, 1, 561);
    let (header, len) = Header::parse(&file).unwrap().unwrap();
    let format = header.to_info().unwrap().format();
    let mut outputs = Vec::new();
    for (align, padding) in [(1, 0), (4, 0), (4, 0xFF), (64, 0), (64, 0xFF)] {
        let layout = Layout::aligned(format, 19, 19, align).unwrap();
        let mut data = vec![padding; layout.size()];
        let mut reader = Reader::new();
        let (a, _) = reader.next(&file).unwrap();
        let (b, _) = reader.next(&file[a..]).unwrap();
        assert_eq!((a, b), (len, 6));
        let mut frame = FrameMut::new(&layout, &mut data).unwrap();
        assert!(reader.fill(&file[a + b..], &mut frame).unwrap().complete);
        let mut out = vec![0; 567];
        let frame = frame.as_frame();
        assert_eq!(write_frame(FRAME_LINE, &frame, &mut out), Ok(567));
        let short = TooShort {
            need: 567,
            got: 566,
        };
        assert_eq!(write_frame(FRAME_LINE, &frame, &mut out[..566]), Err(short));
        outputs.push(out);
    }
    for out in outputs {
        assert_eq!(out, file[len..]);
    }
}

/// The `y4m` crate reads the same planes from sane files.
#[test]
fn agrees_with_the_y4m_crate() {
    for &(tag, width, height, bytes) in SIZES {
        let line = format!("YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag}\n");
        let file = file(&line, 3, bytes as usize);
        // It takes tags that it does not know for errors; those have no counterpart.
        let Ok(mut oracle) = y4m::decode(file.as_slice()) else {
            assert!(
                ["411", "440", "444alpha", "mono12", "444p16"].contains(&tag),
                "C{tag}"
            );
            continue;
        };
        let got = read(&file);
        for frame in got.frames.iter().filter(|f| !f.is_empty()) {
            let theirs = oracle.read_frame().unwrap();
            let planes = [
                theirs.get_y_plane(),
                theirs.get_u_plane(),
                theirs.get_v_plane(),
            ];
            let theirs = match tag {
                "mono" => planes[0].to_vec(),
                _ => planes.concat(),
            };
            assert_eq!(*frame, theirs, "C{tag} {width}x{height}");
        }
    }
}
