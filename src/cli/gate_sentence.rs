//! The gate of a result, and the sentence that says what it comes to.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::exit::Exit;
use super::gates;
use super::without_scenarios;
use crate::published::result::{Gate, GateState, ResultDocument, Scenario};
use crate::text::{plural, several};

/// Says in a document that is otherwise complete what its gate says. That everything passed is not all there is to say where something
/// changed, or is missing.
pub(super) fn set(
    result: &mut ResultDocument,
    exit: Exit,
    threshold: Option<f64>,
    (strict_statistics, strict): (bool, bool),
) {
    let mut gate = Gate {
        strict_statistics,
        strict,
        ..without_scenarios::gate(exit, threshold)
    };
    let summary = result.summary;
    if exit == Exit::Passed && result.command == "record" {
        "everything was recorded".clone_into(&mut gate.sentence);
    }
    if exit == Exit::Failed && summary.failed > 0 {
        gate.sentence = several(summary.failed, "scenario failed", "scenarios failed");
    }
    if let Some(bisected) = &result.bisected {
        gate.sentence = match bisected.first_bad.len() {
            1 => "the first bad commit was found".to_owned(),
            several => format!("the first bad commit is one of {several}"),
        };
    }
    let within = result.scenarios.iter().filter_map(Scenario::share);
    let within: BTreeSet<&String> = within.collect();
    if exit == Exit::Undecided {
        let _ = write!(
            gate.sentence,
            "; {} of {} passed",
            summary.succeeded(),
            summary.selected
        );
    }
    if exit == Exit::Passed && (!within.is_empty() || summary.quarantined > 0) {
        gate.sentence = format!("{} of {} passed", summary.succeeded(), summary.selected);
        if summary.quarantined > 0 {
            let _ = write!(gate.sentence, ", {} quarantined", summary.quarantined);
        }
    }
    if exit == Exit::Passed && summary.recorded_failing > 0 {
        let _ = write!(
            gate.sentence,
            ", {} of it failing",
            summary.recorded_failing
        );
    }
    if exit == Exit::Passed && summary.changed > 0 {
        let noun = if result.command == "run" {
            "deviations"
        } else {
            "changes"
        };
        let _ = write!(gate.sentence, ", {} with {noun}", summary.changed);
    }
    let ruleless = result.scenarios.iter().filter(|it| it.without_rules);
    if let (Exit::Passed, ruleless @ 1..) = (exit, ruleless.count()) {
        let _ = write!(
            gate.sentence,
            ", {ruleless} without the rules of scenario files"
        );
    }
    for kept in within.iter().filter(|_| exit == Exit::Passed) {
        let _ = write!(gate.sentence, "; {kept}");
    }
    if let (Exit::Incomplete, left @ 1..) = (exit, gates::not_begun(result)) {
        let left = plural(left, "scenario");
        let _ = write!(gate.sentence, "; {left} not begun (`--fail-fast`)");
    }
    let suite = result.suite.iter().flat_map(|it| &it.gates);
    let broken = suite.filter(|it| matches!(it.state, GateState::Broken | GateState::Unknown));
    for it in broken {
        let _ = write!(gate.sentence, "; {}", it.sentence);
    }
    if exit == Exit::Failed && strict && summary.failed == 0 && summary.flaky > 0 {
        let _ = write!(gate.sentence, ": {} flaky (`--strict`)", summary.flaky);
    }
    if let Some(missing @ 1..) = result.merged.as_ref().map(|it| it.missing.len()) {
        let missing = several(missing, "scenario is", "scenarios are");
        let _ = write!(gate.sentence, ", and {missing} missing");
    }
    result.gate = Some(gate);
}
