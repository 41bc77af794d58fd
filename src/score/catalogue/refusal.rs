//! Recorded calls that a tool, as it is listed now, would refuse: judged by a JSON Schema validator.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use model::Object;
use model::placeholder;

use super::schema::node::Node;

/// How deep arguments are looked into for members that are no longer listed.
const DEPTH: usize = 32;
/// The most elements of a list that are looked into, and the most complaints about one call.
const ELEMENTS: usize = 1_000;
const COMPLAINTS: usize = 100;

/// What a refusal is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blame {
    /// The parameter, as in `filter.tags[]`; empty for the arguments as a whole.
    pub(super) parameter: String,
    /// The keyword of the schema that does not hold.
    pub(super) keyword: String,
    /// The same in words.
    pub(super) what: String,
}

/// One tool's input schema, then and now.
pub(super) struct Refusals<'a> {
    schemas: (&'a Value, &'a Value),
    /// `None` where a schema cannot be used; such a schema refuses nothing.
    validators: (Option<Validator>, Option<Validator>),
}

impl<'a> Refusals<'a> {
    pub(crate) fn new(then: &'a Value, now: &'a Value) -> Self {
        Self {
            schemas: (then, now),
            validators: (compile(then), compile(now)),
        }
    }

    /// Why a recorded call would be refused now, if it would be and was not then.
    pub(crate) fn of(&self, arguments: &Object) -> Vec<Blame> {
        let given = Value::Object(arguments.clone());
        if !complaints(self.validators.0.as_ref(), &given).is_empty() {
            return Vec::new();
        }
        if is_schema(self.schemas.0) && !is_schema(self.schemas.1) {
            return vec![Blame {
                parameter: String::new(),
                keyword: "type".to_owned(),
                what: "its schema is not a JSON Schema any more".to_owned(),
            }];
        }
        let mut found = Vec::new();
        self.unlisted(
            self.schemas.0,
            self.schemas.1,
            &given,
            "",
            DEPTH,
            &mut found,
        );
        for it in complaints(self.validators.1.as_ref(), &given) {
            if !found.iter().any(|of| of.parameter == it.parameter) {
                found.push(it);
            }
        }
        found
    }

    /// Given members that were listed and are not any more. A server that accepts unlisted members would ignore them.
    fn unlisted(
        &self,
        then: &Value,
        now: &Value,
        given: &Value,
        parameter: &str,
        depth: usize,
        found: &mut Vec<Blame>,
    ) {
        if depth == 0 || found.len() >= COMPLAINTS {
            return;
        }
        let (old, new) = (
            Node::of(self.schemas.0, then),
            Node::of(self.schemas.1, now),
        );
        match given {
            Value::Object(members) => {
                if !parameter.is_empty() && new.is_a_map() {
                    return;
                }
                for (name, value) in members {
                    let member = join(parameter, name);
                    match (old.property(name), new.property(name)) {
                        (Some(then), Some(now)) => {
                            self.unlisted(then, now, value, &member, depth - 1, found);
                        }
                        (Some(_), None) if !new.lists(name) => found.push(Blame {
                            what: format!("{name:?} is no longer listed"),
                            parameter: member,
                            keyword: "properties".to_owned(),
                        }),
                        _ => {}
                    }
                }
            }
            Value::Array(items) => {
                if let (Some(then), Some(now)) = (old.get("items"), new.get("items")) {
                    let element = format!("{parameter}[]");
                    for item in items.iter().take(ELEMENTS) {
                        self.unlisted(then, now, item, &element, depth - 1, found);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The parameters of arguments that a schema refuses; none where it cannot be used.
pub(super) fn refused(schema: &Value, arguments: &Object) -> Vec<String> {
    let given = Value::Object(arguments.clone());
    let mut refused: Vec<String> = Vec::new();
    for it in complaints(compile(schema).as_ref(), &given) {
        if !refused.contains(&it.parameter) {
            refused.push(it.parameter);
        }
    }
    refused
}

fn join(parameter: &str, name: &str) -> String {
    match parameter {
        "" => name.to_owned(),
        outer => format!("{outer}.{name}"),
    }
}

/// Whether a value is a schema of one of the common dialects: clients refuse a tool, or all of them, for one that is none.
fn is_schema(value: &Value) -> bool {
    jsonschema::draft202012::meta::is_valid(value)
        || jsonschema::draft7::meta::is_valid(value)
        || jsonschema::draft4::meta::is_valid(value)
}

/// Compiles a schema. One that names no dialect, or an unknown one, is tried in each of the common dialects.
fn compile(schema: &Value) -> Option<Validator> {
    // Only linear-time patterns and no external documents, because a schema comes from a server under test and may be hostile.
    let options = || {
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .offline()
    };
    if let Ok(validator) = options().build(schema) {
        return Some(validator);
    }
    let mut plain = schema.clone();
    plain.as_object_mut()?.remove("$schema");
    [Draft::Draft202012, Draft::Draft7, Draft::Draft4]
        .into_iter()
        .find_map(|draft| options().with_draft(draft).build(&plain).ok())
}

/// The violations that a validator finds. Values with a placeholder for a secret are accepted, because the value that was sent is unknown.
fn complaints(validator: Option<&Validator>, given: &Value) -> Vec<Blame> {
    let Some(validator) = validator else {
        return Vec::new();
    };
    let hidden: Vec<&str> = (given.as_object().into_iter().flatten())
        .filter(|(_, value)| placeholder::holds_any(value))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut found = Vec::new();
    for error in validator.iter_errors(given).take(COMPLAINTS) {
        blame(&error, given, &hidden, &mut found);
    }
    found
}

fn blame(error: &ValidationError<'_>, given: &Value, hidden: &[&str], found: &mut Vec<Blame>) {
    let path = error.instance_path().as_str();
    let outermost = path
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if hidden
        .iter()
        .any(|it| escaped(it) == outermost && !path.is_empty())
    {
        return;
    }
    let parameter = parameter(path, given);
    let mut add = |parameter: String| {
        found.push(Blame {
            parameter,
            keyword: error.kind().keyword().to_owned(),
            what: error.to_string(),
        });
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            add(join(&parameter, property.as_str().unwrap_or_default()));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                add(join(&parameter, name));
            }
        }
        // With alternatives, it is unknown which one was meant, so the secret may be what does not fit.
        ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::OneOfMultipleValid { .. }
        | ValidationErrorKind::Not { .. }
            if path.is_empty() && !hidden.is_empty() => {}
        _ => add(parameter),
    }
}

/// A place in the arguments as parameters are named.
fn parameter(path: &str, given: &Value) -> String {
    let mut named = String::new();
    let mut at = Some(given);
    for step in path.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(items)) => {
                named.push_str("[]");
                at = step.parse().ok().and_then(|it: usize| items.get(it));
            }
            other => {
                named = join(&named, &step);
                at = other.and_then(|it| it.get(&step));
            }
        }
    }
    named
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
