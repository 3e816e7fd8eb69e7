//! `to_text` and back: generated descriptions with odd names and values.

use super::*;

#[derive(Debug, Clone)]
struct Plan {
    factory: usize,
    /// 0: no name, 1: a plain one, 2: one that needs quotes.
    name: u8,
    properties: Vec<(usize, String)>,
    /// Bins to close before the element, and to open.
    close: usize,
    open: usize,
    caps: bool,
}

const FACTORIES: [&str; 4] = ["queue", "tee", "my-src_1", "a:b%c"];
const KEYS: [&str; 4] = ["k", "num-buffers", "sink_0::xpos", "caps"];

fn value() -> impl Strategy<Value = String> {
    let hard = [
        "", "\"", "\"a\"", "'a'", "\\", "a\\", "a b", "!", "a)", "\"a", "x\"y z\"", " ", "\n",
        "日 本",
    ];
    prop_oneof![
        3 => "[a-z0-9./]{1,6}",
        3 => proptest::sample::select(hard.to_vec()).prop_map(str::to_owned),
        3 => "[ab\"'\\\\ !=()\t\n.]{0,8}",
        1 => any::<String>(),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        0..FACTORIES.len(),
        0u8..3,
        proptest::collection::vec((0..KEYS.len(), value()), 0..3),
        0usize..3,
        0usize..3,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(factory, name, properties, close, open, caps)| Plan {
            factory,
            name,
            properties,
            close: if close == 2 { 1 } else { 0 },
            open: if open == 2 { 1 } else { 0 },
            caps,
        })
}

type RawLink = (usize, usize, u8, u8, bool, bool);

fn build(plans: &[Plan], links: &[RawLink]) -> Description {
    let mut description = Description::default();
    let mut stack: Vec<usize> = Vec::new();
    let zero = Span::default();
    let property = |(key, value): &(usize, String)| PropertySpec {
        key: KEYS[*key].to_owned(),
        value: value.clone(),
        key_span: zero,
        value_span: zero,
    };
    for (index, plan) in plans.iter().enumerate() {
        for _ in 0..plan.close {
            stack.pop();
        }
        for _ in 0..plan.open {
            let named = plan.name == 1;
            description.bins.push(BinSpec {
                factory: if plan.factory == 0 {
                    "bin"
                } else {
                    FACTORIES[plan.factory]
                }
                .to_owned(),
                factory_span: zero,
                name: named.then(|| format!("bin {index}")),
                name_span: named.then_some(zero),
                properties: plan.properties.iter().map(property).collect(),
                span: zero,
                parent: stack.last().copied(),
            });
            stack.push(description.bins.len() - 1);
        }
        let name = match plan.name {
            1 => Some(format!("n{index}")),
            2 => Some(format!("odd \"\\{index}")),
            _ => None,
        };
        let caps = PropertySpec {
            key: "caps".to_owned(),
            value: "video/x-raw, width=(int)3; audio/x-raw".to_owned(),
            key_span: zero,
            value_span: zero,
        };
        description.elements.push(ElementSpec {
            factory: if plan.caps {
                "capsfilter"
            } else {
                FACTORIES[plan.factory]
            }
            .to_owned(),
            factory_span: zero,
            name_span: name.as_ref().map(|_| zero),
            name: name.filter(|_| !plan.caps),
            properties: if plan.caps {
                vec![caps]
            } else {
                plan.properties.iter().map(property).collect()
            },
            span: zero,
            bin: stack.last().copied(),
        });
        if plan.caps {
            description.elements[index].name_span = None;
        }
    }
    let count = plans.len();
    for &(from, to, from_pad, to_pad, near, all) in links {
        let from = from % count;
        let to = if near { (from + 1) % count } else { to % count };
        if from == to {
            continue;
        }
        let end = |element, pad: u8| End {
            element,
            pad: (pad < 2).then(|| PadName {
                name: format!("p_{pad}"),
                span: zero,
            }),
            span: zero,
        };
        description.links.push(LinkSpec {
            from: end(from, from_pad),
            to: end(to, to_pad),
            all,
            span: zero,
        });
    }
    description
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..Default::default() })]

    /// Whatever can be written is read back as it was.
    #[test]
    fn written_and_read(
        plans in proptest::collection::vec(plan(), 1..10),
        links in proptest::collection::vec(
            (0usize..10, 0usize..10, 0u8..6, 0u8..6, any::<bool>(), prop::bool::weighted(0.1)),
            0..10,
        ),
        sorted in any::<bool>(),
    ) {
        let mut links = links;
        if sorted {
            links.sort_unstable();
        }
        let description = build(&plans, &links);
        match to_text(&description) {
            Ok(text) => {
                let again = parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.render(&text)));
                prop_assert_eq!(again.without_spans(), description, "{}", text);
            }
            // Only a name that no reference can hold stands in the way here.
            Err(NotExpressible::Name(name)) => prop_assert!(name.starts_with("odd ")),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// A value survives being written.
    #[test]
    fn quoted_and_read(value in value()) {
        let property = super::super::value::quote(&value);
        let description = ok(&format!("e k={property} z=1 ! f"));
        prop_assert_eq!(&description.elements[0].properties[0].value, &value);
        prop_assert_eq!(description.links.len(), 1);
        prop_assert_eq!(description.elements[0].properties.len(), 2);
    }
}

#[test]
fn texts_as_a_person_writes_them() {
    let lines = [
        "videotestsrc num-buffers=5 ! video/x-raw,width=64 ! tee name=t ! queue ! fakesink t. ! queue ! fakesink",
        "a ! mix. b ! mix. compositor name=mix sink_1::xpos=10 ! c",
        "a .x ! .y b location=\"a b\" ( c ! d ) e",
        "a ! ( b ! c ) ! d",
        "t name=t t. ! u. ( c ) u name=u",
        "a name='x y' ! b : c",
    ];
    let all: Vec<String> = lines
        .iter()
        .map(|line| {
            let description = ok(line);
            let text = to_text(&description).unwrap();
            assert_eq!(ok(&text).without_spans(), description.without_spans());
            text
        })
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r##"
videotestsrc num-buffers=5 ! video/x-raw,width=64 ! tee name=t ! queue ! fakesink t. ! queue ! fakesink
a b a0. ! compositor name=mix sink_1::xpos=10 b0. ! mix. mix. ! c
a .x ! .y b location="a b" ( c ! d ) e
a ( b ! c a0. ! b0. ) c0. ! d
t name=t u.( t. ! c ) u name=u
a name="x y" ! b : c
"##);
}

#[test]
fn what_cannot_be_written() {
    let mut description = ok("a ! b");
    description.elements[0].factory = "a b".to_owned();
    assert_eq!(
        to_text(&description),
        Err(NotExpressible::Word("a b".to_owned()))
    );
    let mut description = ok("a name='x y' b name=q c name=r q. ! r.");
    description.links[0].from.element = 0;
    assert_eq!(
        to_text(&description),
        Err(NotExpressible::Name("x y".to_owned()))
    );
    let mut description = ok("( a ) b");
    description.elements.swap(0, 1);
    assert!(to_text(&description).is_ok());
    description.elements[0].bin = Some(3);
    assert_eq!(to_text(&description), Err(NotExpressible::Order(0)));
    let mut description = ok("a ! b");
    description.links[0].to.element = 9;
    assert_eq!(to_text(&description), Err(NotExpressible::Link(0)));
    let description = ok("( t. ! u. ) t name=t u name=u");
    assert_eq!(to_text(&description), Err(NotExpressible::EmptyBin(0)));
}
