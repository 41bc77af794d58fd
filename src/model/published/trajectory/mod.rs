//! The published form of a trajectory.
//!
//! History of the format:
//!
//! - 1: the first. What had varied between takes was a list of paths, `volatile`; whatever else of such an answer looked generated was not
//!   looked at, so nothing of it is known to have been stable.
//! - 2: `learned` has, for each answer that was received more than once, how often, and what of it varied, token by token in texts.
//!   Added to it since, as what is absent from all before: `upstream`, what reached the servers behind the one under test; `agent_tools` and
//!   `later_tools`, tools of the agent's own and those that were listed only later in the run; `began`, the run of a call that was accepted later
//!   than the others.

mod learned;
mod pending;
mod upstream;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::binding::Binding;
use crate::catalogue::Catalogue;
use crate::json::{self, JsonError};
use crate::learned::{Learned, VolatilePlaces};
use crate::redacted::Redacted;
use crate::repeated::Tally;
use crate::stamp::Stamp;
use crate::text::shorten;
use crate::trajectory::{Ending, Step, ToolCall, Trajectory};
use crate::upstream::UpstreamLane;
use crate::usage::ModelRequest;
use learned::check_call_durations;

pub use pending::{origin, to_json as pending_to_json};

/// The version this program writes; it reads all before it, too.
pub const FORMAT_VERSION: u32 = 2;

/// A recorded run of a scenario: a baseline, or a run kept beside a report.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval trajectory")]
struct TrajectoryDocument<'a> {
    /// The version of this format: 2.
    format_version: u32,
    scenario: ScenarioRef,
    stamp: Cow<'a, Stamp>,
    /// How the run ended. Only `completed` and `blocked` runs are ever scored.
    ending: Cow<'a, Ending>,
    /// Wall time of the run in milliseconds, or null.
    duration_ms: Option<f64>,
    /// What happened, in order.
    steps: Cow<'a, [Step]>,
    /// What the agent asked its model.
    #[serde(default, skip_serializing_if = "is_empty")]
    requests: Cow<'a, [ModelRequest]>,
    /// Version 1: places in answers that varied between takes of the same request.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    volatile: Vec<VolatilePlaces>,
    /// What was learned of each answer that recording heard more than once. What is not listed as varying must stay as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    learned: Vec<Learned>,
    /// What the calls take from earlier answers: a replay uses what its own server gives there instead.
    #[serde(default, skip_serializing_if = "is_empty")]
    bindings: Cow<'a, [Binding]>,
    /// How often the version it was recorded with reproduced it; absent where it was recorded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<Tally>,
    /// What each server offered, in the order served.
    catalogue: Cow<'a, Catalogue>,
    /// The agent's own tools, by name; absent where nobody knows of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    agent_tools: Vec<String>,
    /// What the servers behind the one under test heard; absent where nobody listened there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upstream: Option<Cow<'a, UpstreamLane>>,
}

#[expect(clippy::ptr_arg, reason = "serde asks for it so")]
fn is_empty<T: Clone>(list: &Cow<'_, [T]>) -> bool {
    list.is_empty()
}

/// The scenario that was run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ScenarioRef {
    /// Its path below the scenarios folder, without extension.
    id: String,
    name: String,
    /// SHA-256 of what is asked, the messages of the user with variables filled in, or null.
    hash: Option<String>,
}

/// The trajectory as JSON text: pretty, in a stable key order, ending with a line break.
pub fn to_json(trajectory: &Redacted<Trajectory>) -> String {
    let document = TrajectoryDocument::from(&**trajectory);
    let mut text = json::pretty(&document);
    text.push('\n');
    text
}

/// Why a text is no trajectory that this program can read.
#[derive(Debug, Error)]
pub enum TrajectoryError {
    #[error("it ends in the middle of its JSON")]
    CutOff,
    /// What is wrong, in words.
    #[error("{0}")]
    Invalid(String),
    /// A later program wrote it.
    #[error("it has format version {found}")]
    Version { found: String },
}

