//! The document of a result, made of what that of its scenario and its trajectories say.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::connection::written;
use super::head::{result_id, scenario_of};
use crate::json;
use crate::model::full_name;
use crate::model::ruling::Judge;
use crate::model::usage::TotalUse;
use crate::model::{
    CallStatus, Git, Outcome, Redacted, Servers, Status, Step, ToolCall, Trajectory,
};
use crate::published::history::{Commit, HistoryResult, RECORDED};
use crate::published::kept::{ResultDetail, ResultEntry, ToolCallRow};
use crate::published::result::{Call, Row, Scenario};
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

/// A result, ready to be written.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    /// The name of the run's folder.
    pub(super) run: String,
    /// The id that it has in the files of the run.
    pub(super) own_id: String,
    pub(super) description: Option<String>,
    pub(super) declared: Option<Arc<Redacted<Declared>>>,
    /// It did not pass, and decides nothing.
    pub(super) is_quarantined: bool,
    /// How many tools were called in all attempts.
    pub(super) calls: usize,
    /// Its document, as that of a run whose id is the name of its folder.
    pub(super) detail: Redacted<ResultDetail>,
}

impl Ready {
    /// Of a scenario.
    pub(super) fn of(finished: &FinishedScenario) -> Self {
        let scenario = &finished.scenario;
        Self {
            run: finished.run.clone(),
            own_id: scenario.id.clone(),
            description: scenario.description.clone(),
            declared: finished.declared.clone(),
            is_quarantined: scenario.is_tolerated(),
            calls: calls(finished),
            detail: scenario.derive(|_| detail(finished)),
        }
    }
}

/// How many tools were called in all attempts whose trajectories are kept.
fn calls(finished: &FinishedScenario) -> usize {
    let count = |run: &Trajectory| steps(run).count();
    let Some(repeated) = &finished.scenario.repeated else {
        return finished.current.as_deref().map_or(0, |run| count(run));
    };
    let runs = Runs::at(&finished.folder);
    let attempts = 1..=repeated.attempts.len();
    let kept = attempts.filter_map(|number| {
        let attempt = runs.attempt(number);
        load(&attempt.path(&finished.scenario.id)).ok()
    });
    kept.map(|run| count(&run)).sum()
}

/// All calls of a run, those of an agent's own tools, too.
fn steps(run: &Trajectory) -> impl Iterator<Item = &ToolCall> {
    run.steps.iter().filter_map(|step| match step {
        Step::ToolCall(call) => Some(&**call),
        _ => None,
    })
}

fn detail(finished: &FinishedScenario) -> ResultDetail {
    let scenario = &*finished.scenario;
    let current = finished.current.as_deref().map(|run| &**run);
    let declared = finished.declared.as_deref().map(|it| &**it);
    let result = entry(finished, current, declared);
    ResultDetail {
        history: history(finished, &result),
        path: scenario.path.clone(),
        evaluators: scenario.evaluators.clone(),
        tool_calls: current
            .into_iter()
            .flat_map(|run| (1..).zip(steps(run)))
            .map(|(number, call)| ToolCallRow {
                number,
                server: call.server.clone(),
                tool: call.tool.clone(),
                status: name_of(CallStatus::from(&call.outcome)),
                duration_ms: call.duration_ms,
                answer_bytes: answer_bytes(call),
            })
            .collect(),
        result,
    }
}

fn entry(
    finished: &FinishedScenario,
    current: Option<&Trajectory>,
    declared: Option<&Declared>,
) -> ResultEntry {
    let scenario = &finished.scenario;
    let stamp = scenario.current.as_ref().map(|side| &side.stamp);
    let used = TotalUse::sum(scenario.all_usage());
    ResultEntry {
        result_id: result_id(&finished.run, &scenario.id),
        run_id: finished.run.clone(),
        command: finished.command.clone(),
        scenario: scenario_of(&scenario.id).to_owned(),
        name: scenario.name.clone(),
        prompt: scenario.user_intent.clone(),
        tags: scenario.tags.clone(),
        status: scenario.status,
        success: scenario.status == Status::Passed,
        reason: reason(scenario),
        verdict: verdict(scenario),
        expected_tools: expected_tools(scenario, declared),
        actual_tools: actual_tools(scenario, current),
        score: scenario.score(),
        duration: scenario.duration_ms,
        timestamp: written(finished.at),
        agent: stamp.map(|it| it.agent.clone()),
        model: stamp.and_then(|it| it.model.clone()),
        flaky: scenario.flaky || scenario.repeated.as_ref().is_some_and(|it| it.flaky),
        total_tokens: used.and_then(|it| it.tokens.total_tokens),
        cost: used.and_then(|it| it.cost),
    }
}

fn history(finished: &FinishedScenario, result: &ResultEntry) -> HistoryResult {
    let scenario = &finished.scenario;
    let stamp = scenario.current.as_ref().map(|side| &side.stamp);
    let verdicts = |status| u64::from(scenario.status == status);
    let (attempts, attempts_judged, attempts_passed) = match &scenario.repeated {
        Some(it) => (
            it.runs as u64,
            (it.passed + it.failed) as u64,
            it.passed as u64,
        ),
        None => (
            u64::from(stamp.is_some()),
            verdicts(Status::Passed) + verdicts(Status::Failed),
            verdicts(Status::Passed),
        ),
    };
    HistoryResult {
        id: result.result_id.clone(),
        run: result.run_id.clone(),
        command: result.command.clone(),
        at: result.timestamp.clone(),
        status: result.status,
        reason: result.reason.clone(),
        score: result.score,
        duration_ms: result.duration,
        changes: scenario.changes().len() as u64,
        attempts,
        attempts_judged,
        attempts_passed,
        flaky: result.flaky,
        servers: match stamp.map(|it| it.servers) {
            Some(Servers::Live) => Some("live".to_owned()),
            Some(Servers::Recorded) => Some(RECORDED.to_owned()),
            None => finished.is_recorded.then(|| RECORDED.to_owned()),
        },
        tokens: TotalUse::sum(scenario.all_usage())
            .map(|it| it.tokens)
            .unwrap_or_default(),
        cost: result.cost,
        source: stamp.and_then(|it| commit(it.source.as_ref()?)),
        scenarios: stamp.and_then(|it| commit(&it.scenarios)),
    }
}

fn commit(of: &Git) -> Option<Commit> {
    let at = of.commit()?;
    Some(Commit {
        commit: at.commit.clone(),
        short: at.short.clone(),
        branch: at.branch.clone(),
        subject: at.subject.clone(),
        dirty: at.dirty,
    })
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

/// The status as trajectories spell it.
fn name_of(status: CallStatus) -> String {
    match serde_json::to_value(status) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// How many bytes of JSON an answer is.
fn answer_bytes(call: &ToolCall) -> usize {
    match &call.outcome {
        Outcome::Answer(answer) => {
            let content: usize = answer.content.iter().map(bytes).sum();
            content + answer.structured_content.as_ref().map_or(0, bytes)
        }
        Outcome::Failure(failure) => failure.message.len(),
    }
}

fn bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |it| it.len())
}

/// A value as JSON that acts on no reader.
pub(super) fn text(value: &impl Serialize) -> String {
    // Plain values can always be written.
    json::escaped(serde_json::to_string(value).unwrap_or_default())
}
