//! The outcome of a measurement, as the result of its scenario.

use super::judged::Judged;
use crate::model::measurement::MeasuredDocument;
use crate::model::suite::{Check, CheckState, Problem, ScenarioResult, Status};
use crate::published::measured::{self, Measured, retrieval, security};

/// Adds a measurement to the result of its scenario: the document, the gates, and what there is to know.
pub(super) fn add(result: &mut ScenarioResult, judged: &Judged) {
    let (status, problems, notes, checks) = match judged {
        Judged::Search(report) => (
            report.status,
            &report.problems,
            &report.notes,
            of_search(report),
        ),
        Judged::Scanners(report) => (
            report.status,
            &report.problems,
            &report.notes,
            of_scanners(report),
        ),
    };
    result.notes.extend(notes.iter().cloned());
    result.checks = checks;
    result.status = match status {
        measured::Status::Passed => Status::Passed,
        // What nothing is demanded of has passed nothing.
        measured::Status::NoGate => Status::Inconclusive,
        measured::Status::Failed => Status::Failed,
        measured::Status::Incomplete => Status::Error,
    };
    if let Some((first, rest)) = problems.split_first() {
        let mut lines = first.lines();
        let message = lines.next().unwrap_or_default().to_owned();
        let details = lines.chain(rest.iter().flat_map(|it| it.lines()));
        result.problem = Some(Problem {
            record: None,
            details: details.map(str::to_owned).collect(),
            ..Problem::new(message)
        });
    }
    if status == measured::Status::NoGate {
        let hint = "give it `gates`, such as `recall_floor`, or record what it finds now";
        let problem = Problem::new("nothing is demanded of these figures");
        result.problem = Some(problem.hint(hint));
    }
    result.measured = document(judged).map(Box::new);
}

/// Fails what would pass although something is not as it was.
pub(super) fn hold_strictly(result: &mut ScenarioResult, judged: &Judged) {
    if result.status != Status::Passed {
        return;
    }
    let measured = published(judged);
    let is_same = measured.moved() == 0;
    let name = "every query gets what it got before (`--strict`)".to_owned();
    result
        .checks
        .push(check(name, is_same, || measured.moved_words()));
    if !is_same {
        result.status = Status::Failed;
    }
}

fn published(judged: &Judged) -> Measured {
    match judged {
        Judged::Search(report) => Measured::Retrieval(report.clone()),
        Judged::Scanners(report) => Measured::Security(report.clone()),
    }
}

/// The document of a measurement, as a result holds it.
pub(super) fn document(judged: &Judged) -> Option<MeasuredDocument> {
    let document = serde_json::to_value(published(judged));
    Some(MeasuredDocument(document.ok()?))
}

fn check(name: String, passed: bool, message: impl FnOnce() -> String) -> Check {
    let message = if passed { String::new() } else { message() };
    Check::new(name, CheckState::of(passed), message)
}

fn of_search(report: &retrieval::Report) -> Vec<Check> {
    let gate = report.gate.iter().map(|it| {
        let [value, threshold] = it.shown();
        let name = format!(
            "Recall@5 is at most {} below the baseline: at least {threshold}",
            it.tolerance
        );
        check(name, it.passed, || format!("it is {value}"))
    });
    let floor = report.floor.iter().map(|it| {
        let name = format!("Recall@5 is at least {}", it.floor);
        check(name, it.passed, || format!("it is {}", it.shown()[0]))
    });
    // Of one that is not measured, the problems tell.
    let lost = report.lost_gate.iter().filter(|it| !it.not_measured);
    let lost = lost.map(|it| {
        let name = match it.max_lost {
            0 => "no query is lost".to_owned(),
            1 => "at most 1 query is lost".to_owned(),
            most => format!("at most {most} queries are lost"),
        };
        check(name, it.passed, || {
            format!("{} are: {}", it.lost.len(), it.lost.join(", "))
        })
    });
    gate.chain(floor).chain(lost).collect()
}

fn of_scanners(report: &security::Report) -> Vec<Check> {
    let gate = &report.security.gate;
    let checks = report.security.per_detector.iter().map(|it| {
        let name = format!(
            "{}: FPR at most {}, recall at least {}",
            it.detector, gate.fpr_ceiling, gate.recall_floor
        );
        check(name, it.gate, || {
            let [recall, fpr] = it.shown(gate);
            let mut why = vec![format!("FPR is {fpr}, recall {recall}")];
            why.extend(it.not_measured.iter().cloned());
            why.extend(Some(it.unfinished()).filter(|it| !it.is_empty()));
            why.join("; ")
        })
    });
    checks.collect()
}
