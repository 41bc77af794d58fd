//! Paths to places in JSON: JSON pointers and JSON paths, read once for all who use them.
//!
//! `/servers/0/id` is a JSON pointer (RFC 6901), in which a step that is a single `*` matches any key or index; a key that is one is
//! written `~2`. `$.servers[*].id`, `servers.0.id`, `..id` and `$['a key']` are JSON paths; `*` or `[*]` stands for any key or index, and
//! `..` for any number of steps.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A key, or the index of a list in digits.
    Named(String),
    /// Any key or index.
    Any,
    /// Any number of steps, also none.
    Depth,
}

/// A path as it was written, with its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    written: String,
    parts: Vec<Part>,
    is_pointer: bool,
}

impl JsonPath {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// In words what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("an empty path".to_owned());
        }
        let path = |parts, is_pointer| Self {
            written: text.to_owned(),
            parts,
            is_pointer,
        };
        if let Some(pointer) = text.strip_prefix('/') {
            return Ok(path(pointer.split('/').map(pointer_part).collect(), true));
        }
        let mut rest = text.trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let part;
            (part, rest) = json_path_part(rest, parts.is_empty())?;
            parts.extend(part);
        }
        if parts.last() == Some(&Part::Depth) {
            return Err("nothing follows `..`".to_owned());
        }
        Ok(path(parts, false))
    }

    /// Its steps; none for the whole document.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether it was written as a JSON pointer.
    pub fn is_pointer(&self) -> bool {
        self.is_pointer
    }

    /// Whether it may lead to several places.
    pub fn is_pattern(&self) -> bool {
        self.parts.iter().any(|it| !matches!(it, Part::Named(_)))
    }

    /// Everything it leads to, each once.
    pub fn find<'v>(&self, document: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![document];
        for part in &self.parts {
            let mut next = Vec::new();
            match part {
                Part::Named(name) => next.extend(found.iter().filter_map(|it| member(it, name))),
                Part::Any => next.extend(found.iter().flat_map(|it| members(it))),
                Part::Depth => {
                    let mut pending: Vec<&Value> = found.into_iter().rev().collect();
                    let mut seen = HashSet::new();
                    while let Some(value) = pending.pop() {
                        if seen.insert(std::ptr::from_ref(value)) {
                            next.push(value);
                            pending.extend(members(value).into_iter().rev());
                        }
                    }
                }
            }
            found = next;
        }
        found
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) if !name.starts_with('+') => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn members(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

fn pointer_part(step: &str) -> Part {
    match step {
        "*" => Part::Any,
        "~2" => Part::Named("*".to_owned()),
        "**" => Part::Depth,
        _ => Part::Named(step.replace("~1", "/").replace("~0", "~")),
    }
}

/// The next part of a JSON path, after a preceding `..` where there is one, and what is left to read.
fn json_path_part(text: &str, is_first: bool) -> Result<(Vec<Part>, &str), String> {
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("..") {
        parts.push(Part::Depth);
        rest = after;
        if rest.is_empty() {
            return Err("nothing follows `..`".to_owned());
        }
    } else if let Some(after) = rest.strip_prefix('.') {
        rest = after;
    } else if !is_first && !rest.starts_with('[') {
        return Err(format!("`.` or `[` should come before `{rest}`"));
    }
    if let Some(inside) = rest.strip_prefix('[') {
        let (part, after) = bracketed(inside)?;
        parts.push(part);
        return Ok((parts, after));
    }
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    match name {
        "" => return Err("a name is missing after `.`".to_owned()),
        "*" => parts.push(Part::Any),
        "**" => parts.push(Part::Depth),
        _ => parts.push(Part::Named(name.to_owned())),
    }
    Ok((parts, after))
}

/// What stands in brackets: `*`, an index, or a key in quotes.
fn bracketed(inside: &str) -> Result<(Part, &str), String> {
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = format!("{quote}]");
            let (key, after) = quoted
                .split_once(&end)
                .ok_or_else(|| format!("`{end}` is missing"))?;
            return Ok((Part::Named(key.to_owned()), after));
        }
    }
    let (index, after) = inside.split_once(']').ok_or("`]` is missing")?;
    match index {
        "*" => Ok((Part::Any, after)),
        _ if !index.is_empty() && index.bytes().all(|it| it.is_ascii_digit()) => {
            Ok((Part::Named(index.to_owned()), after))
        }
        _ => Err(format!(
            "`[{index}]` is neither an index, `[*]`, nor a key in quotes"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::JsonPath;

    #[test]
    fn paths_lead_to_every_place_they_name_and_to_no_other() {
        let document = json!({
            "tools": [{ "name": "a", "tags": ["x"] }, { "name": "b" }],
            "a/b": 1, "*": 2, "name": "top",
        });
        let cases = [
            ("/tools/1/name", json!(["b"])),
            ("/tools/*/name", json!(["a", "b"])),
            ("/a~1b", json!([1])),
            ("/~2", json!([2])),
            ("/tools/+1/name", json!([])),
            ("/tools/2", json!([])),
            ("$.tools[0].tags[*]", json!(["x"])),
            ("tools.1.name", json!(["b"])),
            ("$['a/b']", json!([1])),
            ("..name", json!(["top", "a", "b"])),
            ("$..tools..name", json!(["a", "b"])),
            ("$", json!([document])),
        ];
        for (path, expected) in cases {
            let found = JsonPath::parse(path).unwrap();
            let found: Vec<Value> = found.find(&document).into_iter().cloned().collect();
            assert_eq!(Value::from(found), expected, "{path}");
        }
        for wrong in [" ", "..", "$.", "$x..", "$[a]", "$['a", "$[1"] {
            assert!(JsonPath::parse(wrong).is_err(), "{wrong}");
        }
    }
}
