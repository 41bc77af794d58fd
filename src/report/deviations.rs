//! Deviations of a run from the expected calls, one line each: for people who are about to accept a recording.

use serde_json::Value;

use model::number::fixed;
use model::text::shorten;
use model::{Comparison, Pair, ParameterScore, Row, ToolCall, Trajectory};

/// How the calls of a run deviate from those that were expected: missing, extra, other arguments.
pub fn deviations(
    comparison: &Comparison,
    expected: &Trajectory,
    current: &Trajectory,
) -> Vec<String> {
    let name = |side: &Trajectory, number: usize| {
        let call = call_at(side, number);
        call.map_or_else(|| "?".to_owned(), |it| format!("`{}`", it.full_name()))
    };
    let mut lines = Vec::new();
    for row in &comparison.rows {
        match row {
            Row::Missing { baseline, .. } => {
                lines.push(format!(
                    "call {baseline} of {} was expected and not made",
                    name(expected, *baseline)
                ));
            }
            Row::Extra {
                current: number, ..
            } => {
                lines.push(format!(
                    "call {number} of {} was made and not expected",
                    name(current, *number)
                ));
            }
            Row::Pair(pair) => {
                let tool = name(current, pair.current);
                let calls = (
                    call_at(expected, pair.baseline),
                    call_at(current, pair.current),
                );
                lines.extend(arguments(pair, &tool, calls));
            }
        }
    }
    lines
}

fn call_at(side: &Trajectory, number: usize) -> Option<&ToolCall> {
    side.calls().nth(number.checked_sub(1)?)
}

fn arguments<'c>(
    pair: &Pair,
    tool: &str,
    (expected, current): (Option<&'c ToolCall>, Option<&'c ToolCall>),
) -> Vec<String> {
    let differing = pair
        .request
        .parameters
        .iter()
        .filter(|it| it.similarity.is_some_and(|it| it < 1.0));
    differing
        .map(|it| {
            let given = |call: Option<&'c ToolCall>| call?.arguments.get(&it.name);
            format!(
                "call {} of {tool}: argument `{}`: {}",
                pair.current,
                it.name,
                difference(it, given(expected), given(current))
            )
        })
        .collect()
}

fn difference(parameter: &ParameterScore, expected: Option<&Value>, got: Option<&Value>) -> String {
    match (expected, got) {
        (Some(expected), Some(got)) => {
            let similarity = parameter.similarity.unwrap_or_default();
            format!(
                "expected {}, got {} (similarity {}, {})",
                shown(expected),
                shown(got),
                fixed(similarity, 2),
                parameter.method
            )
        }
        (Some(expected), None) => format!("expected {}, got nothing", shown(expected)),
        (None, Some(got)) => format!("not expected, got {}", shown(got)),
        (None, None) => "differs".to_owned(),
    }
}

/// A value as JSON, cut to a length people read.
fn shown(value: &Value) -> String {
    shorten(&value.to_string(), 200).into_owned()
}
