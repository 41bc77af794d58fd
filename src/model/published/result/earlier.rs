//! What results of earlier programs say in sentences alone, as values. Nothing else reads those sentences.

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

#[cfg(test)]
mod tests {
    use super::why_not_run;
    use crate::status::{NotRun, Status};
    use crate::suite::Problem;

    #[test]
    fn sentences_of_earlier_programs_say_why_a_scenario_was_not_run() {
        let disabled = "the scenario is disabled (`enabled: false`)";
        let failed = "not started: an earlier scenario has not passed (`--fail-fast`)";
        for (status, why, expected) in [
            (Status::Skipped, disabled, Some(NotRun::Disabled)),
            (Status::Skipped, failed, Some(NotRun::FailFast)),
            (
                Status::Interrupted,
                "not started: interrupted before",
                Some(NotRun::Interrupted),
            ),
            (
                Status::Error,
                "not started: the budget is spent",
                Some(NotRun::Budget),
            ),
            (
                Status::Error,
                "missing: no result of part 2/2 has it",
                Some(NotRun::MissingPart),
            ),
            (
                Status::Skipped,
                "there is no image",
                Some(NotRun::Unavailable),
            ),
            (Status::Error, "there is no image", None),
            (Status::Passed, "there is no image", None),
        ] {
            let problem = Problem::new(why);
            assert_eq!(why_not_run(None, status, Some(&problem)), expected, "{why}");
        }
        let known = why_not_run(
            Some(NotRun::Unavailable),
            Status::Skipped,
            Some(&Problem::new(failed)),
        );
        assert_eq!(known, Some(NotRun::Unavailable));
        assert_eq!(why_not_run(None, Status::Skipped, None), None);
    }
}
