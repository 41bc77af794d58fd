//! The published form of a trajectory.
//!
//! History of the format:
//!
//! - 1: the first.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Object;
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::stamp::{GitCommit, GitStamp, Stamp};
use crate::model::trajectory::{
    Answer, Ending, Failure, FailureKind, Outcome, Step, ToolCall, Trajectory, Volatile,
};
use crate::store::files::StoreError;
use crate::text::shorten;

/// The version this program writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 1;

/// A recorded run of a scenario: a baseline, or a run kept beside a report.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval trajectory")]
struct TrajectoryV1 {
    /// The version of this format: 1.
    format_version: u32,
    scenario: ScenarioV1,
    stamp: StampV1,
    /// How the run ended. Only `completed` and `blocked` runs are ever scored.
    ending: EndingV1,
    /// Wall time of the run in milliseconds, or null.
    duration_ms: Option<f64>,
    /// What happened, in order.
    steps: Vec<StepV1>,
    /// Places in answers that varied between takes of the same request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    volatile: Vec<VolatileV1>,
    /// What each server offered, in the order served.
    catalogue: Vec<ServerV1>,
}

/// The scenario that was run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ScenarioV1 {
    /// Its path below the scenarios folder, without extension.
    id: String,
    name: String,
    /// SHA-256 of its content after defaults and variables, or null.
    hash: Option<String>,
}

/// What the run ran on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct StampV1 {
    /// When the run began (RFC 3339).
    #[schemars(with = "String")]
    recorded_at: Timestamp,
    /// The version of mcp-eval.
    mcp_eval: String,
    /// The kind of agent.
    agent: String,
    /// The repository of the scenario file.
    scenarios: GitV1,
    /// The repository of the system under test, or null where the scenario names none.
    source: Option<GitV1>,
}

/// The state of a git repository, or why it is unknown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum GitV1 {
    Known {
        /// Full object id.
        commit: String,
        /// Shortened object id.
        short: String,
        /// The branch, or null on a detached head.
        branch: Option<String>,
        /// `git describe --tags`, or null without a tag.
        describe: Option<String>,
        /// First line of the commit message.
        subject: String,
        /// When the commit was made (RFC 3339).
        committed_at: String,
        /// Whether tracked files differ from the commit.
        dirty: bool,
    },
    Unknown {
        /// Why the state is unknown.
        unknown: String,
    },
}

/// How a run ended.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct EndingV1 {
    kind: EndingKindV1,
    /// What happened, where the run did not just complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Last lines of a server's stderr and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EndingKindV1 {
    Completed,
    /// A critical call failed and the run ended early.
    Blocked,
    /// The scenario's timeout passed.
    TimedOut,
    Interrupted,
    /// The run could not be set up or carried on.
    Error,
}

/// One thing that happened.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "tool calls are most of the steps, so boxing them would save nothing"
)]
enum StepV1 {
    /// A message of the user.
    User { text: String },
    /// A message of the agent.
    Assistant { text: String },
    /// A tool call with its outcome.
    ToolCall {
        /// The server, or null for a tool that is not an MCP tool.
        server: Option<String>,
        tool: String,
        arguments: Object,
        outcome: OutcomeV1,
        /// Offset from the start of the run in milliseconds, or null.
        start_ms: Option<f64>,
        /// Time to the outcome in milliseconds, or null.
        duration_ms: Option<f64>,
    },
}

/// What became of a call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct OutcomeV1 {
    status: StatusV1,
    /// Content blocks as served; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Vec<Value>>,
    /// `structuredContent` as served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
    /// Other members of the result, as served.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    other: Object,
    /// Why there is no usable answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ErrorV1>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusV1 {
    Ok,
    /// The tool answered that it failed (`isError`).
    ToolError,
    /// The server returned a JSON-RPC error.
    RpcError,
    /// No answer within the tool timeout.
    Timeout,
    /// The connection ended before the answer came.
    Disconnected,
    /// The answer is no tool result.
    InvalidResponse,
    /// `structuredContent` breaks the tool's own `outputSchema`.
    InvalidStructuredContent,
    /// The HTTP exchange failed.
    TransportError,
}

/// Why there is no usable answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ErrorV1 {
    message: String,
    /// JSON-RPC error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    /// JSON-RPC error data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// Places in the answers to one request that varied between takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct VolatileV1 {
    /// The call, counted from 1 among the scored calls.
    call: usize,
    paths: Vec<String>,
}

/// What one server offered.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ServerV1 {
    server: String,
    /// `serverInfo` as served.
    info: Option<Value>,
    protocol_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// The tools as served by `tools/list`.
    tools: Vec<Object>,
}

