//! A scenario as the program uses it: defaults merged, variables filled in.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model::Object;
use crate::model::binding::BindingRule;
use crate::model::cell::Cell;
use crate::model::expected::{self, Expectation};
use crate::model::label::Labels;
use crate::model::places::Places;
use crate::model::redaction::Redaction;
use crate::model::rules::Rules;
use crate::model::usage::Price;
use crate::scenario_file::Hook;
use crate::scenario_file::model::agent::{CommandAgent, Limits, ModelAgent};
use crate::scenario_file::model::container::Container;
use crate::scenario_file::model::evaluator::Evaluator;
use crate::scenario_file::model::interactions::DeclaredServer;
use crate::scenario_file::model::judge::JudgeSettings;
use crate::scenario_file::model::measurement::Measurement;
use crate::scenario_file::model::ready::{Expected, Ready, Until};
use crate::scenario_file::model::source::Source;
pub use crate::scenario_file::servers::server::Start;

/// One thing a user wants from the servers, and what is expected of it. The default is empty and disabled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scenario {
    /// Path below the scenarios folder, without extension, with `/`; its baseline lies under the same name.
    pub id: String,
    /// The file it came from, as the user named it.
    pub path: PathBuf,
    /// Where its text lies, where that is not in its file.
    pub text_at: Option<PathBuf>,
    /// All files that it was read from – itself, defaults, configuration, data – and those that would have been read had they been there.
    pub read_from: Vec<PathBuf>,
    /// Where in that file what stands.
    pub places: Places,
    /// The topmost folder whose `_defaults.yaml` reaches it.
    pub defaults_root: PathBuf,
    /// SHA-256 of what is asked: the messages of the user with variables filled in, in hexadecimal.
    pub hash: String,
    pub name: String,
    /// The id of the scenario file whose data set it is a row of; its own is that with the row's behind it.
    pub row_of: Option<String>,
    /// The cell of a matrix that it is, where the same scenario is run with several settings; its id is that of the scenario with the cell's
    /// behind it.
    pub cell: Option<Box<Cell>>,
    pub description: Option<String>,
    /// A disabled scenario is reported as skipped.
    pub enabled: bool,
    /// Why it is disabled, where its file does not say `enabled: false`.
    pub left_out: Option<&'static str>,
    pub tags: Vec<String>,
    pub user_intent: Option<String>,
    /// What the user says, message by message, each after the agent is done with the one before; empty where `user_intent` is all.
    pub turns: Vec<String>,
    /// A configuration file, resolved; `None` when the scenario names none or the named one is missing.
    pub config_file: Option<PathBuf>,
    /// The servers it declares, in order, with `${…}` not yet filled in.
    pub servers: Vec<Server>,
    /// The client's configuration that all its servers come from, because nothing else gives it any.
    pub usual_servers: Option<PathBuf>,
    /// Servers behind those, whose calls are listened to, with `${…}` not yet filled in; none of them is the agent's to ask.
    pub upstreams: Vec<Server>,
    /// The mock servers it declares, by server name; one and the same list for the rows of a data set.
    pub interactions: Arc<Vec<(String, DeclaredServer)>>,
    /// The containers that are reset before each run, in the order they are started, with `${…}` not yet filled in.
    pub containers: Vec<Container>,
    /// What proves that all its servers together can be asked.
    pub ready: Option<Ready>,
    /// What is run before each run, and after it, with `${…}` not yet filled in.
    pub before: Vec<Hook>,
    pub after: Vec<Hook>,
    pub agent: Agent,
    /// What it measures, where it is about no conversation: its agent has nothing to do then.
    pub measurement: Option<Measurement>,
    /// The model that judges its runs.
    pub judge: Option<Box<JudgeSettings>>,
    /// How its baseline is replayed.
    pub replaying: Replaying,
    pub expected_trajectory: Vec<ExpectedCall>,
    /// It says that no call is expected: its list of expected calls is given, and is empty. It holds for agents that decide for themselves;
    /// a script without calls makes none anyway.
    pub expects_no_call: bool,
    /// It is a test case that somebody has sent: calls may fail without speaking against a run by that alone, and a tool that is expected may
    /// be one that nobody has. No file says so.
    pub is_test_case: bool,
    pub success_criteria: Vec<Criterion>,
    /// How its runs should be besides: those of defaults first, then its own.
    pub evaluators: Vec<Evaluator>,
    /// What the evaluation score must be at least, 0 to 1.
    pub evaluation_threshold: Option<f64>,
    /// Where the source of the system under test lies, and what makes of it what is started.
    pub source: Source,
    /// What it declares to be secret.
    pub redaction: Redaction,
    pub scoring: Rules,
    /// What its calls are called by, besides the tool's name.
    pub labels: Labels,
    pub timeouts: Timeouts,
    pub limits: Limits,
}

