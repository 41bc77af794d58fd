//! `mcp-eval record`: run scenarios and keep their trajectories as baselines.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::agents;
use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::bench::{Bench, Executed};
use crate::cli::ci;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::outcome::{incomplete, problem, result};
use crate::cli::replay;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::evaluate::check_criteria;
use crate::model::comparison::ExecutionStatus;
use crate::model::rules::Responses;
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{Check, Problem, ScenarioResult, Status};
use crate::model::trajectory::{Ending, FailureKind, Outcome, Trajectory};
use crate::report::deviations::{changes, deviations};
use crate::score;
use crate::store::Baselines;
use crate::text::shorten;

pub(in crate::cli) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    ci::refuse(args.force)?;
    let mut scenarios = select::select(&args.select, console)?;
    agents::choose(&mut scenarios, &args.execute)?;
    let baselines = baselines(args);
    let plan = Plan {
        command: "record",
        scenarios,
        execute: &args.execute,
        output,
        console,
        ours: Some(baselines.root()),
    };
    let (args_of_tasks, folder) = (args.clone(), baselines.clone());
    let finished = suite::run_suite(plan, move |scenario, bench| {
        let (args, baselines) = (args_of_tasks.clone(), folder.clone());
        async move { record(&scenario, &bench, &baselines, &args).await }
    })?;
    let telling = Telling {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: None,
        threshold: None,
    };
    finish::finish(&finished, &telling, output, console)
}

/// How often a scenario is played where nothing speaks against it: enough to see what varies.
const USUAL_TAKES: u16 = 2;

/// With a single scenario file, `--output` is the folder of its baseline, else the folder of all baselines.
fn baselines(args: &RecordArgs) -> Baselines {
    let files: Vec<PathBuf> = args.select.all_paths();
    match &args.output {
        None => Baselines::new(BASELINES),
        Some(folder) if files.len() == 1 && files[0].is_file() => {
            Baselines::of_one_scenario(folder)
        }
        Some(folder) => Baselines::new(folder),
    }
}

async fn record(
    scenario: &Scenario,
    bench: &Bench,
    baselines: &Baselines,
    args: &RecordArgs,
) -> ScenarioResult {
    // A replay plays the baseline there is, and keeps what its calls are answered now.
    let replayed = match &scenario.agent {
        Agent::Scripted { .. } | Agent::Model { .. } | Agent::Command { .. } => None,
        Agent::Replay { .. } => match replay::accepted(scenario, baselines) {
            Ok(accepted) => replay::replayed(scenario, &accepted),
            Err(problem) => {
                return ScenarioResult {
                    problem: Some(problem),
                    ..result(&bench.told(scenario), Status::Error)
                };
            }
        },
    };
    let executed = bench.execute(scenario, replayed.as_ref()).await;
    if let Some(result) = incomplete(&executed) {
        return result;
    }
    let Executed {
        scenario: told,
        mut trajectory,
        mut notes,
    } = executed;
    let checks = check_criteria(&told, &trajectory);
    notes.extend(from_expectation(&told, &trajectory));
    let failing = why_failing(&told, &trajectory, &checks);
    if failing.is_empty() || args.allow_failing {
        notes.extend(
            learn(
                scenario,
                replayed.as_ref(),
                bench,
                args.takes,
                &mut trajectory,
            )
            .await,
        );
        if let Err(problem) = replay::bind(&mut [trajectory.clone()], Some(scenario)) {
            notes.push(format!(
                "{}: {}",
                problem.message,
                problem.details.join("; ")
            ));
        }
    }

    // What was accepted before, for the reader to see what changes. One that cannot be read is no reason not to replace it.
    let before = match baselines.load(&scenario.id) {
        Ok(accepted) => accepted.into_iter().next().map(|mut it| {
            // Rules that do not fit are told of above.
            let _ = replay::bind(std::slice::from_mut(&mut it), Some(scenario));
            it
        }),
        Err(error) => {
            notes.push(format!("the old baseline is not compared: {error}"));
            None
        }
    };
    let comparison = before
        .as_ref()
        .map(|it| score::compare(it, &trajectory, &scenario.scoring));
    if let (Some(before), Some(comparison)) = (&before, &comparison) {
        notes.extend(
            changes(comparison)
                .iter()
                .map(|it| format!("changed: {it}")),
        );
        let unkept = bench.runs.save_baseline(&scenario.id, before).err();
        notes.extend(unkept.map(|error| error.to_string()));
    }
    let mut outcome = ScenarioResult {
        duration_ms: trajectory.duration_ms,
        checks,
        comparison,
        baseline: before.map(Arc::new),
        ..result(&told, Status::Recorded)
    };
    if !failing.is_empty() && !args.allow_failing {
        outcome.status = Status::Failed;
        outcome.problem = Some(Problem {
            message: format!("not kept, because the run failed: {}", failing.join("; ")),
            hint: Some("`--allow-failing` keeps it".to_owned()),
            details: Vec::new(),
        });
    } else {
        match baselines.save(&scenario.id, &trajectory) {
            Ok(path) => notes.push(format!("kept as {}", path.display())),
            Err(error) => {
                outcome.status = Status::Error;
                outcome.problem = Some(problem(error.to_string()));
            }
        }
    }
    ScenarioResult {
        current: Some(Arc::new(trajectory)),
        notes,
        ..outcome
    }
}

