//! The application's ends: mpipe's rules of app source and app sink, calls from other threads,
//! callbacks, and what happens at stops, flushes and failures.

mod applying;

use applying::{engine, engine_on, launch, options, playing, pulled, sink, source, ticks};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tickpipe::components::caps::Caps;
use tickpipe::components::fault::{Code, Domain};
use tickpipe::{AppError, Engine, Flush, MessageMask, PipelineHandle, Report, State};

#[test]
fn push_pull() {
    let mut engine = engine();
    let p = playing(
        &mut engine,
        "appsrc name=s blocksize=8 ! queue ! appsink name=k",
    );
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    ticks(&mut engine, 3);
    for n in 0..3u8 {
        s.push_bytes(&[n; 5], Some(i64::from(n) * 10))
            .expect("room");
    }
    s.end().expect("room");
    ticks(&mut engine, 8);
    for n in 0..3u8 {
        let sample = k.try_pull().expect("no error").expect("a sample");
        assert_eq!(sample.bytes(), [n; 5]);
        assert_eq!(sample.info.pts, Some(i64::from(n) * 10));
        assert_eq!(sample.info.index, u64::from(n));
    }
    assert_eq!(pulled(k.try_pull()), None);
    assert_eq!(pulled(k.pull()), None);
    engine.wait(p, MessageMask::EOS).expect("it ends");
}

#[test]
fn push_callback() {
    let mut engine = engine();
    let p = launch(&mut engine, "appsrc name=s blocksize=4 ! appsink name=k");
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    for run in 0..3u8 {
        let (tell, told) = mpsc::channel();
        k.on_sample(move |sample| tell.send(sample.bytes().to_vec()).expect("it listens"));
        let mut left = 4u8;
        s.on_need_data(move |s| {
            left = left.saturating_sub(1);
            match left {
                0 => drop(s.end()),
                n => s.push_bytes(&[run, n], None).expect("room"),
            }
        });
        let report = engine.run(p, &options(), &mut ());
        assert_eq!(report.verdict.name(), "done");
        let got: Vec<Vec<u8>> = told.try_iter().collect();
        assert_eq!(got, [[run, 3], [run, 2], [run, 1]]);
        let ends = report.messages.iter().filter(|m| m.kind == "eos").count();
        assert_eq!(ends, 1, "{:?}", report.messages);
    }
}

#[test]
fn alloc_push_buf() {
    let mut engine = engine();
    let p = playing(
        &mut engine,
        "appsrc name=s blocksize=16 alloc-buffers=2 ! appsink name=k",
    );
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    assert_eq!(s.alloc(4).err(), Some(AppError::Stopped));
    ticks(&mut engine, 2);
    assert_eq!(s.alloc(0).err(), Some(AppError::Size { len: 0, max: 16 }));
    assert_eq!(s.alloc(17).err(), Some(AppError::Size { len: 17, max: 16 }));
    let mut a = s.alloc(16).expect("a buffer");
    let b = s.alloc(1).expect("a buffer");
    assert_eq!(s.alloc(1).err(), Some(AppError::NoBuffers { out: 2 }));
    drop(b);
    let b = s.alloc(1).expect("a buffer");
    a.bytes_mut().copy_from_slice(b"sixteen bytes...");
    a.set_len(7).expect("fewer");
    assert_eq!(a.set_len(17), Err(AppError::Size { len: 17, max: 16 }));
    assert_eq!(a.set_len(0), Err(AppError::Size { len: 0, max: 16 }));
    s.push(a).expect("room");
    // One that waits counts still; one that is sent does not.
    assert_eq!(s.alloc(1).err(), Some(AppError::NoBuffers { out: 2 }));
    ticks(&mut engine, 3);
    assert!(s.alloc(1).is_ok());
    drop(b);
    assert_eq!(pulled(k.try_pull()), Some(b"sixteen".to_vec()));
    assert_eq!(k.try_pull().err(), Some(AppError::TimedOut));
    let short = Some(Duration::from_millis(1));
    assert_eq!(k.pull_within(short).err(), Some(AppError::TimedOut));
}

