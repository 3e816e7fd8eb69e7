//! Contract: AVI files of FFmpeg give the packets that ffprobe lists, by chunks and by position, from
//! either index, from OpenDML's, or from none; the same frames in the same order each time. An index
//! that lies is told and does not count.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod avi_support;
mod cut_support;

use avi_support::{chunk, file, idx1, indx, list, movie_at, picture, strh, strl, two_streams};
use cut_support::{Outcome, Piece, cut_all_ways, edited, edits, sizes};
use proptest::prelude::*;
use tickpipe_components::avi::{
    Built, Entry, FrameInfo, IndexFault, Kind, Movie, MovieError, Part, Picture, Rate, Splitter,
    StreamFormat,
};
use tickpipe_components::cut::{FourCc, Span};
use tickpipe_components::wav::{Format, Samples};

/// `-f lavfi -i testsrc=s=16x16:r=25 -f lavfi -i sine=r=8000 -t 0.2 -c:v mjpeg -c:a pcm_s16le`.
const MJPEG: &[u8] = include_bytes!("data/media/mjpeg.avi");
/// The same at 44100, `-c:v mpeg4 -g 3 -c:a libmp3lame`.
const MP3: &[u8] = include_bytes!("data/media/mp3.avi");

const LIMIT: usize = 6000;

fn read(bytes: &[u8]) -> Outcome<FrameInfo, Part> {
    cut_all_ways(Splitter::new, LIMIT, bytes, &[100, 3])
}

/// Places and what is known of the frames, keys left out.
fn by_chunks(outcome: &Outcome<FrameInfo, Part>) -> Vec<Entry> {
    let entry = |p: &Piece<FrameInfo, Part>| match p {
        Piece::Frame { at, data, info, .. } => Some(Entry {
            data: Span {
                offset: *at,
                len: data.len() as u64,
            },
            info: FrameInfo { key: None, ..*info },
        }),
        _ => None,
    };
    outcome.pieces.iter().filter_map(entry).collect()
}

fn without_keys(frames: &[Entry]) -> Vec<Entry> {
    let info = |info| FrameInfo { key: None, ..info };
    frames
        .iter()
        .map(|e| Entry {
            data: e.data,
            info: info(e.info),
        })
        .collect()
}

/// Stream, time, duration, size, place, key.
type Packet = (u16, u64, u64, u64, u64, Option<bool>);

fn packets(movie: &Movie) -> Vec<Packet> {
    let packet = |e: &Entry| {
        let i = e.info;
        (i.stream, i.time, i.ticks, e.data.len, e.data.offset, i.key)
    };
    movie.frames.iter().map(packet).collect()
}

fn checked(bytes: &[u8]) -> Movie {
    let movie = Movie::open(bytes, 1000).unwrap();
    let got = read(bytes);
    assert_eq!(without_keys(&movie.frames), by_chunks(&got));
    for frame in &movie.frames {
        let at = frame.data.offset as usize;
        assert!(frame.is_headed_by(&bytes[at - 8..at]));
    }
    movie
}

const K: Option<bool> = Some(true);
const N: Option<bool> = Some(false);

#[test]
fn packets_are_those_that_ffprobe_lists() {
    let movie = checked(MJPEG);
    // ffprobe: stream, dts, duration, size, pos, flags. FFmpeg gives bytes a second as audio's rate
    // and counts durations of sound in samples.
    let expected = [
        (0, 0, 1, 365, 2276, K),
        (1, 0, 1024, 2048, 2650, K),
        (0, 1, 1, 365, 4706, K),
        (0, 2, 1, 364, 5080, K),
        (0, 3, 1, 363, 5452, K),
        (1, 1024, 576, 1152, 5824, K),
        (0, 4, 1, 361, 6984, K),
    ];
    assert_eq!(packets(&movie), expected);
    assert_eq!(movie.built, Built::Idx1 { absolute: false });
    assert_eq!((&movie.warnings[..], movie.rest), (&[][..], None));

    let movie = checked(MP3);
    let expected = [
        (1, 0, 1, 104, 9970, K),
        (0, 0, 1, 109, 10082, K),
        (1, 1, 1, 105, 10200, K),
        (1, 2, 1, 104, 10314, K),
        // A chunk without bytes: ffprobe lists no packet, but its time passes.
        (0, 1, 1, 0, 10426, N),
        (0, 2, 1, 8, 10434, N),
        (1, 3, 1, 105, 10450, K),
        (1, 4, 1, 104, 10564, K),
        (0, 3, 1, 8, 10676, N),
        (1, 5, 1, 105, 10692, K),
        (0, 4, 1, 110, 10806, K),
        (1, 6, 1, 104, 10924, K),
        (1, 7, 1, 105, 11036, K),
        (0, 5, 1, 8, 11150, N),
        (1, 8, 1, 104, 11166, K),
    ];
    assert_eq!(packets(&movie), expected);
    assert_eq!(movie.built, Built::Idx1 { absolute: false });
}

