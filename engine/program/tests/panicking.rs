//! A panic of an element is that element's error, told once and in one line; any other ends the
//! program and is told in full. Each case is a process of its own: this test, started again.

use bevy_ecs::component::Component;
use std::process::Command;
use tickpipe::components::caps::Caps;
use tickpipe::components::digest::StateVisitor;
use tickpipe::components::fault::ElementError;
use tickpipe::systems::element::{Element, Flow, PadCapsOf, PadTemplate, Process, Work};
use tickpipe::{Engine, RunOptions, Verdict};

const CASE: &str = "TICKPIPE_TEST_PANIC";

#[derive(Component, Clone, Debug, Default)]
struct Bomb;

impl Element for Bomb {
    const NAME: &'static str = "bomb";
    const SUMMARY: &'static str = "Panics";
    const KLASS: &'static str = "Sink";
    const FLOW: Flow = Flow::Separate;

    fn pads() -> Vec<PadTemplate> {
        vec![PadTemplate::sink("sink", Caps::any())]
    }

    fn open(&self) -> Result<Box<dyn Work>, ElementError> {
        Ok(Box::new(Bang))
    }
}

struct Bang;

impl Work for Bang {
    fn set_caps(&mut self, _pads: &PadCapsOf) -> Result<(), ElementError> {
        Ok(())
    }

    fn process(&mut self, _process: &mut Process<'_>) -> Result<(), ElementError> {
        panic!("bang")
    }

    fn state(&self, _visitor: &mut dyn StateVisitor) {}
}

/// Runs the child's part of a test in this process, or the test again as a child. Gives the
/// child's standard error.
fn child(name: &str, part: impl FnOnce()) -> Option<String> {
    if std::env::var_os(CASE).is_some() {
        part();
        return None;
    }
    let output = Command::new(std::env::current_exe().expect("is known"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CASE, "1")
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("starts");
    Some(String::from_utf8(output.stderr).expect("is text"))
}

#[test]
fn of_an_element() {
    let told = child("of_an_element", || {
        tickpipe_program::panics::install();
        let mut engine = Engine::new().expect("starts");
        engine.register::<Bomb>().expect("is new");
        let (pipeline, _) = engine.launch("p", "fakesrc ! bomb").expect("is right");
        let report = engine.run(pipeline, &RunOptions::default(), &mut ());
        assert_eq!(report.verdict, Verdict::Failed);
        let panicked = report
            .messages
            .iter()
            .any(|m| m.code.as_deref() == Some("panic"));
        assert!(panicked, "{:?}", report.messages);
        assert!(tickpipe_program::panics::last().ends_with(": bang"));
        eprintln!("came to its end");
    });
    if let Some(told) = told {
        assert!(told.contains("came to its end"), "{told}");
        assert!(!told.contains("bang"), "{told}");
    }
}

#[test]
fn of_the_program() {
    let told = child("of_the_program", || {
        tickpipe_program::panics::install();
        let code = std::panic::catch_unwind(|| -> u8 { panic!("a mistake in the program") });
        assert!(code.is_err());
        eprintln!("[{}]", tickpipe_program::panics::last());
    });
    if let Some(told) = told {
        assert!(told.contains("panicked at "), "{told}");
        assert!(told.contains(": a mistake in the program]"), "{told}");
        assert_eq!(
            told.matches("a mistake in the program").count(),
            1,
            "{told}"
        );
    }
}
