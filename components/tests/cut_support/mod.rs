//! Cuts streams in chunks of given sizes, and by position, and checks that every byte is in
//! exactly one piece.
#![allow(dead_code, reason = "each test file uses its part")]

use proptest::prelude::*;
use tickpipe_components::cut::{Cut, Cutter, FnSource, ReadAt, Span, Split, Truncated, Walker};

/// A [`Cut`] that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<I, P> {
    Frame {
        span: Span,
        at: u64,
        data: Vec<u8>,
        info: I,
    },
    Junk(Span),
    Part(Span, P),
    Rest(Truncated),
}

impl<I, P> Piece<I, P> {
    pub fn span(&self) -> Span {
        match self {
            Piece::Frame { span, .. } | Piece::Junk(span) | Piece::Part(span, _) => *span,
            Piece::Rest(rest) => rest.span(),
        }
    }
}

/// What cutting came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<I, P> {
    pub pieces: Vec<Piece<I, P>>,
    /// The error's text.
    pub error: Option<String>,
}

impl<I: Clone, P: Clone> Outcome<I, P> {
    pub fn frames(&self) -> Vec<(Vec<u8>, I)> {
        let frame = |p: &Piece<I, P>| match p {
            Piece::Frame { data, info, .. } => Some((data.clone(), info.clone())),
            _ => None,
        };
        self.pieces.iter().filter_map(frame).collect()
    }

    pub fn junk(&self) -> Vec<(u64, u64)> {
        let junk = |p: &Piece<I, P>| match p {
            Piece::Junk(span) => Some((span.offset, span.len)),
            _ => None,
        };
        self.pieces.iter().filter_map(junk).collect()
    }

    pub fn parts(&self) -> Vec<P> {
        let part = |p: &Piece<I, P>| match p {
            Piece::Part(_, part) => Some(part.clone()),
            _ => None,
        };
        self.pieces.iter().filter_map(part).collect()
    }

    /// The text of the rest, or of the error.
    pub fn end(&self) -> Option<String> {
        let rest = match self.pieces.last() {
            Some(Piece::Rest(rest)) => Some(rest.to_string()),
            _ => None,
        };
        self.error.clone().or(rest)
    }

    /// Every byte up to the end, or up to the error, is in one piece; frames hold the input's bytes.
    pub fn check_bytes(&self, bytes: &[u8]) {
        let mut next = 0;
        for piece in &self.pieces {
            let span = piece.span();
            assert_eq!(span.offset, next, "pieces follow each other");
            next = span.end();
            if let Piece::Frame { at, data, .. } = piece {
                let at = *at as usize;
                assert_eq!(&bytes[at..at + data.len()], &data[..]);
                assert!(span.offset <= at as u64 && at as u64 + data.len() as u64 <= span.end());
            }
        }
        if self.error.is_none() {
            assert_eq!(next, bytes.len() as u64, "every byte is in a piece");
        } else {
            assert!(next <= bytes.len() as u64);
        }
    }
}

fn own<I, P>(cut: Cut<'_, I, P>) -> Option<Piece<I, P>> {
    Some(match cut {
        Cut::NeedInput | Cut::End => return None,
        Cut::Frame {
            span,
            data_offset,
            data,
            info,
        } => Piece::Frame {
            span,
            at: data_offset,
            data: data.to_vec(),
            info,
        },
        Cut::Junk(span) => Piece::Junk(span),
        Cut::Part { span, part } => Piece::Part(span, part),
        Cut::Rest(rest) => Piece::Rest(rest),
    })
}

/// Cuts in chunks of these sizes, again from the start when they are used up. Each call gets what is
/// left of one chunk only, and no more than `limit` bytes are ever kept.
pub fn cut<S: Split>(
    split: S,
    limit: usize,
    bytes: &[u8],
    sizes: &[usize],
) -> Outcome<S::Info, S::Part> {
    let mut cutter = Cutter::new(split, limit);
    let mut pieces = Vec::new();
    let mut rest = bytes;
    let mut calls = 0;
    for size in sizes.iter().cycle() {
        let (mut chunk, tail) = rest.split_at((*size).min(rest.len()));
        rest = tail;
        loop {
            calls += 1;
            assert!(calls < 20 * bytes.len() + 1000, "goes on for ever");
            let (used, cut) = match cutter.next(chunk) {
                Ok(got) => got,
                Err(error) => {
                    let error = error.to_string();
                    for again in [cutter.next(b"more").err(), cutter.last().err()] {
                        assert_eq!(again.unwrap().to_string(), error, "for ever");
                    }
                    let error = Some(error);
                    return Outcome { pieces, error };
                }
            };
            chunk = &chunk[used..];
            match own(cut) {
                Some(piece) => pieces.push(piece),
                None => {
                    assert!(chunk.is_empty(), "input is asked for when it is used up");
                    break;
                }
            }
            assert!(cutter.kept() <= limit);
        }
        if rest.is_empty() {
            break;
        }
    }
    let error = loop {
        calls += 1;
        assert!(calls < 20 * bytes.len() + 2000, "goes on for ever");
        match cutter.last() {
            Ok(cut) => match own(cut) {
                Some(piece) => pieces.push(piece),
                None => break None,
            },
            Err(error) => break Some(error.to_string()),
        }
    };
    Outcome { pieces, error }
}

