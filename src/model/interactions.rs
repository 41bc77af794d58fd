//! What a mock server is declared to be: the `mcp_interactions` section.

use std::time::Duration;

use serde_json::Value;

use crate::model::Object;

/// One mock server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MockServer {
    /// `serverInfo.name`; the server's name in the scenario unless given.
    pub name: Option<String>,
    /// `serverInfo.version`; `1.0.0` unless given.
    pub version: Option<String>,
    /// Usage instructions for models.
    pub instructions: Option<String>,
    pub tools: Vec<MockTool>,
}

/// One tool of a mock server.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// JSON Schema of the arguments, served as written.
    pub input_schema: Option<Value>,
    /// JSON Schema of `structuredContent`, served as written.
    pub output_schema: Option<Value>,
    /// Served with camelCase keys: `read_only_hint` becomes `readOnlyHint`.
    pub annotations: Option<Object>,
    /// The first response that matches a call answers it.
    pub responses: Vec<MockResponse>,
}

/// One prepared response.
#[derive(Debug, Clone, PartialEq)]
pub struct MockResponse {
    /// Conditions on arguments, all of which must hold.
    pub matches: Vec<(String, ArgumentCondition)>,
    /// How many calls it answers before the next one takes over; `None` for any number.
    pub times: Option<u32>,
    /// How long the server takes to answer.
    pub delay: Option<Duration>,
    pub reply: MockReply,
}

/// What a call must have for a response to answer it.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentCondition {
    /// The argument equals this value.
    Equals(Value),
    /// The argument is a text containing this one.
    Contains(String),
    /// The argument is a text matching this regular expression.
    Regex(String),
    /// The argument is there, whatever it is.
    Any,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub enum MockReply {
    /// A tool result; texts may hold `{{args.NAME}}`.
    Result {
        content: Vec<Value>,
        structured_content: Option<Value>,
        is_error: bool,
    },
    /// A JSON-RPC error.
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
}