/// A server as the scenario names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub name: String,
    pub transport: Transport,
    /// Overrides [`Timeouts::connect`] for this server.
    pub connect_timeout: Option<Duration>,
    /// Overrides [`Timeouts::tool`] for this server.
    pub tool_timeout: Option<Duration>,
    /// What proves that it can be asked.
    pub ready: Option<Ready>,
}

impl Server {
    /// One that nothing else is known of.
    pub fn new(name: String, transport: Transport) -> Self {
        Self {
            name,
            transport,
            connect_timeout: None,
            tool_timeout: None,
            ready: None,
        }
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// A child process speaking MCP on its standard streams.
    Stdio(Start),
    /// An endpoint over HTTP.
    Http {
        style: HttpStyle,
        url: String,
        headers: Vec<(String, String)>,
        /// The environment variable that holds a bearer token.
        bearer_token_env: Option<String>,
        /// What serves it, where we start that for each run; `None` for a server that somebody else runs.
        start: Option<Start>,
        /// A program with its arguments that prints more headers before each run; empty where there is none.
        headers_command: Vec<String>,
    },
    /// Our own mock server, declared in the scenario under `mcp_interactions`.
    Mock,
    /// Our own mock server, made from what a baseline has recorded of the server. No file declares it: it stands in for the others.
    Recorded {
        /// The file of the baseline.
        baseline: PathBuf,
    },
}

impl Transport {
    /// An endpoint that somebody else serves.
    pub fn http(style: HttpStyle, url: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        Self::Http {
            style,
            url: url.into(),
            headers,
            bearer_token_env: None,
            start: None,
            headers_command: Vec::new(),
        }
    }
}

/// Which of the two transports of MCP over HTTP a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpStyle {
    /// Streamable HTTP; a server that turns out to speak only the older one is spoken to so.
    #[default]
    Streamable,
    /// The older one, with an event stream and a second endpoint for messages.
    Sse,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Agent {
    /// Plays the listed calls.
    Scripted { calls: Vec<ScriptedCall> },
    /// Plays the calls of the accepted baseline.
    Replay {
        /// What a scripted agent would play, to record the baseline with.
        calls: Vec<ScriptedCall>,
    },
    /// A language model, which decides for itself.
    Model {
        settings: Box<ModelAgent>,
        /// What a scripted agent would play in its place.
        calls: Vec<ScriptedCall>,
    },
    /// A program with an MCP client of its own.
    Command {
        settings: Box<CommandAgent>,
        /// What a scripted agent would play in its place.
        calls: Vec<ScriptedCall>,
    },
}

impl Default for Agent {
    /// A script without a call.
    fn default() -> Self {
        Self::Scripted { calls: Vec::new() }
    }
}

/// How a baseline is replayed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replaying {
    pub pace: Pace,
    /// How long a poll is asked again before its recorded final answer is given up.
    pub poll_timeout: Duration,
    /// Bindings in place of those that were found when recording.
    pub bindings: Vec<BindingRule>,
}

impl Replaying {
    /// How it is done unless the scenario, whose whole timeout this is, says otherwise: a poll is given up while there is time left to
    /// ask what comes after it.
    pub fn within(timeout: Duration) -> Self {
        Self {
            pace: Pace::Fast,
            poll_timeout: Duration::from_secs(30).min(timeout / 2),
            bindings: Vec::new(),
        }
    }
}

/// When a replay makes the next call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As soon as the last one is answered.
    #[default]
    Fast,
    /// After the gap that was recorded.
    Recorded,
}

/// One call of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// `mcp__<server>__<tool>`, or the bare name where only one server has it.
    pub tool: String,
    /// May hold `{{calls.0.json:/id}}` references into earlier answers.
    pub arguments: Object,
    /// The texts in them that are no such references, in part or whole.
    pub filled: Vec<FilledText>,
    /// Whether its failure ends the run; `None` leaves it to the operation's name.
    pub critical: Option<bool>,
    /// Whether the call is meant to fail.
    pub is_error: bool,
    /// It is a read, and repeated until its answer holds this.
    pub until: Option<Until>,
}

/// A text among the arguments of a call in which values of variables stand. What looks like a reference to an earlier answer there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledText {
    /// Where it is: a JSON Pointer (RFC 6901) into the arguments.
    pub at: String,
    /// Where the values stand in it, in bytes.
    pub values: Vec<Range<usize>>,
}

