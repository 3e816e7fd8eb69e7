//! Makes files of the formats that are parsed, and runs graphs over them: sent in blocks of any size, or
//! read by position. It touches files in the build's own folder.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod blocks;

use std::path::PathBuf;
use tickpipe::components::cut::FourCc;
use tickpipe::components::digest::hash_bytes;
use tickpipe::components::ivf::{FrameHead, Header, Rate};
use tickpipe::{Engine, EngineOptions, PipelineHandle, Report, RunOptions, Script};
use tickpipe_systems::Works;

/// FFmpeg's, see `components/tests`.
pub const VP8: &[u8] = include_bytes!("../../../components/tests/data/media/vp8.ivf");
/// The same.
pub const AV1: &[u8] = include_bytes!("../../../components/tests/data/media/av1.ivf");
/// The same: 16-bit samples.
pub const S16: &[u8] = include_bytes!("../../../components/tests/data/media/s16.wav");
/// The same: a stream, whose header says no length.
pub const STREAM: &[u8] = include_bytes!("../../../components/tests/data/media/stream.wav");
/// The same: motion JPEG and PCM.
pub const MJPEG: &[u8] = include_bytes!("../../../components/tests/data/media/mjpeg.avi");
/// The same: MPEG-4 and MP3.
pub const MP3: &[u8] = include_bytes!("../../../components/tests/data/media/mp3.avi");
/// The same: a baseline JPEG.
pub const JPEG: &[u8] = include_bytes!("../../../components/tests/data/media/base.jpg");
/// The same: a progressive JPEG.
pub const PROGRESSIVE: &[u8] = include_bytes!("../../../components/tests/data/media/prog.jpg");

/// How bytes get to a parser.
#[derive(Clone, Debug, PartialEq)]
pub enum By {
    /// It reads by position.
    Pull,
    /// The same, with requests done in another order, by a seed.
    Shuffled(u32),
    /// Blocks of so many bytes are sent.
    Push(usize),
}

impl By {
    /// The source on a launch line.
    pub fn source(&self, path: &str) -> String {
        match self {
            By::Pull => format!("filesrc location={path}"),
            By::Shuffled(seed) => {
                format!("filesrc location={path} request-order=shuffled request-seed={seed}")
            }
            By::Push(4096) => format!("filesrc location={path} serve=false"),
            By::Push(bytes) => format!("filesrc location={path} serve=false blocksize={bytes}"),
        }
    }
}

/// A file of this test in the build's own folder for such.
pub fn write(name: &str, bytes: &[u8]) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

pub fn engine() -> Engine {
    let mut engine = Engine::with_options(EngineOptions {
        check: Some(true),
        ..EngineOptions::default()
    })
    .expect("an engine");
    engine
        .register::<blocks::Blocks>()
        .expect("a name of its own");
    engine
}

pub fn run(text: &str) -> Report {
    run_and_say(text).0
}

/// Runs a line; what the element that failed says of it.
pub fn run_and_say(text: &str) -> (Report, Option<String>) {
    let mut engine = engine();
    let built = engine.launch("main", text);
    let (pipeline, _) = built.map_err(|e| e.render(text)).expect("a graph");
    let options = RunOptions {
        record: true,
        max_ticks: Some(200_000),
        ..RunOptions::default()
    };
    let mut said = Said(None);
    let report = engine.run_script(pipeline, &options, &mut (), &mut said);
    (report, said.0)
}

/// What the first element that fails says of it.
struct Said(Option<String>);

impl Script for Said {
    fn before(&mut self, _engine: &mut Engine, _pipeline: PipelineHandle, _tick: u64) {}

    fn is_over(&self) -> bool {
        true
    }

    fn after(&mut self, engine: &Engine, _pipeline: PipelineHandle) {
        let works = engine.world().resource::<Works>();
        let slots = works.pipelines.iter().flat_map(|p| &p.slots);
        let mut faults = slots.filter_map(|slot| slot.fault.as_ref());
        if let Some(fault) = faults.next() {
            self.0.get_or_insert_with(|| fault.detail.to_string());
        }
    }
}

/// The text of the error with which a line cannot be planned.
pub fn plan_error(text: &str) -> String {
    let mut engine = engine();
    let (pipeline, _) = engine.launch("main", text).expect("a graph");
    let error = engine.plan(pipeline).expect_err("it cannot be");
    error.to_string()
}