/// The trajectory as JSON text: pretty, in a stable key order, ending with a line break.
pub fn to_json(trajectory: &Trajectory) -> String {
    let document = TrajectoryV1::from(trajectory);
    // Plain values without maps keyed by anything but texts always serialise.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads a trajectory from a file.
///
/// # Errors
///
/// A [`StoreError`] that names the file and what is wrong with it.
pub fn load(path: &Path) -> Result<Trajectory, StoreError> {
    let text = fs::read(path).map_err(|source| StoreError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(path, &text)
}

/// Reads a trajectory from a file's content; `path` is for messages.
///
/// # Errors
///
/// As [`load`].
pub fn parse(path: &Path, text: &[u8]) -> Result<Trajectory, StoreError> {
    // The version first: another version may have changed everything else.
    #[derive(Deserialize)]
    struct Head {
        format_version: Option<Value>,
    }
    let broken = |error: &serde_json::Error| {
        if error.is_eof() {
            StoreError::CutOff {
                path: path.to_owned(),
            }
        } else {
            StoreError::Invalid {
                path: path.to_owned(),
                problem: error.to_string(),
            }
        }
    };
    let head: Head = serde_json::from_slice(text).map_err(|error| broken(&error))?;
    match head.format_version {
        None => Err(StoreError::Invalid {
            path: path.to_owned(),
            problem: "it has no `format_version`".to_owned(),
        }),
        Some(version) if version == FORMAT_VERSION => {
            let document: TrajectoryV1 =
                serde_json::from_slice(text).map_err(|error| broken(&error))?;
            check_id(&document.scenario.id).map_err(|problem| StoreError::Invalid {
                path: path.to_owned(),
                problem,
            })?;
            Ok(document.into())
        }
        Some(version) => Err(StoreError::Version {
            path: path.to_owned(),
            found: version.to_string(),
            supported: FORMAT_VERSION,
        }),
    }
}

/// Ids become paths below our folders, so one from a file must not lead anywhere else.
fn check_id(id: &str) -> Result<(), String> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.contains(['\0', '\\'])
            && part.len() < 200
    };
    if id.split('/').all(is_plain) && id.len() < 1000 {
        Ok(())
    } else {
        Err(format!(
            "its scenario id `{}` is no relative path",
            shorten(id, 80)
        ))
    }
}

/// The JSON Schema of a stored trajectory.
pub fn json_schema() -> Value {
    schemars::schema_for!(TrajectoryV1).to_value()
}

impl From<&Trajectory> for TrajectoryV1 {
    fn from(it: &Trajectory) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            scenario: ScenarioV1 {
                id: it.scenario.clone(),
                name: it.name.clone(),
                hash: it.scenario_hash.clone(),
            },
            stamp: StampV1 {
                recorded_at: it.stamp.recorded_at,
                mcp_eval: it.stamp.mcp_eval.clone(),
                agent: it.stamp.agent.clone(),
                scenarios: (&it.stamp.scenarios).into(),
                source: it.stamp.source.as_ref().map(Into::into),
            },
            ending: (&it.ending).into(),
            duration_ms: it.duration_ms,
            steps: it.steps.iter().map(Into::into).collect(),
            volatile: it
                .volatile
                .iter()
                .map(|it| VolatileV1 {
                    call: it.call,
                    paths: it.paths.clone(),
                })
                .collect(),
            catalogue: it.catalogue.servers.iter().map(Into::into).collect(),
        }
    }
}

impl From<TrajectoryV1> for Trajectory {
    fn from(it: TrajectoryV1) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: Stamp {
                recorded_at: it.stamp.recorded_at,
                mcp_eval: it.stamp.mcp_eval,
                agent: it.stamp.agent,
                scenarios: it.stamp.scenarios.into(),
                source: it.stamp.source.map(Into::into),
            },
            ending: it.ending.into(),
            duration_ms: it.duration_ms,
            steps: it.steps.into_iter().map(Into::into).collect(),
            volatile: it
                .volatile
                .into_iter()
                .map(|it| Volatile {
                    call: it.call,
                    paths: it.paths,
                })
                .collect(),
            catalogue: Catalogue {
                servers: it.catalogue.into_iter().map(Into::into).collect(),
            },
        }
    }
}

impl From<&GitStamp> for GitV1 {
    fn from(it: &GitStamp) -> Self {
        match it.clone() {
            GitStamp::Known(GitCommit {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            }) => Self::Known {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            },
            GitStamp::Unknown { reason } => Self::Unknown { unknown: reason },
        }
    }
}

impl From<GitV1> for GitStamp {
    fn from(it: GitV1) -> Self {
        match it {
            GitV1::Known {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            } => Self::Known(GitCommit {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
            }),
            GitV1::Unknown { unknown } => Self::Unknown { reason: unknown },
        }
    }
}

