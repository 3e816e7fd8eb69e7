//! Elements that do as a script says and write down what is done with them, for tests of states,
//! events and ends: `actsrc`, `actpass`, `actsink`. What they saw is found by their label.

#![allow(dead_code, reason = "each test file uses a part")]

use bevy_ecs::component::Component;
use core::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::event::{Event, Gap};
use tickpipe::components::fabric::{Fabric, PipelineFabric, SinkTerms};
use tickpipe::components::fault::{Code, Domain, ElementError};
use tickpipe::components::id::BufferId;
use tickpipe::components::memory::Memory;
use tickpipe::components::pool::{Backing, PoolConfig, Refused};
use tickpipe::components::time::{Segment, TimeBase};
use tickpipe::systems::element::{
    Buffers, Element, Flow, Handled, PadAt, PadCapsOf, PadTemplate, Process, Property, Seeking,
    Work,
};
use tickpipe::{
    ElementHandle, Engine, EngineOptions, Message, MessageKind, MessageMask, PipelineHandle, Seek,
    SeekFormat, State,
};

/// The unit of the times that `actsrc` makes: a buffer each 40 ms.
pub const MS: TimeBase = match TimeBase::new(1, 1000) {
    Some(base) => base,
    None => TimeBase::NANOSECONDS,
};

static LOG: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

/// How many buffers of pools of a label are out now, and how many went out in all.
static OUT: Mutex<BTreeMap<String, (i64, u64)>> = Mutex::new(BTreeMap::new());

/// Writes something down.
pub fn log(label: &str, what: String) {
    if !label.is_empty() {
        let mut log = LOG.lock().unwrap_or_else(|e| e.into_inner());
        log.entry(label.to_owned()).or_default().push(what);
    }
}

/// What was written down under a label, which is empty then.
pub fn taken(label: &str) -> Vec<String> {
    let mut log = LOG.lock().unwrap_or_else(|e| e.into_inner());
    log.remove(label).unwrap_or_default()
}

/// Buffers of the pools of a label that are out now, and those that went out in all.
pub fn out(label: &str) -> (i64, u64) {
    let out = OUT.lock().unwrap_or_else(|e| e.into_inner());
    out.get(label).copied().unwrap_or_default()
}

/// Forgets what was counted under a label.
pub fn count_anew(label: &str) {
    let mut out = OUT.lock().unwrap_or_else(|e| e.into_inner());
    out.remove(label);
}

/// A pool of the heap that counts what goes out and comes home.
#[derive(Debug)]
pub struct Counting(pub String);

impl Counting {
    fn count(&self, by: i64) {
        let mut out = OUT.lock().unwrap_or_else(|e| e.into_inner());
        let (now, all) = out.entry(self.0.clone()).or_default();
        *now += by;
        *all += u64::from(by > 0);
    }
}

impl Backing for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn start(&mut self, live: &PoolConfig) -> Result<Vec<Memory>, Refused> {
        let made = (0..live.count).map(|_| Memory::with_prefix(live.size, live.align, live.prefix));
        Ok(made.collect())
    }

    fn follows_buffers(&self) -> bool {
        true
    }

    fn acquire(&mut self, _slot: u32) {
        self.count(1);
    }

    fn release(&mut self, _slot: u32) {
        self.count(-1);
    }
}

/// What all of them can be told. A source follows `script`, one letter each: `b` a buffer, `n` one
/// that lasts less than nothing, `s` a segment, `g` a gap, `.` waits until its device is ready, `e`
/// the end, `f` fails; the last of `*` goes on for ever with buffers.
#[derive(Component, Clone, Debug)]
pub struct Act<const ROLE: u8> {
    /// Under which name it writes down.
    pub label: String,
    /// What a source does.
    pub script: String,
    /// A source that gives buffers only in PLAYING.
    pub live: bool,
    /// The hook that fails: `open`, `play`, `pause`, `close`, `event`.
    pub fail: String,
    /// How often it does.
    pub times: i64,
    /// The buffer, from 1, at which it fails; 0 never.
    pub fail_at: i64,
    /// The buffer, from 1, at which it asks for READY; 0 never.
    pub stop_at: i64,
    /// The buffer, from 1, at which it waits for its device; 0 never.
    pub device_at: i64,
    /// A pass-on element copies into buffers of a pool of its own.
    pub copies: bool,
    /// Its pool is counted under the label.
    pub counts: bool,
    /// A sink that holds each buffer until its time.
    pub sync: bool,
}

