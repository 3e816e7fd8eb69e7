//! What it takes until a graph can run: building it, negotiating its caps, and from READY to
//! PAUSED; and single caps operations. GStreamer and libavfilter do the same beside it, where they
//! are installed.
//!
//! `cargo bench -p tickpipe-benches --bench negotiation [-- --quick]`
//!
//! Each figure is taken five times, in turn with the peers, each graph in a new engine that is not
//! measured (`gst_init` and the loading of plugins are not either). Printed are medians, with the
//! lowest and highest of what counts: `build` is elements made, added and linked; `plan` is
//! [`Engine::plan`]; `to PAUSED` is the change of state without `plan` before it. GStreamer is
//! PAUSED when its first buffer waits at the sink; here the caps, pools and lanes are made then, and
//! the first buffer is on its way. A bar is an upper limit for the first row.
//!
//! The peers are the programs in `benches/peers`, built here with `cc` and `pkg-config`.

#[path = "negotiation/peer.rs"]
mod peer;

use peer::Peer;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use tickpipe::components::caps::{Caps, CapsParseError};
use tickpipe::{ElementHandle, Engine, PipelineHandle, State};

const RUNS: usize = 5;

/// What is measured, in seconds: the parts of a sum.
type Seconds = Result<Vec<f64>, Box<dyn Error>>;

/// Who is measured, and how.
struct Row<'a> {
    who: String,
    parts: &'static [&'static str],
    measure: Box<dyn Fn() -> Seconds + 'a>,
}

impl<'a> Row<'a> {
    fn new(
        who: impl Into<String>,
        parts: &'static [&'static str],
        measure: impl Fn() -> Seconds + 'a,
    ) -> Row<'a> {
        Row {
            who: who.into(),
            parts,
            measure: Box::new(measure),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let quick = arguments.iter().any(|a| a == "--quick");
    // One graph alone, for a profiler: `--one identities|converters|tee N TIMES [paused]`.
    if let Some(at) = arguments.iter().position(|a| a == "--one") {
        let word = |i: usize| arguments.get(at + i).map_or("", String::as_str);
        let graph = match word(1) {
            "converters" => converters,
            "tee" => tee,
            _ => identities,
        };
        let size = word(2).parse().unwrap_or(1_000);
        for _ in 0..word(3).parse().unwrap_or(1) {
            let parts = match word(4) {
                "paused" => paused(graph, size)?,
                _ => planned(graph, size)?,
            };
            println!("build {}, then {}", time(parts[0]), time(parts[1]));
        }
        return Ok(());
    }
    println!("tickpipe {}; load {}", env!("CARGO_PKG_VERSION"), load());
    let gstreamer = Peer::build("negotiation", &["gstreamer-1.0"], "GStreamer");
    let libav = Peer::build(
        "negotiation_av",
        &["libavfilter", "libavutil"],
        "libavfilter",
    );
    let (gstreamer, libav) = (gstreamer.as_ref(), libav.as_ref());

    let title = "chain of 1,000 identity";
    let mut rows = start_up(identities, 1_000);
    rows.extend(peer_start(gstreamer, &["chain", "identity", "1000"]));
    rows.extend(peer_start(libav, &["chain", "null", "1000"]));
    figure(title, rows, Some(3e-3));
    if !quick {
        let mut rows = start_up(identities, 100_000);
        rows.extend(peer_start(libav, &["chain", "null", "100000"]));
        figure("chain of 100,000 identity", rows, Some(300e-3));
    }
    let title = "chain of 1,000 converters: videoconvert, videoscale in turn";
    let mut rows = start_up(converters, 1_000);
    rows.extend(peer_start(libav, &["chain", "scale", "1000"]));
    figure(title, rows, Some(13e-3));
    if !quick {
        let title = "chain of 100 converters";
        let mut rows = start_up(converters, 100);
        rows.extend(peer_start(
            gstreamer,
            &["chain", "videoconvert,videoscale", "100"],
        ));
        rows.extend(peer_start(libav, &["chain", "scale", "100"]));
        figure(title, rows, None);
    }
    let title = "tee of 100 branches: queue, videoconvert, one of 4 formats, fakesink";
    let mut rows = start_up(tee, 100);
    rows.extend(peer_start(gstreamer, &["tee", "100"]));
    rows.extend(peer_start(libav, &["split", "100"]));
    figure(title, rows, None);

    let (fixed, formats) = (Caps::parse(FIXED)?, Caps::parse(FORMATS)?);
    let (fixed, formats) = (&fixed.structures()[0], &formats.structures()[0]);
    let mut rows = vec![Row::new("tickpipe", &["a call"], || {
        repeated(100_000, || fixed.intersect(formats))
    })];
    rows.extend(peer_call(gstreamer, &["intersect"]));
    figure(
        "intersection of fixed raw video with ranges and 8 formats",
        rows,
        Some(100e-9),
    );

    let (a, b) = (ranges(30, false)?, ranges(30, true)?);
    let count = |caps: &Caps| caps.structures().len();
    let both = a.intersect(&b)?;
    let mut rows = vec![Row::new(
        format!("tickpipe, all {}", count(&both)),
        &["a call"],
        || repeated(500, || a.intersect(&b)),
    )];
    rows.extend(peer_call(gstreamer, &["lists", "30"]));
    let title = "caps lists, 30 by 30 overlapping ranges, all results";
    figure(title, rows, Some(50e-6));
    let who = format!("tickpipe, {} left", count(&a.intersect_absorbed(&b)?));
    let mut rows = vec![Row::new(who, &["a call"], || {
        repeated(500, || a.intersect_absorbed(&b))
    })];
    rows.extend(peer_call(gstreamer, &["lists", "30"]));
    let title = "the same, what others contain dropped";
    figure(title, rows, Some(15e-6));
    Ok(())
}