impl From<&Ending> for EndingV1 {
    fn from(it: &Ending) -> Self {
        let (kind, message, details) = match it {
            Ending::Completed => (EndingKindV1::Completed, None, &[][..]),
            Ending::Blocked { message } => (EndingKindV1::Blocked, Some(message), &[][..]),
            Ending::TimedOut { message } => (EndingKindV1::TimedOut, Some(message), &[][..]),
            Ending::Interrupted => (EndingKindV1::Interrupted, None, &[][..]),
            Ending::Error { message, details } => {
                (EndingKindV1::Error, Some(message), &details[..])
            }
        };
        Self {
            kind,
            message: message.cloned(),
            details: details.to_vec(),
        }
    }
}

impl From<EndingV1> for Ending {
    fn from(it: EndingV1) -> Self {
        let message = it.message.unwrap_or_default();
        match it.kind {
            EndingKindV1::Completed => Self::Completed,
            EndingKindV1::Blocked => Self::Blocked { message },
            EndingKindV1::TimedOut => Self::TimedOut { message },
            EndingKindV1::Interrupted => Self::Interrupted,
            EndingKindV1::Error => Self::Error {
                message,
                details: it.details,
            },
        }
    }
}

impl From<&Step> for StepV1 {
    fn from(it: &Step) -> Self {
        match it {
            Step::User { text } => Self::User { text: text.clone() },
            Step::Assistant { text } => Self::Assistant { text: text.clone() },
            Step::ToolCall(call) => Self::ToolCall {
                server: call.server.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                outcome: (&call.outcome).into(),
                start_ms: call.start_ms,
                duration_ms: call.duration_ms,
            },
        }
    }
}

impl From<StepV1> for Step {
    fn from(it: StepV1) -> Self {
        match it {
            StepV1::User { text } => Self::User { text },
            StepV1::Assistant { text } => Self::Assistant { text },
            StepV1::ToolCall {
                server,
                tool,
                arguments,
                outcome,
                start_ms,
                duration_ms,
            } => Self::ToolCall(Box::new(ToolCall {
                server,
                tool,
                arguments,
                outcome: outcome.into(),
                start_ms,
                duration_ms,
            })),
        }
    }
}

impl From<&Outcome> for OutcomeV1 {
    fn from(it: &Outcome) -> Self {
        match it {
            Outcome::Answer(answer) => Self {
                status: match (&answer.breach, answer.is_error) {
                    (Some(_), _) => StatusV1::InvalidStructuredContent,
                    (None, true) => StatusV1::ToolError,
                    (None, false) => StatusV1::Ok,
                },
                content: Some(answer.content.clone()),
                structured_content: answer.structured_content.clone(),
                other: answer.other.clone(),
                error: answer.breach.clone().map(|message| ErrorV1 {
                    message,
                    code: None,
                    data: None,
                }),
            },
            Outcome::Failure(failure) => Self {
                status: match failure.kind {
                    FailureKind::Rpc => StatusV1::RpcError,
                    FailureKind::Timeout => StatusV1::Timeout,
                    FailureKind::Disconnected => StatusV1::Disconnected,
                    FailureKind::InvalidResponse => StatusV1::InvalidResponse,
                    FailureKind::Transport => StatusV1::TransportError,
                },
                content: None,
                structured_content: None,
                other: Object::new(),
                error: Some(ErrorV1 {
                    message: failure.message.clone(),
                    code: failure.code,
                    data: failure.data.clone(),
                }),
            },
        }
    }
}

impl From<OutcomeV1> for Outcome {
    fn from(it: OutcomeV1) -> Self {
        let (message, code, data) = it
            .error
            .map(|it| (it.message, it.code, it.data))
            .unwrap_or_default();
        let kind = match it.status {
            StatusV1::Ok | StatusV1::ToolError | StatusV1::InvalidStructuredContent => {
                return Self::Answer(Answer {
                    is_error: it.status == StatusV1::ToolError,
                    content: it.content.unwrap_or_default(),
                    structured_content: it.structured_content,
                    other: it.other,
                    breach: (it.status == StatusV1::InvalidStructuredContent).then_some(message),
                });
            }
            StatusV1::RpcError => FailureKind::Rpc,
            StatusV1::Timeout => FailureKind::Timeout,
            StatusV1::Disconnected => FailureKind::Disconnected,
            StatusV1::InvalidResponse => FailureKind::InvalidResponse,
            StatusV1::TransportError => FailureKind::Transport,
        };
        Self::Failure(Failure {
            kind,
            message,
            code,
            data,
        })
    }
}

impl From<&ServerCatalogue> for ServerV1 {
    fn from(it: &ServerCatalogue) -> Self {
        Self {
            server: it.server.clone(),
            info: it.info.clone(),
            protocol_version: it.protocol_version.clone(),
            instructions: it.instructions.clone(),
            tools: it.tools.iter().map(|it| it.served.clone()).collect(),
        }
    }
}

impl From<ServerV1> for ServerCatalogue {
    fn from(it: ServerV1) -> Self {
        Self {
            server: it.server,
            info: it.info,
            protocol_version: it.protocol_version,
            instructions: it.instructions,
            tools: it.tools.into_iter().map(|served| Tool { served }).collect(),
        }
    }
}
