//! `mcp-eval record`: run scenarios and keep their trajectories as baselines.

mod failing;
mod learned;
mod listen;
mod once;
mod typical;

pub(in crate::cli) use self::failing::look;

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::agents;
use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::bench::Bench;
use crate::cli::ci;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::outcome::{problem, result};
use crate::cli::patience::Patience;
use crate::cli::replay;
use crate::cli::select;
use crate::cli::suite::{self, BASELINES, Plan};
use crate::model::repeated::Repeated;
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{Check, Problem, ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::score;
use crate::store::Baselines;

pub(in crate::cli) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    ci::refuse(args.force)?;
    if args.listen.listen {
        return listen::run(args, output, console);
    }
    let mut scenarios = select::select(&args.select, console)?;
    agents::choose(&mut scenarios, &args.execute)?;
    let baselines = baselines(args);
    let plan = Plan {
        command: "record",
        scenarios,
        execute: &args.execute,
        output,
        console,
        strict_statistics: false,
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
        strict_statistics: false,
    };
    finish::finish(&finished, &telling, output, console)
}

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

/// A run that is to become the baseline.
struct Take {
    /// The scenario as it may be told, with what the run answered.
    told: Scenario,
    /// With what is learned of it.
    trajectory: Trajectory,
    checks: Vec<Check>,
    /// Why it should not be kept unseen; empty where nothing speaks against it.
    failing: Vec<String>,
    notes: Vec<String>,
    /// What all runs came to, where there were several.
    repeated: Option<Repeated>,
    /// How long it may be compared.
    patience: Patience,
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
    let taken = if args.execute.times() > 1 {
        Box::pin(typical::take(scenario, replayed.as_ref(), bench, args)).await
    } else {
        Box::pin(once::take(scenario, replayed.as_ref(), bench, args)).await
    };
    match taken {
        Ok(take) => keep(scenario, take, bench, baselines, args.allow_failing),
        Err(result) => *result,
    }
}

/// Keeps a run as the baseline, unless something speaks against it, and tells what changes by that.
fn keep(
    scenario: &Scenario,
    take: Take,
    bench: &Bench,
    baselines: &Baselines,
    allow_failing: bool,
) -> ScenarioResult {
    let Take {
        told,
        trajectory,
        checks,
        failing,
        mut notes,
        repeated,
        patience,
    } = take;
    // What was accepted before, for the reader to see what changes. One that cannot be read is no reason not to replace it.
    let loaded = replay::load(baselines, &scenario.id);
    let main = loaded.as_ref().ok().and_then(|it| it.first());
    ci::mend(baselines, &scenario.id, main);
    let before = match loaded {
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
    let rules = &scenario.scoring;
    let compared = before.as_ref().map(|it| {
        patience.spend_on(|is_unwanted| score::compare_until(it, &trajectory, rules, is_unwanted))
    });
    let comparison = match compared.transpose() {
        Ok(comparison) => comparison,
        Err(stopped) => return stopped.of(&told, &trajectory),
    };
    if let Some(before) = &before {
        let unkept = bench.runs.save_baseline(&scenario.id, before).err();
        notes.extend(unkept.map(|error| error.to_string()));
    }
    let idle_rules = score::idle_after(&scenario.scoring, &[&trajectory]);
    let duration_ms = match &repeated {
        Some(repeated) => repeated.total_duration(),
        None => trajectory.duration_ms,
    };
    let mut outcome = ScenarioResult {
        duration_ms,
        checks,
        comparison,
        baseline: before.map(Arc::new),
        idle_rules,
        ..result(&told, Status::Recorded)
    };
    let complete = trajectory.ending.is_complete();
    let fit = failing.is_empty() || (allow_failing && complete);
    if fit {
        match baselines.save(&scenario.id, &trajectory) {
            Ok(path) => {
                notes.push(format!("kept as {}", path.display()));
                outcome.problem = (!failing.is_empty()).then(|| Problem {
                    message: format!("kept, and failing: {}", failing.join("; ")),
                    hint: None,
                    details: Vec::new(),
                });
            }
            Err(error) => {
                outcome.status = Status::Error;
                outcome.problem = Some(problem(error.to_string()));
            }
        }
    } else {
        outcome.status = Status::Failed;
        let which = match &repeated {
            Some(repeated) => format!("all {} runs", repeated.attempts.len()),
            None => "the run".to_owned(),
        };
        outcome.problem = Some(Problem {
            message: format!("not kept, because {which} failed: {}", failing.join("; ")),
            hint: complete.then(|| "`--allow-failing` keeps it".to_owned()),
            details: Vec::new(),
        });
    }
    ScenarioResult {
        current: Some(Arc::new(trajectory)),
        notes,
        repeated: repeated.map(Box::new),
        ..outcome
    }
}
