//! `conform`: whole files pass, a changed answer fails with its line, a file without answers is
//! answered, and what is written with `--answers` conforms.

mod support;

use serde_json::{Value as Json, json};
use support::{Folder, Ran, here, process};

const CAPS: &str = include_str!("../../../components/tests/data/mpipe-caps-dev.json");
const FRAMESYNC: &str = include_str!("../../../components/tests/data/framesync-dev.json");
const GENERIC: &str = include_str!("../../../components/tests/data/framesync-generic-dev.json");
const GSTCAPS: &str = include_str!("../../../components/tests/data/gstcaps-dev.json");

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).expect("is JSON")
}

fn list<'a>(file: &'a mut Json, name: &str) -> &'a mut Vec<Json> {
    file[name].as_array_mut().expect("a list")
}

/// Runs a suite on a file that is made of this text.
fn run(suite: &str, text: &str) -> Ran {
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    let folder = Folder::new(&format!("conform-{name}"));
    let file = folder.write("file.json", text);
    here(&["conform", suite, &file])
}

fn is(ran: &Ran, code: i32, out: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (code, out), "{}", ran.err);
    assert_eq!(ran.err, "");
}

#[test]
fn the_files_pass_whole() {
    let folder = Folder::new("conform-whole");
    for (suite, text, closing) in [
        ("caps", CAPS, "550 passed, 0 failed, 73 exact\n"),
        ("gstcaps", GSTCAPS, "357 passed, 0 failed\n"),
        ("framesync", FRAMESYNC, "200 passed, 0 failed\n"),
        ("framesync", GENERIC, "200 passed, 0 failed\n"),
    ] {
        let file = folder.write("file.json", text);
        let ran = process(&["conform", suite, &file]);
        is(&ran, 0, closing);
        is(&here(&["conform", suite, &file, "-q"]), 0, "");
    }
}

/// Each answer field of each list, changed in one case, is one failure with one line.
#[test]
fn a_changed_answer_fails_with_its_line() {
    let any = json!({"any": true});
    let other = json!({"media": "video", "fields": [["width", "int", 7]]});
    for (suite, name, pick, key, value, told) in [
        (
            "caps",
            "value_intersect",
            "ok",
            "result",
            json!("ENOENT"),
            "result: expected \"ENOENT\"",
        ),
        (
            "caps",
            "value_intersect",
            "ok",
            "out",
            json!(["int", 77]),
            "out: expected [\"int\",77]",
        ),
        (
            "caps",
            "value_intersect",
            "ok",
            "out",
            Json::Null,
            "out: expected null",
        ),
        (
            "caps",
            "value_intersect",
            "ENOENT",
            "result",
            json!("EINVAL"),
            "got \"ENOENT\"",
        ),
        (
            "caps",
            "value_intersect",
            "ENOENT",
            "out",
            json!(["bool", true]),
            "got null",
        ),
        (
            "caps",
            "structure_intersect",
            "ok",
            "out",
            any,
            "out: expected {\"any\":true}",
        ),
        (
            "caps",
            "structure_intersect",
            "ok",
            "result",
            json!("ENOSPC"),
            "got \"ok\"",
        ),
        (
            "caps",
            "structure_intersect",
            "EINVAL",
            "result",
            json!("ok"),
            "got \"EINVAL\"",
        ),
        (
            "caps",
            "structure_intersect",
            "ENOSPC",
            "result",
            json!("ENOENT"),
            "got \"ENOSPC\"",
        ),
        ("caps", "fixate", "ok", "is_fixed", json!(null), ""),
        (
            "caps",
            "fixate",
            "ok",
            "out",
            other.clone(),
            "out: expected",
        ),
        (
            "caps",
            "fixate",
            "ENOENT",
            "is_fixed",
            json!(true),
            "is_fixed: expected true, got false",
        ),
        ("caps", "edit", "", "out", other, "out: expected"),
        (
            "gstcaps",
            "cases",
            "",
            "can_intersect",
            json!(true),
            "can_intersect: expected true",
        ),
        (
            "gstcaps",
            "cases",
            "",
            "intersect",
            json!("ANY"),
            "intersect: expected ANY, got EMPTY",
        ),
        (
            "gstcaps",
            "cases",
            "",
            "intersect",
            json!("a,b="),
            "(not read: caps text, byte 4",
        ),
        (
            "gstcaps",
            "cases",
            "",
            "a_subset_of_b",
            json!(true),
            "got false; a: ",
        ),
        (
            "gstcaps",
            "cases",
            "",
            "equal",
            json!(true),
            "equal: expected true, got false",
        ),
        (
            "gstcaps",
            "parse",
            "",
            "caps",
            json!("video/x-raw,width=1"),
            "got video/x-raw; text: ",
        ),
        (
            "gstcaps",
            "parse",
            "",
            "caps",
            Json::Null,
            "caps: expected an error",
        ),
    ] {
        let mut file = parsed(if suite == "caps" { CAPS } else { GSTCAPS });
        let all = match suite {
            "caps" => 550,
            _ => 357,
        };
        let cases = list(&mut file, name).iter_mut().enumerate();
        // One on which no step grid bears.
        let mut cases = cases.filter(|(_, case)| match pick {
            "" => true,
            "ok" if name == "value_intersect" => case["a"] == case["b"],
            _ => case["result"] == pick,
        });
        let (i, case) = cases.next().expect("such a case");
        case["id"] = json!("changed");
        case[key] = value;
        let ran = run(suite, &file.to_string());
        let closing = ran.out.lines().last().expect("a line");
        if told.is_empty() {
            // Null is no answer to this, and the others still hold.
            assert!(closing.starts_with(&format!("{all} passed, 0 failed")));
            continue;
        }
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{name} {key}");
        assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
        let line = ran.out.lines().next().expect("a line");
        let place = format!("{name}[{i}] (changed): ");
        assert!(line.starts_with(&place) && line.contains(told), "{line}");
        let counts = format!("{} passed, 1 failed", all - 1);
        assert!(closing.starts_with(&counts), "{closing}");
    }
}