#[test]
fn push_errors() {
    let mut engine = engine();
    let p = playing(
        &mut engine,
        "appsrc name=s blocksize=16 max-buffers=2 alloc-buffers=9 ! appsink name=k",
    );
    let s = source(&mut engine, p);
    let _k = sink(&mut engine, p);
    ticks(&mut engine, 2);
    assert_eq!(
        s.push_bytes(&[0; 17], None),
        Err(AppError::Size { len: 17, max: 16 })
    );
    s.push_bytes(&[1; 16], None).expect("room");
    s.push_bytes(&[2; 3], None).expect("room");
    let full = AppError::Full {
        buffers: 2,
        bytes: 19,
    };
    let mut third = s.alloc(2).expect("a buffer");
    third.bytes_mut().copy_from_slice(&[3, 4]);
    let refused = s.push(third).expect_err("it is full");
    assert_eq!(refused.error, full);
    // It is the caller's still.
    assert_eq!(refused.buffer.bytes(), [3, 4]);
    assert_eq!(s.end(), Err(full.clone()));
    assert_eq!(
        s.end_within(Some(Duration::from_millis(1))),
        Err(full.clone())
    );
    let again = s.push_within(refused.buffer, Some(Duration::from_millis(1)));
    assert_eq!(again.map_err(|r| r.error), Err(full));
    assert_eq!(s.refused(), 4);
    ticks(&mut engine, 1);
    s.end().expect("room");
    assert_eq!(s.end(), Err(AppError::Ended));
    assert_eq!(s.push_bytes(&[1], None), Err(AppError::Ended));
    engine.wait(p, MessageMask::EOS).expect("it ends");
    // A buffer of another element that is larger than those of this one.
    let q = playing(&mut engine, "appsrc name=s blocksize=99 ! appsink name=k");
    let other = source(&mut engine, q);
    let r = playing(&mut engine, "appsrc name=s blocksize=10 ! appsink name=k");
    let small = source(&mut engine, r);
    ticks(&mut engine, 2);
    let large = other.alloc(99).expect("a buffer");
    let refused = small.push(large).expect_err("too large");
    assert_eq!(refused.error, AppError::Size { len: 99, max: 10 });
}

#[test]
fn stop_with_pending() {
    let mut engine = engine();
    let p = playing(
        &mut engine,
        "appsrc name=s blocksize=4 ! appsink name=k max-buffers=1",
    );
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    ticks(&mut engine, 2);
    for n in 0..9 {
        s.push_bytes(&[n], None).expect("room");
    }
    ticks(&mut engine, 6);
    engine.set_state(p, State::Ready);
    engine.wait_for_state(p, State::Ready).expect("it stops");
    // No end came with that. What had come can be pulled still.
    assert_eq!(pulled(k.try_pull()), Some(vec![0]));
    assert_eq!(k.try_pull().err(), Some(AppError::Stopped));
    assert_eq!(s.push_bytes(&[1], None), Err(AppError::Stopped));
    let ends = std::iter::from_fn(|| engine.next_message(p, MessageMask::EOS)).count();
    assert_eq!(ends, 0);
    assert_eq!(s.level().buffers, 0);
    // A start discards what is left, and goes on from nothing.
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 2);
    s.push_bytes(&[77], None).expect("room");
    ticks(&mut engine, 3);
    assert_eq!(pulled(k.try_pull()), Some(vec![77]));
}

#[test]
fn a_flush_discards_what_waits_and_refuses_what_comes() {
    let mut engine = engine();
    let p = playing(
        &mut engine,
        "appsrc name=s blocksize=4 ! queue ! appsink name=k",
    );
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    ticks(&mut engine, 2);
    for n in 0..20 {
        s.push_bytes(&[n], None).expect("room");
    }
    engine.flush(p, None, Flush::Start);
    ticks(&mut engine, 1);
    assert_eq!(s.push_bytes(&[99], None), Err(AppError::Flushing));
    assert_eq!(s.end(), Err(AppError::Flushing));
    assert_eq!(s.alloc(1).err(), Some(AppError::Flushing));
    assert_eq!(s.discarded(), 20);
    engine.flush(p, None, Flush::Stop);
    ticks(&mut engine, 1);
    s.push_bytes(&[42], None).expect("room");
    s.end().expect("room");
    ticks(&mut engine, 8);
    assert_eq!(pulled(k.try_pull()), Some(vec![42]));
    assert_eq!(pulled(k.try_pull()), None);
}

