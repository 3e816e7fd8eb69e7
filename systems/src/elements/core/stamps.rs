//! `stamps`: looks at the times of what passes, and does what its rules say about those that are
//! missing, equal, backward or far ahead. Each occurrence is told with its index and value.
//!
//! A buffer whose times change goes on as a view: the same bytes, with other times, so that nobody
//! else who holds it sees them change.
//!
//! `tickpipe launch 'stampsrc stamps=0..9,5,11..20 time-base=1/25 ! stamps backward=drop ! fakesink'`

use crate::element::{
    Buffers, Element, Flow, Handled, PadAt, PadCapsOf, PadTemplate, Process, Property, Work,
};
use bevy_ecs::component::Component;
use core::any::Any;
use std::sync::Arc;
use tickpipe_components::caps::Caps;
use tickpipe_components::digest::StateVisitor;
use tickpipe_components::event::{Event, Gap};
use tickpipe_components::fault::{Code, Domain, ElementError};
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::property::{Choice, PropertyKind, PropertyValue};
use tickpipe_components::stamps::{
    OnBackward, OnEqual, OnJump, OnMissing, StampError, StampFault, StampRules, Verdict,
};
use tickpipe_components::time::{Time, TimeBase};

/// Settings of `stamps`.
#[derive(Component, Clone, Debug)]
pub struct Stamps {
    /// About a buffer without a time.
    pub missing: OnMissing,
    /// About one with the time of the one before.
    pub equal: OnEqual,
    /// About one with an earlier time.
    pub backward: OnBackward,
    /// About one that is far from where the stream should be.
    pub jump: OnJump,
    /// How far is too far, in nanoseconds; -1 is never.
    pub jump_threshold: i64,
    /// Bits of the counter that times are made of; 0 if it does not begin anew.
    pub wrap_bits: u32,
    /// Another number than before forgets what came before.
    pub resync: u32,
}

impl Default for Stamps {
    fn default() -> Self {
        Stamps {
            missing: OnMissing::Error,
            equal: OnEqual::Pass,
            backward: OnBackward::Error,
            jump: OnJump::Gap,
            jump_threshold: 10_000_000_000,
            wrap_bits: 0,
            resync: 0,
        }
    }
}

/// What all four rules are in one word.
type Mode = (&'static str, OnMissing, OnEqual, OnBackward, OnJump);

const MODES: [Mode; 5] = [
    (
        "checked",
        OnMissing::Error,
        OnEqual::Pass,
        OnBackward::Error,
        OnJump::Gap,
    ),
    (
        "passthrough",
        OnMissing::Pass,
        OnEqual::Pass,
        OnBackward::Pass,
        OnJump::Pass,
    ),
    (
        "strict",
        OnMissing::Error,
        OnEqual::Error,
        OnBackward::Error,
        OnJump::Error,
    ),
    (
        "vfr",
        OnMissing::FromRate,
        OnEqual::Drop,
        OnBackward::Drop,
        OnJump::Gap,
    ),
    (
        "mend",
        OnMissing::FromRate,
        OnEqual::Drop,
        OnBackward::Rebase,
        OnJump::Rebase,
    ),
];

const CUSTOM: &str = "custom";

const fn choice(number: i64, name: &'static str) -> Choice {
    Choice { number, name }
}

const MODE_NAMES: [Choice; 6] = [
    choice(0, MODES[0].0),
    choice(1, MODES[1].0),
    choice(2, MODES[2].0),
    choice(3, MODES[3].0),
    choice(4, MODES[4].0),
    choice(5, CUSTOM),
];
const MISSING: [Choice; 5] = [
    choice(0, "error"),
    choice(1, "drop"),
    choice(2, "from-rate"),
    choice(3, "hold-last"),
    choice(4, "pass"),
];
const EQUAL: [Choice; 3] = [choice(0, "pass"), choice(1, "drop"), choice(2, "error")];
const BACKWARD: [Choice; 4] = [
    choice(0, "error"),
    choice(1, "drop"),
    choice(2, "rebase"),
    choice(3, "pass"),
];
const JUMP: [Choice; 4] = [
    choice(0, "rebase"),
    choice(1, "gap"),
    choice(2, "error"),
    choice(3, "pass"),
];

impl Stamps {
    fn mode(&self) -> &'static str {
        let own = (self.missing, self.equal, self.backward, self.jump);
        let same = MODES.iter().find(|m| (m.1, m.2, m.3, m.4) == own);
        same.map_or(CUSTOM, |m| m.0)
    }

    fn set_mode(&mut self, name: &str) {
        if let Some(mode) = MODES.iter().find(|m| m.0 == name) {
            let (_, missing, equal, backward, jump) = *mode;
            (self.missing, self.equal) = (missing, equal);
            (self.backward, self.jump) = (backward, jump);
        }
    }

    fn rules(&self) -> StampRules {
        let threshold = Some(self.jump_threshold).filter(|t| *t >= 0);
        StampRules {
            missing: self.missing,
            equal: self.equal,
            backward: self.backward,
            jump: self.jump,
            jump_threshold: threshold.map(Time::nanoseconds),
            wrap_bits: Some(self.wrap_bits).filter(|b| *b > 0),
        }
    }
}

