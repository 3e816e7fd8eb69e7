//! The same answer in whatever order rows of converters, branches of tees and elements are written.

mod negotiating;

use negotiating::{Dice, agreed, all_caps};
use tickpipe::Plan;

/// What a source, a converter and a sink agree on before and behind the converter.
fn chosen(source: &str, map: &str, sink: &str) -> (String, String, Plan) {
    let plan = agreed(&format!(
        "capssrc caps=\"{source}\" ! capsmap map=\"{map}\" ! capssink caps=\"{sink}\""
    ));
    let all = all_caps(&plan);
    (all[0].clone(), all[1].clone(), plan)
}

/// All orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    match list {
        [] => vec![Vec::new()],
        list => (0..list.len())
            .flat_map(|i| {
                let mut rest = list.to_vec();
                let first = rest.remove(i);
                orders(&rest).into_iter().map(move |mut order| {
                    order.insert(0, first.clone());
                    order
                })
            })
            .collect(),
    }
}

#[test]
fn rows_have_no_order() {
    let rows = [
        "a/x,f={1,2} -> a/y,g={5,6}",
        "a/x,f=1 -> a/y,g=7; a/y,g=5",
        "a/x,f=3 -> a/y,g={7,5}",
        "a/x -> a/x",
        "b/z; a/x,f=2 -> a/y,g=6",
    ];
    let mut answers = Vec::new();
    for sink in ["a/y", "a/y,g=[6,7]", "a/y,g=7; a/x,f=4", "a/y,g=5"] {
        let mut want = None;
        for order in orders(&rows) {
            let (before, behind, plan) = chosen("a/x,f={2,1,3}; b/z", &order.join(" | "), sink);
            let got = (before, behind, plan.cost);
            assert_eq!(want.get_or_insert(got.clone()), &got, "{order:?} {sink}");
        }
        answers.extend(want);
    }
    assert_eq!(answers[0].0, "a/x,f=2");
    assert_eq!(answers[2].1, "a/y,g=7");
}

const BRANCHES: [&str; 4] = [
    "! queue name=q ! capssink name=ka caps=\"v/x,w=[4,9]\"",
    "! capsmap name=mb map=\"v/x,f=B -> v/x,f=A | v/x,f=A -> v/x,f=B | v/x -> v/x\" ! capssink name=kb caps=\"v/x,f=B\"",
    "! capsmap name=mc map=\"v/x,w=[1,9] -> v/x,w=[1,99]\" ! capssink name=kc caps=\"v/x,w={50,60}\"",
    "! identity name=i ! capssink name=kd caps=\"v/x,f={A,C}; v/x,f=B\"",
];

/// What each link has, by the names of its ends without those of a tee's pads.
fn by_name(plan: &Plan) -> Vec<String> {
    let plain = |pad: &str| pad.split(".src_").next().unwrap_or(pad).to_owned();
    let mut all: Vec<String> = plan
        .links
        .iter()
        .map(|l| format!("{} -> {}: {} ({})", plain(&l.from), l.to, l.caps, l.cost))
        .collect();
    all.sort();
    all
}

#[test]
fn branches_have_no_order() {
    let source = "capssrc name=s caps=\"v/x,f={B,A,C},w=[2,8,2]\" ! tee name=t";
    let mut want = None;
    for order in orders(&BRANCHES) {
        let branches: Vec<String> = order.iter().map(|b| format!("t. {b}")).collect();
        let branches = branches.join(" ");
        // The source first or last.
        for text in [
            format!("{source} {branches}"),
            format!("{} {source}", branches),
        ] {
            let got = by_name(&agreed(&text));
            assert_eq!(want.get_or_insert(got.clone()), &got, "{text}");
        }
    }
    let want = want.expect("some order");
    assert!(
        want.iter()
            .any(|l| l.starts_with("s.src -> t.sink: v/x,f=B,w=4")),
        "{want:?}"
    );
}

#[test]
fn elements_have_no_order() {
    // Two sources, a join and branches behind it, with all names given: chains in any order.
    let chains = [
        "capssrc name=s1 caps=\"v/x,f={B,A},w=[2,8,2]\" ! queue name=q1 ! f.sink_0",
        "capssrc name=s2 caps=\"v/x,f={A,B},w=[3,12,3]\" ! capsmap name=m map=\"v/x,w=[1,99] -> v/x,w=[2,98,2] | v/x -> v/x\" ! f.sink_1",
        "funnel name=f ! tee name=t",
        "t.src_0 ! capssink name=k1 caps=\"v/x,w=[4,9]\"",
        "t.src_1 ! queue name=q2 ! capsmap name=n map=\"v/x,f=A -> v/x,f=C | v/x,f=B -> v/x,f=C\" ! capssink name=k2",
    ];
    let mut want = None;
    let mut dice = Dice(3);
    for _ in 0..150 {
        let mut order = chains;
        dice.shuffle(&mut order);
        let text = order.join(" ");
        let got = by_name(&agreed(&text));
        assert_eq!(want.get_or_insert(got.clone()), &got, "{text}");
    }
    // The step grids of the two sources meet at 6, so nothing is scaled.
    let want = want.expect("some order");
    let source = want
        .iter()
        .find(|l| l.starts_with("s1.src"))
        .expect("a link");
    assert!(source.contains("f=B,w=6"), "{want:?}");
}
