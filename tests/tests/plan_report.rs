//! A plan as others read it: per link caps and cost, what is converted and why, conflicts; and a
//! run uses exactly what was planned.

mod negotiating;

use negotiating::{engine, launch, plan, run};
use serde_json::{Value as Json, json};
use tickpipe::{Engine, EngineOptions, Limit, Limits, PlanReport};

fn report(text: &str) -> Json {
    let report = PlanReport::of(&plan(text));
    let json: Json = serde_json::from_str(&report.to_json()).expect("is JSON");
    assert!(json.get("trace").is_none(), "{text}");
    json
}

/// Graphs that have an answer.
const GRAPHS: &[&str] = &[
    "capssrc ! capssink",
    "capssrc caps=\"a/x,f={2,1}; a/y\" ! queue ! capssink caps=\"a/y; a/x\"",
    "capssrc caps=audio/x-raw,format=S16LE,rate=8000 \
     ! capsmap map=\"audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE\" \
     ! capsmap cost=7 map=\"audio/x-raw,rate=8000 -> audio/x-raw,rate=6000\" ! capssink",
    "capssrc caps=\"a/x,f={1,2,3}\" ! tee name=t t. ! capssink caps=\"a/x,f={2,3}\" \
     t. ! queue ! capsmap map=\"a/x,f=2 -> b/y,g=1 | a/x,f=3 -> b/y,g=2\" ! capssink caps=b/y,g=2 \
     t. ! identity ! ( capsmap map=\"a/x -> a/x | a/x,f=3 -> a/x,f=1\" ! capssink caps=a/x,f=1 )",
    "capssrc caps=\"a/x,f=1\" ! tee name=t t. ! f. t. ! queue ! f. funnel name=f ! capssink",
    #[cfg(feature = "video")]
    "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=64,height=48 ! tee name=t \
     t. ! videoconvert ! video/x-raw,format=RGB ! fakesink \
     t. ! queue ! videoscale ! videoconvert ! video/x-raw,format=GRAY8,width=32,height=24 ! fakesink",
    #[cfg(feature = "video")]
    "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=32,height=32 ! overlay name=mix \
     ! videoscale ! video/x-raw,width=16 ! fakesink \
     videotestsrc num-buffers=3 ! videoconvert ! video/x-raw,width=16,height=16 ! mix.",
];

fn number(json: &Json) -> u64 {
    json.as_u64()
        .unwrap_or_else(|| panic!("{json} is no number"))
}

#[test]
fn the_costs_of_links_add_up() {
    for text in GRAPHS {
        let report = report(text);
        assert_eq!(report["verdict"], "agreed", "{text}");
        assert_eq!(
            (&report["conflict"], &report["error"]),
            (&Json::Null, &Json::Null)
        );
        let links = report["links"].as_array().expect("a list");
        let sum: u64 = links.iter().map(|l| number(&l["cost"])).sum();
        assert_eq!(sum, number(&report["cost"]), "{text}");
        for kind in ["colour", "depth", "size", "rate", "channels"] {
            let of = |json: &Json| json["loss"].get(kind).map_or(0, number);
            assert_eq!(
                links.iter().map(of).sum::<u64>(),
                of(&report),
                "{text}: {kind}"
            );
        }
        for link in links {
            let caps = link["caps"].as_str().expect("a text");
            let caps: tickpipe::components::caps::Caps = caps.parse().expect("caps");
            assert!(caps.is_any() || caps.is_fixed(), "{text}: {caps}");
        }
    }
    let all = report(GRAPHS[2]);
    assert_eq!(number(&all["cost"]), 8);
    let costs: Vec<u64> = all["links"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|l| number(&l["cost"]))
        .collect();
    assert_eq!(costs, [0, 1, 7]);
    // From 8000 to 6000 is not half of a halving: log2(4/3) of 65536.
    assert_eq!(all["loss"], json!({"rate": 27_200}));
    assert_eq!(all["links"][2]["loss"], json!({"rate": 27_200}));
}

