//! smoke
#![cfg(feature = "file")]
mod parsing;
use parsing::*;
#[test]
fn smoke() {
    for (name, bytes, tail) in [
        ("a.ivf", VP8, "ivfparse name=p ! fakesink name=k"),
        ("b.ivf", AV1, "ivfparse name=p ! fakesink name=k"),
        ("a.wav", S16, "wavparse name=p ! fakesink name=k"),
        ("s.wav", STREAM, "wavparse name=p ! fakesink name=k"),
        ("a.jpg", JPEG, "jpegparse name=p ! fakesink name=k"),
        (
            "a.avi",
            MJPEG,
            "avidemux name=p p.video_0 ! fakesink name=k p.audio_0 ! fakesink name=l",
        ),
        (
            "b.avi",
            MP3,
            "avidemux name=p p.video_0 ! fakesink name=k p.audio_0 ! fakesink name=l",
        ),
    ] {
        let path = write(name, bytes);
        for by in [By::Pull, By::Push(4096), By::Push(1), By::Push(100)] {
            let text = format!("{} ! {tail}", by.source(&path));
            let report = run(&text);
            println!(
                "{by:?} {name} {} {:?}",
                report.verdict.name(),
                error_of(&report)
            );
            for l in &report.links {
                println!("   {} {} {} {}", l.from, l.to, l.transport, l.caps);
            }
            for s in &report.sinks {
                println!("   {} {}", s.name, s.buffers);
                for f in s.frames.iter().take(3) {
                    println!("      {:?} {}", f.pts, f.hash);
                }
            }
            for p in &report.pools {
                println!("   {} {} x {}", p.name, p.buffers, p.size);
            }
        }
    }
}
