//! Every size that is fixed when a graph starts has a name, a default, a range and a counterpart.

use thiserror::Error;

/// The description of one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitSpec {
    /// Its name in `--limit NAME=N`.
    pub name: &'static str,
    /// What it bounds, with its unit.
    pub about: &'static str,
    /// Its value unless set.
    pub default: u64,
    /// The lowest value that can be set.
    pub min: u64,
    /// The highest value that can be set.
    pub max: u64,
    /// The option of Zephyr's mpipe that it stands for, or an empty text.
    pub mpipe: &'static str,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $default:expr, $min:expr, $max:expr, $about:literal, $mpipe:literal;)+) => {
        /// A named limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Limit { $(#[doc = $about] $variant),+ }

        impl Limit {
            /// All limits, in the order in which they are listed.
            pub const ALL: &[Limit] = &[$(Limit::$variant),+];

            /// Its description.
            pub const fn spec(self) -> LimitSpec {
                match self {
                    $(Limit::$variant => LimitSpec {
                        name: $name, about: $about, default: $default, min: $min, max: $max,
                        mpipe: $mpipe,
                    }),+
                }
            }
        }
    };
}

limits! {
    Quantum: "quantum", 4, 1, 256,
        "buffers that a tick moves over one pad", "";
    LinkBuffers: "link-buffers", 0, 0, 65_536,
        "buffers that a link holds; 0 means twice the quantum", "CONFIG queue max";
    QueueBuffers: "queue-buffers", 65_536, 1, 1_048_576,
        "buffers that a queue may be told to hold, and does with max-size-buffers=0", "CONFIG queue max";
    PoolBuffers: "pool-buffers", 1_024, 1, 65_536,
        "buffers of one pool", "max_buffers";
    PoolBytes: "pool-bytes", 268_435_456, 4_096, 1 << 40,
        "bytes of one pool", "";
    SlackBytes: "pool-slack-bytes", 16_777_216, 0, 1 << 40,
        "bytes that a pool gets beyond what it needs, so that elements work at the same time", "";
    Elements: "elements", 1_000_000, 1, 10_000_000,
        "elements of one pipeline", "CONFIG children per bin";
    TeePads: "tee-pads", 1_024, 1, 65_535,
        "pads on request of one element, such as a tee's", "CONFIG tee pads";
    BusMessages: "bus-messages", 256, 1, 1_048_576,
        "messages that a bus holds", "";
    CapsWork: "caps-work", 10_000_000, 1_000, 1 << 40,
        "steps of a negotiation", "index beyond 65535";
    CapsRows: "caps-rows", 4_096, 16, 1_048_576,
        "rows of one relation while caps are negotiated", "";
    CapsRefusals: "caps-refusals", 256, 1, 65_536,
        "choices that elements may refuse in one negotiation", "";
    EnumCaps: "enum-caps", 65_535, 1, 65_535,
        "answers of one pad to enum_caps or transform_caps", "index beyond 65535";
    Buffers: "buffers", 4_194_304, 1, 1 << 30,
        "buffers of all pools of one pipeline", "";
    Memory: "memory", 1 << 40, 1, 1 << 50,
        "bytes that a graph takes once it has started; --max-memory sets it", "";
    NameBytes: "name-bytes", 1_024, 1, 65_536,
        "bytes of the name of an element or bin", "";
    BinDepth: "bin-depth", 64, 1, 10_000,
        "bins inside one another", "CONFIG children per bin";
    Workers: "workers", 2, 1, 1_024,
        "threads that do items of work outside the tick, for all pipelines", "CONFIG work queue threads";
    WorkerStack: "worker-stack", 2_097_152, 65_536, 1 << 30,
        "bytes of the stack of one of them", "CONFIG work queue stack size";
    WorkPriorities: "work-priorities", 8, 1, 255,
        "priorities that an item of work can have, from 0, the most urgent", "CONFIG thread priority";
    WorkItems: "work-items", 16, 1, 65_536,
        "items of work that one element may have out at one time", "";
    BufferAge: "buffer-age", 10_000, 0, 1 << 40,
        "ticks that one element may have a buffer before it is told as not returned; 0 means for ever", "";
}

