//! A mock server as declared, with its state, and how it introduces itself.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25>

use std::sync::Arc;

use serde_json::{Value, json};

use crate::mock::answers::{Answers, Tools};
use crate::mock::playing::Rounds;
use crate::mock::state::{Client, State};
use crate::mock::uri_pattern::UriPattern;
use crate::protocol::{Era, LEGACY};
use crate::redact::Redactor;
use crate::scenario_file::mock::{
    AnswerBlock, DeclaredServer, Fault, MockReply, MockResponse, MockTool, OnExhausted, Step,
};

/// How a mock server behaves beyond its declaration.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Arguments are checked against the input schema.
    pub validate: bool,
    /// Tools may come and go while it runs, which clients learn in the handshake.
    pub changes: bool,
}

/// A mock server with its state.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) declared: DeclaredServer,
    /// Its name in the scenario.
    pub(super) name: String,
    pub(super) options: Options,
    /// Takes secrets out of what is compared with a recording.
    pub(super) redactor: Arc<Redactor>,
    pub(super) tools: Tools,
    pub(super) state: State,
    pub(super) rounds: Rounds,
    /// The only era that it speaks since its first request.
    pub(super) decided: Option<Era>,
    /// One for each resource template.
    pub(super) uri_patterns: Vec<UriPattern>,
    /// Prepared responses by method.
    pub(super) methods: Vec<(String, Answers)>,
    /// The capabilities that it declares.
    pub(super) capabilities: Value,
}

impl Core {
    /// A server as declared; `name` is its name in the scenario.
    ///
    /// # Errors
    ///
    /// A sentence when the declaration cannot be served.
    pub(super) fn new(
        name: &str,
        declared: DeclaredServer,
        options: Options,
    ) -> Result<Self, String> {
        let templates = declared.resource_templates.iter();
        let methods = declared.methods.iter().map(|(method, responses)| {
            let answers = Answers::new(responses, OnExhausted::Error)
                .map_err(|problem| format!("method `{method}`: {problem}"))?;
            Ok((method.clone(), answers))
        });
        Ok(Self {
            name: name.to_owned(),
            options,
            redactor: Arc::default(),
            tools: Tools::new(&declared.tools)?,
            state: State::new(declared.state.clone()),
            rounds: Rounds::default(),
            decided: None,
            uri_patterns: templates
                .map(|it| UriPattern::new(&it.uri_template))
                .collect::<Result<_, _>>()?,
            methods: methods.collect::<Result<_, String>>()?,
            capabilities: capabilities(&declared, options),
            declared,
        })
    }

    /// The answer to `initialize`.
    pub(super) fn initialize(&self, client: &mut Client, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let latest = LEGACY[LEGACY.len() - 1];
        let version = asked.filter(|it| LEGACY.contains(it)).unwrap_or(latest);
        client.capabilities = params.get("capabilities").cloned().unwrap_or_default();
        client.initialized = true;
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities,
            "serverInfo": self.info(),
        });
        if let Some(instructions) = &self.declared.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    /// The name and version it gives itself.
    pub(super) fn info(&self) -> Value {
        let declared = &self.declared;
        let mut info = json!({ "name": declared.name.as_deref().unwrap_or(&self.name) });
        if let Some(title) = &declared.title {
            info["title"] = json!(title);
        }
        info["version"] = json!(declared.version.as_deref().unwrap_or("1.0.0"));
        info
    }

    /// Forgets what happened since the start; tells whether other tools are listed now. Tools that were added or removed stay so.
    pub(super) fn reset(&mut self) -> bool {
        let changed = self.tools.reset();
        for (_, answers) in &mut self.methods {
            answers.reset();
        }
        self.state = State::new(self.declared.state.clone());
        self.rounds = Rounds::default();
        self.decided = None;
        changed
    }
}

/// The capabilities that the server declares.
fn capabilities(declared: &DeclaredServer, options: Options) -> Value {
    let responses = declared.tools.iter().flat_map(|it| &it.responses);
    let methods = declared.methods.iter().flat_map(|(_, it)| it);
    let responses: Vec<&MockResponse> = responses.chain(methods).collect();
    let any_step = |is: fn(&Step) -> bool| responses.iter().any(|it| it.steps.iter().any(is));
    let changes = options.changes
        || responses.iter().any(|it| it.fault == Some(Fault::Vanish))
        || any_step(|it| {
            matches!(
                it,
                Step::ShowTools(_) | Step::HideTools(_) | Step::ListChanged { .. }
            )
        });
    let changes = declared.list_changed.unwrap_or(changes);
    let mut capabilities = json!({ "tools": { "supported": true, "listChanged": changes } });
    if !declared.resources.is_empty() || !declared.resource_templates.is_empty() {
        capabilities["resources"] = json!({ "subscribe": true, "listChanged": changes });
    }
    if !declared.prompts.is_empty() {
        capabilities["prompts"] = json!({ "listChanged": changes });
    }
    let completes = declared.prompts.iter().any(|it| !it.completions.is_empty())
        || declared
            .resource_templates
            .iter()
            .any(|it| !it.completions.is_empty());
    if completes {
        capabilities["completions"] = json!({});
    }
    if declared.logging || any_step(|it| matches!(it, Step::Log { .. })) {
        capabilities["logging"] = json!({});
    }
    capabilities
}

/// The name it gives itself.
pub const ECHO_NAME: &str = "MockMcpServer";

/// One tool, `mcp_echo_tool`, which answers with its argument. That argument needs checking ([`crate::mock::Options::validate`]).
pub fn echo() -> DeclaredServer {
    let answer = json!({
        "echoed": "{{args.message}}",
        "timestamp": "{{now}}",
        "testSuccess": true,
    });
    let response = MockResponse {
        reply: MockReply::content(vec![AnswerBlock::json(answer)]),
        ..MockResponse::default()
    };
    let mut tool = MockTool::new("mcp_echo_tool", Some(response));
    let described = json!({
        "description": "Returns what it is given.",
        "inputSchema": {
            "type": "object",
            "properties": { "message": { "type": "string", "description": "What to say" } },
            "required": ["message"],
        },
        "annotations": { "readOnlyHint": true },
    });
    if let Value::Object(described) = described {
        tool.served.extend(described);
    }
    DeclaredServer {
        name: Some(ECHO_NAME.to_owned()),
        version: Some("1.0.0".to_owned()),
        tools: vec![tool],
        ..DeclaredServer::default()
    }
}
