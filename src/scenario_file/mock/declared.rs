//! The offer of a mock server, as it is served.

use serde_json::Value;

use super::reply::AnswerBlock;
use crate::model::Object;

/// How answers to HTTP requests are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpResponses {
    /// As JSON, and as an event stream where something comes before the answer.
    #[default]
    Auto,
    /// As an event stream, always.
    EventStream,
}

/// One resource of a mock server.
#[derive(Debug, Clone, PartialEq)]
pub struct MockResource {
    pub uri: String,
    /// The resource as `resources/list` serves it.
    pub served: Object,
    pub contents: MockContents,
}

/// Resources that share a URI template (RFC 6570, simple expansion).
#[derive(Debug, Clone, PartialEq)]
pub struct MockResourceTemplate {
    pub uri_template: String,
    /// The template as `resources/templates/list` serves it.
    pub served: Object,
    /// May refer to the variables of the template: `{{uri.NAME}}`.
    pub contents: MockContents,
    /// Proposed values, by variable.
    pub completions: Vec<(String, Vec<String>)>,
}

/// What reading a resource gives.
#[derive(Debug, Clone, PartialEq)]
pub struct MockContents {
    pub mime_type: Option<String>,
    pub body: MockBody,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MockBody {
    Text(String),
    /// Served as compact JSON.
    Json(Value),
    /// Base64.
    Blob(String),
}

/// One prompt of a mock server.
#[derive(Debug, Clone, PartialEq)]
pub struct MockPrompt {
    pub name: String,
    /// The prompt as `prompts/list` serves it.
    pub served: Object,
    /// The arguments it cannot do without.
    pub required: Vec<String>,
    pub messages: Vec<MockMessage>,
    /// Proposed values, by argument.
    pub completions: Vec<(String, Vec<String>)>,
}

/// A message of a prompt, or of a sampling request.
#[derive(Debug, Clone, PartialEq)]
pub struct MockMessage {
    /// `user` or `assistant`.
    pub role: String,
    pub content: AnswerBlock,
}
