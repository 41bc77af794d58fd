//! A comparison, published.

use serde_json::{Map, Value};

use crate::model::comparison::{
    Band, Bound, Change, ChangeKind, Comparison, ExecutionStatus, Pair, ParameterScore, Reason,
    ReasonKind, RequestScore, ResponseScore, Row, Scores,
};
use crate::model::points;
use crate::model::points::finite;
use crate::model::trajectory::{Outcome, ToolCall, Trajectory};
use crate::published::call::{CallStatus, Source};
use crate::published::result::{
    BandV1, BoundV1, CallV1, ChangeKindV1, ChangeV1, ComparisonV1, ContractChangeV1, DifferenceV1,
    DriftV1, ExecutionStatusV1, LossV1, ParameterV1, PolledV1, ReasonKindV1, ReasonV1, RequestV1,
    ResponseV1, RowKindV1, RowV1, ScoresV1, SlowerV1,
};
use crate::text::shorten;

/// The longest failure text kept in the document; the trajectory holds the whole.
const ERROR_CHARS: usize = 500;

/// The longest text that is tried as JSON, in bytes.
const LONGEST_JSON: usize = 1_000_000;

/// How deep a value may be nested in the document. JSON readers commonly stop at 128 levels, the document's own
/// levels included; what lies deeper is replaced by a remark, so that one odd argument cannot make the whole
/// document unreadable. The trajectory holds the whole.
const VALUE_DEPTH: usize = 64;

pub(super) fn comparison(
    comparison: &Comparison,
    baseline: Option<&Trajectory>,
    current: Option<&Trajectory>,
) -> ComparisonV1 {
    let before: Vec<&ToolCall> = baseline.iter().flat_map(|it| it.calls()).collect();
    let now: Vec<&ToolCall> = current.iter().flat_map(|it| it.calls()).collect();
    ComparisonV1 {
        passed: comparison.verdict.passed,
        scores: scores(comparison.scores),
        band: band(comparison.band),
        advice: comparison.band.advice().to_owned(),
        baseline_status: execution_status(comparison.baseline_status),
        current_status: execution_status(comparison.current_status),
        improved: comparison.improved,
        variant: comparison.variant,
        reasons: comparison.verdict.reasons.iter().map(reason).collect(),
        warnings: comparison.verdict.warnings.iter().map(reason).collect(),
        rows: comparison
            .rows
            .iter()
            .map(|it| row(it, &before, &now))
            .collect(),
        losses: comparison
            .losses
            .iter()
            .map(|it| LossV1 {
                points: points::plain(it.points),
                baseline: it.baseline,
                current: it.current,
                tool: it.tool.clone(),
                path: it.path.clone(),
                expected: it.expected.clone(),
                got: it.got.clone(),
                rule: it.rule.to_string(),
            })
            .collect(),
        drift: comparison
            .drift
            .iter()
            .map(|it| DriftV1 {
                server: it.server.clone(),
                tool: it.tool.clone(),
                what: it.what.clone(),
                breaking: it.breaking,
                used: it.used,
                refused: it.refused.clone(),
                path: it.path.clone(),
                was: it.was.clone(),
                now: it.now.clone(),
            })
            .collect(),
        slower: comparison
            .slower
            .iter()
            .map(|it| SlowerV1 {
                baseline: it.baseline,
                current: it.current,
                baseline_ms: finite(it.baseline_ms),
                current_ms: finite(it.current_ms),
            })
            .collect(),
        changes: comparison.changes.iter().map(change).collect(),
    }
}

fn scores(scores: Scores) -> ScoresV1 {
    ScoresV1 {
        overall: scores.overall,
        trajectory: scores.trajectory,
        calls: scores.calls,
        status_factor: scores.status_factor,
        count_penalty: scores.count_penalty,
        threshold: scores.threshold,
    }
}

