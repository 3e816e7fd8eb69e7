//! Any element can serve bytes or pull them: what is granted is all that the two share. A pair without a
//! common transport is refused at the link; one that cannot serve as it is set is pushed from, where both can.

use bevy_ecs::component::Component;
use std::io;
use std::sync::Arc;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fabric::Progress;
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::graph::Transport;
use tickpipe::components::pool::PoolConfig;
use tickpipe::components::pull::{Available, Bytes, Order, Reader, Step, Worker};
use tickpipe::systems::element::{
    Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe::{Engine, EngineOptions, PipelineHandle, Removal, Report, RunOptions, State};

/// Bytes that count up from `first`, of which some cannot be read.
#[derive(Debug)]
struct Counted {
    first: u8,
    len: u64,
    align: u32,
    order: Order,
    broken_from: u64,
}

impl Bytes for Counted {
    fn available(&self) -> Available {
        Available::all(self.len)
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        let count = (self.len.saturating_sub(at) as usize).min(to.len());
        if at + count as u64 > self.broken_from {
            return Err(io::Error::other("a scratch"));
        }
        for (n, byte) in to[..count].iter_mut().enumerate() {
            *byte = self.first.wrapping_add((at as usize + n) as u8);
        }
        Ok(count)
    }

    fn align(&self) -> u32 {
        self.align
    }

    fn order(&self) -> Order {
        self.order
    }
}

/// A source of a disc.
#[derive(Component, Clone, Debug, Default)]
struct Disc {
    bytes: u32,
    align: u32,
    newest: bool,
    broken: u32,
    locked: bool,
}

impl Element for Disc {
    const NAME: &'static str = "disc";
    const SUMMARY: &'static str = "Serves bytes that count";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any()).over(&[Transport::Pull])]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            tickpipe_systems::field!(Int(0, 1 << 30), "bytes", "How many", bytes),
            tickpipe_systems::field!(Int(0, 4096), "align", "Their alignment", align),
            tickpipe_systems::field!(Bool, "newest", "Newest requests first", newest),
            tickpipe_systems::field!(
                Int(0, 1 << 30),
                "broken",
                "Not to be read from there",
                broken
            ),
            tickpipe_systems::field!(Bool, "locked", "It cannot serve", locked),
        ]
    }

    fn serves(&self) -> bool {
        !self.locked
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Drive(self.clone())))
    }
}

struct Drive(Disc);

impl Work for Drive {
    fn serve(&mut self) -> Result<Arc<dyn Bytes>, ElementError> {
        let newest = self.0.newest;
        Ok(Arc::new(Counted {
            first: 3,
            len: self.0.bytes.into(),
            align: self.0.align.max(1),
            order: if newest { Order::Newest } else { Order::Asked },
            broken_from: match self.0.broken {
                0 => u64::MAX,
                at => at.into(),
            },
        }))
    }

    fn process(&mut self, _process: &mut Process<'_>) -> Result<(), ElementError> {
        panic!("who serves is asked for nothing in a tick");
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

/// Pulls all there is in blocks of so many bytes, and emits them.
#[derive(Component, Clone, Debug, Default)]
struct Player {
    block: u32,
    blocks: u32,
}

impl Element for Player {
    const NAME: &'static str = "player";
    const SUMMARY: &'static str = "Pulls";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()).over(&[Transport::Pull]),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            tickpipe_systems::field!(Int(1, 1 << 20), "block", "Bytes of a block", block),
            tickpipe_systems::field!(Int(1, 64), "blocks", "Blocks", blocks),
        ]
    }

    fn decide_pool(&self, _: &PadCapsOf, downstream: PoolConfig) -> Result<Buffers, ElementError> {
        let size = self.block as usize + 4096;
        Ok(Buffers::Own(PoolConfig { size, ..downstream }))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Playing {
            settings: self.clone(),
            worker: None,
            sent: 0,
        }))
    }
}

