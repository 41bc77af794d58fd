//! The published form of a trajectory.
//!
//! History of the format:
//!
//! - 1: the first. What had varied between takes was a list of paths, `volatile`; whatever else of such an answer looked generated was not
//!   looked at, so nothing of it is known to have been stable.
//! - 2: `learned` tells of each answer that was heard more than once how often it was, and what of it varied, token by token in texts.

mod convert;
mod image;
mod learned;
mod request;

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::{self, JsonError};
use crate::model::trajectory::Trajectory;
use crate::model::{Digits, Object};
use crate::store::files::StoreError;
use crate::store::format::image::ImageV1;
use crate::text::shorten;
use learned::{LearnedV2, VolatileV1};
use request::RequestV1;

/// The version this program writes; it reads all before it, too.
pub const FORMAT_VERSION: u32 = 2;

/// A recorded run of a scenario: a baseline, or a run kept beside a report.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval trajectory")]
struct TrajectoryV1 {
    /// The version of this format: 2.
    format_version: u32,
    scenario: ScenarioV1,
    stamp: StampV1,
    /// How the run ended. Only `completed` and `blocked` runs are ever scored.
    ending: EndingV1,
    /// Wall time of the run in milliseconds, or null.
    duration_ms: Option<f64>,
    /// What happened, in order.
    steps: Vec<StepV1>,
    /// What the agent asked its model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requests: Vec<RequestV1>,
    /// Version 1: places in answers that varied between takes of the same request.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    volatile: Vec<VolatileV1>,
    /// What was learned of each answer that recording heard more than once. What is not listed as varying must stay as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    learned: Vec<LearnedV2>,
    /// What the calls take from earlier answers: a replay uses what its own server gives there instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bindings: Vec<BindingV1>,
    /// How often the version it was recorded with reproduced it; absent where it was recorded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<RepeatedV1>,
    /// What each server offered, in the order served.
    catalogue: Vec<ServerV1>,
}

/// The scenario that was run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ScenarioV1 {
    /// Its path below the scenarios folder, without extension.
    id: String,
    name: String,
    /// SHA-256 of what is asked, the messages of the user with variables filled in, or null.
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
    /// SHA-256 of the calls it was to play, or of how its model was to be asked; absent where neither is known, and for a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_hash: Option<String>,
    /// Whether the servers themselves answered; absent where they did.
    #[serde(default, skip_serializing_if = "ServersV1::are_live")]
    servers: ServersV1,
    /// The model it was to ask, or, where none was named, the one that answered first; absent for an agent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The repository of the scenario file.
    scenarios: GitV1,
    /// The repository of the system under test, or null where the scenario names none.
    source: Option<GitV1>,
    /// The image of the container the server under test ran in, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image: Option<ImageV1>,
}

/// Who answered in the name of the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ServersV1 {
    /// The servers themselves, or the mocks that the scenario declares.
    #[default]
    Live,
    /// What a baseline had recorded of them.
    Recorded,
}

impl ServersV1 {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn are_live(&self) -> bool {
        *self == Self::Live
    }
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
        dirty: Option<bool>,
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
    /// A limit of the scenario was reached.
    LimitReached,
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
        /// The digits of integers in the arguments that are too long for 64 bits, by JSON pointer.
        #[serde(default, skip_serializing_if = "Digits::is_empty")]
        digits: Digits,
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
    /// The digits of integers in `structured_content` that are too long for 64 bits, by JSON pointer.
    #[serde(default, skip_serializing_if = "Digits::is_empty")]
    digits: Digits,
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
    /// What the agent asked for is no call that could be made.
    NotSent,
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

/// An argument, or a part of one, that comes from an earlier answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct BindingV1 {
    /// The call whose argument it is, counted from 1 among the scored calls.
    call: usize,
    /// JSON pointer to it in the arguments.
    path: String,
    /// The recorded value: the whole argument, or the part of a text that is bound.
    value: Value,
    from: SourceV1,
}

