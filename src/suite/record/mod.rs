//! Scenarios are run, and their trajectories kept as baselines.

mod clients;
mod failing;
mod learned;
mod once;
mod typical;

use std::sync::Arc;

use once::Take;

use super::measuring::Doing;
use super::outcome::result;
use super::play::play;
use super::{Error, Finished, RunContext, Settings, Suite, ci, replay};

use crate::model::{Comparison, Problem, Redacted, ScenarioResult, Status, Trajectory};
use crate::scenario_file::Scenario;
use crate::score::{self, Cancelled};
use crate::store::{Baselines, StoreError};

pub(crate) use self::failing::check_run;
pub(crate) use self::learned::{learned_notes, learned_places};
pub(crate) use self::once::{USUAL_TAKES, learn_again, reads, unexpected_reads, usual_takes};

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
    let finished = play(
        "record",
        Doing::Record,
        suite,
        settings,
        |scenario, run_context| {
            let (settings, baselines) = (settings.clone(), baselines.clone());
            let run_context = run_context.knowing(&baselines, &scenario.id);
            async move { record_one(&scenario, &run_context, &baselines, &settings).await }
        },
    )
    .await;
    baselines.settle();
    finished
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
        Err(problem) => return run_context.unplayed(scenario, problem),
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
    let result = match taken {
        Ok(take) => keep(
            scenario,
            take,
            run_context,
            baselines,
            settings.recording.allow_failing,
        ),
        Err(result) => *result,
    };
    Box::pin(run_context.judge_prose(scenario, result, false)).await
}

/// What a new recording becomes.
struct Over {
    /// The accepted trajectory it takes the place of, the main one being 1.
    variant: usize,
    becomes: Becomes,
}

enum Becomes {
    /// The accepted trajectory stays as it is, because nothing has changed.
    Unchanged,
    /// The new one, with the old values where nothing has changed.
    Mixed(Box<Trajectory>),
    /// The new one as it is.
    Itself,
}

impl Default for Over {
    fn default() -> Self {
        Self {
            variant: 1,
            becomes: Becomes::Itself,
        }
    }
}

impl Over {
    /// What becomes of a recording, given with its other takes, and its comparison with the accepted trajectory that it takes the place of:
    /// the variant that it passes as, else the main one. `None` where none is accepted.
    fn new(
        accepted: &[Redacted<Trajectory>],
        (trajectory, other_takes): (&Trajectory, &[Redacted<Trajectory>]),
        scenario: &Scenario,
        is_unwanted: &dyn Fn() -> bool,
    ) -> Result<Option<(Self, Comparison)>, Cancelled> {
        let rules = &scenario.scoring;
        let compared = score::compare_variants(accepted, trajectory, rules, is_unwanted)?;
        let (Some(best), Some(main)) = (compared, accepted.first()) else {
            return Ok(None);
        };
        let comparison = if best.verdict.passed || best.variant == 1 {
            best
        } else {
            score::compare_until(main, trajectory, rules, is_unwanted)?
        };
        let before = accepted.get(comparison.variant - 1).unwrap_or(main);
        let takes: Vec<&Trajectory> = other_takes.iter().map(|it| &**it).collect();
        let recording = score::Recording {
            kept: trajectory,
            comparison: &comparison,
            other_takes: &takes,
        };
        let becomes = match score::recorded_again(before, recording, rules, is_unwanted)? {
            None => Becomes::Unchanged,
            Some(mixed) => Becomes::Mixed(Box::new(mixed)),
        };
        let over = Self {
            variant: comparison.variant,
            becomes,
        };
        Ok(Some((over, comparison)))
    }

