//! Contract: a stream is cut the same whatever the chunks; what is kept stays within the limit; every
//! byte is in exactly one piece; a stream that ends within something says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_support;

use cut_support::{Piece, cut, cut_all_ways, sizes};
use proptest::prelude::*;
use tickpipe_components::cut::{Cut, Cutter, Span, Split, Step, Truncated};

/// A format for tests: `F`, a length, that many bytes; `S`, a length, ten times as many bytes that
/// are passed over; `!` is a remark; `E` an error; anything else is junk.
#[derive(Clone, Debug, Default)]
struct Toy {
    remark: bool,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("E at byte {0}")]
struct Bad(u64);

impl Split for Toy {
    type Info = u8;
    type Part = char;
    type Error = Bad;

    fn step(&mut self, window: &[u8], at: u64, _last: bool) -> Result<Step<u8, char>, Bad> {
        let more = |need, what| Step::More {
            need,
            exact: true,
            what,
        };
        if std::mem::take(&mut self.remark) {
            return Ok(Step::Part { len: 0, part: '?' });
        }
        Ok(match window {
            [] => more(1, "anything"),
            [b'F' | b'S'] => more(2, "head"),
            [b'F', len, ..] => {
                let end = 2 + usize::from(*len);
                if window.len() < end {
                    return Ok(more(end as u64, "frame"));
                }
                Step::Frame {
                    len: end,
                    data: 2..end,
                    info: *len,
                }
            }
            [b'S', len, ..] => Step::Part {
                len: 2 + 10 * u64::from(*len),
                part: 'S',
            },
            [b'!', ..] => {
                self.remark = true;
                Step::Part { len: 1, part: '!' }
            }
            [b'E', ..] => return Err(Bad(at)),
            _ => Step::Junk { len: 1 },
        })
    }

    fn name(_: &char) -> &'static str {
        "part"
    }
}

fn span(offset: u64, len: u64) -> Span {
    Span { offset, len }
}

#[test]
fn frames_parts_junk_and_rest() {
    let bytes = b"xyF\x03abcS\x01..........!zF\x00F\x05ab";
    let got = cut_all_ways(Toy::default, 100, bytes, &[3]);
    let frame = |offset, data: &[u8]| Piece::Frame {
        span: span(offset, 2 + data.len() as u64),
        at: offset + 2,
        data: data.to_vec(),
        info: data.len() as u8,
    };
    let rest = Truncated {
        what: "frame",
        offset: 23,
        have: 4,
        need: Some(7),
    };
    let expected = vec![
        Piece::Junk(span(0, 2)),
        frame(2, b"abc"),
        Piece::Part(span(7, 12), 'S'),
        Piece::Part(span(19, 1), '!'),
        Piece::Part(span(20, 0), '?'),
        Piece::Junk(span(20, 1)),
        frame(21, b""),
        Piece::Rest(rest),
    ];
    assert_eq!(got.pieces, expected);
    let text = "truncated: frame at byte 23, 4 of 7 bytes";
    assert_eq!(got.end().unwrap(), text);
}

#[test]
fn a_clean_end_has_no_rest_and_junk_at_the_end_is_told() {
    assert_eq!(cut_all_ways(Toy::default, 9, b"", &[1]).pieces, []);
    let got = cut_all_ways(Toy::default, 9, b"F\x01a", &[2]);
    assert_eq!((got.pieces.len(), got.end()), (1, None));
    let got = cut_all_ways(Toy::default, 9, b"F\x01axxx", &[2]);
    assert_eq!((got.junk(), got.end()), (vec![(3, 3)], None));
}

#[test]
fn a_part_that_is_passed_over_may_be_cut_off_too() {
    let got = cut_all_ways(Toy::default, 9, b"x S\x02....", &[2]);
    assert_eq!(got.junk(), [(0, 2)]);
    let text = "truncated: part at byte 2, 6 of 22 bytes";
    assert_eq!(got.end().unwrap(), text);
}

#[test]
fn too_large_is_told_when_the_size_is_known_with_place_and_size() {
    let got = cut_all_ways(Toy::default, 6, b"F\x04abcd F\x05abcde", &[2]);
    assert_eq!(got.frames().len(), 1);
    let text = "frame at byte 7 takes 7 bytes, allowed are 6";
    assert_eq!(got.error.as_deref(), Some(text));
    // The size is enough; the bytes need not come.
    let got = cut_all_ways(Toy::default, 6, b"F\xFF", &[2]);
    let text = "frame at byte 0 takes 257 bytes, allowed are 6";
    assert_eq!(got.error.as_deref(), Some(text));
}

#[test]
fn a_format_s_error_comes_after_all_that_was_before_it() {
    let got = cut_all_ways(Toy::default, 9, b"F\x01axxE", &[2]);
    assert_eq!(got.frames().len(), 1);
    assert_eq!(got.junk(), [(3, 2)]);
    assert_eq!(got.error.as_deref(), Some("E at byte 5"));
}

#[test]
fn a_frame_that_lies_whole_in_a_chunk_is_given_from_there() {
    let input = b"F\x03abcF\x02de".to_vec();
    let mut cutter = Cutter::new(Toy::default(), 100);
    let (used, got) = cutter.next(&input).unwrap();
    let Cut::Frame { data, .. } = got else {
        panic!("{got:?}");
    };
    assert_eq!(data.as_ptr(), input[2..].as_ptr());
    assert_eq!((used, cutter.kept()), (5, 0));
}

/// Streams of the toy format with everything in them.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60).prop_map(|data| [
            &[b'F', data.len() as u8][..],
            &data
        ]
        .concat()),
        (0u8..4).prop_map(|n| [&[b'S', n][..], &vec![b'F'; 10 * usize::from(n)]].concat()),
        Just(b"!".to_vec()),
        prop::collection::vec(b'a'..=b'z', 1..30),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_chunks_give_the_same(bytes in stream(), sizes in sizes(), limit in 2usize..80) {
        cut_all_ways(Toy::default, limit, &bytes, &sizes);
    }

    #[test]
    fn frames_are_found_as_they_were_written(
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..8),
        sizes in sizes(),
    ) {
        let mut bytes = Vec::new();
        for data in &frames {
            bytes.extend([b'F', data.len() as u8]);
            bytes.extend(data);
        }
        let got = cut(Toy::default(), 62, &bytes, &sizes);
        let found: Vec<_> = got.frames().into_iter().map(|(data, _)| data).collect();
        prop_assert_eq!(found, frames);
        prop_assert_eq!(got.end(), None);
    }
}
