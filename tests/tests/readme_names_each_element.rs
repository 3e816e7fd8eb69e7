//! README's table of elements has each that there is, in order, and no other.

#![cfg(feature = "video")]

use tickpipe::Engine;

#[test]
fn the_table_is_that_of_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let from = page.find("| element | what it does").expect("the table");
    let rows = page[from..]
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let named: Vec<&str> = rows
        .map(|row| row.split('`').nth(1).expect("a name"))
        .collect();
    let engine = Engine::new().expect("an engine");
    let mut have: Vec<&str> = engine.registry().iter().map(|class| class.name).collect();
    have.sort_unstable();
    assert_eq!(named, have);
}