/// Plays the scenario again and learns which places of the answers vary by nature: those that differ between the answers to one and the
/// same request. Returns what a reader should know of it.
///
/// Only servers that are started anew for every run can be asked again without harm; others are, when `takes` says so.
async fn learn(
    scenario: &Scenario,
    replayed: Option<&Arc<Trajectory>>,
    bench: &Bench,
    takes: Option<u16>,
    trajectory: &mut Trajectory,
) -> Vec<String> {
    let kept = bench.outliving_servers(scenario);
    // Whoever decides for itself does not make the same calls twice, and each take costs.
    let once = !kept.is_empty() || scenario.agent.decides();
    let takes = takes.unwrap_or(if once { 1 } else { USUAL_TAKES });
    let mut played = vec![trajectory.clone()];
    let mut notes = Vec::new();
    for take in 2..=takes {
        let again = bench.play_again(scenario, replayed).await;
        if let Some(result) = incomplete(&again) {
            let why = result.problem.map(|it| it.message).unwrap_or_default();
            notes.push(format!(
                "take {take} did not complete, so nothing was learned of what varies: {why}"
            ));
            played.truncate(1);
            break;
        }
        played.push(again.trajectory);
    }
    let learned = score::learn(&played, &scenario.scoring);
    trajectory.volatile = learned.volatile;
    trajectory.bindings = learned.bindings;
    let places = trajectory
        .volatile
        .iter()
        .flat_map(|it| it.paths.iter().map(move |path| (it.call, path)));
    notes.extend(places.map(|(call, path)| {
        format!("learned from {takes} takes: {path} of the answer to call {call} varies")
    }));
    notes.extend(trajectory.bindings.iter().map(|it| format!("bound: {it}")));
    notes
}

/// Why a run should not become a baseline unseen. That a tool answers with an error may well be meant; that no call succeeds, or that
/// there is no answer at all, hardly.
fn why_failing(scenario: &Scenario, trajectory: &Trajectory, checks: &[Check]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Ending::Blocked { message } = &trajectory.ending {
        reasons.push(message.clone());
    } else if score::status(trajectory) == ExecutionStatus::Failed
        && !scenario.expected_trajectory.iter().any(|it| it.is_error)
    {
        reasons.push("every call failed".to_owned());
    }
    let all = !reasons.is_empty();
    for (index, call) in trajectory.calls().enumerate() {
        // What a model asked for and could not be sent is the model's affair, and it was told.
        let unanswered = matches!(
            &call.outcome,
            Outcome::Failure(it) if !matches!(it.kind, FailureKind::Rpc | FailureKind::NotSent)
        );
        if unanswered || (all && call.outcome.is_failure()) {
            reasons.push(format!(
                "call {} of `{}`: {}",
                index + 1,
                call.full_name(),
                said(&call.outcome)
            ));
        }
    }
    let unmet = checks.iter().filter(|it| !it.passed).count();
    if unmet > 0 {
        reasons.push(format!(
            "{} not met",
            plural(unmet, "success criterion is", "success criteria are")
        ));
    }
    reasons
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn said(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => failure.message.clone(),
    };
    shorten(&text, 200).into_owned()
}

/// How the calls of a run deviate from the scenario's expected trajectory.
fn from_expectation(scenario: &Scenario, trajectory: &Trajectory) -> Vec<String> {
    if scenario.expected_trajectory.is_empty() {
        return Vec::new();
    }
    let mut rules = scenario.scoring.clone();
    rules.responses = Responses::Ignore;
    let expectation = score::expectation(scenario, trajectory);
    let comparison = score::compare(&expectation, trajectory, &rules);
    deviations(&comparison, &expectation, trajectory)
        .into_iter()
        .map(|it| format!("deviates from the expected trajectory: {it}"))
        .collect()
}
