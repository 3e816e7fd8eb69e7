//! Media files that are missing or broken, and files that cannot be written: exit status 1, an
//! error that names the element and the file, and no panic.
#![cfg(feature = "file")]

mod support;

use support::{Folder, process};

/// An error of an element, and what the line must say.
fn fails(text: &str, parts: &[&str]) {
    let ran = process(&["launch", text]);
    assert_eq!(ran.code, 1, "{text}: {}", ran.err);
    assert!(ran.err.starts_with("error: "), "{text}: {}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{text}: {}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "{text}: no `{part}` in {}", ran.err);
    }
    let planned = process(&["plan", text]);
    assert!(
        planned.code == 1 || planned.err.is_empty(),
        "{text}: {}",
        planned.err
    );
}

#[test]
fn missing_folder_and_empty() {
    let folder = Folder::new("media");
    let missing = folder.path("none.y4m");
    let empty = folder.write("empty.y4m", "");
    let line = |path: &str| format!("filesrc location={path} ! y4mdec ! fakesink");
    fails(
        &line(&missing),
        &["filesrc0: ", "none.y4m", "(resource/not-found)"],
    );
    let place = folder.0.to_str().expect("is text");
    fails(
        &line(place),
        &["filesrc0: ", place, "(resource/wrong-kind)"],
    );
    fails(&line(&empty), &["y4mdec0: ", "(stream/empty)"]);
    fails(
        "filesrc ! y4mdec ! fakesink",
        &["filesrc0: ", "location", "(resource/"],
    );
    let nowhere = folder.path("no/out");
    fails(
        &format!("fakesrc num-buffers=1 ! filesink location={nowhere}"),
        &["filesink0: ", "no/out"],
    );
    fails(
        &format!("fakesrc num-buffers=1 ! filesink location={place}"),
        &["filesink0: ", "(resource/wrong-kind)"],
    );
    if std::path::Path::new("/dev/full").exists() {
        fails(
            "fakesrc num-buffers=9 sizetype=fixed sizemax=4096 ! filesink location=/dev/full",
            &["filesink0: ", "/dev/full", "(resource/"],
        );
    }
}

#[test]
fn a_clip_cut_at_every_byte_of_its_header_and_last_frame() {
    let folder = Folder::new("cut");
    let header = "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C420jpeg\n";
    let mut clip = header.as_bytes().to_vec();
    for frame in 0..2u8 {
        clip.extend_from_slice(b"FRAME\n");
        clip.extend((0..12).map(|i| frame * 16 + i));
    }
    let last = clip.len() - 18;
    let whole = folder.write("whole.y4m", &clip);
    let ran = process(&[
        "launch",
        &format!("filesrc location={whole} ! y4mdec ! fakesink"),
        "-q",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for cut in (0..header.len()).chain(last + 1..clip.len()) {
        let path = folder.write("cut.y4m", &clip[..cut]);
        let text = format!("filesrc location={path} ! y4mdec ! fakesink");
        let code = match cut {
            0 => "(stream/empty)",
            _ => "(stream/",
        };
        fails(&text, &["y4mdec0: ", code]);
    }
    // Between two frames, or right behind the header, the end is clean.
    for cut in [header.len(), last] {
        let path = folder.write("cut.y4m", &clip[..cut]);
        let ran = process(&[
            "launch",
            &format!("filesrc location={path} ! y4mdec ! fakesink"),
            "-q",
        ]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{cut}");
    }
}
