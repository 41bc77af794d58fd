//! The declaration of a mock server: the `mcp_interactions` section.

use serde_json::Value;

use super::reply::{AnswerBlock, MockResponse, OnExhausted};
use crate::model::Object;
use crate::model::placeholder::Alike;

/// One mock server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeclaredServer {
    /// `serverInfo.name`; the server's name in the scenario unless given.
    pub name: Option<String>,
    /// `serverInfo.title`, the name people are shown.
    pub title: Option<String>,
    /// `serverInfo.version`; `1.0.0` unless given.
    pub version: Option<String>,
    /// Usage instructions for models.
    pub instructions: Option<String>,
    pub tools: Vec<MockTool>,
    pub resources: Vec<MockResource>,
    pub resource_templates: Vec<MockResourceTemplate>,
    pub prompts: Vec<MockPrompt>,
    /// Prepared responses to requests by method; where none fits, the server answers as it would without them.
    pub methods: Vec<(String, Vec<MockResponse>)>,
    /// What `{{get.…}}` finds before anything was set.
    pub state: Object,
    /// How many entries a page of a list holds; `None` for all on one page.
    pub page_size: Option<usize>,
    /// Whether the server says that its lists may change; `None` where that follows from a declared step or fault.
    pub list_changed: Option<bool>,
    /// Whether the server offers logging although no step logs.
    pub logging: bool,
    pub http_responses: HttpResponses,
}

/// How answers to HTTP requests are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpResponses {
    /// As JSON, and as an event stream where something comes before the answer.
    #[default]
    Auto,
    /// As an event stream, always.
    EventStream,
}

/// One tool of a mock server.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTool {
    pub name: String,
    /// The tool as `tools/list` serves it.
    pub served: Object,
    /// Not in the list, and unknown to callers, until a step shows it; calls of a recorded tool are answered even so.
    pub hidden: bool,
    /// The first response that matches a call answers it.
    pub responses: Vec<MockResponse>,
    pub on_exhausted: OnExhausted,
    /// Its responses are the calls of a recording, whose placeholders for secrets compare like this; the answer to other arguments says how they
    /// differ. `None` for a tool that was declared.
    pub recorded: Option<Alike>,
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

impl MockTool {
    /// A tool known by its name alone, which answers every call the same way.
    pub fn new(name: &str, response: Option<MockResponse>) -> Self {
        let served = [
            ("name".to_owned(), name.into()),
            (
                "inputSchema".to_owned(),
                serde_json::json!({ "type": "object" }),
            ),
        ];
        Self {
            name: name.to_owned(),
            served: served.into_iter().collect(),
            hidden: false,
            responses: response.into_iter().collect(),
            on_exhausted: OnExhausted::default(),
            recorded: None,
        }
    }

    /// JSON Schema of the arguments.
    pub fn input_schema(&self) -> Option<&Value> {
        self.served.get("inputSchema")
    }
}
