//! Random small graphs under random legal actions at random ticks: states, seeks, flushes, properties,
//! events, branches, message handlers. Afterwards a pipeline gets to each state that is asked for within a
//! stated number of ticks; every buffer comes home; each run that gets to its end says so once; what
//! always holds does in every tick; and all of it is the same on two threads.

#![cfg(feature = "video")]

#[path = "../acting/mod.rs"]
mod acting;
mod cases;

use acting::{MS, engine_with, fabric, out};
use bevy_ecs::entity::Entity;
use cases::{Act, Case, case, torn};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tickpipe::components::event::{Custom, Event, Gap, Quality, QualityKind};
use tickpipe::components::fabric::{PipelineFabric, Progress};
use tickpipe::components::fault::{Code, Domain};
use tickpipe::components::graph::{Direction, Link, Pad, PadLink, Pads};
use tickpipe::{
    ChangeResult, Engine, Filter, Flush, Message, MessageKind, MessageMask, PipelineHandle, Seek,
    SinkReport, State, Subscription,
};
use tickpipe::{ElementHandle, Removal};

/// The ticks in which actions come.
const CHAOS: usize = 70;

/// The ticks in which a state must be reached, or the end: the longest of the graphs takes so many.
const BOUND: usize = 900;

/// What a run was.
#[derive(Debug, PartialEq)]
struct Outcome {
    digests: Vec<u64>,
    messages: Vec<Message>,
}

struct Running {
    engine: Engine,
    pipeline: PipelineHandle,
    ids: u32,
    digests: Vec<u64>,
    messages: Vec<Message>,
    handlers: Vec<Subscription>,
    /// The sinks of branches that were added.
    branches: Vec<ElementHandle>,
    /// How often the run got to its end, and how often that was told.
    ends: usize,
    eos: usize,
    before: Progress,
    /// Branches of a tee meet where they are compared.
    compares: bool,
    /// Something that flushes was asked for since the last tick; a handler may.
    flushes: bool,
}

impl Running {
    fn act(&mut self, act: &Act) {
        let elements = self.engine.elements(self.pipeline);
        if elements.is_empty() && !matches!(act, Act::State(_)) {
            return;
        }
        let pipeline = self.pipeline;
        let engine = &mut self.engine;
        self.flushes |= matches!(act, Act::Seek { .. } | Act::Flush(..));
        match act {
            Act::State(state) => engine.set_state(pipeline, *state),
            Act::Seek { frame, stop, flush } => {
                // One that cannot be is refused, and nothing changes.
                let _ = engine.seek(pipeline, seek(*frame, *stop, *flush));
            }
            Act::Flush(element, how) => {
                // Who compares two ways of one stream waits for what only one of them lost.
                let element = element.filter(|_| !self.compares);
                let element = element.map(|e| elements[e % elements.len()]);
                engine.flush(pipeline, element, *how);
            }
            Act::Set(element, value) => {
                let element = elements[element % elements.len()];
                for property in ["max-size-buffers", "num-buffers"] {
                    if engine.get(element, property).is_ok() {
                        engine
                            .set(element, property, i64::from((*value).max(1)))
                            .expect("in range");
                    }
                }
            }
            Act::Event(element, kind, upstream) => {
                let element = elements[element % elements.len()];
                engine.send_event(pipeline, element, event(*kind, *upstream), *upstream);
            }
            Act::Branch => self.branch(),
            Act::Leave(removal) => self.leave(*removal),
            Act::Insert(element, class) => self.insert(elements[element % elements.len()], class),
            Act::Bypass(element) => self.bypass(elements[element % elements.len()]),
            Act::Remove(..) | Act::Unlink(_) if engine.state(pipeline) == State::Ready => {}
            Act::Remove(element, removal) => {
                let element = elements[element % elements.len()];
                let removed = self.engine.remove(pipeline, element, *removal);
                removed.expect("it is there");
            }
            Act::Unlink(element) => {
                let element = elements[element % elements.len()];
                for next in self.beside(element, Direction::Source) {
                    let _ = self.engine.unlink(element, next);
                }
            }
            Act::Handler(kinds, act, times) => {
                let left = AtomicU32::new(*times);
                let act = act.clone();
                let filter = Filter::kinds(*kinds);
                let handler = engine.on_message(pipeline, filter, move |_, ask| {
                    let more = left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
                    if more.is_err() {
                        return;
                    }
                    match &*act {
                        Act::State(state) => ask.set_state(pipeline, *state),
                        Act::Seek { frame, stop, flush } => {
                            ask.seek(pipeline, seek(*frame, *stop, *flush));
                        }
                        Act::Flush(_, how) => ask.flush(pipeline, *how),
                        _ => {}
                    }
                });
                self.handlers.push(handler);
            }
        }
    }