#[test]
fn links_are_in_graph_order_and_named_by_pads() {
    let report = report(GRAPHS[3]);
    let links = report["links"].as_array().expect("a list");
    let text = |json: &Json| json.as_str().expect("a text").to_owned();
    let ends: Vec<String> = links
        .iter()
        .map(|l| format!("{} {}", text(&l["from"]), text(&l["to"])))
        .collect();
    assert_eq!(
        ends,
        [
            "capssrc0.src t.sink",
            "t.src_0 capssink0.sink",
            "t.src_1 queue0.sink",
            "t.src_2 identity0.sink",
            "queue0.src capsmap0.sink",
            "capsmap0.src capssink1.sink",
            "identity0.src capsmap1.sink",
            "capsmap1.src capssink2.sink",
        ]
    );
}

#[test]
fn a_run_uses_exactly_the_plan() {
    for text in GRAPHS {
        let mut engine = engine();
        let pipeline = launch(&mut engine, text);
        let planned = PlanReport::of(&engine.plan(pipeline));
        let links = |links: &[tickpipe::LinkCaps]| -> Vec<(String, String, String)> {
            let links = links.iter();
            links
                .map(|l| (l.from.clone(), l.to.clone(), l.caps.clone()))
                .collect()
        };
        let want = links(&planned.links);
        let report = run(&mut engine, pipeline);
        assert_eq!(
            report.verdict.name(),
            "done",
            "{text}: {:?}",
            report.messages
        );
        let got: Vec<_> = report
            .links
            .iter()
            .map(|l| (l.from.clone(), l.to.clone(), l.caps.clone()))
            .collect();
        assert_eq!(got, want, "{text}");
        let pools: Vec<(String, u64, u64, u64)> = report
            .pools
            .iter()
            .map(|p| {
                (
                    p.name.clone(),
                    p.buffers.into(),
                    p.size as u64,
                    p.align as u64,
                )
            })
            .collect();
        let planned_pools: Vec<(String, u64, u64, u64)> = planned
            .pools
            .iter()
            .map(|p| (p.name.clone(), p.buffers, p.size, p.align))
            .collect();
        assert_eq!(pools, planned_pools, "{text}");
        // Planning again, after a run and without one, is the same.
        let again = PlanReport::of(&engine.plan(pipeline));
        assert_eq!(again.to_json(), planned.to_json(), "{text}");
    }
}

#[test]
fn planning_changes_nothing() {
    let mut engine = engine();
    let pipeline = launch(&mut engine, GRAPHS[3]);
    let before = engine.world().entities().count_spawned();
    for _ in 0..3 {
        engine.plan(pipeline).expect("a plan");
        engine.trace_negotiation(pipeline).expect("a trace");
    }
    assert_eq!(engine.world().entities().count_spawned(), before);
    assert!(
        negotiating::pad_caps(&mut engine)
            .iter()
            .all(|p| p.1 == "ANY")
    );
}

/// Whether a line is `from -> to: caps`.
fn is_link(line: &str) -> bool {
    line.split(' ').nth(1) == Some("->")
}

#[test]
fn a_line_a_link() {
    let text = "capssrc caps=\"audio/x-raw,format=S16LE\" \
         ! capsmap map=\"audio/x-raw,format=S16LE -> audio/x-raw,format=F32LE\" \
         ! capssink caps=\"audio/x-raw,format=F32LE\"";
    let told = plan(text).expect("a plan").to_string();
    let lines: Vec<&str> = told.lines().filter(|l| is_link(l)).collect();
    assert_eq!(
        lines,
        [
            "capssrc0.src -> capsmap0.sink: audio/x-raw,format=S16LE",
            "capsmap0.src -> capssink0.sink: audio/x-raw,format=F32LE",
        ]
    );
    for text in GRAPHS {
        let plan = plan(text).expect("a plan");
        let told = plan.to_string();
        let lines: Vec<&str> = told.lines().filter(|l| is_link(l)).collect();
        let links = plan.links.iter();
        let want: Vec<String> = links
            .map(|l| format!("{} -> {}: {}", l.from, l.to, l.caps))
            .collect();
        assert_eq!(lines, want, "{told}");
        // They are the first.
        assert!(told.lines().skip(want.len()).all(|l| !is_link(l)), "{told}");
    }
}