/// What differs from mpipe's answer passes only if mpipe's is the one that ignores the grid.
#[test]
fn only_mpipes_own_answer_passes_as_exact() {
    let case = |b: Json, result: &str, out: Json| {
        json!({"value_intersect": [{
            "name": "grid", "a": ["int_range", 0, 20, 4], "b": b, "result": result, "out": out,
        }]})
        .to_string()
    };
    let range = |min, max, step| json!(["int_range", min, max, step]);
    let exact = "1 passed, 0 failed, 1 exact\n";
    is(
        &run("caps", &case(json!(["int", 6]), "ok", json!(["int", 6]))),
        0,
        exact,
    );
    is(
        &run("caps", &case(range(2, 20, 6), "ok", range(2, 20, 2))),
        0,
        exact,
    );
    // Ours is [8, 20, 12]; neither that with another maximum nor another wrong one is mpipe's.
    let wrong = "value_intersect[0] (grid): out: expected [\"int_range\",2,20,4], \
                 got [\"int_range\",8,20,12]; a: [\"int_range\",0,20,4]; \
                 b: [\"int_range\",2,20,6]\n0 passed, 1 failed\n";
    is(
        &run("caps", &case(range(2, 20, 6), "ok", range(2, 20, 4))),
        1,
        wrong,
    );
    is(
        &run("caps", &case(range(2, 20, 6), "ok", range(8, 20, 12))),
        0,
        "1 passed, 0 failed\n",
    );
}

#[test]
fn an_edit_is_judged_operation_by_operation() {
    let edit = |result: &str, step: u32| {
        json!({"edit": [{
            "ops": [
                ["append", "width", ["int_range", 2, 7, 0], "ok"],
                ["append", 1, ["int", 4], result],
                ["append", 200, ["int", 4], "EINVAL"],
                ["append", "framerate", ["uint", 4], "EINVAL"],
                ["remove", 8, "ENOENT"],
                ["remove", "height"],
            ],
            "out": {"media": "video", "fields": [["width", "int_range", 2, 7, step]]},
        }]})
        .to_string()
    };
    is(&run("caps", &edit("EEXIST", 0)), 0, "1 passed, 0 failed\n");
    let ran = run("caps", &edit("ENOENT", 0));
    let told = "edit[0]: ops[1]: expected \"ENOENT\", got \"EEXIST\"; ops: ";
    assert!(ran.out.starts_with(told), "{}", ran.out);
    // A grid is kept as it was written.
    let ran = run("caps", &edit("EEXIST", 1));
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.starts_with("edit[0]: out: expected "),
        "{}",
        ran.out
    );
}

