//! The scenario files in this folder come out as they say, from a folder whose name needs quotes.
#![cfg(all(feature = "file", feature = "video"))]

use std::path::{Path, PathBuf};
use tickpipe_scenarios::{Overrides, Scenario};

/// A copy of the scenarios and their media, so that nothing is written beside the sources.
fn copied() -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = std::env::temp_dir().join(format!("tickpipe \"scenarios\" {}", std::process::id()));
    for part in ["media", "out", "bugs"] {
        std::fs::create_dir_all(to.join(part)).expect("made");
    }
    for part in ["", "media", "bugs"] {
        for entry in std::fs::read_dir(from.join(part)).expect("is there") {
            let path = entry.expect("is read").path();
            if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                std::fs::copy(&path, to.join(part).join(name)).expect("copied");
            }
        }
    }
    to
}

/// The scenario files in a folder.
fn scenarios(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .expect("is there")
        .map(|entry| entry.expect("is read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .filter(|path| path.file_name().is_some_and(|n| n != "Cargo.toml"))
        .collect()
}

#[test]
fn every_scenario_is_as_expected() {
    let folder = copied();
    let mut files = scenarios(&folder);
    files.extend(scenarios(&folder.join("bugs")));
    files.sort();
    assert!(files.iter().any(|f| f.ends_with("overlay.toml")));
    for file in files {
        for threads in [1, 2] {
            let scenario = Scenario::load(&file).unwrap_or_else(|e| panic!("{}", e.render()));
            let overrides = Overrides {
                threads: Some(threads),
                check: Some(true),
                ..Overrides::default()
            };
            let outcome = scenario
                .run(&overrides, &mut ())
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(outcome.report.invariant, None, "{}", file.display());
            let missed: Vec<String> = outcome.missed.iter().map(|m| m.to_string()).collect();
            assert!(
                outcome.as_expected(),
                "{}: {:?} {missed:#?} {:#?}",
                file.display(),
                outcome.report.verdict,
                outcome.report.messages
            );
        }
    }
    let written = folder.join("out").join("overlay.y4m");
    let frames = 26 * (320 * 180 * 3 / 2 + "FRAME\n".len());
    let length = std::fs::metadata(&written).expect("is written").len();
    assert!(
        (frames as u64..frames as u64 + 200).contains(&length),
        "{length}"
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}
