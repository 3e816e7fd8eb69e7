//! Suite `caps`: what Zephyr's mpipe answers about values and structures. Where its answer ignores
//! a step grid and this engine's is the exact set, the case passes as exact.

use super::form::{ConformError, Node};
use super::grid::{self, Rule};
use super::{Answered, Suite, Tally, Verdict, differs, lists};
use serde_json::{Value as Json, json};
use tickpipe_components::caps::pair::{self, EditError, MPIPE_FIELDS};
use tickpipe_components::caps::{Caps, CapsLimits, FieldName, Structure, Value, ValueSet};

pub(super) const SUITE: Suite = Suite {
    name: "caps",
    about: "mpipe's answers: `value_intersect`, `structure_intersect`, `fixate`, `edit`",
    answer,
};

/// mpipe's limits as the files were made with.
const LIMITS: CapsLimits = CapsLimits {
    fields: 5,
    ..CapsLimits::DEFAULT
};

fn answer(file: &mut Json) -> Result<Tally, ConformError> {
    lists(
        file,
        &[
            ("value_intersect", value_intersect),
            ("structure_intersect", structure_intersect),
            ("fixate", fixate),
            ("edit", edit),
        ],
    )
}

/// A value as `["int", 4]`, `["uint_range", 0, 64, 2]`, …
fn value(node: &Node) -> Result<ValueSet, ConformError> {
    value_from(node, 0)
}

/// The same, from that place of a list on.
fn value_from(node: &Node, from: usize) -> Result<ValueSet, ConformError> {
    const KINDS: &str = "a value: bool B, int V, uint V, int_range MIN MAX STEP or \
                         uint_range MIN MAX STEP";
    let numbers = node.list()?.len().saturating_sub(from + 1);
    let kind = node.item(from).ok_or_else(|| node.wrong(KINDS))?;
    let number = |i: usize, min: i64, max: i64| match node.item(from + i) {
        Some(number) => number.whole(min, max),
        None => Err(node.wrong(KINDS)),
    };
    let uint = |i: usize| Ok(number(i, 0, u32::MAX.into())? as u32);
    let int = |i: usize| number(i, i32::MIN.into(), i32::MAX.into());
    let step = |i: usize| number(i, 0, i32::MAX.into());
    let set = match (kind.text()?, numbers) {
        ("bool", 1) => match node.item(from + 1) {
            Some(truth) => Ok(ValueSet::from(truth.truth()?)),
            None => return Err(node.wrong(KINDS)),
        },
        ("int", 1) => Ok(ValueSet::from(int(1)?)),
        ("uint", 1) => Ok(ValueSet::from(uint(1)?)),
        ("int_range", 3) => ValueSet::int_range(int(1)?, int(2)?, step(3)?),
        ("uint_range", 3) => ValueSet::uint_range(uint(1)?, uint(2)?, uint(3)?),
        ("bool" | "int" | "uint" | "int_range" | "uint_range", _) => {
            return Err(node.wrong(KINDS));
        }
        _ => return Err(kind.wrong(KINDS)),
    };
    set.map_err(|error| node.wrong(format!("a value that can be ({error})")))
}

/// A value in the form of the files.
fn json_of(set: &ValueSet) -> Json {
    match set {
        ValueSet::One(Value::Bool(v)) => json!(["bool", v]),
        ValueSet::One(Value::Int(v)) => json!(["int", v]),
        ValueSet::One(Value::Uint(v)) => json!(["uint", v]),
        ValueSet::IntRange(r) => json!(["int_range", r.min(), r.max(), r.raw_step()]),
        ValueSet::UintRange(r) => json!(["uint_range", r.min(), r.max(), r.raw_step()]),
        // No file can hold another one.
        other => json!(["other", format!("{other:?}")]),
    }
}

/// Caps of mpipe's: ANY, or one structure whose fields have an order.
#[derive(Clone, Debug)]
enum Capability {
    Any,
    One {
        media: String,
        fields: Vec<(String, ValueSet)>,
    },
}

