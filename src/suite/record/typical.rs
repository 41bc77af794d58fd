//! A baseline of several runs: the most typical of them, and how often the others were as good.

use std::sync::Arc;

use super::clients::breaks_clients;
use super::failing::{
    RunChecks, cannot_be_judged, check_run, from_expectation, looks_like_errors, unmet,
};
use super::learned;
use super::once::{Take, reads, rules_that_do_not_fit};
use crate::evaluate::Accepted;
use crate::model::repeated::Attempt;
use crate::model::{Check, Redacted, ScenarioResult, Status, Trajectory};
use crate::scenario_file::Scenario;
use crate::score;
use crate::suite::judge::judge;
use crate::suite::outcome::{result, without_verdict};
use crate::suite::patience::{Patience, Stopped};
use crate::suite::repeat::{REASON_CHARS, kept, may_be_kept};
use crate::suite::run_context::{Executed, RunContext};
use crate::suite::{Settings, replay};
use crate::text::shorten;

/// The most runs that are compared with each other to find the most typical one. Of more, this many are taken, evenly spread.
const CANDIDATES: usize = 40;

/// A run that has ended by itself.
struct Played {
    executed: Executed,
    checked: RunChecks,
}

/// Runs the scenario several times, and takes the run that is most like the others; a replay plays `replayed`.
///
/// Runs that fail their own expectations are not taken, unless all do or that is asked for.
///
/// # Errors
///
/// The result of the first run that is no basis for anything: no other is made then.
pub(crate) async fn take(
    scenario: &Scenario,
    replayed: Option<&Arc<Redacted<Trajectory>>>,
    run_context: &RunContext,
    settings: &Settings,
) -> Result<Take, Box<ScenarioResult>> {
    let mut played = Vec::new();
    let mut notes = Vec::new();
    for number in 1..=settings.times {
        let others_are_fine = played
            .iter()
            .all(|it: &Played| it.checked.failing.is_empty());
        let look = may_be_kept(scenario, number, settings.times, others_are_fine);
        let playing = Box::pin(play(
            scenario,
            replayed,
            run_context,
            number,
            settings,
            look,
        ))
        .await;
        let (run, of_containers) = playing.map_err(|mut result| {
            if result.status == Status::Interrupted {
                // The attempts before the interruption are reported, too.
                let made = played.iter().map(|it| {
                    let patience = &it.executed.patience;
                    attempt(
                        it,
                        None,
                        (scenario, patience),
                        settings.recording.allow_failing,
                    )
                });
                let made = made.chain([kept(&result)]).collect();
                result.repeated = Some(Box::new(score::summarise(made, number.into())));
            }
            result
        })?;
        notes.extend(of_containers);
        played.push(run);
    }
    demand_what_one_met(&mut played);
    let usable: Vec<usize> = (0..played.len())
        .filter(|index| {
            let it = &played[*index];
            let complete = it.executed.trajectory.ending.is_complete();
            complete && (it.checked.failing.is_empty() || settings.recording.allow_failing)
        })
        .collect();
    let Some(last) = played.last() else {
        let why = "no run was made".to_owned();
        return Err(Box::new(without_verdict(
            &run_context.redacted(scenario),
            Status::Error,
            why,
        )));
    };
    let (patience, redacted) = (
        last.executed.patience.clone(),
        run_context.redacted(scenario),
    );
    let run = last.executed.trajectory.clone();
    let stopped = |stopped: Stopped| Box::new(stopped.of(&redacted, &run));
    let scoring = (scenario, &patience);
    let order = most_typical(&played, &usable, scoring).map_err(stopped)?;
    let mut order = order.into_iter();
    let mut as_baseline = || -> Result<_, Stopped> {
        let Some(index) = order.next() else {
            return Ok(None);
        };
        Ok(Some((index, baseline(index, &played, &usable, scoring)?)))
    };
    let (baseline, next) = (
        as_baseline().map_err(stopped)?,
        as_baseline().map_err(stopped)?,
    );
    // If all runs have failed, the result shows the first.
    let taken = baseline.as_ref().map_or(0, |(index, _)| *index);
    let attempts = played.iter().enumerate().map(|(index, it)| {
        // A run compared with itself would always pass, so the kept run is compared with the second most typical.
        let measure = if index == taken { &next } else { &baseline };
        let measure = measure.as_ref().map(|(_, it)| it);
        attempt(it, measure, scoring, settings.recording.allow_failing)
    });
    let repeated = score::summarise(attempts.collect(), taken + 1);
    let Played { executed, checked } = played.swap_remove(taken);
    let mut trajectory = executed.trajectory;
    let mut details = Vec::new();
    if let Some((_, baseline)) = baseline {
        notes.extend(baseline.misfit);
        trajectory = baseline.kept;
        trajectory.refine(|it| it.repeated = Some(repeated.tally()));
        let all_reset = run_context.suite.is_all_reset(scenario);
        let learned = learned::learned_notes(&trajectory, &baseline.learned, all_reset);
        notes.extend(learned);
        details = learned::learned_places(&trajectory);
        notes.push(format!(
            "{}; kept attempt {} (most typical)",
            repeated.tally().recorded_words(),
            taken + 1
        ));
    }
    notes.extend(executed.notes);
    let deviations = from_expectation(&executed.scenario, &trajectory, &patience);
    notes.extend(deviations.map_err(stopped)?);
    notes.extend(looks_like_errors(&executed.scenario, &trajectory));
    notes.extend(breaks_clients(&trajectory.catalogue));
    notes.extend(run_context.show(&scenario.id, taken + 1));
    Ok(Take {
        redacted: executed.scenario,
        trajectory,
        // Each attempt may make other calls, so they are no takes of the same.
        other_takes: Vec::new(),
        evaluations: executed.evaluations.into_inner(),
        checked,
        notes,
        details,
        repeated: Some(repeated),
        patience: patience.clone(),
    })
}

