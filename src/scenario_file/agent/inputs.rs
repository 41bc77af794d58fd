//! The section `inputs`: what the client answers when a server wants to know something during a call.

use regex::Regex;
use serde_json::{Value, json};

use crate::model::Object;
use crate::scenario_file::decode::{At, NO_HINT, Pattern, Word, choice, section};
use crate::scenario_file::yaml::{Findings, Mark};

choice! {
    /// What servers ask of a client: something of the user (`elicitation`, unless given), something of a model (`sampling`), or which folders there are (`roots`).
    InputMethodWord for InputMethod {
        "elicitation" => InputMethod::Elicitation,
        "elicitation/create" => InputMethod::Elicitation,
        "sampling" => InputMethod::Sampling,
        "sampling/createMessage" => InputMethod::Sampling,
        "roots" => InputMethod::Roots,
        "roots/list" => InputMethod::Roots,
    }
}

section! {
    /// What the client answers when a server wants to know something during a call. The first that fits is taken.
    InputSection, checked by check_input {
        /// What is asked for.
        method: Option<InputMethodWord>,
        /// Only what is asked under this key, which MCP has since 2026-07-28.
        key: Option<Word>,
        /// A regular expression: only where it finds something in the message, or in all that is asked where there is none.
        r#match: Option<Pattern>,
        /// Of `elicitation`: the values of the form. Of `sampling`: what the model says, as text or as a whole message. Of `roots`: the addresses of the folders, in a list.
        answer: Option<At<Value>>,
        /// `true`: the user declines to answer.
        decline: Option<At<bool>>,
    }
}

/// What a server may want to know from its client.
///
/// Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/client>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputMethod {
    Elicitation,
    Sampling,
    Roots,
}

/// One answer of the client to what servers want to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    pub method: InputMethod,
    /// Under which key it is asked; `None` for any.
    pub key: Option<String>,
    /// A regular expression that finds something in what is asked; `None` for anything.
    pub pattern: Option<String>,
    /// The result that the server gets.
    pub result: Value,
}

impl InputMethod {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// What a client says of itself that is asked so.
    fn capability(self) -> &'static str {
        self.name().split('/').next().unwrap_or_default()
    }
}

impl Input {
    /// Whether it answers this.
    fn fits(&self, method: &str, key: Option<&str>, params: &Value) -> bool {
        let is_asked = || {
            let Some(pattern) = &self.pattern else {
                return true;
            };
            let text = match &params["message"] {
                Value::String(message) => message.clone(),
                _ => params.to_string(),
            };
            Regex::new(pattern).is_ok_and(|it| it.is_match(&text))
        };
        // A page that the user is sent to is nothing that can be answered here.
        let is_form = params["mode"] != "url";
        self.method.name() == method
            && is_form
            && (self.key.is_none() || self.key.as_deref() == key)
            && is_asked()
    }

    /// What the first of several answers to what a server wants to know, under this key where it has one; `None` where none does. A form
    /// is filled in with its defaults where nothing else is said.
    pub fn answer(all: &[Self], method: &str, key: Option<&str>, params: &Value) -> Option<Value> {
        let input = all.iter().find(|it| it.fits(method, key, params))?;
        let mut result = input.result.clone();
        let fields = params.pointer("/requestedSchema/properties");
        let content = result.get_mut("content").and_then(Value::as_object_mut);
        if let (Some(Value::Object(fields)), Some(content), InputMethod::Elicitation) =
            (fields, content, input.method)
        {
            for (name, field) in fields {
                if let Some(default) = field.get("default") {
                    content.entry(name).or_insert_with(|| default.clone());
                }
            }
        }
        Some(result)
    }

    /// What a client says of itself that has these: nothing that it cannot answer.
    pub fn capabilities(all: &[Self]) -> Object {
        let capability = |it: &Self| (it.method.capability().to_owned(), json!({}));
        all.iter().map(capability).collect()
    }
}

impl InputSection {
    /// `None` where it is wrong, which has been said.
    pub(in crate::scenario_file) fn input(&self) -> Option<Input> {
        let method = self.method();
        let result = match &self.answer {
            None => json!({ "action": "decline" }),
            Some(answer) => result(method, &answer.value)?,
        };
        Some(Input {
            method,
            key: self.key.as_ref().map(|it| it.0.clone()),
            pattern: self.r#match.as_ref().map(|it| it.0.clone()),
            result,
        })
    }

    fn method(&self) -> InputMethod {
        self.method.map_or(InputMethod::Elicitation, |it| it.0)
    }
}

fn check_input(section: &InputSection, at: Mark, findings: &mut Findings) {
    let method = section.method();
    match (&section.answer, &section.decline) {
        (Some(answer), None) => {
            if result(method, &answer.value).is_none() {
                let (message, hint) = match method {
                    InputMethod::Elicitation => (
                        "is not the values of a form",
                        "give them by their names: `answer: { confirm: true }`",
                    ),
                    InputMethod::Sampling => (
                        "is nothing that a model says",
                        "give a text, or a message: `answer: { role: assistant, content: … }`",
                    ),
                    InputMethod::Roots => (
                        "is no list of folders",
                        "list their addresses: `answer: [\"file:///work\"]`",
                    ),
                };
                findings.error(answer.at, message, Some(hint));
            }
        }
        (None, Some(decline)) if !decline.value => {
            findings.error(
                decline.at,
                "says nothing",
                Some("write `decline: true` or an `answer`"),
            );
        }
        (None, Some(decline)) => {
            if method != InputMethod::Elicitation {
                let message = "only the user can decline, which is `method: elicitation`";
                findings.error(decline.at, message, NO_HINT);
            }
        }
        (Some(_), Some(decline)) => {
            let message = "`decline` and `answer` both say what is answered";
            findings.error(decline.at, message, Some("keep one of the two"));
        }
        (None, None) => {
            let hint = "give an `answer`, or `decline: true`";
            findings.error(
                at,
                "says what is asked, and not what is answered",
                Some(hint),
            );
        }
    }
}

/// The result that a server gets; `None` where the answer is not one to such a question.
fn result(method: InputMethod, answer: &Value) -> Option<Value> {
    match (method, answer) {
        (InputMethod::Elicitation, Value::Object(_)) => {
            Some(json!({ "action": "accept", "content": answer }))
        }
        (InputMethod::Sampling, Value::String(text)) => Some(json!({
            "role": "assistant",
            "content": { "type": "text", "text": text },
            "model": "mcp-eval",
            "stopReason": "endTurn",
        })),
        (InputMethod::Sampling, Value::Object(message)) => {
            let mut whole = json!({ "role": "assistant", "model": "mcp-eval" });
            if let Value::Object(whole) = &mut whole {
                whole.extend(message.clone());
            }
            message.contains_key("content").then_some(whole)
        }
        (InputMethod::Roots, Value::Array(roots)) => {
            let root = |it: &Value| match it {
                Value::String(uri) => Some(json!({ "uri": uri })),
                Value::Object(root) if root.contains_key("uri") => Some(it.clone()),
                _ => None,
            };
            let roots: Option<Vec<Value>> = roots.iter().map(root).collect();
            Some(json!({ "roots": roots? }))
        }
        _ => None,
    }
}