impl Capability {
    fn read(node: &Node) -> Result<Capability, ConformError> {
        node.object()?;
        if let Some(any) = node.get("any")
            && any.truth()?
        {
            return Ok(Capability::Any);
        }
        let media = node.field("media")?.text()?.to_owned();
        let mut fields: Vec<(String, ValueSet)> = Vec::new();
        let list = node.field("fields")?;
        if list.list()?.len() > LIMITS.fields {
            let limit = LIMITS.fields;
            return Err(list.wrong(format!("at most {limit} fields, as mpipe has")));
        }
        for field in (0..).map_while(|i| list.item(i)) {
            field.list()?;
            let form = "a field: its name and a value";
            let name = field.item(0).ok_or_else(|| field.wrong(form))?;
            let text = name.text()?;
            if fields.iter().any(|(held, _)| held == text) {
                return Err(name.wrong("a field that was not there before"));
            }
            fields.push((text.to_owned(), value_from(&field, 1)?));
        }
        Ok(Capability::One { media, fields })
    }

    fn caps(&self) -> Caps {
        match self {
            Capability::Any => Caps::any(),
            Capability::One { .. } => self.structure().into(),
        }
    }

    /// The structure; of ANY one without fields.
    fn structure(&self) -> Structure {
        let Capability::One { media, fields } = self else {
            return Structure::new("");
        };
        let mut out = Structure::new(media);
        for (name, set) in fields {
            // So few fit, whatever their names.
            let set = out.set_named(FieldName::new(name), set.clone(), &LIMITS);
            debug_assert_eq!(set, Ok(()));
        }
        out
    }

    /// Names of fields in order.
    fn names(&self) -> Vec<&str> {
        match self {
            Capability::Any => Vec::new(),
            Capability::One { fields, .. } => fields.iter().map(|(name, _)| &**name).collect(),
        }
    }

    /// mpipe's intersection of structures, with a rule for values.
    fn meet(&self, other: &Capability, rule: Rule) -> Result<Capability, &'static str> {
        use Capability::{Any, One};
        let (
            One { media, fields },
            One {
                media: other_media,
                fields: others,
            },
        ) = (self, other)
        else {
            return Ok(match self {
                Any => other.clone(),
                One { .. } => self.clone(),
            });
        };
        if media != other_media {
            return Err("EINVAL");
        }
        let mut out = Vec::new();
        let mut common = 0;
        for (name, set) in fields {
            let both = match others.iter().find(|(other, _)| other == name) {
                Some((_, yours)) => {
                    common += 1;
                    grid::meet(set, yours, rule).ok_or("ENOENT")?
                }
                None => set.clone(),
            };
            out.push((name.clone(), both));
        }
        if common == 0 {
            return Err("ENOENT");
        }
        let extra = others.iter().filter(|(name, _)| {
            let mut mine = fields.iter();
            mine.all(|(other, _)| other != name)
        });
        out.extend(extra.cloned());
        if out.len() > LIMITS.fields {
            return Err("ENOSPC");
        }
        Ok(One {
            media: media.clone(),
            fields: out,
        })
    }
}

/// Caps in the form of the files, the fields in the order in which mpipe has them.
fn caps_json(caps: &Caps, order: &[&str]) -> Json {
    match caps.first() {
        Some(structure) => structure_json(structure, order),
        None => json!({"any": caps.is_any()}),
    }
}

fn structure_json(structure: &Structure, order: &[&str]) -> Json {
    let place = |name: &str| order.iter().position(|n| *n == name);
    let mut fields: Vec<_> = structure.fields().collect();
    fields.sort_by_key(|(name, _)| place(name).unwrap_or(order.len()));
    let fields = fields.into_iter().map(|(name, set)| {
        let mut field = vec![Json::from(name)];
        if let Json::Array(value) = json_of(set) {
            field.extend(value);
        }
        Json::Array(field)
    });
    json!({"media": structure.media(), "fields": fields.collect::<Vec<_>>()})
}

/// What a file says came of a case; what is `None` was not said.
struct Given<T> {
    result: Option<String>,
    /// Nothing, if the result is not `ok`.
    out: Option<Option<T>>,
}

/// Its form in the file beside it, to be shown.
type Shown<T> = (T, Json);

impl<T: PartialEq> Given<Shown<T>> {
    fn read(
        case: &Node,
        read: impl Fn(&Node) -> Result<T, ConformError>,
    ) -> Result<Given<Shown<T>>, ConformError> {
        let result = match case.answer("result") {
            Some(result) => Some(result.text()?.to_owned()),
            None => None,
        };
        let out = match case.get("out") {
            Some(out) if !out.json.is_null() => Some(Some((read(&out)?, out.json.clone()))),
            // Beside a result null is "nothing"; else nothing was said.
            Some(_) if result.is_some() => Some(None),
            _ => None,
        };
        Ok(Given { result, out })
    }