    /// Keeps the recording, and says where.
    fn save(
        self,
        baselines: &Baselines,
        scenario: &str,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<String, StoreError> {
        let mixed = match self.becomes {
            Becomes::Unchanged => {
                let path = baselines.variant_path(scenario, self.variant);
                return Ok(format!(
                    "nothing has changed, so {} stays as it is",
                    path.display()
                ));
            }
            Becomes::Mixed(mixed) => Some(trajectory.derive(|_| *mixed)),
            Becomes::Itself => None,
        };
        let kept = mixed.as_ref().unwrap_or(trajectory);
        let path = baselines.save_variant(scenario, self.variant, kept)?;
        Ok(format!("kept as {}", path.display()))
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
        other_takes,
        evaluations,
        checked,
        mut notes,
        mut details,
        repeated,
        patience,
    } = take;
    // The baseline before, to show what changes. If it cannot be read, it is replaced all the same.
    let loaded = replay::load(baselines, &scenario.id);
    let main = loaded.as_ref().ok().and_then(|it| it.first());
    ci::mend(baselines, &scenario.id, main.map(|it| &**it));
    let mut accepted = loaded.unwrap_or_else(|error| {
        notes.push(format!("the old baseline is not compared: {error}"));
        Vec::new()
    });
    // Rules that do not fit are among the notes already.
    let _ = replay::bind(&mut accepted, Some(scenario));
    let new = (&*trajectory, &*other_takes);
    let over = patience.spend_on(|is_unwanted| Over::new(&accepted, new, scenario, is_unwanted));
    let (over, comparison) = match over {
        Ok(Some((over, comparison))) => (Some(over), Some(comparison)),
        Ok(None) => (None, None),
        Err(stopped) => return stopped.of(&redacted, &trajectory),
    };
    drop(other_takes);
    let before = (over.as_ref()).and_then(|it| accepted.into_iter().nth(it.variant - 1));
    if let Some(before) = &before {
        let unkept = run_context.runs.save_baseline(&scenario.id, before).err();
        notes.extend(unkept.map(|error| error.to_string()));
    }
    let idle_rules = score::idle_after(&scenario.scoring, &[&trajectory]);
    let duration_ms = match &repeated {
        Some(repeated) => repeated.total_duration(),
        None => trajectory.duration_ms,
    };
    let mut outcome = result(&redacted, Status::Recorded).with(|it| {
        it.duration_ms = duration_ms;
        it.checks = checked.checks;
        it.evaluators = evaluations;
        it.overall = checked.evaluation;
        it.comparison = comparison;
        it.baseline = before.map(Arc::new);
        it.idle_rules = idle_rules;
    });
    let failing = checked.failing;
    let complete = trajectory.ending.is_complete();
    let fit = failing.is_empty() || (allow_failing && complete);
    if fit {
        match over
            .unwrap_or_default()
            .save(baselines, &scenario.id, &trajectory)
        {
            Ok(note) => {
                details.push(note);
                notes.extend(overtake(baselines, &scenario.id));
                let message = format!("kept, and failing: {}", failing.join("; "));
                outcome.problem = (!failing.is_empty()).then(|| Problem::new(message));
            }
            Err(error) => {
                outcome.status = Status::Error;
                outcome.problem = Some(Problem::new(error.to_string()));
            }
        }
    } else {
        outcome.status = Status::Failed;
        let which = match &repeated {
            Some(repeated) => format!("all {} runs", repeated.attempts.len()),
            None => "the run".to_owned(),
        };
        let message = format!("not kept, because {which} failed: {}", failing.join("; "));
        outcome.problem = Some(Problem {
            hint: complete.then(|| "`--allow-failing` keeps it".to_owned()),
            ..Problem::new(message)
        });
    }
    outcome.with(|it| {
        it.current = Some(Arc::new(trajectory));
        it.notes = notes;
        it.details = details;
        it.repeated = repeated.map(Box::new);
    })
}

/// Removes what waited for review before the scenario was recorded again; returns what a reader should know of that.
fn overtake(baselines: &Baselines, scenario: &str) -> Option<String> {
    if !baselines.has_pending(scenario) {
        return None;
    }
    let held = baselines.hold(scenario);
    let removed = held.and_then(|_held| baselines.remove_pending(scenario));
    Some(match removed {
        Ok(()) => "what waited for review is gone: this recording came after it".to_owned(),
        Err(error) => format!("what waits for review is older than this recording: {error}"),
    })
}