/// One call the scenario expects of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// What the call is for, in a word.
    pub action: Option<String>,
    pub tool: String,
    pub arguments: Object,
    /// Whether the scenario says nothing of its arguments. An agent that decides may then give any; a script gives none.
    pub is_open: bool,
    /// See [`ScriptedCall::filled`].
    pub filled: Vec<FilledText>,
    /// Remarks for the reader.
    pub notes: Option<String>,
    /// Whether the call is meant to fail.
    pub is_error: bool,
    /// See [`ScriptedCall::critical`].
    pub critical: Option<bool>,
    /// What its answer must hold.
    pub expect: Option<Expected>,
}

/// Something that must hold for a run to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Criterion {
    /// A plain text. Where it appears in what a server answered, in what the agent said or in the full name of a tool that was called –
    /// case does not matter –, it must appear from then on. Where it does not, it may be prose, and is not checked.
    Text(String),
    /// This text must appear there, whatever was recorded.
    Says(String),
    /// This tool was called.
    ToolCalled(String),
    /// This tool was not called.
    ToolNeverCalled(String),
    /// A server behind the ones under test was called with this tool.
    UpstreamCalled {
        server: String,
        tool: String,
        /// Exactly so often; at least once unless given.
        times: Option<u32>,
    },
    /// No server behind the ones under test got one of these headers as the agent's side had sent it. Their case does not matter.
    NeverForwarded(Vec<String>),
}

/// A plain text of more words than this may be prose, which only a recording can show.
const WORDS: usize = 3;

/// Whether a plain text is so long that it may describe what is wanted, and be no text to look for.
pub fn is_prose(text: &str) -> bool {
    text.split_whitespace().count() > WORDS
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of a server to its complete list of tools.
    pub connect: Duration,
    /// For the answer to one tool call.
    pub tool: Duration,
    /// For the whole run.
    pub scenario: Duration,
    /// Who has said that of the whole run.
    pub said_by: SaidBy,
}

/// Who has said how long a whole run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaidBy {
    /// The scenario, or the defaults that it is read with.
    #[default]
    Scenario,
    /// The test server that runs it, for all of its runs.
    Server,
    /// The request to that server.
    Request,
}

impl Timeouts {
    /// That the whole run has taken too long, as the beginning of a sentence.
    pub fn passed(&self) -> String {
        let whole = self.scenario;
        match self.said_by {
            SaidBy::Scenario => format!("the scenario's timeout of {whole:?} passed"),
            SaidBy::Server => {
                format!("the {whole:?} passed that the test server's --timeout gives a run")
            }
            SaidBy::Request => format!("the request's `timeout` of {whole:?} passed"),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            tool: Duration::from_secs(60),
            scenario: Duration::from_secs(300),
            said_by: SaidBy::Scenario,
        }
    }
}

impl Scenario {
    /// Whether somebody means it who names it so: by its id, or by that of the scenario whose row or cell it is.
    pub fn has_id(&self, id: &str) -> bool {
        let of_cell = self.cell.as_ref().map(|it| it.scenario.as_str());
        self.id == id || of_cell == Some(id) || self.row_of.as_deref() == Some(id)
    }

    /// The arguments that an expected call is to have; `None` where it may have any.
    pub fn expects_arguments<'a>(&self, call: &'a ExpectedCall) -> Option<&'a Object> {
        let may_have_any = call.is_open && self.agent.decides();
        (!may_have_any).then_some(&call.arguments)
    }

    /// The calls that it expects, to be compared with those of a run.
    pub fn expectation(&self) -> Expectation<'_> {
        let calls = self
            .expected_trajectory
            .iter()
            .map(|call| expected::Expected {
                tool: &call.tool,
                arguments: self.expects_arguments(call),
                is_error: call.is_error,
            });
        Expectation {
            scenario: &self.id,
            name: &self.name,
            hash: &self.hash,
            calls: calls.collect(),
        }
    }

    /// What the user says, message by message.
    pub fn messages(&self) -> Vec<String> {
        if self.turns.is_empty() {
            self.user_intent.clone().into_iter().collect()
        } else {
            self.turns.clone()
        }
    }
}