    fn is_some(&self) -> bool {
        self.result.is_some() || self.out.is_some()
    }

    /// How an answer differs from it.
    fn differs(&self, ours: &Result<T, &str>, json: impl Fn(&T) -> Json) -> Vec<String> {
        let mut out = Vec::new();
        let result = ours.as_ref().map_or_else(|errno| *errno, |_| "ok");
        if let Some(given) = self.result.as_deref().filter(|given| *given != result) {
            out.push(differs(
                "result",
                &Json::from(given).to_string(),
                &format!("\"{result}\""),
            ));
        }
        if let Some(given) = &self.out
            && given.as_ref().map(|given| &given.0) != ours.as_ref().ok()
        {
            let given = given.as_ref().map_or(&Json::Null, |given| &given.1);
            let ours = ours.as_ref().map_or(Json::Null, &json);
            out.push(differs("out", &given.to_string(), &ours.to_string()));
        }
        out
    }
}

/// The answer to an intersection, and how it compares; `exact` and `gridless` are what the rules
/// of those names give.
fn judge<T: PartialEq>(
    case: &Node,
    given: &Given<Shown<T>>,
    ours: Result<T, &'static str>,
    exact: &Result<T, &'static str>,
    gridless: &Result<T, &'static str>,
    json: impl Fn(&T) -> Json,
) -> Answered {
    let mut wrong = given.differs(&ours, &json);
    let verdict = if wrong.is_empty() {
        Verdict::of(wrong, given.is_some())
    } else if ours == *exact && given.differs(gridless, &json).is_empty() {
        Verdict::Exact
    } else {
        wrong.extend(["a", "b"].map(|side| inputs(case, side)));
        Verdict::of(wrong, true)
    };
    Answered {
        without: &[],
        verdict,
        fields: vec![
            (
                "result",
                Json::from(ours.as_ref().map_or_else(|e| *e, |_| "ok")),
            ),
            ("out", ours.as_ref().map_or(Json::Null, json)),
        ],
    }
}

/// What was asked, for a line.
fn inputs(case: &Node, key: &str) -> String {
    let json = case.json.get(key).unwrap_or(&Json::Null);
    format!("{key}: {}", super::shown(&json.to_string()))
}

fn value_intersect(case: &Node) -> Result<Answered, ConformError> {
    let (a, b) = (value(&case.field("a")?)?, value(&case.field("b")?)?);
    let given = Given::read(case, value)?;
    Ok(judge(
        case,
        &given,
        a.intersect(&b).ok_or("ENOENT"),
        &grid::meet(&a, &b, Rule::Exact).ok_or("ENOENT"),
        &grid::meet(&a, &b, Rule::Gridless).ok_or("ENOENT"),
        json_of,
    ))
}

fn structure_intersect(case: &Node) -> Result<Answered, ConformError> {
    let a = Capability::read(&case.field("a")?)?;
    let b = Capability::read(&case.field("b")?)?;
    let given = Given::read(case, |out| Ok(Capability::read(out)?.caps()))?;
    let order = [a.names(), b.names()].concat();
    let by = |rule| a.meet(&b, rule).map(|both| both.caps());
    let ours = pair::meet_within(&a.caps(), false, &b.caps(), false, &LIMITS);
    Ok(judge(
        case,
        &given,
        ours.map_err(|error| error.errno()),
        &by(Rule::Exact),
        &by(Rule::Gridless),
        |caps| caps_json(caps, &order),
    ))
}

fn fixate(case: &Node) -> Result<Answered, ConformError> {
    let asked = Capability::read(&case.field("in")?)?;
    let caps = asked.caps();
    let fixed = caps.first().is_some_and(Structure::is_primitive);
    let ours = caps
        .first()
        .and_then(Structure::fixate_mpipe)
        .ok_or("ENOENT");
    let is_fixed = case.answer("is_fixed").map(|f| f.truth()).transpose()?;
    let given = Given::read(case, |out| Ok(Capability::read(out)?.caps()))?;
    let ours = ours.map(Caps::from);
    let json = |caps: &Caps| caps_json(caps, &asked.names());
    let mut wrong = Vec::new();
    if let Some(given) = is_fixed.filter(|given| *given != fixed) {
        wrong.push(differs("is_fixed", &given.to_string(), &fixed.to_string()));
    }
    wrong.extend(given.differs(&ours, json));
    if !wrong.is_empty() {
        wrong.push(inputs(case, "in"));
    }
    Ok(Answered {
        without: &[],
        verdict: Verdict::of(wrong, is_fixed.is_some() || given.is_some()),
        fields: vec![
            ("is_fixed", Json::from(fixed)),
            (
                "result",
                Json::from(ours.as_ref().map_or_else(|e| *e, |_| "ok")),
            ),
            ("out", ours.as_ref().map_or(Json::Null, json)),
        ],
    })
}

