//! Drafted scenarios are written, recorded and compared: the first verdict.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use super::calls::WhyNot;
use super::draft::{Draft, DraftText};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::suite::{base, play};
use crate::cli::{Console, Exit, Failure};
use crate::evaluate::wrong_outcomes;
use crate::model::{Outcome, ScenarioResult, Status};
use crate::scenario_file::Scenario;
use crate::store;
use crate::store::database::Database;
use crate::suite::{self, BASELINES, Finished, Settings};
use crate::text::{self, plural};

/// How often a scenario is recorded at most, each time without the guessed calls that failed.
const ROUNDS: usize = 3;

/// How many tools a sentence names.
const MOST_NAMED: usize = 5;

/// Shorter values are found in many texts, in bytes.
const SHORTEST_OF_MACHINE: usize = 5;

/// What came of it.
pub(super) struct First {
    pub(super) exit: Exit,
    /// What compares again what was recorded; `None` where nothing was.
    pub(super) compare: Option<String>,
    /// The files of scenarios whose calls leave something behind: before anything is compared, that has to be reset, and recorded again.
    pub(super) to_reset: Vec<PathBuf>,
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
    database: Option<Database>,
    console: Console,
) -> Result<First, Failure> {
    let mut open: Vec<Begun> = Vec::new();
    for draft in drafts {
        let scenario = written(&draft)?;
        tell_effects(&draft, console);
        open.push(Begun { draft, scenario });
    }
    let settings = Settings {
        database,
        ..base()?
    };
    let mut done: Vec<Begun> = Vec::new();
    // What is not compared at once, with what came of recording it.
    let mut lasting: Vec<(Begun, Finished)> = Vec::new();
    let mut exit = Exit::Passed;
    for round in 1..=ROUNDS {
        if open.is_empty() {
            break;
        }
        let scenarios: Vec<Scenario> = open.iter().map(|it| it.scenario.clone()).collect();
        let recorded = play(("record", scenarios), &settings, console, |suite| {
            suite::record(suite, &settings)
        });
        let recorded = match recorded {
            Ok(recorded) => recorded.taken_up(),
            Err(failure) => {
                open.iter().for_each(take_back);
                return Err(failure);
            }
        };
        let mut failed = Vec::new();
        let mut is_final = true;
        for (mut begun, result) in open.into_iter().zip(&recorded.suite.scenarios) {
            if result.status == Status::Recorded {
                if caution(&mut begun.draft, result) {
                    begun.scenario = written(&begun.draft)?;
                }
                if has_lasting_effects(&begun.draft, result) {
                    lasting.push((begun, alone(&recorded, result)));
                } else {
                    done.push(begun);
                }
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
            exit = exit.and(unrecorded(&open, &recorded, console)?);
            break;
        }
    }
    let mut to_reset: Vec<PathBuf> = Vec::new();
    for (begun, recorded) in &lasting {
        to_reset.push(begun.draft.target.clone());
        tell(&begun.draft, console);
        exit = exit.and(finish(recorded, true, console)?);
        tell_lasting(&begun.draft, console);
    }
    if !done.is_empty() {
        for begun in &done {
            tell(&begun.draft, console);
        }
        let scenarios = done.iter().map(|it| it.scenario.clone()).collect();
        let finished = play(("compare", scenarios), &settings, console, |suite| {
            suite::compare(suite, &settings)
        })?;
        exit = exit.and(finish(&finished, true, console)?);
        for (begun, result) in done.iter().zip(&finished.suite.scenarios) {
            if result.status == Status::Failed && !begun.draft.plan.effects().is_empty() {
                tell_lasting(&begun.draft, console);
                to_reset.push(begun.draft.target.clone());
            }
        }
    }
    let compared = done.iter().chain(lasting.iter().map(|(it, _)| it));
    let compare = match compared.collect::<Vec<_>>().as_slice() {
        [] => None,
        [only] => Some(format!("mcp-eval compare {}", only.draft.target.display())),
        _ => Some("mcp-eval compare".to_owned()),
    };
    Ok(First {
        exit,
        compare,
        to_reset,
    })
}

/// Whether a recording shows, or cannot rule out, that a call which does more than read has an effect that is still there the next time: then
/// a comparison right after it would compare the server with itself in another state.
fn has_lasting_effects(draft: &Draft, result: &ScenarioResult) -> bool {
    let run = result.current.as_ref();
    !draft.plan.effects().is_empty() && run.is_some_and(|it| !it.answered_once().is_empty())
}

/// The suite as if it had been of this scenario alone.
fn alone(finished: &Finished, result: &ScenarioResult) -> Finished {
    let scenarios = finished.suite.scenarios.iter();
    let files = scenarios.zip(&finished.files);
    Finished {
        notes: Vec::new(),
        files: (files.filter(|(it, _)| it.id == result.id))
            .map(|(_, files)| files.clone())
            .collect(),
        suite: finished.suite.derive(|suite| {
            let mut suite = suite.clone();
            suite.scenarios.retain(|it| it.id == result.id);
            suite
        }),
        runs: Arc::clone(&finished.runs),
        database: None,
    }
}

/// Notes beside each call whose answer holds something of this machine that it is another one elsewhere; whether there is any.
fn caution(draft: &mut Draft, result: &ScenarioResult) -> bool {
    let mut is_any = false;
    let calls = result.current.iter().flat_map(|it| it.calls());
    for (index, call) in calls.enumerate() {
        let found = of_this_machine(&call.outcome);
        if let Some(at) = draft.plan.position(index + 1)
            && !found.is_empty()
        {
            let found = found.join(" and ");
            let caution =
                format!("Its answer holds {found} of this machine: elsewhere it is different.");
            draft.plan.calls[at].call.caution = Some(caution);
            is_any = true;
        }
    }
    is_any
}

/// The variables of the environment that tell one machine from another and whose values an answer holds.
fn of_this_machine(outcome: &Outcome) -> Vec<&'static str> {
    let holds = |name: &&str| {
        let value = env::var(name)
            .ok()
            .filter(|it| it.len() >= SHORTEST_OF_MACHINE);
        value.is_some_and(|value| {
            let mut is_there = false;
            outcome.each_text(&mut |text| is_there |= text.contains(&value));
            is_there
        })
    };
    ["HOME", "PATH"].into_iter().filter(holds).collect()
}

