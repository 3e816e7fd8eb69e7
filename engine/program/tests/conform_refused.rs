//! `conform`: what is not a conformance file is refused with its place, and the file that is read is
//! never written.

mod support;

use support::{Folder, Ran, here, process};

/// Runs a suite on a file that is made of this text.
fn run(suite: &str, text: &str) -> Ran {
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    let folder = Folder::new(&format!("conform-refused-{name}"));
    let file = folder.write("file.json", text);
    here(&["conform", suite, &file])
}

#[test]
fn what_is_no_conformance_file_is_refused_with_its_place() {
    let deep = format!(
        r#"{{"parse": {}{}}}"#,
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let list = |case: &str| format!(r#"{{"value_intersect": [{case}]}}"#);
    let fields =
        |f: &str| format!(r#"{{"fixate": [{{"in": {{"media": "video", "fields": [{f}]}}}}]}}"#);
    let whole = "expected a whole number in";
    for (suite, text, told) in [
        (
            "caps",
            String::new(),
            "line 1, column 0: not JSON: EOF while parsing a value",
        ),
        (
            "caps",
            "{\"edit\": [\n nul]}".into(),
            "line 2, column 5: not JSON: expected ident",
        ),
        (
            "caps",
            deep,
            "line 1, column 137: not JSON: recursion limit exceeded",
        ),
        (
            "caps",
            "[]".into(),
            "the file: expected an object, found a list of 0",
        ),
        (
            "caps",
            "{}".into(),
            "the file: expected a list `value_intersect` or",
        ),
        (
            "gstcaps",
            r#"{"note": "", "edit": []}"#.into(),
            "the file: expected a list `cases` or `parse`, found an object",
        ),
        (
            "gstcaps",
            r#"{"cases": {}}"#.into(),
            "cases: expected a list, found an object without",
        ),
        (
            "gstcaps",
            r#"{"cases": [3]}"#.into(),
            "cases[0]: expected an object, found 3",
        ),
        (
            "gstcaps",
            r#"{"cases": [{"a": "x"}]}"#.into(),
            "cases[0]: expected an object with `b`",
        ),
        (
            "gstcaps",
            r#"{"parse": [{"text": 1}]}"#.into(),
            "parse[0].text: expected a text, found 1",
        ),
        (
            "gstcaps",
            r#"{"parse": [{"text": "x", "caps": true}]}"#.into(),
            "parse[0].caps: expected a text, found true",
        ),
        (
            "gstcaps",
            r#"{"cases": [{"a": "x", "b": "x", "equal": "yes"}]}"#.into(),
            "cases[0].equal: expected true or false, found \"yes\"",
        ),
        (
            "caps",
            list(r#"{"a": [], "b": []}"#),
            "value_intersect[0].a: expected a value: bool B,",
        ),
        (
            "caps",
            list(r#"{"a": ["real", 1]}"#),
            "value_intersect[0].a[0]: expected a value:",
        ),
        (
            "caps",
            list(r#"{"a": ["int"]}"#),
            "value_intersect[0].a: expected a value:",
        ),
        (
            "caps",
            list(r#"{"a": ["int", 1, 2]}"#),
            "value_intersect[0].a: expected a value:",
        ),
        (
            "caps",
            list(r#"{"a": ["bool", 1]}"#),
            "a[1]: expected true or false, found 1",
        ),
        ("caps", list(r#"{"a": ["int", 2147483648]}"#), whole),
        ("caps", list(r#"{"a": ["int", 1e300]}"#), whole),
        (
            "caps",
            list(r#"{"a": ["int", 1e999]}"#),
            "not JSON: number out of range",
        ),
        (
            "caps",
            list(r#"{"a": ["uint", -1]}"#),
            "a[1]: expected a whole number in 0..=4294967295",
        ),
        (
            "caps",
            list(r#"{"a": ["int_range", 1, 2, -1]}"#),
            "a[3]: expected a whole number in 0..",
        ),
        (
            "caps",
            list(r#"{"a": ["int_range", 2, 1, 1]}"#),
            "its minimum is above its maximum",
        ),
        (
            "caps",
            list(r#"{"a": ["int", 1], "b": ["int", 1], "result": 0}"#),
            "value_intersect[0].result: expected a text, found 0",
        ),
        (
            "caps",
            fields("1"),
            "fixate[0].in.fields[0]: expected a list, found 1",
        ),
        (
            "caps",
            fields(r#"["w"]"#),
            "fixate[0].in.fields[0]: expected a value:",
        ),
        (
            "caps",
            fields(r#"["w", "int", 1], ["w", "int", 1]"#),
            "fields[1][0]: expected a field that",
        ),
        (
            "caps",
            fields(
                r#"["a","int",1],["b","int",1],["c","int",1],["d","int",1],["e","int",1],["f"]"#,
            ),
            "fixate[0].in.fields: expected at most 5 fields, as mpipe has, found a list of 6",
        ),
        (
            "caps",
            r#"{"edit": [{}]}"#.into(),
            "edit[0]: expected an object with `ops`",
        ),
        (
            "caps",
            r#"{"edit": [{"ops": [["remove"]]}]}"#.into(),
            "edit[0].ops[0]: expected an op",
        ),
        (
            "caps",
            r#"{"edit": [{"ops": [["swap", "width"]]}]}"#.into(),
            "edit[0].ops[0][0]: expected append or remove, found \"swap\"",
        ),
        (
            "caps",
            r#"{"edit": [{"ops": [["remove", -1]]}]}"#.into(),
            "edit[0].ops[0][1]: expected a field's name",
        ),
    ] {
        let ran = run(suite, &text);
        let shown: String = text.chars().take(80).collect();
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{shown}");
        assert!(
            ran.err.starts_with("error: ") && ran.err.contains("file.json: "),
            "{}",
            ran.err
        );
        assert!(ran.err.contains(told), "{shown}: {}", ran.err);
    }
    let ran = process(&["conform", "caps", "no such file.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("no such file.json: cannot be read: "),
        "{}",
        ran.err
    );
    let ran = process(&["conform", "nothing", "no such file.json"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("[possible values: caps, framesync, gstcaps"),
        "{}",
        ran.err
    );
}

/// The limit is on the bytes read, so an endless file is refused too.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_too_large_is_refused() {
    let ran = here(&["conform", "caps", "/dev/zero"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let told = "error: /dev/zero: the file has more than conform-bytes=67108864 bytes\n";
    assert_eq!(ran.err, told);
}

#[test]
fn the_questions_are_not_overwritten() {
    let folder = Folder::new("conform-overwrite");
    let text = r#"{"parse": [{"text": "x"}]}"#;
    let file = folder.write("file.json", text);
    let mut names = vec![file.clone(), folder.path("./file.json")];
    #[cfg(unix)]
    {
        let link = folder.path("link.json");
        std::os::unix::fs::symlink(&file, &link).expect("made");
        std::fs::hard_link(&file, folder.path("hard.json")).expect("made");
        names.extend([link, folder.path("hard.json")]);
    }
    for name in names {
        let ran = here(&["conform", "gstcaps", &file, "--answers", &name]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        assert!(ran.err.contains("is the file that is read"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&file).expect("is there"), text);
    }
    let nowhere = folder.path("no/such/folder.json");
    let ran = here(&["conform", "gstcaps", &file, "--answers", &nowhere]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "1 answered\n"));
    assert!(ran.err.contains("cannot be written"), "{}", ran.err);
    // A file that is refused leaves the answers of before.
    let old = folder.write("old.json", "old");
    let broken = folder.write("broken.json", "{");
    assert_eq!(
        here(&["conform", "gstcaps", &broken, "--answers", &old]).code,
        2
    );
    assert_eq!(std::fs::read_to_string(&old).expect("is there"), "old");
}
