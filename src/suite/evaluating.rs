//! Evaluators look at a run while what it left still stands.

use std::sync::LazyLock;

use super::containers::ContainerSlot;
use super::run_environment::Around;
use crate::agent;
use crate::evaluate::{self, OfferedBefore, Subject};
use crate::model::number::apart;
use crate::model::{
    Catalogue, Evaluation, EvaluationStatus, Found, Gate, Overall, Problem, Redacted, Role,
    Trajectory, Trouble,
};
use crate::redact::Redactor;
use crate::scenario_file::Scenario;
use crate::store::Baselines;

/// Whether evaluators look at a run.
#[derive(Clone, Copy)]
pub(crate) enum Evaluating<'a> {
    /// It is made only to learn from it.
    Not,
    They {
        /// The times of its calls are judged with those of other runs.
        among_others: bool,
        /// What servers offered before, where anything is accepted.
        before: Option<&'a OfferedBefore>,
    },
}

/// What servers offered in a trajectory that was accepted.
pub(crate) fn offered_in(accepted: &Trajectory) -> OfferedBefore {
    let catalogue = accepted.catalogue.clone();
    LazyLock::new(Box::new(move || Some(catalogue)))
}

/// What they offered in those of a scenario, which are read when somebody asks for it; nothing where there is none that can be read.
pub(crate) fn offered_in_baselines(baselines: &Baselines, scenario: &str) -> OfferedBefore {
    let (baselines, scenario) = (baselines.clone(), scenario.to_owned());
    LazyLock::new(Box::new(move || {
        let accepted = baselines.load(&scenario).ok()?;
        let servers = accepted.iter().flat_map(|it| &it.catalogue.servers);
        let own = accepted.iter().flat_map(|it| &it.catalogue.own);
        Some(Catalogue {
            servers: servers.cloned().collect(),
            own: own.cloned().collect(),
        })
    }))
}

/// The scenario with its expectations filled in with what a run answered.
pub(crate) fn filled(scenario: &Scenario, trajectory: &Trajectory) -> Scenario {
    let mut filled = scenario.clone();
    let answers = agent::Answers::of(trajectory, Some(scenario.agent.calls()));
    for expected in &mut filled.expected_trajectory {
        answers.fill_references(&mut expected.arguments, &expected.filled);
    }
    filled
}

/// The same as it may be shown after a run: without secrets.
pub(crate) fn redacted_scenario(
    scenario: &Scenario,
    trajectory: &Redacted<Trajectory>,
    redactor: &Redactor,
) -> Redacted<Scenario> {
    redactor.shown(&filled(scenario, trajectory))
}

/// What the evaluators find in a run that still stands, which may be there as it was `said`, too.
pub(crate) async fn evaluations(
    scenario: &Scenario,
    (trajectory, said): (&Redacted<Trajectory>, Option<&Trajectory>),
    (around, containers, redactor): (&Around, &ContainerSlot, &Redactor),
    evaluating: Evaluating<'_>,
) -> Redacted<Vec<Evaluation>> {
    let Evaluating::They {
        among_others,
        before,
    } = evaluating
    else {
        return Redacted::default();
    };
    if scenario.evaluators.is_empty() || !trajectory.ending.is_complete() {
        return Redacted::default();
    }
    let redacted = redacted_scenario(scenario, trajectory, redactor);
    let asked = around.of_run(&redacted, trajectory, containers, redactor);
    let subject = Subject {
        scenario: &redacted,
        trajectory,
        said: Some((scenario, said.unwrap_or(trajectory))),
        around: Some(&asked),
        is_repeated: among_others,
        before,
    };
    let found = evaluate::evaluate(subject).await;
    redactor.evaluations(found)
}

/// What they find in a run that was stored.
pub(crate) fn of_stored(
    scenario: &Scenario,
    trajectory: &Trajectory,
    before: Option<&OfferedBefore>,
) -> Vec<Evaluation> {
    of_stored_one(scenario, trajectory, before, false)
}

/// The same; the times of its calls may be judged with those of other runs.
fn of_stored_one(
    scenario: &Scenario,
    trajectory: &Trajectory,
    before: Option<&OfferedBefore>,
    among_others: bool,
) -> Vec<Evaluation> {
    let subject = Subject {
        scenario,
        trajectory,
        said: None,
        around: None,
        is_repeated: among_others,
        before,
    };
    evaluate::evaluate_stored(subject)
}

/// What they find in a run that took the place of the one they looked at: what lay around that one is as it was.
pub(crate) fn looked_at_again(
    then: &[Evaluation],
    scenario: &Scenario,
    trajectory: &Trajectory,
    before: Option<&OfferedBefore>,
) -> Vec<Evaluation> {
    let now = of_stored(scenario, trajectory, before).into_iter();
    now.zip(then)
        .map(|(now, then)| if now.is_gone { then.clone() } else { now })
        .collect()
}

/// What was found in a run by those that cannot look at it again, once it is stored.
pub(crate) fn only_found_then(
    then: &[Evaluation],
    scenario: &Scenario,
    trajectory: &Trajectory,
) -> Vec<Found> {
    let now = of_stored(scenario, trajectory, None);
    let gone = now.iter().zip(then).filter(|(now, _)| now.is_gone);
    gone.map(|(_, then)| then.clone().into()).collect()
}

