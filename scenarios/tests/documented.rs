//! The scenarios that docs/scenarios.md shows are right and come out as they say.

use tickpipe_scenarios::{Overrides, Scenario};

#[test]
fn the_documented_example_is_as_expected() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scenarios.md");
    let text = std::fs::read_to_string(path).expect("is there");
    let blocks: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 2);
    for (block, expected) in blocks.into_iter().zip([6, 1]) {
        let scenario = Scenario::from_toml("scenarios.md", block).expect("is right");
        let outcome = scenario
            .run(&Overrides::default(), &mut ())
            .expect("can be built");
        assert_eq!(outcome.missed, []);
        assert!(outcome.as_expected());
        assert_eq!(scenario.expected().len(), expected);
    }
}