fn row(row: &Row, before: &[&ToolCall], now: &[&ToolCall]) -> RowV1 {
    match row {
        Row::Pair(pair) => pair_row(pair, before, now),
        Row::Missing { baseline, effect } => {
            let made = call_at(before, *baseline);
            RowV1 {
                kind: RowKindV1::Missing,
                baseline: Some(call(*baseline, made)),
                ..lonely(*effect, made)
            }
        }
        Row::Extra { current, effect } => {
            let made = call_at(now, *current);
            RowV1 {
                kind: RowKindV1::Extra,
                current: Some(call(*current, made)),
                ..lonely(*effect, made)
            }
        }
    }
}

fn pair_row(pair: &Pair, before: &[&ToolCall], now: &[&ToolCall]) -> RowV1 {
    let (left, right) = (call_at(before, pair.baseline), call_at(now, pair.current));
    RowV1 {
        baseline: Some(call(pair.baseline, left)),
        current: Some(call(pair.current, right)),
        request: Some(request(&pair.request, left, right)),
        response: Some(ResponseV1 {
            identical: left.zip(right).map(|(a, b)| same(&a.outcome, &b.outcome)),
            ..response(&pair.response)
        }),
        call: pair.call,
        takes: Some(pair.takes),
        unseen: pair.unseen.clone(),
        bound: pair.bound.iter().map(bound).collect(),
        polled: pair.polled.map(|it| PolledV1 {
            baseline: it.baseline,
            current: it.current,
        }),
        ..row_of(pair.effect, right.or(left))
    }
}

/// The row of a call without a partner, its side to be filled in by the caller.
fn lonely(effect: bool, call: Option<&ToolCall>) -> RowV1 {
    RowV1 {
        arguments: call.map(|it| shallow_object(&it.arguments, VALUE_DEPTH)),
        ..row_of(effect, call)
    }
}

/// A row with what one call tells of itself, to be completed by the caller.
fn row_of(effect: bool, call: Option<&ToolCall>) -> RowV1 {
    RowV1 {
        kind: RowKindV1::Pair,
        server: call.and_then(|it| it.server.clone()),
        tool: call.map(|it| it.tool.clone()),
        effect,
        baseline: None,
        current: None,
        arguments: None,
        request: None,
        response: None,
        call: 0.0,
        bound: Vec::new(),
        polled: None,
        takes: None,
        unseen: Vec::new(),
    }
}

fn call_at<'a>(calls: &[&'a ToolCall], number: usize) -> Option<&'a ToolCall> {
    calls.get(number.checked_sub(1)?).copied()
}

fn call(number: usize, call: Option<&ToolCall>) -> CallV1 {
    let (outcome, error) = call.map(|it| outcome(&it.outcome)).unzip();
    CallV1 {
        number,
        outcome,
        error: error.flatten(),
        duration_ms: call.and_then(|it| it.duration_ms).and_then(finite),
    }
}

/// Whether two outcomes say the same to whoever reads them: texts to the letter, JSON by its values, wherever it stands.
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

fn outcome(outcome: &Outcome) -> (CallStatus, Option<String>) {
    let error = match outcome {
        Outcome::Answer(answer) if answer.is_error => Some(answer.text()),
        Outcome::Answer(answer) => answer.breach.clone(),
        Outcome::Failure(failure) => Some(failure.message.clone()),
    };
    let error = error.map(|it| shorten(&it, ERROR_CHARS).into_owned());
    (outcome.into(), error)
}

fn request(
    request: &RequestScore,
    baseline: Option<&ToolCall>,
    current: Option<&ToolCall>,
) -> RequestV1 {
    let equal: Vec<ParameterScore> = match current {
        Some(call) if request.parameters.is_empty() => equal_arguments(call),
        _ => Vec::new(),
    };
    RequestV1 {
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
) -> ParameterV1 {
    let given = |call: Option<&ToolCall>| {
        let value = call?.arguments.get(&score.name)?;
        Some(shallow(value, VALUE_DEPTH))
    };
    ParameterV1 {
        name: score.name.clone(),
        expected: given(baseline),
        got: given(current),
        similarity: score.similarity,
        method: score.method.to_owned(),
    }
}

/// The value down to a depth, and a remark in place of what lies deeper.
fn shallow(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => "(nested too deep to show)".into(),
        Value::Array(items) => items.iter().map(|it| shallow(it, depth - 1)).collect(),
        Value::Object(members) => Value::Object(shallow_object(members, depth - 1)),
        leaf => leaf.clone(),
    }
}

