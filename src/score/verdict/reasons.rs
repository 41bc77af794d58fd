//! Passed or not, and why: one reason in words for each condition that failed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalogue::drift::{self, Finding};
use crate::pairing::call::{Call, asked};
use crate::text::excerpt;
use model::comparison::{
    ANSWERED_OTHERWISE, FAILED, HAD_ANOTHER_RESULT, Loss, Pair, ParameterScore, Reason, ReasonKind,
    Row, SlowerCall, Verdict,
};
use model::number::fixed;
use model::response::{Difference, Edit};
use model::rules::Gate;
use model::text::several;

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
            ..Reason::new(ReasonKind::Tokens, "the model used many more tokens")
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
        ..Reason::new(ReasonKind::Drift, finding.drift.what.clone())
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
    vec![Reason::new(ReasonKind::Drift, text)]
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
    let at = most.map(|it| match (&it.tool, it.baseline.or(it.current)) {
        (Some(tool), Some(number)) => {
            let side = if it.baseline.is_some() {
                "call"
            } else {
                "new call"
            };
            format!("; most was lost at {side} {number}, {tool}: {}", it.rule)
        }
        _ => format!("; most was lost because {}", it.rule),
    });
    let at = at.unwrap_or_default();
    let text = format!("the overall score is below the threshold{at}");
    let cause = most.and_then(|it| drift::cause(evidence.drift, it.baseline?));
    Some(Reason {
        baseline: most.and_then(|it| it.baseline),
        current: most.and_then(|it| it.current),
        expected: Some(format!("at least {}", fixed(threshold, 3))),
        got: Some(fixed(overall, 3)),
        cause,
        follows: lost_at(evidence.losses),
        ..Reason::new(ReasonKind::Threshold, text)
    })
}

/// Where points were lost, most first.
fn lost_at(losses: &[Loss]) -> Vec<Reason> {
    let mut losses: Vec<&Loss> = losses.iter().collect();
    losses.sort_by(|a, b| b.points.total_cmp(&a.points));
    let reasons = losses.into_iter().take(LOST_AT).map(|it| {
        let call = match (it.baseline, it.current, &it.tool) {
            (Some(number), _, Some(tool)) => format!(" at call {number}, {tool}"),
            (None, Some(number), Some(tool)) => format!(" at new call {number}, {tool}"),
            _ => format!(" because {}", it.rule),
        };
        let place = (it.path.as_ref()).map_or_else(String::new, |it| format!(", {it}"));
        let text = format!("{} lost{call}{place}", fixed(it.points, 3));
        Reason {
            baseline: it.baseline,
            current: it.current,
            expected: it.expected.clone(),
            got: it.got.clone(),
            ..Reason::new(ReasonKind::Threshold, text)
        }
    });
    reasons.collect()
}

/// A call with its number and tool, as reasons name it.
fn name_of(evidence: &Evidence<'_, '_>, baseline: usize, current: usize) -> String {
    let tool = evidence.calls.before(baseline).made.full_name();
    if baseline == current {
        format!("call {baseline}, {tool},")
    } else {
        format!("call {baseline} (now {current}), {tool},")
    }
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
    let name = name_of(evidence, pair.baseline, pair.current);
    let changed = |it: &&ParameterScore| it.loss > 0.0;
    let parameter =
        (pair.request.parameters.iter().filter(changed)).max_by(|a, b| a.loss.total_cmp(&b.loss));
    let cause = drift::cause(evidence.drift, pair.baseline);
    let at_pair = |kind: ReasonKind, text: String| Reason {
        baseline: Some(pair.baseline),
        current: Some(pair.current),
        cause: cause.clone(),
        ..Reason::new(kind, text)
    };
    let (difference, answer_change) = answer_change(evidence, pair);
    let (expected, got) =
        difference.map_or((None, None), |it| (it.expected.clone(), it.got.clone()));
    let mut reasons = Vec::new();
    if regression {
        let text = match evidence.failed_now(pair) {
            // A reason about an error begins with its message.
            Some(message) => format!("{name} {FAILED}{message}"),
            None => format!("{name} {ANSWERED_OTHERWISE}{answer_change}"),
        };
        reasons.push(Reason {
            expected: expected.clone(),
            got: got.clone(),
            ..at_pair(ReasonKind::ServerRegression, text)
        });
    }
    if other_effect {
        // The greater loss decides whether request or response is the cause.
        let by_request =
            parameter.filter(|it| it.loss > 0.0 && pair.request.similarity < SAME_QUESTION);
        let ((expected, got), text) = match (made_with, by_request) {
            (Some(it), _) => {
                let differences = pair.request.differences.iter();
                let more = also(differences.filter(|it| !it.worded).count() - 1);
                let text = format!(
                    "{name} changes something and was made with another value of arguments{}{more}",
                    it.path
                );
                ((it.was.clone(), it.now.clone()), text)
            }
            (None, Some(it)) => {
                let text = format!(
                    "{name} changes something and was called differently: argument {:?}",
                    it.name
                );
                let given = excerpt::of_both(given(call, it), given(current_call, it));
                (given, text)
            }
            (None, None) => {
                let text = format!("{name} {HAD_ANOTHER_RESULT}{answer_change}");
                ((expected, got), text)
            }
        };
        reasons.push(Reason {
            expected,
            got,
            ..at_pair(ReasonKind::EffectChange, text)
        });
    }
    reasons
}

