//! Passed or not, and why: one reason for each condition that failed.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::catalogue::drift::{self, Finding};
use crate::pairing::call::{Call, asked};
use crate::text::excerpt;
use crate::upstream::finding::Standing;
use model::number::fixed;
use model::reason::{Answered, Reason, ReasonKind, Why};
use model::rules::Gate;
use model::{Difference, Loss, Pair, ParameterScore, Row, SlowerCall, Verdict};

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
    let below = below_threshold(evidence);
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
    if evidence.score_only {
        warnings.extend(reasons);
        warnings.extend(refusing.into_iter().map(drifted));
        reasons = Vec::new();
    } else {
        reasons = in_order(evidence, reasons, &refusing);
    }
    // The places of lost points are left out where what failed names them.
    reasons.extend(below.map(|it| if reasons.is_empty() { it } else { alone(it) }));
    Verdict {
        passed: reasons.is_empty(),
        reasons,
        warnings,
    }
}

/// First the changes of the catalogue that refuse recorded calls, what is gone before the rest; then what each call failed for, once; then
/// what concerns no call.
fn in_order(
    evidence: &Evidence<'_, '_>,
    reasons: Vec<Reason>,
    refusing: &[&Finding],
) -> Vec<Reason> {
    let (mut of_calls, others): (Vec<Reason>, Vec<Reason>) = once_each(evidence, reasons)
        .into_iter()
        .partition(|it| it.kind.is_of_call());
    for it in &mut of_calls {
        evidence.upstream.explain(it);
    }
    let refused = refusing.iter().flat_map(|it| &it.drift.refused).copied();
    let mut known: HashSet<usize> = of_calls.iter().filter_map(|it| it.baseline).collect();
    known.extend(refused);
    let known_now: HashSet<usize> = of_calls.iter().filter_map(|it| it.current).collect();
    let is_known = |it: &Reason| {
        it.baseline.is_some_and(|it| known.contains(&it))
            || it.current.is_some_and(|it| known_now.contains(&it))
    };
    let upstream = evidence.upstream.reasons();
    let upstream = upstream.filter(|(standing, it)| *standing != Standing::Part || is_known(it));
    let (before, behind): (Vec<_>, Vec<_>) =
        upstream.partition(|(standing, _)| *standing == Standing::Cause);
    of_calls.extend(before.into_iter().map(|it| it.1));
    of_calls.sort_by_key(|it| {
        let is_of_call = it.kind != ReasonKind::Upstream;
        (it.baseline.is_none(), it.baseline, it.current, is_of_call)
    });
    let mut drift: Vec<&&Finding> = refusing.iter().collect();
    drift.sort_by_key(|it| !it.drift.what.is_gone());
    let drift = drift.into_iter().map(|it| drifted(it));
    let behind = behind.into_iter().map(|it| it.1);
    (drift.chain(of_calls).chain(behind).chain(others)).collect()
}

/// Of several conditions that one pair of calls fails, keeps the one that explains the others: the request if it differs, else the answer.
fn once_each(evidence: &Evidence<'_, '_>, reasons: Vec<Reason>) -> Vec<Reason> {
    let mut of_pair: HashMap<(usize, usize), usize> = HashMap::new();
    let mut kept: Vec<Reason> = Vec::new();
    for it in reasons {
        let pair = it.baseline.zip(it.current);
        let pair = pair.filter(|_| it.kind.is_of_call());
        let Some(pair) = pair else {
            kept.push(it);
            continue;
        };
        let Some(at) = of_pair.get(&pair).copied() else {
            of_pair.insert(pair, kept.len());
            kept.push(it);
            continue;
        };
        let mut rows = evidence.rows.iter().filter_map(Row::pair);
        let asked_otherwise =
            rows.any(|row| (row.baseline, row.current) == pair && !evidence.calls.equal_pair(row));
        let tells = if asked_otherwise {
            ReasonKind::EffectChange
        } else {
            ReasonKind::ServerRegression
        };
        if kept[at].kind != tells && it.kind == tells {
            kept[at] = it;
        }
    }
    kept
}

/// That the score is too low, without where most was lost.
fn alone(below: Reason) -> Reason {
    Reason {
        baseline: None,
        current: None,
        tool: None,
        cause: None,
        why: Why::BelowThreshold(None),
        ..below
    }
}

/// A change of the catalogue as a reason of its own.
fn drifted(finding: &Finding) -> Reason {
    let has_values = !finding.drift.what.is_gone();
    Reason {
        expected: finding.drift.was.clone().filter(|_| has_values),
        got: finding.drift.now.clone().filter(|_| has_values),
        // The sentence has a call's number only if it concerns a single call.
        baseline: match finding.drift.refused[..] {
            [only] => Some(only),
            _ => None,
        },
        ..Reason::new(ReasonKind::Drift, Why::Drifted(finding.drift.of_tool()))
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
    let why = Why::AcceptsLess {
        places: harmless.len(),
        tools: tools.len(),
        first: harmless[0].drift.of_tool(),
    };
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
        ..Reason::new(
            ReasonKind::Threshold,
            Why::BelowThreshold(most.map(Loss::rule)),
        )
    })
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
