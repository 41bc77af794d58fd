//! The rows of a scenario that has its result, made of what its document and its trajectories say.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::connection::{Cell, Record, written};
use super::head::{git, result_id, scenario_of};
use crate::json;
use crate::model::call::{CallStatus, full_name};
use crate::model::redacted::Redacted;
use crate::model::stamp::Servers;
use crate::model::trajectory::{ToolCall, Trajectory};
use crate::published::result::{Call, Evaluation, Judge, Row, Scenario, Side, Status, TotalUse};
use crate::store::{Runs, load};

/// A scenario that has its result.
#[derive(Debug, Clone)]
pub struct FinishedScenario {
    /// The name of the run's folder.
    pub run: String,
    pub command: String,
    /// When the result was there.
    pub at: Timestamp,
    pub scenario: Redacted<Scenario>,
    /// What was recorded of the servers was to answer in their place, also where nothing came as far as that.
    pub is_recorded: bool,
    /// The run that is shown of it.
    pub current: Option<Arc<Redacted<Trajectory>>>,
    /// What it was declared as; `None` where nobody knows any more.
    pub declared: Option<Arc<Redacted<Declared>>>,
    /// The folder of the run, with the trajectories of its attempts.
    pub folder: PathBuf,
}

/// What a scenario's file says of what it is run with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// `[{name, type, command, args, env, url, …}]`; of variables and headers, names alone.
    pub servers: Value,
    /// `{provider, model, …}`; `None` without one.
    pub judge: Option<Value>,
    /// The tools that are to be called, by their full names.
    pub expected_tools: Vec<String>,
}

/// The rows of a result, ready to be written.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// The name of the run's folder.
    pub(super) run: String,
    /// The id that it has in the files of the run.
    own_id: String,
    pub(super) scenario: Record,
    pub(super) result: Record,
    pub(super) attempts: Vec<Record>,
    pub(super) evaluations: Vec<Record>,
    pub(super) tool_calls: Vec<Record>,
}

impl Rows {
    /// Of a scenario.
    pub(super) fn of(finished: &FinishedScenario) -> Self {
        let scenario = &finished.scenario;
        let declared = finished.declared.as_deref().map(|it| &**it);
        let at = written(finished.at);
        let current = finished.current.as_deref().map(|it| &**it);
        let made = attempts(scenario, &finished.folder, current);
        let mut tool_calls = Vec::new();
        for (number, trajectory) in &made {
            let calls = trajectory.steps.iter().filter_map(|it| match it {
                model::trajectory::Step::ToolCall(call) => Some(&**call),
                _ => None,
            });
            tool_calls.extend(
                (1..)
                    .zip(calls)
                    .map(|(at, call)| tool_call(*number, at, call)),
            );
        }
        Self {
            run: finished.run.clone(),
            own_id: scenario.id.clone(),
            scenario: scenario_record(scenario, declared, &at),
            result: result_record(
                scenario,
                finished.is_recorded,
                current,
                declared,
                &finished.command,
                &at,
            ),
            attempts: attempt_records(scenario, &made),
            evaluations: (1_usize..)
                .zip(&scenario.evaluators)
                .map(|(number, it)| evaluation(number, it))
                .collect(),
            tool_calls,
        }
    }

    /// Gives all rows the ids of the run that they are of, and of the result.
    pub(super) fn place(&mut self, run: &str) {
        let id = result_id(run, &self.own_id);
        self.result.set("id", id.as_str());
        self.result.set("run_id", run);
        let parts = self
            .attempts
            .iter_mut()
            .chain(&mut self.evaluations)
            .chain(&mut self.tool_calls);
        for it in parts {
            it.set("result_id", id.as_str());
        }
    }
}

/// A trajectory that is at hand, or was read again.
enum Made<'a> {
    Here(&'a Trajectory),
    Read(Box<Redacted<Trajectory>>),
}

