//! B24: a stop is a request that anybody may make, at any tick: from outside, from an element's
//! processing, from a message handler, whatever an element waits for then. It is done within a stated
//! number of ticks, once or twice asked, and every buffer comes home.

mod acting;

use acting::{count, engine, fabric, launch, messages, named, out, taken, ticks};
use tickpipe::components::fabric::Progress;
use tickpipe::components::fault::{Code, Domain};
use tickpipe::components::readiness::Readiness;
use tickpipe::{
    ClockMode, Engine, Filter, Flush, Message, MessageKind, MessageMask, PipelineHandle, Seek,
    State,
};

/// Ticks from a request until READY: the request, PLAYING to PAUSED, PAUSED to READY.
const BOUND: usize = 2;

/// Ticks in which each of the runs ends, or waits for ever.
const END: usize = 60;

/// What the element in the middle waits for, and how to have it do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Pool,
    FullQueue,
    Device,
    Nothing,
}

const WAITS: [Wait; 4] = [Wait::Pool, Wait::FullQueue, Wait::Device, Wait::Nothing];

/// Who asks for the stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The application, before this tick.
    Outside(usize),
    /// The sink, with this buffer.
    Sink(usize),
    /// A handler of errors; the element in the middle fails at this buffer.
    Handler(usize),
    /// A handler of the message that a state is reached.
    Reached(State),
}

fn start(label: &str, wait: Wait, by: By) -> (Engine, PipelineHandle) {
    let mut engine = engine();
    let (at, fails) = match by {
        By::Sink(at) => (at, 0),
        By::Handler(at) => (0, at),
        _ => (0, 0),
    };
    let pool = if wait == Wait::Pool { 1 } else { 16 };
    let device = if wait == Wait::Device { 5 } else { 0 };
    let sync = matches!(wait, Wait::Pool | Wait::FullQueue);
    let script = "b".repeat(24);
    let text = format!(
        "actsrc label={label} counts=true script={script}e ! \
         actpass name=dec label={label} counts=true copies=true max-buffers={pool} \
         device-at={device} fail-at={fails} ! queue max-size-buffers=2 ! \
         actsink name=out label={label} sync={sync} stop-at={at}"
    );
    let pipeline = launch(&mut engine, &text);
    engine.set_clock(pipeline, ClockMode::Virtual);
    match by {
        By::Handler(_) => {
            let errors = Filter::kinds(MessageMask::ERROR);
            engine.on_message(pipeline, errors, move |_, ask| {
                ask.set_state(pipeline, State::Ready);
            });
        }
        By::Reached(state) => {
            let states = Filter::kinds(MessageMask::STATE_CHANGED);
            engine.on_message(pipeline, states, move |message: &Message, ask| {
                if message.kind == MessageKind::StateChanged(state) {
                    ask.set_state(pipeline, State::Ready);
                }
            });
        }
        _ => {}
    }
    engine.set_state(pipeline, State::Playing);
    (engine, pipeline)
}

/// Everything is as it was before the start, and a buffer that went out is home.
fn at_home(engine: &mut Engine, pipeline: PipelineHandle, label: &str, what: &str) {
    assert_eq!(engine.state(pipeline), State::Ready, "{what}");
    assert_eq!(engine.progress(pipeline), Progress::Idle, "{what}");
    assert_eq!(out(label).0, 0, "{what}: buffers are out");
    let p = fabric(engine, pipeline);
    assert_eq!((p.lanes.len(), p.buffers.len()), (0, 0), "{what}");
    let all = messages(engine, pipeline);
    let lost = MessageKind::Warning(Domain::Pool, Code::NotReturned);
    assert!(all.iter().all(|m| m.kind != lost), "{what}: {all:?}");
    let invariant = |m: &&Message| m.kind.fault().is_some_and(|f| f.1 == Code::Invariant);
    assert_eq!(all.iter().find(invariant), None, "{what}");
}

/// A second stop changes nothing and says nothing.
fn stop_again(engine: &mut Engine, pipeline: PipelineHandle, what: &str) {
    engine.set_state(pipeline, State::Ready);
    engine.set_state(pipeline, State::Ready);
    ticks(engine, 3);
    assert_eq!(engine.state(pipeline), State::Ready, "{what}");
    assert_eq!(messages(engine, pipeline), [], "{what}");
}

#[test]
fn b24_stopped_from_outside_at_every_tick() {
    for wait in WAITS {
        let label = format!("outside-{wait:?}");
        let mut seen = 0;
        for at in 0..END {
            let what = format!("{wait:?} at {at}");
            let (mut engine, pipeline) = start(&label, wait, By::Outside(at));
            ticks(&mut engine, at);
            let dec = named(&engine, pipeline, "dec");
            let waits = engine.readiness(dec).map(|r| r.0);
            seen += usize::from(match wait {
                Wait::Pool => matches!(waits, Some(Readiness::Buffer(_))),
                Wait::FullQueue => matches!(waits, Some(Readiness::Room(_))),
                Wait::Device => waits == Some(Readiness::Device),
                Wait::Nothing => waits == Some(Readiness::Ready),
            });
            engine.set_state(pipeline, State::Ready);
            // Twice, also while the first is under way.
            engine.tick();
            engine.set_state(pipeline, State::Ready);
            ticks(&mut engine, BOUND - 1);
            at_home(&mut engine, pipeline, &label, &what);
            stop_again(&mut engine, pipeline, &what);
        }
        assert!(
            seen > 2,
            "{wait:?}: it was stopped {seen} times in that wait"
        );
        assert!(out(&label).1 > 100, "{wait:?}");
    }
}

