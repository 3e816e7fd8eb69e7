//! Source of B53's second half: https://github.com/pdeljanov/Symphonia/issues/380 ,
//! https://github.com/naudio/NAudio/issues/688
//! Contract: a WAV header that lies about sizes costs no sample and gives one warning; any chunks, and
//! reading by position, give the same blocks; truncated is told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_support;

use cut_support::{Outcome, cut, cut_all_ways, edited, edits, sizes};
use proptest::prelude::*;
use tickpipe_components::cut::{FourCc, Span};
use tickpipe_components::wav::{
    Block, DataTooLong, Format, Part, Samples, Splitter, WavFile, WavWarning, header_bytes, padding,
};

// `ffmpeg -f lavfi -i sine=r=8000 -t 0.01 -ac 2 -c:a CODEC`, FFmpeg 5.1: 80 samples each.
const U8: &[u8] = include_bytes!("data/media/u8.wav");
const S16: &[u8] = include_bytes!("data/media/s16.wav");
/// FFmpeg writes more than 16 bits as WAVE_FORMAT_EXTENSIBLE.
const S24: &[u8] = include_bytes!("data/media/s24.wav");
const F32: &[u8] = include_bytes!("data/media/f32.wav");
/// `-rf64 always`
const RF64: &[u8] = include_bytes!("data/media/rf64.wav");
/// Written to a pipe: both sizes are 4294967295.
const STREAM: &[u8] = include_bytes!("data/media/stream.wav");

const LIMIT: usize = 4000;

fn read(bytes: &[u8], block: u32) -> Outcome<Block, Part> {
    cut_all_ways(|| Splitter::new(block), LIMIT, bytes, &[100, 3])
}

fn samples(outcome: &Outcome<Block, Part>) -> Vec<u8> {
    outcome.frames().into_iter().flat_map(|(d, _)| d).collect()
}

fn warnings(outcome: &Outcome<Block, Part>) -> Vec<WavWarning> {
    let warning = |p: Part| match p {
        Part::Warning(w) => Some(w),
        _ => None,
    };
    outcome.parts().into_iter().filter_map(warning).collect()
}

fn texts(outcome: &Outcome<Block, Part>) -> Vec<String> {
    warnings(outcome).iter().map(ToString::to_string).collect()
}

fn set(file: &[u8], at: usize, value: u32) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
    file
}

/// `RIFF`, `WAVE`, these chunks as they are.
fn riff(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = b"WAVE".to_vec();
    for (id, data) in chunks {
        body.extend(*id);
        body.extend((data.len() as u32).to_le_bytes());
        body.extend(*data);
        body.extend(vec![0; data.len() % 2]);
    }
    let len = (body.len() as u32).to_le_bytes();
    [b"RIFF", &len[..], &body].concat()
}

/// A `fmt ` body.
fn fmt(tag: u16, channels: u16, rate: u32, align: u16, bits: u16) -> Vec<u8> {
    let byte_rate = rate * u32::from(align);
    [
        &tag.to_le_bytes()[..],
        &channels.to_le_bytes(),
        &rate.to_le_bytes(),
        &byte_rate.to_le_bytes(),
        &align.to_le_bytes(),
        &bits.to_le_bytes(),
    ]
    .concat()
}

