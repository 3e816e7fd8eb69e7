//! Contract: IVF files of FFmpeg are cut into the packets that ffprobe lists, whatever the chunks and
//! by position; a wrong frame count and odd headers do no harm; truncated is never a clean end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_support;

use cut_support::{Outcome, cut_all_ways, edited, edits, sizes};
use proptest::prelude::*;
use tickpipe_components::cut::{FnSource, FourCc, ReadFault, Span};
use tickpipe_components::ivf::{
    FrameHead, FrameInfo, Header, Index, IndexError, IvfWarning, Part, Rate, Splitter,
};

/// `ffmpeg -f lavfi -i testsrc=s=32x24:r=25 -t 0.2 -c:v libvpx -b:v 100k vp8.ivf`, FFmpeg 5.1.
const VP8: &[u8] = include_bytes!("data/media/vp8.ivf");
/// The same with `r=30000/1001` and `-c:v libaom-av1`.
const AV1: &[u8] = include_bytes!("data/media/av1.ivf");

const LIMIT: usize = 1000;

fn read(bytes: &[u8], sizes: &[usize]) -> Outcome<FrameInfo, Part> {
    cut_all_ways(Splitter::new, LIMIT, bytes, sizes)
}

/// Offset of the payload, size and time of each packet, as ffprobe lists them.
const AV1_PACKETS: [(u64, u64, u64); 6] = [
    (44, 517, 0),
    (573, 205, 1),
    (790, 5, 2),
    (807, 23, 3),
    (842, 22, 4),
    (876, 22, 5),
];

fn spans(index: &Index) -> Vec<(u64, u64, u64)> {
    let entry = |f: &tickpipe_components::ivf::Entry| (f.data.offset, f.data.len, f.pts);
    index.frames.iter().map(entry).collect()
}

#[test]
fn packets_are_those_that_ffprobe_lists() {
    let index = Index::build(VP8, 100).unwrap();
    let expected = [
        (44, 663, 0),
        (719, 140, 1),
        (871, 118, 2),
        (1001, 117, 3),
        (1130, 108, 4),
    ];
    assert_eq!(spans(&index), expected);
    let header = Header {
        fourcc: FourCc(*b"VP80"),
        width: 32,
        height: 24,
        rate: Some(Rate { num: 25, den: 1 }),
        frames: Some(5),
        bytes: 32,
    };
    assert_eq!((index.header, &index.warnings[..]), (header, &[][..]));
    assert_eq!(header.to_bytes(), VP8[..32]);

    let index = Index::build(AV1, 100).unwrap();
    assert_eq!(spans(&index), AV1_PACKETS);
    let rate = Rate {
        num: 30_000,
        den: 1001,
    };
    assert_eq!(index.header.rate, Some(rate));
    assert_eq!(
        [0, 1, 4, 5, 99].map(|t| index.at(t).unwrap()),
        [0, 1, 4, 5, 5]
    );
}

#[test]
fn chunks_positions_and_the_index_give_the_same_frames() {
    for file in [VP8, AV1] {
        let got = read(file, &[100, 3]);
        let index = Index::build(file, 100).unwrap();
        let by_index: Vec<_> = (0..)
            .zip(&index.frames)
            .map(|(number, f)| {
                let data = file[f.data.offset as usize..f.data.end() as usize].to_vec();
                (data, FrameInfo { number, pts: f.pts })
            })
            .collect();
        assert_eq!(got.frames(), by_index);
        assert_eq!(got.end(), None);
        assert_eq!(got.parts(), [Part::Header(index.header)]);
    }
}

#[test]
fn the_number_of_frames_is_not_relied_on() {
    let frames = read(AV1, &[9]).frames();
    for (written, told) in [(0u32, None), (u32::MAX, None), (2, Some(2)), (99, Some(99))] {
        let mut file = AV1.to_vec();
        file[24..28].copy_from_slice(&written.to_le_bytes());
        let got = read(&file, &[9]);
        assert_eq!(got.frames(), frames);
        let [Part::Header(header)] = got.parts()[..] else {
            panic!();
        };
        assert_eq!(header.frames, told);
    }
}

