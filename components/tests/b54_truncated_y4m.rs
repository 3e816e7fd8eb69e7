//! Source: crate `y4m` 0.8.0 (https://github.com/image-rs/y4m),
//! https://github.com/fraunhoferhhi/vvenc/issues/129 , https://github.com/pkuvcl/xavs2/issues/15
//! What went wrong: a cut frame was taken for a clean end; elsewhere a clean end for an error.
//! Contract: the end is clean at a frame boundary only; any other cut says what is missing, the
//! frames before it are delivered, and neither cuts, chunks nor arbitrary bytes cause a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod y4m_support;

use proptest::prelude::*;
use tickpipe_components::video::{FrameMut, Layout, VideoFormat};
use tickpipe_components::y4m::{MAX_FRAME_LINE_BYTES, MAX_HEADER_BYTES, ReadError, Reader};
use y4m_support::{file, read, read_chunked};

const HEADER: &str = "YUV4MPEG2 W19 H19 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\n";
const FRAME: usize = 561;

#[test]
fn every_cut_of_the_header() {
    let file = file(HEADER, 10, FRAME);
    assert_eq!(read(&[]).end, Err(ReadError::Empty));
    assert_eq!(ReadError::Empty.to_string(), "empty: no Y4M header");
    for cut in 1..HEADER.len() {
        for sizes in [&[usize::MAX][..], &[1]] {
            let got = read_chunked(&file[..cut], sizes);
            assert_eq!(
                got.end.unwrap_err().to_string(),
                format!("truncated: header, {cut} bytes without end of line")
            );
        }
    }
    assert_eq!(read(&file[..HEADER.len()]).end, Ok(0));
}

#[test]
fn every_cut_of_the_last_frame() {
    let file = file(HEADER, 10, FRAME);
    let last = file.len() - FRAME - 6;
    let whole = read(&file);
    assert_eq!(whole.end, Ok(10));
    for cut in last..file.len() {
        for sizes in [&[usize::MAX][..], &[1], &[100, 3]] {
            let got = read_chunked(&file[..cut], sizes);
            assert_eq!(got.frames, whole.frames[..9]);
            match cut - last {
                0 => assert_eq!(got.end, Ok(9), "a clean end"),
                have @ 1..=5 => assert_eq!(
                    got.end.unwrap_err().to_string(),
                    format!("truncated: frame 9, {have} bytes of its FRAME line at byte {last}")
                ),
                have => {
                    let error = got.end.unwrap_err();
                    assert_eq!(
                        error.to_string(),
                        format!("truncated: frame 9, {} of 561 bytes", have - 6)
                    );
                    let ReadError::Truncated { offset, .. } = error else {
                        panic!("{error:?}");
                    };
                    assert_eq!(offset as usize, last + 6);
                }
            }
        }
    }
}

#[test]
fn the_issue_s_own_numbers() {
    let file = file("YUV4MPEG2 W176 H144 F30000:1001 C420mpeg2\n", 10, 38_016);
    let cut = file.len() - 38_016 + 12_345;
    let got = read(&file[..cut]);
    assert_eq!(got.frames.len(), 9);
    let text = got.end.unwrap_err().to_string();
    assert_eq!(text, "truncated: frame 9, 12345 of 38016 bytes");
}

#[test]
fn frame_lines_with_parameters_are_cut_and_limited_too() {
    let line = b"FRAME I1pp Xsome=thing Q\r\n";
    let mut file = b"YUV4MPEG2 W2 H2 Cmono Im\n".to_vec();
    let start = file.len();
    for _ in 0..2 {
        file.extend_from_slice(line);
        file.extend_from_slice(b"\x10\x20\x30\x40");
    }
    assert_eq!(read_chunked(&file, &[1]), read(&file));
    assert_eq!(read(&file).end, Ok(2));
    for have in 1..line.len() {
        assert_eq!(
            read(&file[..start + have]).end,
            Err(ReadError::FrameLineTruncated {
                frame: 0,
                have: have as u64,
                offset: start as u64
            })
        );
    }
    // The longest line allowed, and one more byte.
    for (comment, ok) in [(0, true), (1, false)] {
        let mut file = b"YUV4MPEG2 W1 H1 Cmono\nFRAME X".to_vec();
        file.resize(22 + MAX_FRAME_LINE_BYTES - 1 + comment, b'x');
        file.extend_from_slice(b"\n\x80");
        for sizes in [&[usize::MAX][..], &[1]] {
            let got = read_chunked(&file, sizes).end;
            if ok {
                assert_eq!(got, Ok(1));
            } else {
                let text = got.unwrap_err().to_string();
                assert_eq!(
                    text,
                    "frame 0: FRAME line at byte 22 is longer than 4096 bytes"
                );
            }
        }
    }
}