/// Takes a figure and prints it.
fn figure(title: &str, rows: Vec<Row>, bar: Option<f64>) {
    println!("\n{title}");
    let mut taken: Vec<Vec<Vec<f64>>> = rows.iter().map(|_| Vec::new()).collect();
    let mut failed: Vec<Option<String>> = rows.iter().map(|_| None).collect();
    for _ in 0..RUNS {
        for (i, row) in rows.iter().enumerate() {
            if failed[i].is_some() {
                continue;
            }
            match (row.measure)() {
                Ok(parts) => taken[i].push(parts),
                Err(error) => failed[i] = Some(error.to_string()),
            }
        }
    }
    let mut first = None;
    for (i, row) in rows.iter().enumerate() {
        if let Some(error) = &failed[i] {
            println!("  {:<28} skipped: {error}", row.who);
            continue;
        }
        let parts = row.parts.iter().enumerate().map(|(p, name)| {
            let of_part = taken[i].iter().map(|parts| parts[p]).collect();
            format!("{name} {}", time(spread(of_part).0))
        });
        let parts: Vec<String> = parts.collect();
        let (median, low, high) = spread(taken[i].iter().map(|p| p.iter().sum()).collect());
        let ratio = match first {
            None => String::new(),
            Some(ours) => format!("; {:.2} times the first row", median / ours),
        };
        if i == 0 {
            first = Some(median);
        }
        println!(
            "  {:<28} {:>9} ({}..{}): {}{ratio}",
            row.who,
            time(median),
            time(low),
            time(high),
            parts.join(" + ")
        );
    }
    if let (Some(bar), Some(ours)) = (bar, first) {
        let met = if ours <= bar { "met" } else { "missed" };
        println!("  bar {}: {met}", time(bar));
    }
}

/// Median, lowest and highest.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    match (values.first(), values.last()) {
        (Some(&low), Some(&high)) => (values[values.len() / 2], low, high),
        _ => (f64::NAN, f64::NAN, f64::NAN),
    }
}

/// A time in the unit that suits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s if s >= 1e-6 => format!("{:.2} us", s * 1e6),
        s => format!("{:.0} ns", s * 1e9),
    }
}

/// The machine's load, as the system tells it.
fn load() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .unwrap_or_else(|_| "unknown".to_owned())
}

/// The mean of many calls.
fn repeated<T>(times: u32, call: impl Fn() -> T) -> Seconds {
    let start = Instant::now();
    for _ in 0..times {
        black_box(call());
    }
    Ok(vec![start.elapsed().as_secs_f64() / f64::from(times)])
}

/// Builds a graph of a size.
type Graph = fn(&mut Engine, usize) -> Result<PipelineHandle, Box<dyn Error>>;

fn start_up<'a>(graph: Graph, size: usize) -> Vec<Row<'a>> {
    vec![
        Row::new("tickpipe, planned", &["build", "plan"], move || {
            planned(graph, size)
        }),
        Row::new("tickpipe, to PAUSED", &["build", "to PAUSED"], move || {
            paused(graph, size)
        }),
    ]
}

fn planned(graph: Graph, size: usize) -> Seconds {
    let mut engine = Engine::new()?;
    let start = Instant::now();
    let pipeline = graph(&mut engine, size)?;
    let built = start.elapsed().as_secs_f64();
    black_box(engine.plan(pipeline)?);
    let all = start.elapsed().as_secs_f64();
    Ok(vec![built, all - built])
}

fn paused(graph: Graph, size: usize) -> Seconds {
    let mut engine = Engine::new()?;
    let start = Instant::now();
    let pipeline = graph(&mut engine, size)?;
    let built = start.elapsed().as_secs_f64();
    engine.set_state(pipeline, State::Paused);
    engine.wait_for_state(pipeline, State::Paused)?;
    let all = start.elapsed().as_secs_f64();
    Ok(vec![built, all - built])
}

