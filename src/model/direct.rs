//! What a proxy does to the answers of the servers behind it: calls made through it, beside the same calls made straight at those servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of the calls of one run, both ways.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Direct {
    /// In the order of the calls behind the proxy.
    pub calls: Vec<DirectCall>,
    /// The tools of the servers behind, in their order.
    pub tools: Vec<DirectTool>,
}

/// One call behind the servers under test, and the agent's that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectCall {
    /// The number of the agent's call in the run.
    pub call: usize,
    /// The full name of the agent's tool.
    pub tool: String,
    /// The server behind.
    pub server: String,
    /// The tool's name there.
    pub upstream_tool: String,
    /// What became of the answer on its way, a sentence each; empty where it was passed on as it was, and where the agent got the answer of
    /// another call.
    pub findings: Vec<String>,
    /// What the agent's call cost.
    pub through: Cost,
    /// What the call cost straight at the server behind.
    pub straight: Cost,
}

/// What calls cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Milliseconds from request to answer; `null` where it was not measured.
    pub ms: Option<f64>,
    /// The answer as JSON, in bytes.
    pub bytes: usize,
    /// About how many tokens a model reads of it: a quarter of the characters.
    pub tokens: usize,
}

/// One tool of a server behind those under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectTool {
    /// The server behind.
    pub server: String,
    /// The tool's name there.
    pub tool: String,
    /// What the servers under test list it as; `null` where they do not list it, because it is found or called in another way.
    pub listed_as: Option<String>,
    /// What they changed in what is said of it, a sentence each; empty where nothing.
    pub findings: Vec<String>,
}

impl Cost {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let ms = [self.ms, other.ms].into_iter().flatten();
        Self {
            ms: ms.reduce(|a, b| a + b),
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }
}
