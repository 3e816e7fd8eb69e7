//! A line that shows that a long run goes on. It looks at the run at ticks that it spaces so that
//! a look comes about ten times a second, however long a tick takes.

use crate::console::Stderr;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use tickpipe::components::fabric::PipelineFabric;

/// How long a run goes on before anything is shown.
const SHOWN_AFTER: Duration = Duration::from_millis(400);
/// Looks closer to each other than this come less often from then on.
const TOO_OFTEN: Duration = Duration::from_millis(50);
/// Looks further apart than this come more often from then on.
const TOO_SELDOM: Duration = Duration::from_millis(150);
/// The most ticks between two looks.
const MAX_STRIDE: u64 = 1 << 16;

/// The line, and when it is looked at next.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: bool,
    start: Instant,
    pace: Pace,
}

impl Progress {
    pub(crate) fn new(err: &Stderr) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        err.set_bar(Some(bar.clone()));
        let start = Instant::now();
        Progress {
            bar,
            shown: false,
            start,
            pace: Pace::new(start),
        }
    }

    /// Looks at a tick, if it is one to look at.
    pub(crate) fn tick(&mut self, pipeline: &PipelineFabric) {
        if !self.pace.is_due(pipeline.tick) {
            return;
        }
        let now = Instant::now();
        self.pace.looked(pipeline.tick, now);
        if !self.shown {
            if now.duration_since(self.start) < SHOWN_AFTER {
                return;
            }
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let sinks = pipeline.lanes.iter().filter(|l| l.is_sink());
        let frames = sinks.map(|l| l.buffers_in()).sum();
        self.bar.set_message(message(frames, pipeline.tick));
        self.bar.tick();
    }

    /// Takes the line away.
    pub(crate) fn end(self, err: &Stderr) {
        err.set_bar(None);
        self.bar.finish_and_clear();
    }
}

fn message(frames: u64, ticks: u64) -> String {
    format!("{frames} frames at the sinks, tick {ticks}")
}

/// At which ticks to look.
struct Pace {
    next: u64,
    stride: u64,
    last: Instant,
}

impl Pace {
    fn new(start: Instant) -> Pace {
        Pace {
            next: 0,
            stride: 1,
            last: start,
        }
    }

    fn is_due(&self, tick: u64) -> bool {
        tick >= self.next
    }

    fn looked(&mut self, tick: u64, now: Instant) {
        let since = now.duration_since(self.last);
        if since < TOO_OFTEN {
            self.stride = (self.stride * 2).min(MAX_STRIDE);
        } else if since > TOO_SELDOM {
            self.stride = (self.stride / 2).max(1);
        }
        self.last = now;
        self.next = tick + self.stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a run of so many ticks, each as long as said.
    fn looks(ticks: u64, each: Duration) -> (u64, Pace) {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let mut looks = 0;
        for tick in 0..ticks {
            if pace.is_due(tick) {
                looks += 1;
                let now = start + each * u32::try_from(tick).expect("fits");
                pace.looked(tick, now);
            }
        }
        (looks, pace)
    }

    #[test]
    fn looks_about_ten_times_a_second() {
        // A second of ticks of a microsecond, and ten seconds of slow ones.
        let (fast, pace) = looks(1_000_000, Duration::from_micros(1));
        assert!((20..60).contains(&fast), "{fast}");
        assert_eq!(pace.stride, MAX_STRIDE);
        let (slow, pace) = looks(50, Duration::from_millis(200));
        assert!(slow >= 45, "{slow}");
        assert_eq!(pace.stride, 1);
    }

    #[test]
    fn says_how_far_it_is() {
        assert_eq!(message(12, 34), "12 frames at the sinks, tick 34");
    }
}