/// What evaluators find in a stored run, with what was found by those that cannot look at it again. One of these that was not asked then has
/// no say, and cannot get one. Where nobody knows what was found, they are skipped, or an error where a secret may decide.
pub(crate) fn with_found(
    scenario: &Scenario,
    trajectory: &Trajectory,
    (found, before): (Option<&[Found]>, Option<&OfferedBefore>),
    among_others: bool,
) -> Vec<Evaluation> {
    let mut now = of_stored_one(scenario, trajectory, before, among_others);
    let Some(found) = found else {
        return now;
    };
    let mut left: Vec<&Found> = found.iter().collect();
    for gone in now.iter_mut().filter(|it| it.is_gone) {
        let is_of_it = |it: &&Found| match &it.definition {
            Some(_) => it.definition == gone.definition,
            // Of an older version, nothing but the name is known.
            None => it.evaluator == gone.name,
        };
        let Some(at) = left.iter().position(is_of_it) else {
            gone.status = EvaluationStatus::Error;
            NOT_ASKED.clone_into(&mut gone.message);
            continue;
        };
        // Two may be alike: what one found is not what the other did.
        let found = left.remove(at);
        let passed = matches!(
            found.status,
            EvaluationStatus::Passed | EvaluationStatus::Skipped
        );
        if found.definition.is_none() && passed {
            // It may be another one by now.
            continue;
        }
        gone.status = found.status;
        gone.score = found.score;
        gone.message.clone_from(&found.message);
        gone.details.clear();
    }
    now
}

/// Why an evaluator cannot judge a stored run that it was not asked about.
const NOT_ASKED: &str = "it was not asked when this run was made: it is new since then, or was another; run the scenario again";

/// Why gating evaluators fail a run, a sentence each.
pub(crate) fn reasons(evaluations: &[Evaluation], overall: Option<Overall>) -> Vec<String> {
    let failed = evaluations.iter().filter(|it| it.fails());
    let mut reasons: Vec<String> = failed
        .map(|it| {
            let place = it.place();
            format!("the evaluator `{}` fails: {}{place}", it.name, it.message)
        })
        .collect();
    if let Some(Overall {
        score: Some(score),
        threshold: Some(threshold),
        gate: Gate::Fails,
    }) = overall
        && score < threshold
    {
        let [score, _] = apart(score, threshold, 2);
        reasons.push(format!(
            "the evaluation score is {score}, below {threshold}"
        ));
    }
    reasons
}

/// What stood in the way of judging a run that nothing speaks against, where another try may well go otherwise; `None` where it was
/// judged, and where something else is wrong, too, that would be there again.
pub(crate) fn trouble(evaluations: &[Evaluation], overall: Option<Overall>) -> Option<Trouble> {
    overall.filter(|it| it.gate == Gate::Incomplete)?;
    let gating = evaluations.iter().filter(|it| it.role == Role::Gating);
    let broken = gating.filter(|it| it.status == EvaluationStatus::Error);
    let met = broken.map(|it| {
        let mut judges = it.judges.iter();
        judges.find(|it| it.reasoning.is_none())?.trouble
    });
    met.collect::<Option<Vec<_>>>()?.first().copied()
}

/// Whether one of those that gate has judged the run, or tried to.
pub(crate) fn has_judged(evaluations: &[Evaluation]) -> bool {
    let mut gating = evaluations.iter().filter(|it| it.role == Role::Gating);
    gating.any(|it| it.status != EvaluationStatus::Skipped)
}

/// That all that gate were skipped, where a run has some, and nothing else judges it.
pub(crate) fn all_skipped(evaluations: &[Evaluation]) -> Option<Problem> {
    let mut gating = evaluations.iter().filter(|it| it.role == Role::Gating);
    let first = gating.next().filter(|_| !has_judged(evaluations))?;
    let details = gating.map(|it| format!("`{}` was skipped: {}", it.name, it.message));
    let problem = Problem::new(format!(
        "nothing has judged the run: the evaluator `{}` was skipped, because {}",
        first.name, first.message
    ));
    Some(Problem {
        details: details.collect(),
        ..problem.hint("`role: advisory` says that it only shows something")
    })
}

/// Why a run that nothing speaks against cannot be said to pass; `None` where it can.
pub(crate) fn unjudged(evaluations: &[Evaluation], overall: Option<Overall>) -> Option<Problem> {
    let overall = overall.filter(|it| it.gate == Gate::Incomplete)?;
    let gating = evaluations.iter().filter(|it| it.role == Role::Gating);
    let mut broken = gating.filter(|it| it.status == EvaluationStatus::Error);
    let Some(first) = broken.next() else {
        let threshold = overall.threshold.unwrap_or_default();
        let (why, hint) = if has_judged(evaluations) {
            (
                "the weights of all gating evaluators that have judged the run are 0, so there is no evaluation score that reaches",
                "give one of them a weight above 0",
            )
        } else {
            (
                "no gating evaluator has judged the run, so it does not reach",
                "`mcp-eval validate` says why evaluators are skipped",
            )
        };
        let message = format!("{why} `evaluation_threshold` {threshold}");
        return Some(Problem::new(message).hint(hint));
    };
    let mut details = first.details.clone();
    details.extend(broken.map(|it| format!("the evaluator `{}`: {}", it.name, it.message)));
    Some(Problem {
        line: first.line,
        details,
        ..Problem::new(format!(
            "the evaluator `{}` could not judge: {}",
            first.name, first.message
        ))
    })
}
