//! Where a file ends: within something it is truncated, wherever that is; what stands behind it is junk. The
//! same is told whether it is sent or read by position.

#![cfg(feature = "file")]

mod parsing;

use parsing::*;
use tickpipe::components::wav::{Format, Samples, header_bytes};
use tickpipe::{Removal, State};

/// Verdict, error, frames and junk of a file, which must be the same both ways.
fn both(name: &str, bytes: &[u8], parser: &str) -> (Option<String>, usize, u64) {
    let path = write(name, bytes);
    let mut told = Vec::new();
    for serve in ["true", "false"] {
        let element = parser.split(' ').next().unwrap_or_default();
        let text =
            format!("filesrc location={path} serve={serve} ! {parser} name=p ! fakesink name=k");
        let report = run(&text);
        let error = error_of(&report).map(|(domain, code)| format!("{domain}/{code}"));
        assert_eq!(
            error.is_none(),
            report.verdict.name() == "done",
            "{element} {serve}"
        );
        told.push((
            error,
            frames(&report, "k").len(),
            count(&report, "p", "junk"),
        ));
    }
    assert_eq!(told[0], told[1], "{name}");
    let _ = std::fs::remove_file(path);
    told.remove(0)
}

fn movie(index: Index) -> Vec<u8> {
    let frames: Vec<(usize, Vec<u8>)> = (0..3)
        .map(|n| (0, vec![n; 40 + 2 * usize::from(n)]))
        .collect();
    avi(&[Track::Video(*b"XVID", 24)], &frames, index)
}

#[test]
fn an_avi_file_that_is_cut_anywhere_among_its_frames_is_truncated() {
    for index in [Index::None, Index::Idx1(1)] {
        let whole = movie(index);
        assert_eq!(both("avi-whole", &whole, "avidemux"), (None, 3, 0));
        let movi = whole
            .windows(4)
            .position(|w| w == b"movi")
            .expect("it is there")
            + 4;
        // A list that counts its head as part of it is whole.
        for cut in movi..whole.len() - 8 {
            let (error, frames, _) = both("avi-cut", &whole[..cut], "avidemux");
            assert_eq!(error.as_deref(), Some("stream/truncated"), "at {cut}");
            let there = (0..3)
                .filter(|n| movi + 48 * (n + 1) + n * (n + 1) <= cut)
                .count();
            assert_eq!(frames, there, "at {cut}");
        }
    }
}

#[test]
fn what_stands_behind_an_avi_file_is_junk() {
    for index in [Index::None, Index::Idx1(1)] {
        for behind in [
            &[0; 5000][..],
            b"x",
            b"hello world",
            b"hello world, what a chunk this is",
        ] {
            let file = [&movie(index)[..], behind].concat();
            assert_eq!(
                both("avi-behind", &file, "avidemux"),
                (None, 3, 1),
                "{}",
                behind.len()
            );
        }
    }
}

fn wav(written: u64, samples: u64) -> Vec<u8> {
    let format = Format::plain(Samples::S16, 1, 8000).expect("a format");
    let mut file = header_bytes(&format, Some(2 * written)).expect("a header");
    file.extend((0..samples).flat_map(|n| (n as u16).to_le_bytes()));
    file
}

#[test]
fn what_stands_behind_a_wav_file_is_junk() {
    let whole = wav(5000, 5000);
    assert_eq!(both("wav-whole", &whole, "wavparse"), (None, 3, 0));
    for behind in [&b"x"[..], b"garbage that looks like a chunk", &[0; 9000]] {
        let file = [&whole[..], behind].concat();
        let (error, frames, junk) = both("wav-behind", &file, "wavparse");
        assert_eq!(
            (error, frames, junk > 0),
            (None, 3, true),
            "{}",
            behind.len()
        );
    }
    // A size that is longer than the file is not believed; only within a sample it is truncated.
    for cut in [whole.len() - 2, whole.len() - 4096] {
        let (error, ..) = both("wav-cut", &whole[..cut], "wavparse");
        assert_eq!(error, None, "at {cut}");
        let (error, ..) = both("wav-part", &whole[..cut - 1], "wavparse");
        assert_eq!(error.as_deref(), Some("stream/truncated"), "at {cut}");
    }
}

#[test]
fn who_pulls_can_be_taken_out_in_paused() {
    let path = write("paused", &movie(Index::None));
    for removal in [Removal::Drain, Removal::Discard] {
        for tick in 1..9 {
            let mut engine = engine();
            let text = format!("filesrc location={path} ! avidemux name=d ! fakesink name=k");
            let (p, _) = engine.launch("main", &text).expect("a graph");
            engine.set_state(p, State::Paused);
            (0..tick).for_each(|_| engine.tick());
            let d = engine.element(p, "d").expect("it is there");
            engine.remove(p, d, removal).expect("it is here");
            (0..9).for_each(|_| engine.tick());
            let report = engine.report(p);
            assert_eq!(
                report.invariant.map(|i| i.text),
                None,
                "{removal:?} at {tick}"
            );
        }
    }
    let _ = std::fs::remove_file(path);
}