#[test]
fn formats_and_samples_are_those_that_ffprobe_lists() {
    let plain = |samples| Format::plain(samples, 2, 8000).unwrap();
    let extensible = |samples| Format {
        extensible: true,
        mask: Some(3),
        ..plain(samples)
    };
    // Format, and where ffprobe says that the packet begins.
    let cases = [
        (U8, plain(Samples::U8), 78),
        (S16, plain(Samples::S16), 78),
        (S24, extensible(Samples::S24), 102),
        (F32, extensible(Samples::F32), 114),
        (RF64, plain(Samples::S16), 114),
        (STREAM, plain(Samples::S16), 78),
    ];
    for (bytes, format, at) in cases {
        let file = WavFile::open(bytes).unwrap();
        assert_eq!((file.format, file.data.offset), (format, at));
        assert_eq!(file.samples(), 80);
        assert_eq!(file.data.end(), bytes.len() as u64);
        let got = read(bytes, 32);
        let blocks: Vec<_> = got
            .frames()
            .iter()
            .map(|(d, b)| (b.number, b.first, b.samples, d.len()))
            .collect();
        let align = format.block_align as usize;
        assert_eq!(
            blocks,
            [
                (0, 0, 32, 32 * align),
                (1, 32, 32, 32 * align),
                (2, 64, 16, 16 * align)
            ]
        );
        assert_eq!(samples(&got), bytes[at as usize..]);
        assert_eq!(got.end(), None);
        assert_eq!(warnings(&got), file.warnings);
        if bytes != STREAM {
            assert_eq!(file.warnings, []);
        }
    }
    let codes: Vec<_> = [U8, S16, S24, F32]
        .map(|b| WavFile::open(b).unwrap().format.samples().unwrap())
        .to_vec();
    assert_eq!(
        codes,
        [Samples::U8, Samples::S16, Samples::S24, Samples::F32]
    );
}

#[test]
fn b53_a_size_that_lies_costs_no_sample_and_gives_one_warning() {
    let all = S16[78..].to_vec();
    let told = |bytes: &[u8]| {
        let got = read(bytes, 7);
        assert_eq!(samples(&got), all);
        assert_eq!(got.end(), None);
        let file = WavFile::open(bytes).unwrap();
        assert_eq!(
            file.data,
            Span {
                offset: 78,
                len: 320
            }
        );
        assert_eq!(file.warnings, warnings(&got));
        let texts = texts(&got);
        assert_eq!(texts.len(), 1);
        texts[0].clone()
    };
    assert_eq!(
        told(&set(S16, 4, 390 - 8)),
        "byte 4: RIFF size 382, at least 390 is needed; the data size counts"
    );
    assert_eq!(
        told(&set(S16, 4, u32::MAX)),
        "byte 4: RIFF size 4294967295, at least 390 is needed; the data size counts"
    );
    assert_eq!(
        told(&set(S16, 4, 0)),
        "byte 4: RIFF size 0, at least 390 is needed; the data size counts"
    );
    assert_eq!(
        told(STREAM),
        "byte 70: data size 4294967295 says nothing; taken until the end"
    );
    assert_eq!(
        told(&set(S16, 74, 0)),
        "byte 70: data size 0 says nothing; taken until the end"
    );
    let beyond = set(&set(S16, 74, 0x7FFF_0000), 4, 0x7FFF_0046);
    assert_eq!(
        told(&beyond),
        "data at byte 78: 320 of 2147418112 bytes are there"
    );
}

