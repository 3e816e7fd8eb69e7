//! Contract: whatever an AVI file says, there is no panic, memory is bounded, and each thing that is
//! wrong is an error or is told, with its place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod avi_support;
mod cut_support;

use avi_support::{
    avih, chunk, file, hdrl, list, movie_at, picture, sound, strh, strl, two_streams,
};
use cut_support::{Outcome, cut_all_ways, sizes};
use proptest::prelude::*;
use tickpipe_components::avi::{FrameInfo, Movie, Part, Rate, Splitter};

fn read(bytes: &[u8]) -> Outcome<FrameInfo, Part> {
    cut_all_ways(Splitter::new, 1000, bytes, &[100, 3])
}

fn texts(outcome: &Outcome<FrameInfo, Part>) -> Vec<String> {
    let text = |p: Part| match p {
        Part::Warning(w) => Some(w.to_string()),
        _ => None,
    };
    outcome.parts().into_iter().filter_map(text).collect()
}

fn riff(items: &[Vec<u8>]) -> Vec<u8> {
    list(b"RIFF", b"AVI ", items)
}

/// What stands where.
fn at(bytes: &[u8], text: &[u8]) -> usize {
    bytes.windows(text.len()).position(|w| w == text).unwrap()
}

fn set(bytes: &[u8], at: usize, value: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

#[test]
fn what_cannot_be_read_says_why() {
    let text = |bytes: &[u8]| {
        let text = read(bytes).end().unwrap();
        assert_eq!(Movie::open(bytes, 9).unwrap_err().to_string(), text);
        text
    };
    assert_eq!(text(b""), "empty: no AVI header");
    assert_eq!(
        text(b"RIFX1234"),
        "not an AVI file: expected RIFF at byte 0, found \"RIFX\""
    );
    assert_eq!(
        text(b"RIFF1234WAVE"),
        "not an AVI file: expected \"AVI \" at byte 8, found \"WAVE\""
    );
    assert_eq!(
        text(b"RIFF1234AV"),
        "truncated: AVI header at byte 0, 10 of 12 bytes"
    );
    assert_eq!(
        text(&riff(&[])),
        "byte 12: the file ends without a movi list"
    );
    assert_eq!(
        text(&riff(&[list(b"LIST", b"movi", &[])])),
        "byte 12: movi begins and there was no stream before"
    );
    assert_eq!(
        text(&riff(&[vec![0; 9]])),
        "byte 12: expected a chunk, found \"\\x00\\x00\\x00\\x00\""
    );
    let header = riff(&[hdrl(&two_streams())]);
    assert_eq!(
        text(&header[..header.len() - 3]),
        format!(
            "truncated: AVI chunk at byte {}, 11 of 13 bytes",
            header.len() - 14
        )
    );
    let many: Vec<_> = (0..101).map(|_| strh(b"vids", 25, 1, 0, 0)).collect();
    let many = riff(&[hdrl(&many)]);
    assert_eq!(
        text(&many),
        format!(
            "byte {}: a stream beyond the 100 that there can be",
            many.len() - 64
        )
    );
}

#[test]
fn lists_within_lists_are_limited() {
    let mut inner = chunk(b"00dc", b"x");
    for _ in 0..7 {
        inner = list(b"LIST", b"rec ", &[inner]);
    }
    let bytes = file(&two_streams(), &[inner], &[]);
    let place = movie_at(&bytes) + 12 + 12 * 6;
    let text = format!("byte {place}: a list within 8 others");
    assert_eq!(read(&bytes).error, Some(text.clone()));
    // By position what stands before it is there too.
    let movie = Movie::open(&bytes[..], 9).unwrap();
    assert_eq!(movie.fault.map(|fault| fault.to_string()), Some(text));
    // A hundred of them one after the other are none within another, whatever their size says.
    for size in [0, 10] {
        let one = list(b"LIST", b"rec ", &[chunk(b"01wb", b"x")]);
        let one = set(&one, 4, if size == 0 { 0 } else { one.len() as u32 - 8 });
        let bytes = file(&two_streams(), &vec![one; 100], &[]);
        let got = read(&bytes);
        assert_eq!((got.frames().len(), got.end()), (100, None));
    }
}

#[test]
fn sizes_beyond_the_file() {
    let bytes = file(&two_streams(), &[chunk(b"00dc", b"abcd")], &[]);
    let head = at(&bytes, b"00dc");
    // Of lists: frames do not rely on them, but the file is not whole.
    for place in [4, 16, movie_at(&bytes) + 4] {
        for size in [0, 5000, u32::MAX] {
            let got = read(&set(&bytes, place, size));
            let end = place as u64 + 4 + 5000;
            let told = format!(
                "truncated: the file ends at byte {}, and the list in it goes on to byte {end}",
                bytes.len()
            );
            let told = (size == 5000).then_some(told);
            assert_eq!((got.frames().len(), got.end()), (1, told), "{place} {size}");
        }
    }
    // Of a frame.
    let wrong = set(&bytes, head + 4, 900);
    let told = format!("truncated: AVI frame at byte {head}, 12 of 908 bytes");
    assert_eq!(read(&wrong).end(), Some(told.clone()));
    let movie = Movie::open(&wrong[..], 9).unwrap();
    assert_eq!(movie.rest.unwrap().to_string(), told);
    let beyond = format!(
        "byte {head}: \"00dc\" ends behind its list, {} bytes into the file; the chunk counts",
        bytes.len()
    );
    assert_eq!(texts(&read(&wrong)), std::slice::from_ref(&beyond));
    assert_eq!(movie.warnings[0].to_string(), beyond);
    let huge = set(&bytes, head + 4, u32::MAX);
    assert_eq!(
        read(&huge).error.unwrap(),
        format!("AVI frame at byte {head} takes 4294967303 bytes, allowed are 1000")
    );
}

#[test]
fn rates_of_zero_are_replaced_or_told() {
    let streams = [
        strl(&[strh(b"vids", 0, 1, 0, 0), picture(b"XVID")]),
        strl(&[strh(b"auds", 8000, 0, 0, 2), sound()]),
        strl(&[strh(b"txts", 0, 0, 0, 0)]),
    ];
    let bytes = file(&streams, &[chunk(b"00dc", b"x")], &[]);
    let got = read(&bytes);
    let expected = [
        "stream 0: rate 0 and scale 1 give no times; taken for 1000000 and 40000",
        "stream 1: rate 8000 and scale 0 give no times; taken for 8000 and 1",
        "stream 2: rate 0 and scale 0 give no times; they are unknown",
    ];
    assert_eq!(texts(&got), expected);
    let movie = Movie::open(&bytes[..], 9).unwrap();
    let told: Vec<String> = movie.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told, expected);
    let rates: Vec<_> = movie.header.streams.iter().map(|s| s.rate).collect();
    let rate = |rate, scale| Some(Rate { rate, scale });
    assert_eq!(rates, [rate(1_000_000, 40_000), rate(8000, 1), None]);
}