/// Reads a trajectory of this version or of one before it.
///
/// # Errors
///
/// A [`TrajectoryError`] that says what is wrong with it.
pub fn parse(text: &[u8]) -> Result<Trajectory, TrajectoryError> {
    // The version first: another version may have changed everything else.
    #[derive(Deserialize)]
    struct Head {
        format_version: Option<Value>,
    }
    // Some editors put a mark of the byte order before what they save.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let broken = |error: JsonError| match error {
        JsonError::Other(error) if error.is_eof() => TrajectoryError::CutOff,
        error => TrajectoryError::Invalid(error.to_string()),
    };
    let head: Head = json::read(text).map_err(broken)?;
    match head.format_version {
        None => Err(TrajectoryError::Invalid(
            "it has no `format_version`".to_owned(),
        )),
        Some(version) if (1..=FORMAT_VERSION).any(|it| version == it) => {
            let document: TrajectoryDocument<'static> = json::read(text).map_err(broken)?;
            document.check().map_err(TrajectoryError::Invalid)?;
            Ok(document.into())
        }
        Some(version) if is_newer(&version) => Err(TrajectoryError::Version {
            found: version.to_string(),
        }),
        Some(version) => Err(TrajectoryError::Invalid(format!(
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

impl TrajectoryDocument<'_> {
    /// Whether all of it can be. What the types do not tell, people may have written by hand.
    fn check(&self) -> Result<(), String> {
        check_id(&self.scenario.id)?;
        check_repeated(self.repeated.as_ref())?;
        check_durations(self)?;
        let is_scored = |it: &&ToolCall| it.server.is_some();
        let calls = self.calls().filter(is_scored).count();
        learned::check(&self.learned, calls)?;
        (self.upstream.as_ref()).map_or(Ok(()), |it| upstream::check(it, calls))
    }

    /// The calls of the agent, in order.
    fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().filter_map(|it| match it {
            Step::ToolCall(call) => Some(&**call),
            Step::User { .. } | Step::Assistant { .. } => None,
        })
    }
}

/// How long the run of a stored trajectory took, in milliseconds; `None` where that is not known, or the text is none.
pub fn duration_ms(text: &[u8]) -> Option<f64> {
    #[derive(Deserialize)]
    struct Head {
        duration_ms: Option<f64>,
    }

    let head: Head = json::read(text).ok()?;
    head.duration_ms.filter(|it| it.is_finite() && *it >= 0.0)
}

/// Nothing takes less than no time.
fn check_durations(trajectory: &TrajectoryDocument<'_>) -> Result<(), String> {
    let is_negative = |it: &f64| *it < 0.0;
    if let Some(it) = trajectory.duration_ms.filter(is_negative) {
        return Err(format!(
            "its `duration_ms` is {it}, and no run takes less than 0 ms"
        ));
    }
    check_call_durations(trajectory.calls(), "call")
}

/// Ids become paths below our folders, so one from a file must not lead anywhere else. How long a name may be, the file system says.
pub fn check_id(id: &str) -> Result<(), String> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if id.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(format!(
            "its scenario id `{}` is not a relative path",
            shorten(id, 80)
        ))
    }
}

/// More runs cannot have passed than were made, and none that were made say nothing.
fn check_repeated(repeated: Option<&Tally>) -> Result<(), String> {
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
    schemars::schema_for!(TrajectoryDocument<'static>).to_value()
}

impl<'a> From<&'a Trajectory> for TrajectoryDocument<'a> {
    fn from(it: &'a Trajectory) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            scenario: ScenarioRef {
                id: it.scenario.clone(),
                name: it.name.clone(),
                hash: it.scenario_hash.clone(),
            },
            stamp: Cow::Borrowed(&it.stamp),
            ending: Cow::Borrowed(&it.ending),
            duration_ms: it.duration_ms,
            steps: Cow::Borrowed(&it.steps),
            requests: Cow::Borrowed(&it.requests),
            volatile: Vec::new(),
            learned: it.learned.clone(),
            bindings: Cow::Borrowed(&it.bindings),
            repeated: it.repeated,
            catalogue: Cow::Borrowed(&it.catalogue),
            agent_tools: it.catalogue.own.clone(),
            upstream: it.upstream.as_deref().map(Cow::Borrowed),
        }
    }
}

impl From<TrajectoryDocument<'_>> for Trajectory {
    fn from(it: TrajectoryDocument<'_>) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: it.stamp.into_owned(),
            ending: it.ending.into_owned(),
            duration_ms: it.duration_ms,
            steps: it.steps.into_owned(),
            requests: it.requests.into_owned(),
            learned: (it.volatile.into_iter().map(Into::into))
                .chain(it.learned)
                .collect(),
            bindings: it.bindings.into_owned(),
            repeated: it.repeated,
            catalogue: Catalogue {
                own: it.agent_tools,
                ..it.catalogue.into_owned()
            },
            upstream: it.upstream.map(|it| Box::new(it.into_owned())),
            as_said: None,
        }
    }
}