/// The caps of the link that ends at an element's pad.
pub fn caps_at<'r>(report: &'r Report, pad: &str) -> &'r str {
    let link = report.links.iter().find(|l| l.to == pad);
    link.map_or("", |link| &link.caps)
}

/// What a `watch` saw.
pub fn watched(report: &Report) -> Vec<String> {
    let mut watches = report.elements.iter().filter_map(|e| e.watched.as_ref());
    watches.next().expect("a watch").last.clone()
}

/// A frame at a sink: its time, the unit of that, and the hash of its bytes.
pub type Seen = (Option<i64>, String);

/// What arrived at a sink.
pub fn frames(report: &Report, sink: &str) -> Vec<Seen> {
    let sink = report.sinks.iter().find(|s| s.name == sink);
    let sink = sink.unwrap_or_else(|| panic!("no sink"));
    let frame = |f: &tickpipe::FrameReport| (f.pts, f.hash.clone());
    sink.frames.iter().map(frame).collect()
}

/// The hash that a sink tells of these bytes.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", hash_bytes(bytes))
}

/// What arrives at a sink of frames with these times.
pub fn expected<'a>(frames: impl IntoIterator<Item = (Option<i64>, &'a [u8])>) -> Vec<Seen> {
    let frames = frames.into_iter();
    frames.map(|(pts, bytes)| (pts, hash(bytes))).collect()
}

/// Domain and code of the error of an element, if it failed.
pub fn error_of(report: &Report) -> Option<(String, String)> {
    let error = report.messages.iter().find(|m| m.kind == "error")?;
    Some((error.domain.clone()?, error.code.clone()?))
}

/// How often an element told, or counted, something for a reason.
pub fn count(report: &Report, element: &str, reason: &str) -> u64 {
    let element = report.elements.iter().find(|e| e.name == element);
    let told = element.expect("there").occurrences.iter();
    told.filter(|o| o.reason == reason).map(|o| o.count).sum()
}

/// An IVF file at 25 ticks a second.
pub fn ivf(codec: &[u8; 4], frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let header = Header {
        fourcc: FourCc(*codec),
        width: 16,
        height: 16,
        rate: Some(Rate { num: 25, den: 1 }),
        frames: None,
        bytes: 32,
    };
    let mut out = header.to_bytes().to_vec();
    for (pts, frame) in frames {
        let size = frame.len() as u32;
        out.extend(FrameHead { size, pts: *pts }.to_bytes());
        out.extend(frame);
    }
    out
}

/// A chunk: id, size, body, pad byte.
pub fn chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut out = id.to_vec();
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    out.extend(vec![0; body.len() % 2]);
    out
}

