//! Servers of a test case.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What names of servers are like.
const NAME: &str = "^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$";

/// How a server is reached.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ServerConfig {
    /// A program that is started for the run and speaks MCP on its standard streams. The server must allow programs.
    Stdio {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(length(min = 1, max = 4096))]
        command: String,
        #[serde(default)]
        #[schemars(length(max = 1000))]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A server over Streamable HTTP, or over the older HTTP with SSE where it speaks no other.
    Http {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A server over the older HTTP with SSE.
    Sse {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// The types there are.
pub const TYPES: [&str; 3] = ["stdio", "http", "sse"];

impl ServerConfig {
    pub fn name(&self) -> Option<&str> {
        let (Self::Stdio { name, .. } | Self::Http { name, .. } | Self::Sse { name, .. }) = self;
        name.as_deref()
    }
}

/// Without what may hold secrets.
impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
