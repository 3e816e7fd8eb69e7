//! Suite `framesync`: which frames FFmpeg's synchronised filters put together.

use super::form::{ConformError, Node};
use super::{Answered, Suite, Tally, Verdict, differs, lists};
use serde_json::{Map, Value as Json, json};
use std::str::FromStr;
use tickpipe_components::id::BufferId;
use tickpipe_components::sync::{
    EofAction, Extend, OutBase, SyncError, SyncOptions, SyncRecord, SyncRule, SyncStep, SyncTerms,
    Synchroniser, TsSyncMode, Untimed, Upcoming,
};
use tickpipe_components::time::TimeBase;

pub(super) const SUITE: Suite = Suite {
    name: "framesync",
    about: "FFmpeg's synchronised filters: the frames of each output, `cases`",
    answer,
};

fn answer(file: &mut Json) -> Result<Tally, ConformError> {
    lists(file, &[("cases", case)])
}

/// The most inputs of a case.
const MAX_INPUTS: usize = 1024;

/// An input: its time base and stamps.
struct Stamps {
    time_base: TimeBase,
    pts: Vec<Option<i64>>,
}

/// What the synchroniser made of a case.
struct Made {
    common: TimeBase,
    out: TimeBase,
    sets: Vec<SyncRecord>,
    events: Vec<i64>,
}

fn case(case: &Node) -> Result<Answered, ConformError> {
    let inputs = stamps(&case.field("inputs")?)?;
    let terms = terms(case, inputs.len())?;
    let made = run(&terms, &inputs);
    let ours = match &made {
        Ok(made) => json!({"time_base": base(made.out), "frames": frames(made)}),
        Err(error) => json!({"error": error.to_string()}),
    };
    let mut wrong = Vec::new();
    let mut has_answer = false;
    if let Some(given) = case.answer("expected") {
        has_answer = true;
        wrong.extend(unlike(&given, &made)?);
    }
    let resolved = rules(&terms.resolved());
    if let Some(given) = case.answer("resolved") {
        has_answer = true;
        if *given.json != resolved {
            let (want, got) = (given.json.to_string(), resolved.to_string());
            wrong.push(differs("resolved", &want, &got));
        }
    }
    let mut fields = vec![("resolved", resolved), ("expected", ours)];
    let mut without: &[&str] = &["events"];
    let apart = made.as_ref().ok().filter(|m| m.common != m.out);
    if let Some(made) = apart {
        let times: Vec<Json> = made.events.iter().map(|&t| stamp(t)).collect();
        let events = json!({"time_base": base(made.common), "pts": times});
        if let Some(given) = case.answer("events") {
            has_answer = true;
            if *given.json != events {
                let (want, got) = (given.json.to_string(), events.to_string());
                wrong.push(differs("events", &want, &got));
            }
        }
        fields.push(("events", events));
        without = &[];
    }
    Ok(Answered {
        without,
        verdict: Verdict::of(wrong, has_answer),
        fields,
    })
}

/// What a case's `expected` has that was not made.
fn unlike(given: &Node, made: &Result<Made, SyncError>) -> Result<Option<String>, ConformError> {
    let error = given.get("error").is_some();
    let made = match (made, error) {
        (Err(_), true) => return Ok(None),
        (Err(got), false) => return Ok(Some(differs("expected", "frames", &got.to_string()))),
        (Ok(made), true) => {
            let got = format!("{} frames", made.sets.len());
            return Ok(Some(differs("expected", "an error", &got)));
        }
        (Ok(made), false) => made,
    };
    let out = time_base(&given.field("time_base")?)?;
    if out != made.out {
        let (want, got) = (out.to_string(), made.out.to_string());
        return Ok(Some(differs("time_base", &want, &got)));
    }
    let frames_node = given.field("frames")?;
    let want = frames_node.list()?;
    let got = frames(made);
    let first = want.iter().zip(&got).position(|(a, b)| a != b);
    let shown =
        |list: &[Json], at: usize| list.get(at).map_or("the end".to_owned(), Json::to_string);
    let at = first.or((want.len() != got.len()).then(|| want.len().min(got.len())));
    Ok(at.map(|at| {
        let what = format!("frames[{at}] of {}", want.len());
        differs(&what, &shown(want, at), &shown(&got, at))
    }))
}

