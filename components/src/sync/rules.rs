//! What a synchroniser's inputs ask for, and what the options make of it. Plain data.
//!
//! FFmpeg framesync: an input has a *sync level* and says what it shows before its first frame and
//! after its last one. The options `eof_action`, `shortest`, `repeatlast` and `ts_sync_mode` change
//! that, in a fixed order ([`SyncTerms::resolved`]).

use super::SyncError;
use crate::time::TimeBase;
use core::str::FromStr;
use smallvec::SmallVec;
use thiserror::Error;

/// What an input shows before its first frame, or after its last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extend {
    /// There is no output: not before its first frame; after its last one the output ends.
    Stop,
    /// Nothing: the others go on without it.
    #[default]
    Null,
    /// Its first frame, or its last one.
    Infinity,
}

/// What an input asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRule {
    /// Frames of the inputs with the highest level make output; those of level 0 never do.
    pub sync: u32,
    /// Before its first frame.
    pub before: Extend,
    /// After its last one.
    pub after: Extend,
}

impl SyncRule {
    /// A rule.
    pub const fn new(sync: u32, before: Extend, after: Extend) -> SyncRule {
        SyncRule {
            sync,
            before,
            after,
        }
    }
}

/// A word that is none of an option's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found:?}: expected one of {allowed}")]
pub struct UnknownWord {
    /// The word.
    pub found: String,
    /// What would do.
    pub allowed: &'static str,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $allowed:literal, $($(#[$vdoc:meta])* $variant:ident = $word:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Its word.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<$name, UnknownWord> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err(UnknownWord { found: text.to_owned(), allowed: $allowed }),
                }
            }
        }
    };
}

words!(
    /// What happens when an input that does not lead is at its end (FFmpeg: `eof_action`).
    EofAction, "repeat, endall, pass",
    /// Its last frame is shown on.
    #[default]
    Repeat = "repeat",
    /// The output ends.
    EndAll = "endall",
    /// The leading input is passed on without it.
    Pass = "pass"
);
words!(
    /// Which frame of an input of a lower level is shown (FFmpeg: `ts_sync_mode`).
    TsSyncMode, "default, nearest",
    /// The last one at or before the time of the output.
    #[default]
    Default = "default",
    /// The one that is nearest to it; of two that are as near, the older.
    Nearest = "nearest"
);

/// The options of FFmpeg's synchronised filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncOptions {
    /// What happens when an input that does not lead is at its end.
    pub eof_action: EofAction,
    /// The output ends with the input that ends first.
    pub shortest: bool,
    /// The last frame of an input that does not lead is shown on after its end.
    pub repeatlast: bool,
    /// Which frame of an input of a lower level is shown.
    pub ts_sync_mode: TsSyncMode,
}

impl Default for SyncOptions {
    fn default() -> SyncOptions {
        SyncOptions {
            eof_action: EofAction::Repeat,
            shortest: false,
            repeatlast: true,
            ts_sync_mode: TsSyncMode::Default,
        }
    }
}

/// In which time base the output is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutBase {
    /// That in which times are compared.
    #[default]
    Common,
    /// That of the first input; times are rounded to it.
    First,
}

/// What becomes of a frame without a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Untimed {
    /// It is an error.
    #[default]
    Refuse,
    /// It is earlier than everything (FFmpeg: its time is the smallest number there is).
    First,
}

/// All that a synchroniser is made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncTerms {
    /// Per input, before the options.
    pub rules: SmallVec<[SyncRule; 4]>,
    /// The options.
    pub options: SyncOptions,
    /// The time base of the output.
    pub out: OutBase,
    /// Times are compared in this time base, whatever the inputs have.
    pub preset: Option<TimeBase>,
    /// An input that ends before the others is an error at the first set that misses its frame.
    pub strict: bool,
    /// Frames without a time.
    pub untimed: Untimed,
}

impl SyncTerms {
    /// Of an element with a leading input and one beside it (FFmpeg: levels 2 and 1, before `stop`
    /// and `null`, after `infinity`).
    pub fn dual(out: OutBase) -> SyncTerms {
        let main = SyncRule::new(2, Extend::Stop, Extend::Infinity);
        let second = SyncRule::new(1, Extend::Null, Extend::Infinity);
        SyncTerms {
            rules: SmallVec::from_slice(&[main, second]),
            out,
            ..SyncTerms::default()
        }
    }

    /// Of an element with equal inputs (FFmpeg: level 1 each, before `stop`, after `infinity`).
    pub fn equal(inputs: usize) -> SyncTerms {
        let rule = SyncRule::new(1, Extend::Stop, Extend::Infinity);
        SyncTerms {
            rules: core::iter::repeat_n(rule, inputs).collect(),
            ..SyncTerms::default()
        }
    }

    /// The rules after the options (FFmpeg framesync: in this order).
    pub fn resolved(&self) -> SmallVec<[SyncRule; 4]> {
        let SyncOptions {
            eof_action,
            shortest,
            repeatlast,
            ..
        } = self.options;
        let repeats = repeatlast && eof_action != EofAction::Pass;
        // Who does not repeat the last frame passes: `endall` is overwritten by that.
        let shortest = shortest || repeats && eof_action == EofAction::EndAll;
        let mut rules = self.rules.clone();
        if !repeats {
            for rule in rules.iter_mut().skip(1) {
                (rule.after, rule.sync) = (Extend::Null, 0);
            }
        }
        if shortest {
            rules.iter_mut().for_each(|rule| rule.after = Extend::Stop);
        }
        rules
    }

    /// The time base in which times are compared: of the inputs that can make output, merged in
    /// order.
    ///
    /// # Errors
    /// [`SyncError::NoLevel`] if none can.
    pub fn common(
        &self,
        resolved: &[SyncRule],
        time_bases: &[TimeBase],
    ) -> Result<TimeBase, SyncError> {
        let counted = resolved.iter().zip(time_bases).filter(|(r, _)| r.sync > 0);
        let merged = counted.map(|(_, &base)| base).reduce(TimeBase::merge);
        merged
            .map(|merged| self.preset.unwrap_or(merged))
            .ok_or(SyncError::NoLevel)
    }
}