impl Element for Stamps {
    const NAME: &'static str = "stamps";
    const SUMMARY: &'static str = "Checks the times of what passes, and mends them";
    const KLASS: &'static str = "Generic";
    const FLOW: Flow = Flow::Wire;

    fn pads() -> Vec<PadTemplate> {
        vec![
            PadTemplate::sink("sink", Caps::any()),
            PadTemplate::source("src", Caps::any()),
        ]
    }

    fn properties() -> Vec<Property<Self>> {
        vec![
            Property::new(
                "mode",
                "All four rules at once; `custom` if they are none of these",
                PropertyKind::Choice(&MODE_NAMES),
                |s: &Stamps| PropertyValue::from(s.mode()),
                |s, v| {
                    if let PropertyValue::Text(name) = v {
                        s.set_mode(&name);
                    }
                },
            ),
            crate::field!(Choice(&MISSING), "missing", "What is done about a buffer without a time", missing: OnMissing),
            crate::field!(Choice(&EQUAL), "equal", "What is done about a buffer with the time of the one before it", equal: OnEqual),
            crate::field!(Choice(&BACKWARD), "backward", "What is done about a buffer whose time lies before that of the one before it", backward: OnBackward),
            crate::field!(Choice(&JUMP), "jump", "What is done about a buffer that is far from where the stream should be; backwards, `gap` is the rule for backward", jump: OnJump),
            crate::field!(
                Int(-1, i64::MAX),
                "jump-threshold",
                "How far is too far, in nanoseconds; -1 is never",
                jump_threshold
            ),
            crate::field!(
                Int(0, 63),
                "wrap-bits",
                "Bits of the counter that times are made of, such as 33 in MPEG; 0 if it does not begin anew",
                wrap_bits
            ),
            crate::field!(
                Int(0, u32::MAX as i64),
                "resync",
                "Another number than before forgets what came before: the next buffer may have any time",
                resync
            ),
        ]
    }

    fn decide_pool(
        &self,
        _pads: &PadCapsOf,
        _downstream: PoolConfig,
    ) -> Result<Buffers, ElementError> {
        Ok(Buffers::Views)
    }

    fn live(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Checking {
            stamps: tickpipe_components::stamps::Stamps::new(self.rules()),
            resync: self.resync,
        }))
    }
}

/// A stamp that the rules do not let pass, as its element's failure.
pub(crate) fn stamp_failure(error: StampError) -> ElementError {
    use StampFault as F;
    let code = match error.fault {
        F::Missing | F::NoStep | F::NothingToHold => Code::NoTimestamp,
        F::Equal | F::Backward | F::Jump { .. } | F::TooFar => Code::BadTimestamp,
    };
    ElementError::new(Domain::Stream, code, error)
}