#[test]
fn b24_stopped_in_the_tick_in_which_its_device_is_ready() {
    for at in 3..20 {
        for first in [true, false] {
            let what = format!("{at}, {first}");
            let (mut engine, pipeline) = start("served", Wait::Device, By::Outside(at));
            ticks(&mut engine, at);
            let dec = named(&engine, pipeline, "dec");
            if first {
                engine.device_ready(dec);
            }
            engine.set_state(pipeline, State::Ready);
            if !first {
                engine.device_ready(dec);
            }
            ticks(&mut engine, BOUND);
            at_home(&mut engine, pipeline, "served", &what);
            // And when it is late for a run that is over.
            engine.device_ready(dec);
            stop_again(&mut engine, pipeline, &what);
        }
    }
}

#[test]
fn b24_stopped_by_the_sink_at_every_buffer() {
    for wait in [Wait::Pool, Wait::FullQueue, Wait::Nothing] {
        let label = format!("sink-{wait:?}");
        for at in 1..=24 {
            let what = format!("{wait:?} at buffer {at}");
            let (mut engine, pipeline) = start(&label, wait, By::Sink(at));
            let mut took = None;
            for tick in 0..400 {
                engine.tick();
                let asked = fabric(&engine, pipeline).asked_state;
                if took.is_none() && asked == Some(State::Ready) {
                    took = Some(tick);
                }
                if took.is_some_and(|t| tick == t + BOUND) {
                    break;
                }
            }
            assert!(took.is_some(), "{what}: never asked");
            at_home(&mut engine, pipeline, &label, &what);
            stop_again(&mut engine, pipeline, &what);
        }
    }
}

#[test]
fn b24_stopped_by_a_handler_of_errors() {
    for wait in WAITS {
        let label = format!("handler-{wait:?}");
        for at in 1..=24 {
            let what = format!("{wait:?}, failing at buffer {at}");
            let (mut engine, pipeline) = start(&label, wait, By::Handler(at));
            let dec = named(&engine, pipeline, "dec");
            let mut failed = None;
            for tick in 0..400 {
                if wait == Wait::Device {
                    engine.device_ready(dec);
                }
                engine.tick();
                if failed.is_none() && fabric(&engine, pipeline).failing {
                    failed = Some(tick);
                }
                if failed.is_some_and(|t| tick == t + BOUND) {
                    break;
                }
            }
            assert!(failed.is_some(), "{what}: it did not fail");
            at_home(&mut engine, pipeline, &label, &what);
            stop_again(&mut engine, pipeline, &what);
        }
    }
}

#[test]
fn b24_stopped_on_the_way_up() {
    for wait in WAITS {
        for state in [State::Paused, State::Playing] {
            let what = format!("{wait:?} at {state}");
            let (mut engine, pipeline) = start("way-up", wait, By::Reached(state));
            let mut reached = None;
            for tick in 0..100 {
                engine.tick();
                if reached.is_none() && engine.state(pipeline) == state {
                    reached = Some(tick);
                }
                if reached.is_some_and(|t| tick == t + BOUND) {
                    break;
                }
            }
            assert!(reached.is_some(), "{what}");
            at_home(&mut engine, pipeline, "way-up", &what);
            stop_again(&mut engine, pipeline, &what);
        }
    }
}

#[test]
fn b24_the_last_request_wins_and_a_stopped_pipeline_runs_again() {
    for at in 0..40 {
        let (mut engine, pipeline) = start("again", Wait::FullQueue, By::Outside(at));
        ticks(&mut engine, at);
        engine.set_state(pipeline, State::Ready);
        engine.set_state(pipeline, State::Playing);
        engine.set_state(pipeline, State::Ready);
        ticks(&mut engine, BOUND);
        at_home(&mut engine, pipeline, "again", "the last of three");
        taken("again");
        engine.set_state(pipeline, State::Playing);
        let end = engine.wait(pipeline, MessageMask::EOS | MessageMask::ERROR);
        assert_eq!(end.map(|m| m.kind), Ok(MessageKind::Eos), "stopped at {at}");
        let seen = acting::buffers(&taken("again"));
        // Each passes the element in the middle and the sink.
        assert_eq!(seen.len(), 48, "stopped at {at}");
        engine.set_state(pipeline, State::Ready);
        ticks(&mut engine, BOUND);
        at_home(&mut engine, pipeline, "again", "after its end");
    }
}

#[test]
fn b24_a_stop_wins_over_all_else_of_its_tick() {
    for at in 0..30 {
        for order in 0..3 {
            let what = format!("at {at}, {order}");
            let (mut engine, pipeline) = start("else", Wait::FullQueue, By::Outside(at));
            ticks(&mut engine, at);
            let dec = named(&engine, pipeline, "dec");
            for part in (0..3).map(|i| (i + order) % 3) {
                match part {
                    0 => engine.set_state(pipeline, State::Ready),
                    1 => {
                        // Before the start it is kept, and forgotten with it.
                        engine.seek(pipeline, Seek::frame(7)).expect("it can");
                    }
                    _ => engine.flush(pipeline, Some(dec), Flush::DiscardAndEnd),
                }
            }
            ticks(&mut engine, BOUND);
            at_home(&mut engine, pipeline, "else", &what);
            let told = messages(&mut engine, pipeline);
            assert_eq!(count(&told, MessageMask::ERROR), 0, "{what}");
        }
    }
}
