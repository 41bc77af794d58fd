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
//! - 3: a baseline names its catalogues, which lie in files of their own. What holds them itself is still version 2.

mod learned;
mod named;
mod pending;
mod upstream;

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::json::{self, JsonError};
use crate::repeated::Tally;
use crate::text::shorten;
use crate::usage::ModelRequest;
use crate::{
    Binding, Catalogue, Ending, Learned, Redacted, ServerCatalogue, Stamp, Step, ToolCall,
    Trajectory, UpstreamLane, VolatilePlaces,
};
use learned::check_call_durations;
use named::{AnyServer, NamedServer};

pub use named::{CATALOGUES, LONGEST_NAME};
pub use pending::{origin, to_json as pending_to_json};

/// The version that baselines are written in; all before it are read, too.
pub const FORMAT_VERSION: u32 = 3;

/// The version of a trajectory that holds its catalogues itself.
const STANDING_ALONE: u32 = 2;

/// A recorded run of a scenario: a baseline, or a run kept beside a report.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval trajectory")]
struct TrajectoryDocument<'a, S: Clone = ServerCatalogue> {
    /// The version of this format: 3 where catalogues are named, else 2.
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
    catalogue: Cow<'a, Catalogue<S>>,
    /// The agent's own tools, by name; absent where nobody knows of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    agent_tools: Vec<String>,
    /// What the servers behind the one under test heard; absent where nobody listened there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upstream: Option<Cow<'a, UpstreamLane<S>>>,
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
    written(&TrajectoryDocument::from(&**trajectory))
}

/// The same with its catalogues named; each name is asked for with what runs share of a catalogue.
///
/// # Errors
///
/// As the names have it.
pub fn to_named_json<E>(
    trajectory: &Redacted<Trajectory>,
    mut name: impl FnMut(&ServerCatalogue) -> Result<String, E>,
) -> Result<String, E> {
    let document = TrajectoryDocument::<NamedServer>::of(trajectory, &mut name)?;
    Ok(written(&document))
}

fn written<S: Clone + Serialize>(document: &TrajectoryDocument<'_, S>) -> String {
    let mut text = json::pretty(document);
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
    /// A catalogue that it names cannot be read.
    #[error("its catalogue {}: {problem}", path.display())]
    Catalogue { path: PathBuf, problem: String },
}

/// A text without the mark of the byte order that some editors put before what they save.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, TrajectoryError> {
    json::read(without_mark(text)).map_err(|error| match error {
        JsonError::Other(error) if error.is_eof() => TrajectoryError::CutOff,
        _ if is_unmerged(text) => TrajectoryError::Invalid(
            "it has both sides of a merge, with a line `<<<<<<<` before them".to_owned(),
        ),
        error => TrajectoryError::Invalid(error.to_string()),
    })
}

/// Whether git has left both sides of a conflict in a text. No line within JSON begins so.
fn is_unmerged(text: &[u8]) -> bool {
    let mut lines = text.split(|it| *it == b'\n');
    lines.any(|it| it.starts_with(b"<<<<<<< "))
}

/// How a document begins that was accepted of a scenario.
#[derive(Deserialize)]
struct Head {
    format_version: Option<Value>,
    /// Only what a measurement found has one.
    kind: Option<IgnoredAny>,
}

/// Whether a text is a trajectory of an earlier version than baselines are written in.
pub fn is_of_earlier_version(text: &[u8]) -> bool {
    read::<Head>(text).is_ok_and(|it| {
        let is_it = |version: u32| it.format_version.as_ref().is_some_and(|it| *it == version);
        it.kind.is_none() && (1..FORMAT_VERSION).any(is_it)
    })
}

/// Whether a text is what a measurement found, and no trajectory.
pub fn is_measured(text: &[u8]) -> bool {
    read::<Head>(text).is_ok_and(|it| it.kind.is_some())
}