/// Feeds the synchroniser what it asks for, until it has no more.
fn run(terms: &SyncTerms, inputs: &[Stamps]) -> Result<Made, SyncError> {
    let bases: Vec<TimeBase> = inputs.iter().map(|i| i.time_base).collect();
    let mut sync = Synchroniser::new(terms.clone(), &bases, 1)?;
    sync.records = Some(Vec::new());
    let mut fed = vec![0; inputs.len()];
    let mut events = Vec::new();
    loop {
        let upcoming = |k: usize| match inputs[k].pts.get(fed[k]) {
            Some(&pts) => Upcoming::Frame(pts, inputs[k].time_base),
            None => Upcoming::End,
        };
        let step = sync.step(upcoming, |_| {}, |_| {});
        match step {
            SyncStep::Set => {
                sync.sets.clear();
                events.push(sync.now());
            }
            SyncStep::End => break,
            SyncStep::Wait(k) => match inputs[k].pts.get(fed[k]) {
                Some(&pts) => {
                    fed[k] += 1;
                    sync.offer(k, BufferId(0), pts, None, inputs[k].time_base)?;
                }
                None => sync.end(k),
            },
        }
    }
    match sync.error {
        Some(error) => Err(error),
        None => Ok(Made {
            common: sync.time_base,
            out: sync.out_base,
            sets: sync.records.unwrap_or_default(),
            events,
        }),
    }
}

fn stamp(time: i64) -> Json {
    match time <= -i64::MAX {
        true => Json::Null,
        false => json!(time),
    }
}

fn base(base: TimeBase) -> Json {
    json!([base.num(), base.den()])
}

fn frames(made: &Made) -> Vec<Json> {
    let frame = |set: &SyncRecord| json!([stamp(set.pts), set.indexes.to_vec()]);
    made.sets.iter().map(frame).collect()
}

const fn word(extend: Extend) -> &'static str {
    match extend {
        Extend::Stop => "stop",
        Extend::Null => "null",
        Extend::Infinity => "inf",
    }
}

fn rules(rules: &[SyncRule]) -> Json {
    let before: Vec<&str> = rules.iter().map(|r| word(r.before)).collect();
    let after: Vec<&str> = rules.iter().map(|r| word(r.after)).collect();
    let sync: Vec<u32> = rules.iter().map(|r| r.sync).collect();
    json!({"sync": sync, "before": before, "after": after})
}

fn time_base(node: &Node) -> Result<TimeBase, ConformError> {
    let part = |i: usize| match node.item(i) {
        Some(part) => part.whole(1, i32::MAX.into()),
        None => Err(node.wrong("a time base: [numerator, denominator]")),
    };
    let (num, den) = (part(0)?, part(1)?);
    let parts = u32::try_from(num).ok().zip(u32::try_from(den).ok());
    let base = parts.and_then(|(num, den)| TimeBase::new(num, den));
    base.filter(|_| node.list().is_ok_and(|l| l.len() == 2))
        .ok_or_else(|| node.wrong("a time base: [numerator, denominator]"))
}

fn stamps(node: &Node) -> Result<Vec<Stamps>, ConformError> {
    let count = node.list()?.len();
    if count == 0 || count > MAX_INPUTS {
        return Err(node.wrong(format!("a list of 1 to {MAX_INPUTS} inputs")));
    }
    let input = |i: usize| {
        let input = node.item(i).ok_or_else(|| node.wrong("an input"))?;
        let pts = input.field("pts")?;
        let stamp = |i: usize| match pts.item(i) {
            Some(stamp) if stamp.json.is_null() => Ok(None),
            Some(stamp) => stamp.whole(-i64::MAX, i64::MAX).map(Some),
            None => Ok(None),
        };
        Ok(Stamps {
            time_base: time_base(&input.field("time_base")?)?,
            pts: (0..pts.list()?.len())
                .map(stamp)
                .collect::<Result<_, _>>()?,
        })
    };
    (0..count).map(input).collect()
}

fn terms(case: &Node, inputs: usize) -> Result<SyncTerms, ConformError> {
    let options = match case.answer("options") {
        Some(node) => options(&node)?,
        None => SyncOptions::default(),
    };
    let filter = case.answer("filter").map(|f| f.text()).transpose()?;
    let rules = match case.answer("config") {
        Some(config) => config_rules(&config, inputs)?,
        None => filter
            .and_then(|name| filter_rules(name, inputs, case, &options))
            .ok_or_else(|| {
                case.wrong("an object with `config`, or with a `filter` that is known")
            })?,
    };
    Ok(SyncTerms {
        rules: rules.into(),
        options,
        out: filter.map_or(OutBase::Common, out_base),
        preset: None,
        strict: false,
        untimed: Untimed::First,
    })
}

/// In which time base a filter writes (FFmpeg: overlay and others state it in that of their main
/// input).
fn out_base(filter: &str) -> OutBase {
    const FIRST: &[&str] = &[
        "alphamerge",
        "bm3d",
        "convolve",
        "deconvolve",
        "haldclut",
        "libvmaf",
        "mergeplanes",
        "paletteuse",
        "premultiply",
        "unpremultiply",
        "vif",
        "xcorrelate",
    ];
    match FIRST.contains(&filter) || filter.starts_with("overlay") {
        true => OutBase::First,
        false => OutBase::Common,
    }
}