/// How many more there are, in words.
fn also(more: usize) -> String {
    match more {
        0 => String::new(),
        _ => format!(", and of {more} more"),
    }
}

/// The difference that a reason quotes – the first that breaks something, else the first of those that cost most –, and the gravest change
/// of an answer in words.
fn answer_change<'p>(
    evidence: &Evidence<'_, '_>,
    pair: &'p Pair,
) -> (Option<&'p Difference>, String) {
    let response = &pair.response;
    let recorded = &evidence.calls.before(pair.baseline).made.outcome;
    if let Some(many) = generalised(recorded, response) {
        return (Some(many.example), many.sentence);
    }
    let differences = &response.differences;
    let most = || {
        let by_loss = |a: &&Difference, b: &&Difference| a.loss.total_cmp(&b.loss);
        differences.iter().rev().max_by(by_loss)
    };
    let broken: Vec<&Difference> = (differences.iter())
        .filter(|it| it.breaks.is_some())
        .collect();
    let difference = broken.first().copied().or_else(most);
    let sentence = match (broken.as_slice(), difference) {
        ([], None) => "it differs".to_owned(),
        ([], Some(it)) => format!("{} differs", place(&it.path)),
        ([only], _) => change(only),
        ([first, more @ ..], _) => {
            let others = several(
                more.len(),
                "more place of the answer differs",
                "more places of the answer differ",
            );
            format!("{}, and {others}", change(first))
        }
    };
    (difference, sentence)
}

fn change(difference: &Difference) -> String {
    let what = difference.breach().unwrap_or_default();
    // Without a place, what happened to the answer as a whole: "became an error", "no longer an error".
    match (difference.path.as_str(), &difference.edit) {
        ("", Edit::NoLongerError) => format!("it is {what}"),
        ("", _) => format!("it {what}"),
        (path, _) => format!("{path} {what}"),
    }
}

fn place(path: &str) -> &str {
    if path.is_empty() { "it" } else { path }
}

fn missing_effect(evidence: &Evidence<'_, '_>, number: usize) -> Reason {
    let call = evidence.calls.before(number);
    let name = call.made.full_name();
    let text = format!("call {number}, {name}, changes something and was not made");
    Reason {
        baseline: Some(number),
        expected: Some(asked(call.made)),
        cause: drift::cause(evidence.drift, number),
        ..Reason::new(ReasonKind::EffectChange, text)
    }
}

fn new_effect(evidence: &Evidence<'_, '_>, number: usize) -> Reason {
    let call = evidence.calls.now(number);
    let name = call.made.full_name();
    let text = format!("new call {number}, {name}, changes something and is not in the baseline");
    Reason {
        current: Some(number),
        got: Some(asked(call.said)),
        ..Reason::new(ReasonKind::EffectChange, text)
    }
}

fn slow(evidence: &Evidence<'_, '_>, slower: &SlowerCall) -> Reason {
    let name = name_of(evidence, slower.baseline, slower.current);
    Reason {
        baseline: Some(slower.baseline),
        current: Some(slower.current),
        expected: Some(format!("about {:.0} ms", slower.baseline_ms)),
        got: Some(format!("{:.0} ms", slower.current_ms)),
        ..Reason::new(ReasonKind::Slower, format!("{name} took much longer"))
    }
}
