//! Crates import in one direction: components, systems, engine, scenarios, then tests and benches.
//!
//! Read from `cargo metadata`, so that a dependency that points back fails here and not in review.

use std::process::Command;

/// The crates in the only order in which they may import: each may use those before it.
const ORDER: [&str; 7] = [
    "tickpipe-components",
    "tickpipe-systems",
    "tickpipe",
    "tickpipe-scenarios",
    "tickpipe-program",
    "tickpipe-tests",
    "tickpipe-benches",
];

#[test]
fn no_crate_imports_a_later_one() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert_eq!(packages.len(), ORDER.len(), "a crate is missing in ORDER");
    let place = |name: &str| ORDER.iter().position(|n| *n == name);
    let mut imports = 0;
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let own = place(name).unwrap_or_else(|| panic!("{name} is missing in ORDER"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = dependency["name"].as_str().expect("a name");
            if let Some(used_place) = place(used) {
                assert!(used_place < own, "{name} imports {used}");
                imports += 1;
            }
        }
    }
    assert!(imports >= 8, "only {imports} imports were seen");
}
