//! The place where two values part that should be the same.

use serde_json::Value;

use crate::text::excerpt;
use crate::values::same::same;

/// How deep the place is looked for.
const DEPTH: usize = 8;

/// What became of a value of this name, at the first place in it that differs: `` `structuredContent/total` was changed: 12 became 13 ``.
/// `None` where both are the same.
pub(super) fn change(name: &str, was: &Value, now: &Value) -> Option<String> {
    if same(was, now) {
        return None;
    }
    let mut place = name.to_owned();
    let (mut was, mut now) = (was, now);
    for _ in 0..DEPTH {
        let Some((step, before, after)) = first_difference(was, now) else {
            break;
        };
        place.push('/');
        place.push_str(&step);
        match (before, after) {
            (Some(before), Some(after)) => (was, now) = (before, after),
            (Some(_), None) => return Some(format!("`{place}` was lost")),
            (None, it) => {
                let added = it.map(excerpt::of).unwrap_or_default();
                return Some(format!("`{place}` was added: {added}"));
            }
        }
    }
    if let (Some(before), Some(after)) = (was.as_str(), now.as_str())
        && !before.is_empty()
        && after.contains(before)
    {
        return Some(format!("`{place}` got more text"));
    }
    let (was, now) = excerpt::of_values(was, now);
    Some(format!("`{place}` was changed: {was} became {now}"))
}

/// The first member in which two objects, or two lists, differ, with what it is in each.
fn first_difference<'v>(
    was: &'v Value,
    now: &'v Value,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    let differs = |a: Option<&Value>, b: Option<&Value>| !a.zip(b).is_some_and(|(a, b)| same(a, b));
    match (was, now) {
        (Value::Object(was), Value::Object(now)) => {
            let kept = was.iter().map(|(key, it)| (key, Some(it), now.get(key)));
            let added = now.iter().filter(|(key, _)| !was.contains_key(*key));
            let mut members = kept.chain(added.map(|(key, it)| (key, None, Some(it))));
            let (key, a, b) = members.find(|(_, a, b)| differs(*a, *b))?;
            Some((key.clone(), a, b))
        }
        (Value::Array(was), Value::Array(now)) => {
            let longest = was.len().max(now.len());
            let mut members = (0..longest).map(|at| (at, was.get(at), now.get(at)));
            let (at, a, b) = members.find(|(_, a, b)| differs(*a, *b))?;
            Some((at.to_string(), a, b))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::change;

    #[test]
    fn a_change_names_the_place_where_it_is() {
        let cases = [
            (
                json!({ "a": 1, "b": "x" }),
                json!({ "b": "x", "a": 1.0 }),
                None,
            ),
            (json!(1), json!([]), Some("`v` was changed: 1 became []")),
            (
                json!({ "a": [1, { "b": "old" }] }),
                json!({ "a": [1, { "b": "new" }] }),
                Some(r#"`v/a/1/b` was changed: "old" became "new""#),
            ),
            (json!([1, 2]), json!([1]), Some("`v/1` was lost")),
            (
                json!({ "a": 1 }),
                json!({ "a": 1, "b": [2] }),
                Some("`v/b` was added: [2]"),
            ),
            (
                json!({ "a": "Reads" }),
                json!({ "a": "Reads (files)" }),
                Some("`v/a` got more text"),
            ),
        ];
        for (was, now, expected) in cases {
            assert_eq!(change("v", &was, &now).as_deref(), expected, "{was} {now}");
        }
    }

    #[test]
    fn a_deep_place_is_named_as_far_as_it_is_looked_for() {
        let deep = |it: Value| (0..300).fold(it, |inner, _| Value::Array(vec![inner]));
        let sentence = change("v", &deep(json!(1)), &deep(json!(2))).unwrap_or_default();
        assert!(
            sentence.starts_with("`v/0/0/0/0/0/0/0/0` was changed: …[[["),
            "{sentence}"
        );
        // What is alike on both sides is cut, so that what differs is seen.
        assert!(
            sentence.contains("[1]") && sentence.contains("[2]"),
            "{sentence}"
        );
    }
}
