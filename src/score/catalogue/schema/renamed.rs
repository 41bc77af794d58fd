//! Members of an object that have another name now.

use serde_json::Value;

use crate::catalogue::likeness;
use crate::values::same::{self, View};

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
    use serde_json::json;

    use super::names;

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
