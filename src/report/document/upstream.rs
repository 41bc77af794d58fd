//! Calls to the servers behind the one under test, published.

use model::points::finite;
use model::published::result;
use model::text::shorten;
use model::{CallStatus, Outcome, UpstreamCall, UpstreamLane};
use serde_json::{Map, Value};

/// The lane of each side, as far as it is at hand.
pub(super) type Lanes<'a> = [Option<&'a UpstreamLane>; 2];

/// The rows with what the lanes tell of their calls.
pub(super) fn upstream(comparison: &model::Upstream, lanes: Lanes<'_>) -> model::Upstream {
    model::Upstream {
        rows: comparison.rows.iter().map(|it| row(it, lanes)).collect(),
        headers: comparison.headers.clone(),
    }
}

/// Tells each row of the agent's calls which rows are about calls behind it: the run's call says where one stands, or the baseline's
/// where the run has none.
pub(super) fn place(rows: &mut [result::Row], behind: &[model::UpstreamRow]) {
    let number = |call: &Option<result::Call>| call.as_ref().map(|it| it.number);
    let of_current = result::Causes::new(rows, |it| number(&it.current));
    let of_baseline = result::Causes::new(rows, |it| number(&it.baseline));
    for (place, it) in (1..).zip(behind) {
        let home = match (&it.baseline, &it.current) {
            (_, Some(now)) => now.cause.and_then(|it| of_current.row(it)),
            (Some(before), None) => before.cause.and_then(|it| of_baseline.row(it)),
            (None, None) => None,
        };
        if let Some(row) = home.and_then(|it| rows.get_mut(it)) {
            row.behind.push(place);
        }
    }
}

fn row(row: &model::UpstreamRow, [old, new]: Lanes<'_>) -> model::UpstreamRow {
    let (before, now) = row.calls();
    let (before, now) = (call_at(old, before), call_at(new, now));
    let made = now.or(before);
    let lonely = made.filter(|_| row.kind != model::RowKind::Pair);
    let call =
        |call: &Option<result::UpstreamCall>, made| Some(call_of(call.as_ref()?.number, made));
    model::UpstreamRow {
        server: made.and_then(|it| it.call.server.clone()),
        tool: made.map(|it| it.call.tool.clone()),
        baseline: call(&row.baseline, before),
        current: call(&row.current, now),
        arguments: lonely.map(|it| shallow_object(&it.call.arguments, VALUE_DEPTH)),
        ..row.clone()
    }
}

fn call_at(lane: Option<&UpstreamLane>, number: Option<usize>) -> Option<&UpstreamCall> {
    lane?.calls.get(number?.checked_sub(1)?)
}

fn call_of(number: usize, made: Option<&UpstreamCall>) -> result::UpstreamCall {
    let (outcome, error) = made.map(|it| outcome(&it.call.outcome)).unzip();
    result::UpstreamCall {
        number,
        cause: made.and_then(|it| it.cause),
        outcome,
        error: error.flatten(),
        duration_ms: made.and_then(|it| it.call.duration_ms).and_then(finite),
    }
}

/// The longest failure text kept in the document; the trajectory holds the whole.
const ERROR_CHARS: usize = 500;

/// How deep a value may be nested in the document. JSON readers commonly stop at 128 levels, the document's own
/// levels included; what lies deeper is replaced by a remark, so that one deeply nested argument does not make
/// the whole document unreadable. The trajectory holds the whole.
pub(super) const VALUE_DEPTH: usize = 64;

pub(super) fn outcome(outcome: &Outcome) -> (CallStatus, Option<String>) {
    let error = match outcome {
        Outcome::Answer(answer) if answer.is_error => Some(answer.text()),
        Outcome::Answer(answer) => answer.breach.clone(),
        Outcome::Failure(failure) => Some(failure.message.clone()),
    };
    let error = error.map(|it| shorten(&it, ERROR_CHARS).into_owned());
    (outcome.into(), error)
}

/// The value down to a depth, and a remark in place of what lies deeper.
pub(super) fn shallow(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => "(nested too deep to show)".into(),
        Value::Array(items) => items.iter().map(|it| shallow(it, depth - 1)).collect(),
        Value::Object(members) => Value::Object(shallow_object(members, depth - 1)),
        leaf => leaf.clone(),
    }
}

pub(super) fn shallow_object(members: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    members
        .iter()
        .map(|(key, value)| (key.clone(), shallow(value, depth)))
        .collect()
}
