//! `docs/limits.md` says of each limit what the code says.

use tickpipe::Limit;

#[test]
fn the_table_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/limits.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let from = page.find("| name | default |").expect("the table is there");
    let rows: Vec<&str> = page[from..]
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let want: Vec<String> = Limit::ALL
        .iter()
        .map(|limit| {
            let s = limit.spec();
            format!(
                "| {} | {} | {}..={} | {} | {} |",
                s.name, s.default, s.min, s.max, s.about, s.mpipe
            )
        })
        .collect();
    assert_eq!(rows, want);
}