impl<const ROLE: u8> Default for Act<ROLE> {
    fn default() -> Self {
        Act {
            label: String::new(),
            script: "*".to_owned(),
            live: false,
            fail: String::new(),
            times: i64::MAX,
            fail_at: 0,
            stop_at: 0,
            device_at: 0,
            copies: false,
            counts: false,
            sync: false,
        }
    }
}

pub type ActSrc = Act<0>;
pub type ActPass = Act<1>;
pub type ActSink = Act<2>;

fn told() -> ElementError {
    let error = std::io::Error::other("told to fail");
    ElementError::new(Domain::Resource, Code::Refused, error)
}

impl<const ROLE: u8> Element for Act<ROLE> {
    const NAME: &'static str = ["actsrc", "actpass", "actsink"][ROLE as usize];
    const SUMMARY: &'static str = "Does as its script says";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = [Flow::Separate, Flow::Wire, Flow::Separate][ROLE as usize];
    const OWNS_POOL: bool = ROLE < 2;

    fn pads() -> Vec<PadTemplate> {
        let sink = PadTemplate::sink("sink", Caps::any());
        let source = PadTemplate::source("src", Caps::any());
        match ROLE {
            0 => vec![source],
            1 => vec![sink, source],
            _ => vec![sink],
        }
    }

    fn properties() -> Vec<Property<Self>> {
        use tickpipe::systems::field;
        vec![
            field!(Text, "label", "Written down under", label),
            field!(Text, "script", "What it does", script),
            field!(Bool, "is-live", "Only in PLAYING", live),
            field!(Text, "fail", "The hook that fails", fail),
            field!(Int(0, i64::MAX), "times", "How often", times),
            field!(Int(0, i64::MAX), "fail-at", "Fails at", fail_at),
            field!(Int(0, i64::MAX), "stop-at", "Asks for READY at", stop_at),
            field!(Int(0, i64::MAX), "device-at", "Waits at", device_at),
            field!(Bool, "copies", "Has a pool", copies),
            field!(Bool, "counts", "Its pool is counted", counts),
            field!(Bool, "sync", "Holds each until its time", sync),
        ]
    }

    fn sink_terms(&self) -> SinkTerms {
        SinkTerms {
            sync: self.sync,
            ..SinkTerms::default()
        }
    }

    fn is_live(&self) -> bool {
        self.live
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        if ROLE == 2 || ROLE == 1 && !self.copies {
            return Ok(Buffers::Passed);
        }
        let own = PoolConfig {
            size: 8,
            ..PoolConfig::default()
        };
        Ok(Buffers::Own(own.merge(downstream)))
    }

    fn pool_backing(&self) -> Option<Box<dyn Backing>> {
        let fills = ROLE == 0 || self.copies;
        let counts = self.counts && fills;
        counts.then(|| Box::new(Counting(self.label.clone())) as Box<dyn Backing>)
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        log(&self.label, "open".to_owned());
        if self.fail == "open" {
            return Err(told());
        }
        Ok(Box::new(Acting {
            settings: self.clone(),
            failed: 0,
            at: 0,
            seen: 0,
            asked: 0,
            index: 0,
        }))
    }
}

struct Acting<const ROLE: u8> {
    settings: Act<ROLE>,
    failed: i64,
    /// Where in the script.
    at: usize,
    /// Buffers that came.
    seen: i64,
    /// The buffer for which it waited for its device.
    asked: i64,
    /// Of a source: the next buffer.
    index: i64,
}