/// Says what calls that do more than read will do.
fn tell_effects(draft: &Draft, console: Console) {
    let effects = draft.plan.effects();
    if effects.is_empty() {
        return;
    }
    console.note(&format!(
        "not marked as read-only, and called: {}. Every run makes such calls again, recording two or three times, and nothing is reset in between",
        named(&effects)
    ));
}

/// Says why there is no comparison of calls that do more than read, or what to think of it.
fn tell_lasting(draft: &Draft, console: Console) {
    let target = draft.target.display();
    console.note(&format!(
        "what {} of `{}` does may still be there in the next run, which then gets other answers from the same server: a comparison at once \
         would say nothing about it. Reset what the server keeps before every run – by `before:` in {target}, a container under `docker:`, or a \
         folder of its own –, then `mcp-eval record {target}`",
        named(&draft.plan.effects()),
        draft.server.name
    ));
}

/// The names of tools, as many as anybody reads.
fn named(tools: &[&str]) -> String {
    let first = tools.iter().take(MOST_NAMED);
    let mut names: Vec<String> = first.map(|it| format!("`{}`", text::line(it))).collect();
    if tools.len() > MOST_NAMED {
        names.push(format!("{} more", tools.len() - MOST_NAMED));
    }
    names.join(", ")
}

/// Prints what came of a suite, and with `pages` writes its report.
fn finish(finished: &Finished, pages: bool, console: Console) -> Result<Exit, Failure> {
    let reports = Reports::usual(pages);
    let options = ReportOptions::of(&reports, usize::MAX, Path::new(BASELINES));
    finish::finish(finished, &options, console)
}

/// Writes a scenario, and reads it as it will be read from now on.
fn written(draft: &Draft) -> Result<Scenario, Failure> {
    let folder = draft.target.parent().unwrap_or(Path::new(""));
    store::write(&draft.target, draft.text(folder).text.as_bytes())?;
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
        let why = WhyNot::FailedLater(said.to_owned());
        begun.draft.plan.calls[*at].why_not = Some(why);
    }
    !failed.is_empty()
}

/// Says what was not recorded and why; a scenario that only needs a correction stays.
fn unrecorded(open: &[Begun], recorded: &Finished, console: Console) -> Result<Exit, Failure> {
    let exit = finish(recorded, false, console)?;
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
    let DraftText {
        text: _,
        only_named,
        variables,
    } = draft.text(draft.target.parent().unwrap_or(Path::new("")));
    let others = draft.tools.saturating_sub(draft.plan.tools_called());
    let mut comments = match others.saturating_sub(only_named) {
        0 => String::new(),
        1 => "; 1 tool is a comment in it, with the reason".to_owned(),
        more => format!("; {more} tools are comments in it, each with the reason"),
    };
    if only_named > 0 {
        let _ = write!(
            comments,
            "; of {} there is the name",
            plural(only_named, "tool")
        );
    }
    let server = &draft.server.name;
    console.note(&format!(
        "wrote {target}: {} to `{server}`{comments}",
        plural(made, "call")
    ));
    let slow = draft.plan.slow();
    if made == 0 {
        console.note(&format!(
            "no tool of `{server}` is called ({}): take the `#` away from calls in {target} and fill in their arguments, then `mcp-eval record \
             {target}`; or begin again under another --name, where `--call TOOL={{…}}` adds a call and `--allow-effects` all that can be guessed",
            draft.plan.reasons()
        ));
    } else if !slow.is_empty() {
        console.note(&format!(
            "too slow for a first verdict in seconds: {}. Take the `#` away from them, then `mcp-eval record {target}`; `--call TOOL` makes such a \
             call at once",
            named(&slow)
        ));
    }
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
