//! Losses: the points between 1 and the overall score, by what took them; they add up to the difference.

use crate::pairing::call::{Call, asked};
use crate::pairing::calls::Calls;
use crate::text::excerpt;
use crate::values::number::count;
use model::{Loss, LossOf, Pair, Row, Scores};

/// Points below this are rounding, not losses.
const NOTHING: f64 = 1e-12;

/// One loss for each argument, response path, call without a partner, and factor that took points.
///
/// `counted` is the number of calls the mean is taken over; `free` says which rows cost nothing. A missing and an extra
/// call may share one place among the counted calls, so all calls without a partner share what the pairs leave.
pub(crate) fn losses(
    calls: &Calls<'_>,
    rows: &[Row],
    scores: &Scores,
    counted: usize,
    free: impl Fn(&Row) -> bool,
) -> Vec<Loss> {
    let each = 1.0 / count(counted.max(1));
    let charged = || rows.iter().filter(|it| !free(it));
    let pairs = charged().filter(|it| matches!(it, Row::Pair(_))).count();
    let alone = charged().count() - pairs;
    let each_alone = each * count(counted.saturating_sub(pairs)) / count(alone.max(1));
    let mut losses = Vec::new();
    for row in charged() {
        match row {
            Row::Pair(pair) => of_pair(calls, pair, each, &mut losses),
            Row::Missing { .. } | Row::Extra { .. } => {
                losses.push(whole_row(calls, row, each_alone));
            }
        }
    }
    let by_status = scores.calls * (1.0 - scores.status_factor);
    losses.push(loss(by_status, LossOf::Ending { expected: false }));
    let left = scores.calls * scores.status_factor;
    let by_count = scores.count_penalty.min(left);
    losses.push(loss(by_count, LossOf::Count));
    losses.retain(|it| it.points > NOTHING);
    losses
}

/// Points lost for all that a row stands for.
pub(crate) fn whole_row(calls: &Calls<'_>, row: &Row, points: f64) -> Loss {
    let (baseline, current) = row.calls();
    let of = match row {
        Row::Pair(_) => LossOf::Unequal,
        Row::Missing { .. } => LossOf::Missing { expected: false },
        Row::Extra { .. } => LossOf::Extra { expected: false },
    };
    let expected = baseline.map(|it| calls.before(it));
    let got = current.map(|it| calls.now(it));
    Loss {
        baseline,
        current,
        tool: expected.or(got).map(|it| it.made.full_name()),
        expected: expected.map(|it| asked(it.made)),
        got: got.map(|it| asked(it.said)),
        ..loss(points, of)
    }
}

/// Points lost for a rule that concerns no place.
pub(crate) fn loss(points: f64, of: LossOf) -> Loss {
    Loss {
        points,
        of,
        ..Loss::default()
    }
}

/// What the request lost, and what the response did: `1 - call = (1 - a') + a' × a × (1 - o)`, where `a'` is read off
/// the score of the call, whichever rule it came by.
fn of_pair<'a>(calls: &Calls<'a>, pair: &Pair, each: f64, losses: &mut Vec<Loss>) {
    let (request, response) = (pair.request.similarity, pair.response.similarity);
    if request >= 1.0 && pair.response.differences.is_empty() {
        return;
    }
    let kept = 1.0 - request * (1.0 - response);
    let asked = if kept > 0.0 {
        pair.call / kept
    } else {
        request
    };
    let (b, c) = (calls.before(pair.baseline), calls.now(pair.current));
    let here = |points: f64, path: String, of: LossOf| Loss {
        baseline: Some(pair.baseline),
        current: Some(pair.current),
        tool: Some(b.made.full_name()),
        path: Some(path),
        ..loss(points, of)
    };
    if pair.moved {
        losses.push(Loss {
            path: None,
            ..here(each * (1.0 - asked), String::new(), LossOf::Moved)
        });
    } else if request < 1.0 {
        let scale = each * (1.0 - asked) / (1.0 - request);
        for it in pair.request.parameters.iter().filter(|it| it.loss > 0.0) {
            let given = |call: &Call<'a>| call.said.arguments.get(&it.name);
            let (expected, got) = excerpt::of_both(given(b), given(c));
            losses.push(Loss {
                expected,
                got,
                ..here(
                    scale * it.loss,
                    format!("arguments/{}", it.name),
                    LossOf::Argument(it.method.to_owned()),
                )
            });
        }
    }
    let scale = each * asked * request;
    for it in &pair.response.differences {
        losses.push(Loss {
            expected: it.expected.clone(),
            got: it.got.clone(),
            ..here(
                scale * it.loss,
                format!("response{}", it.path),
                LossOf::Answer(it.rule()),
            )
        });
    }
}