#[test]
fn conversions_say_what_and_why() {
    for (text, want) in [
        (
            "capssrc caps=audio/x-raw,format=S16LE,rate=48000 ! queue \
             ! capsmap map=\"audio/x-raw,rate=[1,96000] -> audio/x-raw,rate=[1,48000] | audio/x-raw -> audio/x-raw\" \
             ! capssink caps=audio/x-raw,rate=44100",
            json!([{
                "element": "capsmap0",
                "fields": [["rate", "48000", "44100"]],
                "why": "rate: capssrc0.src has 48000, capssink0.sink has 44100",
            }]),
        ),
        (
            "capssrc caps=a/x,f=1 ! capsmap name=m map=\"a/x -> b/y,g=2\" ! capssink caps=b/y",
            json!([{
                "element": "m",
                "fields": [["media type", "a/x", "b/y"]],
                "why": "capssrc0.src has a/x, capssink0.sink has b/y",
            }]),
        ),
        #[cfg(feature = "video")]
        (
            "videotestsrc ! video/x-raw,format=I420,width=64,height=64 ! tee name=t t. ! fakesink \
             t. ! videoconvert ! videoscale ! video/x-raw,format=RGB,width=32,height=32 ! fakesink",
            json!([
                {
                    "element": "videoconvert0",
                    "fields": [["format", "I420", "RGB"]],
                    "why": "format: capsfilter0.src has I420, capsfilter1.sink has RGB",
                },
                {
                    "element": "videoscale0",
                    "fields": [["width", "64", "32"], ["height", "64", "32"]],
                    "why": "width: capsfilter0.src has 64, capsfilter1.sink has 32",
                },
            ]),
        ),
        ("capssrc caps=a/x,f=1 ! capsmap ! capssink", json!([])),
    ] {
        assert_eq!(report(text)["conversions"], want, "{text}");
    }
}

#[test]
fn what_a_source_does_without_is_a_loss() {
    let told = report(
        "capssrc caps=\"video/x-raw,format={RGBA,GRAY8}\" ! capssink caps=video/x-raw,format=GRAY8",
    );
    assert_eq!(told["cost"], 0);
    assert_eq!(told["loss"], json!({"colour": 11}));
    assert_eq!(told["links"][0]["loss"], json!({"colour": 11}));
}

#[test]
fn conflicts_as_data() {
    let told = report("capssrc caps=a/x,f={1,2} ! queue ! capssink caps=a/x,f=3");
    assert_eq!(told["verdict"], "conflict");
    assert_eq!(told["cost"], Json::Null);
    assert_eq!(told["links"], json!([]));
    assert_eq!(
        told["conflict"],
        json!({
            "field": "f",
            "fields": ["f"],
            "pads": [["capssrc0.src", "{1,2}"], ["capssink0.sink", "3"]],
            "caps": [["capssrc0.src", "a/x,f={1,2}"], ["capssink0.sink", "a/x,f=3"]],
            "path": ["capssrc0", "queue0", "capssink0"],
            "fix": [],
            "mended": false,
        })
    );
    assert_eq!(
        told["error"],
        "capssrc0.src and capssink0.sink cannot agree on f: {1,2} against 3 \
         (path: capssrc0 -> queue0 -> capssink0)\n  no change in the catalogue settles it"
    );
    let told = report(
        "capssrc caps=audio/x-raw,rate=48000,channels=1 ! tee name=t \
         t. ! audio/x-raw,rate=44100 ! capssink t. ! audio/x-raw,channels=2 ! capssink",
    );
    let first = &told["conflict"];
    assert_eq!(
        (&first["field"], &first["fix"]),
        (&json!("rate"), &json!(["drop capsfilter0"]))
    );
    assert_eq!(first["mended"], true);
    let further = first["further"].as_array().expect("a list");
    assert_eq!(further.len(), 1);
    assert_eq!(further[0]["field"], "channels");
    assert_eq!(further[0]["fix"], json!(["drop capsfilter1"]));
    assert_eq!(further[0]["mended"], true);
    assert!(further[0].get("further").is_none());
    // Several fields together have no single one.
    let told = report("capssrc caps=\"a/x,f=A,g=1; a/x,f=B,g=2\" ! capssink caps=a/x,f=A,g=2");
    assert_eq!(told["conflict"]["field"], Json::Null);
    assert_eq!(told["conflict"]["fields"], json!(["f", "g"]));
}