impl<const ROLE: u8> Acting<ROLE> {
    fn hook(&mut self, hook: &str) -> Result<(), ElementError> {
        log(&self.settings.label, hook.to_owned());
        if self.settings.fail == hook && self.failed < self.settings.times {
            self.failed += 1;
            return Err(told());
        }
        Ok(())
    }

    fn source(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        let script = self.settings.script.clone().into_bytes();
        let base = MS;
        loop {
            let last = script.len().saturating_sub(1);
            match script.get(self.at.min(last)).copied().unwrap_or(b'e') {
                letter @ (b'b' | b'n' | b'*') => {
                    if process.room(0) == 0 {
                        break;
                    }
                    let Some(mut buffer) = process.acquire() else {
                        break;
                    };
                    buffer.meta.len = 0;
                    buffer.meta.index = self.index.unsigned_abs();
                    buffer.meta.pts = Some(self.index * 40);
                    buffer.meta.duration = Some(if letter == b'n' { -1 } else { 40 });
                    buffer.meta.time_base = base;
                    self.index += 1;
                    process.push(0, buffer);
                }
                b's' => process.push_event(
                    0,
                    Event::Segment(Segment {
                        start: self.index * 40,
                        time: self.index * 40,
                        time_base: base,
                        ..Segment::default()
                    }),
                ),
                b'g' => process.push_event(
                    0,
                    Event::Gap(Gap {
                        start: self.index * 40,
                        duration: Some(40),
                        time_base: base,
                    }),
                ),
                b'.' => {
                    if self.asked <= self.at as i64 {
                        self.asked = self.at as i64 + 1;
                        process.wait_for_device();
                        return Ok(());
                    }
                }
                b'f' => return Err(told()),
                // What comes behind the end is there to be refused.
                _ => process.finish(),
            }
            self.at += usize::from(self.at < script.len());
            if self.at == script.len() && script.last() != Some(&b'*') {
                break;
            }
        }
        Ok(())
    }
}

impl<const ROLE: u8> Work for Acting<ROLE> {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<Act<ROLE>>() {
            self.settings = settings.clone();
        }
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if ROLE == 0 {
            return self.source(process);
        }
        while ROLE == 2 || process.room(0) > 0 {
            let Some(item) = process.peek(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                process.next(0);
                log(&self.settings.label, "end".to_owned());
                process.finish();
                break;
            };
            let now = self.seen + 1;
            if now == self.settings.device_at && self.asked < now {
                self.asked = now;
                process.wait_for_device();
                break;
            }
            let copy = match self.settings.copies {
                true => match process.acquire() {
                    Some(copy) => Some(copy),
                    None => break,
                },
                false => None,
            };
            process.next(0);
            self.seen = now;
            let meta = *process.meta(buffer);
            log(&self.settings.label, format!("buffer {}", meta.index));
            if now == self.settings.stop_at {
                process.request_state(State::Ready);
            }
            match (ROLE, copy) {
                (2, _) => {
                    process.show(buffer);
                    process.release(buffer);
                }
                (_, None) => process.forward(0, buffer),
                (_, Some(mut copy)) => {
                    copy.meta = meta;
                    copy.meta.len = 0;
                    process.release(buffer);
                    process.push(0, copy);
                }
            }
            if now == self.settings.fail_at {
                return Err(told());
            }
            if process.timed() {
                break;
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        _pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if let Event::Segment(segment) = event {
            log(&self.settings.label, format!("segment {}", segment.start));
            return Ok(Handled::Forward);
        }
        self.hook(event.name())?;
        Ok(Handled::Forward)
    }

    fn flush(&mut self, _pads: &[usize]) {
        log(&self.settings.label, "flush".to_owned());
    }

    fn preroll(&mut self, buffer: BufferId, process: &Process<'_>) -> Result<(), ElementError> {
        let index = process.meta(buffer).index;
        log(&self.settings.label, format!("preroll {index}"));
        Ok(())
    }

    fn plan_seek(&self, seek: &Seek) -> Result<Seeking, ElementError> {
        if ROLE != 0 {
            return Ok(Seeking::Pass);
        }
        if seek.format != SeekFormat::Frames {
            return Err(told());
        }
        Ok(Seeking::Here(Segment {
            start: seek.start * 40,
            time: seek.start * 40,
            time_base: MS,
            ..Segment::default()
        }))
    }

    fn seek(&mut self, seek: &Seek) {
        self.index = seek.start;
        self.at = usize::try_from(seek.start).unwrap_or(usize::MAX);
        self.at = self.at.min(self.settings.script.len());
    }

    fn play(&mut self) -> Result<(), ElementError> {
        self.hook("play")
    }

    fn pause(&mut self) -> Result<(), ElementError> {
        self.hook("pause")
    }

    fn close(&mut self) -> Result<(), ElementError> {
        self.hook("close")
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("at", self.at as u64);
        visitor.signed("seen", self.seen);
        visitor.signed("index", self.index);
    }
}

/// An engine with those elements, which looks in every tick that all holds that always does.
pub fn engine() -> Engine {
    engine_with(1)
}

/// The same on so many threads.
pub fn engine_with(threads: usize) -> Engine {
    let options = EngineOptions {
        threads,
        check: Some(true),
        ..EngineOptions::default()
    };
    let mut engine = Engine::with_options(options).expect("an engine");
    engine.register::<ActSrc>().expect("a free name");
    engine.register::<ActPass>().expect("a free name");
    engine.register::<ActSink>().expect("a free name");
    engine
}

/// A pipeline of a launch line.
pub fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let result = engine.launch("main", text);
    result.unwrap_or_else(|e| panic!("{}", e.render(text))).0
}