/// Takes the answers out of both files.
fn without_answers(suite: &str) -> Json {
    let mut file = parsed(if suite == "caps" { CAPS } else { GSTCAPS });
    let keys: &[&str] = match suite {
        "caps" => &["result", "out", "is_fixed"],
        _ => &[
            "can_intersect",
            "intersect",
            "a_subset_of_b",
            "b_subset_of_a",
            "equal",
            "caps",
        ],
    };
    for (_, value) in file.as_object_mut().expect("an object") {
        for case in value.as_array_mut().into_iter().flatten() {
            let case = case.as_object_mut().expect("an object");
            case.retain(|key, _| !keys.contains(&key.as_str()));
            let ops = case.get_mut("ops").and_then(Json::as_array_mut);
            for op in ops.into_iter().flatten() {
                op.as_array_mut().expect("a list").pop();
            }
        }
    }
    file
}

#[test]
fn a_file_without_answers_is_answered_and_the_answers_conform() {
    let folder = Folder::new("conform-answers");
    for (suite, text, count, same) in [("caps", CAPS, 550, 476), ("gstcaps", GSTCAPS, 357, 262)] {
        let bare = folder.write("bare.json", without_answers(suite).to_string());
        let full = folder.write("full.json", text);
        let (out, again) = (folder.path("out.json"), folder.path("again.json"));
        let answered = format!("{count} answered\n");
        is(&here(&["conform", suite, &bare]), 0, &answered);
        is(
            &here(&["conform", suite, &bare, "--answers", &out]),
            0,
            &answered,
        );
        let passed = format!("{count} passed, 0 failed\n");
        is(&here(&["conform", suite, &out]), 0, &passed);
        // The same from the file with answers, which keeps its form.
        assert_eq!(
            here(&["conform", suite, &full, "--answers", &again]).code,
            0
        );
        let read = |path| std::fs::read_to_string(path).expect("written");
        let (out, again) = (parsed(&read(&out)), parsed(&read(&again)));
        assert_eq!(out, again);
        let file = parsed(text);
        let keys = |json: &Json| -> Vec<String> {
            let fields = json.as_object().expect("an object");
            fields.keys().cloned().collect()
        };
        assert_eq!(keys(&again), keys(&file), "in order");
        let mut equal = 0;
        for (name, cases) in file.as_object().expect("an object") {
            let Some(cases) = cases.as_array() else {
                assert_eq!(again[name], file[name]);
                continue;
            };
            assert_eq!(again[name].as_array().expect("a list").len(), cases.len());
            for (i, case) in cases.iter().enumerate() {
                assert_eq!(keys(&again[name][i]), keys(case), "in order");
                equal += usize::from(again[name][i] == *case);
            }
        }
        assert_eq!(equal, same, "{suite}");
    }
}

#[test]
fn answers_keep_ids_and_foreign_fields() {
    let folder = Folder::new("conform-ids");
    let file = folder.write(
        "file.json",
        r#"{"b": [], "parse": [{"text": "x,w=1", "id": 7, "name": "n", "more": [1.5]}],
            "cases": [{"b": "x", "id": "first", "a": "ANY"}], "a": "é"}"#,
    );
    let ran = here(&["conform", "gstcaps", &file, "--answers", "-"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, "2 answered\n"));
    let expected = r#"{
"b": [],
"parse": [
{"text":"x,w=1","id":7,"name":"n","more":[1.5],"caps":"x, w=(int)1"}
],
"cases": [
{"b":"x","id":"first","a":"ANY","can_intersect":true,"intersect":"x","a_subset_of_b":false,"b_subset_of_a":true,"equal":false}
],
"a": "é"
}
"#;
    assert_eq!(ran.out, expected);
}