#[test]
fn frames_of_streams_that_are_not_there() {
    let movie = [
        chunk(b"00dc", b"x"),
        chunk(b"07dc", b"y"),
        chunk(b"00pc", b"palette"),
        chunk(b"01wb", b"zz"),
    ];
    let bytes = file(&two_streams(), &movie, &[]);
    let got = read(&bytes);
    let place = at(&bytes, b"07dc");
    assert_eq!(
        texts(&got),
        [format!(
            "byte {place}: \"07dc\" is of stream 7, which there is not"
        )]
    );
    let frames: Vec<_> = got
        .frames()
        .into_iter()
        .map(|f| (f.0, f.1.stream))
        .collect();
    assert_eq!(frames, [(b"x".to_vec(), 0), (b"zz".to_vec(), 1)]);
    assert_eq!(got.junk(), []);
}

#[test]
fn a_header_that_says_too_little_or_too_much() {
    let streams = [
        chunk(b"strf", b"no stream yet"),
        strl(&[chunk(b"strh", b"short")]),
        strl(&[strh(b"vids", 25, 1, 0, 0), chunk(b"strf", b"short")]),
        strl(&[strh(b"auds", 9, 1, 0, 0), chunk(b"strf", b"short"), sound()]),
    ];
    let header = list(
        b"LIST",
        b"hdrl",
        &[&[chunk(b"avih", b"short")], &streams[..]].concat(),
    );
    let movie = list(b"LIST", b"movi", &[chunk(b"02wb", b"x")]);
    let got = read(&riff(&[header, movie]));
    assert_eq!(
        texts(&got),
        [
            "byte 24: \"avih\" of 5 bytes, 40 are needed; not looked at",
            "byte 38: \"strf\" belongs to no stream, or is its second; not looked at",
            "byte 72: \"strh\" of 5 bytes, 48 are needed; not looked at",
            "byte 162: \"strf\" of 5 bytes, 20 are needed; not looked at",
            "stream 2: byte 252: fmt of 5 bytes, at least 14 are needed",
            "byte 266: \"strf\" belongs to no stream, or is its second; not looked at",
            "stream 0: rate 0 and scale 0 give no times; they are unknown",
        ]
    );
    assert_eq!(got.frames().len(), 1);
}

