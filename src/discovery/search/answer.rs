//! An answer of a search, read as it is declared.

use std::time::Duration;

use serde_json::Value;

use super::items;
use super::spec::Search;
use crate::model::json_path::JsonPath;

/// What a search answered to one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub found: Vec<Found>,
    /// How long the answer was, in bytes.
    pub bytes: usize,
    pub took: Duration,
}

/// One thing that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub id: String,
    pub score: Option<f64>,
}

impl Answer {
    /// The ids, in the order of the answer.
    pub fn ids(&self) -> Vec<&str> {
        self.found.iter().map(|it| it.id.as_str()).collect()
    }
}

/// What looks as if a search were declared wrongly once it has been answered, in sentences.
pub fn doubts(search: &Search, runs: &[Vec<Answer>]) -> Vec<String> {
    let found = || runs.iter().flatten().flat_map(|it| &it.found);
    let Some(score) = &search.score else {
        return Vec::new();
    };
    if found().count() == 0 || found().any(|it| it.score.is_some()) {
        return Vec::new();
    }
    vec![format!(
        "warning: `score` is `{score}`, and nothing that was found has a number there, so that nothing is known of equal scores"
    )]
}

/// What was found, in the order of the answer.
///
/// # Errors
///
/// In a fragment, why this is no answer of such a search. What is no answer is not an empty one.
pub fn read_answer(search: &Search, document: &Value) -> Result<Vec<Found>, String> {
    refuse_failure(document)?;
    let mut found = Vec::new();
    let mut is_there = false;
    for path in &search.list {
        // Of several places, the whole answer is one where it is a list itself.
        let is_whole = path.parts().is_empty();
        if is_whole && search.list.len() > 1 && !document.is_array() {
            continue;
        }
        let Some(items) = items(document, path) else {
            continue;
        };
        is_there = true;
        for item in items {
            found.push(Found {
                id: id(&search.id, search.split.as_deref(), item)?,
                score: search.score.as_ref().and_then(|path| number(path, item)),
            });
        }
    }
    if is_there {
        return Ok(found);
    }
    let paths: Vec<String> = search.list.iter().map(|it| format!("`{it}`")).collect();
    Err(format!("the answer has no {}", paths.join(" and no ")))
}

/// REST APIs say so where they have failed although the status says otherwise.
pub(super) fn refuse_failure(document: &Value) -> Result<(), String> {
    if document.get("success") == Some(&Value::Bool(false)) {
        let why = document.get("error").and_then(Value::as_str);
        return Err(format!(
            "it answered an error: {}",
            why.unwrap_or("of which it says no more")
        ));
    }
    Ok(())
}

fn number(path: &JsonPath, item: &Value) -> Option<f64> {
    path.find(item).first()?.as_f64()
}

/// The id of an item: the template with its paths filled in, in the form `server:tool`.
///
/// # Errors
///
/// Which path leads to no text.
pub(super) fn id(template: &str, split: Option<&str>, item: &Value) -> Result<String, String> {
    let mut id = String::new();
    let mut rest = template;
    let mut parts = Vec::new();
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((path, behind)) = after.split_once("}}") else {
            return Err(format!("the id `{template}` lacks a `}}}}`"));
        };
        let path = path.trim();
        let value = JsonPath::parse(path).ok().and_then(|path| {
            let found = path.find(item);
            match found.first()? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }
        });
        let Some(value) = value else {
            return Err(format!("something that was found has no text `{path}`"));
        };
        id.push_str(before);
        id.push_str(&value);
        parts.push(value);
        rest = behind;
    }
    id.push_str(rest);
    if let Some(split) = split.filter(|it| !it.is_empty()) {
        return Ok(id.replacen(split, ":", 1));
    }
    Ok(match &parts[..] {
        // Where the tool's own name has the server already: `server:server:tool`, or `server` and `server:tool`.
        [server, name] if name.starts_with(&format!("{server}:")) => name.clone(),
        _ => without_doubled_server(id),
    })
}

/// `server:server:tool` as `server:tool`.
pub(super) fn without_doubled_server(id: String) -> String {
    match id.split_once(':') {
        Some((server, rest))
            if rest
                .strip_prefix(server)
                .is_some_and(|it| it.starts_with(':')) =>
        {
            rest.to_owned()
        }
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::id;

    #[test]
    fn ids_are_made_of_parts_of_an_item() {
        let item = json!({ "tool": { "server_name": "files", "name": "read" }, "n": 3 });
        let made = |template: &str, split| id(template, split, &item);
        assert_eq!(
            made("{{tool.server_name}}:{{tool.name}}", None).unwrap(),
            "files:read"
        );
        assert_eq!(made("{{ n }}:x", None).unwrap(), "3:x");
        assert!(
            made("{{tool.none}}", None)
                .unwrap_err()
                .contains("tool.none")
        );
        assert!(made("{{tool", None).is_err());
        let named = |name: &str, template: &str, split| {
            id(template, split, &json!({ "server": "files", "name": name })).unwrap()
        };
        let both = "{{server}}:{{name}}";
        assert_eq!(named("files:read", both, None), "files:read");
        assert_eq!(named("files:files:read", "{{name}}", None), "files:read");
        assert_eq!(
            named("files__read__all", "{{name}}", Some("__")),
            "files:read__all"
        );
        // A server may be called as its tool.
        assert_eq!(named("files", both, None), "files:files");
    }
}
