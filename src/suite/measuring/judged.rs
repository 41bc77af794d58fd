//! A measurement that has come to something, with or without secrets: its figures, what they are held against, and the result of its scenario.

use std::collections::BTreeMap;

use super::task::Measuring;
use crate::discovery::baseline::Baseline;
use crate::discovery::gates::Demands;
use crate::discovery::ground::Ground;
use crate::discovery::retrieval::measure;
use crate::discovery::search::doubts;
use crate::model::{Check, CheckState, Problem, ScenarioResult, Status};
use crate::published::measured::retrieval::Report;
use crate::published::measured::{self, Measured, security};

/// A measurement that says what commits all of it comes from.
pub(super) fn stamped(mut judged: Measured, of: BTreeMap<String, String>) -> Measured {
    match &mut judged {
        Measured::Retrieval(report) => report.stamps = of,
        Measured::Security(report) => report.stamps = of,
    }
    judged
}

/// Adds a measurement to the result of its scenario: the document, the gates, and what there is to know.
pub(super) fn add(result: &mut ScenarioResult, judged: &Measured) {
    let (status, problems, notes, checks) = match judged {
        Measured::Retrieval(report) => (
            report.status,
            &report.problems,
            &report.notes,
            of_search(report),
        ),
        Measured::Security(report) => (
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
            details: details.map(str::to_owned).collect(),
            ..Problem::new(message)
        });
    }
    if status == measured::Status::NoGate {
        let hint = "give it `gates`, such as `recall_floor`, or record what it finds now";
        let problem = Problem::new("nothing is demanded of these figures");
        result.problem = Some(problem.hint(hint));
    }
    result.measured = Some(judged.clone());
}

/// Fails what would pass although something is not as it was.
pub(super) fn hold_strictly(result: &mut ScenarioResult, judged: &Measured) {
    if result.status != Status::Passed {
        return;
    }
    let is_same = judged.moved() == 0;
    let name = "every query gets what it got before (`--strict`)".to_owned();
    result
        .checks
        .push(check(name, is_same, || judged.moved_words()));
    if !is_same {
        result.status = Status::Failed;
    }
}

fn check(name: String, passed: bool, message: impl FnOnce() -> String) -> Check {
    let message = if passed { String::new() } else { message() };
    Check::new(name, CheckState::of(passed), message)
}

fn of_search(report: &Report) -> Vec<Check> {
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

/// What a search is held against.
#[derive(Default)]
pub(super) struct Held {
    /// What it is called.
    pub(super) name: String,
    pub(super) baseline: Option<Baseline>,
    pub(super) gates: Gates,
    /// Another search that was measured before, and what it got: reported besides.
    pub(super) beside: Option<(String, Baseline)>,
}

/// Which gates hold a search against something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Gates {
    /// What differs is reported, and no more.
    #[default]
    None,
    /// Queries may not be lost, where that is demanded.
    Lost,
    All,
}

/// Scores what a search has answered, and holds it against something; also its figures, for others to be held against.
///
/// # Errors
///
/// Why nothing can be scored, in sentences.
pub(super) fn scored(
    measuring: &Measuring,
    held: Option<&Held>,
    demands: &Demands,
) -> Result<(Report, Baseline), Vec<String>> {
    let asked = measuring.asked.lock();
    let Some(sets) = &measuring.sets else {
        return Err(vec!["there are no data sets".to_owned()]);
    };
    if !asked.problems.is_empty() {
        return Err(asked.problems.clone());
    }
    if !asked.is_done {
        return Err(vec!["not every query was asked".to_owned()]);
    }
    let ground = Ground {
        corpus: &sets.corpus,
        golden: &sets.golden,
        finds: sets.search.finds,
    };
    if let Some(problem) = ground.refuse_unmapped(&asked.runs) {
        return Err(vec![problem]);
    }
    if let Some(problem) = ground.refuse_silence(&asked.runs) {
        return Err(vec![problem]);
    }
    let mut found = measure(ground, &asked.runs, &asked.learned);
    let report = found.report();
    if let Some(further) = &report.further {
        report.notes.extend(ground.doubts(&asked.runs, further));
    }
    report.notes.extend(doubts(&sets.search, &asked.runs));
    report.notes.extend(asked.notes.iter().cloned());
    report.catalogue = asked.catalogue.clone();
    let figures = found.figures();
    if let Some(held) = held {
        match &held.baseline {
            Some(baseline) if held.gates == Gates::All => {
                found.judge(&held.name, baseline, demands);
            }
            Some(baseline) => {
                found.tell_difference(baseline);
                if !baseline.queries.is_empty() {
                    found.compare(&held.name, baseline);
                }
                if held.gates == Gates::Lost {
                    found.judge_lost(demands);
                }
            }
            // The search that was named first could not be measured.
            None if held.gates == Gates::Lost && demands.max_lost.is_some() => {
                let report = found.report();
                report.status = measured::Status::Incomplete;
                let problem = format!(
                    "lost queries cannot be determined: {} could not be measured",
                    held.name
                );
                report.problems.push(problem);
            }
            None => {}
        }
        if let Some((name, baseline)) = &held.beside {
            found.compare_beside(name, baseline);
        }
        found.hold_floor(demands);
        let gating = held.baseline.as_ref();
        found.refuse_idle(gating.filter(|_| held.gates == Gates::All), demands);
    }
    Ok((found.into_report(), figures))
}
