//! Contract: a JPEG frame goes from its FF D8 to its own FF D9, whatever the chunks; what is in
//! segments ends nothing; junk is told with its place; a frame without its end is told, and the next
//! one is whole.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_support;

use cut_support::{Outcome, cut_all_ways, edited, edits, sizes};
use proptest::prelude::*;
use tickpipe_components::jpeg::{FrameInfo, Part, Process, Size, Splitter};

/// One frame of FFmpeg 5.1's `mjpeg`, 16 by 16.
const BASE: &[u8] = include_bytes!("data/media/base.jpg");
/// A progressive file of libjpeg (Pillow), 17 by 9.
const PROGRESSIVE: &[u8] = include_bytes!("data/media/prog.jpg");

fn read(bytes: &[u8]) -> Outcome<FrameInfo, Part> {
    cut_all_ways(Splitter::new, 4000, bytes, &[100, 3])
}

fn datas(outcome: &Outcome<FrameInfo, Part>) -> Vec<Vec<u8>> {
    outcome.frames().into_iter().map(|(data, _)| data).collect()
}

/// What mpipe's plain rule gives: a cut after every FF D9.
fn plain(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|w| w == [0xFF, 0xD9]) {
        let (frame, tail) = rest.split_at(at + 2);
        frames.push(frame.to_vec());
        rest = tail;
    }
    frames
}

/// The frame with a segment behind its FF D8.
fn with_segment(marker: u8, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u16 + 2).to_be_bytes();
    let head = [0xFF, 0xD8, 0xFF, marker, len[0], len[1]];
    [&head[..], body, &BASE[2..]].concat()
}

#[test]
fn frames_one_after_the_other_with_their_sizes() {
    let bytes = [BASE, PROGRESSIVE, BASE].concat();
    let got = read(&bytes);
    assert_eq!(datas(&got), [BASE, PROGRESSIVE, BASE]);
    assert_eq!((got.end(), got.pieces.len()), (None, 3));
    let infos: Vec<FrameInfo> = got.frames().into_iter().map(|(_, info)| info).collect();
    let base = Size {
        width: 16,
        height: 16,
        components: 3,
        bits: 8,
        process: Process::Baseline,
    };
    let expected = FrameInfo {
        number: 0,
        size: Some(base),
        scans: 1,
        extraneous: 0,
    };
    assert_eq!(infos[0], expected);
    let expected = FrameInfo {
        number: 1,
        size: Some(Size {
            width: 17,
            height: 9,
            process: Process::Progressive,
            ..base
        }),
        scans: 10,
        extraneous: 0,
    };
    assert_eq!(infos[1], expected);
    // Where there is nothing to differ about, the plain rule gives the same.
    assert_eq!(plain(&bytes), datas(&got));
}

#[test]
fn a_thumbnail_a_comment_or_a_table_ends_nothing() {
    for (marker, body) in [
        (0xE1, [b"Exif\0\0", BASE].concat()),
        (0xFE, b"a comment \xFF\xD9 of two".to_vec()),
        (0xDB, b"\xFF\xD9\xFF\xD8\xFF\xDA".to_vec()),
    ] {
        let frame = with_segment(marker, &body);
        let got = read(&[&frame, BASE].concat());
        assert_eq!(datas(&got), [&frame[..], BASE]);
        assert_eq!(got.frames()[0].1.size, got.frames()[1].1.size);
        assert_eq!(got.end(), None);
        assert!(plain(&frame).len() == 2, "the plain rule cuts it in two");
    }
}

#[test]
fn junk_is_told_with_its_place() {
    let bytes = [b"abc\xFF\xFF", BASE, b"\0\0\0", BASE, b"tail\xFF"].concat();
    let got = read(&bytes);
    let len = BASE.len() as u64;
    assert_eq!(got.junk(), [(0, 5), (5 + len, 3), (8 + 2 * len, 5)]);
    assert_eq!(datas(&got), [BASE, BASE]);
    assert_eq!(got.end(), None, "junk is not a frame that is cut off");
    // The plain rule puts the junk into the frames.
    assert_eq!(plain(&bytes)[0].len(), BASE.len() + 5);
}

#[test]
fn a_frame_without_its_end_is_told_and_the_next_is_whole() {
    let broken = &BASE[..BASE.len() - 2];
    let got = read(&[broken, BASE].concat());
    let unfinished = Part::Unfinished {
        len: broken.len() as u64,
        marker: 0xD8,
    };
    assert_eq!(got.parts(), [unfinished]);
    assert_eq!(datas(&got), [BASE]);
    assert_eq!(got.frames()[0].1.number, 0);
    // A length that cannot be.
    let got = read(&[b"\xFF\xD8\xFF\xE0\x00\x01abc", BASE].concat());
    let unfinished = Part::Unfinished {
        len: 2,
        marker: 0xE0,
    };
    assert_eq!(got.parts(), [unfinished]);
    assert_eq!(
        (got.junk(), datas(&got)),
        (vec![(2, 7)], vec![BASE.to_vec()])
    );
}