/// Cuts by position, from a source that reads at most 7 bytes at a time.
pub fn walk<S: Split>(split: S, limit: usize, bytes: &[u8]) -> Outcome<S::Info, S::Part> {
    let source = FnSource::new(bytes.len() as u64, |at, out: &mut [u8]| {
        let count = out.len().min(7);
        bytes.read_at(at, &mut out[..count])
    });
    let mut walker = Walker::new(&source, split, limit, 0);
    let mut pieces = Vec::new();
    let error = loop {
        assert!(pieces.len() < 4 * bytes.len() + 100, "goes on for ever");
        match walker.next_cut() {
            Ok(cut) => match own(cut) {
                Some(piece) => pieces.push(piece),
                None => break None,
            },
            Err(error) => break Some(error.to_string()),
        }
    };
    Outcome { pieces, error }
}

/// Whole, byte by byte, in `sizes` and by position: the same pieces; returns them.
pub fn cut_all_ways<S>(
    make: impl Fn() -> S,
    limit: usize,
    bytes: &[u8],
    sizes: &[usize],
) -> Outcome<S::Info, S::Part>
where
    S: Split,
    S::Info: PartialEq,
    S::Part: PartialEq,
{
    let whole = cut(make(), limit, bytes, &[usize::MAX]);
    whole.check_bytes(bytes);
    same(&cut(make(), limit, bytes, &[1]), &whole, "byte by byte");
    same(&cut(make(), limit, bytes, sizes), &whole, "in chunks");
    same(&walk(make(), limit, bytes), &whole, "by position");
    whole
}

/// Shows the first difference only.
fn same<I, P>(got: &Outcome<I, P>, whole: &Outcome<I, P>, how: &str)
where
    I: PartialEq + std::fmt::Debug,
    P: PartialEq + std::fmt::Debug,
{
    for (at, (a, b)) in got.pieces.iter().zip(&whole.pieces).enumerate() {
        assert_eq!(a, b, "piece {at} {how}, and whole");
    }
    let count = |o: &Outcome<I, P>| (o.pieces.len(), o.error.clone());
    assert_eq!(
        count(got),
        count(whole),
        "pieces and error {how}, and whole"
    );
}

/// Sizes of chunks.
pub fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1usize..8, 1usize..200, 1usize..9000], 1..8)
}

/// One change of a file.
#[derive(Clone, Debug)]
pub enum Edit {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Number(prop::sample::Index, u32),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Truncate(prop::sample::Index),
    Repeat(prop::sample::Index, usize),
}

/// A few changes.
pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = any::<prop::sample::Index>;
    let number = prop_oneof![
        Just(0u32),
        Just(1),
        Just(u32::MAX),
        Just(0x7FFF_FFFF),
        0u32..300,
        any::<u32>()
    ];
    let edit = prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, b)| Edit::Set(at, b)),
        (place(), 0u8..8).prop_map(|(at, b)| Edit::Flip(at, 1 << b)),
        (place(), number).prop_map(|(at, n)| Edit::Number(at, n)),
        (place(), 1usize..40).prop_map(|(at, n)| Edit::Remove(at, n)),
        (place(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, b)| Edit::Insert(at, b)),
        place().prop_map(Edit::Truncate),
        (place(), 1usize..64).prop_map(|(at, n)| Edit::Repeat(at, n)),
    ];
    prop::collection::vec(edit, 0..4)
}

/// The file with the changes.
pub fn edited(file: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = file.to_vec();
    for edit in edits {
        if out.is_empty() {
            break;
        }
        match edit {
            Edit::Set(at, byte) => *at.get_mut(&mut out) = *byte,
            Edit::Flip(at, bit) => *at.get_mut(&mut out) ^= bit,
            Edit::Number(at, number) => {
                let at = at.index(out.len());
                for (to, from) in out[at..].iter_mut().zip(number.to_le_bytes()) {
                    *to = from;
                }
            }
            Edit::Remove(at, count) => {
                let at = at.index(out.len());
                let end = (at + count).min(out.len());
                out.drain(at..end);
            }
            Edit::Insert(at, bytes) => {
                let at = at.index(out.len());
                out.splice(at..at, bytes.iter().copied());
            }
            Edit::Truncate(at) => out.truncate(at.index(out.len())),
            Edit::Repeat(at, count) => {
                let at = at.index(out.len());
                let end = (at + count).min(out.len());
                let again = out[at..end].to_vec();
                out.splice(at..at, again);
            }
        }
    }
    out
}