#[test]
fn odd_headers_are_read_and_told() {
    let mut file = VP8.to_vec();
    file[4] = 7;
    file[6] = 12;
    file[20] = 0;
    let got = read(&file, &[5]);
    assert_eq!(got.frames().len(), 5);
    let texts: Vec<String> = got
        .parts()
        .iter()
        .filter_map(|p| match p {
            Part::Warning(w) => Some(w.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        texts,
        [
            "byte 4: version 7, read as version 0",
            "byte 6: a header of 12 bytes, taken for 32",
            "byte 16: time base 0/25 has a part of 0; the times of frames mean nothing",
        ]
    );
    let no_rate = IvfWarning::NoRate { num: 25, den: 0 };
    assert_eq!(Index::build(&file[..], 9).unwrap().warnings[2], no_rate);
}

#[test]
fn a_longer_header_is_passed_over() {
    let mut file = VP8.to_vec();
    file[6] = 40;
    file.splice(32..32, *b"8 bytes!");
    assert_eq!(read(&file, &[33]).frames(), read(VP8, &[9]).frames());
}

#[test]
fn every_cut_says_what_is_missing() {
    for cut in 0..AV1.len() {
        let got = read(&AV1[..cut], &[50]);
        let whole = AV1_PACKETS
            .iter()
            .filter(|p| p.0 + p.1 <= cut as u64)
            .count();
        assert_eq!(got.frames().len(), whole);
        let begin = match whole {
            0 => 32,
            n => AV1_PACKETS[n - 1].0 + AV1_PACKETS[n - 1].1,
        };
        let have = (cut as u64).saturating_sub(begin);
        let expected = match (cut, have) {
            (0, _) => Some("empty: no IVF header".to_owned()),
            (1..=31, _) => Some(format!(
                "truncated: IVF header at byte 0, {cut} of 32 bytes"
            )),
            (_, 0) => None,
            (_, 1..=11) => Some(format!(
                "truncated: IVF frame head at byte {begin}, {have} of 12 bytes"
            )),
            _ => Some(format!(
                "truncated: IVF frame at byte {begin}, {have} of {} bytes",
                AV1_PACKETS[whole].1 + 12
            )),
        };
        assert_eq!(got.end(), expected);
        if cut >= 32 {
            let index = Index::build(&AV1[..cut], 9).unwrap();
            assert_eq!(index.frames.len(), whole);
            assert_eq!(index.rest.is_some(), expected.is_some());
        } else {
            let text = Index::build(&AV1[..cut], 9).unwrap_err().to_string();
            assert_eq!(Some(text), expected);
        }
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let text = |bytes: &[u8]| read(bytes, &[2]).error.unwrap();
    assert_eq!(
        text(b"DKIG"),
        "not an IVF file: expected \"DKIF\" at byte 0, found \"DKIG\""
    );
    assert_eq!(
        text(b"\x00"),
        "not an IVF file: expected \"DKIF\" at byte 0, found \"\\x00\""
    );
    let mut file = AV1.to_vec();
    file[561..565].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        text(&file),
        "IVF frame at byte 561 takes 4294967307 bytes, allowed are 1000"
    );
    // By its head alone, the same frame is cut off.
    let rest = Index::build(&file[..], 9).unwrap().rest.unwrap();
    assert_eq!(
        rest.to_string(),
        "truncated: IVF frame at byte 561, 337 of 4294967307 bytes"
    );
    let too_many = IndexError::TooMany {
        limit: 2,
        offset: 778,
    };
    assert_eq!(Index::build(AV1, 2), Err(too_many.clone()));
    assert_eq!(
        too_many.to_string(),
        "frame 2 at byte 778: an index has at most 2 frames"
    );
    let broken = FnSource::new(1000, |offset, out: &mut [u8]| {
        Err(ReadFault {
            offset,
            len: out.len() as u64,
            kind: std::io::ErrorKind::PermissionDenied,
        })
    });
    assert_eq!(
        Index::build(&broken, 2).unwrap_err().to_string(),
        "cannot read 32 bytes at byte 0: permission denied"
    );
}

fn file() -> impl Strategy<Value = (Header, Vec<(u64, Vec<u8>)>)> {
    let rate =
        prop::option::of((1u32.., 1u32..)).prop_map(|r| r.map(|(num, den)| Rate { num, den }));
    let header = (
        any::<[u8; 4]>(),
        any::<u16>(),
        any::<u16>(),
        rate,
        prop::option::of(1u32..u32::MAX),
    )
        .prop_map(|(fourcc, width, height, rate, frames)| Header {
            fourcc: FourCc(fourcc),
            width,
            height,
            rate,
            frames,
            bytes: 32,
        });
    let frame = (any::<u64>(), prop::collection::vec(any::<u8>(), 0..200));
    (header, prop::collection::vec(frame, 0..8))
}

fn written(header: &Header, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut out = header.to_bytes().to_vec();
    for (pts, data) in frames {
        let head = FrameHead {
            size: data.len() as u32,
            pts: *pts,
        };
        out.extend(head.to_bytes());
        out.extend(data);
    }
    out
}

proptest! {
    #[test]
    fn what_is_written_is_read((header, frames) in file(), sizes in sizes()) {
        let bytes = written(&header, &frames);
        let got = read(&bytes, &sizes);
        let found: Vec<_> = got.frames().into_iter().map(|(d, info)| (info.pts, d)).collect();
        prop_assert_eq!(found, frames);
        prop_assert_eq!(got.parts()[0], Part::Header(header));
        prop_assert_eq!(got.end(), None);
    }

    #[test]
    fn changed_files_are_cut_the_same_in_all_ways(edits in edits(), sizes in sizes()) {
        let bytes = edited(AV1, &edits);
        let got = read(&bytes, &sizes);
        // The index sees the same frames, up to one that is too large.
        if let Ok(index) = Index::build(&bytes[..], 10_000) {
            let span = |p: &cut_support::Piece<FrameInfo, Part>| match p {
                cut_support::Piece::Frame { at, data, .. } => {
                    Some(Span { offset: *at, len: data.len() as u64 })
                }
                _ => None,
            };
            let found: Vec<Span> = got.pieces.iter().filter_map(span).collect();
            let listed: Vec<Span> = index.frames.iter().map(|f| f.data).collect();
            if got.error.is_none() {
                prop_assert_eq!(found, listed);
            } else {
                prop_assert!(listed.starts_with(&found));
            }
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), sizes in sizes()) {
        read(&bytes, &sizes);
        read(&[&VP8[..32], &bytes].concat(), &sizes);
    }
}