/// Reads a trajectory of this version or of one before it, and gets the catalogues that it names.
///
/// # Errors
///
/// A [`TrajectoryError`] that says what is wrong with it.
pub fn parse(
    text: &[u8],
    named: &dyn Fn(&str) -> Result<ServerCatalogue, TrajectoryError>,
) -> Result<Trajectory, TrajectoryError> {
    // The version first: another version may have changed everything else.
    match read::<Head>(text)?.format_version {
        None => Err(TrajectoryError::Invalid(
            "it has no `format_version`".to_owned(),
        )),
        Some(version) if version == FORMAT_VERSION => {
            let document: TrajectoryDocument<'static, NamedServer> = read(text)?;
            document.check().map_err(TrajectoryError::Invalid)?;
            Ok(document.resolved(named)?.into())
        }
        Some(version) if (1..=STANDING_ALONE).any(|it| version == it) => {
            let document: TrajectoryDocument<'static> = read(text)?;
            document.check().map_err(TrajectoryError::Invalid)?;
            Ok(document.into())
        }
        Some(version) if is_newer(&version) => Err(TrajectoryError::Version {
            found: version.to_string(),
        }),
        Some(version) => Err(TrajectoryError::Invalid(format!(
            "its `format_version` is {}, which is not a format version of mcp-eval (1 to {FORMAT_VERSION})",
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

impl<'a, S: Clone> TrajectoryDocument<'a, S> {
    /// The same with another form of the catalogues.
    fn with_catalogues<T: Clone>(
        self,
        format_version: u32,
        catalogue: Catalogue<T>,
        upstream: Option<UpstreamLane<T>>,
    ) -> TrajectoryDocument<'a, T> {
        TrajectoryDocument {
            format_version,
            scenario: self.scenario,
            stamp: self.stamp,
            ending: self.ending,
            duration_ms: self.duration_ms,
            steps: self.steps,
            requests: self.requests,
            volatile: self.volatile,
            learned: self.learned,
            bindings: self.bindings,
            repeated: self.repeated,
            catalogue: Cow::Owned(catalogue),
            agent_tools: self.agent_tools,
            upstream: upstream.map(Cow::Owned),
        }
    }

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

/// The names of the catalogues that a text names, be it a trajectory or what else was accepted; none where it holds them itself.
///
/// # Errors
///
/// A [`TrajectoryError`] when it is no JSON object.
pub fn named_catalogues(text: &[u8]) -> Result<Vec<String>, TrajectoryError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        catalogue: Value,
        #[serde(default)]
        upstream: Value,
    }
    let head: Head = read(text)?;
    let all = [&head.catalogue, &head.upstream["catalogue"]];
    let servers = all.into_iter().filter_map(Value::as_array).flatten();
    let names = servers.filter_map(|it| it["catalogue"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// What a server offered as JSON text, as baselines share it.
pub fn catalogue_to_json(catalogue: &ServerCatalogue) -> String {
    let mut text = json::pretty(catalogue);
    text.push('\n');
    text
}

/// Reads what [`catalogue_to_json`] has written.
///
/// # Errors
///
/// A [`TrajectoryError`] that says what is wrong with it.
pub fn parse_catalogue(text: &[u8]) -> Result<ServerCatalogue, TrajectoryError> {
    read(text)
}

/// Gets the catalogue of each server by its name.
fn resolve(
    named: Catalogue<NamedServer>,
    get: &dyn Fn(&str) -> Result<ServerCatalogue, TrajectoryError>,
) -> Result<Catalogue, TrajectoryError> {
    let servers = named.servers.into_iter().map(|it| {
        let shared = get(it.named().map_err(TrajectoryError::Invalid)?)?;
        Ok(it.with(shared))
    });
    Ok(Catalogue {
        servers: servers.collect::<Result<_, _>>()?,
        own: named.own,
    })
}

impl<'a> TrajectoryDocument<'a, NamedServer> {
    /// The form of a trajectory in which each catalogue is named.
    fn of<E>(
        trajectory: &'a Trajectory,
        give: &mut impl FnMut(&ServerCatalogue) -> Result<String, E>,
    ) -> Result<Self, E> {
        let whole = TrajectoryDocument::from(trajectory);
        let catalogue = named::name(&trajectory.catalogue, give)?;
        let mut upstream = None;
        if let Some(lane) = trajectory.upstream.as_deref() {
            let named = named::name(&lane.catalogue, give)?;
            upstream = Some(lane.clone().with_catalogue(named));
        }
        Ok(whole.with_catalogues(FORMAT_VERSION, catalogue, upstream))
    }
}

impl TrajectoryDocument<'static, NamedServer> {
    /// The form that stands alone.
    fn resolved(
        mut self,
        get: &dyn Fn(&str) -> Result<ServerCatalogue, TrajectoryError>,
    ) -> Result<TrajectoryDocument<'static>, TrajectoryError> {
        let catalogue = resolve(std::mem::take(self.catalogue.to_mut()), get)?;
        let mut upstream = None;
        if let Some(lane) = self.upstream.take() {
            let mut lane = lane.into_owned();
            let behind = resolve(std::mem::take(&mut lane.catalogue), get)?;
            upstream = Some(lane.with_catalogue(behind));
        }
        Ok(self.with_catalogues(STANDING_ALONE, catalogue, upstream))
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
fn check_durations<S: Clone>(trajectory: &TrajectoryDocument<'_, S>) -> Result<(), String> {
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
    if id.split('/').any(|part| part == CATALOGUES) {
        Err(format!(
            "its scenario id `{}` has the folder `{CATALOGUES}` in it, which is for catalogues",
            shorten(id, 80)
        ))
    } else if id.split('/').all(is_plain) {
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
    schemars::schema_for!(TrajectoryDocument<'static, AnyServer>).to_value()
}

impl<'a> From<&'a Trajectory> for TrajectoryDocument<'a> {
    fn from(it: &'a Trajectory) -> Self {
        Self {
            format_version: STANDING_ALONE,
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
