//! `{{references}}` in the answers of a mock server, filled in when the answer is given.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::mock::state::{State, member};
use crate::mock::wire::{self, Id};
use crate::scenario_file::mock::{AnswerBlock, Filter, MockReply, Reference, Segment};

/// What one answer can refer to, besides the server's state.
///
/// Within one answer, a counter, the time and a generated id have the same value everywhere, so that a value that is set equals the one in
/// the answer.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// By root: `args`, `tool`, `uri`, and what the client answered to requests of ours.
    values: HashMap<&'static str, Value>,
    now: Option<Value>,
    made: HashMap<String, Value>,
}

impl Scope {
    pub(super) fn new() -> Self {
        Self {
            values: HashMap::new(),
            now: None,
            made: HashMap::new(),
        }
    }

    pub(super) fn with(mut self, root: &'static str, value: Value) -> Self {
        self.insert(root, value);
        self
    }

    pub(super) fn insert(&mut self, root: &'static str, value: Value) {
        self.values.insert(root, value);
    }

    /// Makes the answer to a question known by the question's key.
    pub(super) fn insert_asked(&mut self, key: &str, answer: Value) {
        let asked = self.values.entry("asked").or_insert_with(|| json!({}));
        asked[key] = answer;
    }

    /// What a reference finds: `None` for a root that does not exist, `null` where the path leads nowhere.
    fn find(&mut self, reference: &Reference, state: &mut State) -> Option<Value> {
        let names = self.names(reference, state);
        let path = |value: &Value| {
            let found = names.iter().try_fold(value, |at, name| member(at, name));
            found.cloned().unwrap_or_default()
        };
        let name = || names.join(".");
        let value = match reference.root.as_str() {
            "get" => state.get(&names).cloned().unwrap_or_default(),
            "now" if names.is_empty() => {
                let now = || {
                    json!(
                        Timestamp::now()
                            .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
                            .to_string()
                    )
                };
                self.now.get_or_insert_with(now).clone()
            }
            "uuid" => {
                let made = self.made.entry(format!("uuid {}", name()));
                made.or_insert_with(|| json!(Uuid::new_v4().to_string()))
                    .clone()
            }
            "counter" if !names.is_empty() => {
                let made = self.made.entry(format!("counter {}", name()));
                made.or_insert_with(|| json!(state.count(&name()))).clone()
            }
            root => path(self.values.get(root)?),
        };
        Some(
            reference
                .filters
                .iter()
                .fold(value, |it, filter| apply(*filter, it)),
        )
    }

    /// The names a reference's path is made of.
    pub(super) fn names(&mut self, reference: &Reference, state: &mut State) -> Vec<String> {
        let path = reference.path.iter();
        path.map(|segment| match segment {
            Segment::Name(name) => name.clone(),
            Segment::Value(inner) => in_text(self.find(inner, state).unwrap_or_default()),
        })
        .collect()
    }

