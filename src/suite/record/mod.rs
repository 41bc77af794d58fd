//! Scenarios are run, and their trajectories kept as baselines.

mod failing;
mod learned;
mod once;
mod take;
mod typical;

pub(crate) use self::failing::check_run;
pub(crate) use self::learned::learned_notes;
pub(crate) use self::once::{USUAL_TAKES, usual_takes};

use std::sync::Arc;

use self::take::Take;
use super::ci;
use super::error::Error;
use super::outcome::{problem, result};
use super::play::{Finished, Suite, play};
use super::replay;
use super::run_context::RunContext;
use super::settings::Settings;
use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status};
use crate::score;
use crate::store::Baselines;

/// Runs scenarios and keeps their trajectories as baselines. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn record(suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    let folder = &settings.baselines;
    let baselines = if settings.recording.of_one_scenario {
        Baselines::of_one_scenario(folder)
    } else {
        Baselines::new(folder)
    };
    play("record", suite, settings, |scenario, run_context| {
        let (settings, baselines) = (settings.clone(), baselines.clone());
        async move { record_one(&scenario, &run_context, &baselines, &settings).await }
    })
    .await
}

async fn record_one(
    scenario: &Scenario,
    run_context: &RunContext,
    baselines: &Baselines,
    settings: &Settings,
) -> ScenarioResult {
    // A replay plays the existing baseline, and records the answers its calls get now.
    let replayed = match replay::to_play(scenario, baselines) {
        Ok(replayed) => replayed,
        Err(problem) => {
            return ScenarioResult {
                problem: Some(problem),
                ..result(&run_context.redacted(scenario), Status::Error)
            };
        }
    };
    let taken = if settings.times > 1 {
        Box::pin(typical::take(
            scenario,
            replayed.as_ref(),
            run_context,
            settings,
        ))
        .await
    } else {
        Box::pin(once::take(
            scenario,
            replayed.as_ref(),
            run_context,
            settings,
        ))
        .await
    };
    match taken {
        Ok(take) => keep(
            scenario,
            take,
            run_context,
            baselines,
            settings.recording.allow_failing,
        ),
        Err(result) => *result,
    }
}

/// Keeps a run as the baseline, unless something speaks against it, and reports what differs from the baseline before.
fn keep(
    scenario: &Scenario,
    take: Take,
    run_context: &RunContext,
    baselines: &Baselines,
    allow_failing: bool,
) -> ScenarioResult {
    let Take {
        redacted,
        trajectory,
        checks,
        failing,
        mut notes,
        repeated,
        patience,
    } = take;
    // The baseline before, to show what changes. If it cannot be read, it is replaced all the same.
    let loaded = replay::load(baselines, &scenario.id);
    let main = loaded.as_ref().ok().and_then(|it| it.first());
    ci::mend(baselines, &scenario.id, main.map(|it| &**it));
    let before = match loaded {
        Ok(accepted) => accepted.into_iter().next().map(|mut it| {
            // Rules that do not fit are among the notes already.
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
        Err(stopped) => return stopped.of(&redacted, &trajectory),
    };
    if let Some(before) = &before {
        let unkept = run_context.runs.save_baseline(&scenario.id, before).err();
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
        ..result(&redacted, Status::Recorded)
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
