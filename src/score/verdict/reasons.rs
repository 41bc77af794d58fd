//! Passed or not, and why: one reason for each condition that failed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalogue::drift::{self, Finding};
use crate::pairing::call::{Call, asked};
use crate::text::excerpt;
use model::comparison::{Loss, Pair, ParameterScore, Row, SlowerCall, Verdict};
use model::number::fixed;
use model::reason::{Answered, Reason, ReasonKind, Why};
use model::response::Difference;
use model::rules::Gate;

use super::causes;
use super::evidence::Evidence;
use super::generalise::generalised;

/// Scores this close to a limit count as reaching it.
const TOLERANCE: f64 = 1e-9;

/// A request this similar asks the same question.
const SAME_QUESTION: f64 = 0.95;
/// A response less similar than this is another answer.
const OTHER_ANSWER: f64 = 0.6;
/// A paired effect below this is another effect.
const OTHER_EFFECT: f64 = 0.6;

/// The most changes of the catalogue that are warned of one by one.
const WARNINGS: usize = 3;

/// The most places of lost points that are named for a score that is too low.
const LOST_AT: usize = 20;

pub(crate) fn verdict(evidence: &Evidence<'_, '_>) -> Verdict {
    let mut reasons = Vec::new();
    let mut warnings = Vec::new();
    reasons.extend(evidence.unmatched.iter().cloned());
    if !evidence.score_only {
        for row in evidence.rows {
            match row {
                Row::Pair(pair) => reasons.extend(of_pair(evidence, pair)),
                Row::Missing {
                    baseline,
                    effect: true,
                } if !evidence.may_miss => {
                    reasons.push(missing_effect(evidence, *baseline));
                }
                Row::Extra {
                    current,
                    effect: true,
                } if !evidence.may_add => {
                    reasons.push(new_effect(evidence, *current));
                }
                Row::Missing { .. } | Row::Extra { .. } => {}
            }
        }
    }
    reasons.extend(below_threshold(evidence));
    let (refusing, harmless): (Vec<&Finding>, Vec<&Finding>) = (evidence.drift.iter())
        .filter(|it| it.narrows)
        .partition(|it| it.drift.breaking);
    match evidence.rules.drift {
        Gate::Ignore => {}
        Gate::Fail => reasons.extend(harmless.into_iter().map(drifted)),
        Gate::Warn => warnings.extend(narrower(&harmless)),
    }
    for slower in evidence.slower {
        let it = slow(evidence, slower);
        match evidence.rules.slower.gate {
            Gate::Ignore => {}
            Gate::Fail => reasons.push(it),
            Gate::Warn => warnings.push(it),
        }
    }
    if let Some((before, now)) = evidence.tokens {
        let it = Reason {
            expected: Some(format!("about {before}")),
            got: Some(now.to_string()),
            ..Reason::new(ReasonKind::Tokens, Why::Tokens)
        };
        match evidence.rules.tokens.gate {
            Gate::Ignore => {}
            Gate::Fail => reasons.push(it),
            Gate::Warn => warnings.push(it),
        }
    }
    // Changes that refuse recorded calls are reported by default, because clients make such calls.
    let refusing = match evidence.rules.drift {
        Gate::Ignore => Vec::new(),
        Gate::Fail | Gate::Warn => refusing,
    };
    let refusing = if evidence.score_only {
        let (score, others) =
            (reasons.into_iter()).partition(|it| it.kind == ReasonKind::Threshold);
        reasons = score;
        warnings.extend(others);
        warnings.extend(refusing.into_iter().map(drifted));
        Vec::new()
    } else {
        refusing
    };
    let reasons = causes::grouped(evidence, reasons, &refusing);
    Verdict {
        passed: reasons.is_empty(),
        reasons,
        warnings,
    }
}

/// A change of the catalogue as a reason of its own.
fn drifted(finding: &Finding) -> Reason {
    Reason {
        expected: finding.drift.was.clone(),
        got: finding.drift.now.clone(),
        ..Reason::new(
            ReasonKind::Drift,
            Why::Drifted {
                said: finding.drift.what.clone(),
                tools: vec![finding.drift.tool.clone()],
            },
        )
    }
}

