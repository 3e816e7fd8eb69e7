//! Elements that lose buffers, each in its own way.
#![allow(dead_code, reason = "each test file uses its part")]

use bevy_ecs::component::Component;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fabric::Granted;
use tickpipe::components::fault::ElementError;
use tickpipe::components::pool::PoolConfig;
use tickpipe::systems::element::{
    Buffers, Element, Flow, PadCapsOf, PadTemplate, Process, Property, Work,
};
use tickpipe::{Engine, EngineOptions, Limit, Limits, PipelineHandle};

/// An engine that knows the elements of this file, with this `buffer-age`.
pub fn engine(check: Option<bool>, age: u64) -> Engine {
    let mut limits = Limits::default();
    limits.set(Limit::BufferAge, age).expect("an age");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        check,
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine.register::<Thief>().expect("a new name");
    engine.register::<Pocket>().expect("a new name");
    engine.register::<Lossy>().expect("a new name");
    engine.register::<Keeper>().expect("a new name");
    engine
}

pub fn launch(engine: &mut Engine, text: &str) -> PipelineHandle {
    let built = engine.launch("main", text);
    built.map_err(|e| e.render(text)).expect("a graph").0
}

fn through() -> Vec<PadTemplate> {
    vec![
        PadTemplate::sink("sink", Caps::any()),
        PadTemplate::source("src", Caps::any()),
    ]
}

macro_rules! number {
    ($name:literal) => {
        vec![tickpipe_systems::field!(
            Int(0, i64::from(u32::MAX)),
            $name,
            "A number",
            number
        )]
    };
}

/// Takes a buffer and neither passes it on, nor lets it go, nor keeps it.
#[derive(Component, Clone, Debug, Default)]
pub struct Thief {
    /// Which buffer, counted from 1.
    pub number: u32,
}

impl Element for Thief {
    const NAME: &'static str = "thief";
    const SUMMARY: &'static str = "Swallows a buffer";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        through()
    }

    fn properties() -> Vec<Property<Self>> {
        number!("nth")
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Taking {
            number: self.number,
            seen: 0,
            keeps: false,
        }))
    }
}

/// Keeps the first so many buffers for ever.
#[derive(Component, Clone, Debug, Default)]
pub struct Keeper {
    /// How many.
    pub number: u32,
}

impl Element for Keeper {
    const NAME: &'static str = "keeper";
    const SUMMARY: &'static str = "Keeps buffers";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        through()
    }

    fn properties() -> Vec<Property<Self>> {
        number!("first")
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Taking {
            number: self.number,
            seen: 0,
            keeps: true,
        }))
    }
}

struct Taking {
    number: u32,
    seen: u32,
    keeps: bool,
}

impl Work for Taking {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            let Some(item) = process.next(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            self.seen += 1;
            match self.keeps {
                true if self.seen <= self.number => process.keep(buffer),
                false if self.seen == self.number => {}
                _ => process.forward(0, buffer),
            }
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("seen", self.seen.into());
    }
}

/// A source that has one of its buffers in its own pocket, with its memory.
#[derive(Component, Clone, Debug, Default)]
pub struct Pocket {
    /// Which, counted from 1.
    pub number: u32,
}

impl Element for Pocket {
    const NAME: &'static str = "pocket";
    const SUMMARY: &'static str = "Has a buffer where nobody sees it";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        number!("nth")
    }

    fn decide_pool(&self, _: &PadCapsOf, down: PoolConfig) -> Result<Buffers, ElementError> {
        Ok(Buffers::Own(down))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Making {
            frames: u64::MAX,
            lose: self.number.into(),
            once: true,
            made: 0,
            pocket: None,
        }))
    }
}

/// A source that loses each so-manyth buffer in its device.
#[derive(Component, Clone, Debug, Default)]
pub struct Lossy {
    /// It ends after so many.
    pub frames: u32,
    /// It loses each so-manyth; 0 loses none.
    pub number: u32,
}

impl Element for Lossy {
    const NAME: &'static str = "lossy";
    const SUMMARY: &'static str = "Loses a buffer once in a while";
    const KLASS: &'static str = "Test";
    const FLOW: Flow = Flow::Separate;
    const OWNS_POOL: bool = true;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::source("src", Caps::any())]
    }

    fn properties() -> Vec<Property<Self>> {
        let mut all: Vec<Property<Self>> = number!("lose-every");
        all.push(tickpipe_systems::field!(
            Int(0, i64::from(u32::MAX)),
            "frames",
            "A number",
            frames
        ));
        all
    }

    fn decide_pool(&self, _: &PadCapsOf, down: PoolConfig) -> Result<Buffers, ElementError> {
        Ok(Buffers::Own(down))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Making {
            frames: self.frames.into(),
            lose: self.number.into(),
            once: false,
            made: 0,
            pocket: None,
        }))
    }
}

struct Making {
    frames: u64,
    lose: u64,
    once: bool,
    made: u64,
    pocket: Option<Granted>,
}

impl Work for Making {
    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        while process.room(0) > 0 {
            if self.made >= self.frames {
                process.finish();
                break;
            }
            let Some(mut buffer) = process.acquire() else {
                break;
            };
            buffer.meta.len = 0;
            self.made += 1;
            if self.once && self.made == self.lose {
                self.pocket = Some(buffer);
            } else if !self.once && self.lose > 0 && self.made.is_multiple_of(self.lose) {
                process.keep_acquired(buffer);
            } else {
                process.push(0, buffer);
            }
        }
        Ok(())
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        visitor.unsigned("made", self.made);
    }
}
