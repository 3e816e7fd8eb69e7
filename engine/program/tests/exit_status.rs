//! The exit status of each kind of end, of the program as a process: 0 done and all as expected,
//! 1 failed or an expectation missed, 2 the command line, launch text or scenario file is wrong.
//! Errors are on standard error, and nothing of a failed start is on standard output.

mod support;

use support::{Folder, command, process, ran};

/// Each with the start of what is told.
fn refused(code: i32, cases: &[(&[&str], &str)]) {
    for (arguments, told) in cases {
        let ran = process(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
}

#[test]
fn done() {
    let ran = process(&["launch", "fakesrc num-buffers=3 ! identity ! fakesink"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("done after "), "{}", ran.out);
    let ran = process(&["launch", "fakesrc", "num-buffers=3", "!", "fakesink", "-q"]);
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (0, "", ""));
}

#[test]
fn wrong_command_lines() {
    let line = "fakesrc ! fakesink";
    refused(
        2,
        &[
            (&[], "Usage: tickpipe"),
            (&["lunch"], "unrecognized subcommand 'lunch'"),
            (&["launch"], "required arguments were not provided"),
            (
                &["launch", line, "--thread", "2"],
                "unexpected argument '--thread'",
            ),
            (&["launch", line, "--threads", "0"], "0 is not in 1..=256"),
            (
                &["launch", line, "--threads", "257"],
                "257 is not in 1..=256",
            ),
            (&["launch", line, "--max-ticks", "0"], "0 is not in 1.."),
            (
                &["launch", line, "--clock", "fast"],
                "[possible values: free, virtual, wall]",
            ),
            (
                &["launch", line, "--limit", "quanta=3"],
                "no limit named `quanta`",
            ),
            (
                &["launch", line, "--limit", "quantum=0"],
                "limit quantum=0 is outside 1..=256",
            ),
            (
                &["launch", line, "--limit", "quantum"],
                "a limit is set as NAME=N",
            ),
            (&["launch", line, "--log", "a=b=c"], "error: --log a=b=c: "),
            (
                &["launch", line, "--report", "-", "--digests", "-"],
                "error: --report and --digests cannot both go to -",
            ),
            (&["inspect", "fakesrc", "--limits"], "cannot be used with"),
        ],
    );
}

#[test]
fn wrong_launch_texts() {
    refused(
        2,
        &[
            (&["launch", ""], "error: the description is empty"),
            (&["launch", "fakesrc !"], "error: nothing follows this link"),
            (
                &["launch", "fakesrk ! fakesink"],
                "error: no element named `fakesrk`",
            ),
            (
                &["launch", "fakesrc ! x. fakesink"],
                "error: no element named `x`",
            ),
            (
                &["launch", "fakesrc num-bufers=3 ! fakesink"],
                "error: element fakesrc has no property `num-bufers`",
            ),
            (
                &["launch", "fakesrc num-buffers=99999999999 ! fakesink"],
                "property num-buffers=99999999999 is outside -1..=2147483647",
            ),
            (
                &["launch", "fakesrc num-buffers=many ! fakesink"],
                "property num-buffers takes a whole number, not `many`",
            ),
            (&["launch", "fakesink ! fakesrc"], "has no free source pad"),
            (
                &["plan", "fakesrk ! fakesink"],
                "error: no element named `fakesrk`",
            ),
            (
                &["inspect", "fakesrk"],
                "error: no element named `fakesrk`\n  help: did you mean `fakesrc`?",
            ),
            (
                &["inspect", "nothing-like-it"],
                "help: `tickpipe inspect` lists all elements",
            ),
        ],
    );
}

#[test]
fn wrong_scenario_files() {
    let folder = Folder::new("wrong-scenarios");
    let wrong = folder.write(
        "wrong.toml",
        "[graph]\nlaunch = 'fakesrc ! fakesink'\n[rum]\n",
    );
    let element = folder.write(
        "element.toml",
        "[graph]\nlaunch = 'fakesrc ! fakesink'\n[[expect]]\nsink = 'out'\neos = true\n",
    );
    let missing = folder.path("none.toml");
    refused(
        2,
        &[
            (&["run", &wrong], "wrong.toml:3:2: unknown key `rum`"),
            (&["launch", &wrong], "wrong.toml:3:2: unknown key `rum`"),
            (&["plan", &wrong], "wrong.toml:3:2: unknown key `rum`"),
            (
                &["run", &element],
                "element.toml:4:8: `expect[0].sink`: the graph has no element named `out`",
            ),
            (&["run", &missing], "none.toml: cannot be read: "),
            (&["launch", &missing], "none.toml: cannot be read: "),
            (
                &["run", "fakesrc ! fakesink"],
                "`tickpipe launch` takes a description",
            ),
            (
                &["launch", "fakesrc ! filesink location=a.toml"],
                "a description that does needs a space behind it",
            ),
        ],
    );
}

#[test]
fn scenarios() {
    let folder = Folder::new("scenarios");
    let head = "[graph]\nlaunch = 'fakesrc num-buffers=3 ! fakesink name=out'\n";
    let right = folder.write(
        "right.toml",
        format!("{head}[[expect]]\nsink = 'out'\nbuffers = 3\n"),
    );
    let missed = folder.write(
        "missed.toml",
        format!("{head}[[expect]]\nsink = 'out'\nbuffers = 4\n"),
    );
    let failed = folder.write(
        "failed.toml",
        format!("{head}[run]\nmax-ticks = 1\n[[expect]]\nverdict = 'failed'\n"),
    );
    let ran = process(&["run", &right]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let ran = process(&["run", &failed]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = process(&["run", &missed, "--report", "-"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.err,
        format!("error: {missed}:3: sink out: buffers is 3, expected 4\n")
    );
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("is JSON");
    assert_eq!(report["verdict"], "expectation-missed");
    let ran = process(&["run", &right, "--max-ticks", "1"]);
    assert_eq!(ran.code, 1);
}

#[test]
fn runs_that_fail() {
    let ran = process(&["launch", "fakesrc ! fakesink", "--max-ticks", "20"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .starts_with("error: still running after the ticks allowed"),
        "{}",
        ran.err
    );
    assert!(ran.out.starts_with("failed after 20 ticks"), "{}", ran.out);
    // Whatever the log is set to, errors are told.
    let ran = process(&[
        "launch",
        "fakesrc ! fakesink",
        "--max-ticks",
        "20",
        "--log",
        "off",
        "-q",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error: still running"), "{}", ran.err);

    let text = "fakesrc ! video/x-raw,width=320 ! identity ! video/x-raw,width=640 ! fakesink";
    for command in ["plan", "launch"] {
        let ran = process(&[command, text, "-q"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        for part in ["capsfilter", "width", "320", "640"] {
            assert!(ran.err.contains(part), "{}", ran.err);
        }
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::new("outputs");
    let line = "fakesrc num-buffers=3000 ! fakesink";
    let nowhere = folder.path("no/report.json");
    for flag in ["--report", "--digests"] {
        let ran = process(&["launch", line, flag, &nowhere]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(
            ran.err
                .starts_with(&format!("error: {nowhere}: cannot be written: ")),
            "{}",
            ran.err
        );
        if std::path::Path::new("/dev/full").exists() {
            let ran = process(&["launch", line, flag, "/dev/full"]);
            assert_eq!(ran.code, 1, "{flag}");
            assert!(
                ran.err.starts_with("error: /dev/full: cannot be written: "),
                "{}",
                ran.err
            );
        }
    }
}

/// Runs with a standard output that nobody reads.
#[cfg(unix)]
fn unread(arguments: &[&str]) -> support::Ran {
    let (reader, writer) = std::io::pipe().expect("made");
    drop(reader);
    ran(command(arguments).stdout(writer).output().expect("starts"))
}

#[cfg(unix)]
#[test]
fn a_closed_output_is_quiet() {
    let line = "fakesrc num-buffers=3 ! fakesink";
    for arguments in [
        &["launch", line][..],
        &["plan", line],
        &["inspect"],
        &["inspect", "fakesrc"],
        &["inspect", "--limits"],
        &["--help"],
    ] {
        let ran = unread(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
    }
    // Data that was asked for and did not arrive is a failure, though nobody is there to be told.
    for flag in ["--report", "--digests"] {
        let ran = unread(&["launch", line, flag, "-"]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{flag}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let full = full.expect("is there");
    let output = command(&["inspect"]).stdout(full).output().expect("starts");
    let ran = ran(output);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .starts_with("error: standard output cannot be written: "),
        "{}",
        ran.err
    );
}
