//! Results in the words of the API.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::case::EXPECTED_TOOLS;
use super::wire::reply::{RunReply, ToolCall, Verdict};
use crate::model;
use crate::model::number::share;
use crate::model::ruling::Judge;
use crate::model::{
    Check, Evaluation, FailureKind, Outcome, Redacted, ScenarioResult, Status, Trajectory,
};
use crate::store::database::scenario_of;

/// What of a request its reply repeats, and is judged by.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) asked: Redacted<Value>,
    /// The tools that must be called, as they were asked for, too.
    pub(super) expected: Vec<String>,
}

/// The cases of a request, by the ids of their scenarios.
pub(super) type Cases = HashMap<String, Case>;

/// The reply that a result is. Both it and what was asked for are without secrets.
pub(super) fn of(
    result: &Redacted<ScenarioResult>,
    case: &Case,
    run: &str,
    result_id: String,
) -> Redacted<RunReply> {
    result.derive(|result| {
        let current = result.current.as_deref();
        let status = result.status;
        let began = current.map_or_else(Timestamp::now, |it| it.stamp.recorded_at);
        RunReply {
            test_case: (*case.asked).clone(),
            tool_calls: current.map_or_else(Vec::new, |it| calls(it)),
            verdict: verdict(result, status, &case.expected),
            duration: result.duration_ms,
            success: status == Status::Passed,
            timestamp: began.to_string(),
            result_id,
            run_id: run.to_owned(),
            scenario: scenario_of(&result.id).to_owned(),
            status,
            error: (result.problem.as_ref())
                .filter(|_| is_error(status))
                .map(|it| it.message.clone()),
        }
    })
}

/// Whether a run could not be made or judged.
pub(super) fn is_error(status: Status) -> bool {
    [Status::Error, Status::Timeout, Status::Interrupted].contains(&status)
}

/// The calls of a run.
pub(super) fn calls(run: &Trajectory) -> Vec<ToolCall> {
    let calls = run.steps.iter().filter_map(|step| match step {
        model::Step::ToolCall(call) => Some(&**call),
        _ => None,
    });
    calls.map(|it| call(it, run)).collect()
}

fn call(call: &model::ToolCall, run: &Trajectory) -> ToolCall {
    let offset = call
        .start_ms
        .map(|it| SignedDuration::from_secs_f64(it / 1000.0));
    let made = offset.and_then(|it| run.stamp.recorded_at.checked_add(it).ok());
    let is_found = is_found(call, run);
    let (response, error) = match &call.outcome {
        Outcome::Answer(answer) => {
            let mut response = json!({ "content": answer.content });
            if let Some(structured) = &answer.structured_content {
                response["structuredContent"] = structured.clone();
            }
            let error = match &answer.breach {
                Some(breach) => Some(breach.clone()),
                None => answer.is_error.then(|| answer.text()),
            };
            (response, error)
        }
        Outcome::Failure(failure) => (Value::Null, Some(failure.message.clone())),
    };
    let error = if is_found {
        error
    } else {
        Some(format!("Tool {} not found in any connection", call.tool))
    };
    ToolCall {
        tool_name: call.tool.clone(),
        server_id: match (&call.server, is_found) {
            (Some(server), true) => server.clone(),
            _ => "unknown".to_owned(),
        },
        parameters: Value::Object(call.arguments.clone()),
        response,
        execution_time_ms: call.duration_ms,
        success: error.is_none(),
        error,
        timestamp: made.map(|it| it.to_string()),
    }
}

/// Whether a server has the tool of a call: it lists it, or has answered all the same.
fn is_found(call: &model::ToolCall, run: &Trajectory) -> bool {
    let servers = run.catalogue.servers.iter();
    let mut own = servers.filter(|it| Some(&it.server) == call.server.as_ref());
    let is_listed = own.any(|it| it.tools.iter().any(|it| it.name() == call.tool));
    call.server.is_some() && (is_listed || !call.outcome.is_failure())
}

/// Whether a call was made: arguments that are none cannot be sent.
fn is_sent(call: &model::ToolCall) -> bool {
    !matches!(&call.outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent)
}