    /// Who feeds an element, or whom it feeds.
    fn beside(&self, element: ElementHandle, direction: Direction) -> Vec<ElementHandle> {
        let world = self.engine.world();
        let pads = world
            .get::<Pads>(element.entity())
            .map_or(&[][..], |p| &p.0);
        let of_direction = |pad: &&Entity| {
            let info = world.get::<Pad>(**pad);
            info.is_some_and(|p| p.direction == direction)
        };
        let other = |pad: &Entity| {
            let link = world.get::<Link>(world.get::<PadLink>(*pad)?.0?)?;
            let other = if link.from == *pad {
                link.to
            } else {
                link.from
            };
            let owner = world.get::<Pad>(other)?.element;
            let all = self.engine.elements(self.pipeline);
            all.into_iter().find(|e| e.entity() == owner)
        };
        pads.iter().filter(of_direction).filter_map(other).collect()
    }

    fn add(&mut self, class: &str) -> ElementHandle {
        let element = self.engine.create(class, self.ids).expect("a class");
        self.ids += 1;
        self.engine.add(self.pipeline, element).expect("a new id");
        element
    }

    fn insert(&mut self, element: ElementHandle, class: &str) {
        let behind = self.beside(element, Direction::Source);
        let Some(&next) = behind.first() else {
            return;
        };
        let made = self.add(class);
        self.engine.unlink(element, next).expect("they are linked");
        self.engine
            .link_all([element, made, next])
            .expect("they meet");
    }

    fn bypass(&mut self, element: ElementHandle) {
        let passes = ["identity", "queue", "hold"];
        let name = self.engine.name(element);
        if !passes.iter().any(|p| name.starts_with(p)) {
            return;
        }
        let before = self.beside(element, Direction::Sink);
        let behind = self.beside(element, Direction::Source);
        let (&[before], &[behind]) = (&before[..], &behind[..]) else {
            return;
        };
        self.engine
            .unlink(before, element)
            .expect("they are linked");
        self.engine
            .unlink(element, behind)
            .expect("they are linked");
        self.engine
            .remove(self.pipeline, element, Removal::Discard)
            .expect("it is there");
        self.engine.link(before, behind).expect("they meet");
    }

    /// From the sink up to the tee.
    fn leave(&mut self, removal: Removal) {
        let Some(sink) = self.branches.pop() else {
            return;
        };
        let mut at = vec![sink];
        while let Some(element) = at.pop() {
            let before = self.beside(element, Direction::Sink);
            // It may have been torn out.
            let _ = self.engine.remove(self.pipeline, element, removal);
            at.extend(before.into_iter().filter(|&e| self.engine.name(e) != "t"));
        }
    }

    /// Another branch behind a tee.
    fn branch(&mut self) {
        let Some(tee) = self.engine.element(self.pipeline, "t") else {
            return;
        };
        let (queue, sink) = (self.add("queue"), self.add("fakesink"));
        self.engine.link_all([tee, queue, sink]).expect("they meet");
        self.branches.push(sink);
    }

    fn tick(&mut self) {
        self.engine.tick();
        let p = fabric(&self.engine, self.pipeline);
        assert!(p.breach.is_none(), "{:?}", p.breach);
        if self.digests.len().is_multiple_of(8) {
            acting::assert_counts_add_up(&self.engine.report(self.pipeline));
        }
        let p = fabric(&self.engine, self.pipeline);
        check_ends(p);
        self.digests.push(p.digest);
        let now = p.progress;
        let news = acting::messages(&mut self.engine, self.pipeline);
        let told = news.iter().filter(|m| m.kind == MessageKind::Eos).count();
        // An end that is flushed at the end comes again at once.
        let again = self.flushes && told == 1;
        let ended = now == Progress::Ended && (self.before != Progress::Ended || again);
        self.ends += usize::from(ended);
        self.eos += told;
        self.before = now;
        self.flushes = !self.handlers.is_empty();
        self.messages.extend(news);
    }

    /// Ticks until it is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Running) -> bool) {
        for _ in 0..BOUND {
            self.tick();
            if is_so(self) {
                return;
            }
        }
        let p = fabric(&self.engine, self.pipeline);
        let lanes = p.lanes.iter().map(|l| (l.element, l.readiness, l.gate));
        panic!(
            "{what}: {:?} {:?} {:?}",
            self.engine.state_change(self.pipeline),
            p.progress,
            lanes.collect::<Vec<_>>()
        );
    }
}

/// A run is at its end exactly if all its sinks are.
fn check_ends(p: &PipelineFabric) {
    if !matches!(p.progress, Progress::Running | Progress::Ended) {
        return;
    }
    let open = p.sinks.iter().filter(|&&s| !p.lanes[s as usize].done);
    assert_eq!(p.live_sinks as usize, open.count());
    assert_eq!(p.progress == Progress::Ended, p.live_sinks == 0);
}

