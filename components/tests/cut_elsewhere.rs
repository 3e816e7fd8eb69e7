//! Contract: formats go on within a stream whose header is known, pass over what is not wanted, and say
//! early what they know; a header with the largest numbers that there can be is written and read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod avi_support;
mod cut_support;

use avi_support::{chunk, file, idx1, movie_at, two_streams};
use cut_support::{Outcome, cut};
use proptest::prelude::*;
use tickpipe_components::avi::{self, Built, IndexFault, Movie};
use tickpipe_components::cut::{Cut, Cutter, Span};
use tickpipe_components::jpeg;
use tickpipe_components::wav::{Block, Format, Header, Part, Samples, Splitter, header_bytes};

const JPEG: &[u8] = include_bytes!("data/media/base.jpg");

/// Two bytes a sample, three samples a block of up to 7 bytes.
fn wav(samples: u16) -> Vec<u8> {
    let format = Format::plain(Samples::S16, 1, 8000).unwrap();
    let mut file = header_bytes(&format, Some(2 * u64::from(samples))).unwrap();
    file.extend((0..samples).flat_map(u16::to_le_bytes));
    file
}

fn header(file: &[u8]) -> Header {
    let mut cutter = Cutter::new(Splitter::new(1), 100);
    let mut rest = file;
    loop {
        let (used, cut) = cutter.next(rest).unwrap();
        if let Cut::Part {
            part: Part::Header(header),
            ..
        } = cut
        {
            return header;
        }
        rest = &rest[used..];
    }
}

fn firsts(outcome: &Outcome<Block, Part>) -> Vec<(u64, u32)> {
    let blocks = outcome.frames().into_iter();
    blocks.map(|(_, b)| (b.first, b.samples)).collect()
}

#[test]
fn blocks_fit_into_bytes_but_have_one_sample_at_least() {
    let file = wav(8);
    let of = |bytes| firsts(&cut(Splitter::fitting(bytes), 100, &file, &[5]));
    assert_eq!(of(7), [(0, 3), (3, 3), (6, 2)]);
    assert_eq!(of(100), [(0, 8)]);
    assert_eq!(of(1), (0..8).map(|n| (n, 1)).collect::<Vec<_>>());
    assert_eq!(of(0), (0..8).map(|n| (n, 1)).collect::<Vec<_>>());
}

#[test]
fn all_that_follows_is_samples_if_that_is_asked_for() {
    let mut file = wav(4);
    file.extend(b"LIST\x04\0\0\0abcd");
    let splitter = || Splitter::fitting(100);
    assert_eq!(firsts(&cut(splitter(), 200, &file, &[9])), [(0, 4)]);
    let open = cut(splitter().ignoring_length(), 200, &file, &[9]);
    assert_eq!(firsts(&open), [(0, 10)]);
}

proptest! {
    #[test]
    fn it_goes_on_at_the_next_sample_from_any_byte(at in 0u64..120, samples in 1u16..30) {
        let file = wav(samples);
        let header = header(&file);
        let at = at.min(file.len() as u64);
        let (splitter, begins) = Splitter::fitting(7).going_on(header, at);
        prop_assert!(begins >= at && begins <= file.len() as u64);
        prop_assert!(begins < at.max(44) + 2);
        let rest = &file[begins as usize..];
        let got = cut(splitter, 100, rest, &[4]);
        let first = (begins - 44) / 2;
        let whole: Vec<u8> = got.frames().into_iter().flat_map(|(data, _)| data).collect();
        prop_assert_eq!(&whole[..], rest);
        prop_assert_eq!(got.frames().first().map(|f| f.1.first), (!rest.is_empty()).then_some(first));
        prop_assert_eq!(got.end(), None);
    }
}

#[test]
fn behind_the_samples_it_does_not_go_on() {
    let mut file = wav(4);
    file.extend(b"LIST\x04\0\0\0abcd");
    let (splitter, begins) = Splitter::new(1).going_on(header(&file), 55);
    assert_eq!(begins, 55);
    let got = cut(splitter, 100, &file[55..], &[4]);
    assert_eq!((got.frames().len(), got.end()), (0, None));
}