#[test]
fn chunks_in_any_order_odd_ones_padded_or_not() {
    let data = [7u8; 8];
    let fmt16 = fmt(1, 2, 8000, 4, 16);
    let usual = riff(&[
        (b"LIST", b"INFO."),
        (b"junk", b""),
        (b"fmt ", &fmt16),
        (b"odd ", b"abc"),
        (b"data", &data),
        (b"id3 ", b"x"),
        (b"LIST", b"INFO"),
    ]);
    let got = read(&usual, 10);
    assert_eq!((samples(&got), got.end()), (data.to_vec(), None));
    assert_eq!(texts(&got), [""; 0]);
    let ids: Vec<String> = got
        .parts()
        .iter()
        .filter_map(|p| match p {
            Part::Chunk { id } => Some(id.to_string()),
            Part::Pad => Some("pad".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        ids,
        [
            "\"LIST\"", "pad", "\"junk\"", "\"fmt \"", "\"odd \"", "pad", "\"id3 \"", "pad",
            "\"LIST\""
        ]
    );
    // The same without the pad byte behind "odd ".
    let mut unpadded = usual.clone();
    let at = usual.windows(3).position(|w| w == b"abc").unwrap() + 3;
    unpadded.remove(at);
    let got = read(&unpadded, 10);
    assert_eq!(samples(&got), data);
    assert_eq!(
        texts(&got),
        [format!("byte {at}: no pad byte behind a chunk of odd size")]
    );
    // Junk behind the samples is junk.
    let got = read(&[&usual[..], b"\x00\x01 and more"].concat(), 10);
    let junk = (usual.len() as u64, 11);
    assert_eq!((got.junk(), got.end()), (vec![junk], None));
    // A chunk behind the samples that is cut off is no clean end, yet no sample is lost.
    let got = read(&usual[..usual.len() - 2], 10);
    assert_eq!(samples(&got), data);
    assert_eq!(
        got.end().unwrap(),
        format!(
            "truncated: WAV chunk at byte {}, 10 of 12 bytes",
            usual.len() - 12
        )
    );
}

#[test]
fn what_a_format_says_and_what_is_believed() {
    let parse = |body: &[u8]| {
        let file = riff(&[(b"fmt ", body), (b"data", &[0; 48])]);
        let got = read(&file, 100);
        let texts = texts(&got);
        (WavFile::open(&file[..]).unwrap().format, texts)
    };
    let brief = |(f, texts): (Format, Vec<String>)| {
        (f.tag, f.block_align, f.sample_bytes, f.valid_bits, texts)
    };
    let none: Vec<String> = vec![];
    // 14 bytes: bits follow from block align.
    let short = &fmt(1, 2, 8000, 6, 0)[..14];
    assert_eq!(brief(parse(short)), (1, 6, 3, 24, none.clone()));
    // 20 bits in 3 bytes, 24 bits in 4: containers are wider than what counts.
    assert_eq!(
        brief(parse(&fmt(1, 2, 8000, 6, 20))),
        (1, 6, 3, 20, none.clone())
    );
    assert_eq!(
        brief(parse(&fmt(1, 1, 8000, 4, 24))),
        (1, 4, 4, 24, none.clone())
    );
    assert_eq!(
        brief(parse(&fmt(3, 1, 8000, 8, 64))),
        (3, 8, 8, 64, none.clone())
    );
    // Block align does not fit.
    let told = vec![
        "byte 32: block align 2, taken for 4".to_owned(),
        "byte 28: 16000 bytes a second, 32000 follow from rate and block align".to_owned(),
    ];
    assert_eq!(brief(parse(&fmt(1, 2, 8000, 2, 16))), (1, 4, 2, 16, told));
    // Another codec: its block is taken as written.
    assert_eq!(brief(parse(&fmt(2, 2, 8000, 16, 4))), (2, 16, 8, 4, none));
    // Extensible without extension, and with an unknown subformat.
    let got = parse(&fmt(0xFFFE, 1, 8000, 2, 16));
    assert_eq!(got.0, Format::plain(Samples::S16, 1, 8000).unwrap());
    let text = "byte 12: an extensible fmt of 16 bytes, 40 are needed; taken for PCM";
    assert_eq!(got.1, [text]);
    let extension = b"\x16\0\x0C\0\x07\0\0\0\x03\0other subformat";
    let body = [&fmt(0xFFFE, 1, 8000, 4, 32)[..], &extension[..24]].concat();
    let (format, texts) = parse(&body);
    assert_eq!(
        (format.tag, format.valid_bits, format.mask),
        (3, 12, Some(7))
    );
    assert_eq!(
        texts,
        [
            "byte 44: unknown subformat, its first bytes are taken for tag 3",
            "byte 40: channel mask 0x7 does not name 1 channels",
        ]
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    let text = |bytes: &[u8]| {
        let text = read(bytes, 10).end().unwrap();
        assert_eq!(WavFile::open(bytes).unwrap_err().to_string(), text);
        text
    };
    let pcm = fmt(1, 2, 8000, 4, 16);
    let with = |body: &[u8]| riff(&[(b"fmt ", body), (b"data", &[0; 8])]);
    let cases = [
        (b"".to_vec(), "empty: no WAV header"),
        (
            b"RIFX".to_vec(),
            "not a WAV file: expected RIFF, RF64 or BW64 at byte 0, found \"RIFX\"",
        ),
        (
            b"RIFF\0\0\0\0AVI ".to_vec(),
            "not a WAV file: expected WAVE at byte 8, found \"AVI \"",
        ),
        (
            b"RIFF\0\0".to_vec(),
            "truncated: WAV header at byte 0, 6 of 12 bytes",
        ),
        (riff(&[]), "byte 12: the file ends without a data chunk"),
        (
            riff(&[(b"fmt ", &pcm)]),
            "byte 36: the file ends without a data chunk",
        ),
        (
            riff(&[(b"data", &[0; 8])]),
            "byte 12: data begins and there was no fmt chunk before",
        ),
        (
            riff(&[(b"\0\x01ab", b"")]),
            "byte 12: expected a chunk, found \"\\x00\\x01ab\"",
        ),
        (
            with(&pcm[..13]),
            "byte 12: fmt of 13 bytes, at least 14 are needed",
        ),
        (
            with(&fmt(1, 0, 8000, 4, 16)),
            "byte 22: channels must be from 1 to 65535, found 0",
        ),
        (
            with(&fmt(1, 2, 0, 4, 16)),
            "byte 24: rate must be from 1 to 4294967295, found 0",
        ),
        (
            with(&fmt(1, 2, 8000, 0, 0)),
            "byte 34: bits must be from 1 to 64, found 0",
        ),
        (
            with(&fmt(1, 1, 8000, 9, 65)),
            "byte 34: bits must be from 1 to 64, found 65",
        ),
        (
            with(&fmt(2, 2, 8000, 0, 4)),
            "byte 32: block align must be from 1 to 65535, found 0",
        ),
        (
            S16[..60].to_vec(),
            "truncated: WAV chunk at byte 36, 24 of 34 bytes",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(text(&bytes), expected);
    }
    let got = read(S16, 5000);
    let expected = "samples at byte 78 takes 320 bytes, allowed are 300";
    let small = cut_all_ways(|| Splitter::new(5000), 300, S16, &[9]);
    assert_eq!((got.error, small.error.as_deref()), (None, Some(expected)));
}

#[test]
fn every_cut_of_the_samples_keeps_the_whole_ones() {
    for cut in 78..S16.len() {
        let got = read(&S16[..cut], 9);
        let (whole, part) = ((cut - 78) / 4 * 4, (cut - 78) % 4);
        assert_eq!(samples(&got), S16[78..78 + whole]);
        let text = format!("data at byte 78: {} of 320 bytes are there", cut - 78);
        assert_eq!(texts(&got), [text]);
        let rest = format!(
            "truncated: sample at byte {}, {part} of 4 bytes",
            cut - part
        );
        assert_eq!(got.end(), (part > 0).then_some(rest));
        let file = WavFile::open(&S16[..cut]).unwrap();
        assert_eq!(file.data.len, whole as u64);
        assert_eq!(file.warnings[0], warnings(&got)[0]);
    }
    // The size itself may be no whole number of samples.
    let got = read(&set(S16, 74, 319), 100);
    assert_eq!(samples(&got), S16[78..394]);
    assert_eq!(
        texts(&got),
        ["byte 394: 3 bytes at the end of data are no whole sample of 4"]
    );
}

#[test]
fn a_second_format_does_not_count() {
    let (a, b) = (fmt(1, 2, 8000, 4, 16), fmt(1, 1, 9000, 1, 8));
    let file = riff(&[(b"fmt ", &a), (b"fmt ", &b), (b"data", &[0; 8])]);
    let got = read(&file, 10);
    assert_eq!(
        texts(&got),
        ["byte 36: a second \"fmt \" chunk; the first counts"]
    );
    assert_eq!(WavFile::open(&file[..]).unwrap().format.rate, 8000);
}

#[test]
fn places_of_samples() {
    let file = WavFile::open(S16).unwrap();
    let span = |offset, len| Span { offset, len };
    assert_eq!(file.block(0, 3), span(78, 12));
    assert_eq!(file.block(79, 3), span(78 + 316, 4));
    assert_eq!(file.block(u64::MAX, u32::MAX), span(398, 0));
}

#[test]
fn a_plain_header_has_44_bytes_and_too_many_samples_are_refused() {
    let format = Format::plain(Samples::S16, 2, 44_100).unwrap();
    let header = header_bytes(&format, Some(5)).unwrap();
    let expected = b"RIFF\x2A\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x44\xAC\0\0\x10\xB1\x02\0\x04\0\x10\0data\x05\0\0\0";
    assert_eq!(header, expected);
    let error = header_bytes(&format, Some(u64::from(u32::MAX) - 37)).unwrap_err();
    let max = u64::from(u32::MAX) - 38;
    assert_eq!(error, DataTooLong { len: max + 1, max });
    assert_eq!(
        error.to_string(),
        "4294967258 bytes of samples do not fit in a WAV file, allowed are 4294967257"
    );
    let longest = header_bytes(&format, Some(max)).unwrap();
    assert_eq!(longest[4..8], (u32::MAX - 1).to_le_bytes());
    assert_eq!(Format::plain(Samples::S16, 0, 1), None);
}

fn format() -> impl Strategy<Value = Format> {
    let samples = prop::sample::select(&Samples::ALL[..]);
    (samples, 1u16..9, 1u32..400_000, any::<bool>()).prop_map(
        |(samples, channels, rate, extensible)| {
            let plain = Format::plain(samples, channels, rate).unwrap();
            let mask = extensible.then_some((1 << channels) - 1);
            Format {
                extensible,
                mask,
                ..plain
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        format in format(),
        data in prop::collection::vec(any::<u8>(), 0..300),
        known in any::<bool>(),
        block in 1u32..50,
        sizes in sizes(),
    ) {
        let align = format.block_align as usize;
        let data = &data[..data.len() / align * align];
        let len = known.then_some(data.len() as u64);
        let mut bytes = header_bytes(&format, len).unwrap();
        bytes.extend(data);
        if known {
            bytes.extend(vec![0; padding(data.len() as u64)]);
        }
        let got = cut_all_ways(|| Splitter::new(block), LIMIT, &bytes, &sizes);
        prop_assert_eq!(samples(&got), if known && data.is_empty() { &[][..] } else { data });
        prop_assert_eq!(got.end(), None);
        let file = WavFile::open(&bytes[..]).unwrap();
        prop_assert_eq!(file.format, format);
        let open = WavWarning::DataOpen {
            offset: file.data.offset - 8,
            written: len.unwrap_or(u64::from(u32::MAX)),
        };
        let expected = if known && !data.is_empty() { vec![] } else { vec![open] };
        prop_assert_eq!(file.warnings, expected);
    }

    #[test]
    fn changed_files_are_cut_the_same_in_all_ways(
        which in 0usize..4,
        edits in edits(),
        sizes in sizes(),
        block in 1u32..60,
    ) {
        let bytes = edited([S16, S24, RF64, F32][which], &edits);
        let got = cut_all_ways(|| Splitter::new(block), LIMIT, &bytes, &sizes);
        if got.error.is_none() && let Ok(file) = WavFile::open(&bytes[..]) {
            let data = &bytes[file.data.offset as usize..file.data.end() as usize];
            prop_assert_eq!(samples(&got), data);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), sizes in sizes()) {
        cut(Splitter::new(3), LIMIT, &bytes, &sizes);
        let with_head = [b"RIFF\0\0\0\0WAVE", &bytes[..]].concat();
        cut_all_ways(|| Splitter::new(3), LIMIT, &with_head, &sizes);
    }
}

#[test]
fn names_of_chunks_are_shown_as_they_are() {
    assert_eq!(FourCc(*b"fmt ").to_string(), "\"fmt \"");
}