#[test]
fn some_cases_with_answers_and_some_without() {
    let text =
        r#"{"parse": [{"text": "x"}, {"text": "x", "caps": "x"}, {"text": "x", "caps": "y"}]}"#;
    let out = "parse[2]: caps: expected y, got x; text: x\n1 passed, 1 failed, 1 answered\n";
    is(&run("gstcaps", text), 1, out);
    is(
        &run("gstcaps", r#"{"parse": [], "cases": []}"#),
        0,
        "0 passed, 0 failed\n",
    );
    // What cannot be answered is a failure, and its line is one line.
    let text = r#"{"cases": [{"a": "x,\nw=", "b": "x"}], "parse": [{"text": "x,w="}]}"#;
    let ran = run("gstcaps", text);
    let out = "cases[0]: a: caps text, byte 5: expected a value, found the end; \
               a: x,\u{fffd}w=; b: x\n0 passed, 1 failed, 1 answered\n";
    is(&ran, 1, out);
}

/// What was answered is what was recorded; without what is derived from the filter's name it is the same.
#[test]
fn framesync_answers_a_file_without_answers() {
    for text in [FRAMESYNC, GENERIC] {
        let whole = parsed(text);
        for without_rules in [false, true] {
            let mut asked = whole.clone();
            for case in list(&mut asked, "cases") {
                let case = case.as_object_mut().expect("a case");
                for key in ["expected", "resolved", "events"] {
                    case.remove(key);
                }
                if without_rules && case.contains_key("filter") {
                    case.remove("config");
                }
            }
            let folder = Folder::new(&format!("framesync-{without_rules}"));
            let file = folder.write("file.json", asked.to_string());
            let out = folder.path("answers.json");
            let ran = here(&["conform", "framesync", &file, "--answers", &out]);
            is(&ran, 0, "200 answered\n");
            let answers = parsed(&std::fs::read_to_string(&out).expect("written"));
            let cases = whole["cases"].as_array().expect("a list");
            for (case, answer) in cases
                .iter()
                .zip(answers["cases"].as_array().expect("a list"))
            {
                for key in ["resolved", "events"] {
                    assert_eq!(case.get(key), answer.get(key), "{} {key}", case["id"]);
                }
                match case["expected"].get("error") {
                    Some(_) => assert!(answer["expected"]["error"].is_string()),
                    None => assert_eq!(case["expected"], answer["expected"], "{}", case["id"]),
                }
            }
        }
    }
}

#[test]
fn framesync_tells_what_differs() {
    let case = |inputs: &str, expected: &str| {
        format!(
            r#"{{"cases": [{{"id": "x", "filter": "overlay", "inputs": {inputs}, "expected": {expected}}}]}}"#
        )
    };
    let inputs = r#"[{"time_base": [1, 25], "pts": [0, 1]}, {"time_base": [1, 25], "pts": [0]}]"#;
    for (expected, told) in [
        (
            r#"{"time_base": [1, 25], "frames": [[0, [0, 0]], [1, [1, null]]]}"#,
            "cases[0] (x): frames[1] of 2: expected [1,[1,null]], got [1,[1,0]]\n0 passed, 1 failed\n",
        ),
        (
            r#"{"time_base": [1, 25], "frames": [[0, [0, 0]]]}"#,
            "cases[0] (x): frames[1] of 1: expected the end, got [1,[1,0]]\n0 passed, 1 failed\n",
        ),
        (
            r#"{"time_base": [1, 50], "frames": []}"#,
            "cases[0] (x): time_base: expected 1/50, got 1/25\n0 passed, 1 failed\n",
        ),
        (
            r#"{"error": "no"}"#,
            "cases[0] (x): expected: expected an error, got 2 frames\n0 passed, 1 failed\n",
        ),
        (
            r#"{"time_base": [2, 50], "frames": [[0, [0, 0]], [1, [1, 0]]]}"#,
            "1 passed, 0 failed\n",
        ),
    ] {
        let ran = run("framesync", &case(inputs, expected));
        assert_eq!(ran.out, told);
    }
    for (inputs, told) in [
        ("[]", "cases[0].inputs: expected a list of 1 to 1024 inputs"),
        (
            r#"[{"time_base": [0, 25], "pts": []}]"#,
            "cases[0].inputs[0].time_base[0]: expected a whole number in 1..=2147483647",
        ),
        (
            r#"[{"time_base": [1, 25, 2], "pts": []}]"#,
            "cases[0].inputs[0].time_base: expected a time base",
        ),
        (
            r#"[{"time_base": [1, 25], "pts": [1.5]}]"#,
            "cases[0].inputs[0].pts[0]: expected a whole number",
        ),
        (
            r#"[{"time_base": [1, 25], "pts": []}]"#,
            "cases[0]: expected an object with `config`",
        ),
    ] {
        let ran = run("framesync", &case(inputs, "null"));
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}
