//! A baseline of one run, played again only to learn what varies.

use std::iter::once;
use std::sync::Arc;

use super::clients::breaks_clients;
use super::failing::{RunChecks, cannot_be_judged, check_run, from_expectation, looks_like_errors};
use super::learned::{disagreement, learned_notes, learned_places};
use crate::model::repeated::Repeated;
use crate::model::{Evaluation, Object, Problem, Redacted, ScenarioResult, Trajectory};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;
use crate::suite::evaluating::looked_at_again;
use crate::suite::execute::Reads;
use crate::suite::patience::{Patience, Stopped};
use crate::suite::run_context::{Executed, RunContext};
use crate::suite::{Settings, replay};

/// How often a scenario is played by default, which is enough to see what varies.
pub(crate) const USUAL_TAKES: u16 = 2;

/// Runs the scenario; a replay plays `replayed`.
///
/// # Errors
///
/// The result of a run that is no basis for anything.
pub(crate) async fn take(
    scenario: &Scenario,
    replayed: Option<&Arc<Redacted<Trajectory>>>,
    run_context: &RunContext,
    settings: &Settings,
) -> Result<Take, Box<ScenarioResult>> {
    let takes = settings
        .recording
        .takes
        .unwrap_or_else(|| usual_takes(scenario, run_context));
    let reads = settings
        .recording
        .takes
        .map_or_else(|| reads(scenario, run_context), |_| Reads::Once);
    let executed = run_context.perform(scenario, replayed, reads).await;
    if let Some(result) = executed.incomplete() {
        return Err(Box::new(result));
    }
    let Executed {
        scenario: redacted,
        mut trajectory,
        evaluations,
        mut notes,
        patience,
    } = executed;
    let mut evaluations = evaluations.into_inner();
    let check = |trajectory: &Redacted<Trajectory>, evaluations: &[Evaluation]| {
        let replayed = replayed.map(|it| &***it);
        let checked = check_run(&redacted, trajectory, replayed, evaluations);
        checked.map_err(|problem| Box::new(cannot_be_judged(&redacted, trajectory, problem)))
    };
    let mut checked = check(&trajectory, &evaluations)?;
    let stopped =
        |stopped: Stopped, run: &Redacted<Trajectory>| Box::new(stopped.of(&redacted, run));
    let deviations = from_expectation(&redacted, &trajectory, &patience);
    notes.extend(deviations.map_err(|it| stopped(it, &trajectory))?);
    let (mut other_takes, mut details) = (Vec::new(), Vec::new());
    if checked.failing.is_empty() || settings.recording.allow_failing {
        let learning = learn(
            scenario,
            (replayed, None),
            (run_context, takes, true),
            (&mut trajectory, &notes),
            &patience,
        )
        .await;
        let further = learning.map_err(|it| stopped(it, &trajectory))?;
        notes.extend(further.notes);
        notes.extend(further.cut_short);
        let all_reset = run_context.suite.is_all_reset(scenario);
        notes.extend(learned_notes(&trajectory, &further.learned, all_reset));
        details = learned_places(&trajectory);
        other_takes = further.others;
        // Checked again, because another take may have become the baseline.
        evaluations = looked_at_again(
            &evaluations,
            &redacted,
            &trajectory,
            run_context.before.as_deref(),
        );
        checked = check(&trajectory, &evaluations)?;
        if !scenario.replaying.bindings.is_empty()
            && let Err(problem) = replay::bind(&mut [trajectory.clone()], Some(scenario))
        {
            notes.push(rules_that_do_not_fit(&problem));
        }
    }
    notes.extend(looks_like_errors(&redacted, &trajectory));
    notes.extend(breaks_clients(&trajectory.catalogue));
    Ok(Take {
        redacted,
        trajectory,
        other_takes,
        evaluations,
        checked,
        notes,
        details,
        repeated: None,
        patience,
    })
}

/// How often the scenario is played without `--takes`. Only once, with its reads asked again, in two cases: where servers outlive a run,
/// because the effects of a second take would add to those of the first, and where a model decides, because it does not make the same
/// calls twice and each take costs.
pub(crate) fn usual_takes(scenario: &Scenario, run_context: &RunContext) -> u16 {
    if scenario.agent.decides() || !run_context.outliving_servers(scenario).is_empty() {
        1
    } else {
        USUAL_TAKES
    }
}

/// How often a run asks its reads without `--takes`.
pub(crate) fn reads(scenario: &Scenario, run_context: &RunContext) -> Reads {
    if usual_takes(scenario, run_context) == 1 {
        Reads::Twice
    } else {
        Reads::Once
    }
}

/// What further takes have shown.
struct FurtherTakes {
    /// What a reader should know of them besides what is noted of the first take.
    notes: Vec<String>,
    /// That one of them did not complete, so that nothing was learned, and why.
    cut_short: Option<String>,
    /// Those that something was learned from.
    others: Vec<Redacted<Trajectory>>,
    learned: score::Learned,
}