#[test]
fn stuffing_restarts_and_fill_are_no_ends() {
    let scan =
        b"\xFF\xD8\xFF\xDA\x00\x02\x01\xFF\x00\xD9\xFF\xD0\xFF\x00\xFF\xD7\x02\xFF\xFF\xFF\xD9";
    let got = read(&[&scan[..], b"\xFF\xD8 plain \xFF\xD9"].concat());
    assert_eq!(datas(&got), [&scan[..], b"\xFF\xD8 plain \xFF\xD9"]);
    let counts: Vec<_> = got
        .frames()
        .iter()
        .map(|(_, i)| (i.scans, i.extraneous, i.size))
        .collect();
    assert_eq!(counts, [(1, 0, None), (0, 7, None)]);
}

#[test]
fn a_height_that_comes_after_the_scan() {
    let frame = b"\xFF\xD8\xFF\xC1\x00\x0B\x0C\x00\x00\x01\x02\x01\x01\x11\x00\
        \xFF\xDA\x00\x02\x12\x34\xFF\xDC\x00\x04\x00\x2A\xFF\xD9";
    let size = Size {
        width: 0x102,
        height: 42,
        components: 1,
        bits: 12,
        process: Process::Extended,
    };
    assert_eq!(read(frame).frames()[0].1.size, Some(size));
}

#[test]
fn every_cut_says_what_is_missing() {
    for cut in 0..=BASE.len() {
        let got = read(&[BASE, &BASE[..cut]].concat());
        assert_eq!(got.frames().len(), if cut == BASE.len() { 2 } else { 1 });
        let expected = match cut {
            0 => None,
            // FF alone may be anything.
            1 => None,
            n if n == BASE.len() => None,
            _ => Some(format!("truncated: JPEG frame at byte 365, {cut} bytes")),
        };
        assert_eq!(got.end(), expected);
    }
}

#[test]
fn too_large_a_frame_is_an_error() {
    let got = cut_all_ways(Splitter::new, 364, &[b"x", BASE].concat(), &[50]);
    assert_eq!(got.junk(), [(0, 1)]);
    let text = "JPEG frame at byte 1 takes at least 365 bytes, allowed are 364";
    assert_eq!(got.error.as_deref(), Some(text));
    let got = cut_all_ways(Splitter::new, 365, BASE, &[50]);
    assert_eq!((got.frames().len(), got.error), (1, None));
}

proptest! {
    #[test]
    fn frames_and_junk_are_found_as_they_were_put(
        pieces in prop::collection::vec(
            (0usize..4, prop::collection::vec(0u8..0xFF, 0..40)), 0..6),
        sizes in sizes(),
    ) {
        let kinds = [
            BASE.to_vec(),
            PROGRESSIVE.to_vec(),
            with_segment(0xE1, BASE),
            b"\xFF\xD8\xFF\xD9".to_vec(),
        ];
        let (mut bytes, mut frames, mut junk) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, before) in &pieces {
            if !before.is_empty() {
                junk.push((bytes.len() as u64, before.len() as u64));
            }
            bytes.extend(before);
            bytes.extend(&kinds[*kind]);
            frames.push(kinds[*kind].clone());
        }
        let got = cut_all_ways(Splitter::new, 4000, &bytes, &sizes);
        prop_assert_eq!(datas(&got), frames);
        prop_assert_eq!(got.junk(), junk);
        prop_assert_eq!(got.end(), None);
    }

    #[test]
    fn changed_files_are_cut_the_same_in_all_ways(edits in edits(), sizes in sizes(), limit in 2usize..1500) {
        let bytes = edited(&[BASE, &with_segment(0xE1, BASE), PROGRESSIVE].concat(), &edits);
        cut_all_ways(Splitter::new, limit, &bytes, &sizes);
    }

    #[test]
    fn any_bytes(
        bytes in prop::collection::vec(
            prop_oneof![4 => Just(0xFFu8), 1 => 0xC0u8..=0xDF, 1 => 0u8..4, 1 => any::<u8>()], 0..300),
        sizes in sizes(),
        limit in 2usize..400,
    ) {
        cut_all_ways(Splitter::new, limit, &bytes, &sizes);
    }
}
