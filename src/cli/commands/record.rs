//! `mcp-eval record`: run scenarios and keep their trajectories as baselines.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::select;
use crate::cli::suite::{self, Bench, incomplete, problem, result};
use crate::evaluate::check_criteria;
use crate::model::comparison::ExecutionStatus;
use crate::model::rules::Responses;
use crate::model::scenario::Scenario;
use crate::model::suite::{Check, Problem, ScenarioResult, Status};
use crate::model::trajectory::{Ending, Outcome, Trajectory};
use crate::report::deviations::{changes, deviations};
use crate::score;
use crate::store::Baselines;
use crate::text::shorten;

pub(in crate::cli) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if in_ci() && !args.force {
        return Err(Failure::usage(
            "CI is set in the environment, and CI does not write baselines",
        )
        .hint("record on a development machine and commit the result, or pass --force"));
    }
    let scenarios = select::select(&args.select, console)?;
    let baselines = baselines(args);
    let ours = [baselines.root().to_owned()];
    let finished = suite::run_suite(
        "record",
        &scenarios,
        &args.execute,
        output,
        console,
        &ours,
        &async |scenario, bench| record(scenario, bench, &baselines, args).await,
    )?;
    let telling = Telling {
        format: args.execute.format,
        output: None,
        threshold: None,
    };
    finish::finish(&finished, &telling, output, console)
}

/// Whether this is a CI job, by the variable they all set.
fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false" && it != "0")
}

/// With a single scenario file, `--output` is the folder of its baseline, else the folder of all baselines.
fn baselines(args: &RecordArgs) -> Baselines {
    let files: Vec<PathBuf> = args.select.all_paths();
    match &args.output {
        None => Baselines::new("baselines"),
        Some(folder) if files.len() == 1 && files[0].is_file() => {
            Baselines::of_one_scenario(folder)
        }
        Some(folder) => Baselines::new(folder),
    }
}

async fn record(
    scenario: &Scenario,
    bench: Bench<'_>,
    baselines: &Baselines,
    args: &RecordArgs,
) -> ScenarioResult {
    let (trajectory, lost) = bench.execute(scenario).await;
    if let Some(result) = incomplete(scenario, &trajectory) {
        return result;
    }
    let checks = check_criteria(scenario, &trajectory);
    let mut notes = from_expectation(scenario, &trajectory);
    notes.extend(lost.map(|error| format!("the run could not be kept: {error}")));
    let failing = why_failing(&trajectory, &checks);

    // What was accepted before, for the reader to see what changes. One that cannot be read is no reason not to replace it.
    let before = match baselines.load(&scenario.id) {
        Ok(accepted) => accepted.into_iter().next(),
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
                .into_iter()
                .map(|it| format!("changed: {it}")),
        );
        notes.extend(
            bench
                .runs
                .save_baseline(&scenario.id, before)
                .err()
                .map(|error| error.to_string()),
        );
    }
    let outcome = ScenarioResult {
        duration_ms: trajectory.duration_ms,
        comparison,
        baseline: before.map(Arc::new),
        ..result(scenario, Status::Failed)
    };
    if !failing.is_empty() && !args.allow_failing {
        return ScenarioResult {
            problem: Some(Problem {
                message: format!("not kept, because the run failed: {}", failing.join("; ")),
                hint: Some("`--allow-failing` keeps it".to_owned()),
                details: Vec::new(),
            }),
            checks,
            current: Some(Arc::new(trajectory)),
            notes,
            ..outcome
        };
    }
    let saved = baselines.save(&scenario.id, &trajectory);
    let (status, unsaved) = match saved {
        Ok(path) => {
            notes.push(format!("kept as {}", path.display()));
            (Status::Recorded, None)
        }
        Err(error) => (Status::Error, Some(problem(error.to_string()))),
    };
    ScenarioResult {
        status,
        problem: unsaved,
        checks,
        current: Some(Arc::new(trajectory)),
        notes,
        ..outcome
    }
}

/// Why a run should not become a baseline unseen. That some calls fail may well be meant; that all do, hardly.
fn why_failing(trajectory: &Trajectory, checks: &[Check]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Ending::Blocked { message } = &trajectory.ending {
        reasons.push(message.clone());
    } else if score::status(trajectory) == ExecutionStatus::Failed {
        reasons.push("every call failed".to_owned());
    }
    if !reasons.is_empty() {
        let failed = trajectory
            .calls()
            .enumerate()
            .filter(|(_, call)| call.outcome.is_failure());
        reasons.extend(failed.map(|(index, call)| {
            format!(
                "call {} of `{}`: {}",
                index + 1,
                call.full_name(),
                said(&call.outcome)
            )
        }));
    }
    reasons.extend(
        checks
            .iter()
            .filter(|it| !it.passed)
            .map(|it| format!("success criterion `{}` {}", it.name, it.message)),
    );
    reasons
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