#[test]
fn what_the_header_says() {
    let header = Movie::open(MJPEG, 100).unwrap().header;
    assert_eq!((header.width, header.height), (16, 16));
    assert_eq!((header.frame_micros, header.frames), (40_000, 5));
    let [video, audio] = &header.streams[..] else {
        panic!();
    };
    assert_eq!(video.kind, Kind::Video);
    let rate = Rate { rate: 25, scale: 1 };
    assert_eq!((video.rate, video.length), (Some(rate), 5));
    let picture = Picture {
        width: 16,
        height: 16,
        bits: 24,
        codec: FourCc(*b"MJPG"),
    };
    assert_eq!(video.format, StreamFormat::Video(picture));
    assert_eq!((audio.kind, audio.sample_size), (Kind::Audio, 2));
    let pcm = Format::plain(Samples::S16, 1, 8000).unwrap();
    assert_eq!(audio.format, StreamFormat::Audio(pcm));
    let made = file(&two_streams(), &[chunk(b"00dc", b"x")], &[]);
    let header = Movie::open(&made[..], 9).unwrap().header;
    assert_eq!(header.streams[1].name.as_deref(), Some("left"));
}

#[test]
fn seeking_finds_frames_and_key_frames() {
    let movie = checked(MP3);
    let place = |at: Option<usize>| at.map(|at| movie.frames[at].info.number);
    for (time, at, key) in [(0, 0, 0), (2, 2, 0), (4, 4, 4), (5, 5, 4), (99, 5, 4)] {
        assert_eq!(place(movie.at(0, time)), Some(at));
        assert_eq!(place(movie.key_at(0, time)), Some(key));
    }
    assert_eq!(place(movie.at(1, 7)), Some(7));
    assert_eq!((movie.at(2, 0), movie.of_stream(2)), (None, &[][..]));
    assert_eq!(movie.of_stream(0).len(), 6);
}

fn frames() -> Vec<([u8; 4], &'static [u8], bool)> {
    vec![
        (*b"00dc", b"key frame", true),
        (*b"01wb", b"sounds", true),
        (*b"00dc", b"other", false),
        (*b"01wb", b"more", true),
        (*b"00dc", b"", false),
        (*b"00dc", b"again key", true),
    ]
}

/// `movi` items of the frames, an `idx1` with `base` added, in a `rec ` list or not.
fn made(base: impl Fn(&[u8]) -> u32, in_rec: bool, skip: usize) -> Vec<u8> {
    let items: Vec<Vec<u8>> = frames().iter().map(|(id, d, _)| chunk(id, d)).collect();
    let junk = chunk(b"JUNK", b"12345");
    let movie = if in_rec {
        let (a, b) = items.split_at(3);
        vec![list(b"LIST", b"rec ", a), junk, list(b"LIST", b"rec ", b)]
    } else {
        items
    };
    let plain = file(&two_streams(), &movie, &[]);
    let got = Movie::open(&plain[..], 100).unwrap();
    let from = movie_at(&plain) as u64 + 8;
    let mut entries: Vec<_> = got
        .frames
        .iter()
        .zip(frames())
        .map(|(e, (id, _, key))| {
            let offset = (e.data.offset - 8 - from) as u32 + base(&plain);
            (id, key, offset, e.data.len as u32)
        })
        .collect();
    entries.drain(..skip);
    file(&two_streams(), &movie, &[idx1(&entries)])
}

#[test]
fn both_conventions_of_idx1_and_none_give_the_same() {
    let expected: Vec<_> = [
        (0, 0, 1, K),
        (1, 5, 3, K),
        (0, 1, 1, N),
        (1, 8, 2, K),
        (0, 2, 1, N),
        (0, 3, 1, K),
    ]
    .to_vec();
    for in_rec in [false, true] {
        let relative = made(|_| 0, in_rec, 0);
        let absolute = made(|f| movie_at(f) as u32 + 8, in_rec, 0);
        let mut none = relative.clone();
        let at = none.windows(4).position(|w| w == b"idx1").unwrap();
        none[at..at + 4].copy_from_slice(b"JUNK");
        for (bytes, built) in [
            (&relative, Built::Idx1 { absolute: false }),
            (&absolute, Built::Idx1 { absolute: true }),
        ] {
            let movie = checked(bytes);
            assert_eq!(movie.built, built);
            let got: Vec<_> = packets(&movie)
                .into_iter()
                .map(|p| (p.0, p.1, p.2, p.5))
                .collect();
            assert_eq!(got, expected);
            let data: Vec<&[u8]> = movie
                .frames
                .iter()
                .map(|e| &bytes[e.data.offset as usize..e.data.end() as usize])
                .collect();
            let written: Vec<&[u8]> = frames().iter().map(|f| f.1).collect();
            assert_eq!(data, written);
        }
        let movie = checked(&none);
        let because = IndexFault::None;
        assert_eq!(movie.built, Built::Walk { because });
        let walked = without_keys(&movie.frames);
        assert_eq!(walked, without_keys(&checked(&relative).frames));
        let keys: Vec<_> = movie.frames.iter().map(|f| f.info.key).collect();
        assert_eq!(keys, [None, K, None, K, None, None], "sound is always key");
    }
}

