//! The tools that the servers offered, as served, and small views of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;

/// The first revision of MCP that has neither `initialize` nor sessions.
///
/// Source: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>
pub const STATELESS: &str = "2026-07-28";

/// Whether a revision of MCP is that one or a later one.
pub fn has_no_sessions(revision: &str) -> bool {
    // Revisions are dates.
    revision >= STATELESS
}

/// Everything the servers of one run offered, in the order the scenario names the servers: what each offered, or, in the file of a baseline,
/// which file says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "")]
pub struct Catalogue<S = ServerCatalogue> {
    pub servers: Vec<S>,
    /// The agent's own tools, which are no server's, by name: as it lists them itself, or as its kind is known to have them. Empty where
    /// nobody knows of any. They have a place of their own in what is stored.
    #[serde(skip)]
    pub own: Vec<String>,
}

/// What one server offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCatalogue {
    pub server: String,
    /// `serverInfo` as served.
    pub info: Option<Value>,
    pub protocol_version: Option<String>,
    /// It has refused the revisions before that one, in which it was spoken to first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_legacy: bool,
    /// What the server says that it is able to, as served; absent where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The tools as served by `tools/list`.
    pub tools: Vec<Tool>,
    /// The names of tools that it listed only later in the run; absent where there are none.
    #[serde(default, rename = "later_tools", skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// The client that made the calls, and what it answered when the server asked it something; absent where it could be asked nothing and
    /// wanted no revision of MCP without sessions.
    #[serde(default, skip_serializing_if = "Client::is_plain")]
    pub client: Client,
}

/// The client's side of a session, as far as servers see it besides the calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// What it says that it can do, as served.
    pub capabilities: Object,
    /// What it answered, in the order it was asked.
    #[serde(default)]
    pub answers: Vec<ClientAnswer>,
    /// The revision of MCP that it asked for first; absent where that is one with `initialize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The revision that it then spoke; absent where it asked for none but such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spoke: Option<String>,
}

/// What a client answered when a server asked it something: to fill in a form, to ask a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientAnswer {
    pub method: String,
    pub params: Value,
    /// Absent where it answered with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

impl ClientAnswer {
    /// What is asked for: `elicitation`, `sampling`.
    pub fn kind(&self) -> &str {
        self.method.split('/').next().unwrap_or_default()
    }

    /// What was asked, and is not answered yet; `None` for what asks nothing but whether somebody is there.
    pub fn awaited(method: &str, params: Value) -> Option<Self> {
        (method != "ping").then(|| Self {
            method: method.to_owned(),
            params,
            result: None,
            error: None,
        })
    }
}

impl Client {
    /// Whether it is as a client that servers can ask nothing.
    pub fn can_nothing(&self) -> bool {
        let can = ["elicitation", "sampling", "roots"];
        self.answers.is_empty() && !can.iter().any(|it| self.capabilities.contains_key(*it))
    }

    /// Whether there is nothing to say of it.
    pub fn is_plain(&self) -> bool {
        self.can_nothing() && self.wanted.is_none()
    }

    /// It has asked for this revision of MCP, or has gone on in it.
    pub fn speaks(&mut self, revision: &str) {
        if self.wanted.is_none() && has_no_sessions(revision) {
            self.wanted = Some(revision.to_owned());
        }
        if self.wanted.is_some() {
            self.spoke = Some(revision.to_owned());
        }
    }
}

/// One tool, exactly as `tools/list` served it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "")]
pub struct Tool {
    pub served: Object,
}

impl ServerCatalogue {
    /// Whether it lists a tool of this name, be it later in the run.
    pub fn lists(&self, tool: &str) -> bool {
        self.tools.iter().any(|it| it.name() == tool) || self.later.iter().any(|it| it == tool)
    }

    /// The bare name of one of its tools; `None` where the name is no full one of this server.
    pub fn bare<'n>(&self, name: &'n str) -> Option<&'n str> {
        let rest = name.strip_prefix("mcp__")?;
        rest.strip_prefix(self.server.as_str())?.strip_prefix("__")
    }

    /// Whether it was spoken to in a revision without sessions.
    pub fn is_stateless(&self) -> bool {
        self.revision().is_some_and(has_no_sessions)
    }

    /// The revision of MCP that the calls were made in: that of the client, where it has one of its own.
    pub fn revision(&self) -> Option<&str> {
        let own = self.client.spoke.as_deref();
        own.or(self.protocol_version.as_deref())
    }

    /// Whether it lists no tool at all, so that nobody knows what it has.
    pub fn lists_nothing(&self) -> bool {
        self.tools.is_empty() && self.later.is_empty()
    }
}

impl<S> Default for Catalogue<S> {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            own: Vec::new(),
        }
    }
}

impl<S> Catalogue<S> {
    pub(super) fn has_no_server(&self) -> bool {
        self.servers.is_empty()
    }
}

impl Catalogue {
    /// Whether there is a tool of this name, bare or full: of a server, be it listed only later in the run, or one of the agent's own.
    pub fn offers(&self, name: &str) -> bool {
        let is_own = self.own.iter().any(|it| it == name);
        is_own
            || (self.servers.iter())
                .any(|it| it.lists(name) || it.bare(name).is_some_and(|bare| it.lists(bare)))
    }

    /// The server that has a tool, or the named one where it has it.
    ///
    /// # Errors
    ///
    /// That there is none, or that there are several.
    pub fn server_of(&self, named: Option<&str>, tool: &str) -> Result<&str, String> {
        let mut having = self.servers.iter().filter(|it| {
            named.is_none_or(|server| it.server == server)
                && it.tools.iter().any(|it| it.name() == tool)
        });
        let Some(first) = having.next() else {
            return Err(format!("no server has the tool `{tool}`"));
        };
        match having.next() {
            Some(other) => Err(format!(
                "`{}` and `{}` both have the tool `{tool}`: name the server",
                first.server, other.server
            )),
            None => Ok(&first.server),
        }
    }

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