/// Warnings of changes of the catalogue that refuse no recorded call: each one, or only their number if there are many.
fn narrower(harmless: &[&Finding]) -> Vec<Reason> {
    if harmless.len() <= WARNINGS {
        return harmless.iter().map(|it| drifted(it)).collect();
    }
    let tools: BTreeSet<(&str, &str)> = (harmless.iter())
        .map(|it| (it.drift.server.as_str(), it.drift.tool.as_str()))
        .collect();
    let text = format!(
        "the tool catalogue accepts less in {} places of {} tools, and refuses no recorded call; the first: {}",
        harmless.len(),
        tools.len(),
        harmless[0].drift.what
    );
    let tools = tools.into_iter().map(|(_, tool)| tool.to_owned()).collect();
    let why = Why::Drifted { said: text, tools };
    vec![Reason::new(ReasonKind::Drift, why)]
}

/// The score itself, with the place that cost most.
fn below_threshold(evidence: &Evidence<'_, '_>) -> Option<Reason> {
    let (overall, threshold) = (evidence.scores.overall, evidence.scores.threshold);
    if overall >= threshold - TOLERANCE {
        return None;
    }
    let most = (evidence.losses.iter()).max_by(|a, b| {
        // Of equal losses the first.
        a.points.total_cmp(&b.points).then(Ordering::Greater)
    });
    let cause = most.and_then(|it| drift::cause(evidence.drift, it.baseline?));
    Some(Reason {
        baseline: most.and_then(|it| it.baseline),
        current: most.and_then(|it| it.current),
        tool: most.and_then(|it| it.tool.clone()),
        expected: Some(format!("at least {}", fixed(threshold, 3))),
        got: Some(fixed(overall, 3)),
        cause,
        follows: lost_at(evidence.losses),
        ..Reason::new(
            ReasonKind::Threshold,
            Why::BelowThreshold(most.map(|it| it.rule.to_string())),
        )
    })
}

/// Where points were lost, most first.
fn lost_at(losses: &[Loss]) -> Vec<Reason> {
    let mut losses: Vec<&Loss> = losses.iter().collect();
    losses.sort_by(|a, b| b.points.total_cmp(&a.points));
    let reasons = losses.into_iter().take(LOST_AT).map(|it| {
        let at = match (&it.tool, &it.path) {
            (None, _) => it.rule.to_string(),
            (Some(_), path) => path.clone().unwrap_or_default(),
        };
        Reason {
            baseline: it.baseline,
            current: it.current,
            tool: it.tool.clone(),
            expected: it.expected.clone(),
            got: it.got.clone(),
            ..Reason::new(ReasonKind::Threshold, Why::lost(it.points, at))
        }
    });
    reasons.collect()
}

/// The value of an argument in a call.
fn given<'a>(call: &Call<'a>, parameter: &ParameterScore) -> Option<&'a Value> {
    call.said.arguments.get(&parameter.name)
}

