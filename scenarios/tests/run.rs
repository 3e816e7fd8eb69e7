//! What a scenario expects is compared with what came out of its run.

use tickpipe::{ClockMode, Verdict};
use tickpipe_scenarios::{Miss, Outcome, Overrides, RunError, Scenario};

fn scenario(rest: &str) -> Scenario {
    let text = format!(
        "[graph]\nlaunch = 'fakesrc num-buffers=3 ! identity name=wire ! fakesink name=out'\n{rest}"
    );
    Scenario::from_toml("a.toml", &text).expect("is right")
}

fn outcome(rest: &str) -> Outcome {
    scenario(rest)
        .run(&Overrides::default(), &mut ())
        .expect("can be built")
}

fn missed(outcome: &Outcome) -> Vec<String> {
    outcome.missed.iter().map(|m| m.to_string()).collect()
}

#[test]
fn all_as_expected() {
    let outcome = outcome(
        "[[expect]]\nverdict = 'done'\n\
         [[expect]]\nelement = 'wire'\nbuffers-in = 3\nbuffers-out = 3\ndropped = 0\ncopied = 0\n\
         [[expect]]\nsink = 'out'\nbuffers = 3\neos = true\n\
         [[expect]]\nmessage = { kind = 'eos' }\n\
         [[expect]]\nmessage = { kind = 'state-changed', code = 'playing' }\n",
    );
    assert_eq!(missed(&outcome), Vec::<String>::new());
    assert_eq!(outcome.report.verdict, Verdict::Done);
    assert!(outcome.as_expected());
    assert!(
        outcome.report.sinks[0].frames.is_empty(),
        "nothing asked for frames"
    );
}

#[test]
fn each_miss_says_expected_and_found() {
    let outcome = outcome(
        "[[expect]]\nverdict = 'failed'\n\
         [[expect]]\nelement = 'wire'\nbuffers-in = 4\nbuffers-out = 3\ndropped = 1\n\
         [[expect]]\nsink = 'out'\neos = false\n\
         [[expect]]\nmessage = { element = 'wire', kind = 'error', code = 'read' }\n",
    );
    assert_eq!(
        missed(&outcome),
        [
            "a.toml:3: verdict is done, expected failed",
            "a.toml:5: element wire: buffers-in is 3, expected 4",
            "a.toml:5: element wire: dropped is 0, expected 1",
            "a.toml:10: sink out: eos is true, expected false",
            "a.toml:13: no message with element wire, kind error, code read was posted; of errors \
             there were: none",
        ]
    );
    assert_eq!(
        outcome.missed[1].what,
        Miss::Count {
            subject: "element wire".to_owned(),
            field: "buffers-in",
            expected: 4,
            found: 3
        }
    );
    assert_eq!(outcome.report.verdict, Verdict::ExpectationMissed);
    assert!(!outcome.as_expected());
}

#[test]
fn frames_are_compared_one_by_one() {
    let hashes = |rest: &str| {
        let outcome = outcome(&format!("[[expect]]\nsink = 'out'\nframes = [{rest}]\n"));
        let frames = &outcome.report.sinks[0].frames;
        let found: Vec<String> = frames.iter().map(|f| f.hash.clone()).collect();
        (found, missed(&outcome))
    };
    let (found, all_new) = hashes("");
    assert_eq!(found.len(), 3);
    assert_eq!(all_new, ["a.toml:3: sink out: 3 frames, expected 0"]);
    let quoted: Vec<String> = found.iter().map(|h| format!("'{h}'")).collect();
    let (_, right) = hashes(&quoted.join(","));
    assert_eq!(right, Vec::<String>::new());
    let wrong = format!(
        "{},'0000000000000007',{},{}",
        quoted[0], quoted[2], quoted[2]
    );
    let (_, differing) = hashes(&wrong);
    assert_eq!(
        differing,
        [
            format!(
                "a.toml:3: sink out: frame 1 is {}, expected 0000000000000007 (1 of 3 frames differ)",
                found[1]
            ),
            "a.toml:3: sink out: 3 frames, expected 4".to_owned(),
        ]
    );
}

#[test]
fn a_run_that_must_fail() {
    let limited = "[run]\nmax-ticks = 2\n";
    let expected = outcome(&format!(
        "{limited}[[expect]]\nverdict = 'failed'\n[[expect]]\nmessage = {{ domain = 'core', code = 'limit' }}\n"
    ));
    assert_eq!(missed(&expected), Vec::<String>::new());
    assert_eq!(expected.report.verdict, Verdict::Failed);
    assert!(expected.as_expected());

    let unexpected = outcome(limited);
    assert_eq!(unexpected.report.verdict, Verdict::Failed);
    assert!(!unexpected.as_expected());

    let both = outcome(&format!(
        "{limited}[[expect]]\nverdict = 'failed'\n[[expect]]\nsink = 'out'\neos = true\n"
    ));
    assert_eq!(both.report.verdict, Verdict::ExpectationMissed);
}

#[test]
fn settings_reach_the_run_and_callers_come_first() {
    let scenario = scenario(
        "[run]\nclock = 'virtual'\nthreads = 2\nmax-ticks = 100\nseed = 7\nquantum = 8\n\
         [run.limits]\nlink-buffers = 32\n",
    );
    let settings = scenario.settings();
    assert_eq!(settings.clock, Some(ClockMode::Virtual));
    assert_eq!(settings.seed, Some(7));
    let options = scenario
        .engine_options(&Overrides::default())
        .expect("are right");
    assert_eq!(options.threads, 2);
    assert_eq!(options.limits.link_capacity(), 32);
    let overrides = Overrides {
        threads: Some(1),
        limits: vec![("link-buffers".to_owned(), 0)],
        ..Overrides::default()
    };
    let options = scenario.engine_options(&overrides).expect("are right");
    assert_eq!(options.threads, 1);
    assert_eq!(options.limits.link_capacity(), 16);
    let wrong = Overrides {
        limits: vec![("nothing".to_owned(), 0)],
        ..Overrides::default()
    };
    let refused = scenario.run(&wrong, &mut ()).expect_err("no such limit");
    assert!(matches!(refused, RunError::Limit(_)));
}

#[test]
fn a_run_without_threads_of_its_own_does_not_depend_on_them() {
    let scenario = scenario("");
    let digest = |threads| {
        let overrides = Overrides {
            threads: Some(threads),
            digests: true,
            ..Overrides::default()
        };
        scenario
            .run(&overrides, &mut ())
            .expect("can be built")
            .report
            .digest
    };
    assert_eq!(digest(1), digest(2));
}
