//! Drafted scenarios are written, recorded and compared: the first verdict.

use std::fs;
use std::path::Path;

use super::draft::Draft;
use crate::cli::args::OutputArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::select::plural;
use crate::cli::suite::{play, program};
use crate::evaluate::wrong_outcomes;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::store;
use crate::suite::{self, BASELINES, Finished, Settings};

/// How often a scenario is recorded at most, each time without the guessed calls that failed.
const ROUNDS: usize = 3;

/// What came of it.
pub(super) struct First {
    pub(super) exit: Exit,
    /// What compares again what was recorded; `None` where nothing was.
    pub(super) compare: Option<String>,
}

/// A scenario that is written.
struct Begun {
    draft: Draft,
    scenario: Scenario,
}

/// Writes the scenarios, records them and compares them with what was recorded. What could not be recorded is taken back.
///
/// # Errors
///
/// When they cannot be written or run at all.
pub(super) fn verdict(
    drafts: Vec<Draft>,
    output: OutputArgs,
    console: Console,
) -> Result<First, Failure> {
    let mut open: Vec<Begun> = Vec::new();
    for draft in drafts {
        let scenario = written(&draft)?;
        open.push(Begun { draft, scenario });
    }
    let settings = Settings {
        program: Some(program()),
        ..Settings::default()
    };
    let mut done: Vec<Begun> = Vec::new();
    let mut exit = Exit::Passed;
    for round in 1..=ROUNDS {
        if open.is_empty() {
            break;
        }
        let scenarios: Vec<Scenario> = open.iter().map(|it| it.scenario.clone()).collect();
        let recorded = play(
            ("record", scenarios),
            &settings,
            (output, console),
            |suite| suite::record(suite, &settings),
        );
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(failure) => {
                open.iter().for_each(take_back);
                return Err(failure);
            }
        };
        let mut failed = Vec::new();
        let mut is_final = true;
        for (mut begun, result) in open.into_iter().zip(&recorded.suite.scenarios) {
            if result.status == Status::Recorded {
                done.push(begun);
                continue;
            }
            if leave_out_failed(&mut begun, result) && round < ROUNDS {
                begun.scenario = written(&begun.draft)?;
                is_final = false;
            }
            failed.push(begun);
        }
        open = failed;
        if !open.is_empty() && (is_final || recorded.suite.interrupted || round == ROUNDS) {
            exit = exit.and(unrecorded(&open, &recorded, output, console)?);
            break;
        }
    }
    if done.is_empty() {
        return Ok(First {
            exit,
            compare: None,
        });
    }
    for begun in &done {
        tell(&begun.draft, console);
    }
    let scenarios = done.iter().map(|it| it.scenario.clone()).collect();
    let finished = play(
        ("compare", scenarios),
        &settings,
        (output, console),
        |suite| suite::compare(suite, &settings),
    )?;
    exit = exit.and(finish(&finished, true, output, console)?);
    let compare = match done.as_slice() {
        [only] => format!("mcp-eval compare {}", only.draft.target.display()),
        _ => "mcp-eval compare".to_owned(),
    };
    Ok(First {
        exit,
        compare: Some(compare),
    })
}

/// Prints what came of a suite, and with `pages` writes its report.
fn finish(
    finished: &Finished,
    pages: bool,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let options = ReportOptions {
        reports: &Reports::usual(pages),
        keep: usize::MAX,
        baselines: Path::new(BASELINES),
        threshold: None,
        strict_statistics: false,
        bisected: None,
        pending: 0,
    };
    finish::finish(finished, &options, output, console)
}

/// Writes a scenario, and reads it as it will be read from now on.
fn written(draft: &Draft) -> Result<Scenario, Failure> {
    let folder = draft.target.parent().unwrap_or(Path::new(""));
    let (text, _) = draft.text(folder);
    store::write(&draft.target, text.as_bytes())?;
    draft.load(&draft.target).inspect_err(|_| {
        let _ = fs::remove_file(&draft.target);
    })
}

fn take_back(begun: &Begun) {
    // Written by us a moment ago; if it cannot be removed, that it is there does no harm.
    let _ = fs::remove_file(&begun.draft.target);
}

/// Turns the guessed calls that failed into comments; whether there were any, and no others.
fn leave_out_failed(begun: &mut Begun, result: &ScenarioResult) -> bool {
    let Some(run) = result
        .current
        .as_ref()
        .filter(|_| result.status == Status::Failed)
    else {
        return false;
    };
    let wrong = wrong_outcomes(&begun.scenario, run, None);
    let mut failed = Vec::new();
    for it in &wrong {
        match begun.draft.plan.position(it.call) {
            Some(at) if begun.draft.plan.calls[at].is_guessed => failed.push((at, it)),
            _ => return false,
        }
    }
    for (at, it) in &failed {
        let said = it.said.as_deref().unwrap_or("it did not fail");
        begun
            .draft
            .plan
            .leave_out(*at, format!("it failed: {said}"));
    }
    !failed.is_empty()
}

/// Says what was not recorded and why; a scenario that only needs a correction stays.
fn unrecorded(
    open: &[Begun],
    recorded: &Finished,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let exit = finish(recorded, false, output, console)?;
    for begun in open {
        let result = recorded
            .suite
            .scenarios
            .iter()
            .find(|it| it.id == begun.scenario.id);
        let target = begun.draft.target.display();
        if result.is_some_and(|it| it.status == Status::Failed) {
            console.note(&format!(
                "{target} stays, without a baseline: correct the calls in it, then `mcp-eval record {target}`"
            ));
        } else {
            take_back(begun);
            console.note(&format!("nothing was recorded, so {target} was taken back"));
        }
    }
    Ok(exit)
}

/// Says what a scenario holds, what it leaves out, and what it needs from the environment.
fn tell(draft: &Draft, console: Console) {
    let target = draft.target.display();
    let made = draft.plan.made();
    let others = draft.tools.saturating_sub(draft.plan.tools_called());
    let comments = match others {
        0 => String::new(),
        1 => "; 1 tool is a comment in it, with the reason".to_owned(),
        more => format!("; {more} tools are comments in it, each with the reason"),
    };
    let server = &draft.server.name;
    console.note(&format!(
        "wrote {target}: {} to `{server}`{comments}",
        plural(made, "call")
    ));
    if made == 0 {
        console.note(&format!(
            "nothing is called, because no tool of `{server}` is both marked as read-only and free of arguments that nobody can guess: \
             take the `#` away from calls in {target} and fill in their arguments, then `mcp-eval record {target}`"
        ));
    }
    let (_, variables) = draft.text(draft.target.parent().unwrap_or(Path::new("")));
    for (variable, is_set) in variables {
        let rest = if is_set {
            "which has it already"
        } else {
            "set it before the scenario is run again"
        };
        console.note(&format!(
            "a secret of `{server}` is not written down: {target} takes it from the environment variable {variable}, {rest}"
        ));
    }
}
