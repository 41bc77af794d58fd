//! A comparison, published.

use serde_json::Value;

use model::points;
use model::points::finite;
use model::published::result;
use model::reason::Reason;
use model::{
    Change, Comparison, Drift, Labels, Loss, Outcome, Pair, ParameterScore, RequestScore,
    ResponseScore, Row, Text, ToolCall, Trajectory,
};

use super::upstream;
use super::upstream::{VALUE_DEPTH, outcome, shallow, shallow_object};

/// The longest text that is tried as JSON, in bytes.
const LONGEST_JSON: usize = 1_000_000;

pub(super) fn comparison(
    comparison: &Comparison,
    baseline: Option<&Trajectory>,
    current: Option<&Trajectory>,
    labels: &Labels,
) -> result::Comparison {
    let before: Vec<&ToolCall> = baseline.iter().flat_map(|it| it.calls()).collect();
    let now: Vec<&ToolCall> = current.iter().flat_map(|it| it.calls()).collect();
    // The label of the call that a row, a loss or a change names: the baseline's, where it has one.
    let label = |old: Option<usize>, new: Option<usize>| {
        let call = match (old, new) {
            (Some(number), _) => call_at(&before, number),
            (None, number) => call_at(&now, number?),
        };
        labels.of(call?)
    };
    let mut document = result::Comparison {
        passed: comparison.verdict.passed,
        scores: comparison.scores,
        band: comparison.band,
        advice: comparison.band.advice().to_owned(),
        baseline_status: comparison.baseline_status,
        current_status: comparison.current_status,
        improved: comparison.improved,
        variant: comparison.variant,
        reasons: comparison
            .verdict
            .reasons
            .iter()
            .map(with_sentence)
            .collect(),
        warnings: comparison
            .verdict
            .warnings
            .iter()
            .map(with_sentence)
            .collect(),
        rows: comparison
            .rows
            .iter()
            .map(|it| {
                let row = row(it, &before, &now);
                let number = |call: &Option<result::Call>| call.as_ref().map(|it| it.number);
                result::Row {
                    label: label(number(&row.baseline), number(&row.current)),
                    ..row
                }
            })
            .collect(),
        losses: comparison
            .losses
            .iter()
            .map(|it| Loss {
                points: points::plain(it.points),
                label: label(it.baseline, it.current),
                text: Text::of(&it.of),
                ..it.clone()
            })
            .collect(),
        drift: (comparison.drift.iter())
            .map(|it| Drift {
                text: Text::of(&it.of_tool()),
                ..it.clone()
            })
            .collect(),
        slower: comparison.slower.clone(),
        changes: (comparison.changes.iter())
            .map(|it| Change {
                label: label(it.baseline, it.current),
                text: Text::of(&it.what),
                ..it.clone()
            })
            .collect(),
        upstream: None,
    };
    if let Some(upstream) = &comparison.upstream {
        let lanes = [baseline, current].map(|side| side?.upstream.as_deref());
        let upstream = upstream::upstream(upstream, lanes);
        upstream::place(&mut document.rows, &upstream.rows);
        document.upstream = Some(upstream);
    }
    document
}

/// A reason with its sentence.
fn with_sentence(reason: &Reason) -> Reason {
    Reason {
        text: Text::of(&reason.sentence()),
        ..reason.clone()
    }
}

fn row(row: &Row, before: &[&ToolCall], now: &[&ToolCall]) -> result::Row {
    match row {
        Row::Pair(pair) => pair_row(pair, before, now),
        Row::Missing { baseline, effect } => {
            let made = call_at(before, *baseline);
            result::Row {
                kind: model::RowKind::Missing,
                baseline: Some(call(*baseline, made)),
                ..lonely(*effect, made)
            }
        }
        Row::Extra { current, effect } => {
            let made = call_at(now, *current);
            result::Row {
                kind: model::RowKind::Extra,
                current: Some(call(*current, made)),
                ..lonely(*effect, made)
            }
        }
    }
}

fn pair_row(pair: &Pair, before: &[&ToolCall], now: &[&ToolCall]) -> result::Row {
    let (left, right) = (call_at(before, pair.baseline), call_at(now, pair.current));
    result::Row {
        baseline: Some(call(pair.baseline, left)),
        current: Some(call(pair.current, right)),
        request: Some(request(&pair.request, left, right)),
        response: Some(result::ResponseComparison {
            identical: left.zip(right).map(|(a, b)| same(&a.outcome, &b.outcome)),
            ..response(&pair.response)
        }),
        call: pair.call,
        takes: Some(pair.takes),
        unseen: pair.unseen.clone(),
        bound: pair.bound.clone(),
        polled: pair.polled,
        ..row_of(pair.effect, right.or(left))
    }
}