fn shallow_object(members: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    members
        .iter()
        .map(|(key, value)| (key.clone(), shallow(value, depth)))
        .collect()
}

fn response(response: &ResponseScore) -> ResponseV1 {
    ResponseV1 {
        similarity: response.similarity,
        identical: None,
        contract_changes: response
            .contract_changes
            .iter()
            .map(|it| ContractChangeV1 {
                path: it.path.clone(),
                what: it.what.clone(),
            })
            .collect(),
        differences: response
            .differences
            .iter()
            .map(|it| DifferenceV1 {
                path: it.path.clone(),
                expected: it.expected.clone(),
                got: it.got.clone(),
                similarity: it.similarity,
                rule: it.rule.to_string(),
                loss: points::plain(it.loss),
            })
            .collect(),
    }
}

fn bound(bound: &Bound) -> BoundV1 {
    BoundV1 {
        path: bound.path.clone(),
        from: Source {
            call: bound.from.call,
            path: bound.from.path.clone(),
        },
        expected: bound.baseline.clone(),
        got: bound.current.clone(),
    }
}

fn reason(reason: &Reason) -> ReasonV1 {
    ReasonV1 {
        kind: match reason.kind {
            ReasonKind::Threshold => ReasonKindV1::Threshold,
            ReasonKind::ServerRegression => ReasonKindV1::ServerRegression,
            ReasonKind::EffectChange => ReasonKindV1::EffectChange,
            ReasonKind::Drift => ReasonKindV1::Drift,
            ReasonKind::Slower => ReasonKindV1::Slower,
            ReasonKind::Tokens => ReasonKindV1::Tokens,
            ReasonKind::Match => ReasonKindV1::Match,
            ReasonKind::Expectation => ReasonKindV1::Expectation,
            ReasonKind::Strict => ReasonKindV1::Strict,
        },
        baseline: reason.baseline,
        current: reason.current,
        text: reason.text.clone(),
        expected: reason.expected.clone(),
        got: reason.got.clone(),
        cause: reason.cause.clone(),
        follows: reason.follows.iter().map(self::reason).collect(),
    }
}

fn change(change: &Change) -> ChangeV1 {
    ChangeV1 {
        kind: match change.kind {
            ChangeKind::Call => ChangeKindV1::Call,
            ChangeKind::Request => ChangeKindV1::Request,
            ChangeKind::Effect => ChangeKindV1::Effect,
            ChangeKind::Answer => ChangeKindV1::Answer,
            ChangeKind::Addition => ChangeKindV1::Addition,
            ChangeKind::Error => ChangeKindV1::Error,
            ChangeKind::Drift => ChangeKindV1::Drift,
            ChangeKind::Slower => ChangeKindV1::Slower,
            ChangeKind::Tokens => ChangeKindV1::Tokens,
        },
        baseline: change.baseline,
        current: change.current,
        tool: change.tool.clone(),
        path: change.path.clone(),
        what: change.what.clone(),
        was: change.was.clone(),
        now: change.now.clone(),
        fails: change.fails,
    }
}

fn band(band: Band) -> BandV1 {
    match band {
        Band::Good => BandV1::Good,
        Band::Acceptable => BandV1::Acceptable,
        Band::Degraded => BandV1::Degraded,
        Band::Broken => BandV1::Broken,
    }
}

fn execution_status(status: ExecutionStatus) -> ExecutionStatusV1 {
    match status {
        ExecutionStatus::Success => ExecutionStatusV1::Success,
        ExecutionStatus::Partial => ExecutionStatusV1::Partial,
        ExecutionStatus::Failed => ExecutionStatusV1::Failed,
        ExecutionStatus::Blocked => ExecutionStatusV1::Blocked,
    }
}