struct Checking {
    stamps: tickpipe_components::stamps::Stamps,
    resync: u32,
}

impl Work for Checking {
    fn update(&mut self, settings: &dyn Any) -> Result<(), ElementError> {
        if let Some(settings) = settings.downcast_ref::<Stamps>() {
            self.stamps.set_rules(settings.rules());
            if core::mem::replace(&mut self.resync, settings.resync) != settings.resync {
                self.stamps.resync();
            }
        }
        Ok(())
    }

    fn set_caps(&mut self, pads: &PadCapsOf) -> Result<(), ElementError> {
        let rate = pads.sink(0).and_then(|s| s.fraction("framerate"));
        let step = rate.and_then(|rate| TimeBase::of_rate(rate.num(), rate.den()));
        self.stamps.set_rate(step);
        Ok(())
    }

    fn process(&mut self, process: &mut Process<'_>) -> Result<(), ElementError> {
        if process.end_is_next(0) {
            process.finish();
            return Ok(());
        }
        while process.room(0) > 0 && process.granted() > 0 {
            let Some(item) = process.next(0) else { break };
            let Some(buffer) = item.as_buffer() else {
                process.finish();
                break;
            };
            let checked = self.stamps.check(process.meta(buffer));
            checked.told.iter().for_each(|told| process.tell(*told));
            match checked.verdict {
                Verdict::Pass => process.forward(0, buffer),
                Verdict::Drop => process.drop_buffer(buffer),
                Verdict::Stamp | Verdict::Gap { .. } => {
                    if let Verdict::Gap { from, to } = checked.verdict {
                        let gap = Gap {
                            start: from,
                            duration: to.checked_sub(from),
                            time_base: checked.meta.time_base,
                        };
                        process.push_event(0, Event::Gap(gap));
                    }
                    if let Some(mut view) = process.acquire() {
                        view.meta = checked.meta;
                        process.push_view(0, view, buffer);
                    }
                    process.release(buffer);
                }
                Verdict::Fail(error) => {
                    process.tell_untimed(buffer);
                    process.drop_buffer(buffer);
                    return Err(stamp_failure(error));
                }
            }
        }
        Ok(())
    }

    /// Another segment begins anew.
    fn event(
        &mut self,
        pad: PadAt,
        event: &Event,
        _process: &mut Process<'_>,
    ) -> Result<Handled, ElementError> {
        if pad.is_sink() && matches!(event, Event::Segment(_)) {
            self.stamps.resync();
        }
        Ok(Handled::Forward)
    }

    fn flush(&mut self, _pads: &[usize]) {
        self.stamps.resync();
    }

    fn state(&self, visitor: &mut dyn StateVisitor) {
        self.stamps.visit(visitor);
        visitor.unsigned("resync", self.resync.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_its_rules() {
        let mut settings = Stamps::default();
        assert_eq!(settings.mode(), "checked");
        for mode in MODES {
            settings.set_mode(mode.0);
            assert_eq!(settings.mode(), mode.0);
        }
        settings.jump = OnJump::Error;
        assert_eq!(settings.mode(), "custom");
        settings.set_mode("custom");
        assert_eq!(settings.jump, OnJump::Error);
    }

    #[test]
    fn choices_are_the_rules() {
        let same = |choices: &[Choice], names: Vec<&str>| {
            let of: Vec<_> = choices.iter().map(|c| c.name).collect();
            assert_eq!(of, names);
        };
        same(&MISSING, OnMissing::ALL.iter().map(|m| m.name()).collect());
        same(&EQUAL, OnEqual::ALL.iter().map(|m| m.name()).collect());
        same(
            &BACKWARD,
            OnBackward::ALL.iter().map(|m| m.name()).collect(),
        );
        same(&JUMP, OnJump::ALL.iter().map(|m| m.name()).collect());
    }
}