#[test]
fn other_outcomes() {
    let mut limits = Limits::default();
    limits.set(Limit::CapsWork, 1_000).expect("in range");
    let mut engine = Engine::with_options(EngineOptions {
        limits,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let rows: Vec<String> = (0..9)
        .map(|i| format!("a/x,f={i} -> a/x,f={}", (i * 2) % 9))
        .collect();
    let map = format!("capsmap map=\"{}\" ! ", rows.join(" | "));
    let text = format!("capssrc ! {} capssink", map.repeat(50));
    let pipeline = launch(&mut engine, &text);
    let told = PlanReport::of(&engine.plan(pipeline));
    assert_eq!(told.verdict, "limit");
    assert!(told.conflict.is_none());
    assert!(told.error.is_some_and(|e| e.contains("caps-work=1000")));
    // A graph that is not whole.
    let mut engine = negotiating::engine();
    let pipeline = launch(&mut engine, "capssrc ! identity");
    let told = PlanReport::of(&engine.plan(pipeline));
    assert_eq!(told.verdict, "failed");
    assert!(told.conflict.is_none() && told.error.is_some());
}

#[test]
fn a_trace_says_what_was_asked_answered_and_chosen() {
    let mut engine = engine();
    let text = "capssrc caps=\"a/x,f={1,2}\" ! queue ! capsmap map=\"a/x,f=1 -> a/y,g={5,6} | a/x,f=2 -> a/y,g=7\" \
                ! capssink caps=\"a/y,g=[6,9]\"";
    let pipeline = launch(&mut engine, text);
    let trace = engine.trace_negotiation(pipeline).expect("a trace");
    let trace: Vec<[String; 5]> = trace
        .into_iter()
        .map(|t| {
            [
                t.from,
                t.to,
                t.asked,
                t.answered,
                t.chosen.unwrap_or_default(),
            ]
        })
        .collect();
    assert_eq!(
        trace,
        [
            [
                "capssrc0.src",
                "queue0.sink",
                "a/x,f={1,2}",
                "a/x,f={1,2}",
                "a/x,f=1"
            ],
            [
                "queue0.src",
                "capsmap0.sink",
                "a/x,f={1,2}",
                "a/x,f={1,2}",
                "a/x,f=1"
            ],
            [
                "capsmap0.src",
                "capssink0.sink",
                "a/y,g={5,6,7}",
                "a/y,g=[6,9]",
                "a/y,g=6"
            ],
        ]
        .map(|link| link.map(str::to_owned))
    );
    // Without an answer too: nothing was chosen.
    let mut engine = negotiating::engine();
    let pipeline = launch(
        &mut engine,
        "capssrc caps=a/x,f={1,2} ! queue ! capssink caps=a/x,f=3",
    );
    for link in engine.trace_negotiation(pipeline).expect("a trace") {
        assert_eq!(
            (link.asked.as_str(), link.answered.as_str()),
            ("a/x,f={1,2}", "a/x,f=3")
        );
        assert_eq!(link.chosen, None);
    }
    // A filter and a tee: what upstream has by then, and what all that follows takes.
    let mut engine = negotiating::engine();
    let pipeline = launch(
        &mut engine,
        "capssrc caps=a/x,f=[1,9] ! a/x,f=[3,20] ! tee name=t t. ! capssink caps=a/x,f=[1,7] t. ! capssink caps=a/x,f=[5,30]",
    );
    let trace = engine.trace_negotiation(pipeline).expect("a trace");
    let at = |from: &str| trace.iter().find(|t| t.from == from).expect("a link");
    let first = at("capssrc0.src");
    assert_eq!(
        (first.asked.as_str(), first.answered.as_str()),
        ("a/x,f=[1,9]", "a/x,f=[5,7]")
    );
    let second = at("capsfilter0.src");
    assert_eq!(
        (second.asked.as_str(), second.answered.as_str()),
        ("a/x,f=[3,9]", "a/x,f=[5,7]")
    );
    let branch = at("t.src_1");
    assert_eq!(
        (branch.asked.as_str(), branch.answered.as_str()),
        ("a/x,f=[3,9]", "a/x,f=[5,30]")
    );
    assert!(trace.iter().all(|t| t.chosen.as_deref() == Some("a/x,f=5")));
}