/// Two segments with an index each, and one of indexes per stream.
fn opendml(wrong: u32) -> Vec<u8> {
    let room = |id: &[u8; 4]| chunk(b"indx", &indx(4, 0, id, 0, &vec![vec![0; 4]; 2]));
    let streams = |a: Vec<u8>, b: Vec<u8>| {
        vec![
            strl(&[strh(b"vids", 25, 1, 0, 0), picture(b"XVID"), a]),
            strl(&[strh(b"auds", 8000, 1, 5, 2), avi_support::sound(), b]),
        ]
    };
    // The frames' places are found by walking a file of the same sizes.
    let build = |supers: [Vec<u8>; 2], ix: &dyn Fn(usize, usize) -> Vec<u8>| {
        let part = |n: usize| {
            let mut items: Vec<Vec<u8>> = frames()[3 * n..3 * n + 3]
                .iter()
                .map(|(id, d, _)| chunk(id, d))
                .collect();
            items.push(chunk(b"ix00", &ix(n, 0)));
            items.push(chunk(b"ix01", &ix(n, 1)));
            list(b"LIST", b"movi", &items)
        };
        let [a, b] = supers;
        let first = list(
            b"RIFF",
            b"AVI ",
            &[avi_support::hdrl(&streams(a, b)), part(0)],
        );
        [first, list(b"RIFF", b"AVIX", &[part(1)])].concat()
    };
    let counts = [[2, 1], [2, 1]];
    let dummy = |n: usize, s: usize| indx(2, 1, b"00dc", 0, &vec![vec![0; 2]; counts[n][s]]);
    let plain = build([room(b"00dc"), room(b"01wb")], &dummy);
    let walked = Movie::open(&plain[..], 100).unwrap();
    assert_eq!(walked.frames.len(), 6);
    let all: Vec<(Entry, bool)> = walked
        .frames
        .iter()
        .zip(frames())
        .map(|(e, f)| (*e, f.2))
        .collect();
    let ix = |n: usize, s: usize| {
        let base = all[3 * n].0.data.offset - 8;
        let entries: Vec<Vec<u32>> = all[3 * n..3 * n + 3]
            .iter()
            .filter(|(e, _)| usize::from(e.info.stream) == s)
            .map(|(e, key)| {
                let delta = if *key { 0 } else { 1 << 31 };
                let offset = (e.data.offset - base) as u32 + wrong;
                vec![offset, e.data.len as u32 | delta]
            })
            .collect();
        assert_eq!(entries.len(), counts[n][s]);
        indx(2, 1, if s == 0 { b"00dc" } else { b"01wb" }, base, &entries)
    };
    let places = |id: &[u8; 4]| -> Vec<u32> {
        let found = plain.windows(4).enumerate().filter(|(_, w)| w == id);
        found.map(|(at, _)| at as u32).collect()
    };
    let supers = [(b"00dc", b"ix00"), (b"01wb", b"ix01")].map(|(id, ix_id)| {
        let entries: Vec<Vec<u32>> = places(ix_id)
            .iter()
            .map(|at| {
                let len = &plain[*at as usize + 4..*at as usize + 8];
                let len = u32::from_le_bytes(len.try_into().unwrap());
                vec![*at, 0, len + 8, 3]
            })
            .collect();
        chunk(b"indx", &indx(4, 0, id, 0, &entries))
    });
    build(supers, &ix)
}

#[test]
fn opendml_s_segments_and_indexes() {
    let movie = checked(&opendml(0));
    assert_eq!(movie.built, Built::OpenDml);
    let keys: Vec<_> = movie.frames.iter().map(|f| f.info.key).collect();
    assert_eq!(keys, [K, K, N, K, N, K]);
    assert_eq!(movie.frames.last().unwrap().info.number, 3);
    let movie = checked(&opendml(2));
    let Built::Walk { because } = movie.built else {
        panic!();
    };
    assert!(
        matches!(because, IndexFault::Unlisted { .. }),
        "{because:?}"
    );
}