impl std::ops::Deref for Made<'_> {
    type Target = Trajectory;

    fn deref(&self) -> &Trajectory {
        match self {
            Self::Here(it) => it,
            Self::Read(it) => it,
        }
    }
}

/// The trajectories of all attempts, by their numbers; those that are not kept any more are left out.
fn attempts<'a>(
    scenario: &Scenario,
    folder: &std::path::Path,
    current: Option<&'a Trajectory>,
) -> BTreeMap<usize, Made<'a>> {
    let Some(repeated) = &scenario.repeated else {
        return current.map(|it| (1, Made::Here(it))).into_iter().collect();
    };
    let runs = Runs::at(folder);
    let numbers = 1..=repeated.attempts.len();
    let made = numbers.filter_map(|number| {
        if let Some(current) = current.filter(|_| number == repeated.shown) {
            return Some((number, Made::Here(current)));
        }
        let read = load(&runs.attempt(number).path(&scenario.id)).ok()?;
        Some((number, Made::Read(Box::new(read))))
    });
    made.collect()
}

fn scenario_record(scenario: &Scenario, declared: Option<&Declared>, at: &str) -> Record {
    Record::default()
        .with("id", scenario_of(&scenario.id))
        .with("name", scenario.name.as_str())
        .with("path", scenario.path.as_str())
        .with("description", scenario.description.as_deref())
        .with("server_configs", declared.map(|it| text(&it.servers)))
        .with(
            "judge_config",
            declared.and_then(|it| it.judge.as_ref()).map(text),
        )
        .with("created_at", at)
        .with("updated_at", at)
}

fn result_record(
    scenario: &Scenario,
    is_recorded: bool,
    current: Option<&Trajectory>,
    declared: Option<&Declared>,
    command: &str,
    at: &str,
) -> Record {
    let side = scenario.current.as_ref();
    let stamp = side.map(|it| &it.stamp);
    let repeated = scenario.repeated.as_deref();
    let verdicts = |status| usize::from(scenario.status == status);
    let (runs, passed, judged) = match repeated {
        Some(it) => (it.runs, it.passed, it.passed + it.failed),
        None => (
            usize::from(side.is_some()),
            verdicts(Status::Passed),
            verdicts(Status::Passed) + verdicts(Status::Failed),
        ),
    };
    let expected = expected_tools(scenario, declared);
    let actual = actual_tools(scenario, current);
    let servers = side.map(|it| {
        let servers = it.servers.iter();
        let servers = servers.map(|it| json!({ "server": it.server, "name": it.name, "version": it.version, "tools": it.tools }));
        text(&Value::Array(servers.collect()))
    });
    Record::default()
        .with("id", Cell::Null)
        .with("run_id", Cell::Null)
        .with("scenario_id", scenario_of(&scenario.id))
        .with("test_name", scenario.name.as_str())
        .with("path", scenario.path.as_str())
        .with("description", scenario.description.as_deref())
        .with("prompt", scenario.user_intent.as_deref())
        .with("tags", text(&json!(scenario.tags)))
        .with("row_of", scenario.row_of.as_deref())
        .with("cell", scenario.cell.as_ref().map(|it| text(&json!(it))))
        .with("command", command)
        .with("is_final", command != "bisect")
        .with("status", scenario.status.name())
        .with("reason", reason(scenario))
        .with("expected_tools", text(&json!(expected)))
        .with("actual_tools", text(&json!(actual)))
        .with("verdict", text(&verdict(scenario)))
        .with("score", scenario.score())
        .with(
            "evaluation_score",
            scenario.evaluation.as_ref().and_then(|it| it.score),
        )
        .with("changes", scenario.changes().len())
        .with("calls", side.map(|it| it.calls))
        .with("failed_calls", side.map(|it| it.failed_calls))
        .with("duration_ms", scenario.duration_ms)
        .with("created_at", at)
        .with("agent", stamp.map(|it| it.agent.as_str()))
        .with("model", stamp.and_then(|it| it.model.as_deref()))
        .with("agent_hash", stamp.and_then(|it| it.agent_hash.as_deref()))
        .with(
            "scenario_hash",
            side.and_then(|it: &Side| it.scenario_hash.as_deref()),
        )
        .with(
            "servers",
            match stamp.map(|it| it.servers) {
                Some(Servers::Live) => Some("live"),
                Some(Servers::Recorded) => Some("recorded"),
                None => is_recorded.then_some("recorded"),
            },
        )
        .with("server_versions", servers)
        .with("compared_with", scenario.compared_with.as_deref())
        .with(
            "image",
            stamp
                .and_then(|it| it.image.as_ref())
                .map(|it| text(&json!(it))),
        )
        .and(git("source", stamp.and_then(|it| it.source.as_ref())))
        .and(git("scenarios", stamp.map(|it| &it.scenarios)))
        .with("attempts", runs)
        .with("attempts_passed", passed)
        .with("attempts_judged", judged)
        .with(
            "flaky",
            scenario.flaky || repeated.is_some_and(|it| it.flaky),
        )
        .with("quarantined", scenario.is_tolerated())
        .and(usage(TotalUse::sum(scenario.all_usage()).as_ref()))
}

