//! What results of earlier programs say in sentences alone, as values. Nothing else knows those sentences.

use crate::status::{NotRun, Status};
use crate::suite::Problem;

/// Why a scenario was not run, as the result says it, or as its sentence does.
pub fn why_not_run(
    known: Option<NotRun>,
    status: Status,
    problem: Option<&Problem>,
) -> Option<NotRun> {
    known.or_else(|| not_run(status, &problem?.message))
}

/// The same of the sentence alone.
pub fn not_run(status: Status, why: &str) -> Option<NotRun> {
    if why == "the scenario is disabled (`enabled: false`)" {
        return Some(NotRun::Disabled);
    }
    if why.starts_with("missing: ") {
        return Some(NotRun::MissingPart);
    }
    match (why.strip_prefix("not started: "), status) {
        (Some(_), Status::Skipped) => Some(NotRun::FailFast),
        (Some(_), Status::Interrupted) => Some(NotRun::Interrupted),
        (Some(_), _) => Some(NotRun::Budget),
        (None, Status::Skipped) => Some(NotRun::Unavailable),
        (None, _) => None,
    }
}

/// Whether nothing had changed, by the sentence on who changed.
pub(super) fn is_unchanged(in_words: &str) -> bool {
    in_words.starts_with("Unchanged: ")
}
