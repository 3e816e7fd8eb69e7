//! Every wrong scenario file is refused before anything runs, with file, line, column and field.

use proptest::prelude::*;
use tickpipe::Engine;
use tickpipe_scenarios::{Overrides, Scenario, ScenarioError};

const HEAD: &str =
    "[graph]\nlaunch = \"fakesrc num-buffers=3 ! identity name=wire ! fakesink name=out\"\n";

fn refusal(text: &str) -> ScenarioError {
    let scenario = match Scenario::from_toml("dir/a.toml", text) {
        Ok(scenario) => scenario,
        Err(error) => return error,
    };
    let mut engine = Engine::new().expect("starts");
    match scenario.build(&mut engine, &Overrides::default()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The message of a file that starts with a right graph.
fn after_head(text: &str) -> String {
    refusal(&format!("{HEAD}{text}")).to_string()
}

#[test]
fn syntax() {
    let at = |text| refusal(text).place().to_string();
    assert_eq!(at("[graph"), "dir/a.toml:1:7");
    assert_eq!(at("[graph]\nlaunch = 'a\n"), "dir/a.toml:2:12");
    assert_eq!(
        at("[graph]\nlaunch = 'a'\nlaunch = 'b'\n"),
        "dir/a.toml:3:1"
    );
}

#[test]
fn keys() {
    assert_eq!(
        refusal("").to_string(),
        "dir/a.toml:1:1: `graph` is missing"
    );
    assert_eq!(
        refusal("[graph]\n").to_string(),
        "dir/a.toml:1:1: `graph.launch` is missing"
    );
    assert_eq!(
        after_head("loop = true\n"),
        "dir/a.toml:3:1: unknown key `graph.loop`; known here: launch"
    );
    assert_eq!(
        after_head("[run]\nthreads = 2\nmax-tick = 5\n"),
        "dir/a.toml:5:1: unknown key `run.max-tick`; known here: check, clock, down-order, limits, max-ticks, \
         quantum, seed, threads"
    );
    assert_eq!(
        after_head("[[expect]]\nsink = 'out'\nframe = []\n"),
        "dir/a.toml:5:1: unknown key `expect[0].frame`; known here: buffers, eos, frames, sink"
    );
    assert_eq!(
        after_head("[[expect]]\nverdict = 'done'\n[[expect]]\nverdict = 'done'\nbuffers = 1\n"),
        "dir/a.toml:7:1: unknown key `expect[1].buffers`; known here: verdict"
    );
    assert_eq!(
        after_head("[expected]\n"),
        "dir/a.toml:3:2: unknown key `expected`; known here: action, expect, graph, run, version"
    );
}

#[test]
fn types_and_ranges() {
    for (text, want) in [
        (
            "[run]\nthreads = 'two'\n",
            "4:11: `run.threads` takes a whole number, not a text",
        ),
        (
            "[run]\nthreads = 0\n",
            "4:11: `run.threads` = 0 is outside 1..=256",
        ),
        (
            "[run]\nthreads = -1\n",
            "4:11: `run.threads` = -1 is outside 1..=256",
        ),
        (
            "[run]\nthreads = 1.5\n",
            "4:11: `run.threads` takes a whole number, not a number with a point",
        ),
        (
            "[run]\nseed = 99999999999999999999\n",
            "4:8: `run.seed` = 99999999999999999999 is outside 0..=18446744073709551615",
        ),
        (
            "[run]\nclock = 'slow'\n",
            "4:9: `run.clock` = \"slow\" is none of: free, virtual, wall",
        ),
        (
            "[run]\nquantum = 0\n",
            "4:11: limit quantum=0 is outside 1..=256",
        ),
        (
            "[run.limits]\nquanta = 1\n",
            "4:1: no limit named `quanta` (tickpipe inspect --limits lists them)",
        ),
        (
            "[run.limits]\npool-buffers = 0\n",
            "4:16: limit pool-buffers=0 is outside 1..=65536",
        ),
        (
            "[[expect]]\nverdict = 'fine'\n",
            "4:11: `expect[0].verdict` = \"fine\" is none of: done, failed, stalled",
        ),
        (
            "[[expect]]\nsink = 'out'\neos = 1\n",
            "5:7: `expect[0].eos` takes true or false, not a whole number",
        ),
        (
            "[[expect]]\nsink = 'out'\nframes = ['0123456789abcdef', '0123']\n",
            "5:31: `expect[0].frames[1]`: \"0123\" is not a frame hash of 16 hexadecimal digits",
        ),
        (
            "[[expect]]\nlink = 'wire.src'\ncaps = 'video/x-raw,width='\n",
            "5:8: `expect[0].caps`: caps text, byte 18: expected a value, found the end",
        ),
        (
            "[[expect]]\nlink = 'wire.src'\n",
            "3:1: `expect[0].caps` is missing",
        ),
        (
            "[[expect]]\nmessage = { kind = 'eror' }\n",
            "4:20: `expect[0].message.kind` = \"eror\" is none of: eos, error, warning, \
             state-changed, stalled, async-done, seeked, removed, occurrence",
        ),
        (
            "expect = 1\n",
            "3:1: unknown key `graph.expect`; known here: launch",
        ),
    ] {
        assert_eq!(after_head(text), format!("dir/a.toml:{want}"), "{text}");
    }
    assert_eq!(
        refusal("version = 2\n[graph]\nlaunch='a'").to_string(),
        "dir/a.toml:1:11: version 2 is not known; this program reads version 1"
    );
    assert_eq!(
        refusal("graph = 'fakesrc ! fakesink'").to_string(),
        "dir/a.toml:1:9: `graph` takes a table, not a text"
    );
}

#[test]
fn expectations_without_sense() {
    for (text, want) in [
        (
            "[[expect]]\nbuffers = 1\n",
            "3:1: `expect[0]` says of nothing what is expected; it needs one of: verdict, \
             element, sink, link, sync, message, stall",
        ),
        (
            "[[expect]]\nsink = 'out'\nelement = 'wire'\nbuffers = 1\n",
            "5:1: `expect[0].element` does not go with `sink`: a table is about one thing",
        ),
        (
            "[[expect]]\nelement = 'wire'\n",
            "3:1: `expect[0]` expects nothing of its `element`; it needs one of: buffers-in, \
             buffers-out, dropped, copied",
        ),
        (
            "[[expect]]\nmessage = {}\n",
            "3:1: `expect[0]` expects nothing of its `message`; it needs one of: element, kind, \
             domain, code",
        ),
    ] {
        assert_eq!(after_head(text), format!("dir/a.toml:{want}"), "{text}");
    }
}

#[test]
fn what_the_graph_does_not_have() {
    for (text, want) in [
        (
            "[[expect]]\nelement = 'wires'\ndropped = 0\n",
            "4:11: `expect[0].element`: the graph has no element named `wires`",
        ),
        (
            "[[expect]]\nsink = 'wire'\neos = true\n",
            "4:8: `expect[0].sink`: element `wire` is a identity, which is no sink",
        ),
        (
            "[[expect]]\nsync = 'wire'\nrepeated = [0]\n",
            "4:8: `expect[0].sync`: element `wire` is a identity, which does not synchronise its \
             inputs",
        ),
        (
            "[[expect]]\nlink = 'wire.sink'\ncaps = 'ANY'\n",
            "4:8: `expect[0].link`: the graph has no link `wire.sink` (it has: fakesrc0.src -> \
             wire.sink, wire.src -> out.sink)",
        ),
        (
            "[[expect]]\nlink = 'wire.src -> in.sink'\ncaps = 'ANY'\n",
            "4:8: `expect[0].link`: the graph has no link `wire.src -> in.sink` (it has: \
             fakesrc0.src -> wire.sink, wire.src -> out.sink)",
        ),
        (
            "[[expect]]\nmessage = { element = 'x', kind = 'error' }\n",
            "4:23: `expect[0].message.element`: the graph has no element named `x`",
        ),
    ] {
        assert_eq!(after_head(text), format!("dir/a.toml:{want}"), "{text}");
    }
}

#[test]
fn launch_texts_are_shown_at_their_place() {
    let error = refusal("[graph]\nlaunch = '''\nfakesrc !\n  identiti ! fakesink'''\n");
    insta::assert_snapshot!(error.render(), @r"
    error: dir/a.toml:4:3: launch text: no element named `identiti`
      2 |   identiti ! fakesink
        |   ^^^^^^^^
      help: did you mean `identity`? `tickpipe inspect` lists all elements
    ");
    // Behind a variable, and in a text with escapes, where the value's place is the best one.
    let error = refusal("[graph]\nlaunch = 'fakesrc name=${dir} ! identity nam=x ! fakesink'\n");
    assert_eq!(error.place().to_string(), "dir/a.toml:2:42");
    let error = refusal("[graph]\nlaunch = \"fakesrc ! \\u0069dentiti ! fakesink\"\n");
    assert_eq!(error.place().to_string(), "dir/a.toml:2:10");
    let error = refusal("[graph]\nlaunch = 'fakesrc name=${home} ! fakesink'\n");
    insta::assert_snapshot!(error.render(), @r"
    error: dir/a.toml:2:24: `${home}` is not known in a launch text; known: `${dir}`
      2 | launch = 'fakesrc name=${home} ! fakesink'
        |                        ^^^^^^^
    ");
}

#[test]
fn errors_show_the_line() {
    let error = refusal(&format!("{HEAD}[[expect]]\nverdcit = 'done'\n"));
    insta::assert_snapshot!(error.render(), @r"
    error: dir/a.toml:3:1: `expect[0]` says of nothing what is expected; it needs one of: verdict, element, sink, link, sync, message, stall
      3 | [[expect]]
        | ^^^^^^^^^^
    ");
    let error = refusal(&format!("{HEAD}[run]\nthread = 1\n"));
    insta::assert_snapshot!(error.render(), @r"
    error: dir/a.toml:4:1: unknown key `run.thread`; known here: check, clock, down-order, limits, max-ticks, quantum, seed, threads
      4 | thread = 1
        | ^^^^^^
      help: did you mean `threads`?
    ");
}

#[test]
fn files_that_cannot_be_read() {
    let of = |path: &std::path::Path| Scenario::load(path).expect_err("is refused").render();
    let folder = std::env::temp_dir().join(format!("tickpipe-refused-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("made");
    let missing = folder.join("none.toml");
    assert!(of(&missing).starts_with(&format!("error: {}: cannot be read: ", missing.display())));
    assert!(of(&folder).contains("cannot be read"));
    let binary = folder.join("binary.toml");
    std::fs::write(&binary, b"[graph]\nlaunch = '\xff'\n").expect("written");
    let error = Scenario::load(&binary).expect_err("is refused");
    assert_eq!(
        error.to_string(),
        format!("{}:2:11: byte 18 is not UTF-8 text", binary.display())
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

proptest! {
    /// Whatever is cut out of, or put into, a file: an answer, and a place inside it.
    #[test]
    fn any_text_gets_an_answer(cut in 0usize..400, length in 0usize..40, put in "[a-z\\[\\]=\"'{}.$\n 0-9]{0,8}") {
        let text = format!(
            "version = 1\n{HEAD}[run]\nclock = 'free'\nthreads = 1\nmax-ticks = 9\nseed = 1\n\
             [run.limits]\nquantum = 2\n[[expect]]\nverdict = 'done'\n[[expect]]\n\
             link = 'wire.src'\ncaps = 'ANY'\n[[expect]]\nsink = 'out'\nframes = []\n"
        );
        let (start, end) = (cut.min(text.len()), (cut + length).min(text.len()));
        let text = format!("{}{put}{}", &text[..start], &text[end..]);
        if let Err(error) = Scenario::from_toml("a.toml", &text) {
            let lines = text.split('\n').count();
            let place = error.place();
            prop_assert!((1..=lines).contains(&place.line), "{}", error);
            let columns = text.split('\n').nth(place.line - 1).unwrap_or("").chars().count();
            prop_assert!((1..=columns + 1).contains(&place.column), "{}", error);
            prop_assert!(error.render().starts_with("error: "));
        }
    }
}
