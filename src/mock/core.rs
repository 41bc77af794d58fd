//! The mock's side of the protocol, pure: a declaration, a state and a request make an exchange.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25>

use serde_json::{Value, json};

use crate::mock::exchange::Exchange;
use crate::mock::session::Client;
use crate::mock::state::State;
use crate::mock::tools::{Called, Tools, bad_params};
use crate::mock::wire::{self, Id, METHOD_NOT_FOUND};
use crate::model::interactions::DeclaredServer;

/// Protocol revisions the mock speaks, latest last.
pub(super) const PROTOCOL_VERSIONS: [&str; 4] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// How a mock server behaves beyond its declaration.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Arguments are checked against the input schema.
    pub validate: bool,
}

/// A mock server with its state.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) declared: DeclaredServer,
    /// Its name in the scenario.
    pub(super) name: String,
    pub(super) options: Options,
    pub(super) tools: Tools,
    pub(super) state: State,
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
        Ok(Self {
            name: name.to_owned(),
            options,
            tools: Tools::new(&declared.tools)?,
            state: State::new(declared.state.clone()),
            declared,
        })
    }

    /// Begins to answer a request.
    pub(super) fn begin(
        &mut self,
        client: &mut Client,
        id: Id,
        method: &str,
        params: &Value,
    ) -> (Exchange, Option<Called>) {
        if !params.is_null() && !params.is_object() {
            let error = bad_params(
                "`params` is no object",
                &Value::Null,
                "`params` is no object",
            );
            return (Exchange::answered(id, Err(error)), None);
        }
        let answer = match method {
            "tools/call" => return self.call(id, params),
            "initialize" => Ok(self.initialize(client, params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": self.tools.listed() })),
            _ => {
                let message = format!("there is no method `{method}`");
                Err(wire::error(METHOD_NOT_FOUND, &message))
            }
        };
        (Exchange::answered(id, answer), None)
    }

    fn initialize(&self, client: &mut Client, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let latest = PROTOCOL_VERSIONS[PROTOCOL_VERSIONS.len() - 1];
        let version = asked
            .filter(|it| PROTOCOL_VERSIONS.contains(it))
            .unwrap_or(latest);
        client.capabilities = params.get("capabilities").cloned().unwrap_or_default();
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "supported": true, "listChanged": false } },
            "serverInfo": {
                "name": self.declared.name.as_deref().unwrap_or(&self.name),
                "version": self.declared.version.as_deref().unwrap_or("1.0.0"),
            },
        });
        if let Some(instructions) = &self.declared.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }
}