/// A value for a limit that cannot be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has that name.
    #[error("no limit named `{0}` (tickpipe inspect --limits lists them)")]
    Unknown(String),
    /// The value is outside of what can be set.
    #[error("limit {name}={value} is outside {min}..={max}")]
    OutOfRange {
        /// The limit.
        name: &'static str,
        /// What was asked.
        value: u64,
        /// The lowest that can be set.
        min: u64,
        /// The highest that can be set.
        max: u64,
    },
}

/// A size went past its limit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what}: {value} is past the limit {limit}={allowed} (raise it with --limit {limit}=N)")]
pub struct LimitExceeded {
    /// What was to be sized.
    pub what: String,
    /// The limit's name.
    pub limit: &'static str,
    /// What was needed.
    pub value: u64,
    /// What is allowed.
    pub allowed: u64,
}

/// The limits of an engine.
#[derive(bevy_ecs::resource::Resource, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    values: Vec<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            values: Limit::ALL.iter().map(|l| l.spec().default).collect(),
        }
    }
}

impl Limits {
    /// The value of a limit.
    pub fn get(&self, limit: Limit) -> u64 {
        self.values[limit as usize]
    }

    /// Sets a limit.
    ///
    /// # Errors
    /// [`LimitError::OutOfRange`] if it cannot have that value.
    pub fn set(&mut self, limit: Limit, value: u64) -> Result<(), LimitError> {
        let spec = limit.spec();
        if !(spec.min..=spec.max).contains(&value) {
            return Err(LimitError::OutOfRange {
                name: spec.name,
                value,
                min: spec.min,
                max: spec.max,
            });
        }
        self.values[limit as usize] = value;
        Ok(())
    }

    /// Sets a limit by its name.
    ///
    /// # Errors
    /// [`LimitError::Unknown`] and [`LimitError::OutOfRange`].
    pub fn set_named(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
        let limit = Limit::ALL
            .iter()
            .find(|l| l.spec().name == name)
            .ok_or_else(|| LimitError::Unknown(name.to_owned()))?;
        self.set(*limit, value)
    }

    /// Checks a size against a limit.
    ///
    /// # Errors
    /// [`LimitExceeded`] with the limit's name if it is too large.
    pub fn check(&self, limit: Limit, what: &str, value: u64) -> Result<(), LimitExceeded> {
        let allowed = self.get(limit);
        if value <= allowed {
            return Ok(());
        }
        Err(LimitExceeded {
            what: what.to_owned(),
            limit: limit.spec().name,
            value,
            allowed,
        })
    }

    /// Buffers that a link holds.
    pub fn link_capacity(&self) -> usize {
        match self.get(Limit::LinkBuffers) {
            0 => 2 * self.get(Limit::Quantum) as usize,
            n => n as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_range_and_names_unique() {
        for (i, limit) in Limit::ALL.iter().enumerate() {
            let s = limit.spec();
            assert!((s.min..=s.max).contains(&s.default), "{}", s.name);
            assert_eq!(*limit as usize, i);
            assert_eq!(
                Limit::ALL
                    .iter()
                    .filter(|l| l.spec().name == s.name)
                    .count(),
                1
            );
        }
    }

    #[test]
    fn errors_say_what_is_allowed() {
        let mut limits = Limits::default();
        assert_eq!(limits.set_named("quantum", 8), Ok(()));
        assert_eq!(limits.link_capacity(), 16);
        let e = limits.set_named("quantum", 0).expect_err("too low");
        assert_eq!(e.to_string(), "limit quantum=0 is outside 1..=256");
        let e = limits.set_named("quanta", 1).expect_err("unknown");
        assert_eq!(
            e.to_string(),
            "no limit named `quanta` (tickpipe inspect --limits lists them)"
        );
        let e = limits
            .check(Limit::Quantum, "link a", 9)
            .expect_err("past it");
        assert_eq!(
            e.to_string(),
            "link a: 9 is past the limit quantum=8 (raise it with --limit quantum=N)"
        );
    }
}