    /// Fills in all texts of a value; one that is nothing but a reference takes the value found, with its type.
    pub(super) fn fill(&mut self, value: &Value, state: &mut State) -> Value {
        match value {
            Value::String(text) => self.filled(text, state, true),
            Value::Array(items) => items.iter().map(|it| self.fill(it, state)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                let filled = members.map(|(name, it)| (name.clone(), self.fill(it, state)));
                Value::Object(filled.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Fills in all texts of a value, which stay texts.
    pub(super) fn fill_texts(&mut self, value: &Value, state: &mut State) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, state)),
            Value::Array(items) => items.iter().map(|it| self.fill_texts(it, state)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                let filled = members.map(|(name, it)| (name.clone(), self.fill_texts(it, state)));
                Value::Object(filled.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Fills in a text.
    pub(super) fn text(&mut self, text: &str, state: &mut State) -> String {
        in_text(self.filled(text, state, false))
    }

    fn filled(&mut self, text: &str, state: &mut State, keeps_type: bool) -> Value {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((inner, after)) = behind.split_once("}}") else {
                break;
            };
            filled.push_str(before);
            let reference = Reference::parse(inner);
            match reference.and_then(|it| self.find(&it, state)) {
                Some(value) if keeps_type && filled.is_empty() && after.is_empty() => return value,
                Some(value) => {
                    filled.push_str(&in_text(value));
                    rest = after;
                }
                // Braces that begin no reference stay as they are; of three braces, a reference may begin at the second.
                None => {
                    filled.push('{');
                    rest = &rest[before.len() + 1..];
                }
            }
        }
        filled.push_str(rest);
        Value::String(filled)
    }
}

/// A value as part of a text.
fn in_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn apply(filter: Filter, value: Value) -> Value {
    match (filter, value) {
        (Filter::Json, value) => json!(value.to_string()),
        (Filter::Values, Value::Object(members)) => members.into_iter().map(|it| it.1).collect(),
        (Filter::Keys, Value::Object(members)) => members.into_iter().map(|it| it.0).collect(),
        (Filter::Count, Value::Object(members)) => json!(members.len()),
        (Filter::Count, Value::Array(items)) => json!(items.len()),
        (Filter::Values | Filter::Keys, Value::Null) => json!([]),
        (Filter::Count, Value::Null) => json!(0),
        (_, other) => other,
    }
}

/// A reply as it would go out if nothing went wrong with it.
pub(super) enum Reply {
    /// A result, to which the protocol may add something.
    Result(Value),
    /// All that is sent.
    Whole(String),
}

/// Fills in a declared reply.
pub(super) fn reply(id: &Id, reply: &MockReply, scope: &mut Scope, state: &mut State) -> Reply {
    Reply::Whole(match reply {
        MockReply::Default => return Reply::Result(default_result(scope, state)),
        MockReply::Verbatim(result) => return Reply::Result(result.clone()),
        MockReply::Result {
            content,
            structured_content,
            is_error,
            meta,
        } => {
            let blocks: Vec<Value> = content.iter().map(|it| block(it, scope, state)).collect();
            let mut result = json!({ "content": blocks });
            if let Some(structured) = structured_content {
                result["structuredContent"] = scope.fill(structured, state);
            }
            if *is_error {
                result["isError"] = Value::Bool(true);
            }
            if let Some(meta) = meta {
                result["_meta"] = scope.fill(meta, state);
            }
            return Reply::Result(result);
        }
        MockReply::Error {
            code,
            message,
            data,
        } => {
            let mut error = wire::error(*code, &scope.text(message, state));
            if let Some(data) = data {
                error["data"] = scope.fill(data, state);
            }
            wire::error_reply(id, &error)
        }
        MockReply::RawResult(result) => wire::result_reply(id, &scope.fill(result, state)),
        MockReply::VerbatimError(error) => wire::error_reply(id, error),
        MockReply::RawMessage(message) => {
            let id = serde_json::from_str(id.as_json()).unwrap_or_default();
            scope.insert("id", id);
            match message {
                Value::String(text) => scope.text(text, state),
                message => scope.fill(message, state).to_string(),
            }
        }
    })
}

/// A content block with its references filled in. Its own members stay texts; the value of a `json` keeps its types.
pub(super) fn block(block: &AnswerBlock, scope: &mut Scope, state: &mut State) -> Value {
    let mut served = scope.fill_texts(&block.served, state);
    if let (Some(json), Some(members)) = (&block.json, served.as_object_mut()) {
        let text = scope.fill(json, state).to_string();
        members.insert("text".to_owned(), Value::String(text));
    }
    served
}

/// What a tool without responses answers.
fn default_result(scope: &mut Scope, state: &mut State) -> Value {
    let answer = json!({
        "tool": "{{tool}}",
        "result": "Mock tool execution successful",
        "arguments": "{{args}}",
        "timestamp": "{{now}}",
    });
    json!({ "content": [block(&AnswerBlock::json(answer), scope, state)] })
}

/// A tool error that the mock itself answers.
pub(super) fn tool_error(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::mock::state::State;
    use crate::mock::template::Scope;

    #[test]
    fn texts_are_filled_and_whole_references_keep_their_type() {
        let mut state = State::default();
        state.set(&["n".to_owned()], json!({ "x": { "id": 7 } }));
        let args = json!({ "a": "A", "n": 2, "deep": { "list": [1, { "k": "x" }] }, "brace": "{{args.a}}" });
        let mut scope = Scope::new().with("args", args);
        let cases = [
            (json!("{{args.n}}"), json!(2)),
            (json!("{{ args.a }}-{{args.n}}"), json!("A-2")),
            (json!("{{args.missing}}"), json!(null)),
            (json!("<{{args.missing}}>"), json!("<>")),
            (json!("{{args.deep.list.1.k}}"), json!("x")),
            (json!("{{get.n[args.deep.list.1.k].id}}"), json!(7)),
            (
                json!("{{get.n | keys}} {{get.n | count}} {{get.none | count}}"),
                json!(r#"["x"] 1 0"#),
            ),
            (json!("{{get.n | values}}"), json!([{ "id": 7 }])),
            (
                json!("{{args.deep | json}}"),
                json!(r#"{"list":[1,{"k":"x"}]}"#),
            ),
            (
                json!("{{unknown.a}} {{{args.n}}} {{args.n"),
                json!("{{unknown.a}} {2} {{args.n"),
            ),
            (json!("{{args.brace}}!"), json!("{{args.a}}!")),
            (
                json!({ "k{{args.n}}": ["{{args.n}}"] }),
                json!({ "k{{args.n}}": [2] }),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(scope.fill(&text, &mut state), expected, "{text}");
        }
        assert_eq!(scope.text("{{args.n}}", &mut state), "2");
    }

    #[test]
    fn one_answer_makes_up_one_id_per_name_and_counts_once() {
        let mut state = State::default();
        let mut answer = || {
            Scope::new().text(
                "{{counter.a}} {{counter.a}} {{uuid}} {{uuid}} {{uuid.b}}",
                &mut state,
            )
        };
        let (first, second) = (answer(), answer());
        let words = |it: &str| it.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (first, second) = (words(&first), words(&second));
        assert_eq!(
            (&first[..2], &second[..2]),
            (
                &["1".to_owned(), "1".to_owned()][..],
                &["2".to_owned(), "2".to_owned()][..]
            )
        );
        assert_eq!(first[2], first[3]);
        assert_ne!(first[2], first[4]);
        assert_ne!(first[2], second[2]);
    }
}
