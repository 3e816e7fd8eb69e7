//! B38: times that jump 70 s ahead at buffer 100 and 500 s back at 150. Each jump is told once;
//! what is done is a setting; nobody waits for ever, and the other input's frames are not lost.

mod stamped;

use stamped::{known, run, run_with, sink, tally, times, told};
use tickpipe::{ClockMode, Verdict};

/// 25 frames a second; 70 s are 1750 frames, 500 s are 12500.
const JUMPS: &str = "stamps=0..99,100..149+1750,150..199-10750 \
                     caps=video/x-raw,format=I420,width=16,height=16,framerate=25/1";

fn mixed(rules: &str, sync: bool) -> String {
    format!(
        "stampsrc {JUMPS} ! stamps name=check {rules} ! overlay name=mix ! fakesink name=out sync={sync} \
         videotestsrc num-buffers=200 ! video/x-raw,width=8,height=8,framerate=25/1 ! mix."
    )
}

#[test]
fn b38_rebased_the_picture_goes_on() {
    for clock in [ClockMode::Free, ClockMode::Virtual] {
        let (_, report) = run_with(&mixed("jump=rebase", true), clock);
        assert_eq!(report.verdict, Verdict::Done, "{clock:?}");
        assert_eq!(times(&report, "out"), known(0..200), "{clock:?}");
        let twice = told(&[("jump", "rebased", 2)]);
        assert_eq!(tally(&report, "check"), twice, "{clock:?}");
        let sync = &report.sync[0];
        assert_eq!(sync.dropped, [0, 0], "{clock:?}");
        let all: Vec<_> = (0..200u64)
            .map(|i| (i as i64, vec![Some(i), Some(i)]))
            .collect();
        assert_eq!(sync.sets, all, "{clock:?}");
    }
}

#[test]
fn b38_offline_never_waits_for_a_clock() {
    let (_, report) = run_with(&mixed("jump=rebase", true), ClockMode::Free);
    // A tick moves 32 frames; 200 of them are no matter of 2 x 570 s.
    assert!(report.ticks < 100, "{} ticks", report.ticks);
}

#[test]
fn b38_a_gap_is_told_and_the_time_stays() {
    let text = "stampsrc stamps=0..9,1760..1769 time-base=1/25 ! stamps name=check jump=gap ! fakesink name=out";
    let report = run(text);
    assert_eq!(times(&report, "out"), known((0..10).chain(1760..1770)));
    assert_eq!(tally(&report, "check"), told(&[("jump", "gap", 1)]));
}

#[test]
fn b38_as_an_error_it_names_the_buffer() {
    let report = run(&mixed("jump=error", false));
    assert_eq!(report.verdict, Verdict::Failed);
    // Behind the end of what failed the other input goes on.
    let got = times(&report, "out");
    assert_eq!(got[..100], known(0..100));
    assert!(got[100..].iter().all(|t| *t > Some(99)), "{got:?}");
    let jumps = report.messages.iter().filter_map(|m| m.occurrence.as_ref());
    let jumps: Vec<_> = jumps.map(|o| (o.deed, o.index, o.value)).collect();
    assert_eq!(jumps, [("failed", 100, Some(1850))]);
    assert!(sink(&report, "out").eos);
}
