//! Runs a launch line and prints the report: `cargo run -p tickpipe --example run_line -- 'videotestsrc ! fakesink'`.

use tickpipe::{Engine, EngineOptions, RunOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "videotestsrc num-buffers=9 ! fakesink".to_owned());
    let mut engine = Engine::with_options(EngineOptions::default())?;
    let pipeline = match engine.launch("main", &text) {
        Ok((pipeline, warnings)) => {
            warnings.iter().for_each(|w| eprintln!("{w}"));
            pipeline
        }
        Err(error) => {
            eprintln!("{}", error.render(&text));
            std::process::exit(2);
        }
    };
    match engine.plan(pipeline) {
        Ok(plan) => println!("{plan}"),
        Err(error) => println!("{error}"),
    }
    let options = RunOptions {
        digests: true,
        record: true,
        ..RunOptions::default()
    };
    let report = engine.run(pipeline, &options, &mut ());
    println!("{}", report.to_json());
    Ok(())
}