/// The columns of what models took; what is not known is null.
fn usage(used: Option<&TotalUse>) -> Record {
    let tokens = used.map(|it| it.tokens);
    Record::default()
        .with("input_tokens", tokens.and_then(|it| it.each.input))
        .with("output_tokens", tokens.and_then(|it| it.each.output))
        .with(
            "cache_read_tokens",
            tokens.and_then(|it| it.each.cache_read),
        )
        .with(
            "cache_write_tokens",
            tokens.and_then(|it| it.each.cache_write),
        )
        .with("total_tokens", tokens.and_then(|it| it.total_tokens))
        .with("cost", used.and_then(|it| it.cost))
        .with("requests", used.map(|it| it.requests))
}

/// The tools that were to be called: those of the left side of the comparison, or else those that the file names.
fn expected_tools(scenario: &Scenario, declared: Option<&Declared>) -> Vec<String> {
    let expected = compared_tools(scenario, |it| it.baseline.as_ref());
    if expected.is_empty() {
        return declared.map_or_else(Vec::new, |it| it.expected_tools.clone());
    }
    expected
}

/// The tools that were called, in order.
fn actual_tools(scenario: &Scenario, current: Option<&Trajectory>) -> Vec<String> {
    if let Some(run) = current {
        return run.calls().map(ToolCall::full_name).collect();
    }
    // The trajectory is gone.
    let called = compared_tools(scenario, |it| it.current.as_ref());
    if called.is_empty() {
        return scenario
            .current
            .as_ref()
            .map_or_else(Vec::new, |it| it.tools.clone());
    }
    called
}

/// The tools of one side of the comparison, in the order of its calls.
fn compared_tools(scenario: &Scenario, side: fn(&Row) -> Option<&Call>) -> Vec<String> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let calls = rows.filter_map(|it| {
        let name = full_name(it.server.as_deref(), it.tool.as_deref()?);
        Some((side(it)?.number, name))
    });
    let mut calls: Vec<(usize, String)> = calls.collect();
    calls.sort();
    calls.into_iter().map(|it| it.1).collect()
}

/// The first thing that speaks against it.
fn reason(scenario: &Scenario) -> Option<String> {
    if scenario.status == Status::Passed {
        return None;
    }
    let problem = scenario.problem.iter().map(|it| it.message.clone());
    let repeated = scenario.repeated.iter().filter_map(|it| it.reason.clone());
    problem
        .chain(scenario.reasons())
        .chain(repeated)
        .find(|it| !it.is_empty())
}

