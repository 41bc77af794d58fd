//! Requests and replies. Their JSON Schemas are made from these types, and requests are read by them.

pub mod case;
pub mod commands;
pub mod reply;
pub mod results;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::case::{
    AgentConfig, CaseRequest, JudgeConfig, ModelConfig, Provider, RunRequest, ScenarioRequest,
    ServerConfig, TestCase, YamlRequest,
};
pub use self::reply::{
    BatchReply, BatchRequest, ErrorReply, Misfit, Parallel, RunReply, Summary, ToolCall, Verdict,
};
pub use self::results::{
    CaseDocument, CaseEntry, CaseList, NewCase, PageQuery, ResultList, ResultQuery, RunList,
    WrittenCase,
};
pub use crate::published::kept::{ResultEntry, RunEntry, Statistics};

/// That it is a test server, and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub testing: bool,
    /// How many servers test cases have that name none.
    pub connections: usize,
    /// Whether results are kept in a database that can be opened.
    pub database: bool,
    /// The version of mcp-eval.
    pub version: String,
}

/// What it is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ServerStatus")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of its own to those who ask"
)]
pub struct Status {
    #[schemars(extend("const" = true))]
    pub testing: bool,
    pub version: String,
    /// How many runs go on now.
    pub running: usize,
    /// How many wait.
    pub queued: usize,
    pub max_concurrent: usize,
    pub queue: usize,
    /// Since its start, in milliseconds.
    pub uptime: f64,
    /// Whether it is about to end.
    pub ending: bool,
    /// What requests may do.
    pub allow_programs: bool,
    pub allow_write: bool,
}

/// The servers of test cases that name none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    pub connections: Vec<Connection>,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    pub server_id: String,
    /// `stdio`, `http` or `sse`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The program, or the address, without secrets.
    pub target: String,
}