struct Playing {
    settings: Player,
    worker: Option<Worker>,
    sent: u64,
}

impl Work for Playing {
    fn grant(&mut self, bytes: Arc<dyn Bytes>) -> Result<(), ElementError> {
        let Player { block, blocks } = self.settings;
        let reader = Reader::new(bytes, blocks as usize);
        let mut worker = Worker::new(reader, blocks as usize, block as usize);
        worker.go_to(0, u64::MAX);
        self.worker = Some(worker);
        Ok(())
    }

    fn revoke(&mut self) {
        self.worker = None;
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        assert_eq!(process.inputs(), 0, "nothing is sent to who pulls");
        let worker = self.worker.as_mut().expect("it was granted");
        while process.room(0) > 0 && process.granted() > 0 {
            let failed = |e| ElementError::new(Domain::Resource, Code::Read, e);
            let block = match worker.step().map_err(failed)? {
                Step::End => {
                    process.finish();
                    break;
                }
                Step::Wait => {
                    worker.complete();
                    process.again();
                    break;
                }
                Step::Block(block) => block,
            };
            let mut buffer = process.acquire().expect("it was granted");
            let bytes = block.bytes();
            buffer.memory.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
            buffer.meta.len = bytes.len();
            buffer.meta.index = block.start;
            buffer.meta.pts = i64::try_from(block.start).ok();
            self.sent += bytes.len() as u64;
            process.push(0, buffer);
            worker.give_back(block);
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("sent", self.sent);
    }
}

fn engine(threads: usize) -> Engine {
    let mut engine = Engine::with_options(EngineOptions {
        threads,
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Disc>().expect("a new name");
    engine.register::<Player>().expect("a new name");
    engine
}

fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let built = engine.launch("main", text);
    built.map_err(|e| e.render(text)).expect("a graph").0
}

fn run(threads: usize, text: &str) -> Report {
    let mut engine = engine(threads);
    let p = launch(&mut engine, text);
    let options = RunOptions {
        record: true,
        digests: true,
        max_ticks: Some(10_000),
    };
    engine.run(p, &options, &mut ())
}

fn frames(report: &Report) -> Vec<(Option<i64>, String)> {
    let frames = report.sinks[0].frames.iter();
    frames.map(|f| (f.pts, f.hash.clone())).collect()
}

#[test]
fn what_is_granted_comes_whole_in_any_order_of_requests() {
    for (bytes, align, block) in [
        (0, 1, 7),
        (1, 1, 7),
        (1000, 1, 7),
        (999, 64, 100),
        (4096, 512, 512),
    ] {
        let text = |newest: bool, blocks: u32| {
            format!(
                "disc bytes={bytes} align={align} newest={newest} ! player block={block} \
                 blocks={blocks} ! fakesink"
            )
        };
        let one = run(1, &text(false, 1));
        assert_eq!(one.verdict.name(), "done", "{bytes} {align} {block}");
        let of = |step: u64| (0..bytes as u64).step_by(step as usize).count();
        let step = u64::from(block as u32).next_multiple_of(u64::from(align as u32));
        assert_eq!(frames(&one).len(), of(step), "{bytes} {align} {block}");
        assert_eq!(one.links[0].transport, "pull");
        for (newest, blocks) in [(false, 3), (true, 2), (true, 5)] {
            let other = run(1, &text(newest, blocks));
            assert_eq!(
                frames(&other),
                frames(&one),
                "{bytes} {align} {block} {newest} {blocks}"
            );
            assert_eq!(run(2, &text(newest, blocks)).digest, other.digest);
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_the_place_and_what_was_before_comes_out() {
    let text = "disc bytes=1000 broken=500 ! player block=100 blocks=1 name=p ! fakesink";
    let report = run(1, text);
    assert_eq!(report.verdict.name(), "failed");
    let told = report
        .messages
        .iter()
        .find(|m| m.kind == "error")
        .expect("told");
    assert_eq!(told.element.as_deref(), Some("p"));
    assert_eq!(told.code.as_deref(), Some("read"));
    let starts: Vec<Option<i64>> = frames(&report).iter().map(|f| f.0).collect();
    assert_eq!(
        starts,
        [Some(0), Some(100), Some(200), Some(300), Some(400)]
    );
}

#[test]
fn no_common_transport_is_refused_at_the_link() {
    for (text, told) in [
        (
            "disc name=s ! fakesink name=k",
            "s.src gives by pull, and k.sink takes by push: they have no transport in common",
        ),
        (
            "fakesrc name=s ! player name=k ! fakesink",
            "s.src gives by push, and k.sink takes by pull: they have no transport in common",
        ),
        (
            "disc name=s ! queue name=k ! player ! fakesink",
            "s.src gives by pull, and k.sink takes by push: they have no transport in common",
        ),
    ] {
        let error = engine(1)
            .launch("main", text)
            .map(|_| ())
            .expect_err("refused");
        assert!(error.render(text).contains(told), "{}", error.render(text));
    }
}

#[test]
fn one_that_cannot_serve_as_it_is_set_is_refused_when_it_starts() {
    let text = "disc name=s locked=true bytes=9 ! player name=k block=3 blocks=1 ! fakesink";
    let mut engine = engine(1);
    let p = launch(&mut engine, text);
    let told = engine.plan(p).expect_err("it cannot").to_string();
    assert!(
        told.contains("k.sink reads by position what s.src should grant"),
        "{told}"
    );
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "failed");
    // Set otherwise it starts.
    let s = engine.element(p, "s").expect("it is there");
    engine.set_text(s, "locked", "false").expect("a value");
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    assert_eq!(report.sinks[0].buffers, 3);
}

/// What a start granted that failed later is not read by the next one.
#[test]
fn a_start_that_failed_leaves_no_grant_behind() {
    let mut engine = engine(1);
    let text = "disc name=s bytes=9 ! player name=k block=3 blocks=1 max-buffers=1 ! \
         poolsink name=o min-buffers=4";
    let p = launch(&mut engine, text);
    engine.set_state(p, State::Playing);
    engine.tick();
    assert_eq!(engine.progress(p), Progress::Failed);
    let at = |name: &str, engine: &Engine| engine.element(p, name).expect("it is there");
    let (s, o) = (at("s", &engine), at("o", &engine));
    engine.set_text(o, "min-buffers", "0").expect("a value");
    engine.set_text(s, "bytes", "30").expect("a value");
    engine.set_state(p, State::Ready);
    engine.wait_for_state(p, State::Ready).expect("it stops");
    let report = engine.run(p, &RunOptions::default(), &mut ());
    assert_eq!(report.verdict.name(), "done");
    assert_eq!(report.sinks[0].buffers, 10);
}

#[test]
fn who_pulled_ends_when_what_it_read_is_taken_out_at_any_tick() {
    for removed in ["s", "d"] {
        for how in [Removal::Discard, Removal::Drain] {
            for tick in 1..14 {
                let text = "disc name=s bytes=4000 ! player name=d block=50 blocks=2 ! queue ! fakesink name=k";
                let mut engine = engine(1);
                let p = launch(&mut engine, text);
                engine.set_state(p, State::Playing);
                (0..tick).for_each(|_| engine.tick());
                let element = engine.element(p, removed).expect("it is there");
                engine.remove(p, element, how).expect("it is there");
                for _ in 0..60 {
                    engine.tick();
                }
                let report = engine.report(p);
                let sink = report
                    .sinks
                    .iter()
                    .find(|s| s.name == "k")
                    .expect("it stays");
                assert!(sink.eos, "{removed} {how:?} at {tick}");
                assert!(
                    sink.buffers < 80,
                    "{removed} {how:?} at {tick}: {}",
                    sink.buffers
                );
                engine.set_state(p, State::Ready);
                engine.wait_for_state(p, State::Ready).expect("it stops");
            }
        }
    }
}
