//! Changes that a proxy makes to answers: those that the agent got, beside those that the servers behind gave.
//!
//! - `answer`: what became of an answer, of its text, and of a value within.
//! - `tool`: what the proxy says of the tools behind it.

mod answer;
mod tool;

use std::collections::BTreeMap;

use serde_json::Value;

use self::answer::findings;
use self::tool::tool;
use crate::text::excerpt;
use model::call::{FailureKind, Outcome, ToolCall};
use model::direct::{Cost, Direct, DirectCall};
use model::trajectory::Trajectory;

/// What the agent got through a proxy, beside what the servers behind it answered. An answer is compared with the one that was
/// given behind in the same run, so that one that varies by nature is not taken for the proxy's doing. `straight` has what came of each
/// call of the run's second lane when it was made once more, straight at its server, with its time in milliseconds; `None` where it was not.
pub fn direct(run: &Trajectory, straight: &[Option<(Outcome, f64)>]) -> Direct {
    let Some(lane) = &run.upstream else {
        return Direct::default();
    };
    let agents: Vec<&ToolCall> = run.calls().collect();
    let mut calls: Vec<DirectCall> = Vec::new();
    let mut refusals = Vec::new();
    // By the agent's call, where the answer is that it got.
    let mut passed_on: BTreeMap<usize, usize> = BTreeMap::new();
    let not_made = std::iter::repeat(&None);
    for (upstream, straight) in lane.calls.iter().zip(straight.iter().chain(not_made)) {
        let number = upstream.cause.filter(|it| *it > 0);
        let Some((number, call)) = number.and_then(|it| Some((it, *agents.get(it - 1)?))) else {
            continue;
        };
        let answered = match straight {
            Some((outcome, _)) if !is_answered(&upstream.call.outcome) => outcome,
            _ => &upstream.call.outcome,
        };
        let made = DirectCall {
            call: number,
            tool: call.full_name(),
            server: upstream.call.server.clone().unwrap_or_default(),
            upstream_tool: upstream.call.tool.clone(),
            findings: findings(answered, &call.outcome),
            through: cost(&call.outcome, call.duration_ms),
            straight: cost(answered, straight.as_ref().map(|(_, ms)| *ms)),
        };
        refusals.push(refusal(
            &upstream.call.outcome,
            straight.as_ref().map(|(it, _)| it),
        ));
        // Of several calls, the last one's answer is the one that the agent got, or one that it got as it was.
        match passed_on.get(&number).map(|it| &mut calls[*it]) {
            Some(other) if other.findings.is_empty() && !made.findings.is_empty() => {
                calls.push(DirectCall {
                    findings: Vec::new(),
                    ..made
                });
            }
            other => {
                if let Some(other) = other {
                    other.findings.clear();
                }
                passed_on.insert(number, calls.len());
                calls.push(made);
            }
        }
    }
    for (call, refusal) in calls.iter_mut().zip(refusals) {
        call.findings.extend(refusal);
    }
    let offered = lane.catalogue.servers.iter();
    let tools = offered.flat_map(|it| it.tools.iter().map(move |tool| (&it.server, tool)));
    let tools = tools.map(|(server, it)| tool(run, server, it));
    Direct::new(calls, tools.collect())
}

/// Whether a server behind gave an answer, be it an error, before whoever asked had gone.
fn is_answered(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(_) => true,
        Outcome::Failure(it) => it.kind == FailureKind::Rpc,
    }
}

/// That a server behind refused a call which it does not refuse when it is asked straight; `None` where that is not so.
fn refusal(upstream: &Outcome, straight: Option<&Outcome>) -> Option<String> {
    if !is_answered(upstream) || !upstream.is_failure() || straight?.is_failure() {
        return None;
    }
    let said = excerpt::shorten(&upstream.said());
    Some(format!("refused, but not when asked straight: {said}"))
}

fn cost(outcome: &Outcome, ms: Option<f64>) -> Cost {
    let text = match outcome {
        Outcome::Answer(answer) => {
            let mut members = answer.other.clone();
            members.insert("content".to_owned(), answer.content.clone().into());
            if let Some(structured) = &answer.structured_content {
                members.insert("structuredContent".to_owned(), structured.clone());
            }
            Value::Object(members).to_string()
        }
        Outcome::Failure(failure) => failure.message.clone(),
    };
    Cost {
        ms,
        bytes: text.len(),
        tokens: text.chars().count().div_ceil(4),
    }
}