/// The element of that name.
pub fn named(engine: &Engine, pipeline: PipelineHandle, name: &str) -> ElementHandle {
    let element = engine.element(pipeline, name);
    element.unwrap_or_else(|| panic!("there is no {name}"))
}

/// Asks for a state and waits until the pipeline is in it.
pub fn go(engine: &mut Engine, pipeline: PipelineHandle, state: State) {
    engine.set_state(pipeline, state);
    let there = engine.wait_for_state(pipeline, state);
    there.unwrap_or_else(|e| panic!("to {state}: {e}"));
}

/// So many ticks.
pub fn ticks(engine: &mut Engine, count: usize) {
    (0..count).for_each(|_| engine.tick());
}

/// All messages that are on the bus now.
pub fn messages(engine: &mut Engine, pipeline: PipelineHandle) -> Vec<Message> {
    core::iter::from_fn(|| engine.next_message(pipeline, MessageMask::all())).collect()
}

/// How many of them are of a kind.
pub fn count(messages: &[Message], mask: MessageMask) -> usize {
    messages.iter().filter(|m| m.mask() == mask).count()
}

/// The kinds of all messages but changes of state.
pub fn kinds(messages: &[Message]) -> Vec<MessageKind> {
    let of_state = |k: &MessageKind| matches!(k, MessageKind::StateChanged(_));
    let kinds = messages.iter().map(|m| m.kind);
    kinds.filter(|k| !of_state(k)).collect()
}

/// The arrays of a pipeline.
pub fn fabric(engine: &Engine, pipeline: PipelineHandle) -> &PipelineFabric {
    let fabric = engine.world().resource::<Fabric>();
    fabric.get(pipeline.id()).expect("a pipeline")
}

/// What a log says of buffers: their indices, in order.
pub fn buffers(log: &[String]) -> Vec<u64> {
    let indices = log.iter().filter_map(|l| l.strip_prefix("buffer "));
    indices.filter_map(|i| i.parse().ok()).collect()
}

/// What was sent somewhere was taken, is queued, or was let go before it was taken.
pub fn assert_counts_add_up(report: &tickpipe::Report) {
    let sum = |of: fn(&tickpipe::ElementReport) -> u64| report.elements.iter().map(of).sum::<u64>();
    assert_eq!(
        sum(|e| e.buffers_out - e.unlinked),
        sum(|e| e.buffers_in + e.queued + e.discarded),
        "{}",
        report.to_json()
    );
}