/// What a filter asks for, where the case does not say.
fn filter_rules(
    filter: &str,
    inputs: usize,
    case: &Node,
    options: &SyncOptions,
) -> Option<Vec<SyncRule>> {
    use Extend::{Infinity, Null, Stop};
    let dual = |before: Extend, main: Extend, second: Extend| {
        let rules = [
            SyncRule::new(2, Stop, main),
            SyncRule::new(1, before, second),
        ];
        (inputs == 2).then(|| rules.to_vec())
    };
    let equal = |after: &dyn Fn(usize) -> Extend| {
        let rule = |k: usize| SyncRule::new(1, Stop, after(k));
        Some((0..inputs).map(rule).collect())
    };
    let duration = || {
        case.get("options")?
            .get("duration")?
            .json
            .as_str()
            .map(str::to_owned)
    };
    match filter {
        name if name.starts_with("overlay") => dual(Null, Infinity, Infinity),
        "alphamerge" | "blend" | "psnr" | "ssim" | "identity" | "msad" | "morpho" | "varblur"
        | "libvmaf" | "convolve" | "deconvolve" | "xcorrelate" | "haldclut" => {
            dual(Null, Infinity, Infinity)
        }
        "vif" => dual(Stop, Stop, Stop),
        "lut2" => dual(Stop, Infinity, Infinity),
        "paletteuse" => dual(Infinity, Infinity, Infinity),
        "hstack" | "vstack" | "xstack" => match options.shortest {
            true => equal(&|_| Stop),
            false => equal(&|_| Infinity),
        },
        "mix" => match duration().as_deref() {
            Some("shortest") => equal(&|_| Stop),
            Some("first") => equal(&|k| if k == 0 { Stop } else { Infinity }),
            _ => equal(&|_| Infinity),
        },
        "maskedmerge" | "maskedclamp" | "maskedmin" | "maskedmax" | "maskedthreshold"
        | "multiply" | "midequalizer" | "limitdiff" | "colormap" | "hysteresis" | "xmedian"
        | "premultiply" | "unpremultiply" => equal(&|_| Infinity),
        "threshold" | "mergeplanes" | "streamselect" | "bm3d" => equal(&|_| Stop),
        _ => None,
    }
}

fn config_rules(config: &Node, inputs: usize) -> Result<Vec<SyncRule>, ConformError> {
    let lists = [
        config.field("sync")?,
        config.field("before")?,
        config.field("after")?,
    ];
    let [sync, before, after] = &lists;
    for list in &lists {
        if list.list()?.len() != inputs {
            return Err(list.wrong(format!("a list of {inputs}, one for each input")));
        }
    }
    let extend = |list: &Node, k: usize| {
        let node = list.item(k).ok_or_else(|| list.wrong("a word"))?;
        match node.text()? {
            "stop" => Ok(Extend::Stop),
            "null" => Ok(Extend::Null),
            "inf" | "infinity" => Ok(Extend::Infinity),
            _ => Err(node.wrong("stop, null or inf")),
        }
    };
    let rule = |k: usize| {
        let level = sync.item(k).ok_or_else(|| sync.wrong("a level"))?;
        let level = level.whole(0, u32::MAX.into())?;
        Ok(SyncRule {
            sync: u32::try_from(level).unwrap_or(u32::MAX),
            before: extend(before, k)?,
            after: extend(after, k)?,
        })
    };
    (0..inputs).map(rule).collect()
}

/// Options as they were given to the program; `_` and `-` are the same.
fn options(node: &Node) -> Result<SyncOptions, ConformError> {
    let mut options = SyncOptions::default();
    let given: &Map<String, Json> = node.object()?;
    for key in given.keys() {
        let Some(value) = node.answer(key) else {
            continue;
        };
        match key.replace('-', "_").as_str() {
            "shortest" => options.shortest = truth(&value)?,
            "repeatlast" => options.repeatlast = truth(&value)?,
            "eof_action" => options.eof_action = named::<EofAction>(&value)?,
            "ts_sync_mode" => options.ts_sync_mode = named::<TsSyncMode>(&value)?,
            // An option of the filter's own: `config` has what it does.
            _ => {}
        }
    }
    Ok(options)
}

/// A truth, also as FFmpeg writes it on a command line.
fn truth(node: &Node) -> Result<bool, ConformError> {
    match (node.json.as_i64(), node.json.as_str()) {
        (Some(0), _) | (_, Some("0" | "false")) => Ok(false),
        (Some(1), _) | (_, Some("1" | "true")) => Ok(true),
        _ => node.truth(),
    }
}

fn named<T: FromStr<Err: std::fmt::Display>>(node: &Node) -> Result<T, ConformError> {
    let text = node.text()?;
    text.parse()
        .map_err(|error: T::Err| node.wrong(error.to_string()))
}
