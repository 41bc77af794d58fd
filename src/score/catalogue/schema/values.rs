//! The values that a schema limits a place to: `enum` and `const`.

use serde_json::Value;

use super::difference::Difference;
use super::node::Node;
use crate::text::excerpt;
use crate::values::same::same;
use model::text::few;

/// How many values are shown of a list.
const SHOWN: usize = 10;

/// What changed in the values that are accepted.
pub(super) fn changed(b: &Node<'_>, c: &Node<'_>) -> Vec<Difference> {
    let (old, new) = (allowed(b), allowed(c));
    let is_const = c.get("const").is_some() || (new.is_none() && b.get("const").is_some());
    let keyword = if is_const { "const" } else { "enum" };
    let mut found = Vec::new();
    match (&old, &new) {
        (Some(old), Some(new)) => {
            let (gone, added) = (missing(old, new), missing(new, old));
            if !gone.is_empty() {
                found.push((format!("no longer accepts {}", listed(&gone)), true));
            }
            if !added.is_empty() {
                found.push((format!("now also accepts {}", listed(&added)), false));
            }
        }
        (None, Some(new)) => found.push((format!("now accepts only {}", listed(new)), true)),
        (Some(_), None) => {
            found.push(("is no longer limited to certain values".to_owned(), false));
        }
        (None, None) => {}
    }
    let (was, now) = (old.as_deref().map(listed), new.as_deref().map(listed));
    let differences = found.into_iter().map(|(what, narrows)| Difference {
        keyword,
        what,
        was: was.clone(),
        now: now.clone(),
        narrows,
    });
    differences.collect()
}

/// The values as they are shown, the first of them if they are many.
pub(super) fn listed(values: &[&Value]) -> String {
    few(values.iter().map(|it| excerpt::of(it)), SHOWN)
}

/// The only values that are accepted; `None` where that is not said.
fn allowed<'a>(schema: &Node<'a>) -> Option<Vec<&'a Value>> {
    let of_enum = schema.get("enum").and_then(Value::as_array);
    of_enum
        .map(|it| it.iter().collect())
        .or_else(|| schema.get("const").map(|it| vec![it]))
}

fn missing<'a>(from: &[&'a Value], among: &[&'a Value]) -> Vec<&'a Value> {
    let is_gone = |it: &&&Value| !among.iter().any(|other| same(it, other));
    from.iter().filter(is_gone).copied().collect()
}
