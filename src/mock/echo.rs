//! The server that is served when nothing is declared.

use serde_json::json;

use crate::model::interactions::{AnswerBlock, DeclaredServer, MockReply, MockResponse, MockTool};

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
    if let serde_json::Value::Object(described) = described {
        tool.served.extend(described);
    }
    DeclaredServer {
        name: Some(ECHO_NAME.to_owned()),
        version: Some("1.0.0".to_owned()),
        tools: vec![tool],
        ..DeclaredServer::default()
    }
}
