//! What people read: summaries, plans, inspection and errors, word by word.

mod support;

use support::{here, without_records, without_time};

const LINE: &str =
    "fakesrc num-buffers=10 ! tee name=t t. ! queue ! fakesink t. ! identity ! fakesink name=b";

#[test]
fn a_summary() {
    let ran = here(&["launch", LINE, "--threads", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(without_time(&ran.out), @r"
    done after 6 ticks, TIME

    element    type      in  out  dropped  copied
    fakesrc0   fakesrc    0   10        0       0
    t          tee       10   20        0       0
    queue0     queue     10   10        0       0
    fakesink0  fakesink  10    0        0       0
    identity0  identity  10   10        0       0
    b          fakesink  10    0        0       0

    links
      fakesrc0.src -> t.sink: ANY
      t.src_0 -> queue0.sink: ANY
      t.src_1 -> identity0.sink: ANY
      queue0.src -> fakesink0.sink: ANY
      identity0.src -> b.sink: ANY

    pools
      fakesrc0.src: 21 buffers of 1 byte, at most 12 in use
    ");
}

#[test]
fn a_plan() {
    let ran = here(&["plan", LINE]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(without_records(&ran.out), @r"
    fakesrc0.src -> t.sink: ANY
    t.src_0 -> queue0.sink: ANY
    t.src_1 -> identity0.sink: ANY
    queue0.src -> fakesink0.sink: ANY
    identity0.src -> b.sink: ANY
    pool fakesrc0.src: 21 buffers of 1 byte (needs 1: fakesrc0 1; 20 more to work side by side)
    memory: … bytes (21 of buffers, … of their records, 1280 of queues, … of elements)
    ");
}

#[test]
fn a_conflict() {
    let text = "capssrc caps=a/x,width=320 ! queue ! a/x,width=640 ! identity ! capssink";
    let ran = here(&["plan", text]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    insta::assert_snapshot!(ran.err, @r"
    error: capssrc0.src and capsfilter0.sink cannot agree on width: 320 against 640 (path: capssrc0 -> queue0 -> capsfilter0)
      it works if you drop capsfilter0
    ");
    let ran = here(&["launch", text, "-q", "--threads", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let start = "error: capssrc0.src and capsfilter0.sink cannot agree on width: 320 against 640 \
                 (path: capssrc0 -> queue0 -> capsfilter0)";
    assert!(ran.err.starts_with(start), "{}", ran.err);
    let end = "it works if you drop capsfilter0 (caps/not-negotiated)\n";
    assert!(ran.err.ends_with(end), "{}", ran.err);
    let text = "capssrc caps=a/x,width=320 ! queue ! capssink caps=a/x,width=640";
    insta::assert_snapshot!(here(&["plan", text]).err, @r"
    error: capssrc0.src and capssink0.sink cannot agree on width: 320 against 640 (path: capssrc0 -> queue0 -> capssink0)
      no change in the catalogue settles it
    ");
}

#[test]
fn an_element() {
    let ran = here(&["inspect", "queue"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(ran.out, @r"
    queue: Holds buffers so that one side can run ahead of the other
    Generic

    pads
      sink: sink, always
          ANY
      src: source, always
          ANY

    properties
      max-size-buffers: a whole number in 0..=4294967295; default 200
          Buffers that it holds at most; 0 for as many as the limit queue-buffers lets it
      max-size-bytes: a whole number in 0..=4294967295; default 10485760
          Bytes with which it is full; 0 for no limit
      max-size-time: a whole number in 0..=9223372036854775807; default 1000000000
          Nanoseconds of buffers with which it is full; 0 for no limit
      min-threshold-buffers: a whole number in 0..=4294967295; default 0
          Buffers without which it passes nothing on, unless it is full or at its end
      min-threshold-bytes: a whole number in 0..=4294967295; default 0
          Bytes without which it passes nothing on, unless it is full or at its end
      min-threshold-time: a whole number in 0..=9223372036854775807; default 0
          Nanoseconds without which it passes nothing on, unless it is full or at its end
      leaky: one of no (0), upstream (1), downstream (2); default no
          What it lets go when it is full: nothing, the newest (upstream) or the oldest (downstream) buffer
      flush-on-eos: true or false; default false
          The end discards what stands before it

    accepted and ignored: name, parent, silent
    ");
}

#[test]
fn all_elements_and_limits() {
    let list = here(&["inspect"]).out;
    for name in [
        "capsfilter",
        "fakesink",
        "fakesrc",
        "identity",
        "queue",
        "tee",
    ] {
        assert!(
            list.lines().any(|l| l.starts_with(&format!("{name} "))),
            "{list}"
        );
    }
    let limits = here(&["inspect", "--limits"]).out;
    let rows: Vec<&str> = limits.lines().collect();
    assert_eq!(rows.len(), 1 + tickpipe::Limit::ALL.len());
    assert!(rows[1].starts_with("quantum "), "{limits}");
    assert!(limits.contains("max_buffers"), "{limits}");
}

#[test]
fn launch_errors_mark_the_place() {
    let told = |text: &str| {
        let ran = here(&["launch", text]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        ran.err
    };
    insta::assert_snapshot!(told("fakesrc ! identiti ! fakesink"), @r"
    error: no element named `identiti`
      fakesrc ! identiti ! fakesink
                ^^^^^^^^
      help: did you mean `identity`? `tickpipe inspect` lists all elements
    ");
    insta::assert_snapshot!(told("fakesrc num-bufers=3 ! fakesink"), @r"
    error: element fakesrc has no property `num-bufers`
      fakesrc num-bufers=3 ! fakesink
              ^^^^^^^^^^
      help: did you mean `num-buffers`? `tickpipe inspect fakesrc` lists all
    ");
    insta::assert_snapshot!(told("fakesrc num-buffers=-2 ! fakesink"), @r"
    error: property num-buffers=-2 is outside -1..=2147483647
      fakesrc num-buffers=-2 ! fakesink
                          ^^
    ");
    insta::assert_snapshot!(told("fakesrc ! video/x-raw,width= ! fakesink"), @r"
    error: property caps: caps text, byte 18: expected a value, found the end
      fakesrc ! video/x-raw,width= ! fakesink
                ^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(told("fakesrc ! .x fakesink"), @r"
    error: element fakesink0 has no sink pad `x` (it has: sink)
      fakesrc ! .x fakesink
                 ^
    ");
}

#[test]
fn warnings_are_told_unless_quiet() {
    let text = "fakesrc num-buffers=1 ! identity sleep-time=5 ! fakesink";
    let ran = here(&["launch", text, "--threads", "1"]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.err, @"warning: identity: property `sleep-time` is accepted for compatibility and does nothing");
    let ran = here(&["launch", text, "-q", "--threads", "1"]);
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (0, "", ""));
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let ran = here(&["launch", "fakesrc num-buffers=\u{1b}[2J ! fakesink"]);
    assert_eq!(ran.code, 2);
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
    assert!(ran.err.contains("\u{fffd}[2J"), "{:?}", ran.err);
}

#[test]
fn help_and_version() {
    for arguments in [&["--help"][..], &["launch", "--help"], &["--version"]] {
        let ran = here(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
        assert!(
            ran.out.starts_with(|c: char| c.is_alphabetic()),
            "{}",
            ran.out
        );
    }
    let help = here(&["--help"]).out;
    for command in ["launch", "run", "plan", "inspect"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[cfg(feature = "video")]
#[test]
fn a_summary_of_a_synchroniser() {
    let text = "videotestsrc num-buffers=3 ! overlay name=mix ! fakesink \
                videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16 ! mix.";
    let ran = here(&["launch", text, "--threads", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let part = ran
        .out
        .split("\n\n")
        .find(|p| p.starts_with("synchroniser"));
    insta::assert_snapshot!(part.unwrap_or(&ran.out), @r"
    synchroniser mix: 3 frames
      input 0: 0 repeated, 0 dropped
      input 1: 1 repeated, 0 dropped
    ");
}

#[cfg(feature = "video")]
#[test]
fn a_pool_held_by_a_lookahead() {
    let text =
        "videotestsrc num-buffers=50 max-buffers=4 ! hold buffers=4 declared=false ! fakesink";
    let ran = here(&["launch", text, "-q", "--threads", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    insta::assert_snapshot!(ran.err, @r"
    error: stalled at tick 3: nobody can go on
      fakesink0 waits for input on sink from hold0 since tick 0, nothing has come
      hold0 waits for input on sink from videotestsrc0 since tick 2
      videotestsrc0 waits for a buffer of pool videotestsrc0.src since tick 1: 4 of 4 held by hold0 since tick 1
      a cycle: hold0 -> videotestsrc0 -> hold0
      cause: hold0 holds all 4 buffers of pool videotestsrc0.src and waits for another; it keeps 4 and said 0 to the planner
      it works with: videotestsrc0 max-buffers=5 (tried)
    ");
}

#[cfg(feature = "video")]
#[test]
fn a_mixer_that_waits_for_a_silent_input() {
    let text = "videotestsrc num-buffers=100 ! queue max-size-buffers=8 ! join name=mux ! fakesink \
                join name=mixer ! mux. fakesrc num-buffers=100 ! mixer. silentsrc ! mixer.";
    let ran = here(&["launch", text, "-q", "--threads", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    insta::assert_snapshot!(ran.err, @r"
    error: stalled at tick 5: nobody can go on
      fakesink0 waits for input on sink from mux since tick 0, nothing has come
      mux waits for input on sink_1 from mixer since tick 4, nothing has come
      mixer waits for input on sink_1 from silentsrc0 since tick 3, nothing has come
      silentsrc0 says nothing, and has no end, since tick 0
      blocked behind that:
      videotestsrc0 waits for a buffer of pool videotestsrc0.src since tick 4: 13 of 13 out (queue0 5 since tick 2, mux 8 since tick 1)
      queue0 waits for room on mux.sink_0 (8 of 8) since tick 3
      fakesrc0 waits for room on mixer.sink_0 (8 of 8) since tick 2
      cause: silentsrc0 is linked, says nothing and has no end
      it works with: silentsrc0 may-be-silent=true (tried)
    ");
}

/// Of a graph with many branches not every wait is shown.
#[test]
fn a_stall_of_many_branches_is_bounded() {
    let branches = "fakesink t. ! ".repeat(199);
    let text = format!("silentsrc name=s ! tee name=t ! {branches} fakesink");
    let ran = here(&["launch", &text, "-q", "--threads", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 1 + 64 + 1 + 1, "{}", ran.err);
    assert_eq!(
        lines[65..],
        [
            "  and 138 more",
            "  cause: s is linked, says nothing and has no end"
        ]
    );
}

/// A run whose stall is expected tells nobody of it.
#[test]
fn a_stall_that_is_expected() {
    let path = std::env::temp_dir().join(format!("tickpipe-stall-{}.toml", std::process::id()));
    let file = path.display().to_string();
    let scenario = |expected: &str| {
        let text = format!(
            "version = 1\n[graph]\nlaunch = 'silentsrc name=s ! fakesink'\n[[expect]]\nstall = {expected}\n"
        );
        std::fs::write(&path, text).expect("written");
        here(&["run", &file, "-q", "--threads", "1"])
    };
    let ran = scenario("{ cause = 'silent-source', element = 's' }");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = scenario("{}");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = scenario("{ cause = 'pool-held' }");
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains(
            "the run stalled with cause silent-source, element s, expected a stall with cause pool-held"
        ),
        "{}",
        ran.err
    );
    let ran = scenario("{ cause = 'pool' }");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("silent-source, no-output"), "{}", ran.err);
    std::fs::remove_file(&path).expect("removed");
}
