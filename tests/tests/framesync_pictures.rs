//! Pictures of elements with several inputs, against those of FFmpeg: kept hashes, and the real program where
//! it is installed.

#![cfg(all(feature = "video", feature = "file"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use tickpipe::{Engine, Report, RunOptions, Verdict};
use xxhash_rust::xxh3::xxh3_64;

fn run(text: &str) -> Report {
    let mut engine = Engine::new().expect("an engine");
    let (p, _) = engine
        .launch("main", text)
        .map_err(|e| e.render(text))
        .expect("a graph");
    let options = RunOptions {
        record: true,
        ..RunOptions::default()
    };
    engine.run(p, &options, &mut ())
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("tickpipe-sync-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("made");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("text").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A clip of small pictures whose bytes are a function of `seed` alone.
fn clip(
    path: &Path,
    (width, height): (usize, usize),
    colour: (&str, usize),
    frames: u64,
    seed: u64,
) {
    let (tag, chroma) = colour;
    let mut bytes = format!("YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{tag}\n").into_bytes();
    let half = |v: usize| v.div_ceil(2);
    let size = match chroma {
        420 => width * height + 2 * half(width) * half(height),
        422 => width * height + 2 * half(width) * height,
        444 => 3 * width * height,
        _ => width * height,
    };
    let mut state = seed | 1;
    for _ in 0..frames {
        bytes.extend(b"FRAME\n");
        for _ in 0..size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.push((state >> 32) as u8);
        }
    }
    std::fs::write(path, bytes).expect("written");
}

/// Raw frames of FFmpeg's filter, or why there are none.
fn ffmpeg(inputs: &[String], filter: &str, format: &str, out: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-y"]);
    for input in inputs {
        command.args(["-i", input]);
    }
    command.args(["-filter_complex", filter, "-fps_mode", "passthrough"]);
    command.args(["-f", "rawvideo", "-pix_fmt", format, out]);
    match command.output() {
        Err(error) => Err(format!("ffmpeg cannot be run: {error}")),
        Ok(ran) if !ran.status.success() => {
            panic!("{filter}: {}", String::from_utf8_lossy(&ran.stderr))
        }
        Ok(_) => Ok(std::fs::read(out).expect("written")),
    }
}

type Size = (usize, usize);

/// Element and filter with the same options, sizes of the inputs, and the hash of what FFmpeg 5.1.9 makes:
/// `ffmpeg -i 0.y4m … -filter_complex FILTER -fps_mode passthrough -f rawvideo -pix_fmt yuv420p out`
/// of clips made by `clip` with 3, 4, … frames and seeds 1, 2, …
const STACKS: &[(&str, &[Size], u64)] = &[
    ("hstack", &[(8, 6), (4, 6)], 0x1536b26d32ae6c25),
    ("hstack", &[(7, 5), (5, 5)], 0xf8ad610e0726018b),
    (
        "hstack=inputs=3",
        &[(3, 4), (5, 4), (1, 4)],
        0xe3381714c6407fd2,
    ),
    ("hstack=shortest=1", &[(8, 6), (4, 6)], 0xd6e935cc20beb5f5),
    ("vstack", &[(8, 6), (8, 4)], 0xe6bfcdf3f69a2409),
    (
        "vstack=inputs=3",
        &[(5, 3), (5, 5), (5, 1)],
        0x4c8b5bcffaa05e77,
    ),
    (
        "xstack=inputs=2:layout=0_0|w0_0",
        &[(8, 6), (8, 6)],
        0xfeddbb050312d69c,
    ),
    (
        "xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0",
        &[(8, 6), (8, 6), (8, 6), (8, 6)],
        0x7ebf701acf63d574,
    ),
    (
        "xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0",
        &[(5, 3), (5, 3), (5, 3), (5, 3)],
        0x8326565e8e89ac31,
    ),
    (
        "xstack=inputs=3:layout=0_0|w0_0|w0+w1_0",
        &[(4, 4), (4, 4), (6, 4)],
        0xf0ceeca81516f7a8,
    ),
    (
        "xstack=inputs=4:grid=2x2",
        &[(6, 4), (6, 4), (6, 4), (6, 4)],
        0x238ef59bca3d5a19,
    ),
];

/// The description of the element that a filter's text is.
fn element(filter: &str) -> String {
    filter.replacen('=', " ", 1).replace(':', " ")
}

#[test]
fn stacks_are_ffmpegs() {
    let mut skipped = None;
    for (format, chroma) in [
        (("420jpeg", 420), "yuv420p"),
        (("444", 444), "yuv444p"),
        (("422", 422), "yuv422p"),
    ] {
        for (n, &(filter, sizes, kept)) in STACKS.iter().enumerate() {
            let folder = Folder::new(&format!("stack-{n}-{chroma}"));
            let files: Vec<String> = (0..sizes.len())
                .map(|k| folder.path(&format!("{k}.y4m")))
                .collect();
            for (k, (file, &size)) in files.iter().zip(sizes).enumerate() {
                clip(Path::new(file), size, format, 3 + k as u64, 1 + k as u64);
            }
            let out = folder.path("ours.raw");
            let mut text = format!("{} name=s ! filesink location={out}", element(filter));
            for file in &files {
                text += &format!(" filesrc location={file} ! y4mdec ! s.");
            }
            let report = run(&text);
            assert_eq!(report.verdict, Verdict::Done, "{text}");
            let ours = std::fs::read(&out).expect("written");
            if chroma == "yuv420p" {
                assert_eq!(xxh3_64(&ours), kept, "{filter} {sizes:?}");
            }
            match ffmpeg(&files, filter, chroma, &folder.path("theirs.raw")) {
                Ok(theirs) => assert!(ours == theirs, "{filter} {sizes:?} {chroma}"),
                Err(why) => skipped = Some(why),
            }
        }
    }
    if let Some(why) = skipped {
        println!("skipped: the comparison with the real program: {why}");
    }
}

/// What FFmpeg 5.1.9 says of two clips by `psnr=stats_file=-`, and of all by its closing line.
#[test]
fn psnr_is_ffmpegs() {
    let folder = Folder::new("psnr");
    let files = [folder.path("0.y4m"), folder.path("1.y4m")];
    clip(Path::new(&files[0]), (17, 9), ("420jpeg", 420), 3, 1);
    clip(Path::new(&files[1]), (17, 9), ("420jpeg", 420), 3, 2);
    let report = run(&format!(
        "filesrc location={} ! y4mdec ! psnr name=p ! fakesink filesrc location={} ! y4mdec ! p.",
        files[0], files[1]
    ));
    assert_eq!(report.verdict, Verdict::Done);
    let p = report
        .elements
        .iter()
        .find(|e| e.name == "p")
        .expect("it is there");
    let measures = p.measures.as_ref().expect("it measured");
    let line = |n: usize| {
        let values = &measures.frames[n].values;
        let of = |name: &str| format!("{name}:{:.2}", values[name].0);
        let names = [
            "mse_avg", "mse_y", "mse_u", "mse_v", "psnr_avg", "psnr_y", "psnr_u", "psnr_v",
        ];
        format!("n:{} {} ", n + 1, names.map(of).join(" "))
    };
    let ours: Vec<String> = (0..3).map(line).collect();
    let stats = folder.path("stats");
    let filter = format!("psnr=stats_file={stats}");
    match ffmpeg(&files, &filter, "yuv420p", &folder.path("out.raw")) {
        Ok(_) => {
            let theirs = std::fs::read_to_string(&stats).expect("written");
            assert_eq!(ours.join("\n") + "\n", theirs);
        }
        Err(why) => println!("skipped: the comparison with the real program: {why}"),
    }
    assert_eq!(measures.count, 3);
    // A frame against itself.
    let same = run(&format!(
        "filesrc location={0} ! y4mdec ! tee name=t ! queue ! psnr name=p ! fakesink t. ! queue ! p.",
        files[0]
    ));
    let p = same
        .elements
        .iter()
        .find(|e| e.name == "p")
        .expect("it is there");
    let total = &p.measures.as_ref().expect("it measured").total;
    assert_eq!(
        (total["mse_avg"].0, total["psnr_avg"].0),
        (0.0, f64::INFINITY)
    );
    let json = serde_json::to_value(p).expect("JSON");
    assert_eq!(json["measures"]["total"]["psnr_avg"], "inf");
}

/// All that FFmpeg writes, also behind the end of the main clip.
#[test]
fn overlay_is_ffmpegs_with_every_option() {
    let folder = Folder::new("overlay");
    let mut skipped = None;
    for (main, second) in [(5, 8), (8, 5), (4, 4), (3, 0)] {
        let files = [folder.path("0.y4m"), folder.path("1.y4m")];
        clip(Path::new(&files[0]), (16, 12), ("420jpeg", 420), main, 1);
        clip(Path::new(&files[1]), (6, 4), ("420jpeg", 420), second, 2);
        for options in [
            "",
            "shortest=1",
            "repeatlast=0",
            "eof_action=pass",
            "eof_action=endall",
            "eof_action=repeat",
            "shortest=1:repeatlast=0",
            "eof_action=endall:repeatlast=0",
        ] {
            let out = folder.path("ours.raw");
            let text = format!(
                "filesrc location={} ! y4mdec ! overlay name=o x=4 y=2 {} ! filesink location={out} \
                 filesrc location={} ! y4mdec ! o.",
                files[0],
                options.replace(':', " "),
                files[1]
            );
            let report = run(&text);
            assert_eq!(report.verdict, Verdict::Done, "{text}");
            let ours = std::fs::read(&out).unwrap_or_default();
            let filter = format!(
                "overlay=x=4:y=2:format=yuv420{}{options}",
                if options.is_empty() { "" } else { ":" }
            );
            if second == 0 {
                // FFmpeg reads no clip without a frame; without a second picture the main one goes out.
                assert_eq!(ours.len() as u64, main * 288, "{options}");
                continue;
            }
            match ffmpeg(&files, &filter, "yuv420p", &folder.path("theirs.raw")) {
                Ok(theirs) => assert!(ours == theirs, "{main} {second} {options}"),
                Err(why) => skipped = Some(why),
            }
        }
    }
    if let Some(why) = skipped {
        println!("skipped: the comparison with the real program: {why}");
    }
}
