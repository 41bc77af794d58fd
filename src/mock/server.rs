//! The mock's side of the protocol: a request in, a reply out.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25>

use std::time::Duration;

use serde_json::{Value, json};

use crate::mock::answers::{Prepared, PreparedTool};
use crate::model::Object;
use crate::model::interactions::{MockServer, MockTool};

/// Protocol revisions the mock speaks, latest last.
const PROTOCOL_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// A mock server with its state: which responses are used up.
#[derive(Debug)]
pub struct Mock {
    info: Value,
    instructions: Option<String>,
    tools: Vec<PreparedTool>,
}

/// What to send back, and after how long; nothing for a notification.
#[derive(Debug, PartialEq)]
pub struct Reply {
    pub message: Option<Value>,
    pub delay: Option<Duration>,
}

impl Mock {
    /// A mock as declared; `name` is its name in the scenario.
    ///
    /// # Errors
    ///
    /// A sentence when the declaration holds an invalid regular expression.
    pub fn new(name: &str, declared: &MockServer) -> Result<Self, String> {
        Ok(Self {
            info: json!({
                "name": declared.name.as_deref().unwrap_or(name),
                "version": declared.version.as_deref().unwrap_or("1.0.0"),
            }),
            instructions: declared.instructions.clone(),
            tools: declared
                .tools
                .iter()
                .map(|it| PreparedTool::new(it.clone()))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Answers one message, given as it came over the wire.
    pub fn answer(&mut self, text: &str) -> Reply {
        let at_once = |message| Reply {
            message,
            delay: None,
        };
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return at_once(Some(error(
                &Value::Null,
                PARSE_ERROR,
                "the message is not JSON",
            )));
        };
        let id = message.get("id").cloned();
        let valid = message.get("jsonrpc") == Some(&json!("2.0"));
        let method = message
            .get("method")
            .and_then(Value::as_str)
            .filter(|_| valid);
        match (method, id) {
            (None, _)
                if valid && (message.get("result").is_some() || message.get("error").is_some()) =>
            {
                at_once(None)
            }
            (None, id) => at_once(Some(error(
                &id.unwrap_or_default(),
                INVALID_REQUEST,
                "the message is no JSON-RPC 2.0 request",
            ))),
            (Some(_), None) => at_once(None),
            (Some(method), Some(id)) => {
                let params = message.get("params").cloned().unwrap_or_default();
                let Prepared { delay, reply } = self.request(method, &params);
                let message = match reply {
                    Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                    Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                };
                Reply {
                    message: Some(message),
                    delay,
                }
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Prepared {
        let reply = match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(
                json!({ "tools": self.tools.iter().map(|it| listed(&it.tool)).collect::<Vec<_>>() }),
            ),
            "tools/call" => return self.call(params),
            _ => Err(error_object(
                METHOD_NOT_FOUND,
                &format!("there is no method `{method}`"),
            )),
        };
        Prepared { delay: None, reply }
    }

    fn initialize(&self, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let latest = PROTOCOL_VERSIONS[PROTOCOL_VERSIONS.len() - 1];
        let version = asked
            .filter(|it| PROTOCOL_VERSIONS.contains(it))
            .unwrap_or(latest);
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": self.info,
        });
        if let Some(instructions) = &self.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    fn call(&mut self, params: &Value) -> Prepared {
        let refuse = |message: &str| Prepared {
            delay: None,
            reply: Err(error_object(INVALID_PARAMS, message)),
        };
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return refuse("a tool call needs the tool's name");
        };
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return refuse(&format!("the arguments of tool `{name}` are no object")),
        };
        match self.tools.iter_mut().find(|it| it.tool.name == name) {
            Some(tool) => tool.answer(&arguments),
            None => refuse(&format!("unknown tool `{name}`")),
        }
    }
}

/// A tool as `tools/list` shows it.
fn listed(tool: &MockTool) -> Value {
    let mut listed = Object::new();
    listed.insert("name".to_owned(), json!(tool.name));
    let schema = tool
        .input_schema
        .clone()
        .unwrap_or_else(|| json!({ "type": "object" }));
    let members = [
        ("title", tool.title.clone().map(Value::String)),
        ("description", tool.description.clone().map(Value::String)),
        ("inputSchema", Some(schema)),
        ("outputSchema", tool.output_schema.clone()),
        ("annotations", tool.annotations.clone().map(Value::Object)),
    ];
    listed.extend(
        members
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?))),
    );
    Value::Object(listed)
}

