//! The runs that a comparison leaves for review: one that failed, or changed in more than time and tokens.

use std::sync::Arc;

use super::patience::Stopped;
use super::record::learn_again;
use super::{RunContext, Settings, evaluating};
use crate::model::{Origin, PendingRun, Redacted, ScenarioResult, Servers, Status, Trajectory};
use crate::report::command::quoted;
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::{Baselines, StoreError, fingerprint};

/// Keeps the run of a finished comparison as pending, or removes what was pending where nothing has changed, or where the run did not come
/// to its end: what waits is never of an earlier run than the last one. The run gets its second take first, as `record` would take it, so
/// that an accepted baseline knows what varies, unless it was run `again` already; also where nothing is kept for review, as in CI, because it can be accepted from its report.
pub(crate) async fn settle(
    result: &mut ScenarioResult,
    scenario: &Scenario,
    (replayed, again): (
        Option<&Arc<Redacted<Trajectory>>>,
        Option<Redacted<Trajectory>>,
    ),
    (run_context, baselines): (&RunContext, &Baselines),
    settings: &Settings,
) {
    // Nobody can decide on what is not known to have changed.
    let is_open = result.status == Status::Interrupted || result.unsteady.is_some();
    if settings.answered_by == Servers::Recorded || is_open {
        return;
    }
    // Under the lock, so that nobody who reviews the run before this one takes this one for it.
    let hold = || baselines.hold(&scenario.id);
    let kept = match found(result) {
        Found::Nothing => Ok(()),
        Found::Changed => {
            if !result.status.is_fine_or_skipped() {
                let redacted = run_context.suite.redacted_result(result.clone());
                run_context.progress.judged(&redacted);
            }
            let played = (replayed, again);
            let run = pending_run(result, scenario, played, run_context, baselines).await;
            run.and_then(|run| {
                let Some(run) = run else {
                    return Ok(());
                };
                // Beside the report lies what would become the baseline, so that it can be accepted from there.
                let unkept = run_context.runs.save(&scenario.id, &run.trajectory).err();
                result.notes.extend(unkept.map(|it| it.to_string()));
                if settings.keep_pending {
                    hold().and_then(|_held| baselines.save_pending(&scenario.id, &run).map(drop))
                } else {
                    Ok(())
                }
            })
        }
        Found::Same | Found::Incomplete if !settings.keep_pending => Ok(()),
        Found::Same => hold().and_then(|_held| baselines.remove_pending(&scenario.id)),
        Found::Incomplete => overtaken(scenario, baselines, settings).map(|note| {
            result.notes.extend(note);
        }),
    };
    if let Err(error) = kept {
        result.notes.push(format!("not kept for review: {error}"));
    }
}

enum Found {
    Same,
    Changed,
    /// It was run, and there is no run of it that could be accepted.
    Incomplete,
    /// It was not run.
    Nothing,
}

/// What a result leaves for review.
fn found(result: &ScenarioResult) -> Found {
    let Some(current) = &result.current else {
        return Found::Nothing;
    };
    let comparison = result.comparison.as_ref();
    let Some(comparison) = comparison.filter(|_| current.ending.is_complete()) else {
        return Found::Incomplete;
    };
    let is_other_experiment = !result.experiment_changes.is_empty();
    match result.status {
        Status::Failed => Found::Changed,
        Status::Passed | Status::Inconclusive => {
            let changed = comparison.changes.iter().any(score::is_of_substance);
            if changed || is_other_experiment {
                Found::Changed
            } else {
                Found::Same
            }
        }
        Status::Error if is_other_experiment => Found::Changed,
        _ => Found::Incomplete,
    }
}

/// Whether somebody has to decide on what a comparison has found.
pub(crate) fn is_to_decide(result: &ScenarioResult) -> bool {
    matches!(found(result), Found::Changed)
}

/// Removes what waited for review, because a later run did not come to its end; returns what a reader should know of that.
fn overtaken(
    scenario: &Scenario,
    baselines: &Baselines,
    settings: &Settings,
) -> Result<Option<String>, StoreError> {
    let id = &scenario.id;
    if !baselines.has_pending(id) {
        return Ok(None);
    }
    let _held = baselines.hold(id)?;
    let run = baselines.load_pending(id).ok().flatten();
    baselines.remove_pending(id)?;
    let stored = run.map(|it| settings.runs.join(it.origin.run));
    let hint = stored
        .filter(|it| it.is_dir())
        .map_or_else(String::new, |it| {
            let folder = quoted(&it.to_string_lossy());
            format!("; `mcp-eval review --from {folder}` still shows it")
        });
    Ok(Some(format!(
        "the run before this one does not wait for review any more{hint}"
    )))
}

/// The run with what is learned of it, and what was known before; `None` where that was interrupted.
///
/// # Errors
///
/// When what it was compared with is not there any more.
async fn pending_run(
    result: &mut ScenarioResult,
    scenario: &Scenario,
    played: (
        Option<&Arc<Redacted<Trajectory>>>,
        Option<Redacted<Trajectory>>,
    ),
    run_context: &RunContext,
    baselines: &Baselines,
) -> Result<Option<PendingRun>, StoreError> {
    let (Some(comparison), Some(current)) = (&result.comparison, &result.current) else {
        return Ok(None);
    };
    // As it lies on disk: bindings that the scenario's rules make are not part of it.
    let stored = baselines.load(&scenario.id)?;
    let compared_with = comparison.variant.checked_sub(1);
    let Some(accepted) = compared_with.and_then(|it| stored.get(it)) else {
        return Err(StoreError::Invalid {
            path: baselines.variant_path(&scenario.id, comparison.variant),
            problem: "the run was compared with it, and it is gone".to_owned(),
        });
    };
    let mut trajectory = (**current).clone();
    let learned = learn_again(scenario, played, run_context, &mut trajectory).await;
    if run_context.suite.is_interrupted() {
        return Ok(None);
    }
    // What nothing was learned of is kept all the same: somebody has to look at it.
    let unlearned = learned.unwrap_or_else(|stopped| Some(unlearned(stopped)));
    trajectory.refine(|it| score::carry_over(accepted, it, comparison));
    let redacted = run_context.redacted(scenario);
    let found = run_context.suite.redacted_result(result.clone());
    let found =
        found.derive(|it| evaluating::only_found_then(&it.evaluators, &redacted, &trajectory));
    let run = PendingRun {
        origin: Origin {
            run: run_context.runs.id().to_owned(),
            variant: comparison.variant,
            fingerprint: fingerprint(accepted),
            tally: result.repeated.as_ref().map(|it| it.tally()),
        },
        trajectory,
        found,
    };
    result.notes.extend(unlearned);
    Ok(Some(run))
}

/// Why nothing was learned of what varies, although each take completed.
fn unlearned(stopped: Stopped) -> String {
    let why = match stopped {
        Stopped::Interrupted => "interrupted".to_owned(),
        Stopped::TimedOut(whole) => format!("the scenario's timeout of {whole:?} passed"),
    };
    format!("nothing was learned of what varies: {why}")
}