/// Fails the runs that do not meet a text which another run met. Unmet by all, such a text stays unchecked, because it may be prose that
/// nothing was meant to be compared with.
fn demand_what_one_met(played: &mut [Played]) {
    let longest = played
        .iter()
        .map(|it| it.checked.checks.len())
        .max()
        .unwrap_or(0);
    for index in 0..longest {
        let is_met = |it: &Played| {
            let check = it.checked.checks.get(index);
            check.is_some_and(|it| it.passed)
        };
        if !played.iter().any(is_met) {
            continue;
        }
        for run in played.iter_mut().map(|it| &mut it.checked) {
            let others = run.checks.iter().any(Check::fails);
            let check = run.checks.get_mut(index);
            if let Some(check) = check.filter(|it| it.unchecked) {
                check.unchecked = false;
                "another of the runs says it, and this one does not".clone_into(&mut check.message);
                // The last reason counts them.
                if others {
                    run.failing.pop();
                }
                run.failing.extend(unmet(&run.checks));
            }
        }
    }
}

/// Makes one run, with a `look` at its container should it not pass, and returns it with what a reader should know of its container.
async fn play(
    scenario: &Scenario,
    replayed: Option<&Arc<Redacted<Trajectory>>>,
    run_context: &RunContext,
    number: u16,
    settings: &Settings,
    look: bool,
) -> Result<(Played, Vec<String>), Box<ScenarioResult>> {
    let times = settings.times;
    let unusable = |mut result: ScenarioResult| {
        if let Some(problem) = &mut result.problem {
            problem.message = format!(
                "attempt {number} of {times}, without which nothing is kept: {}",
                problem.message
            );
        }
        Box::new(result)
    };
    if let Some(why) = run_context.exhausted(scenario) {
        let why = format!("not made: {why}");
        return Err(unusable(without_verdict(
            &run_context.redacted(scenario),
            Status::Error,
            why,
        )));
    }
    let attempt = run_context.attempt(number, times);
    let executed = attempt
        .perform(scenario, replayed, reads(scenario, run_context))
        .await;
    let checked = match executed.incomplete() {
        None => {
            let (redacted, run) = (&executed.scenario, &executed.trajectory);
            let replayed = replayed.map(|it| &***it);
            let checked = check_run(redacted, run, replayed, &executed.evaluations);
            checked.map_err(|problem| unusable(cannot_be_judged(redacted, run, problem)))?
        }
        Some(result) if result.status == Status::Failed => RunChecks {
            failing: result
                .scenario
                .problem
                .into_iter()
                .map(|it| it.message)
                .collect(),
            ..RunChecks::default()
        },
        Some(mut result) => {
            let look = look && result.status != Status::Interrupted;
            result.notes.extend(attempt.slot.release(look).await);
            result
                .notes
                .extend(run_context.show(&scenario.id, number.into()));
            return Err(unusable(result));
        }
    };
    let has_passed = checked.failing.is_empty();
    let notes = attempt.slot.release(look && !has_passed).await;
    let status = if has_passed {
        Status::Passed
    } else {
        Status::Failed
    };
    run_context.progress.attempted(number, times, status);
    Ok((Played { executed, checked }, notes))
}