fn error_object(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": error_object(code, message) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Mock;
    use crate::model::interactions::{
        ArgumentCondition, MockReply, MockResponse, MockServer, MockTool,
    };

    fn response(
        matches: &[(&str, ArgumentCondition)],
        times: Option<u32>,
        text: &str,
    ) -> MockResponse {
        MockResponse {
            matches: matches
                .iter()
                .map(|(name, condition)| ((*name).to_owned(), condition.clone()))
                .collect(),
            times,
            delay: None,
            reply: MockReply::Result {
                content: vec![json!({ "type": "text", "text": text })],
                structured_content: None,
                is_error: false,
            },
        }
    }

    fn mock() -> Mock {
        let find = MockTool {
            name: "find".to_owned(),
            title: None,
            description: Some("Finds.".to_owned()),
            input_schema: None,
            output_schema: None,
            annotations: None,
            responses: vec![
                response(
                    &[("q", ArgumentCondition::Equals(json!("a")))],
                    Some(1),
                    "first {{args.q}}",
                ),
                response(
                    &[("q", ArgumentCondition::Contains("a".to_owned()))],
                    None,
                    "then {{args.q}} {{args.n}}",
                ),
                response(
                    &[("q", ArgumentCondition::Regex("^b+$".to_owned()))],
                    None,
                    "{{args.n}}",
                ),
                response(&[("any", ArgumentCondition::Any)], None, "any"),
            ],
        };
        let declared = MockServer {
            tools: vec![find],
            ..MockServer::default()
        };
        Mock::new("m", &declared).unwrap()
    }

    fn ask(mock: &mut Mock, message: &str) -> Value {
        mock.answer(message).message.unwrap_or_default()
    }

    fn call(mock: &mut Mock, arguments: &Value) -> Value {
        let params = json!({ "name": "find", "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        ask(mock, &request.to_string())["result"]["content"][0]["text"].clone()
    }

    #[test]
    fn the_first_response_that_fits_answers() {
        let mut mock = mock();
        assert_eq!(call(&mut mock, &json!({ "q": "a" })), "first a");
        assert_eq!(call(&mut mock, &json!({ "q": "a", "n": 2 })), "then a 2");
        assert_eq!(call(&mut mock, &json!({ "q": "bb", "n": 3 })), json!(3));
        assert_eq!(call(&mut mock, &json!({ "any": null })), "any");
        assert_eq!(
            call(&mut mock, &json!({ "q": "c" })),
            r#"none of the 4 responses of mock tool `find` fits the arguments {"q":"c"}"#
        );
    }

    #[test]
    fn what_is_no_request_gets_the_right_error() {
        let mut mock = mock();
        let cases = [
            ("{", json!(null), -32700),
            ("null", json!(null), -32600),
            ("[]", json!(null), -32600),
            (r#"{"id":"x","method":"ping"}"#, json!("x"), -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"nope"}"#,
                json!(7),
                -32601,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
                json!(7),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#,
                json!(7),
                -32602,
            ),
        ];
        for (message, id, code) in cases {
            let reply = ask(&mut mock, message);
            assert_eq!(
                (&reply["id"], &reply["error"]["code"]),
                (&id, &json!(code)),
                "{message}"
            );
        }
        assert_eq!(
            mock.answer(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .message,
            None
        );
        assert_eq!(
            ask(&mut mock, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)["result"],
            json!({})
        );
    }

    #[test]
    fn the_clients_protocol_version_is_taken_where_it_is_known() {
        let mut mock = mock();
        for (asked, given) in [("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-11-25")] {
            let params = json!({ "protocolVersion": asked });
            let request =
                json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            assert_eq!(
                ask(&mut mock, &request.to_string())["result"]["protocolVersion"],
                given
            );
        }
    }
}