#[test]
fn the_largest_numbers_are_written_and_read() {
    let format = Format::plain(Samples::F64, u16::MAX, u32::MAX).unwrap();
    // More than the field for it holds.
    assert_eq!(format.block_align, 524_280);
    let bytes = header_bytes(&format, None).unwrap();
    let read = header(&bytes).format;
    assert_eq!((read.block_align, read.rate), (524_280, u32::MAX));
    let (_, begins) = Splitter::new(u32::MAX).going_on(header(&bytes), u64::MAX - 3);
    assert!(begins >= u64::MAX - 3);
    // Of a codec, a block may be anything: its bits may be no 16-bit number, and stay as they are.
    let odd = Format {
        tag: 0x55,
        extensible: true,
        channels: 1,
        block_align: 65_535,
        sample_bytes: 65_535,
        valid_bits: 9,
        mask: None,
        rate: 1,
    };
    let bytes = header_bytes(&odd, None).unwrap();
    assert_eq!(bytes[34..36], [9, 0]);
    let huge = Format {
        block_align: u32::MAX,
        ..format
    };
    assert!(header_bytes(&huge, Some(u64::from(u32::MAX) - 100)).is_ok());
}

#[test]
fn the_size_of_a_picture_is_known_before_its_frame_is_whole() {
    let mut cutter = Cutter::new(jpeg::Splitter::after(7), 1000);
    let (_, cut) = cutter.next(&JPEG[..JPEG.len() - 1]).unwrap();
    assert_eq!(cut, Cut::NeedInput);
    let size = cutter.split().size().unwrap();
    assert_eq!((size.width, size.height), (16, 16));
    let (_, cut) = cutter.next(&JPEG[JPEG.len() - 1..]).unwrap();
    let Cut::Frame { info, .. } = cut else {
        panic!("a frame")
    };
    assert_eq!((info.number, info.size), (7, Some(size)));
    assert_eq!(cutter.split().size(), None);
}

#[test]
fn frames_of_streams_that_are_passed_over_need_no_room() {
    let movie = [
        chunk(b"00dc", &[1; 5000]),
        chunk(b"01wb", b"ab"),
        chunk(b"00dc", &[2; 5000]),
        chunk(b"01wb", b"cd"),
    ];
    let bytes = file(&two_streams(), &movie, &[]);
    for sizes in [&[1][..], &[100], &[usize::MAX]] {
        let mut splitter = avi::Splitter::new();
        splitter.pass_over(1);
        let got = cut(splitter, 300, &bytes, sizes);
        assert_eq!(got.error, None);
        let frames = got.frames().into_iter();
        let frames: Vec<(Vec<u8>, u64)> = frames.map(|(data, info)| (data, info.number)).collect();
        assert_eq!(frames, [(b"ab".to_vec(), 0), (b"cd".to_vec(), 1)]);
        let passed = |p: &avi::Part| matches!(p, avi::Part::Frame(info) if info.stream == 0);
        assert_eq!(got.parts().iter().filter(|p| passed(p)).count(), 2);
    }
    let limit = cut(avi::Splitter::new(), 300, &bytes, &[100]).error;
    assert!(limit.unwrap().contains("5008 bytes, allowed are 300"));
}

#[test]
fn an_index_that_lies_in_the_middle_does_not_count() {
    let movie = [
        chunk(b"00dc", b"aaaa"),
        chunk(b"01wb", b"bbbb"),
        chunk(b"00dc", b"cccc"),
    ];
    // The second is of the first stream, it says.
    let index = idx1(&[
        (*b"00dc", true, 4, 4),
        (*b"00dc", true, 16, 4),
        (*b"00dc", true, 28, 4),
    ]);
    let bytes = file(&two_streams(), &movie, &[index]);
    let place = movie_at(&bytes) as u64 + 12 + 12 + 8;
    let movie = Movie::open(&bytes[..], 9).unwrap();
    let Built::Walk {
        because: IndexFault::NoFrame { offset, .. },
    } = movie.built
    else {
        panic!("{:?}", movie.built)
    };
    assert_eq!(offset, place);
    let streams: Vec<u16> = movie.frames.iter().map(|f| f.info.stream).collect();
    assert_eq!(streams, [0, 1, 0]);
    assert_eq!(movie.frames[1].data, Span { offset, len: 4 });
}