/// What is said of it in sum, as a judge says it where there was one.
fn verdict(scenario: &Scenario) -> Value {
    let judge = scenario.evaluators.iter().flat_map(|it| &it.judges);
    let judge: Option<&Judge> = judge.max_by_key(|it| it.reasoning.is_some());
    let passed = match scenario.status {
        Status::Passed => Some(true),
        Status::Failed | Status::Error | Status::Timeout | Status::Interrupted => Some(false),
        Status::Inconclusive | Status::Skipped | Status::Recorded => None,
    };
    let reasoning = judge.and_then(|it| it.reasoning.clone());
    let reasoning = reasoning
        .or_else(|| reason(scenario))
        .or_else(|| scenario.in_words.clone());
    json!({
        "passed": passed,
        "confidence": judge.and_then(|it| it.confidence),
        "reasoning": reasoning,
        "toolAccuracy": judge.and_then(|it| it.tool_accuracy),
        "suggestions": judge.map_or(&[][..], |it| &it.suggestions),
    })
}

fn attempt_records(scenario: &Scenario, made: &BTreeMap<usize, Made<'_>>) -> Vec<Record> {
    let record = |is_retried: bool, number: usize, status: Status| {
        Record::default()
            .with("result_id", Cell::Null)
            .with("is_retried", is_retried)
            .with("number", number)
            .with("status", status.name())
    };
    let retried = (1..).zip(&scenario.retried).map(|(number, it)| {
        record(true, number, it.status)
            .with("score", None::<f64>)
            .with("duration_ms", it.duration_ms)
            .with("reason", it.reason.as_str())
            .with("changes", 0_i64)
            .and(usage(it.usage.as_ref()))
    });
    let attempts = scenario.repeated.iter().flat_map(|it| &it.attempts);
    let attempts = (1..).zip(attempts).map(|(number, it)| {
        let used = made.get(&number).and_then(|it| TotalUse::of(&it.requests));
        record(false, number, it.status)
            .with("score", it.score)
            .with("duration_ms", it.duration_ms)
            .with("reason", it.reason.as_deref())
            .with("changes", it.changes)
            .and(usage(used.as_ref()))
    });
    retried.chain(attempts).collect()
}

fn evaluation(number: usize, it: &Evaluation) -> Record {
    Record::default()
        .with("result_id", Cell::Null)
        .with("number", number)
        .with("name", it.name.as_str())
        .with("kind", it.kind.as_str())
        .with("gating", it.gates())
        .with("status", it.status.name())
        .with("score", it.score)
        .with("weight", it.weight)
        .with("message", it.message.as_str())
        .with("duration_ms", it.duration_ms)
        .with(
            "judges",
            (!it.judges.is_empty()).then(|| text(&json!(it.judges))),
        )
}

fn tool_call(attempt: usize, number: usize, call: &ToolCall) -> Record {
    let status = CallStatus::from(&call.outcome);
    Record::default()
        .with("result_id", Cell::Null)
        .with("attempt", attempt)
        .with("number", number)
        .with("server", call.server.as_deref())
        .with("tool", call.tool.as_str())
        .with("status", name_of(status))
        .with("start_ms", call.start_ms)
        .with("duration_ms", call.duration_ms)
        .with("arguments_bytes", bytes(&call.arguments))
        .with("answer_bytes", answer_bytes(call))
}

/// The status as trajectories spell it.
fn name_of(status: CallStatus) -> String {
    match serde_json::to_value(status) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// Counts what is written to it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many bytes of JSON something is.
fn bytes(value: &impl Serialize) -> u64 {
    let mut counter = Counter(0);
    // Plain values can always be written.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

fn answer_bytes(call: &ToolCall) -> u64 {
    use crate::model::trajectory::Outcome;
    match &call.outcome {
        Outcome::Answer(answer) => {
            let structured = answer.structured_content.as_ref().map_or(0, bytes);
            let content: u64 = answer.content.iter().map(bytes).sum();
            content + structured
        }
        Outcome::Failure(failure) => failure.message.len() as u64,
    }
}

/// A value as JSON that acts on no reader.
fn text(value: &Value) -> String {
    json::escaped(value.to_string())
}