fn seek(frame: i64, stop: Option<i64>, flush: bool) -> Seek {
    Seek {
        stop,
        flush,
        ..Seek::frame(frame)
    }
}

fn event(kind: u8, upstream: bool) -> Event {
    let custom = Custom {
        name: "note".to_owned(),
        fields: [("a".to_owned(), "b".to_owned())].into(),
    };
    match (kind, upstream) {
        (0 | 1, true) => Event::Quality(Quality {
            kind: QualityKind::TooLate,
            proportion: 700,
            jitter: 5,
            timestamp: 9,
        }),
        (0, false) => Event::Gap(Gap {
            start: 3,
            duration: Some(40),
            time_base: MS,
        }),
        (1, false) => Event::Tag(Arc::new([("title".to_owned(), "t".to_owned())].into())),
        _ => Event::Custom(Arc::new(custom)),
    }
}

/// Cases count what is out under one label.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn run(case: &Case, threads: usize) -> Outcome {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // One that failed before left what it had.
    acting::count_anew("random");
    let mut engine = engine_with(threads);
    let result = engine.launch("main", &case.text);
    let pipeline = result
        .unwrap_or_else(|e| panic!("{}", e.render(&case.text)))
        .0;
    engine.set_clock(pipeline, case.clock);
    engine.observe(pipeline, true, true);
    let mut r = Running {
        engine,
        pipeline,
        ids: 1000,
        digests: Vec::new(),
        messages: Vec::new(),
        handlers: Vec::new(),
        branches: Vec::new(),
        ends: 0,
        eos: 0,
        flushes: false,
        compares: ["join name=tx", "join name=ux"]
            .iter()
            .any(|j| case.text.contains(j)),
        before: Progress::Idle,
    };
    for tick in 0..CHAOS {
        for (_, act) in case.acts.iter().filter(|a| a.0 == tick) {
            r.act(act);
        }
        r.tick();
    }
    // Nobody asks for anything more, and what refuses everything takes it again.
    for handler in core::mem::take(&mut r.handlers) {
        r.engine.unsubscribe(handler);
    }
    r.tick();
    for act in case.acts.iter().map(|a| &a.1) {
        // Behind all sources: where one began may be gone, and handlers flush all.
        if matches!(act, Act::Flush(_, Flush::Start) | Act::Handler(..)) {
            r.act(&Act::Flush(None, Flush::Stop));
        }
    }
    for &state in &case.last {
        r.engine.set_state(pipeline, state);
        r.until(&format!("to {state}"), |r| {
            let change = r.engine.state_change(pipeline);
            let there = change.state == state && change.pending.is_none();
            there
                && matches!(
                    change.result,
                    ChangeResult::Success | ChangeResult::NoPreroll
                )
        });
        if state == State::Paused {
            r.until("at rest", |r| {
                let p = fabric(&r.engine, pipeline);
                p.idle || p.progress != Progress::Running
            });
        }
    }
    r.engine.set_state(pipeline, State::Playing);
    r.until("to the end", |r| {
        r.engine.progress(pipeline) == Progress::Ended
    });
    let report = r.engine.report(pipeline);
    let removed = report.elements.iter().filter(|e| e.removed);
    let removed: Vec<&str> = removed.map(|e| e.name.as_str()).collect();
    let open = |s: &&SinkReport| !s.eos && !removed.contains(&s.name.as_str());
    let found = report.sinks.iter().find(open);
    assert!(found.is_none(), "{found:?} {removed:?}");
    r.engine.set_state(pipeline, State::Ready);
    (0..3).for_each(|_| r.tick());
    assert_eq!(r.engine.state(pipeline), State::Ready);
    assert_eq!(out("random").0, 0, "buffers are out");
    assert_eq!(r.eos, r.ends, "an end is told once");
    let bad = |m: &&Message| {
        let lost = MessageKind::Warning(Domain::Pool, Code::NotReturned);
        let kind = m.mask();
        kind == MessageMask::ERROR || kind == MessageMask::STALLED || m.kind == lost
    };
    assert_eq!(r.messages.iter().find(bad), None);
    Outcome {
        digests: r.digests,
        messages: r.messages,
    }
}

/// So many cases, or as many as the environment asks for.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..ProptestConfig::with_cases(cases())
    })]
    #[test]
    fn whatever_is_asked_it_gets_there(case in case()) {
        let one = run(&case, 1);
        let two = run(&case, 2);
        prop_assert_eq!(one, two);
    }

    #[test]
    fn whatever_is_left_of_it_gets_to_its_end(case in torn()) {
        let one = run(&case, 1);
        let two = run(&case, 2);
        prop_assert_eq!(one, two);
    }
}