fn peer_start<'a>(
    peer: Result<&'a Peer, &'a String>,
    figure: &'static [&'static str],
) -> Vec<Row<'a>> {
    peer_row(peer, figure, &["build", "negotiate"])
}

fn peer_call<'a>(
    peer: Result<&'a Peer, &'a String>,
    figure: &'static [&'static str],
) -> Vec<Row<'a>> {
    peer_row(peer, figure, &["a call"])
}

fn peer_row<'a>(
    peer: Result<&'a Peer, &'a String>,
    figure: &'static [&'static str],
    parts: &'static [&'static str],
) -> Vec<Row<'a>> {
    match peer {
        Ok(peer) => {
            let count = parts.len();
            vec![Row::new(&*peer.version, parts, move || {
                peer.run(figure, count)
            })]
        }
        Err(_) => Vec::new(),
    }
}

/// A graph that is built element by element.
struct Builder<'a> {
    engine: &'a mut Engine,
    pipeline: PipelineHandle,
    next: u32,
}

impl Builder<'_> {
    fn new(engine: &mut Engine) -> Builder<'_> {
        let pipeline = engine.create_pipeline("pipeline");
        Builder {
            engine,
            pipeline,
            next: 0,
        }
    }

    /// Adds an element behind another one.
    fn add(
        &mut self,
        class: &str,
        behind: Option<ElementHandle>,
    ) -> Result<ElementHandle, Box<dyn Error>> {
        let element = self.engine.create(class, self.next)?;
        self.next += 1;
        self.engine.add(self.pipeline, element)?;
        if let Some(before) = behind {
            self.engine.link(before, element)?;
        }
        Ok(element)
    }

    fn add_caps(
        &mut self,
        caps: &str,
        behind: ElementHandle,
    ) -> Result<ElementHandle, Box<dyn Error>> {
        let filter = self.add("capsfilter", Some(behind))?;
        self.engine.set_text(filter, "caps", caps)?;
        Ok(filter)
    }

    fn add_source(&mut self) -> Result<ElementHandle, Box<dyn Error>> {
        let source = self.add("videotestsrc", None)?;
        self.engine.set(source, "num-buffers", 1)?;
        self.add_caps("video/x-raw,format=I420,width=320,height=240", source)
    }
}

fn identities(engine: &mut Engine, count: usize) -> Result<PipelineHandle, Box<dyn Error>> {
    let mut graph = Builder::new(engine);
    let mut last = graph.add_source()?;
    for _ in 0..count {
        last = graph.add("identity", Some(last))?;
    }
    graph.add("fakesink", Some(last))?;
    Ok(graph.pipeline)
}

fn converters(engine: &mut Engine, count: usize) -> Result<PipelineHandle, Box<dyn Error>> {
    let mut graph = Builder::new(engine);
    let mut last = graph.add_source()?;
    for i in 0..count {
        let class = ["videoconvert", "videoscale"][i % 2];
        last = graph.add(class, Some(last))?;
    }
    let last = graph.add_caps("video/x-raw,format=NV12,width=160,height=120", last)?;
    graph.add("fakesink", Some(last))?;
    Ok(graph.pipeline)
}

fn tee(engine: &mut Engine, count: usize) -> Result<PipelineHandle, Box<dyn Error>> {
    let mut graph = Builder::new(engine);
    let source = graph.add_source()?;
    let tee = graph.add("tee", Some(source))?;
    for i in 0..count {
        let queue = graph.add("queue", Some(tee))?;
        let convert = graph.add("videoconvert", Some(queue))?;
        let format = ["NV12", "RGBA", "Y444", "I420"][i % 4];
        let caps = graph.add_caps(&format!("video/x-raw,format={format}"), convert)?;
        graph.add("fakesink", Some(caps))?;
    }
    Ok(graph.pipeline)
}

/// One format of raw video: 8 fields.
const FIXED: &str = "video/x-raw,format=I420,width=1280,height=720,framerate=30/1,\
    interlace-mode=progressive,pixel-aspect-ratio=1/1,colorimetry=bt709,chroma-site=mpeg2";

/// What an element that works on raw video says.
const FORMATS: &str = "video/x-raw,format={I420,YV12,NV12,NV21,RGBA,BGRA,Y42B,Y444},\
    width=[1,32767],height=[1,32767],framerate=[0/1,120/1]";

/// Structures of ranges, of which each meets all others.
fn ranges(count: usize, reversed: bool) -> Result<Caps, CapsParseError> {
    let structure = |i: usize| {
        let k = if reversed { count - 1 - i } else { i };
        let (low, high, rate) = (1 + k, 10_000 - k, 60 + k);
        format!(
            "video/x-raw,format=I420,width=[{low},{high}],height=[{low},{high}],\
             framerate=[0/1,{rate}/1]"
        )
    };
    let structures: Vec<String> = (0..count).map(structure).collect();
    Caps::parse(&structures.join(";"))
}