impl Agent {
    /// The kind, as scenario files spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scripted { .. } => "scripted",
            Self::Replay { .. } => "replay",
            Self::Model { settings, .. } => settings.api.kind(),
            Self::Command { .. } => "command",
        }
    }

    /// The listed calls; empty where the scenario lists none.
    pub fn calls(&self) -> &[ScriptedCall] {
        match self {
            Self::Scripted { calls }
            | Self::Replay { calls }
            | Self::Model { calls, .. }
            | Self::Command { calls, .. } => calls,
        }
    }

    /// How the model is asked; `None` for an agent that asks none, or does so by itself.
    pub fn model(&self) -> Option<&ModelAgent> {
        match self {
            Self::Model { settings, .. } => Some(settings),
            Self::Scripted { .. } | Self::Replay { .. } | Self::Command { .. } => None,
        }
    }

    /// How the program is started; `None` for an agent that is none.
    pub fn command(&self) -> Option<&CommandAgent> {
        match self {
            Self::Command { settings, .. } => Some(settings),
            Self::Scripted { .. } | Self::Replay { .. } | Self::Model { .. } => None,
        }
    }

    /// Whether it decides for itself what to call, which may cost something and come out another way each time.
    pub fn decides(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Command { .. })
    }

    /// The model it is to ask, where that is said.
    pub fn model_name(&self) -> Option<&str> {
        match self {
            Self::Model { settings, .. } => Some(&settings.model),
            Self::Command { settings, .. } => settings.model.as_deref(),
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }

    /// What its model costs, where that is said.
    pub fn price(&self) -> Option<&Price> {
        match self {
            Self::Model { settings, .. } => settings.price.as_ref(),
            Self::Command { settings, .. } => settings.price.as_ref(),
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }

    /// For the answer to one tool call, in place of the scenario's.
    pub fn tool_timeout(&self) -> Option<Duration> {
        match self {
            Self::Model { settings, .. } => settings.tool_timeout,
            Self::Command { settings, .. } => settings.tool_timeout,
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }
}

impl Criterion {
    /// Whether something is to be there, a text or a call, that a run which went worse may lack.
    pub fn asks_for_more(&self) -> bool {
        match self {
            Self::Text(_) | Self::Says(_) | Self::ToolCalled(_) => true,
            Self::UpstreamCalled { times, .. } => *times != Some(0),
            Self::ToolNeverCalled(_) | Self::NeverForwarded(_) => false,
        }
    }

    /// The text that is to be said, where it asks for one.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Says(text) => Some(text),
            _ => None,
        }
    }

    /// The criterion as the scenario file says it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Says(text) => format!("text: {text}"),
            Self::ToolCalled(tool) => format!("tool_called: {tool}"),
            Self::ToolNeverCalled(tool) => format!("tool_never_called: {tool}"),
            Self::UpstreamCalled {
                server,
                tool,
                times,
            } => {
                let times = times.map_or_else(String::new, |it| format!(", times: {it}"));
                format!("upstream_called: {{ server: {server}, tool: {tool}{times} }}")
            }
            Self::NeverForwarded(headers) => format!("never_forwarded: [{}]", headers.join(", ")),
        }
    }
}

/// Operations whose failure makes the rest of a run pointless, unless the scenario says otherwise.
const CRITICAL_OPERATIONS: [&str; 6] =
    ["add", "create", "initialize", "connect", "setup", "install"];

impl ScriptedCall {
    /// Whether the failure of this call ends the run: as the scenario says, else by the operation, which is the `operation` argument
    /// or, without one, the first word of the tool's name.
    pub fn is_critical(&self) -> bool {
        self.critical.unwrap_or_else(|| {
            let tool = self.tool.rsplit("__").next().unwrap_or(&self.tool);
            let operation = self.arguments.get("operation").and_then(|it| it.as_str());
            let word = operation
                .unwrap_or(tool)
                .split(['_', '-', '.', ' ', '/'])
                .next();
            word.is_some_and(|it| CRITICAL_OPERATIONS.contains(&it.to_lowercase().as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ScriptedCall;

    #[test]
    fn critical_calls_are_known_by_their_operation() {
        let cases = [
            ("mcp__p__add_server", json!({}), None, true),
            (
                "mcp__p__upstream_servers",
                json!({ "operation": "Add" }),
                None,
                true,
            ),
            (
                "mcp__p__upstream_servers",
                json!({ "operation": "list" }),
                None,
                false,
            ),
            ("mcp__p__address_book", json!({}), None, false),
            ("mcp__p__create", json!({}), Some(false), false),
            ("mcp__p__list", json!({}), Some(true), true),
        ];
        for (tool, arguments, critical, expected) in cases {
            let call = ScriptedCall {
                tool: tool.to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                filled: Vec::new(),
                critical,
                is_error: false,
                until: None,
            };
            assert_eq!(call.is_critical(), expected, "{tool} {arguments}");
        }
    }
}
