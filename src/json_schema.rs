//! JSON Schemas that somebody else wrote, and what breaks them.
//!
//! A schema may be hostile, and so may be what is validated: patterns take linear time, no other document is fetched, and what is said of a
//! violation is short.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// The most violations that are reported for one value.
pub const MOST: usize = 20;

/// The longest text of a violation, in characters.
const TEXT_CHARS: usize = 200;

/// A schema that can be validated against.
#[derive(Debug)]
pub struct JsonSchema(Validator);

/// A place in a value that breaks a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation<'v> {
    /// JSON pointer to it; empty for the whole value.
    pub path: String,
    /// What is wrong there.
    pub what: String,
    pub value: &'v Value,
}

impl JsonSchema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Why it cannot be used, in words that follow its name.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if let Some(other) = elsewhere(schema) {
            return Err(format!(
                "refers to `{}`, and nothing is fetched: put what is there under `$defs`",
                cut(&other)
            ));
        }
        let built = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(schema);
        built
            .map(Self)
            .map_err(|error| format!("is not a JSON Schema: {}", cut(&error.to_string())))
    }

    /// What of a value breaks it, each with its place.
    pub fn violations<'v>(&self, value: &'v Value) -> impl Iterator<Item = Violation<'v>> {
        let errors: Vec<_> = self
            .0
            .iter_errors(value)
            .take(MOST + 1)
            .map(|error| {
                let path = error.instance_path().to_string();
                Violation {
                    value: value.pointer(&path).unwrap_or(value),
                    path,
                    what: cut(&words(&error)),
                }
            })
            .collect();
        errors.into_iter()
    }
}

/// What is wrong, in words; where there are several ways to be right, what each of them wants.
fn words(error: &ValidationError<'_>) -> String {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return error.to_string();
    };
    let mut choices = Vec::new();
    let mut others = Vec::new();
    for branch in context {
        match branch.as_slice() {
            // It may be left out, which it is not.
            [only] if wants_null(only) => {}
            [only] => match choices_of(only) {
                Some(found) => choices.extend(found),
                None => others.push(words(only)),
            },
            several => others.extend(several.first().map(words)),
        }
    }
    if !choices.is_empty() {
        others.insert(
            0,
            format!("{} is none of {}", error.instance(), choices.join(", ")),
        );
    }
    if others.is_empty() {
        error.to_string()
    } else {
        others.join(", and ")
    }
}

fn wants_null(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::Type {
            kind: TypeKind::Single(JsonType::Null)
        }
    )
}

/// The values that are right, where these are all that is wanted.
fn choices_of(error: &ValidationError<'_>) -> Option<Vec<String>> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(vec![expected_value.to_string()]),
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array()?;
            Some(options.iter().map(Value::to_string).collect())
        }
        _ => None,
    }
}

/// The first reference that leads to another document.
fn elsewhere(schema: &Value) -> Option<String> {
    let mut ids = Vec::new();
    let mut references = Vec::new();
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("$id" | "id", Value::String(id)) => ids.push(id.as_str()),
                        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                            references.push(to.as_str());
                        }
                        // What they hold is data.
                        ("const" | "enum" | "default" | "examples", _) => {}
                        _ => pending.push(value),
                    }
                }
            }
            _ => {}
        }
    }
    let is_known = |to: &str| {
        let document = to.split('#').next().unwrap_or_default();
        document.is_empty()
            || document.starts_with("https://json-schema.org/draft")
            || document.starts_with("http://json-schema.org/draft")
            || ids.iter().any(|it| {
                let id = it.split('#').next().unwrap_or_default();
                id == document || id.ends_with(&format!("/{document}"))
            })
    };
    let other = references.into_iter().rev().find(|it| !is_known(it));
    other.map(str::to_owned)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonSchema;

    #[test]
    fn all_violations_are_reported_with_their_places() {
        let schema = JsonSchema::new(&json!({
            "type": "object",
            "required": ["id"],
            "properties": { "items": { "items": { "type": "integer" } }, "word": { "pattern": "^(a+)+$" } },
        }));
        let schema = schema.expect("a schema");
        let hostile = format!("{}!", "a".repeat(50_000));
        let value = json!({ "items": [1, "two", 3.5], "word": hostile });
        let mut paths: Vec<String> = schema.violations(&value).map(|it| it.path).collect();
        paths.sort();
        assert_eq!(paths, ["", "/items/1", "/items/2", "/word"]);
        assert!(
            schema
                .violations(&value)
                .all(|it| it.what.chars().count() <= super::TEXT_CHARS + 1)
        );
        assert_eq!(schema.violations(&json!({ "id": 1 })).count(), 0);
    }

    #[test]
    fn all_valid_alternatives_are_listed() {
        let schema = JsonSchema::new(&json!({
            "properties": {
                "word": { "anyOf": [{ "oneOf": [{ "enum": ["a", "b"] }, { "const": "c" }] }, { "type": "null" }] },
                "number": { "anyOf": [{ "type": "boolean" }, { "type": "integer", "minimum": 1 }] },
            },
        }));
        let schema = schema.expect("a schema");
        let value = json!({ "word": "d", "number": 0 });
        let mut said: Vec<String> = schema.violations(&value).map(|it| it.what).collect();
        said.sort();
        assert_eq!(
            said,
            [
                "\"d\" is none of \"a\", \"b\", \"c\"",
                "0 is not of type \"boolean\", and 0 is less than the minimum of 1"
            ]
        );
    }

    #[test]
    fn nothing_is_fetched() {
        let own = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "integer" } } });
        assert!(JsonSchema::new(&own).is_ok());
        for (schema, says) in [
            (
                json!({ "$ref": "https://example.org/a.json" }),
                "nothing is fetched",
            ),
            (
                json!({ "items": { "$ref": "other.json#/a" } }),
                "nothing is fetched",
            ),
            (json!({ "type": "nonsense" }), "is not a JSON Schema"),
            (json!({ "pattern": "(" }), "is not a JSON Schema"),
        ] {
            let problem = JsonSchema::new(&schema).expect_err("cannot be used");
            assert!(problem.contains(says), "{problem}");
        }
        let data = json!({ "const": { "$ref": "https://example.org" } });
        assert!(JsonSchema::new(&data).is_ok());
    }
}
