//! States of elements, bins and pipelines, and the steps between them.

/// What an element is doing. Changes go one step at a time.
#[derive(
    bevy_ecs::component::Component,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
)]
pub enum State {
    /// Set up by properties only: no file, device, memory or caps is held.
    #[default]
    Ready,
    /// Caps and pools are agreed, data flows up to the sinks, which hold their first buffer.
    Paused,
    /// Data flows.
    Playing,
}

impl State {
    /// The next state on the way to `target`, or `None` when there.
    pub fn step_towards(self, target: State) -> Option<State> {
        use State::*;
        match (self, target) {
            (Ready, Paused | Playing) | (Playing, Ready | Paused) => Some(Paused),
            (Paused, Playing) => Some(Playing),
            (Paused, Ready) => Some(Ready),
            _ => None,
        }
    }

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Paused => "paused",
            State::Playing => "playing",
        }
    }
}

impl core::fmt::Display for State {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::State::*;

    #[test]
    fn one_step_at_a_time() {
        for a in [Ready, Paused, Playing] {
            for b in [Ready, Paused, Playing] {
                let mut at = a;
                let mut steps = 0;
                while let Some(next) = at.step_towards(b) {
                    assert_eq!((at as i8 - next as i8).abs(), 1);
                    at = next;
                    steps += 1;
                }
                assert_eq!((at, steps), (b, (a as i8 - b as i8).abs()));
            }
        }
    }
}
