//! B21: a demuxer has pads for streams that the file may not have. It says so when it knows: the end
//! comes on that pad alone, whoever waited there goes on, and the run completes with what there is and a
//! warning; or it fails and names the pad, where that is what was asked for. No time-out is involved.

mod acting;

use acting::{engine, go, kinds, launch, messages, named, ticks};
use bevy_ecs::component::Component;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fabric::Progress;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::pool::PoolConfig;
use tickpipe::systems::Works;
use tickpipe::systems::element::{
    Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe::{ChangeResult, Engine, MessageKind, MessageMask, RunOptions, State, Verdict};

/// Promises video and audio, and finds so many buffers of each.
#[derive(Component, Clone, Debug, Default)]
struct Demux {
    video: i64,
    audio: i64,
    /// The buffer of the other stream at which it knows that there is none.
    known_at: i64,
    /// It fails where a promised stream is not there.
    strict: bool,
}

#[derive(Debug)]
struct NotThere(&'static str);

impl core::fmt::Display for NotThere {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "nothing will ever come on pad {}", self.0)
    }
}

impl std::error::Error for NotThere {}

const PADS: [&str; 2] = ["v", "a"];

impl Element for Demux {
    const NAME: &'static str = "demuxer";
    const SUMMARY: &'static str = "Promises two streams";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        PADS.map(|p| PadTemplate::source(p, Caps::any())).to_vec()
    }

    fn properties() -> Vec<Property<Self>> {
        use tickpipe::systems::field;
        vec![
            field!(Int(0, 1000), "video", "Buffers", video),
            field!(Int(0, 1000), "audio", "Buffers", audio),
            field!(Int(0, 1000), "known-at", "When it knows", known_at),
            field!(Bool, "strict", "Fails", strict),
        ]
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        let own = PoolConfig {
            size: 8,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Demuxing {
            settings: self.clone(),
            made: [0; 2],
            told: [false; 2],
        }))
    }
}

struct Demuxing {
    settings: Demux,
    made: [i64; 2],
    told: [bool; 2],
}

impl Work for Demuxing {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let wanted = [self.settings.video, self.settings.audio];
        for (pad, &wanted) in wanted.iter().enumerate() {
            while self.made[pad] < wanted && process.room(pad) > 0 {
                let Some(mut buffer) = process.acquire() else {
                    return Ok(());
                };
                buffer.meta.len = 0;
                buffer.meta.index = self.made[pad].unsigned_abs();
                buffer.meta.pts = Some(self.made[pad]);
                self.made[pad] += 1;
                process.push(pad, buffer);
            }
        }
        for pad in 0..2 {
            let knows = self.made[1 - pad] >= self.settings.known_at.min(wanted[1 - pad]);
            if self.made[pad] < wanted[pad] || !knows || self.told[pad] {
                continue;
            }
            self.told[pad] = true;
            if wanted[pad] == 0 {
                if self.settings.strict {
                    let error = NotThere(PADS[pad]);
                    return Err(ElementError::new(Domain::Stream, Code::Empty, error));
                }
                process.warn(Domain::Stream, Code::Empty);
            }
            process.end_pad(pad);
        }
        if self.told == [true; 2] {
            process.finish();
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.signed("video", self.made[0]);
        visitor.signed("audio", self.made[1]);
    }
}

fn demuxing() -> Engine {
    let mut engine = engine();
    engine.register::<Demux>().expect("a free name");
    engine
}

/// A transcoder of both streams.
fn transcoder(settings: &str) -> String {
    format!(
        "demuxer name=demux {settings} demux.v ! queue ! identity name=venc ! join name=mux ! \
         fakesink name=out demux.a ! queue ! identity name=aenc ! mux."
    )
}