/// The usable runs, the most typical first: the one with the highest mean score against the others, the earlier of equal ones.
fn most_typical(
    played: &[Played],
    usable: &[usize],
    scoring: (&Scenario, &Patience),
) -> Result<Vec<usize>, Stopped> {
    let (scenario, patience) = scoring;
    let step = usable.len().div_ceil(CANDIDATES).max(1);
    let candidates: Vec<usize> = usable.iter().copied().step_by(step).collect();
    let mut scored: Vec<(usize, f64)> = Vec::new();
    for candidate in &candidates {
        let accepted = baseline(*candidate, played, &candidates, scoring)?.accepted;
        let mut sum = 0.0;
        for other in candidates.iter().filter(|it| *it != candidate) {
            let other = &played[*other].executed.trajectory;
            let compared = patience.spend_on(|is_unwanted| {
                score::compare_until(&accepted, other, &scenario.scoring, is_unwanted)
            });
            sum += compared?.scores.overall;
        }
        scored.push((*candidate, sum));
    }
    // Each has been compared with equally many others, so the order of the sums is that of the means.
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(scored.into_iter().map(|(index, _)| index).collect())
}

/// A run as a baseline.
struct Baseline {
    /// With what the runs show to vary, and what its calls take from earlier answers.
    kept: Redacted<Trajectory>,
    /// The same with the scenario's own rules for that applied, as later runs will be compared with it.
    accepted: Redacted<Trajectory>,
    learned: score::Learned,
    /// Why these rules do not fit.
    misfit: Option<String>,
}

/// One of these runs as the baseline that all of them make together.
fn baseline(
    index: usize,
    played: &[Played],
    runs: &[usize],
    (scenario, patience): (&Scenario, &Patience),
) -> Result<Baseline, Stopped> {
    let others = runs.iter().copied().filter(|it| *it != index);
    let takes = std::iter::once(index).chain(others);
    let takes: Vec<Redacted<Trajectory>> = takes
        .map(|it| played[it].executed.trajectory.clone())
        .collect();
    let learned = patience
        .spend_on(|is_unwanted| score::learn_until(&takes, &scenario.scoring, is_unwanted))?;
    let mut kept = played[index].executed.trajectory.clone();
    kept.refine(|it| learned.keep_in(it));
    let mut accepted = kept.clone();
    let bound = replay::bind(std::slice::from_mut(&mut accepted), Some(scenario));
    Ok(Baseline {
        kept,
        accepted,
        learned,
        misfit: bound.err().map(|it| rules_that_do_not_fit(&it)),
    })
}

/// What a run came to, measured by a baseline as `compare` would.
fn attempt(
    played: &Played,
    measure: Option<&Baseline>,
    (scenario, patience): (&Scenario, &Patience),
    allow_failing: bool,
) -> Attempt {
    let Executed {
        scenario: redacted,
        trajectory,
        evaluations,
        notes: _,
        patience: _,
    } = &played.executed;
    let open = result(redacted, Status::Passed).with(|it| {
        it.duration_ms = trajectory.duration_ms;
        it.current = Some(Arc::new(trajectory.clone()));
        it.evaluators.clone_from(evaluations);
    });
    let judged = measure.filter(|_| trajectory.ending.is_complete());
    let judged = judged.and_then(|it| {
        let accepted = std::slice::from_ref(&it.accepted);
        let current = Arc::new(trajectory.clone());
        judge(
            open.clone(),
            Some(redacted),
            (accepted, Accepted::Baseline),
            current,
            (&scenario.scoring, patience),
            true,
        )
    });
    let mut attempt = kept(&judged.unwrap_or(open));
    if !played.checked.failing.is_empty() && !allow_failing {
        attempt.status = Status::Failed;
        let reason = played.checked.failing.join("; ");
        attempt.reason = Some(shorten(&reason, REASON_CHARS).into_owned());
    }
    attempt
}
