//! `conform gstlaunch`: recorded lines pass whole, a changed answer fails with its line, names that
//! a line does not give may be any, and what a file without answers gets conforms.

mod support;

use serde_json::{Value as Json, json};
use support::{Folder, Ran, here};

/// Recorded for the project.
const DEV: &str = include_str!("../../tests/data/gstlaunch-dev.json");
/// Variations, recorded in the same way.
const LINES: &str = include_str!("data/gstlaunch-lines.json");

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).expect("is JSON")
}

/// Runs the suite on a file that is made of this.
fn run(file: &Json) -> Ran {
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    let folder = Folder::new(&format!("gstlaunch-{name}"));
    let file = folder.write("file.json", file.to_string());
    here(&["conform", "gstlaunch", &file])
}

/// What is told of one case.
fn told(case: Json) -> String {
    let ran = run(&json!({ "cases": [case] }));
    assert_eq!(ran.err, "");
    ran.out
}

#[test]
fn the_files_pass_whole() {
    let ran = run(&parsed(DEV));
    insta::assert_snapshot!(ran.out, @r"
    cases[18]: skipped: no element `compositor`; line: videotestsrc ! c.sink_0 videotestsrc ! c.sink_1 compositor name=c ! fakesink
    cases[19]: skipped: no element `compositor`; line: compositor name=c sink_0::xpos=10 sink_1::alpha=0.5 ! fakesink videotestsrc ! c. videotestsrc ! c.
    cases[36]: skipped: no element `audiotestsrc`; line: audiotestsrc ! audioconvert ! audioresample ! audio/x-raw,rate=8000 ! fakesink
    cases[37]: skipped: no element `audiotestsrc`; line: videotestsrc ! fakesink audiotestsrc ! fakesink
    57 passed, 0 failed, 4 skipped
    ");
    assert_eq!(ran.code, 0);
    let ran = run(&parsed(LINES));
    assert_eq!((ran.code, ran.out.as_str()), (0, "586 passed, 0 failed\n"));
}

fn answered() -> Json {
    json!({
        "line": "fakesrc num-buffers=3 ! tee name=t ! fakesink t.src_4 ! queue ! fakesink name=b",
        "ok": true,
        "elements": [["fakesrc", "x"], ["tee", "t"], ["fakesink", "y"], ["queue", "z"], ["fakesink", "b"]],
        "links": [["x", "src", "t", "sink"], ["t", "one", "y", "sink"], ["t", "src_4", "z", "sink"],
                  ["z", "src", "b", "sink"]],
        "properties": {"x": {"num-buffers": 3}},
    })
}

#[test]
fn names_that_the_line_does_not_give_may_be_any() {
    assert_eq!(told(answered()), "1 passed, 0 failed\n");
    // Also in another order of elements and links.
    let mut case = answered();
    for list in ["elements", "links"] {
        case[list].as_array_mut().expect("a list").reverse();
    }
    assert_eq!(told(case), "1 passed, 0 failed\n");
}

/// Each answer field of a case, changed, is a failure with its line.
#[test]
fn a_changed_answer_fails_with_its_line() {
    let change = |path: &str, value: Json| {
        let mut case = answered();
        *case.pointer_mut(path).expect("is there") = value;
        told(case)
    };
    let shown: Vec<String> = [
        ("/ok", json!(false)),
        ("/elements/3/0", json!("identity")),
        ("/elements/4/1", json!("c")),
        ("/links/2/1", json!("src_5")),
        ("/links/0/3", json!("other")),
        ("/links/3/2", json!("y")),
        ("/properties/x/num-buffers", json!(4)),
        ("/properties", json!({})),
        (
            "/properties",
            json!({"b": {"sync": true}, "x": {"num-buffers": 3}}),
        ),
        ("/line", json!("fakesrc num-buffers=3 ! nosuch")),
        ("/line", json!("fakesrc num-buffers=3.5 ! fakesink")),
        ("/line", json!("fakesink ! fakesrc")),
    ]
    .into_iter()
    .map(|(path, value)| {
        let out = change(path, value);
        let first = out.lines().next().unwrap_or_default();
        first
            .split("; line: ")
            .next()
            .unwrap_or_default()
            .to_owned()
    })
    .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    cases[0]: ok: expected a refusal, got a graph
    cases[0]: elements: expected [["fakesrc","x"],["tee","t"],["fakesink","y"],["identity","z"],["fakesink","b"]], got [["fakesrc","fakesrc0"],["tee","t"],["fakesink","fakesink0"],["queue","queue0"],["fakesink","b"]]
    cases[0]: links: expected [["x","src","t","sink"],["t","one","y","sink"],["t","src_4","z","sink"],["z","src","b","sink"]], got [["fakesrc0","src","t","sink"],["t","src_0","fakesink0","sink"],["t","src_4","queue0","sink"],["queue0","src","b","sink"]]
    cases[0]: links: expected ["t","src_5","z","sink"], not there
    cases[0]: links: expected ["x","src","t","other"], not there
    cases[0]: links: expected [["x","src","t","sink"],["t","one","y","sink"],["t","src_4","z","sink"],["z","src","y","sink"]], got [["fakesrc0","src","t","sink"],["t","src_0","fakesink0","sink"],["t","src_4","queue0","sink"],["queue0","src","b","sink"]]
    cases[0]: fakesrc0.num-buffers: expected 4, got 3
    cases[0]: fakesrc0.num-buffers: 3 is not expected
    cases[0]: b.sync: expected true, got false
    cases[0]: skipped: no element `nosuch`
    cases[0]: ok: refused: fakesrc0: property num-buffers takes a whole number, not `3.5`
    cases[0]: ok: refused: element fakesink0 has no free source pad
    "#);
}

#[test]
fn lines_that_are_refused() {
    let lines = [
        "",
        "fakesrc ! nosuch ! fakesink",
        "fakesrc nosuch=1 ! fakesink",
        "fakesrc num-buffers='5' ! fakesink",
        "fakesrc ! queue leaky=sideways ! fakesink",
        "fakesrc ! fakesink parent=x",
        "fakesrc ! x. fakesink name=y",
        "fakesink ! fakesrc",
        "videotestsrc ! video/x-h264 ! fakesink",
        "videotestsrc ! video/x-raw,width= ! fakesink",
        "videotestsrc ! video/x-raw,format=I420 ! queue ! video/x-raw,format=NV12 ! fakesink",
        "tee name=t t.src_0 ! fakesink t.src_0 ! fakesink",
        "nosuch.( fakesrc ! fakesink )",
        "bin.( nosuch=1 fakesrc ! fakesink )",
        "bin.( async-handling=maybe fakesrc ! fakesink )",
        "bin.( a::num-buffers=x fakesrc name=a ! fakesink )",
        "( )",
        "fakesrc !",
    ];
    let cases: Vec<Json> = lines.iter().map(|line| json!({"line": line})).collect();
    let folder = Folder::new("gstlaunch-refused");
    let file = folder.write("file.json", json!({ "cases": cases }).to_string());
    let ran = here(&["conform", "gstlaunch", &file, "--answers", "-"]);
    let answers = parsed(&ran.out);
    let shown: Vec<String> = answers["cases"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|case| format!("{}: {} ({})", case["line"], case["ok"], case["why"]))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    "": false ("empty")
    "fakesrc ! nosuch ! fakesink": false ("no such element")
    "fakesrc nosuch=1 ! fakesink": false ("no such property")
    "fakesrc num-buffers='5' ! fakesink": false ("could not set property")
    "fakesrc ! queue leaky=sideways ! fakesink": false ("could not set property")
    "fakesrc ! fakesink parent=x": false ("could not set property")
    "fakesrc ! x. fakesink name=y": false ("no such element")
    "fakesink ! fakesrc": false ("link")
    "videotestsrc ! video/x-h264 ! fakesink": false ("link")
    "videotestsrc ! video/x-raw,width= ! fakesink": false ("link")
    "videotestsrc ! video/x-raw,format=I420 ! queue ! video/x-raw,format=NV12 ! fakesink": false ("link")
    "tee name=t t.src_0 ! fakesink t.src_0 ! fakesink": false ("link")
    "nosuch.( fakesrc ! fakesink )": false ("no such element")
    "bin.( nosuch=1 fakesrc ! fakesink )": false ("no such property")
    "bin.( async-handling=maybe fakesrc ! fakesink )": false ("could not set property")
    "bin.( a::num-buffers=x fakesrc name=a ! fakesink )": false ("could not set property")
    "( )": false ("empty bin")
    "fakesrc !": false ("syntax")
    "#);
    // With the opposite answer each is a failure that tells the engine's reason.
    let graph = json!({"ok": true, "elements": [], "links": [], "properties": {}});
    let cases: Vec<Json> = lines
        .iter()
        .map(|line| {
            let mut case = graph.clone();
            case["line"] = json!(line);
            case
        })
        .collect();
    insta::assert_snapshot!(run(&json!({ "cases": cases })).out, @r#"
    cases[0]: ok: refused: the description is empty; line: 
    cases[1]: skipped: no element `nosuch`; line: fakesrc ! nosuch ! fakesink
    cases[2]: ok: refused: fakesrc0: element fakesrc has no property `nosuch`; line: fakesrc nosuch=1 ! fakesink
    cases[3]: ok: refused: fakesrc0: property num-buffers takes a whole number, not `'5'`; line: fakesrc num-buffers='5' ! fakesink
    cases[4]: ok: refused: queue0: property leaky=sideways is none of: no, upstream, downstream; line: fakesrc ! queue leaky=sideways ! fakesink
    cases[5]: ok: refused: fakesink0: property parent takes an element, not `x`; line: fakesrc ! fakesink parent=x
    cases[6]: ok: refused: no element named `x`; line: fakesrc ! x. fakesink name=y
    cases[7]: ok: refused: element fakesink0 has no free source pad; line: fakesink ! fakesrc
    cases[8]: ok: refused: videotestsrc0.src and capsfilter0.sink have no caps in common; line: videotestsrc ! video/x-h264 ! fakesink
    cases[9]: ok: refused: capsfilter0: property caps: caps text, byte 18: expected a value, found the end; line: videotestsrc ! video/x-raw,width= ! fakesink
    cases[10]: ok: refused: queue0.src and capsfilter1.sink have no caps in common; line: videotestsrc ! video/x-raw,format=I420 ! queue ! video/x-raw,format=NV12 ! fakesink
    cases[11]: ok: refused: pad t.src_0 is linked already; line: tee name=t t.src_0 ! fakesink t.src_0 ! fakesink
    cases[12]: ok: refused: `nosuch` is not a bin; line: nosuch.( fakesrc ! fakesink )
    cases[13]: ok: refused: bin0: element bin has no property `nosuch`; line: bin.( nosuch=1 fakesrc ! fakesink )
    cases[14]: ok: refused: bin0: property async-handling takes true or false, not `maybe`; line: bin.( async-handling=maybe fakesrc ! fakesink )
    cases[15]: ok: refused: a: property num-buffers takes a whole number, not `x`; line: bin.( a::num-buffers=x fakesrc name=a ! fakesink )
    cases[16]: ok: refused: the bin `bin` is empty; line: ( )
    cases[17]: ok: refused: nothing follows this link; line: fakesrc !
    0 passed, 17 failed, 1 skipped
    "#);
}

#[test]
fn any_answer_is_right_where_the_recorded_one_is_a_gap() {
    for (line, ok) in [("fakesrc ! fakesink", false), ("fakesrc !", true)] {
        let case = json!({"line": line, "ok": ok, "free": true, "elements": [], "links": []});
        assert_eq!(told(case), "1 passed, 0 failed\n", "{line}");
    }
}

#[test]
fn a_file_without_answers_is_answered_and_the_answers_conform() {
    let mut bare = parsed(LINES);
    for case in bare["cases"].as_array_mut().expect("a list") {
        let fields = case.as_object_mut().expect("an object");
        fields.retain(|key, _| key == "line");
    }
    let folder = Folder::new("gstlaunch-bare");
    let file = folder.write("bare.json", bare.to_string());
    let out = folder.path("out.json");
    let ran = here(&["conform", "gstlaunch", &file, "--answers", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "586 answered\n"));
    let answers = std::fs::read_to_string(&out).expect("written");
    let ran = here(&["conform", "gstlaunch", &out]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "586 passed, 0 failed\n"));
    // The reasons are the recorded ones but for a few, and where elements are not there.
    let (ours, theirs) = (parsed(&answers), parsed(LINES));
    let both = |i: usize| (&ours["cases"][i], &theirs["cases"][i]);
    let other: Vec<String> = (0..586)
        .map(both)
        .filter(|(ours, theirs)| ours["why"] != theirs["why"])
        .filter(|(ours, _)| ours["why"] != "no such element")
        .map(|(ours, theirs)| format!("{}: {}, {}", ours["line"], ours["why"], theirs["why"]))
        .collect();
    insta::assert_snapshot!(other.join("\n"), @r#"
    "é ! fakesink": "syntax", "empty"
    "fakesrc name=a a . ! fakesink": "syntax", "no such element"
    "filesrc location=a\"b c\"d ! fakesink": "syntax", "no such element"
    "fakesrc ! tee name=t alloc-pad=1 ! fakesink": "no such property", "could not set property"
    "bin.( x::nope=5 fakesrc name=x ! fakesink )": "no such property", "could not set property"
    "#);
}

/// An answer of the other kind leaves no field of the first behind.
#[test]
fn answers_replace_those_of_the_file() {
    let cases = json!({"cases": [
        {"line": "fakesrc ! compositor ! fakesink", "ok": true, "elements": [], "links": []},
        {"line": "fakesrc ! fakesink", "id": 7, "why": "link", "ok": false, "free": true},
    ]});
    let folder = Folder::new("gstlaunch-replaced");
    let file = folder.write("file.json", cases.to_string());
    let ran = here(&["conform", "gstlaunch", &file, "--answers", "-"]);
    insta::assert_snapshot!(ran.out, @r#"
    {
    "cases": [
    {"line":"fakesrc ! compositor ! fakesink","ok":false,"why":"no such element","skipped":"compositor"},
    {"line":"fakesrc ! fakesink","id":7,"ok":true,"free":true,"elements":[["fakesrc","fakesrc0"],["fakesink","fakesink0"]],"links":[["fakesrc0","src","fakesink0","sink"]],"properties":{}}
    ]
    }
    "#);
    insta::assert_snapshot!(ran.err, @r#"
    cases[0]: skipped: no element `compositor`; line: fakesrc ! compositor ! fakesink
    1 passed, 0 failed, 1 skipped
    "#);
}

#[test]
fn what_is_no_file_of_launch_lines_is_refused_with_its_place() {
    let case = |case: &str| format!(r#"{{"cases": [{case}]}}"#);
    let graph = |fields: &str| case(&format!(r#"{{"line": "fakesrc", "ok": true, {fields}}}"#));
    let folder = Folder::new("gstlaunch-form");
    let mut shown = Vec::new();
    for text in [
        "{}".to_owned(),
        case("{}"),
        case(r#"{"line": 5}"#),
        case(r#"{"line": "fakesrc", "ok": 1}"#),
        case(r#"{"line": "fakesrc", "ok": true}"#),
        graph(r#""elements": [["fakesrc"]], "links": []"#),
        graph(r#""elements": [["fakesrc", 5]], "links": []"#),
        graph(r#""elements": [], "links": [["a", "b", "c"]]"#),
        graph(r#""elements": [], "links": [], "properties": {"a": 5}"#),
    ] {
        let file = folder.write("file.json", text);
        let ran = here(&["conform", "gstlaunch", &file]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        shown.push(ran.err.replace(&file, "file.json"));
    }
    insta::assert_snapshot!(shown.concat(), @r#"
    error: file.json: the file: expected a list `cases`, found an object without fields
    error: file.json: cases[0]: expected an object with `line`, found an object without fields
    error: file.json: cases[0].line: expected a text, found 5
    error: file.json: cases[0].ok: expected true or false, found 1
    error: file.json: cases[0]: expected an object with `elements`, found an object of 2 fields, the first "line"
    error: file.json: cases[0].elements[0]: expected an element: [FACTORY, NAME], found a list of 1
    error: file.json: cases[0].elements[0][1]: expected a text, found 5
    error: file.json: cases[0].links[0]: expected a link: [ELEMENT, PAD, ELEMENT, PAD], found a list of 3
    error: file.json: cases[0].properties.a: expected an object, found 5
    "#);
}
