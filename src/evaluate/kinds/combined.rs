//! Several evaluators as one.

use crate::evaluate::finding::Finding;
use crate::model::evaluation::EvaluationStatus::{self, Error, Failed, Passed, Skipped};

/// An evaluator within, by its title, and what it found.
type Found = (String, Finding);

/// All pass. One that fails decides, whatever could not be judged.
pub(in crate::evaluate) fn all(found: &[Found]) -> Finding {
    let worst = first(found, &[Failed, Error, Skipped]);
    let score = scores(found).fold(1.0, f64::min);
    match worst {
        None => Finding::passed(format!("all {} pass", found.len())).scored(score),
        Some((Failed, why)) => Finding::failed(why).scored(score),
        Some((status, why)) => unjudged(status, why),
    }
    .with(reasons(found))
}

/// One passes. One that does decides, whatever could not be judged.
pub(in crate::evaluate) fn any(found: &[Found]) -> Finding {
    let score = scores(found).fold(0.0, f64::max);
    match first(found, &[Passed, Error, Skipped]) {
        None => Finding::failed(format!("none of {} passes", found.len())).scored(score),
        Some((Passed, why)) => Finding::passed(why).scored(score),
        Some((status, why)) => unjudged(status, why),
    }
    .with(reasons(found))
}

/// The one within fails. What cannot be judged is no failure.
pub(in crate::evaluate) fn not(found: &[Found]) -> Finding {
    let Some((title, inner)) = found.first() else {
        return Finding::error("there is nothing to turn round");
    };
    let score = 1.0 - inner.score.unwrap_or_default();
    let why = format!("{title}: {}", inner.message);
    match inner.status {
        Passed => Finding::failed(format!("passes, and should not: {why}")).scored(score),
        Failed => Finding::passed(format!("fails, as it should: {why}")).scored(score),
        status => unjudged(status, why),
    }
    .with(inner.details.clone())
}

fn unjudged(status: EvaluationStatus, why: String) -> Finding {
    match status {
        Skipped => Finding::skipped(why),
        _ => Finding::error(why),
    }
}

fn scores(found: &[Found]) -> impl Iterator<Item = f64> {
    found.iter().filter_map(|(_, it)| it.score)
}

/// The first status of these that one came out with, and why.
fn first(found: &[Found], statuses: &[EvaluationStatus]) -> Option<(EvaluationStatus, String)> {
    statuses.iter().find_map(|status| {
        let (title, it) = found.iter().find(|(_, it)| it.status == *status)?;
        Some((*status, format!("{title}: {}", it.message)))
    })
}

/// What each found, in a line.
fn reasons(found: &[Found]) -> impl Iterator<Item = String> {
    let found = found.iter();
    found.map(|(title, it)| format!("{}: {title}: {}", it.status.name(), it.message))
}
