//! Keywords that bound a value from below or above.

use serde_json::Value;

use super::node::Node;

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

#[cfg(test)]
mod tests {
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
}
