//! Messages to and from a model, whatever API it speaks.

use serde_json::Value;
use uuid::Uuid;

use crate::json;
use crate::model::usage::Usage;
use crate::model::{Object, Unsendable};
use crate::scenario_file::agent::{ModelAgent, Temperature, ToolChoice};

/// A tool as the model is offered it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferedTool {
    /// The name the API allows.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// JSON Schema of the arguments.
    pub(crate) input_schema: Value,
}

/// A message of the conversation with the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    User(String),
    /// What the model said, as its API wants it back.
    Assistant(Value),
    Results(Vec<ToolResult>),
}

/// The outcome of a call, as the model gets it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolResult {
    /// The call's id, where the API gives ids.
    pub(crate) id: Option<String>,
    /// The tool, as the model called it.
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) is_error: bool,
}

/// A part of a tool's answer that models understand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// A picture in Base64.
    Image {
        mime_type: String,
        data: String,
    },
}

/// Everything one request says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) settings: &'a ModelAgent,
    pub(crate) tools: &'a [OfferedTool],
    /// A tool is meant by the name it is offered with.
    pub(crate) tool_choice: Option<&'a ToolChoice>,
    pub(crate) history: &'a [Message],
    /// The JSON Schema that the answer itself must have, where the API can hold it to one.
    pub(crate) output: Option<&'a Value>,
}

/// What a schema of an answer is called towards an API that wants a name for it.
pub(crate) const OUTPUT_NAME: &str = "verdict";

/// What a model answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    /// The model, as the API names it.
    pub(crate) model: Option<String>,
    /// What it said, for the history.
    pub(crate) said: Value,
    /// What it said to the user.
    pub(crate) texts: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Finish,
    /// Why it stopped, in the API's own word.
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Usage,
}

/// A call the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    /// The tool, by the name it was offered with, if the model remembers it right.
    pub(crate) name: String,
    pub(crate) arguments: Result<Object, Unsendable>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    /// It is done, or wants its calls to be made.
    Done,
    /// The longest answer allowed was reached.
    MaxTokens,
    /// It does not want to.
    Refused,
    /// The vendor does not want it to.
    Filtered,
    /// There is no room left for an answer.
    ContextFull,
    /// It wants to go on when asked again.
    Paused,
}

impl Response {
    /// Whether it neither says nor wants anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.texts.iter().all(|it| it.trim().is_empty())
    }
}

impl Request<'_> {
    /// How freely the model chooses its words, as all APIs count it; `None` where the scenario leaves it to the API.
    pub(crate) fn temperature(&self) -> Option<Value> {
        match self.settings.temperature {
            Temperature::Lowest => Some(0.into()),
            Temperature::Value(value) => Some(value.into()),
            Temperature::Unset => None,
        }
    }

    /// The body with what the scenario adds to it: members replace, maps are merged, `null` removes (RFC 7396).
    pub(crate) fn completed(&self, mut body: Value) -> Value {
        merge(&mut body, &Value::Object(self.settings.extra_body.clone()));
        body
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Object::new());
    }
    if let Value::Object(members) = target {
        for (name, value) in patch {
            if value.is_null() {
                members.shift_remove(name);
            } else {
                merge(members.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
    }
}

impl ToolResult {
    /// The texts, joined by line breaks; a picture is named in its place.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<String> = self
            .parts
            .iter()
            .map(|it| match it {
                Part::Text(text) => text.clone(),
                Part::Image { mime_type, .. } => format!("[a picture: {mime_type}]"),
            })
            .collect();
        texts.join("\n")
    }

    /// The pictures: MIME type and Base64.
    pub(crate) fn images(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().filter_map(|it| match it {
            Part::Text(_) => None,
            Part::Image { mime_type, data } => Some((mime_type.as_str(), data.as_str())),
        })
    }
}

/// Arguments a model gives as a JSON text, as several APIs have it. No text at all stands for no arguments.
pub(crate) fn parse_arguments(text: &str) -> Result<Object, Unsendable> {
    if text.trim().is_empty() {
        return Ok(Object::new());
    }
    match json::read_distinct(text.as_bytes()) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(malformed("the arguments are no JSON object", text)),
        Err(error) => Err(malformed(
            &format!("the arguments are not valid JSON: {error}"),
            text,
        )),
    }
}

/// Arguments a model gives as JSON.
pub(crate) fn object_arguments(value: &Value) -> Result<Object, Unsendable> {
    match value {
        Value::Object(arguments) => Ok(arguments.clone()),
        Value::Null => Ok(Object::new()),
        Value::String(text) => parse_arguments(text),
        other => Err(malformed(
            "the arguments are no JSON object",
            &other.to_string(),
        )),
    }
}

fn malformed(why: &str, said: &str) -> Unsendable {
    Unsendable {
        why: why.to_owned(),
        said: said.to_owned(),
    }
}

/// The id of a call, in the member where its API has it: one of our own where the model gave none, or one that a call before it has. What is
/// sent back has it, too.
pub(crate) fn own_id(call: &mut Value, member: &str, before: &[Call]) -> String {
    let is_new = |it: &String| {
        let mut before = before.iter();
        !it.is_empty() && before.all(|call| call.id.as_ref() != Some(it))
    };
    let given = text(call, member).filter(is_new);
    let id = given.unwrap_or_else(|| format!("call_{}", Uuid::new_v4().simple()));
    call[member] = id.as_str().into();
    id
}

/// A text member of a JSON object.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Call, merge, object_arguments, own_id, parse_arguments};

    #[test]
    fn bodies_are_patched() {
        let mut body = json!({ "a": 1, "options": { "x": 1, "y": 2 } });
        merge(
            &mut body,
            &json!({ "a": null, "options": { "y": 3, "z": {} }, "b": [1] }),
        );
        assert_eq!(
            body,
            json!({ "options": { "x": 1, "y": 3, "z": {} }, "b": [1] })
        );
    }

    #[test]
    fn calls_without_an_id_of_their_own_get_one() {
        let mut calls: Vec<Call> = Vec::new();
        for given in [
            json!("a"),
            json!(""),
            json!(""),
            json!(null),
            json!("a"),
            json!("b"),
        ] {
            let mut call = json!({ "id": given });
            let id = own_id(&mut call, "id", &calls);
            assert_eq!(call["id"], json!(id));
            assert!(!id.is_empty());
            calls.push(Call {
                id: Some(id),
                name: String::new(),
                arguments: parse_arguments(""),
            });
        }
        let ids: std::collections::BTreeSet<_> = calls.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), calls.len());
        assert_eq!(
            (&calls[0].id, &calls[5].id),
            (&Some("a".to_owned()), &Some("b".to_owned()))
        );
    }

    #[test]
    fn arguments_are_objects_or_malformed() {
        assert!(parse_arguments("").unwrap().is_empty());
        assert_eq!(parse_arguments(r#"{"a":1}"#).unwrap()["a"], 1);
        assert_eq!(parse_arguments("{\"a\":").unwrap_err().said, "{\"a\":");
        assert!(parse_arguments("[1]").is_err());
        assert!(object_arguments(&json!(null)).unwrap().is_empty());
        assert!(object_arguments(&json!(7)).is_err());
        assert_eq!(object_arguments(&json!("{\"a\":2}")).unwrap()["a"], 2);
    }
}
