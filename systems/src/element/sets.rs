//! For elements whose inputs are synchronised: the options that all of them take, and a loop over
//! sets for those with a leading input and one beside it.

use super::{Process, Property};
use tickpipe_components::buffer::{BufferFlags, BufferMeta};
use tickpipe_components::fabric::Granted;
use tickpipe_components::fault::ElementError;
use tickpipe_components::id::BufferId;
use tickpipe_components::property::{Choice, PropertyKind, PropertyValue};
use tickpipe_components::sync::{
    EofAction, OutBase, Shown, SyncOptions, SyncSet, SyncTerms, TsSyncMode,
};
use tickpipe_components::time::{Rounding, TimeBase};

/// Settings of synchronisation, as a field of an element's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncSettings {
    /// FFmpeg's options.
    pub options: SyncOptions,
    /// An input that ends before the others is an error.
    pub strict: bool,
}

/// Settings that have [`SyncSettings`] in them.
pub trait Synchronises {
    /// To read.
    fn sync(&self) -> &SyncSettings;
    /// To set.
    fn sync_mut(&mut self) -> &mut SyncSettings;
}

const fn choice(number: i64, name: &'static str) -> Choice {
    Choice { number, name }
}

const EOF_ACTIONS: &[Choice] = &[choice(0, "repeat"), choice(1, "endall"), choice(2, "pass")];
const MODES: &[Choice] = &[choice(0, "default"), choice(1, "nearest")];

/// The property `shortest`.
pub fn shortest<T: Synchronises>() -> Property<T> {
    Property::new(
        "shortest",
        "The output ends with the input that ends first",
        PropertyKind::Bool,
        |s| PropertyValue::Bool(s.sync().options.shortest),
        |s, v| {
            if let PropertyValue::Bool(v) = v {
                s.sync_mut().options.shortest = v;
            }
        },
    )
}

/// The property `strict`.
pub fn strict<T: Synchronises>() -> Property<T> {
    Property::new(
        "strict",
        "An input that ends while others go on is an error, at the first frame that has no match",
        PropertyKind::Bool,
        |s| PropertyValue::Bool(s.sync().strict),
        |s, v| {
            if let PropertyValue::Bool(v) = v {
                s.sync_mut().strict = v;
            }
        },
    )
}

/// The options that FFmpeg's filters with a leading input take, and `strict`.
pub fn sync_properties<T: Synchronises>() -> [Property<T>; 5] {
    [
        Property::new(
            "eof-action",
            "What happens at the end of an input that does not lead: its last frame is shown on, the output ends, or the leading input is passed on without it",
            PropertyKind::Choice(EOF_ACTIONS),
            |s| PropertyValue::Text(s.sync().options.eof_action.name().to_owned()),
            |s, v| {
                if let PropertyValue::Text(v) = v
                    && let Ok(v) = v.parse::<EofAction>()
                {
                    s.sync_mut().options.eof_action = v;
                }
            },
        ),
        shortest(),
        Property::new(
            "repeatlast",
            "The last frame of an input that does not lead is shown on after its end",
            PropertyKind::Bool,
            |s| PropertyValue::Bool(s.sync().options.repeatlast),
            |s, v| {
                if let PropertyValue::Bool(v) = v {
                    s.sync_mut().options.repeatlast = v;
                }
            },
        ),
        Property::new(
            "ts-sync-mode",
            "Of an input that does not lead the last frame at or before the time is shown, or the nearest one",
            PropertyKind::Choice(MODES),
            |s| PropertyValue::Text(s.sync().options.ts_sync_mode.name().to_owned()),
            |s, v| {
                if let PropertyValue::Text(v) = v
                    && let Ok(v) = v.parse::<TsSyncMode>()
                {
                    s.sync_mut().options.ts_sync_mode = v;
                }
            },
        ),
        strict(),
    ]
}

impl SyncSettings {
    /// With these rules.
    pub fn terms(&self, rules: SyncTerms) -> SyncTerms {
        SyncTerms {
            options: self.options,
            strict: self.strict,
            ..rules
        }
    }

    /// The rules of a leading input and one beside it.
    pub fn dual(&self, out: OutBase) -> SyncTerms {
        self.terms(SyncTerms::dual(out))
    }

    /// The rules of equal inputs.
    pub fn equal(&self, inputs: usize) -> SyncTerms {
        self.terms(SyncTerms::equal(inputs))
    }
}

/// A set of an element with a leading input and one beside it.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The frame of the leading input. It is the element's: to be passed on, written, or released.
    pub main: BufferId,
    /// The frame of the other, if it shows one and the element is enabled. It is lent, for as long as
    /// this set is processed.
    pub second: Option<BufferId>,
    /// The set's time.
    pub stamp: SetStamp,
}

/// When a set is, and how it came about.
#[derive(Clone, Copy, Debug)]
pub struct SetStamp {
    /// Its time.
    pub pts: i64,
    /// The unit of that.
    pub time_base: TimeBase,
    /// The marks that what is made of it gets.
    pub flags: BufferFlags,
    /// The how-manyth set, from 0.
    pub number: u64,
    /// The first input's frame was in no set before.
    pub first_is_new: bool,
}