#[test]
fn a_full_queue_of_a_sink_drops_the_newest_and_counts_them() {
    let mut engine = engine();
    let text = "fakesrc num-buffers=10 ! appsink name=k max-buffers=3 drop=true";
    let p = launch(&mut engine, text);
    let k = sink(&mut engine, p);
    engine.set_state(p, State::Playing);
    engine.wait(p, MessageMask::EOS).expect("it ends");
    let indexes: Vec<u64> = std::iter::from_fn(|| k.try_pull().ok().flatten())
        .map(|s| s.info.index)
        .collect();
    assert_eq!(indexes, [0, 1, 2]);
    assert_eq!(k.dropped(), 7);
    let report = engine.report(p);
    let dropped = report
        .elements
        .iter()
        .find(|e| e.name == "k")
        .map(|e| e.dropped);
    assert_eq!(dropped, Some(7));
    let told: Vec<(String, u64)> = report.elements[1]
        .occurrences
        .iter()
        .map(|o| (o.reason.to_string(), o.count))
        .collect();
    assert_eq!(told, [("leak".to_owned(), 7)]);
}

#[test]
fn without_drop_what_finds_no_place_waits() {
    let mut engine = engine();
    let p = launch(
        &mut engine,
        "fakesrc num-buffers=30 ! appsink name=k max-buffers=2",
    );
    let k = sink(&mut engine, p);
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 40);
    assert_eq!(k.waiting(), 2);
    for n in 0..30 {
        let sample = k.try_pull().expect("no error").expect("a sample");
        assert_eq!(sample.info.index, n);
        drop(sample);
        ticks(&mut engine, 2);
    }
    assert_eq!(k.dropped(), 0);
    assert_eq!(pulled(k.try_pull()), None);
}

/// What waits for the application holds buffers only as long as nobody needs them: who runs and pulls on
/// one thread gets all of it, and nothing waits for ever.
#[test]
fn what_nobody_pulled_yet_is_no_reason_to_wait() {
    for hold in [0, 1, 3] {
        let mut engine = engine();
        let text = format!(
            "poolsrc num-buffers=16 size=8 buffers=5 grants=5 ! appsink name=k hold={hold}"
        );
        let p = launch(&mut engine, &text);
        let k = sink(&mut engine, p);
        let report = engine.run(p, &options(), &mut ());
        assert_eq!(report.verdict.name(), "done", "{hold}");
        let indexes: Vec<u64> = std::iter::from_fn(|| k.try_pull().ok().flatten())
            .map(|s| s.info.index)
            .collect();
        assert_eq!(indexes, (0..16).collect::<Vec<_>>(), "{hold}");
    }
}

/// An application of two threads beside the engine's.
fn threaded(threads: usize, text: &str, count: u32) -> (Report, Vec<u32>) {
    let mut engine = engine_on(threads);
    let p = launch(&mut engine, text);
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    let feeder = std::thread::spawn(move || {
        assert!(s.wait_for_start(None));
        for n in 0..count {
            let mut buffer = s.alloc_within(4, None)?;
            buffer.bytes_mut().copy_from_slice(&n.to_le_bytes());
            s.push_within(buffer, None).map_err(|r| r.error)?;
        }
        s.end_within(None)
    });
    let eater = std::thread::spawn(move || {
        assert!(k.wait_for_start(None));
        let mut got = Vec::new();
        while let Some(sample) = k.pull()? {
            let bytes: [u8; 4] = sample.bytes().try_into().expect("four bytes");
            got.push(u32::from_le_bytes(bytes));
        }
        Ok::<_, AppError>(got)
    });
    let report = engine.run(p, &options(), &mut ());
    feeder.join().expect("no panic").expect("all was given");
    // What waits can be pulled also when the run is over.
    let got = eater.join().expect("no panic");
    (report, got.expect("it ends"))
}

#[test]
fn threads_on_both_ends_get_all_in_order() {
    for threads in [1, 2] {
        let text = "appsrc name=s blocksize=4 max-buffers=3 alloc-buffers=5 ! queue ! identity \
             ! appsink name=k max-buffers=2";
        let (report, got) = threaded(threads, text, 500);
        assert_eq!(report.verdict.name(), "done", "{:?}", report.messages);
        assert_eq!(got, (0..500).collect::<Vec<_>>());
        // It sleeps while nothing is there: ticks follow from what was given, not from time.
        assert!(report.ticks < 500 * 8, "{}", report.ticks);
    }
}

