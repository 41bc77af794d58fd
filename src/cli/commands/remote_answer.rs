//! Whether what a test server answers fits together. Its word alone makes nothing green: what was asked must be there, all that is said of it
//! must agree, and what the whole comes to is found here.

use std::collections::HashMap;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gates;
use crate::model::scenario::Scenario as Asked;
use crate::published::result::{Check, ResultDocument, Scenario, Status, Summary};
use crate::serve::wire::{BatchReply, RunReply};

/// The document of a run, with a summary that is made here of its scenarios, and without what only a suite file here could say.
///
/// # Errors
///
/// When something that was asked is not there, or the server contradicts itself.
pub(super) fn settled(
    asked: &[Asked],
    batch: &BatchReply,
    mut document: ResultDocument,
) -> Result<ResultDocument, Failure> {
    let run = document.run_id.clone();
    // Pages go into a folder of this name.
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    if run.is_empty() || run.starts_with('.') || !run.bytes().all(is_plain) {
        return Err(contradiction("its run has a name that no run has"));
    }
    if document.command != "run" {
        return Err(contradiction(&format!(
            "it was to `run`, and its result is one of `{}`",
            document.command
        )));
    }
    for reply in &batch.results {
        if reply.run_id != run {
            return Err(contradiction(&format!(
                "the result of `{}` is of the run {}, and its document of {run}",
                reply.scenario, reply.run_id
            )));
        }
    }
    let replies = by_id(batch.results.iter().map(|it| (it.scenario.as_str(), it)))?;
    let results = by_id(document.scenarios.iter().map(|it| (it.id.as_str(), it)))?;
    let is_asked = |id: &str| asked.iter().any(|it| it.id == id);
    let told = replies.keys().chain(results.keys());
    let mut others: Vec<&str> = told.copied().filter(|it| !is_asked(it)).collect();
    others.sort_unstable();
    if let Some(other) = others.first() {
        return Err(contradiction(&format!(
            "it tells of `{other}`, which was not asked for"
        )));
    }
    for Asked { id, .. } in asked {
        match (replies.get(id.as_str()), results.get(id.as_str())) {
            (Some(reply), Some(result)) => agree(reply, result)?,
            (None, None) => {
                return Err(Failure::incomplete(format!(
                    "the server has not run `{id}`"
                )));
            }
            (Some(_), None) => {
                return Err(contradiction(&format!("its document lacks `{id}`")));
            }
            (None, Some(_)) => {
                return Err(contradiction(&format!("its reply lacks `{id}`")));
            }
        }
    }
    document.suite = None;
    for scenario in &mut document.scenarios {
        (scenario.quarantine, scenario.within_gate) = (None, None);
        scenario.left_to_merge = None;
    }
    let said = document.summary;
    document.summary = Summary::of(&document.scenarios, asked.len());
    if statuses(said) != statuses(document.summary) {
        return Err(contradiction(
            "its summary counts otherwise than its scenarios came out",
        ));
    }
    let exit = if document.interrupted {
        Exit::Interrupted
    } else {
        gates::exit(&document, (false, false))
    };
    if let Some(gate) = document.gate.as_ref().map(|it| it.exit_code)
        && gate != exit.code()
    {
        return Err(contradiction(&format!(
            "its gate says exit code {gate}, and its scenarios come to {}",
            exit.code()
        )));
    }
    Ok(document)
}

/// What is told of each scenario, which is told of once.
fn by_id<'a, T>(told: impl Iterator<Item = (&'a str, T)>) -> Result<HashMap<&'a str, T>, Failure> {
    let mut known = HashMap::new();
    for (id, it) in told {
        if known.insert(id, it).is_some() {
            return Err(contradiction(&format!("it tells of `{id}` twice")));
        }
    }
    Ok(known)
}

/// Whether the reply and the document say the same of a scenario, and each does not speak against itself.
fn agree(reply: &RunReply, result: &Scenario) -> Result<(), Failure> {
    let (id, status) = (&result.id, result.status);
    let passed = status == Status::Passed;
    let why = if reply.status != status {
        format!(
            "`{id}` is {} in its reply, and {} in its document",
            reply.status.name(),
            status.name()
        )
    } else if reply.success != passed || reply.verdict.passed != passed {
        format!("`{id}` is {}, and its reply says otherwise", status.name())
    } else if status == Status::Recorded {
        format!("`{id}` was to be run, and is recorded")
    } else if passed && result.current.is_none() {
        format!("`{id}` has passed without a run")
    } else if passed && result.repeated.is_none() && result.checks.iter().any(Check::fails) {
        format!("`{id}` has passed, and does not meet what it expects")
    } else {
        return Ok(());
    };
    Err(contradiction(&why))
}

/// How many scenarios came out in which way.
fn statuses(summary: Summary) -> [usize; 8] {
    [
        summary.passed,
        summary.failed,
        summary.inconclusive,
        summary.error,
        summary.timeout,
        summary.interrupted,
        summary.skipped,
        summary.recorded,
    ]
}

fn contradiction(why: &str) -> Failure {
    Failure::incomplete(format!("the server contradicts itself: {why}"))
        .hint("something between here and the server may change its answers, or the server is of another version")
}
