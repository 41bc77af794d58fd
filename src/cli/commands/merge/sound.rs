//! A check that a result says one thing. Where it says two that cannot both be so, somebody or something has changed it, and none of it counts.

use crate::published::result::{Gate, ResultDocument, Scenario, Shard, Status, Summary};

/// What a result says in two ways that cannot both be so, as far as the one follows from the other.
///
/// # Errors
///
/// A fragment of a sentence, with the document as its subject.
pub(super) fn check(result: &ResultDocument, shard: &Shard) -> Result<(), String> {
    let wrong = |what: String| Err(format!("contradicts itself: {what}"));
    for it in &result.scenarios {
        if let Some(reason) = speaks_against(it, &result.command) {
            return wrong(format!("`{}` passed, and yet {reason}", it.id));
        }
    }
    // What is not there cannot be counted: that is a hole, and is reported as one.
    let own = shard.own().map_or(&[][..], |it| &it.scenarios);
    if own.iter().any(|it| result.scenario(&it.id).is_none()) {
        return Ok(());
    }
    let counted = counts(Summary::of(&result.scenarios, result.summary.selected));
    let differing = counts(result.summary).into_iter().zip(counted);
    for ((name, said), (_, counted)) in differing {
        if said != counted {
            return wrong(format!(
                "its summary counts {said} {name}, and there are {counted}"
            ));
        }
    }
    match &result.gate {
        Some(gate) if gate.exit_code == 1 && !can_fail(result, gate) => {
            wrong("its exit code is 1, and nothing in it has failed".to_owned())
        }
        _ => Ok(()),
    }
}

/// What speaks against a scenario that passed. Of several runs, one of which is shown, some may fail.
fn speaks_against(scenario: &Scenario, command: &str) -> Option<String> {
    if scenario.status != Status::Passed || scenario.repeated.is_some() {
        return None;
    }
    let reasons = if command == "compare" {
        scenario.reasons()
    } else {
        scenario.unmet()
    };
    reasons.into_iter().next()
}

fn counts(summary: Summary) -> [(&'static str, usize); 7] {
    [
        ("passed", summary.passed),
        ("failed", summary.failed),
        ("inconclusive", summary.inconclusive),
        ("error", summary.error),
        ("timeout", summary.timeout),
        ("interrupted", summary.interrupted),
        ("skipped", summary.skipped),
    ]
}

/// Whether there is anything that exit code 1 may be for.
fn can_fail(result: &ResultDocument, gate: &Gate) -> bool {
    let is_flaky = gate.strict && result.scenarios.iter().any(|it| it.flaky);
    is_flaky
        || result
            .scenarios
            .iter()
            .any(|it| it.status == Status::Failed)
}
