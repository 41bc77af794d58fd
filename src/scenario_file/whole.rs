//! A scenario as the program uses it: defaults merged, variables filled in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model;
use crate::model::rules::Rules;
use crate::model::{Cell, Expectation, Labels, Object, Places, Redaction};
use crate::scenario_file::agent::{Agent, Criterion, ExpectedCall, Input, Limits, Replaying};
use crate::scenario_file::evaluators::Evaluator;
use crate::scenario_file::judge::JudgeSettings;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::mock::DeclaredServer;
use crate::scenario_file::servers::{Container, Hook, Ready, Server, Source};

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
    /// What the client answers when servers want to know something.
    pub inputs: Vec<Input>,
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
        let calls = self.expected_trajectory.iter().map(|call| model::Expected {
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
