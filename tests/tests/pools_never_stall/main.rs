//! Random graphs with pools of random bounds and elements that hold: either the planner refuses, with
//! a sum that is right, or the run finishes and every buffer is home. Also where every pool has just
//! what it needs, and links are as short as they can be.
//!
//! `TICKPIPE_GRAPHS=20000` looks at so many graphs in place of a few hundred, from the seed
//! `TICKPIPE_SEED` on, or 0. A failure prints the seed and the launch text, made smaller.

mod graph;
#[path = "../negotiation_against_exhaustive/random.rs"]
#[allow(dead_code, reason = "another test uses all of it")]
mod random;

use graph::Graph;
use random::Random;
use tickpipe::{Engine, EngineOptions, Limits, PipelineHandle, PlanError, RunOptions, Verdict};

/// What a graph showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Refused,
    Ran,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn engine(seed: u64) -> Engine {
    let mut random = Random::new(seed ^ 0x51);
    let mut limits = Limits::default();
    let mut set = |name, value: usize| limits.set_named(name, value as u64).expect("in range");
    set("quantum", random.between(1, 5));
    if random.chance(60) {
        set("link-buffers", random.between(1, 3));
    }
    if random.chance(30) {
        set("pool-slack-bytes", 0);
    }
    Engine::with_options(EngineOptions {
        limits,
        ..EngineOptions::default()
    })
    .expect("an engine")
}

/// Runs a graph to its end; what is wrong, if anything is.
fn run(engine: &mut Engine, pipeline: PipelineHandle) -> Result<(), String> {
    let options = RunOptions {
        max_ticks: Some(100_000),
        ..RunOptions::default()
    };
    let mut balance = Balance::default();
    let report = engine.run(pipeline, &options, &mut balance);
    if report.verdict != Verdict::Done {
        return Err(format!("{:?} at tick {}", report.verdict, report.ticks));
    }
    match balance.out {
        0 => Ok(()),
        out => Err(format!("{out} buffers are out at the end")),
    }
}

/// Buffers that are out after the last tick.
#[derive(Default)]
struct Balance {
    out: u32,
}

impl tickpipe::Observer for Balance {
    fn tick(&mut self, p: &tickpipe::components::fabric::PipelineFabric) {
        self.out = p.buffers.pools.iter().map(|pool| pool.out()).sum();
    }
}

/// The terms of a sum such as `a 1 + b 4 waiting for c.sink`, added up.
fn added_up(arithmetic: &str) -> Option<u64> {
    let arithmetic = arithmetic.split(", and at least").next()?;
    let mut sum = 0;
    for term in arithmetic.split(" + ") {
        sum += term.split(' ').nth(1)?.parse::<u64>().ok()?;
    }
    Some(sum)
}

/// Whether the sum of a refused pool is right: its terms make it, it is beyond what is allowed, and
/// it has all that is declared.
fn right_refusal(graph: &Graph, error: &PlanError) -> Result<(), String> {
    let text = error.to_string();
    let parts = || {
        let (_, rest) = text.split_once("pool ")?;
        let (name, rest) = rest.split_once(" needs ")?;
        let (need, rest) = rest.split_once(" buffers (")?;
        let (arithmetic, rest) = rest.split_once(") and may have ")?;
        let max = rest.split(' ').next()?.parse::<u64>().ok()?;
        Some((name, need.parse::<u64>().ok()?, arithmetic, max))
    };
    let Some((name, need, arithmetic, max)) = parts() else {
        return Err(format!("no refusal with a sum: {text}"));
    };
    let owner = name.trim_end_matches(".src");
    if added_up(arithmetic) != Some(need) {
        return Err(format!("the terms do not make the sum: {text}"));
    }
    if need <= max {
        return Err(format!("the sum is not beyond the bound: {text}"));
    }
    let declared = graph.declared(owner);
    if need < declared || (!graph.forks() && need > declared) {
        return Err(format!("{declared} are declared: {text}"));
    }
    Ok(())
}

/// Looks at a graph: as it is, and with each pool at what it needs.
fn check(graph: &Graph, seed: u64) -> Result<Seen, String> {
    let text = graph.text();
    let mut tight = engine(seed);
    let (pipeline, _) = tight.launch("main", &text).map_err(|e| e.render(&text))?;
    let seen = match tight.plan(pipeline) {
        Err(error) => {
            right_refusal(graph, &error)?;
            let mut run = engine(seed);
            let (pipeline, _) = run.launch("main", &text).map_err(|e| e.render(&text))?;
            let report = run.run(pipeline, &RunOptions::default(), &mut ());
            if report.verdict != Verdict::Failed {
                return Err(format!("refused, and ran: {:?}", report.verdict));
            }
            Seen::Refused
        }
        Ok(_) => {
            run(&mut tight, pipeline)?;
            Seen::Ran
        }
    };
    // Without bounds, for what is needed; then with just that.
    let text = graph.unbounded().text();
    let mut tight = engine(seed);
    let (pipeline, _) = tight.launch("main", &text).map_err(|e| e.render(&text))?;
    let plan = tight
        .plan(pipeline)
        .map_err(|e| format!("unbounded: {e}"))?;
    for pool in &plan.pools {
        let owner = pool.name.trim_end_matches(".src");
        let element = tight.element(pipeline, owner).expect("the owner");
        let need = pool.need().to_string();
        tight
            .set_text(element, "max-buffers", &need)
            .expect("a bound");
        if pool.need() < graph.declared(owner) as u32 {
            return Err(format!(
                "pool {} does not count all that is declared",
                pool.name
            ));
        }
    }
    tight
        .plan(pipeline)
        .map_err(|e| format!("with what is needed: {e}"))?;
    run(&mut tight, pipeline).map_err(|e| format!("with what is needed: {e}"))?;
    // A second run equals the first.
    run(&mut tight, pipeline).map_err(|e| format!("for the second time: {e}"))?;
    Ok(seen)
}

/// Makes a failing graph smaller while it fails.
fn shrink(graph: &Graph, seed: u64, what: String) -> (Graph, String) {
    let mut best = (graph.clone(), what);
    'again: loop {
        for smaller in best.0.smaller() {
            if let Err(what) = check(&smaller, seed) {
                best = (smaller, what);
                continue 'again;
            }
        }
        return best;
    }
}

#[test]
fn a_planned_graph_never_stalls() {
    let from = number("TICKPIPE_SEED").unwrap_or(0);
    let count = number("TICKPIPE_GRAPHS").unwrap_or(if cfg!(debug_assertions) { 250 } else { 600 });
    let (mut refused, mut ran, mut wrong) = (0, 0, Vec::new());
    for seed in from..from + count {
        let graph = Graph::random(&mut Random::new(seed));
        match check(&graph, seed) {
            Ok(Seen::Refused) => refused += 1,
            Ok(Seen::Ran) => ran += 1,
            Err(what) => wrong.push((seed, graph, what)),
        }
    }
    println!("{count} graphs: {ran} ran, {refused} were refused");
    wrong.sort_by_key(|w| w.1.text().len());
    let total = wrong.len();
    let told = wrong.into_iter().take(3).map(|(seed, graph, what)| {
        let (graph, what) = shrink(&graph, seed, what);
        format!("- seed {seed}: {what}\n  {}\n", graph.text())
    });
    let told: String = told.collect();
    assert!(told.is_empty(), "{total} of {count}:\n{told}");
    assert!(
        refused * 20 > count && ran * 4 > count,
        "{refused} refused, {ran} ran"
    );
}
