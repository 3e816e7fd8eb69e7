//! `plan --json` and `--trace`: what is on standard output for others to check, and the exit status
//! of each outcome.

mod support;

use serde_json::{Value as Json, json};
use support::{Folder, Ran, here, process, without_records};

fn parsed(ran: &Ran) -> Json {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", ran.out, ran.err))
}

fn number(json: &Json) -> u64 {
    json.as_u64()
        .unwrap_or_else(|| panic!("{json} is no number"))
}

const LINE: &str = "capssrc caps=\"audio/x-raw,format=S16LE\" \
     ! capsmap map=\"audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE\" \
     ! capssink caps=\"audio/x-raw,format=F32LE\"";

#[test]
fn a_line_a_link() {
    let ran = process(&["plan", LINE]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().filter(|l| l.contains(" -> ")).collect();
    assert_eq!(
        lines,
        [
            "capssrc0.src -> capsmap0.sink: audio/x-raw,format=S16LE",
            "capsmap0.src -> capssink0.sink: audio/x-raw,format=F32LE",
        ]
    );
    assert_eq!(ran.out.lines().collect::<Vec<_>>()[..2], lines);
}

#[test]
fn a_plan() {
    let ran = process(&["plan", "--json", LINE]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let told = parsed(&ran);
    let parts = ["buffers", "records", "queues", "elements"].map(|p| number(&told["memory"][p]));
    assert_eq!((parts[0], parts[2]), (9, 128), "of buffers and queues");
    assert_eq!(parts.iter().sum::<u64>(), number(&told["memory"]["total"]));
    assert_eq!(
        told,
        json!({
            "verdict": "agreed",
            "cost": 1,
            "loss": {},
            "links": [
                {
                    "from": "capssrc0.src",
                    "to": "capsmap0.sink",
                    "caps": "audio/x-raw,format=S16LE",
                    "transport": "push",
                    "cost": 0,
                    "loss": {},
                },
                {
                    "from": "capsmap0.src",
                    "to": "capssink0.sink",
                    "caps": "audio/x-raw,format=F32LE",
                    "transport": "push",
                    "cost": 1,
                    "loss": {},
                },
            ],
            "conversions": [{
                "element": "capsmap0",
                "fields": [["format", "S16LE", "F32LE"]],
                "why": "format: capssrc0.src has S16LE, capssink0.sink has F32LE",
            }],
            "pools": [{
                "name": "capssrc0.src",
                "buffers": 9,
                "size": 1,
                "align": 1,
                "prefix": 0,
                "needs": "capssrc0 1",
                "holders": [{"element": "capssrc0", "buffers": 1}],
                "need": 1,
                "max": null,
            }],
            "memory": told["memory"],
            "conflict": null,
            "error": null,
        })
    );
    assert!(ran.out.ends_with("}\n"));
}

#[test]
fn costs_add_up() {
    let text = "capssrc caps=\"audio/x-raw,rate=48000,channels=6; audio/x-raw,rate=8000,channels=1\" ! tee name=t \
         t. ! capsmap cost=3 map=\"audio/x-raw,rate=[1,96000] -> audio/x-raw,rate=[1,96000],re=1\" ! capssink caps=audio/x-raw,rate=24000 \
         t. ! queue ! capsmap map=\"audio/x-raw,channels=[1,8] -> audio/x-raw,channels=[1,9]\" ! capssink caps=audio/x-raw,channels=3";
    let told = parsed(&here(&["plan", "--json", text]));
    let links = told["links"].as_array().expect("a list");
    assert_eq!(links.len(), 6);
    assert_eq!(number(&told["cost"]), 4);
    assert_eq!(links.iter().map(|l| number(&l["cost"])).sum::<u64>(), 4);
    // Half the rate, half the channels.
    assert_eq!(told["loss"], json!({"rate": 65_536, "channels": 65_536}));
    for kind in ["rate", "channels"] {
        let of = |l: &Json| l["loss"].get(kind).map_or(0, number);
        assert_eq!(links.iter().map(of).sum::<u64>(), 65_536);
    }
}

#[test]
fn a_conflict() {
    let text = "capssrc caps=audio/x-raw,rate=48000,channels=1 ! tee name=t \
         t. ! audio/x-raw,rate=44100 ! capssink t. ! audio/x-raw,channels=2 ! capssink";
    let ran = process(&["plan", "--json", text]);
    assert_eq!(ran.code, 1);
    let told = parsed(&ran);
    assert_eq!(
        (&told["verdict"], &told["cost"]),
        (&json!("conflict"), &Json::Null)
    );
    assert_eq!((&told["links"], &told["pools"]), (&json!([]), &json!([])));
    assert_eq!(
        told["conflict"],
        json!({
            "field": "rate",
            "fields": ["rate"],
            "pads": [["capssrc0.src", "48000"], ["capsfilter0.sink", "44100"]],
            "caps": [
                ["capssrc0.src", "audio/x-raw,rate=48000,channels=1"],
                ["capsfilter0.sink", "audio/x-raw,rate=44100"],
            ],
            "path": ["capssrc0", "t", "capsfilter0"],
            "fix": ["drop capsfilter0"],
            "mended": true,
            "further": [{
                "field": "channels",
                "fields": ["channels"],
                "pads": [["capssrc0.src", "1"], ["capsfilter1.sink", "2"]],
                "caps": [
                    ["capssrc0.src", "audio/x-raw,rate=48000,channels=1"],
                    ["capsfilter1.sink", "audio/x-raw,channels=2"],
                ],
                "path": ["capssrc0", "t", "capsfilter1"],
                "fix": ["drop capsfilter1"],
                "mended": true,
            }],
        })
    );
    // The sentence is on standard error, and the same in the report.
    let error = told["error"].as_str().expect("a text");
    assert_eq!(ran.err, format!("error: {error}\n"));
    insta::assert_snapshot!(error, @r"
    capssrc0.src and capsfilter0.sink cannot agree on rate: 48000 against 44100 (path: capssrc0 -> t -> capsfilter0)
      it works if you drop capsfilter0
    and then capssrc0.src and capsfilter1.sink cannot agree on channels: 1 against 2 (path: capssrc0 -> t -> capsfilter1)
      it works if you drop capsfilter1
    with all of these together the graph works
    ");
    // Without --json nothing but the sentence.
    let plain = process(&["plan", text]);
    assert_eq!(
        (plain.code, plain.out.as_str(), plain.err),
        (1, "", ran.err)
    );
}

#[test]
fn a_limit_is_no_conflict() {
    let rows: Vec<String> = (0..9)
        .map(|i| format!("a/x,f={i} -> a/x,f={}", (i * 2) % 9))
        .collect();
    let map = format!("capsmap map=\"{}\" ! ", rows.join(" | "));
    let text = format!("capssrc ! {} capssink", map.repeat(50));
    let ran = here(&["plan", "--json", "--limit", "caps-work=1000", &text]);
    assert_eq!(ran.code, 1);
    let told = parsed(&ran);
    assert_eq!(
        (&told["verdict"], &told["conflict"]),
        (&json!("limit"), &Json::Null)
    );
    let error = told["error"].as_str().expect("a text");
    assert!(error.starts_with("no answer within the limit: "), "{error}");
    assert!(
        error.contains("the limit caps-work=1000 (raise it with --limit caps-work=N)"),
        "{error}"
    );
    assert_eq!(ran.err, format!("error: {error}\n"));
    // With more of it there is an answer.
    let ran = here(&["plan", "--json", &text]);
    assert_eq!(
        (ran.code, &parsed(&ran)["verdict"]),
        (0, &json!("agreed")),
        "{}",
        ran.err
    );
}

#[test]
fn a_trace() {
    let text = "capssrc caps=\"a/x,f={1,2}\" ! queue ! capssink caps=a/x,f=[2,9]";
    let ran = here(&["plan", "--trace", text]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(without_records(&ran.out), @r"
    capssrc0.src -> queue0.sink
      asked:    a/x,f={1,2}
      answered: a/x,f=[2,9]
      chosen:   a/x,f=2
    queue0.src -> capssink0.sink
      asked:    a/x,f={1,2}
      answered: a/x,f=[2,9]
      chosen:   a/x,f=2
    capssrc0.src -> queue0.sink: a/x,f=2
    queue0.src -> capssink0.sink: a/x,f=2
    pool capssrc0.src: 9 buffers of 1 byte (needs 1: capssrc0 1; 8 more to work side by side)
    memory: … bytes (9 of buffers, … of their records, 1088 of queues, … of elements)
    ");
    let told = parsed(&here(&["plan", "--trace", "--json", text]));
    assert_eq!(
        told["trace"],
        json!([
            {
                "from": "capssrc0.src",
                "to": "queue0.sink",
                "asked": "a/x,f={1,2}",
                "answered": "a/x,f=[2,9]",
                "chosen": "a/x,f=2",
            },
            {
                "from": "queue0.src",
                "to": "capssink0.sink",
                "asked": "a/x,f={1,2}",
                "answered": "a/x,f=[2,9]",
                "chosen": "a/x,f=2",
            },
        ])
    );
    // A graph that has no answer has a trace too.
    let text = "capssrc caps=a/x,f=1 ! queue ! capssink caps=a/x,f=3";
    let ran = here(&["plan", "--trace", "--json", text]);
    assert_eq!(ran.code, 1);
    let told = parsed(&ran);
    assert_eq!(told["verdict"], "conflict");
    for link in told["trace"].as_array().expect("a list") {
        assert_eq!(link["asked"], "a/x,f=1");
        assert_eq!(link["answered"], "a/x,f=3");
        assert_eq!(link["chosen"], Json::Null);
    }
    let ran = here(&["plan", "--trace", text]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.out, @r"
    capssrc0.src -> queue0.sink
      asked:    a/x,f=1
      answered: a/x,f=3
      chosen:   nothing
    queue0.src -> capssink0.sink
      asked:    a/x,f=1
      answered: a/x,f=3
      chosen:   nothing
    ");
}

#[test]
fn what_is_wrong_has_its_status() {
    // The launch text: 2, and nothing on standard output.
    for text in [
        "capssrc ! nosuch ! capssink",
        "capssrc caps=\"audio/x-raw,rate=[2,1]\" ! capssink",
        "capssrc ! capsmap map=\"a/x\" ! capssink",
        "capssrc ! ! capssink",
    ] {
        let ran = here(&["plan", "--json", text]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}: {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{text}: {}", ran.err);
    }
    // The graph: 1, and a report.
    for (text, verdict, said) in [
        (
            "capssrc ! identity",
            "failed",
            "pad identity0.src is not linked",
        ),
        (
            "capssrc caps=a/x ! capssink caps=b/y",
            "conflict",
            "capssrc0.src and capssink0.sink cannot agree on the media type: a/x against b/y",
        ),
        (
            "capssrc ! capssink caps=a/x,f=[1,2]",
            "failed",
            "capssrc0.src does not say what it emits",
        ),
    ] {
        let ran = here(&["plan", "--json", text]);
        assert_eq!(ran.code, 1, "{text}");
        let told = parsed(&ran);
        assert_eq!(told["verdict"], verdict, "{text}");
        let error = told["error"].as_str().expect("a text");
        assert!(error.starts_with(said), "{text}: {error}");
        assert_eq!(ran.err, format!("error: {error}\n"), "{text}");
    }
}

#[test]
fn quiet_keeps_the_report() {
    let ran = here(&["plan", "--json", "-q", LINE]);
    assert_eq!((ran.code, &parsed(&ran)["verdict"]), (0, &json!("agreed")));
    let ran = here(&["plan", "-q", LINE]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn a_scenario_file_is_planned_as_well() {
    let folder = Folder::new("plan-json");
    let graph = LINE.replace('"', "'");
    let file = folder.write(
        "line.toml",
        format!("version = 1\n[graph]\nlaunch = \"{graph}\"\n"),
    );
    let ran = here(&["plan", "--json", &file]);
    let line = here(&["plan", "--json", LINE]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(parsed(&ran), parsed(&line));
}

#[test]
fn what_is_planned_is_what_runs() {
    let plan = parsed(&here(&["plan", "--json", LINE]));
    let ran = here(&["launch", LINE, "--report", "-", "--threads", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report = parsed(&ran);
    let planned = plan["links"].as_array().expect("a list");
    let links = report["links"].as_array().expect("a list");
    assert_eq!(links.len(), planned.len());
    for (link, planned) in links.iter().zip(planned) {
        for key in ["from", "to", "caps"] {
            assert_eq!(link[key], planned[key]);
        }
    }
}