/// Learns what varies in a run that was made already, and stays the one that is kept; the second take may be there. Returns why nothing was learned, where another take did
/// not complete: what else is noted of that take was noted of the first.
///
/// # Errors
///
/// Why it was not done to the end.
pub(crate) async fn learn_again(
    scenario: &Scenario,
    (replayed, again): (
        Option<&Arc<Redacted<Trajectory>>>,
        Option<Redacted<Trajectory>>,
    ),
    run_context: &RunContext,
    trajectory: &mut Redacted<Trajectory>,
) -> Result<Option<String>, Stopped> {
    let takes = usual_takes(scenario, run_context);
    let patience = run_context.suite.patience(scenario, trajectory);
    let context = (run_context, takes, false);
    let played = (replayed, again);
    let further = learn(scenario, played, context, (trajectory, &[]), &patience).await?;
    Ok(further.cut_short)
}

/// Which reads a run asks again that may become the baseline although it is only compared: of those that `record` asks twice, the ones
/// whose answer no accepted trajectory has.
pub(crate) fn unexpected_reads(
    scenario: &Scenario,
    run_context: &RunContext,
    accepted: &[Redacted<Trajectory>],
) -> Reads {
    match reads(scenario, run_context) {
        Reads::Twice => Reads::WhereNew(accepted.into()),
        once => once,
    }
}

/// Plays the scenario again and learns which places of the answers vary by nature: those that differ between the answers to one and the
/// same request. Where two takes disagree in kind, a third shows the odd one; where that is the first and it `may_change_places`, another
/// becomes the baseline. Fails where it was not done to the end.
async fn learn(
    scenario: &Scenario,
    (replayed, again): (
        Option<&Arc<Redacted<Trajectory>>>,
        Option<Redacted<Trajectory>>,
    ),
    (run_context, takes, may_change_places): (&RunContext, u16, bool),
    (trajectory, known): (&mut Redacted<Trajectory>, &[String]),
    patience: &Patience,
) -> Result<FurtherTakes, Stopped> {
    let mut others: Vec<_> = again.into_iter().collect();
    let mut notes = Vec::new();
    let mut cut_short = None;
    let learn_from = |first: &Trajectory, others: &[Redacted<Trajectory>]| {
        let played: Vec<&Trajectory> = once(first).chain(others.iter().map(|it| &**it)).collect();
        patience.spend_on(|is_unwanted| score::learn_until(&played, &scenario.scoring, is_unwanted))
    };
    let mut learned = learn_from(trajectory, &others)?;
    let mut wanted = usize::from(takes);
    loop {
        let takes = 1 + others.len();
        if takes == usize::from(USUAL_TAKES) && !learned.disagreements.is_empty() {
            wanted = wanted.max(takes + 1);
        }
        if takes >= wanted {
            break;
        }
        let take = takes + 1;
        let again = run_context.play_again(scenario, replayed).await;
        let news = again.notes.iter().filter(|it| !known.contains(it));
        notes.extend(news.map(|it| format!("take {take}: {it}")));
        if let Some(result) = again.incomplete() {
            let why = result
                .scenario
                .problem
                .map(|it| it.message)
                .unwrap_or_default();
            cut_short = Some(format!(
                "take {take} did not complete, so nothing was learned of what varies: {why}"
            ));
            others.clear();
            learned = learn_from(trajectory, &others)?;
            break;
        }
        others.push(again.trajectory);
        learned = learn_from(trajectory, &others)?;
    }
    let first_is_odd = learned.disagreements.iter().any(|it| it.odd == Some(1));
    let mut odd: Vec<usize> = (learned.disagreements.iter())
        .filter_map(|it| it.odd)
        .collect();
    if learned.disagreements.iter().any(|it| it.odd.is_none()) {
        odd.extend(2..=1 + others.len());
    }
    if first_is_odd && others.len() > 1 && may_change_places {
        odd.clear();
        let first = learned.disagreements.iter().filter(|it| it.odd == Some(1));
        notes.extend(first.map(|it| disagreement(it, false)));
        notes.push("so take 2 is the baseline".to_owned());
        *trajectory = others.remove(0);
        learned = learn_from(trajectory, &others)?;
    }
    trajectory.refine(|it| learned.keep_in(it));
    if let Agent::Scripted { calls } = &scenario.agent {
        let calls: Vec<&Object> = calls.iter().map(|call| &call.arguments).collect();
        trajectory.refine(|it| score::leave_out_literals(&mut it.bindings, &calls));
    }
    // Of a take that found what another left behind, or that is the odd one, nothing was learned.
    if learned.left_behind.is_some() {
        others.clear();
    }
    let others = (2..).zip(others);
    let others = others.filter(|(take, _)| !odd.contains(take));
    Ok(FurtherTakes {
        notes,
        cut_short,
        others: others.map(|(_, it)| it).collect(),
        learned,
    })
}

/// A note on the scenario's own rules that do not fit what was recorded.
pub(crate) fn rules_that_do_not_fit(problem: &Problem) -> String {
    format!("{}: {}", problem.message, problem.details.join("; "))
}

/// A run that is to become the baseline.
pub(super) struct Take {
    /// The scenario without secrets, its expectations filled in with what the run answered.
    pub(super) redacted: Redacted<Scenario>,
    /// With what is learned of it.
    pub(super) trajectory: Redacted<Trajectory>,
    /// The other takes of the same calls it was learned from.
    pub(super) other_takes: Vec<Redacted<Trajectory>>,
    pub(super) evaluations: Vec<Evaluation>,
    pub(super) checked: RunChecks,
    pub(super) notes: Vec<String>,
    pub(super) details: Vec<String>,
    /// What all runs came to, where there were several.
    pub(super) repeated: Option<Repeated>,
    /// How long it may be compared.
    pub(super) patience: Patience,
}