impl SetStamp {
    /// Of a set.
    pub fn of(set: &SyncSet, time_base: TimeBase, number: u64) -> SetStamp {
        let mut flags = BufferFlags::empty();
        flags.set(BufferFlags::REPEATED, set.any(Shown::Repeated));
        flags.set(BufferFlags::ABSENT, set.any(Shown::Absent));
        SetStamp {
            pts: set.pts,
            time_base,
            flags,
            number,
            first_is_new: set.shown.first() == Some(&Shown::Taken),
        }
    }

    /// What is known of a frame that is made of the set, with that of its first input as the model.
    /// A duration holds for the set only where the frame is new.
    pub fn apply(&self, meta: &BufferMeta) -> BufferMeta {
        let duration = meta.duration.filter(|_| self.first_is_new);
        let restated = |d: i64| meta.time_base.convert(d, self.time_base, Rounding::Nearest);
        let keep = BufferFlags::KEY | BufferFlags::CORRUPT | BufferFlags::DISCONTINUITY;
        BufferMeta {
            pts: Some(self.pts),
            dts: None,
            duration: duration.and_then(restated),
            time_base: self.time_base,
            flags: (meta.flags & keep) | self.flags,
            ..*meta
        }
    }

    /// Whether a frame with these times can be passed on for the set as it is.
    pub fn is_time_of(&self, meta: &BufferMeta) -> bool {
        let same = |pts: i64| {
            meta.time_base
                .compare(pts, self.time_base, self.pts)
                .is_eq()
        };
        meta.pts.is_some_and(same)
    }
}

/// Gives each set of an element with a leading input and one beside it to `make`, while `room`
/// allows, and ends the element after the last. A second frame is not shown where `enabled` says so.
///
/// # Errors
/// Those of `make`.
pub fn each_pair(
    process: &mut Process<'_>,
    count: &mut u64,
    mut enabled: impl FnMut(&SetStamp) -> bool,
    mut make: impl FnMut(&mut Process<'_>, Pair) -> Result<(), ElementError>,
) -> Result<(), ElementError> {
    each_set(process, count, |process, set, stamp| {
        let (main, second) = (set.frame(0), set.frame(1));
        let made = match main {
            Some(main) => {
                let second = second.filter(|_| enabled(&stamp));
                let pair = Pair {
                    main,
                    second,
                    stamp,
                };
                make(process, pair)
            }
            None => Ok(()),
        };
        if let Some(second) = second {
            process.release(second);
        }
        made
    })
}

/// Gives each set to `make`, whose its frames are, and ends the element after the last.
///
/// # Errors
/// Those of `make`.
pub fn each_set(
    process: &mut Process<'_>,
    count: &mut u64,
    mut make: impl FnMut(&mut Process<'_>, &SyncSet, SetStamp) -> Result<(), ElementError>,
) -> Result<(), ElementError> {
    while let Some(set) = process.next_set() {
        let stamp = SetStamp::of(&set, process.sets_base(), *count);
        *count += 1;
        make(process, &set, stamp)?;
    }
    if process.sets_ended() {
        process.finish();
    }
    Ok(())
}

/// The same, for elements that only look: frames are lent, and released afterwards.
///
/// # Errors
/// Those of `look`.
pub fn each_set_lent(
    process: &mut Process<'_>,
    count: &mut u64,
    mut look: impl FnMut(&mut Process<'_>, &SyncSet, SetStamp) -> Result<(), ElementError>,
) -> Result<(), ElementError> {
    each_set(process, count, |process, set, stamp| {
        let looked = look(process, set, stamp);
        for buffer in set.frames.iter().flatten() {
            process.release(*buffer);
        }
        looked
    })
}

/// Passes on the first input's frame for a set, which is the element's: as it is where its time and
/// marks are those of the set, else a view of it. No byte is copied. Of an element with
/// [`Buffers::Views`](super::Buffers::Views).
pub fn pass_first(process: &mut Process<'_>, first: BufferId, stamp: &SetStamp) {
    let meta = *process.meta(first);
    if stamp.is_time_of(&meta) && meta.flags.contains(stamp.flags) {
        return process.forward(0, first);
    }
    match process.acquire() {
        Some(mut view) => {
            view.meta = stamp.apply(&meta);
            process.push_view(0, view, first);
            process.release(first);
        }
        None => process.drop_buffer(first),
    }
}

/// The leading frame of a pair, to write: itself where nobody else holds it, else a copy by `copy`,
/// which gives the number of bytes. It is consumed; `None` if there is no buffer to copy to.
///
/// # Errors
/// Those of `copy`.
pub fn writable(
    process: &mut Process<'_>,
    main: BufferId,
    copy: impl FnOnce(&mut Process<'_>, BufferId, &mut Granted) -> Result<usize, ElementError>,
) -> Result<Option<Granted>, ElementError> {
    if let Some(own) = process.write_in_place(main) {
        return Ok(Some(own));
    }
    let Some(mut granted) = process.acquire() else {
        process.drop_buffer(main);
        return Ok(None);
    };
    granted.meta = *process.meta(main);
    let copied = copy(process, main, &mut granted);
    process.release(main);
    match copied {
        Ok(len) => {
            process.count_copy(len);
            Ok(Some(granted))
        }
        Err(error) => {
            process.discard(granted);
            Err(error)
        }
    }
}