#[test]
fn b21_the_run_completes_with_what_there_is() {
    for (settings, buffers) in [
        ("video=60 known-at=0", 60),
        ("video=60 known-at=1", 60),
        // All of the video is there before it knows: as many buffers must be.
        ("video=60 known-at=60 min-buffers=80", 60),
        ("audio=60 known-at=3", 60),
        ("video=20 audio=30", 50),
        ("video=0 audio=0", 0),
    ] {
        let mut engine = demuxing();
        let pipeline = launch(&mut engine, &transcoder(settings));
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict, Verdict::Done, "{settings}");
        let sink = &report.sinks[0];
        assert_eq!((sink.buffers, sink.eos), (buffers, true), "{settings}");
        let warned: Vec<_> = report
            .messages
            .iter()
            .filter(|m| m.kind == "warning")
            .map(|m| (m.element.as_deref(), m.domain.as_deref(), m.code.as_deref()))
            .collect();
        let missing = ["video=", "audio="]
            .iter()
            .filter(|s| !settings.contains(**s) || settings.contains(&format!("{s}0")));
        let want = vec![(Some("demux"), Some("stream"), Some("empty")); missing.count()];
        assert_eq!(warned, want, "{settings}");
        assert!(report.ticks < 100, "{settings}: {}", report.ticks);
    }
}

#[test]
fn b21_preroll_is_complete_once_it_is_known() {
    // A sink of its own for each stream: PAUSED waits for the audio, and then does not.
    let mut engine = demuxing();
    let text = "demuxer name=demux video=60 known-at=8 demux.v ! queue ! fakesink name=v \
                demux.a ! queue ! fakesink name=a";
    let pipeline = launch(&mut engine, text);
    engine.set_state(pipeline, State::Paused);
    engine.tick();
    assert_eq!(engine.state_change(pipeline).result, ChangeResult::Async);
    ticks(&mut engine, 10);
    assert_eq!(engine.state_change(pipeline).result, ChangeResult::Success);
    let warning = MessageKind::Warning(Domain::Stream, Code::Empty);
    let told = kinds(&messages(&mut engine, pipeline));
    assert_eq!(told, [warning, MessageKind::AsyncDone]);
    go(&mut engine, pipeline, State::Playing);
    let end = engine.wait(pipeline, MessageMask::EOS | MessageMask::ERROR);
    assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos));
    let report = engine.report(pipeline);
    let sinks: Vec<_> = report.sinks.iter().map(|s| (s.buffers, s.eos)).collect();
    assert_eq!(sinks, [(60, true), (0, true)]);
}

#[test]
fn b21_or_it_fails_and_names_the_pad() {
    let mut engine = demuxing();
    let pipeline = launch(&mut engine, &transcoder("video=60 known-at=8 strict=true"));
    engine.set_state(pipeline, State::Playing);
    let error = engine.wait(pipeline, MessageMask::ERROR).expect("an error");
    assert_eq!(error.kind, MessageKind::Error(Domain::Stream, Code::Empty));
    let demux = named(&engine, pipeline, "demux");
    let works = engine.world().resource::<Works>();
    let slots = &works.pipelines[pipeline.id().index()].slots;
    let slot = slots.iter().find(|s| s.entity == demux.entity());
    let fault = slot.and_then(|s| s.fault.as_ref()).expect("its failure");
    assert_eq!(
        fault.to_string(),
        "nothing will ever come on pad a (stream/empty)"
    );
    ticks(&mut engine, 40);
    assert_eq!(engine.progress(pipeline), Progress::Failed);
}

#[test]
fn b21_one_that_never_says_it_is_named() {
    // The stream does not come and nobody says so: no time-out ends that, the stall does.
    let mut engine = engine();
    let text = "fakesrc num-buffers=60 ! queue ! join name=mux ! fakesink silentsrc name=demux ! \
                queue ! mux.";
    let pipeline = launch(&mut engine, text);
    let report = engine.run(pipeline, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict, Verdict::Stalled);
    assert_eq!(report.stall.map(|s| s.element), Some("demux".to_owned()));
}
