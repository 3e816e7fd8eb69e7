//! A parser over a file goes elsewhere at any tick, also before it has read the header: by frame and
//! by time, with a flush and without, and no stale frame comes behind it.

use tickpipe::components::time::TimeBase;
use tickpipe::{
    Engine, EngineOptions, Flush, MessageMask, Report, RunOptions, Script, Seek, SeekError,
};

const FRAMES: i64 = 60;

fn engine() -> Engine {
    Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine")
}

/// A file of sixty pictures at 25 a second.
fn file(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("tickpipe-{}-{name}.y4m", std::process::id()));
    let path = path.display().to_string();
    let text = format!(
        "videotestsrc pattern=snow num-buffers={FRAMES} ! video/x-raw,format=I420,width=16,height=16,\
         framerate=25/1 ! y4menc ! filesink location={path}"
    );
    let mut engine = engine();
    let (p, _) = engine.launch("main", &text).expect("a graph");
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    path
}

struct At(Vec<(u64, Seek)>, Vec<Option<String>>);

impl Script for At {
    fn before(&mut self, engine: &mut Engine, pipeline: tickpipe::PipelineHandle, tick: u64) {
        while let Some((_, seek)) = self.0.pop_if(|s| s.0 <= tick) {
            let refused = engine.seek(pipeline, seek).err();
            self.1.push(refused.map(|e| e.to_string()));
        }
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// How a file is read: blocks of it are sent, or it is read by position, with requests done in any order.
const WAYS: [&str; 4] = [
    "serve=false",
    "",
    "request-order=newest-first",
    "request-order=shuffled request-seed=3",
];

fn run(path: &str, how: &str, mut seeks: Vec<(u64, Seek)>) -> (Report, Vec<Option<String>>) {
    let mut engine = engine();
    let text = format!("filesrc location={path} {how} ! y4mdec ! fakesink name=k");
    let (p, _) = engine.launch("main", &text).expect("a graph");
    seeks.sort_by_key(|s| s.0);
    seeks.reverse();
    let mut script = At(seeks, Vec::new());
    let options = RunOptions {
        record: true,
        max_ticks: Some(2000),
        ..RunOptions::default()
    };
    let report = engine.run_script(p, &options, &mut (), &mut script);
    (report, script.1)
}

fn times(report: &Report) -> Vec<i64> {
    report.sinks[0]
        .frames
        .iter()
        .filter_map(|f| f.pts)
        .collect()
}

fn hashes(report: &Report) -> Vec<(i64, String)> {
    let frames = report.sinks[0].frames.iter();
    frames
        .map(|f| (f.pts.unwrap_or(-1), f.hash.clone()))
        .collect()
}

#[test]
fn at_every_tick_by_frame_and_by_time() {
    let path = file("every");
    WAYS.into_iter().for_each(|how| every_tick(&path, how));
    std::fs::remove_file(path).expect("it is there");
}

fn every_tick(path: &str, how: &str) {
    let (plain, _) = run(path, how, vec![]);
    let all = hashes(&plain);
    assert_eq!(times(&plain), (0..FRAMES).collect::<Vec<_>>());
    let ms = TimeBase::new(1, 1000).expect("valid");
    for at in 0..=plain.ticks {
        for seek in [Seek::frame(40).until(50), Seek::time(1600, ms).until(2000)] {
            let (report, refused) = run(path, how, vec![(at, seek)]);
            assert_eq!(refused, [None], "{how} at {at}");
            assert_eq!(report.verdict.name(), "done", "at {at}");
            let got = hashes(&report);
            let want = &all[40..50];
            assert!(got.ends_with(want), "at {at}: {:?}", times(&report));
            let before = &got[..got.len() - want.len()];
            assert_eq!(before, &all[..before.len()], "at {at}");
        }
        // And back, twice in a row.
        let (report, _) = run(
            path,
            how,
            vec![(at, Seek::frame(50)), (at + 1, Seek::frame(5).until(9))],
        );
        let got = times(&report);
        assert!(got.ends_with(&[5, 6, 7, 8]), "at {at}: {got:?}");
        assert!(!got.contains(&50) || at > 9, "{how} at {at}: {got:?}");
    }
}

#[test]
fn without_a_flush_the_new_part_follows() {
    let path = file("follows");
    for (at, how) in (4..10).flat_map(|at| WAYS.map(|how| (at, how))) {
        let seek = Seek::frame(30).until(33).without_flush();
        let (report, refused) = run(&path, how, vec![(at, seek)]);
        assert_eq!(refused, [None], "at {at}");
        let got = times(&report);
        let first = got.iter().position(|t| *t == 30).expect("it went there");
        assert_eq!(
            got[..first],
            (0..first as i64).collect::<Vec<_>>(),
            "at {at}"
        );
        assert_eq!(got[first..], [30, 31, 32], "at {at}");
    }
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let path = file("refused");
    WAYS.into_iter().for_each(|how| refused(&path, how));
    std::fs::remove_file(path).expect("it is there");
}

fn refused(path: &str, how: &str) {
    let too_far = Seek::frame(61);
    let before = Seek::frame(-1);
    let turned = Seek::frame(9).until(3);
    let (report, refused) = run(
        path,
        how,
        vec![(8, too_far), (8, before), (8, turned), (8, Seek::byte(3))],
    );
    assert_eq!(times(&report), (0..FRAMES).collect::<Vec<_>>());
    let texts: Vec<&str> = refused.iter().flatten().map(String::as_str).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts[0].contains("lies behind the end"), "{}", texts[0]);
    assert_eq!(texts[1], "cannot go to frame -1: it lies before the start");
    assert_eq!(
        texts[2],
        "cannot go to frame 9 until 3: it would end before it starts"
    );
    assert!(
        texts[3].contains("it counts frames and times, not bytes"),
        "{}",
        texts[3]
    );
}

#[test]
fn in_ready_the_last_one_counts_when_it_starts() {
    let path = file("ready");
    let mut engine = engine();
    let text = format!("filesrc location={path} ! y4mdec ! fakesink name=k");
    let (p, _) = engine.launch("main", &text).expect("a graph");
    for frame in [7, 50, 57] {
        engine.seek(p, Seek::frame(frame)).expect("it is kept");
    }
    engine.tick();
    engine.set_state(p, tickpipe::State::Playing);
    engine.wait(p, MessageMask::EOS).expect("it ends");
    assert_eq!(engine.taken(p), 3);
    let k = engine.element(p, "k").expect("it is there");
    assert_eq!(engine.position(k).map(|t| t.0), Some(59));
    // At the end it goes back, and ends again.
    engine.seek(p, Seek::frame(10).until(12)).expect("it can");
    engine.wait(p, MessageMask::EOS).expect("it ends");
    assert_eq!(engine.taken(p), 5);
    let error = engine.seek(p, Seek::frame(1).without_flush());
    assert!(matches!(error, Err(SeekError::Ended { .. })), "{error:?}");
    std::fs::remove_file(path).expect("it is there");
}

/// Flushes at some ticks.
struct Flushes(Vec<(u64, Flush)>);

impl Script for Flushes {
    fn before(&mut self, engine: &mut Engine, pipeline: tickpipe::PipelineHandle, tick: u64) {
        while let Some((_, flush)) = self.0.pop_if(|f| f.0 <= tick) {
            engine.flush(pipeline, None, flush);
        }
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn after_a_flush_the_next_whole_frame_goes_on() {
    let path = file("flush");
    let (whole, _) = run(&path, "", Vec::new());
    let whole = hashes(&whole);
    for blocks in [
        "serve=false",
        "",
        "request-order=newest-first",
        "blocksize=1000",
        "blocksize=391",
        "blocksize=97",
    ] {
        for tick in 0..70 {
            for held in [0, 3] {
                let mut engine = engine();
                let text = format!("filesrc location={path} {blocks} ! y4mdec ! fakesink name=k");
                let (p, _) = engine.launch("main", &text).expect("a graph");
                let flushes = match held {
                    0 => vec![(tick, Flush::Discard)],
                    _ => vec![(tick + held, Flush::Stop), (tick, Flush::Start)],
                };
                let options = RunOptions {
                    record: true,
                    max_ticks: Some(4000),
                    ..RunOptions::default()
                };
                let script = &mut Flushes(flushes);
                let report = engine.run_script(p, &options, &mut (), script);
                let at = format!("{blocks} at {tick} for {held}");
                // Only the header cannot be lost.
                if report.verdict.name() != "done" {
                    let told = report.messages.iter().find(|m| m.kind == "error");
                    let code = told.and_then(|m| m.code.as_deref());
                    assert_eq!((code, times(&report).len()), (Some("damaged"), 0), "{at}");
                    continue;
                }
                let got = hashes(&report);
                assert!(got.iter().all(|frame| whole.contains(frame)), "{at}");
                assert!(got.is_sorted_by_key(|f| f.0), "{at}");
            }
        }
    }
    let _ = std::fs::remove_file(path);
}

#[test]
fn who_is_not_fed_any_more_cannot_go_elsewhere() {
    let path = file("unfed");
    WAYS.into_iter().for_each(|how| unfed(&path, how));
    let _ = std::fs::remove_file(path);
}

fn unfed(path: &str, how: &str) {
    let mut engine = engine();
    let text = format!("filesrc name=f location={path} {how} ! y4mdec name=d ! fakesink name=k");
    let (p, _) = engine.launch("main", &text).expect("a graph");
    engine.set_state(p, tickpipe::State::Playing);
    (0..6).for_each(|_| engine.tick());
    let source = engine.element(p, "f").expect("it is there");
    let removed = engine.remove(p, source, tickpipe::Removal::Discard);
    removed.expect("it is there");
    (0..3).for_each(|_| engine.tick());
    let refused = engine.seek(p, Seek::frame(0)).expect_err("nobody can");
    assert!(
        refused.to_string().ends_with("nothing feeds it"),
        "{refused}"
    );
    let decoder = engine.element(p, "d").expect("it is there");
    let removed = engine.remove(p, decoder, tickpipe::Removal::Discard);
    removed.expect("it is there");
    (0..3).for_each(|_| engine.tick());
    let refused = engine.seek(p, Seek::frame(0)).expect_err("nobody can");
    assert_eq!(
        refused.to_string(),
        "cannot go to frame 0: no source is linked to any sink"
    );
}

/// What a frame was put into that is not read on does for the next one.
#[test]
fn a_seek_in_the_middle_of_a_frame_loses_no_buffer() {
    let clip = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../scenarios/media/carphone-176x144.y4m"
    );
    for how in [
        "serve=false",
        "serve=false blocksize=1000",
        "request-order=newest-first",
        "request-order=shuffled request-seed=5",
        "request-order=shuffled request-seed=6",
    ] {
        for at in 3..16 {
            let seek = Seek::frame(20).without_flush();
            let (report, refused) = run(clip, how, vec![(at, seek)]);
            // It may be at its end already.
            let ended = |r: &Option<String>| r.as_ref().is_none_or(|r| r.contains("at its end"));
            assert!(refused.iter().all(ended), "{how} at {at}: {refused:?}");
            assert_eq!(report.verdict.name(), "done", "{how} at {at}");
            assert!(report.leaks.is_empty(), "{how} at {at}: {:?}", report.leaks);
            let told = report.invariant.map(|i| i.text);
            assert_eq!(told, None, "{how} at {at}");
        }
    }
}