#[test]
fn a_header_has_a_limit_that_is_reached_incrementally() {
    for (extra, ok) in [(0, true), (1, false)] {
        let mut file = b"YUV4MPEG2 W1 H1 Cmono X".to_vec();
        file.resize(MAX_HEADER_BYTES - 1 + extra, b'x');
        file.extend_from_slice(b"\nFRAME\n\x80");
        for sizes in [&[usize::MAX][..], &[1], &[4096]] {
            let got = read_chunked(&file, sizes).end;
            if ok {
                assert_eq!(got, Ok(1));
            } else {
                assert_eq!(
                    got.unwrap_err().to_string(),
                    "Y4M header, byte 65536: no end of line within 65536 bytes"
                );
            }
        }
    }
}

#[test]
fn a_caller_s_mistakes_use_no_input_and_can_be_mended() {
    let file = file("YUV4MPEG2 W5 H3 Cmono\n", 1, 15);
    let mut reader = Reader::new();
    let none = Err(ReadError::NotInPayload { offset: 0 });
    assert_eq!(reader.skip(&file), none);
    let (header, _) = reader.next(&file).unwrap();
    let (line, _) = reader.next(&file[header..]).unwrap();
    let rest = &file[header + line..];
    let frame = |format, w, h| Layout::packed(format, w, h).unwrap();
    for wrong in [
        frame(VideoFormat::Gray8, 5, 4),
        frame(VideoFormat::Gray8, 15, 1),
        frame(VideoFormat::I420, 5, 3),
    ] {
        let mut data = vec![0; wrong.size()];
        let mut target = FrameMut::new(&wrong, &mut data).unwrap();
        let text = reader.fill(rest, &mut target).unwrap_err().to_string();
        let name = format!("{} {}x{}", wrong.format(), wrong.width(), wrong.height());
        assert_eq!(
            text,
            format!("frame 0: its buffer is {name}, which does not have the planes of Cmono 5x3")
        );
        assert!(data.iter().all(|b| *b == 0));
    }
    let right = frame(VideoFormat::Gray8, 5, 3);
    let mut data = vec![0; right.size()];
    let mut target = FrameMut::new(&right, &mut data).unwrap();
    assert!(reader.fill(rest, &mut target).unwrap().complete);
    assert_eq!(data, rest);
    assert_eq!(reader.end(), Ok(1));
}

proptest! {
    /// However a file is cut into chunks, good, cut off or damaged: same frames, same end.
    #[test]
    fn chunking_never_matters(
        sizes in prop::collection::vec(1usize..700, 1..20),
        frames in 0usize..4,
        cut in 0usize..2500,
        damage in prop::option::of((0usize..2500, any::<u8>())),
        said in prop::sample::select(vec!["420jpeg", "mono", "422", "411", "420p10"]),
    ) {
        let header = format!("YUV4MPEG2 W19 H19 F25:1 C{said}\n");
        let mut file = file(&header, frames, FRAME);
        if let Some((at, value)) = damage && let Some(byte) = file.get_mut(at) {
            *byte = value;
        }
        file.truncate(cut);
        let whole = read(&file);
        prop_assert_eq!(&read_chunked(&file, &sizes), &whole);
        prop_assert_eq!(&read_chunked(&file, &[1]), &whole);
    }

    /// Arbitrary bytes, and arbitrary bytes after a good beginning, end in a value.
    #[test]
    fn no_bytes_cause_a_panic(
        beginning in prop::sample::select(vec![
            "", "YUV4MPEG2", "YUV4MPEG2 ", "YUV4MPEG2 W2 H2", "YUV4MPEG2 W2 H2 \n",
            "YUV4MPEG2 W2 H2 Cmono\nFRAME", "YUV4MPEG2 W2 H1 C444p16\nFRAME\n",
        ]),
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b" \r\n:=0129WHFIACXmpFRAME?".to_vec())],
            0..200,
        ),
    ) {
        let mut file = beginning.as_bytes().to_vec();
        file.extend_from_slice(&bytes);
        let whole = read(&file);
        prop_assert_eq!(read_chunked(&file, &[1]), whole);
    }
}