#[test]
fn an_index_that_lies_is_told_and_does_not_count() {
    let right = made(|_| 0, false, 0);
    let at = right.windows(4).position(|w| w == b"idx1").unwrap();
    let first = movie_at(&right) as u64 + 12;
    let told = |bytes: &[u8]| {
        let movie = checked(bytes);
        assert_eq!(movie.frames.len(), 6);
        match movie.built {
            Built::Walk { because } => because.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let set = |entry: usize, field: usize, value: u32| {
        let mut bytes = right.clone();
        let place = at + 8 + 16 * entry + 4 * field;
        bytes[place..place + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let last = checked(&right).frames[5].data.offset;
    assert_eq!(
        told(&set(5, 2, 1_000_000)),
        format!(
            "the index lists a frame of 9 bytes at byte {}, outside the file's frames",
            first + 1_000_000 - 4 + 8
        )
    );
    assert_eq!(
        told(&set(5, 3, u32::MAX)),
        format!(
            "the index lists a frame of 4294967295 bytes at byte {last}, outside the file's frames"
        )
    );
    assert_eq!(
        told(&set(1, 2, 4)),
        format!("the index lists two frames that share byte {first}")
    );
    assert_eq!(
        told(&set(5, 0, u32::from_le_bytes(*b"01wb"))),
        format!("the index lists a frame at byte {last}, and \"00dc\" stands before it")
    );
    // The first frames are not listed.
    assert_eq!(
        told(&made(|_| 0, false, 2)),
        format!("the index does not list what stands at byte {first}")
    );
    // A frame in the middle is not.
    assert_eq!(
        told(&set(2, 0, u32::from_le_bytes(*b"07dc"))),
        format!(
            "the index does not list what stands at byte {}",
            first + 18 + 14
        )
    );
    let empty = file(&two_streams(), &[chunk(b"00dc", b"x")], &[idx1(&[])]);
    let movie = checked(&empty);
    let because = IndexFault::Empty {
        offset: empty.len() as u64,
    };
    assert_eq!(movie.built, Built::Walk { because });
    // Cut off within the index.
    let short = &right[..right.len() - 5];
    let because = IndexFault::Malformed {
        offset: short.len() as u64,
    };
    let movie = checked(short);
    assert_eq!(movie.rest.unwrap().what, "AVI chunk");
    assert_eq!(movie.built, Built::Walk { because });
    let too_many = MovieError::TooMany { limit: 5 };
    assert_eq!(Movie::open(&right[..], 5), Err(too_many.clone()));
    assert_eq!(
        too_many.to_string(),
        "more than the 5 frames that may be listed"
    );
}

#[test]
fn every_cut_gives_the_whole_frames_before_it() {
    let all = checked(MJPEG).frames;
    for cut in (2268..MJPEG.len()).step_by(7) {
        let bytes = &MJPEG[..cut];
        let movie = checked(bytes);
        let whole = all.iter().filter(|f| f.data.end() <= cut as u64).count();
        assert_eq!(movie.frames.len(), whole);
        let got = read(bytes);
        let rest = movie.rest.map(|rest| rest.offset);
        let chunk_rest = match got.pieces.last() {
            Some(Piece::Rest(rest)) => Some(rest.offset),
            _ => None,
        };
        assert_eq!(rest, chunk_rest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn changed_files_are_cut_the_same_in_all_ways(
        which in 0usize..4,
        edits in edits(),
        sizes in sizes(),
    ) {
        let base = match which {
            0 => MJPEG.to_vec(),
            1 => opendml(0),
            2 => made(|_| 0, true, 0),
            _ => made(|f| movie_at(f) as u32 + 8, false, 0),
        };
        let bytes = edited(&base, &edits);
        let got = cut_all_ways(Splitter::new, LIMIT, &bytes, &sizes);
        match Movie::open(&bytes[..], 100) {
            Ok(movie) => {
                let honest = movie.frames.iter().all(|f| {
                    let at = f.data.offset as usize;
                    f.is_headed_by(&bytes[at - 8..at])
                });
                let walked = matches!(movie.built, Built::Walk { .. });
                prop_assert!(honest || !walked);
                let (listed, found) = (without_keys(&movie.frames), by_chunks(&got));
                if got.error.is_some() {
                    // Too large a frame stops only who keeps it.
                    prop_assert!(!honest || listed.starts_with(&found));
                } else if honest {
                    prop_assert_eq!(listed, found);
                }
            }
            Err(_) => prop_assert!(by_chunks(&got).is_empty()),
        }
    }
}
