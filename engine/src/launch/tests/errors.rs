//! What is said about wrong texts, and how it is shown.

use super::*;

#[test]
fn texts_of_errors() {
    let lines = [
        "",
        " \n ",
        "videotestsrc !",
        "! fakesink",
        "a ! ! b",
        "a : : b",
        "a # b",
        "a ! é",
        "a ; b",
        "a = b",
        "a ! \"video/x-raw,width=320\" ! b",
        "a ! \"b",
        "a ! b '",
        "a k=",
        "k=3",
        "a ! k=3",
        "x. k=3 ! a",
        "a .p k=3",
        ".p a",
        "a .p .q ! b",
        "a .p,",
        "a .p",
        "t. a",
        "a ! t.",
        "tee name=mix a ! mixx.",
        "a ! t. ! b c name=t",
        "a ! .p t. c name=t",
        "video/x-raw ! a",
        "a ! video/x-raw, width=3",
        "a ! video/x-raw ! audio/x-raw ! b",
        "/tmp/a.y4m ! a",
        "http://x/y ! a",
        "a ! file:///x ! b",
        "a @preset=x",
        "( )",
        "bin.( name=x ) ! a",
        "( a ! b",
        "( a k=3)",
        "a )",
        "b ! ( t. ! a ) c name=t",
        "( a ! t. ) ! b c name=t",
        "( name=b a ) b. ! c",
        "a name=x b name=x",
        "a name=\"\"",
        "a name=\"\\\"x\"y\\\"\"",
        "a name=x x. ! x.",
        "a .p,q ! .r b",
        "a, b",
    ];
    let all: Vec<String> = lines.iter().map(|line| shown(line)).collect();
    insta::assert_snapshot!(all.join("\n\n"), @r##"
error: the description is empty
  help: write elements with `!` between them, as `videotestsrc ! fakesink`

error: the description is empty
  help: write elements with `!` between them, as `videotestsrc ! fakesink`

error: nothing follows this link
  videotestsrc !
               ^

error: nothing stands before this link
  ! fakesink
  ^

error: nothing follows this link
  a ! ! b
    ^

error: nothing follows this link
  a : : b
    ^

error: unexpected character '#'
  a # b
    ^

error: unexpected character 'é'
  a ! é
      ^

error: unexpected `;`
  a ; b
    ^

error: property `a` belongs to no element
  a = b
  ^^^^^
  help: properties follow their element at once, before any pad or link

error: quoted text is neither an element nor caps
  a ! "video/x-raw,width=320" ! b
      ^^^^^^^^^^^^^^^^^^^^^^^
  help: quotes belong around values (`location="a b"`); caps are written without them

error: quoted text is neither an element nor caps
  a ! "b
      ^^
  help: quotes belong around values (`location="a b"`); caps are written without them

error: quoted text is neither an element nor caps
  a ! b '
        ^
  help: quotes belong around values (`location="a b"`); caps are written without them

error: `k` has no value
  a k=
    ^^
  help: an empty value is written `""`

error: property `k` belongs to no element
  k=3
  ^^^
  help: properties follow their element at once, before any pad or link

error: nothing follows this link
  a ! k=3
    ^

error: property `k` belongs to no element
  x. k=3 ! a
     ^^^
  help: properties follow their element at once, before any pad or link

error: property `k` belongs to no element
  a .p k=3
       ^^^
  help: properties follow their element at once, before any pad or link

error: pad `p` belongs to no element
  .p a
  ^^

error: pad `q` belongs to no element
  a .p .q ! b
       ^^

error: a pad name is missing after this comma
  a .p,
      ^

error: pad `p` is not part of a link
  a .p
     ^

error: the reference `t.` is not part of a link
  t. a
  ^^
  help: link it: `t. ! ...`

error: no element named `t`
  a ! t.
      ^^
  help: a name is given with `name=` on the element

error: no element named `mixx`
  tee name=mix a ! mixx.
                   ^^^^^
  help: did you mean `mix`?

error: a link cannot go on from the reference `t.`
  a ! t. ! b c name=t
         ^
  help: start anew from it: `... ! t.  t. ! ...`

error: pad `p` belongs to no element
  a ! .p t. c name=t
       ^

error: caps `video/x-raw` do not stand between two linked elements
  video/x-raw ! a
  ^^^^^^^^^^^
  help: caps have an element and a link on either side: `videotestsrc ! video/x-raw ! fakesink`

error: caps `video/x-raw` do not stand between two linked elements
  a ! video/x-raw, width=3
      ^^^^^^^^^^^
  help: caps have an element and a link on either side: `videotestsrc ! video/x-raw ! fakesink`

error: caps `audio/x-raw` do not stand between two linked elements
  a ! video/x-raw ! audio/x-raw ! b
                    ^^^^^^^^^^^
  help: caps have an element and a link on either side: `videotestsrc ! video/x-raw ! fakesink`

error: a path is not an element
  /tmp/a.y4m ! a
  ^^^^^^^^^^
  help: a file is read by `filesrc location=...`

error: no element reads or writes `http://x/y`
  http://x/y ! a
  ^^^^^^^^^^
  help: only `file:///...` is known

error: a link cannot go on from a URI
  a ! file:///x ! b
                ^

error: presets are not supported
  a @preset=x
    ^^^^^^^^^

error: the bin `bin` is empty
  ( )
  ^^^

error: the bin `bin` is empty
  bin.( name=x ) ! a
  ^^^^^^^^^^^^^^

error: this bin is not closed
  ( a ! b
  ^

error: this bin is not closed
  ( a k=3)
  ^
  help: the bracket in `3)` is part of the value: put a space before it

error: this bracket closes nothing
  a )
    ^

error: the bin after this link starts with a reference or URI, not with an element
  b ! ( t. ! a ) c name=t
    ^

error: the bin before this link ends with a reference or URI, not with an element
  ( a ! t. ) ! b c name=t
             ^

error: `b` is a bin, which has no pads of its own
  ( name=b a ) b. ! c
               ^^
  help: refer to an element inside it

error: the name `x` is given twice
  a name=x b name=x
                  ^

error: a name cannot be empty
  a name=""
    ^^^^^^^

error: a name has two double quotes around it or none
  a name="\"x"y\""
    ^^^^^^^^^^^^^^

error: an element cannot be linked to itself
  a name=x x. ! x.
              ^

error: 2 pads are linked to 1
  a .p,q ! .r b
         ^

error: unexpected `,`
  a, b
   ^
"##);
}

#[test]
fn texts_of_warnings() {
    let lines = [
        "t name=t t.a,b,c ! q",
        "a k=\"b ! c",
        "a k=true!b",
        "a k= ! b",
        "a name=x name=y",
    ];
    let all: Vec<String> = lines.iter().map(|line| warned(line)).collect();
    insta::assert_snapshot!(all.join("\n"), @r##"
warning: pad `b` is not linked: the other side of the link names no pad for it
  t name=t t.a,b,c ! q
               ^
warning: pad `c` is not linked: the other side of the link names no pad for it
  t name=t t.a,b,c ! q
                 ^
warning: the quote does not enclose the whole value of `k`: it is taken as part of it
  a k="b ! c
      ^^
warning: this `!` is part of the value of `k` and links nothing
  a k=true!b
          ^
warning: this `!` is part of the value of `k` and links nothing
  a k= ! b
       ^
warning: the element has a name already: `y` is not used
  a name=x name=y
                ^
"##);
}

#[test]
fn places_in_long_wide_and_many_lines() {
    let long = format!(
        "{}fakesink nosuch. ! b {}",
        "identity ! ".repeat(50),
        "! queue ".repeat(50)
    );
    insta::assert_snapshot!(shown(&long), @r##"
error: no element named `nosuch`
  ...entity ! identity ! identity ! fakesink nosuch. ! b ! queue ! queue ! queue ! queue ! queue ! qu...
                                             ^^^^^^^
  help: a name is given with `name=` on the element
"##);
    let late = format!("{}queue x. ! y", "queue ! ".repeat(30));
    insta::assert_snapshot!(shown(&late), @r##"
error: no element named `x`
  ...! queue ! queue ! queue ! queue ! queue x. ! y
                                             ^^
  help: a name is given with `name=` on the element
"##);
    insta::assert_snapshot!(shown("a k=\"日本語 é\"\tb ! x."), @r##"
error: no element named `x`
  a k="日本語 é"    b ! x.
                        ^^
  help: a name is given with `name=` on the element
"##);
    insta::assert_snapshot!(shown("a\r\n\t! b\r\nc ! mix.\r\n! d\n"), @r##"
error: a link cannot go on from the reference `mix.`
  4 | ! d
    | ^
  help: start anew from it: `... ! mix.  mix. ! ...`
"##);
    insta::assert_snapshot!(shown("a !\n  t.\n  ! b"), @r##"
error: a link cannot go on from the reference `t.`
  3 |   ! b
    |   ^
  help: start anew from it: `... ! t.  t. ! ...`
"##);
}

/// The same form serves errors that are found later.
#[test]
fn render_for_others() {
    let text = "videotestsrc patern=snow ! fakesink";
    let span = Span::new(13, 19);
    let near = closest("patern", ["num-buffers", "pattern", "is-live"]);
    let help = near.map(|name| format!("did you mean `{name}`?"));
    let message = "`videotestsrc` has no property `patern`";
    insta::assert_snapshot!(render(text, span, message, help.as_deref()), @r##"
error: `videotestsrc` has no property `patern`
  videotestsrc patern=snow ! fakesink
               ^^^^^^
  help: did you mean `pattern`?
"##);
    // Spans that do not fit are cut to the text.
    assert_eq!(
        render("é", Span::new(1, 9), "m", None),
        "error: m\n  é\n  ^"
    );
    assert_eq!(
        render("a", Span::new(7, 3), "m", None),
        "error: m\n  a\n   ^"
    );
    assert_eq!(render("", Span::new(0, 0), "m", None), "error: m");
}

#[test]
fn closest_names() {
    let names = [
        "queue",
        "tee",
        "identity",
        "videoscale",
        "videoconvert",
        "filesrc",
        "filesink",
    ];
    for (wrong, right) in [
        ("queu", Some("queue")),
        ("Queue", Some("queue")),
        ("qeuue", Some("queue")),
        ("te", Some("tee")),
        ("vidoescale", Some("videoscale")),
        ("filesrk", Some("filesrc")),
        ("filesxxx", None),
        ("x", None),
        ("", None),
    ] {
        assert_eq!(closest(wrong, names), right, "{wrong}");
    }
    assert_eq!(closest("ab", ["ac", "aa"]), Some("aa"));
    assert_eq!(closest("ab", ["aa", "ac"]), Some("aa"));
    let huge = "x".repeat(1 << 20);
    assert_eq!(closest(&huge, [huge.as_str()]), None);
    assert_eq!(closest("x", [huge.as_str()]), None);
}
