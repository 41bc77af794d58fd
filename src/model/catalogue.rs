//! What the servers offered: their tools as served, and small views into them.

use serde_json::Value;

use crate::model::Object;

/// Everything the servers of one run offered, in the order the scenario names the servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    pub servers: Vec<ServerCatalogue>,
}

/// What one server said of itself and its tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerCatalogue {
    /// The name the scenario gives the server.
    pub server: String,
    /// `serverInfo` of its `initialize` answer, as served.
    pub info: Option<Value>,
    /// The protocol revision the two sides agreed on.
    pub protocol_version: Option<String>,
    /// Usage instructions the server hands to models.
    pub instructions: Option<String>,
    /// Its tools, in the order served.
    pub tools: Vec<Tool>,
}

/// One tool, exactly as `tools/list` served it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub served: Object,
}

impl Catalogue {
    /// The tool a call was routed to, if the server listed it.
    pub fn tool(&self, server: &str, tool: &str) -> Option<&Tool> {
        self.servers
            .iter()
            .find(|it| it.server == server)?
            .tools
            .iter()
            .find(|it| it.name() == tool)
    }
}

impl Tool {
    /// The tool's name; empty when the server sent none.
    pub fn name(&self) -> &str {
        self.served
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// What the server says the tool is for.
    pub fn description(&self) -> Option<&str> {
        self.served.get("description").and_then(Value::as_str)
    }

    /// JSON Schema of the arguments.
    pub fn input_schema(&self) -> Option<&Value> {
        self.served.get("inputSchema")
    }

    /// JSON Schema of `structuredContent`.
    pub fn output_schema(&self) -> Option<&Value> {
        self.served.get("outputSchema")
    }

    /// The `readOnlyHint` annotation, where the server gives one.
    pub fn read_only_hint(&self) -> Option<bool> {
        self.served
            .get("annotations")?
            .get("readOnlyHint")?
            .as_bool()
    }
}