/// A place in an answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct SourceV1 {
    /// The call that was answered, counted from 1 among the scored calls.
    call: usize,
    /// JSON pointer into the structured content or the text as JSON; from `/content` or `/structuredContent` on a path into the answer.
    path: String,
}

/// How often a recorded version reproduced its trajectory.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RepeatedV1 {
    /// How many runs were made, at least 1.
    #[schemars(range(min = 1))]
    runs: usize,
    /// How many of them were, by the scenario's rules, as good as the one that is kept.
    passed: usize,
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
    // Some editors put a mark of the byte order before what they save.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let broken = |error: JsonError| match error {
        JsonError::Other(error) if error.is_eof() => StoreError::CutOff {
            path: path.to_owned(),
        },
        error => StoreError::Invalid {
            path: path.to_owned(),
            problem: error.to_string(),
        },
    };
    let head: Head = json::read(text).map_err(broken)?;
    let invalid = |problem| StoreError::Invalid {
        path: path.to_owned(),
        problem,
    };
    match head.format_version {
        None => Err(invalid("it has no `format_version`".to_owned())),
        Some(version) if (1..=FORMAT_VERSION).any(|it| version == it) => {
            let document: TrajectoryV1 = json::read(text).map_err(broken)?;
            document.check().map_err(invalid)?;
            Ok(document.into())
        }
        Some(version) if is_newer(&version) => Err(StoreError::Version {
            path: path.to_owned(),
            found: version.to_string(),
            supported: FORMAT_VERSION,
        }),
        Some(version) => Err(invalid(format!(
            "its `format_version` is {}, which is not a format version of mcp-eval (1 or {FORMAT_VERSION})",
            shorten(&version.to_string(), 80)
        ))),
    }
}

/// Whether a version is one that a later program may write: a whole number above ours, however long.
fn is_newer(version: &Value) -> bool {
    let is_whole = |it: &f64| it.fract() == 0.0;
    let number = version.as_f64().filter(is_whole);
    number.is_some_and(|it| it > f64::from(FORMAT_VERSION))
}

impl TrajectoryV1 {
    /// Whether all of it can be. What the types do not tell, people may have written by hand.
    fn check(&self) -> Result<(), String> {
        check_id(&self.scenario.id)?;
        check_repeated(self.repeated.as_ref())?;
        check_durations(self)?;
        let is_scored =
            |it: &&StepV1| matches!(it, StepV1::ToolCall { server, .. } if server.is_some());
        learned::check(&self.learned, self.steps.iter().filter(is_scored).count())
    }
}

/// Nothing takes less than no time.
fn check_durations(trajectory: &TrajectoryV1) -> Result<(), String> {
    let is_negative = |it: &f64| *it < 0.0;
    if let Some(it) = trajectory.duration_ms.filter(is_negative) {
        return Err(format!(
            "its `duration_ms` is {it}, and no run takes less than 0 ms"
        ));
    }
    let durations = trajectory.steps.iter().filter_map(|it| match it {
        StepV1::ToolCall { duration_ms, .. } => Some(*duration_ms),
        _ => None,
    });
    let wrong = (1..)
        .zip(durations)
        .find_map(|(number, it)| Some((number, it.filter(is_negative)?)));
    match wrong {
        Some((number, it)) => Err(format!(
            "the `duration_ms` of call {number} is {it}, and no call takes less than 0 ms"
        )),
        None => Ok(()),
    }
}

/// Ids become paths below our folders, so one from a file must not lead anywhere else. How long a name may be, the file system says.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if id.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(format!(
            "its scenario id `{}` is no relative path",
            shorten(id, 80)
        ))
    }
}

/// More runs cannot have passed than were made, and none that were made say nothing.
fn check_repeated(repeated: Option<&RepeatedV1>) -> Result<(), String> {
    match repeated {
        Some(it) if it.runs == 0 || it.passed > it.runs => Err(format!(
            "its `repeated` says that {} of {} runs passed",
            it.passed, it.runs
        )),
        _ => Ok(()),
    }
}

/// The JSON Schema of a stored trajectory.
pub fn json_schema() -> Value {
    schemars::schema_for!(TrajectoryV1).to_value()
}