/// Operations on a structure that is empty at first; each ends with its answer.
fn edit(case: &Node) -> Result<Answered, ConformError> {
    let ops = case.field("ops")?;
    let mut built = Structure::new("video");
    // Where mpipe has the fields: a removed one leaves a hole, into which the last one moves.
    let mut slots: Vec<String> = Vec::new();
    let (mut wrong, mut has_answer) = (Vec::new(), false);
    let mut answers = Vec::with_capacity(ops.list()?.len());
    for (i, op) in (0..).map_while(|i| ops.item(i)).enumerate() {
        let parts = op.list()?;
        let form = "an operation: append FIELD VALUE [ANSWER], or remove FIELD [ANSWER]";
        let (Some(kind), Some(field)) = (op.item(0), op.item(1)) else {
            return Err(op.wrong(form));
        };
        let name = field_name(&field)?;
        let (result, asked) = match kind.text()? {
            "append" => {
                let set = value(&op.item(2).ok_or_else(|| op.wrong(form))?)?;
                let result = built.append_mpipe(&name, set, &LIMITS);
                if result.is_ok() {
                    slots.push(name);
                }
                (result, 3)
            }
            "remove" => {
                let result = built.remove_mpipe(&name).map(|_| ());
                if let Some(at) = slots.iter().position(|held| *held == name) {
                    slots.swap_remove(at);
                }
                (result, 2)
            }
            _ => return Err(kind.wrong("append or remove")),
        };
        if parts.len() > asked + 1 {
            return Err(op.wrong(form));
        }
        let ours = result.as_ref().map_or_else(EditError::errno, |()| "ok");
        if let Some(given) = op.item(asked).filter(|given| !given.json.is_null()) {
            has_answer = true;
            if given.text()? != ours {
                let given = given.json.to_string();
                wrong.push(differs(
                    &format!("ops[{i}]"),
                    &given,
                    &format!("\"{ours}\""),
                ));
            }
        }
        let mut answer = parts[..asked].to_vec();
        answer.push(Json::from(ours));
        answers.push(Json::Array(answer));
    }
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let out = structure_json(&built, &slots);
    if let Some(given) = case.answer("out") {
        has_answer = true;
        let expected = Capability::read(&given)?;
        let same = match &expected {
            Capability::Any => false,
            Capability::One { .. } => same_as_written(&built, &expected.structure()),
        };
        if !same {
            wrong.push(differs("out", &given.json.to_string(), &out.to_string()));
        }
    }
    if !wrong.is_empty() {
        wrong.push(inputs(case, "ops"));
    }
    Ok(Answered {
        without: &[],
        verdict: Verdict::of(wrong, has_answer),
        fields: vec![("ops", Json::Array(answers)), ("out", out)],
    })
}

/// A field by name, or by mpipe's number; a number that it does not have is no field's name.
fn field_name(field: &Node) -> Result<String, ConformError> {
    if field.json.is_string() {
        return Ok(field.text()?.to_owned());
    }
    let number = field.json.as_u64().ok_or_else(|| {
        let names = MPIPE_FIELDS.join(", ");
        field.wrong(format!("a field's name ({names}) or number"))
    })?;
    let known = usize::try_from(number)
        .ok()
        .and_then(|i| MPIPE_FIELDS.get(i));
    Ok(known.map_or_else(|| number.to_string(), |name| (*name).to_owned()))
}

/// Equal, and each value in the same form: the grid is kept as it was written, step 0 included.
fn same_as_written(a: &Structure, b: &Structure) -> bool {
    a == b
        && a.fields()
            .zip(b.fields())
            .all(|(x, y)| json_of(x.1) == json_of(y.1))
}