#[test]
fn between_two_ticks_it_is_the_same_on_any_threads() {
    let run = |threads| {
        let mut engine = engine_on(threads);
        let p = launch(
            &mut engine,
            "appsrc name=s blocksize=64 ! queue ! tee name=t ! fakesink  t. ! queue ! appsink name=k",
        );
        let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
        engine.observe(p, true, true);
        engine.set_state(p, State::Playing);
        ticks(&mut engine, 2);
        let mut got = Vec::new();
        for n in 0..40u8 {
            s.push_bytes(&[n; 50], Some(n.into())).expect("room");
            ticks(&mut engine, 1 + usize::from(n % 3));
            while let Ok(Some(sample)) = k.try_pull() {
                got.push(sample.bytes()[0]);
            }
        }
        s.end().expect("room");
        while let Ok(taken) = k.try_pull().or_else(|_| {
            engine.tick();
            k.try_pull()
        }) {
            match taken {
                Some(sample) => got.push(sample.bytes()[0]),
                None => break,
            }
        }
        (engine.report(p).digest, got)
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(4), one);
    assert_eq!(one, run(1));
}

#[test]
fn without_an_application_a_source_does_not_start_and_says_why() {
    let mut engine = engine();
    let p = launch(&mut engine, "appsrc name=s ! fakesink");
    let report = engine.run(p, &options(), &mut ());
    assert_eq!(report.verdict.name(), "failed");
    let told = report
        .messages
        .iter()
        .find(|m| m.kind == "change-failed" || m.kind == "error");
    let told = told.expect("it is told");
    assert_eq!(told.element.as_deref(), Some("s"));
    assert_eq!(told.code.as_deref(), Some("settings"));
    // A sink lets go of what comes, and warns once.
    let q = launch(&mut engine, "fakesrc num-buffers=5 ! appsink name=k");
    let report = engine.run(q, &options(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    let warnings = report
        .messages
        .iter()
        .filter(|m| m.kind == "warning")
        .count();
    assert_eq!(warnings, 1);
}

#[test]
fn an_application_that_goes_without_an_end_is_a_failure() {
    let mut engine = engine();
    let p = launch(&mut engine, "appsrc name=s blocksize=4 ! appsink name=k");
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    engine.set_state(p, State::Playing);
    ticks(&mut engine, 2);
    s.push_bytes(&[1], None).expect("room");
    let thread = std::thread::spawn(move || drop(s));
    let error = engine.wait(p, MessageMask::ERROR).expect("it fails");
    thread.join().expect("no panic");
    assert_eq!(
        error.kind,
        tickpipe::MessageKind::Error(Domain::Resource, Code::Closed)
    );
    // What it gave before is there.
    ticks(&mut engine, 4);
    assert_eq!(pulled(k.try_pull()), Some(vec![1]));
}

#[test]
fn a_callback_that_panics_fails_its_pipeline_only() {
    let mut engine = engine();
    let p = launch(&mut engine, "fakesrc num-buffers=9 ! appsink name=k");
    let k = sink(&mut engine, p);
    let mut count = 0;
    k.on_sample(move |_| {
        count += 1;
        assert!(count < 3, "the application is broken");
    });
    let report = engine.run(p, &options(), &mut ());
    assert_eq!(report.verdict.name(), "failed");
    let told = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("told");
    assert_eq!(told.code.as_deref(), Some("panic"));
    let q = launch(&mut engine, "fakesrc num-buffers=9 ! fakesink");
    assert_eq!(engine.run(q, &options(), &mut ()).verdict.name(), "done");
}

#[test]
fn pictures_have_their_size_and_new_caps_are_agreed() {
    let mut engine = engine();
    let caps = |w: u32| format!("video/x-raw,format=GRAY8,width={w},height=2,framerate=25/1");
    let text = format!(
        "appsrc name=s caps=\"{}\" ! queue ! appsink name=k",
        caps(4)
    );
    let p = playing(&mut engine, &text);
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    ticks(&mut engine, 3);
    let wrong = s.push_bytes(&[1; 7], Some(0)).expect_err("not a picture");
    assert!(
        matches!(
            wrong,
            AppError::Picture {
                want: 8,
                len: 7,
                ..
            }
        ),
        "{wrong}"
    );
    s.push_bytes(&[1; 8], Some(0)).expect("room");
    let next: Caps = caps(3).parse().expect("caps");
    s.set_caps(next.clone()).expect("room");
    let wrong = s
        .push_bytes(&[2; 8], Some(1))
        .expect_err("not a picture now");
    assert!(
        matches!(
            wrong,
            AppError::Picture {
                want: 6,
                len: 8,
                ..
            }
        ),
        "{wrong}"
    );
    s.push_bytes(&[2; 6], Some(1)).expect("room");
    s.end().expect("room");
    ticks(&mut engine, 12);
    let first = k.try_pull().expect("no error").expect("a sample");
    assert_eq!(first.bytes(), [1; 8]);
    let agreed: Caps = caps(4).parse().expect("caps");
    assert!(first.info.caps.is_subset(&agreed).expect("within limits"));
    let second = k.try_pull().expect("no error").expect("a sample");
    assert_eq!(second.bytes(), [2; 6]);
    assert!(second.info.caps.is_subset(&next).expect("within limits"));
    assert_eq!(pulled(k.try_pull()), None);
}

#[test]
fn who_waits_is_told_when_the_engine_stops_fails_or_goes() {
    let blocked = |then: fn(Engine, PipelineHandle) -> Option<Engine>| {
        let mut engine = engine();
        let p = playing(
            &mut engine,
            "appsrc name=s blocksize=4 max-buffers=1 alloc-buffers=9 ! appsink name=k max-buffers=1",
        );
        let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
        ticks(&mut engine, 2);
        let (tell, told) = mpsc::channel();
        let pusher = std::thread::spawn(move || {
            loop {
                let pushed = s.alloc_within(4, None).map(|b| s.push_within(b, None));
                match pushed {
                    Ok(Ok(())) => tell.send(()).expect("it listens"),
                    Ok(Err(refused)) => return refused.error,
                    Err(error) => return error,
                }
            }
        });
        // The first is in the queue; the second waits, now or soon.
        told.recv().expect("it pushes");
        let engine = then(engine, p);
        let outcome = pusher.join().expect("no panic");
        drop((engine, k));
        outcome
    };
    let stop = |mut engine: Engine, p: PipelineHandle| {
        engine.set_state(p, State::Ready);
        engine.wait_for_state(p, State::Ready).expect("it stops");
        Some(engine)
    };
    assert_eq!(blocked(stop), AppError::Stopped);
    assert_eq!(blocked(|_, _| None), AppError::Stopped);
    let flush = |mut engine: Engine, p: PipelineHandle| {
        engine.flush(p, None, Flush::DiscardAndEnd);
        ticks(&mut engine, 2);
        Some(engine)
    };
    assert_eq!(blocked(flush), AppError::Ended);
}

#[test]
fn who_waits_for_a_start_is_told_that_none_comes() {
    let mut engine = engine();
    let p = launch(&mut engine, "appsrc name=s ! appsink name=k");
    let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
    let feeder = std::thread::spawn(move || s.wait_for_start(None));
    let eater = std::thread::spawn(move || k.wait_for_start(None));
    drop(engine);
    assert!(!feeder.join().expect("no panic"));
    assert!(!eater.join().expect("no panic"));
}

/// Threads that do what they like beside an engine that does what it likes: nobody is left waiting.
#[test]
fn nothing_waits_for_ever() {
    for seed in 0..40u64 {
        let mut engine = engine();
        let p = launch(
            &mut engine,
            "appsrc name=s blocksize=4 max-buffers=2 alloc-buffers=4 ! queue ! appsink name=k max-buffers=2",
        );
        let (s, k) = (source(&mut engine, p), sink(&mut engine, p));
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&kept);
        let pusher = std::thread::spawn(move || {
            let mut errors = 0;
            while errors < 30 {
                let pushed = s.alloc_within(4, Some(Duration::from_millis(1)));
                let pushed = pushed.and_then(|b| {
                    s.push_within(b, Some(Duration::from_millis(1)))
                        .map_err(|r| r.error)
                });
                errors += u32::from(pushed.is_err());
            }
        });
        let puller = std::thread::spawn(move || {
            let mut errors = 0;
            while errors < 30 {
                match k.pull_within(Some(Duration::from_millis(1))) {
                    Ok(Some(sample)) if sample.info.index % 3 == 0 => {
                        let mut kept = keeps.lock().expect("alone");
                        kept.push(sample);
                        if kept.len() > 2 {
                            kept.remove(0);
                        }
                    }
                    Ok(Some(_)) => {}
                    _ => errors += 1,
                }
            }
        });
        let mut at = seed;
        for _ in 0..60 {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match (at >> 33) % 12 {
                0 => engine.set_state(p, State::Ready),
                1 => engine.set_state(p, State::Paused),
                2 => engine.flush(p, None, Flush::Start),
                3 => engine.flush(p, None, Flush::Stop),
                4 => engine.flush(p, None, Flush::Discard),
                _ => engine.set_state(p, State::Playing),
            }
            ticks(&mut engine, ((at >> 40) % 5) as usize);
        }
        drop(engine);
        pusher.join().expect("no panic");
        puller.join().expect("no panic");
    }
}