/// A list, or a RIFF.
pub fn list(id: &[u8; 4], kind: &[u8; 4], items: &[Vec<u8>]) -> Vec<u8> {
    chunk(id, &[&kind[..], &items.concat()].concat())
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// A stream of an AVI file.
#[derive(Clone, Copy, Debug)]
pub enum Track {
    /// Pictures of 16 by 16 at 25 a second, of a codec and so many bits.
    Video([u8; 4], u16),
    /// The same, of a size.
    Sized([u8; 4], u16, i32, i32),
    /// 16-bit sound of one channel at 8000.
    Pcm,
    /// Sound of another tag, each chunk as long as it says.
    Coded(u16),
    /// Text.
    Text,
    /// Nothing that is known.
    Other,
}

impl Track {
    fn strl(self) -> Vec<u8> {
        let (kind, rate, sample): (&[u8; 4], u32, u32) = match self {
            Track::Video(..) | Track::Sized(..) => (b"vids", 25, 0),
            Track::Pcm => (b"auds", 8000, 2),
            Track::Coded(_) => (b"auds", 100, 0),
            Track::Text => (b"txts", 1000, 0),
            Track::Other => (b"abcd", 25, 0),
        };
        let tail = numbers(&[0, 0, 0, 1, rate, 0, 99, 0, 0, sample, 0, 0]);
        let strh = chunk(b"strh", &[&kind[..], b"????", &tail].concat());
        let picture = |codec: [u8; 4], bits: u16, width: i32, height: i32| {
            let bits = u32::from(bits) << 16 | 1;
            let head = numbers(&[40, width.cast_unsigned(), height.cast_unsigned(), bits]);
            [&head[..], &codec, &numbers(&[0; 5])].concat()
        };
        let sound = |tag: u16, align: u16, bits: u16| {
            let head = [tag, 1].map(u16::to_le_bytes).concat();
            let rates = numbers(&[8000, 8000 * u32::from(align)]);
            [
                &head[..],
                &rates,
                &[align, bits].map(u16::to_le_bytes).concat(),
            ]
            .concat()
        };
        let strf = match self {
            Track::Video(codec, bits) => picture(codec, bits, 16, 16),
            Track::Sized(codec, bits, width, height) => picture(codec, bits, width, height),
            Track::Pcm => sound(1, 2, 16),
            Track::Coded(tag) => sound(tag, 1152, 0),
            Track::Text | Track::Other => Vec::new(),
        };
        list(b"LIST", b"strl", &[strh, chunk(b"strf", &strf)])
    }

    /// The id of its frames.
    pub fn id(self, number: usize) -> [u8; 4] {
        let letters = match self {
            Track::Video([0, ..], _) | Track::Sized([0, ..], ..) => b"db",
            Track::Video(..) | Track::Sized(..) => b"dc",
            Track::Pcm | Track::Coded(_) => b"wb",
            Track::Text => b"tx",
            Track::Other => b"xx",
        };
        let digit = |n: usize| b'0' + (n % 10) as u8;
        [digit(number / 10), digit(number), letters[0], letters[1]]
    }
}

/// What there is of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Index {
    /// None.
    None,
    /// One that lists all; so many frames of each stream from key to key.
    Idx1(usize),
}

/// An AVI file of these streams, with frames of them: the stream's number, and the bytes.
pub fn avi(tracks: &[Track], movie: &[(usize, Vec<u8>)], index: Index) -> Vec<u8> {
    let avih = [
        40_000,
        0,
        0,
        0x10,
        9,
        0,
        tracks.len() as u32,
        0,
        16,
        16,
        0,
        0,
        0,
        0,
    ];
    let mut hdrl = vec![chunk(b"avih", &numbers(&avih))];
    hdrl.extend(tracks.iter().map(|t| t.strl()));
    let (mut chunks, mut entries) = (Vec::new(), Vec::new());
    let (mut offset, mut counts) = (4u32, vec![0; tracks.len()]);
    for (number, frame) in movie {
        let id = tracks[*number].id(*number);
        let chunk = chunk(&id, frame);
        if let Index::Idx1(each) = index {
            let key = matches!(tracks[*number], Track::Pcm | Track::Coded(_))
                || counts[*number] % each == 0;
            let flags = if key { 0x10u32 } else { 0 };
            let entry = numbers(&[flags, offset, frame.len() as u32]);
            entries.push([&id[..], &entry].concat());
        }
        counts[*number] += 1;
        offset += chunk.len() as u32;
        chunks.push(chunk);
    }
    let mut items = vec![
        list(b"LIST", b"hdrl", &hdrl),
        list(b"LIST", b"movi", &chunks),
    ];
    if index != Index::None {
        items.push(chunk(b"idx1", &entries.concat()));
    }
    list(b"RIFF", b"AVI ", &items)
}

/// A JPEG of a size: markers, and so many bytes of coded data that hold no marker.
pub fn jpeg(width: u16, height: u16, coded: &[u8]) -> Vec<u8> {
    let mut out = vec![0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8];
    out.extend(height.to_be_bytes());
    out.extend(width.to_be_bytes());
    out.extend([1, 1, 0x11, 0]);
    out.extend([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]);
    out.extend(coded.iter().map(|b| b & 0x7F));
    out.extend([0xFF, 0xD9]);
    out
}

/// A Y4M file of grey pictures of 4 by 3, each of the bytes from one on.
pub fn y4m(firsts: &[u8]) -> Vec<u8> {
    let mut out = b"YUV4MPEG2 W4 H3 F25:1 Ip A1:1 Cmono\n".to_vec();
    for first in firsts {
        out.extend(b"FRAME\n");
        out.extend((0..12).map(|n| first.wrapping_add(n)));
    }
    out
}