fn of_pair(evidence: &Evidence<'_, '_>, pair: &Pair) -> Vec<Reason> {
    let regression = (pair.moved || pair.request.similarity >= SAME_QUESTION - TOLERANCE)
        && pair.response.similarity < OTHER_ANSWER - TOLERANCE;
    let made_with = pair.request.differences.iter().find(|it| !it.worded);
    let other_effect = pair.effect && (made_with.is_some() || pair.call < OTHER_EFFECT - TOLERANCE);
    if !regression && !other_effect {
        return Vec::new();
    }
    let call = evidence.calls.before(pair.baseline);
    let current_call = evidence.calls.now(pair.current);
    let changed = |it: &&ParameterScore| it.loss > 0.0;
    let parameter =
        (pair.request.parameters.iter().filter(changed)).max_by(|a, b| a.loss.total_cmp(&b.loss));
    let cause = drift::cause(evidence.drift, pair.baseline);
    let at_pair = |kind: ReasonKind, why: Why| Reason {
        baseline: Some(pair.baseline),
        current: Some(pair.current),
        tool: Some(call.made.full_name()),
        cause: cause.clone(),
        ..Reason::new(kind, why)
    };
    let (difference, answered) = answered(evidence, pair);
    let (expected, got) =
        difference.map_or((None, None), |it| (it.expected.clone(), it.got.clone()));
    let mut reasons = Vec::new();
    if regression {
        let why = match evidence.failed_now(pair) {
            Some(message) => Why::Failed(message),
            None => Why::AnsweredOtherwise(answered.clone()),
        };
        reasons.push(Reason {
            expected: expected.clone(),
            got: got.clone(),
            ..at_pair(ReasonKind::ServerRegression, why)
        });
    }
    if other_effect {
        // The greater loss decides whether request or response is the cause.
        let by_request =
            parameter.filter(|it| it.loss > 0.0 && pair.request.similarity < SAME_QUESTION);
        let ((expected, got), why) = match (made_with, by_request) {
            (Some(it), _) => {
                let differences = pair.request.differences.iter();
                let why = Why::MadeOtherwise {
                    path: it.path.clone(),
                    more: differences.filter(|it| !it.worded).count() - 1,
                };
                ((it.was.clone(), it.now.clone()), why)
            }
            (None, Some(it)) => {
                let given = excerpt::of_both(given(call, it), given(current_call, it));
                (given, Why::CalledOtherwise(it.name.clone()))
            }
            (None, None) => ((expected, got), Why::OtherResult(answered)),
        };
        reasons.push(Reason {
            expected,
            got,
            ..at_pair(ReasonKind::EffectChange, why)
        });
    }
    reasons
}

/// The difference that a reason quotes – the first that breaks something, else the first of those that cost most –, and the gravest change
/// of an answer.
fn answered<'p>(evidence: &Evidence<'_, '_>, pair: &'p Pair) -> (Option<&'p Difference>, Answered) {
    let recorded = &evidence.calls.before(pair.baseline).made.outcome;
    if let Some((example, many)) = generalised(recorded, &pair.response) {
        return (Some(example), many);
    }
    let differences = &pair.response.differences;
    let mut broken = differences.iter().filter(|it| it.breaks.is_some());
    if let Some((first, steady)) = broken.next().and_then(|it| Some((it, it.breaks?))) {
        let answered = Answered::Broke {
            path: first.path.clone(),
            edit: first.edit.clone(),
            steady,
            more: broken.count(),
        };
        return (Some(first), answered);
    }
    let by_loss = |a: &&Difference, b: &&Difference| a.loss.total_cmp(&b.loss);
    let most = differences.iter().rev().max_by(by_loss);
    let at = most.map_or(Answered::Somehow, |it| Answered::At(it.path.clone()));
    (most, at)
}

fn missing_effect(evidence: &Evidence<'_, '_>, number: usize) -> Reason {
    let call = evidence.calls.before(number);
    Reason {
        baseline: Some(number),
        tool: Some(call.made.full_name()),
        expected: Some(asked(call.made)),
        cause: drift::cause(evidence.drift, number),
        ..Reason::new(ReasonKind::EffectChange, Why::EffectNotMade)
    }
}

fn new_effect(evidence: &Evidence<'_, '_>, number: usize) -> Reason {
    let call = evidence.calls.now(number);
    Reason {
        current: Some(number),
        tool: Some(call.made.full_name()),
        got: Some(asked(call.said)),
        ..Reason::new(ReasonKind::EffectChange, Why::EffectNew)
    }
}

fn slow(evidence: &Evidence<'_, '_>, slower: &SlowerCall) -> Reason {
    let call = evidence.calls.before(slower.baseline);
    Reason {
        baseline: Some(slower.baseline),
        current: Some(slower.current),
        tool: Some(call.made.full_name()),
        expected: Some(format!("about {:.0} ms", slower.baseline_ms)),
        got: Some(format!("{:.0} ms", slower.current_ms)),
        ..Reason::new(ReasonKind::Slower, Why::Slower)
    }
}
