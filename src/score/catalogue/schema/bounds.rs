//! Keywords that bound a value from below or above, and members that have another name.

use serde_json::Value;

use super::node::Node;
use crate::catalogue::likeness;
use crate::values::same::{self, View};

const LOWER: &[&str] = &[
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
const UPPER: &[&str] = &[
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

/// Whether a keyword bounds a value.
pub(super) fn is_bound(keyword: &str) -> bool {
    LOWER.contains(&keyword) || UPPER.contains(&keyword)
}

/// The bounds that changed, each with whether that narrows what is accepted.
pub(super) fn changed(b: &Node<'_>, c: &Node<'_>) -> Vec<(&'static str, bool)> {
    let both_whole = is_whole(b) && is_whole(c);
    let (then, now) = (Range::of(b, both_whole), Range::of(c, both_whole));
    let same_range = both_whole && then == now;
    let mut changed = Vec::new();
    for keyword in LOWER.iter().chain(UPPER) {
        let (old, new) = (number(b, keyword), number(c, keyword));
        if old == new {
            continue;
        }
        let narrows = match *keyword {
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" if same_range => false,
            "minimum" | "exclusiveMinimum" => {
                new.is_some()
                    && (now.least > then.least
                        || !both_whole && old.is_none_or(|old| new > Some(old)))
            }
            "maximum" | "exclusiveMaximum" => {
                new.is_some()
                    && (now.most < then.most
                        || !both_whole && old.is_none_or(|old| new < Some(old)))
            }
            _ => new.is_some_and(|new| {
                let is_narrower = |old: f64| {
                    if LOWER.contains(keyword) {
                        new > old
                    } else {
                        new < old
                    }
                };
                old.is_none_or(is_narrower)
            }),
        };
        changed.push((*keyword, narrows));
    }
    changed
}

fn number(schema: &Node<'_>, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

/// Whether only whole numbers are accepted.
fn is_whole(schema: &Node<'_>) -> bool {
    let types = schema.types();
    types.is_some_and(|it| it.contains("integer") && !it.contains("number"))
}

/// Which numbers are accepted.
#[derive(PartialEq)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    /// Of whole numbers, a bound that is exclusive is one further.
    fn of(schema: &Node<'_>, of_whole: bool) -> Self {
        let step = f64::from(u8::from(of_whole));
        let least = [
            number(schema, "minimum"),
            number(schema, "exclusiveMinimum").map(|it| it + step),
        ];
        let most = [
            number(schema, "maximum"),
            number(schema, "exclusiveMaximum").map(|it| it - step),
        ];
        Self {
            least: (least.into_iter().flatten()).fold(f64::NEG_INFINITY, f64::max),
            most: most.into_iter().flatten().fold(f64::INFINITY, f64::min),
        }
    }
}

/// How many members with the same schema a name is looked for among.
const CANDIDATES: usize = 200;

/// What each member that is gone is called now: the new one with the same schema, of several the one with the most similar name. A title and
/// a description may have changed with the name.
pub(super) fn names<'a>(
    gone: &[(&str, &Value)],
    added: &[(&'a str, &'a Value)],
) -> Vec<Option<&'a str>> {
    if gone.is_empty() {
        return Vec::new();
    }
    let mut left: Vec<_> = (added.iter())
        .map(|(name, schema)| (*name, description(schema), hash(schema)))
        .collect();
    let names = gone.iter().map(|(name, schema)| {
        let (wanted, described) = (hash(schema), description(schema));
        let alike = left.iter().enumerate().filter(|(_, it)| it.2 == wanted);
        let ranked = alike.take(CANDIDATES).map(|(at, (other, of_other, _))| {
            let as_described = described.is_some() && described == *of_other;
            let likeness = f64::from(u8::from(as_described)) + likeness::names(name, other);
            (likeness, at)
        });
        // The first of equal ones.
        let better =
            |a: (f64, usize), b: (f64, usize)| if b.0.total_cmp(&a.0).is_gt() { b } else { a };
        let best = ranked.reduce(better);
        best.map(|(_, at)| left.remove(at).0)
    });
    names.collect()
}

fn description(schema: &Value) -> Option<&Value> {
    schema.get("description")
}

/// What is the same for schemas that accept the same, written in the same way.
fn hash(schema: &Value) -> u64 {
    let mut plain = schema.clone();
    if let Some(members) = plain.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "title" | "description"));
    }
    same::hash(&plain, View::Plain)
}

#[cfg(test)]
mod tests {
    use super::names;
    use serde_json::{Value, json};

    use super::{Node, changed};

    #[test]
    fn of_whole_numbers_a_bound_may_be_written_in_two_ways() {
        let changes = |b: Value, c: Value| changed(&Node::of(&b, &b), &Node::of(&c, &c));
        let both = |kind: &str| {
            changes(
                json!({ "type": kind, "minimum": 1, "maximum": 10 }),
                json!({ "type": kind, "exclusiveMinimum": 0, "exclusiveMaximum": 11 }),
            )
        };
        let narrows = |it: bool| {
            [
                ("minimum", false),
                ("exclusiveMinimum", it),
                ("maximum", false),
                ("exclusiveMaximum", it),
            ]
        };
        assert_eq!(both("integer"), narrows(false));
        assert_eq!(both("number"), narrows(true));
        let narrower = changes(
            json!({ "type": "integer", "maximum": 10 }),
            json!({ "type": "integer", "exclusiveMaximum": 10 }),
        );
        assert_eq!(narrower, [("maximum", false), ("exclusiveMaximum", true)]);
    }

    #[test]
    fn of_members_with_the_same_schema_the_most_similar_name_is_the_other_one() {
        let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
        let titled = json!({ "type": "string", "title": "What to look for" });
        let gone = [("limit", &text), ("query", &text), ("left", &number)];
        let added = [
            ("text_query", &titled),
            ("max_limit", &text),
            ("limits", &json!({})),
        ];
        let expected = [Some("max_limit"), Some("text_query"), None];
        assert_eq!(names(&gone, &added), expected);
        // One with the same description is more than one with a similar name; and each is only one.
        let described = json!({ "type": "string", "description": "How many" });
        let gone = [("limit", &described), ("limited", &described)];
        let added = [("limits", &text), ("most", &described)];
        assert_eq!(names(&gone, &added), [Some("most"), Some("limits")]);
    }
}
