//! A baseline of one run, played again only to learn what varies.

use std::sync::Arc;

use super::Take;
use super::failing::{Looked, cannot_be_judged, from_expectation, look, looks_like_errors};
use crate::cli::args::RecordArgs;
use crate::cli::bench::{Bench, Executed};
use crate::cli::outcome::incomplete;
use crate::cli::replay;
use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult};
use crate::model::trajectory::Trajectory;
use crate::score;

/// How often a scenario is played where nothing speaks against it: enough to see what varies.
const USUAL_TAKES: u16 = 2;

/// Runs the scenario; a replay plays `replayed`.
///
/// # Errors
///
/// The result of a run that is no basis for anything.
pub(super) async fn take(
    scenario: &Scenario,
    replayed: Option<&Arc<Trajectory>>,
    bench: &Bench,
    args: &RecordArgs,
) -> Result<Take, Box<ScenarioResult>> {
    let executed = bench.execute(scenario, replayed).await;
    if let Some(result) = incomplete(&executed) {
        return Err(Box::new(result));
    }
    let Executed {
        scenario: told,
        mut trajectory,
        mut notes,
    } = executed;
    let looked = look(&told, &trajectory, replayed.map(Arc::as_ref));
    let Looked { checks, failing } =
        looked.map_err(|problem| Box::new(cannot_be_judged(&told, &trajectory, problem)))?;
    notes.extend(from_expectation(&told, &trajectory));
    notes.extend(looks_like_errors(&told, &trajectory));
    if failing.is_empty() || args.allow_failing {
        notes.extend(learn(scenario, replayed, bench, args.takes, &mut trajectory).await);
        if let Err(problem) = replay::bind(&mut [trajectory.clone()], Some(scenario)) {
            notes.push(rules_that_do_not_fit(&problem));
        }
    }
    Ok(Take {
        told,
        trajectory,
        checks,
        failing,
        notes,
        repeated: None,
    })
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
    notes.extend(learned_words(trajectory, takes.into()));
    notes
}

/// What was learned from several takes, in words.
pub(super) fn learned_words(trajectory: &Trajectory, takes: usize) -> Vec<String> {
    let places = trajectory
        .volatile
        .iter()
        .flat_map(|it| it.paths.iter().map(move |path| (it.call, path)));
    let varies = places.map(|(call, path)| {
        format!("learned from {takes} takes: {path} of the answer to call {call} varies")
    });
    let bound = trajectory.bindings.iter().map(|it| format!("bound: {it}"));
    varies.chain(bound).collect()
}

/// A note on the scenario's own rules that do not fit what was recorded.
pub(super) fn rules_that_do_not_fit(problem: &Problem) -> String {
    format!("{}: {}", problem.message, problem.details.join("; "))
}
