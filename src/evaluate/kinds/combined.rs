//! Several evaluators as one.

use crate::evaluate::finding::Finding;
use crate::model::EvaluationStatus::{self, Error, Failed, Passed, Skipped};

/// An evaluator within, by its title, and what it found.
type Found = (String, Finding);

/// Behind this, a text says what was asked for.
const WANTED: &str = ", and it should";

/// All pass. One that fails decides, whatever could not be judged.
pub(in crate::evaluate) fn all(found: &[Found]) -> Finding {
    let worst = first(found, &[Failed, Error, Skipped]);
    let score = scores(found).fold(1.0, f64::min);
    match worst {
        None => Finding::passed(format!("all {} pass", found.len())).scored(score),
        Some((Failed, why)) => {
            let mut failed = found.iter().filter(|(_, it)| it.status == Failed);
            let leaves_open = failed.all(|(_, it)| it.leaves_open);
            Finding::failed(why).scored(score).leaving_open(leaves_open)
        }
        Some((status, why)) => unjudged(status, why).gone_with(found),
    }
    .with(reasons(found))
}

/// One passes. One that does decides, whatever could not be judged; without one, those decide that could be judged.
pub(in crate::evaluate) fn any(found: &[Found]) -> Finding {
    let score = scores(found).fold(0.0, f64::max);
    match first(found, &[Passed, Error, Failed, Skipped]) {
        None => Finding::error("there is nothing to choose from"),
        Some((Failed, _)) if let Some((title, gone)) = found.iter().find(|(_, it)| it.is_gone) => {
            Finding::gone(format!("{title}: {}", gone.message))
        }
        Some((Failed, _)) => {
            let judged = found.iter().filter(|(_, it)| it.status == Failed).count();
            let open = |it: &Finding| it.status == Skipped || it.leaves_open;
            let leaves_open = found.iter().any(|(_, it)| open(it));
            let what = match found.len() - judged {
                0 => format!("none of {judged} passes"),
                _ => format!("none passes of the {judged} that could be judged"),
            };
            Finding::failed(what)
                .scored(score)
                .leaving_open(leaves_open)
        }
        Some((Passed, why)) => Finding::passed(why).scored(score),
        Some((status, why)) => unjudged(status, why).gone_with(found),
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
        Failed if inner.leaves_open => {
            Finding::skipped(format!("not all within could be judged: {why}"))
        }
        Failed => {
            // What the one within asks for is not what is asked for.
            let found = why.rsplit_once(WANTED).map_or(why.as_str(), |it| it.0);
            Finding::passed(format!("fails, as it should: {found}")).scored(score)
        }
        status => unjudged(status, why).gone_with(found),
    }
    .with(inner.details.clone())
}

impl Finding {
    /// The same, and not there any more where one within is not.
    fn gone_with(self, found: &[Found]) -> Self {
        Self {
            is_gone: self.status == Skipped && found.iter().any(|(_, it)| it.is_gone),
            ..self
        }
    }
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
