//! A search that comes to one of its limits answers with that limit, never with "none": nobody says
//! that a graph has no caps unless that was found.

mod negotiating;

use negotiating::{all_caps, launch, run};
use tickpipe::{Engine, EngineOptions, Limit, Plan, PlanError, PlanReport};

fn engine_with(limits: &[(Limit, u64)]) -> Engine {
    let mut options = EngineOptions::default();
    for &(limit, value) in limits {
        options.limits.set(limit, value).expect("in range");
    }
    Engine::with_options(options).expect("an engine")
}

fn plan_within(limits: &[(Limit, u64)], text: &str) -> Result<Plan, PlanError> {
    let mut engine = engine_with(limits);
    let pipeline = launch(&mut engine, text);
    engine.plan(pipeline)
}

fn plan(text: &str) -> Result<Plan, PlanError> {
    plan_within(&[], text)
}

/// The limit that an outcome names.
fn limit_of(outcome: &Result<Plan, PlanError>) -> String {
    match outcome {
        Err(error @ PlanError::Limit(_)) => {
            assert_eq!(PlanReport::of(outcome).verdict, "limit");
            assert!(PlanReport::of(outcome).conflict.is_none());
            error.to_string()
        }
        other => panic!("no limit: {other:?}"),
    }
}

/// Converters that each turn one of eleven values into two others, each by a table of its own.
fn tangle(length: usize) -> String {
    let map = |n: usize| {
        let rows: Vec<String> = (0..11)
            .map(|i| {
                let (a, b) = ((i * (n % 9 + 1) + n) % 11, (i * (n % 7 + 2) + 3) % 11);
                format!("t/x,f={i} -> t/x,f={{{a},{b}}}")
            })
            .collect();
        format!("capsmap map=\"{}\" ! ", rows.join(" | "))
    };
    let maps: String = (0..length).map(map).collect();
    format!("capssrc caps=\"t/x,f={{0,1,2}}\" ! {maps} capssink caps=\"t/x,f={{3,4,5}}\"")
}

#[test]
fn the_limit_of_work() {
    let text = tangle(40);
    let want = all_caps(&plan(&text).expect("a plan"));
    let mut limited = 0;
    for work in [
        1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 100_000, 1_000_000,
    ] {
        let outcome = plan_within(&[(Limit::CapsWork, work)], &text);
        match &outcome {
            Ok(plan) => assert_eq!(all_caps(plan), want, "work {work}"),
            outcome => {
                let told = limit_of(outcome);
                assert!(
                    told.contains(&format!("the limit caps-work={work}")),
                    "{told}"
                );
                limited += 1;
            }
        }
    }
    assert!(limited > 0);
    // A run that comes to the limit has not found that there is none either.
    let mut engine = engine_with(&[(Limit::CapsWork, 1_000)]);
    let pipeline = launch(&mut engine, &text);
    let report = run(&mut engine, pipeline);
    assert_eq!(report.verdict.name(), "failed");
    assert!(report.conflict.is_none());
}

#[test]
fn the_limit_of_rows() {
    // Forty pairs that are no product: a relation has to have as many rows.
    let pairs: Vec<String> = (0..40)
        .map(|i| format!("t/x,f={i},g={}", (i * 7) % 40))
        .collect();
    let map: Vec<String> = (0..40)
        .map(|i| format!("t/x,f={i} -> t/x,f={}", (i * 3 + 1) % 40))
        .collect();
    let text = format!(
        "capssrc caps=\"{}\" ! tee name=t t. ! capsmap map=\"{}\" ! f. t. ! capsmap map=\"{}\" ! f. \
         funnel name=f ! capssink caps=\"t/x,g={{7,14}}\"",
        pairs.join("; "),
        map.join(" | "),
        map.join(" | ")
    );
    let want = all_caps(&plan(&text).expect("a plan"));
    assert!(want[0].contains("f=1"), "{want:?}");
    let told = limit_of(&plan_within(&[(Limit::CapsRows, 16)], &text));
    assert!(told.contains("the limit caps-rows=16"), "{told}");
}

#[test]
fn with_small_limits_there_is_never_none() {
    // The answer is there; whatever the limits are, nobody says that it is not.
    for length in [1, 3, 8] {
        let text = tangle(length);
        let want = all_caps(&plan(&text).expect("a plan"));
        for rows in [16, 17, 64] {
            for work in [1_000, 4_000, 40_000] {
                let limits = [(Limit::CapsRows, rows), (Limit::CapsWork, work)];
                match plan_within(&limits, &text) {
                    Ok(plan) => assert_eq!(all_caps(&plan), want),
                    outcome => drop(limit_of(&outcome)),
                }
            }
        }
    }
}

#[test]
fn a_graph_without_an_answer_has_none_or_a_limit() {
    // With enough of everything the cause is found; with less it is that or a limit, and what is
    // told of a cause is true.
    let text = tangle(6).replace("capssink caps=\"t/x,f={3,4,5}\"", "capssink caps=t/x,f=77");
    let Err(PlanError::Conflict(want)) = plan(&text) else {
        panic!("it has none");
    };
    assert_eq!(want.conflicts[0].field(), Some("f"));
    for work in [1_000, 2_000, 5_000, 20_000, 100_000] {
        match plan_within(&[(Limit::CapsWork, work)], &text) {
            Err(PlanError::Conflict(failure)) => {
                let sides = &failure.conflicts[0].sides;
                assert!(sides.iter().any(|s| s.pad == "capssink0.sink"), "{failure}");
            }
            outcome => drop(limit_of(&outcome)),
        }
    }
}

/// So many names of fields that rows could not number them are refused, not counted wrong.
#[test]
fn the_limit_of_names() {
    let structures = |from: usize| {
        let one = |s: usize| {
            let fields = (0..10).map(|f| format!(",n{}=1", from + s * 10 + f));
            format!("x/y{}", fields.collect::<String>())
        };
        let all: Vec<String> = (0..250).map(one).collect();
        all.join(";")
    };
    let text = format!(
        "capssrc caps=\"{}\" ! capssink caps=\"{}\"",
        structures(0),
        structures(2_500)
    );
    let mut engine = tickpipe::Engine::new().expect("an engine");
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    let error = engine.plan(pipeline).expect_err("too many names");
    assert_eq!(
        error.to_string(),
        "5002 names of fields in one graph are past the limit caps-names=4096"
    );
}