fn verdict(result: &ScenarioResult, status: Status, expected: &[String]) -> Verdict {
    let failed = |why: &str| Verdict {
        passed: false,
        confidence: Some(0.0),
        reasoning: format!("Test execution failed: {why}"),
        tool_accuracy: Some(0.0),
        suggestions: result
            .problem
            .iter()
            .filter_map(|it| it.hint.clone())
            .collect(),
    };
    match status {
        Status::Passed | Status::Failed => {}
        Status::Inconclusive if result.problem.is_none() => {}
        _ => {
            let why = result.problem.as_ref().map_or("", |it| it.message.as_str());
            return failed(if why.is_empty() {
                "it has no verdict"
            } else {
                why
            });
        }
    }
    let run = result.current.as_deref();
    let missing: Vec<&String> = expected
        .iter()
        .filter(|it| !run.is_some_and(|run| is_called(it, run)))
        .collect();
    let judged = result.evaluators.iter().find_map(ruled);
    let passed = status == Status::Passed;
    let mut reasons = against(result);
    let (confidence, mut suggestions) = if let Some((judge, reasoning)) = judged {
        reasons.insert(0, sentence(reasoning));
        (judge.confidence, judge.suggestions.clone())
    } else {
        reasons.insert(0, without_judge(passed, expected.len(), missing.len()));
        (Some(1.0), Vec::new())
    };
    if judged.is_none() {
        suggestions.extend(result.problem.iter().filter_map(|it| it.hint.clone()));
    }
    Verdict {
        passed,
        confidence,
        reasoning: reasons.join(" ").trim().to_owned(),
        tool_accuracy: share(expected.len() - missing.len(), expected.len()).or(Some(1.0)),
        suggestions,
    }
}

/// How it was judged where no model was asked.
fn without_judge(passed: bool, expected: usize, missing: usize) -> String {
    let called = match (expected, missing) {
        (0, _) => "No tool was expected".to_owned(),
        (1, 0) => "The expected tool was called".to_owned(),
        (all, 0) => format!("All {all} expected tools were called"),
        (all, missing) => format!("{} of {all} expected tools were called", all - missing),
    };
    let judged = if passed { "passed" } else { "did not pass" };
    format!(
        "{called}; the run {judged} by its expected tools and evaluators, without asking a model."
    )
}

/// Whether a run has called a tool that a server has.
fn is_called(tool: &str, run: &Trajectory) -> bool {
    let mut calls = run.calls();
    let is_named = |it: &model::ToolCall| it.tool == *tool || it.full_name() == *tool;
    calls.any(|it| is_named(it) && is_found(it, run) && is_sent(it))
}

/// What a judge says.
fn ruled(evaluation: &Evaluation) -> Option<(&Judge, &str)> {
    let mut judges = evaluation.judges.iter();
    judges.find_map(|it| Some((it, it.reasoning.as_deref()?)))
}

/// All that speaks against a run, but for what a judge says.
fn against(result: &ScenarioResult) -> Vec<String> {
    let problem = result.problem.iter().map(|it| sentence(&it.message));
    let checks = result.checks.iter().filter(|it| Check::fails(it));
    let checks = checks.map(|it| sentence(&format!("{}: {}", it.name, it.message)));
    let evaluations = result.evaluators.iter().filter(|it| it.fails());
    let evaluations = evaluations.filter(|it| ruled(it).is_none());
    let evaluations = evaluations.map(|it| {
        let said = std::iter::once(&it.message).chain(&it.details);
        let said: Vec<&str> = said.map(String::as_str).collect();
        let said = said.join("; ");
        sentence(&match it.name.as_str() {
            EXPECTED_TOOLS => said,
            name => format!("{name}: {said}"),
        })
    });
    let verdict = result.comparison.iter().map(|it| &it.verdict);
    let reasons = verdict.filter(|it| !it.passed).flat_map(|it| &it.reasons);
    let reasons = reasons.map(|it| sentence(&it.whole()));
    problem
        .chain(checks)
        .chain(evaluations)
        .chain(reasons)
        .collect()
}

/// The first thing that speaks against a run.
pub(super) fn first_against(result: &ScenarioResult) -> Option<String> {
    against(result).into_iter().next()
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    // What nobody has said is no sentence.
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