#[test]
fn junk_among_frames_is_told_and_the_next_frame_found() {
    let movie = [
        chunk(b"00dc", b"abcd"),
        b"\0\0\0 lost \xFF 07dc 0 ".to_vec(),
        chunk(b"01wb", b"ef"),
        // A chunk of a kind that nobody knows, which fits.
        chunk(b"what", b"12"),
        // One that does not.
        b"what\xFF\xFF\xFF\0  ".to_vec(),
        chunk(b"00dc", b"g"),
        // Without its pad byte.
        chunk(b"00dc", b"h"),
    ];
    let mut bytes = file(&two_streams(), &movie, &[chunk(b"JUNK", b"")]);
    let unpadded = bytes.len() - 8 - 10 - 1;
    bytes.remove(unpadded);
    let got = read(&bytes);
    let frames: Vec<_> = got.frames().into_iter().map(|f| f.0).collect();
    assert_eq!(frames, [&b"abcd"[..], b"ef", b"g", b"h"]);
    let start = at(&bytes, b"\0\0\0 lost") as u64;
    let second = at(&bytes, b"what\xFF") as u64;
    assert_eq!(got.junk(), [(start, 18), (second, 10)]);
    assert_eq!(
        texts(&got),
        [
            format!("byte {unpadded}: no pad byte behind a chunk of odd size"),
            format!(
                "byte {}: \"JUNK\" ends behind its list, {} bytes into the file; the chunk counts",
                bytes.len() - 8,
                bytes.len() - 7
            ),
        ]
    );
    let movie = Movie::open(&bytes[..], 9).unwrap();
    let junk: Vec<_> = movie.junk.iter().map(|s| (s.offset, s.len)).collect();
    assert_eq!((junk, movie.frames.len()), (got.junk(), 4));
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), sizes in sizes()) {
        let header = riff(&[avih()]);
        let movie = file(&two_streams(), &[], &[]);
        for before in [&b""[..], &header, &movie] {
            let bytes = [before, &bytes].concat();
            cut_all_ways(Splitter::new, 1000, &bytes, &sizes);
            let _ = Movie::open(&bytes[..], 9);
        }
    }

    #[test]
    fn any_chunks(
        pieces in prop::collection::vec(
            (prop::sample::select(vec![
                *b"00dc", *b"01wb", *b"09db", *b"LIST", *b"RIFF", *b"idx1", *b"ix00", *b"JUNK",
                *b"strh", *b"strf", *b"indx", *b"rec ", *b"movi", *b"zzzz",
            ]), prop_oneof![0u32..20, any::<u32>()], prop::collection::vec(any::<u8>(), 0..20)),
            0..12,
        ),
        sizes in sizes(),
        in_header in any::<bool>(),
    ) {
        let mut bytes = if in_header { riff(&[avih()]) } else { file(&two_streams(), &[], &[]) };
        for (id, size, data) in pieces {
            bytes.extend(id);
            bytes.extend(size.to_le_bytes());
            bytes.extend(data);
        }
        cut_all_ways(Splitter::new, 1000, &bytes, &sizes);
        let _ = Movie::open(&bytes[..], 9);
    }
}