/// The row of a call without a partner, its side to be filled in by the caller.
fn lonely(effect: bool, call: Option<&ToolCall>) -> result::Row {
    result::Row {
        arguments: call.map(|it| shallow_object(&it.arguments, VALUE_DEPTH)),
        ..row_of(effect, call)
    }
}

/// A row with the facts of one call, to be completed by the caller.
fn row_of(effect: bool, call: Option<&ToolCall>) -> result::Row {
    result::Row {
        server: call.and_then(|it| it.server.clone()),
        tool: call.map(|it| it.tool.clone()),
        effect,
        ..result::Row::default()
    }
}

fn call_at<'a>(calls: &[&'a ToolCall], number: usize) -> Option<&'a ToolCall> {
    calls.get(number.checked_sub(1)?).copied()
}

fn call(number: usize, call: Option<&ToolCall>) -> result::Call {
    let (outcome, error) = call.map(|it| outcome(&it.outcome)).unzip();
    result::Call {
        number,
        outcome,
        error: error.flatten(),
        duration_ms: call.and_then(|it| it.duration_ms).and_then(finite),
    }
}

/// Whether two outcomes are the same: texts to the letter, JSON by its values, also where it stands in a text.
fn same(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Outcome::Answer(left), Outcome::Answer(right)) => {
            left.is_error == right.is_error
                && left.structured_content == right.structured_content
                && left.content.len() == right.content.len()
                && (left.content.iter().zip(&right.content)).all(|(a, b)| same_block(a, b))
        }
        (Outcome::Failure(left), Outcome::Failure(right)) => left == right,
        (Outcome::Answer(_), Outcome::Failure(_)) | (Outcome::Failure(_), Outcome::Answer(_)) => {
            false
        }
    }
}

fn same_block(left: &Value, right: &Value) -> bool {
    let json = |block: &Value| {
        let text = block.get("text")?.as_str()?;
        let may_be = text.len() <= LONGEST_JSON && text.trim_start().starts_with(['{', '[']);
        may_be.then(|| serde_json::from_str::<Value>(text).ok())?
    };
    left == right || json(left).is_some_and(|it| json(right) == Some(it))
}

fn request(
    request: &RequestScore,
    baseline: Option<&ToolCall>,
    current: Option<&ToolCall>,
) -> result::RequestComparison {
    let equal: Vec<ParameterScore> = match current {
        Some(call) if request.parameters.is_empty() => equal_arguments(call),
        _ => Vec::new(),
    };
    result::RequestComparison {
        similarity: request.similarity,
        parameters: (request.parameters.iter().chain(&equal))
            .map(|it| parameter(it, baseline, current))
            .collect(),
    }
}

/// The arguments of a call that is equal to its partner, sorted by name.
fn equal_arguments(call: &ToolCall) -> Vec<ParameterScore> {
    let mut names: Vec<&String> = call.arguments.keys().collect();
    names.sort_unstable();
    let equal = |name: &String| ParameterScore {
        name: name.clone(),
        similarity: Some(1.0),
        method: "equal",
        loss: 0.0,
    };
    names.into_iter().map(equal).collect()
}

fn parameter(
    score: &ParameterScore,
    baseline: Option<&ToolCall>,
    current: Option<&ToolCall>,
) -> result::Parameter {
    let given = |call: Option<&ToolCall>| {
        let value = call?.arguments.get(&score.name)?;
        Some(shallow(value, VALUE_DEPTH))
    };
    result::Parameter {
        name: score.name.clone(),
        expected: given(baseline),
        got: given(current),
        similarity: score.similarity,
        method: score.method.to_owned(),
    }
}

fn response(response: &ResponseScore) -> result::ResponseComparison {
    result::ResponseComparison {
        similarity: response.similarity,
        identical: None,
        contract_changes: (response.differences.iter())
            .filter_map(|it| {
                Some(result::ContractChange {
                    what: it.breach()?,
                    path: it.path.clone(),
                })
            })
            .collect(),
        differences: (response.differences.iter())
            .map(|it| result::Difference {
                path: it.path.clone(),
                expected: it.expected.clone(),
                got: it.got.clone(),
                similarity: it.similarity,
                rule: it.rule(),
                loss: points::plain(it.loss),
            })
            .collect(),
    }
}
