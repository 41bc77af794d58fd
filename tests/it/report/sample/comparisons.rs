//! Comparisons and what they are made of.

use mcp_eval::model::reason::{Reason, ReasonKind, Why};
use mcp_eval::model::{
    Band, Bound, Check, CheckState, Comparison, ExecutionStatus, Loss, LossOf, Pair,
    ParameterScore, Polled, RequestScore, ResponseScore, Row, Scores, Source, Text, Verdict,
};
use serde_json::json;

use super::hostile::{ESCAPES, OVERRIDE, SCRIPT};

pub(crate) fn comparison(overall: f64, band: Band) -> Comparison {
    Comparison {
        scores: Scores {
            overall,
            trajectory: 0.59,
            calls: 0.21,
            status_factor: 0.8,
            count_penalty: 0.0,
            threshold: 0.8,
        },
        band,
        baseline_status: ExecutionStatus::Success,
        current_status: ExecutionStatus::Success,
        improved: false,
        rows: Vec::new(),
        losses: Vec::new(),
        drift: Vec::new(),
        changes: Vec::new(),
        slower: Vec::new(),
        verdict: Verdict {
            passed: false,
            reasons: Vec::new(),
            warnings: Vec::new(),
        },
        variant: 1,
        upstream: None,
    }
}

pub(crate) fn pair(
    baseline: usize,
    current: usize,
    effect: bool,
    request: RequestScore,
    response: ResponseScore,
    call: f64,
) -> Row {
    Row::Pair(Box::new(Pair {
        baseline,
        current,
        effect,
        request,
        response,
        call,
        bound: Vec::new(),
        polled: None,
        moved: false,
        takes: 1,
        unseen: Vec::new(),
    }))
}

/// The pair with an argument that comes from an earlier answer, as part of a poll.
pub(crate) fn bound(row: Row) -> Row {
    let Row::Pair(mut pair) = row else {
        return row;
    };
    pair.bound = vec![Bound {
        path: SCRIPT.to_owned(),
        from: Source {
            call: 1,
            path: ESCAPES.to_owned(),
        },
        baseline: json!(OVERRIDE),
        current: Some(json!(SCRIPT)),
    }];
    pair.polled = Some(Polled {
        baseline: 3,
        current: 1,
    });
    Row::Pair(pair)
}

pub(crate) fn request(similarity: f64, parameters: Vec<ParameterScore>) -> RequestScore {
    RequestScore {
        differences: Vec::new(),
        similarity,
        parameters,
    }
}

pub(crate) fn words_request() -> RequestScore {
    request(0.533, vec![scored("query", 0.333, "words")])
}

pub(crate) fn parameter(name: &str) -> ParameterScore {
    scored(name, 1.0, "equal")
}

pub(crate) fn scored(name: &str, similarity: f64, method: &'static str) -> ParameterScore {
    ParameterScore {
        name: name.to_owned(),
        similarity: Some(similarity),
        method,
        loss: 0.0,
    }
}

pub(crate) fn same_response() -> ResponseScore {
    ResponseScore::equal()
}

pub(crate) fn loss(points: f64, call: usize, path: &str, rule: &'static str) -> Loss {
    Loss {
        points,
        baseline: Some(call),
        current: Some(call),
        tool: Some("mcp__proxy__add_server".to_owned()),
        label: None,
        path: Some(path.to_owned()),
        expected: None,
        got: None,
        of: LossOf::Answer(rule.to_owned()),
        text: Text::default(),
    }
}

pub(crate) fn reason(
    kind: ReasonKind,
    baseline: Option<usize>,
    current: Option<usize>,
    why: Why,
) -> Reason {
    Reason {
        baseline,
        current,
        ..Reason::new(kind, why)
    }
}

pub(crate) fn check(name: &str, passed: bool, message: &str) -> Check {
    Check {
        asks_for_more: true,
        ..Check::new(name, CheckState::of(passed), message)
    }
}
