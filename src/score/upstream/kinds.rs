//! Arguments that say the same in another kind of value: a server behind may take `5` and refuse `"5"`.

use std::mem::discriminant;

use serde_json::Value;

use crate::scores::sides::Sides;
use crate::text::excerpt;
use crate::values::path::{covers_path, escape};
use model::{ArgumentDifference, Object};

/// How deep it is looked.
const DEPTH: usize = 64;

/// Where the arguments of two calls differ, compared as those of effects are, and in kind.
pub(crate) fn differences(sides: &Sides<'_>, b: usize, c: usize) -> Vec<ArgumentDifference> {
    let (before, now) = (&sides.calls.baseline[b], &sides.calls.current[c]);
    let (was, has) = (&before.made.arguments, &now.made.arguments);
    if was == has {
        return Vec::new();
    }
    let mut differences = if before.key == now.key {
        Vec::new()
    } else {
        sides.differences(b, c)
    };
    for it in of_other_kinds(was, has) {
        let is_found = |other: &ArgumentDifference| covers_path(&other.path, &it.path);
        if !differences.iter().any(is_found) {
            differences.push(it);
        }
    }
    differences
}

/// The places where two sides have values of other kinds, or `null` on one side alone.
fn of_other_kinds(was: &Object, now: &Object) -> Vec<ArgumentDifference> {
    let mut found = Vec::new();
    members(was, now, &mut String::new(), DEPTH, &mut found);
    found
}

fn members(
    was: &Object,
    now: &Object,
    path: &mut String,
    depth: usize,
    found: &mut Vec<ArgumentDifference>,
) {
    let new = now.iter().filter(|(key, _)| !was.contains_key(*key));
    let both = was.iter().map(|(key, it)| (key, Some(it), now.get(key)));
    for (key, was, now) in both.chain(new.map(|(key, it)| (key, None, Some(it)))) {
        within(&escape(key), (was, now), path, depth, found);
    }
}

fn within(
    step: &str,
    (was, now): (Option<&Value>, Option<&Value>),
    path: &mut String,
    depth: usize,
    found: &mut Vec<ArgumentDifference>,
) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    let length = path.len();
    path.push('/');
    path.push_str(step);
    match (was, now) {
        (Some(Value::Object(was)), Some(Value::Object(now))) => {
            members(was, now, path, depth, found);
        }
        (Some(Value::Array(was)), Some(Value::Array(now))) if was.len() == now.len() => {
            for (index, (was, now)) in was.iter().zip(now).enumerate() {
                let step = index.to_string();
                within(&step, (Some(was), Some(now)), path, depth, found);
            }
        }
        (Some(a), Some(b)) if discriminant(a) == discriminant(b) => {}
        (Some(Value::Null), None) | (None, Some(Value::Null)) | (Some(_), Some(_)) => {
            found.push(ArgumentDifference {
                path: path.clone(),
                was: was.map(excerpt::of),
                now: now.map(excerpt::of),
                worded: false,
            });
        }
        // Something that is missing is found by whoever compares the values.
        _ => {}
    }
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::of_other_kinds;

    fn paths(was: &Value, now: &Value) -> Vec<String> {
        let found = of_other_kinds(was.as_object().unwrap(), now.as_object().unwrap());
        found.into_iter().map(|it| it.path).collect()
    }

    #[test]
    fn another_kind_of_the_same_value_is_found() {
        let was = json!({ "n": 5, "a/b": [1, { "x": "y" }], "gone": null, "s": "t" });
        assert!(paths(&was, &was).is_empty());
        let now =
            json!({ "n": "5", "a/b": ["1", { "x": null }], "s": "u", "new": null, "more": 1 });
        let found = ["/n", "/a~1b/0", "/a~1b/1/x", "/gone", "/new"];
        assert_eq!(paths(&was, &now), found);
    }
}
