//! A completed run against what was accepted: the comparison, the scenario's criteria, calls that failed, the status.

use std::sync::Arc;

use crate::evaluate::{
    self, Accepted, Basis, Checked, Impossible, check_criteria, lists_tools, wrong_outcomes,
};
use crate::model::rules::Rules;
use crate::model::{
    Check, Ending, ExecutionStatus, ExperimentChange, ExperimentPart, FailureKind, Gate, Outcome,
    Problem, Redacted, ScenarioResult, Status, ToolCall, Trajectory,
};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;
use crate::suite::outcome::result;
use crate::suite::patience::Patience;
use crate::suite::run_context::Executed;
use crate::suite::{evaluating, replay};
use crate::text::shorten;

/// Scores a run against the accepted trajectories and completes its result; `None` when nothing is accepted.
///
/// Without the scenario at hand, only the comparison counts. Runs that are not the same experiment are compared, and have a verdict only if
/// that is allowed. A comparison that was stopped has none.
pub(crate) fn judge(
    result: ScenarioResult,
    scenario: Option<&Scenario>,
    (accepted, accepted_as): (&[Redacted<Trajectory>], Accepted),
    current: Arc<Redacted<Trajectory>>,
    (rules, patience): (&Rules, &Patience),
    allow_changed: bool,
) -> Option<ScenarioResult> {
    let compared = patience
        .spend_on(|is_unwanted| score::compare_variants(accepted, &current, rules, is_unwanted));
    let mut comparison = match compared {
        Ok(comparison) => comparison?,
        Err(stopped) => return Some(stopped.result(result, &current)),
    };
    let baseline = accepted.get(comparison.variant.checked_sub(1)?)?;
    let labels = &result.labels;
    comparison.verdict.label(labels, baseline, &current);
    let mut notes = result.notes.clone();
    if baseline.scenario != result.id {
        notes.push(format!(
            "{} is one of another scenario: `{}`",
            match accepted_as {
                Accepted::Baseline => "the baseline",
                Accepted::Version => "the other run",
            },
            baseline.scenario
        ));
    }
    notes.extend(baseline.learned.iter().flat_map(|learned| {
        learned.odd.iter().map(|odd| {
            let (call, place) = (learned.call, &odd.path);
            format!("call {call} was answered in two ways when it was recorded: {} of {} takes agreed at {place}", odd.agreed, learned.takes)
        })
    }));
    notes.extend(reads_answered_once(scenario, baseline, accepted_as, rules));
    let basis = Basis::Accepted(baseline, accepted_as);
    let checked = scenario.map(|it| check_criteria(it, &current, basis));
    let Checked {
        mut checks,
        impossible,
    } = checked.unwrap_or_default();
    checks.extend(scenario.and_then(|it| lists_tools(it, &current)));
    let threshold = scenario.and_then(|it| it.evaluation_threshold);
    let overall = evaluate::overall(&result.evaluators, threshold);
    let passed = comparison.verdict.passed
        && !checks.iter().any(Check::fails)
        && overall.is_none_or(|it| it.gate != Gate::Fails);
    if !passed {
        comparison.band = comparison.band.of_failed(false);
    }
    let experiment_changes = score::experiment_changes(baseline, &current);
    let gates = allow_changed || experiment_changes.is_empty();
    let unjudged = evaluating::unjudged(&result.evaluators, overall);
    let trouble = evaluating::trouble(&result.evaluators, overall);
    let trouble = trouble.filter(|_| gates && passed && impossible.is_empty());
    let impossible = impossible_criteria(&impossible).or(unjudged);
    // A baseline of a run that failed was accepted by somebody, and is no reason to call the same failure fine.
    let replays = |it: &&Scenario| matches!(it.agent, Agent::Replay { .. });
    let is_of_baseline = gates && accepted_as == Accepted::Baseline;
    let failing = scenario.filter(|_| is_of_baseline).map(|it| {
        let replayed = Some(&**baseline).filter(|_| replays(&it));
        failing_calls(it, &current, replayed)
    });
    let mut idle_rules = score::idle_after(rules, &[baseline, &current]);
    idle_rules.extend(score::unknown_places(baseline));
    Some(result.with(|it| {
        it.status = match (gates, passed) {
            (false, _) => Status::Error,
            (true, true) if impossible.is_some() => Status::Error,
            (true, true) => Status::Passed,
            (true, false) => Status::Failed,
        };
        it.problem = if gates {
            impossible
        } else {
            Some(other_experiment(scenario, accepted_as, &experiment_changes))
        };
        it.trouble = trouble;
        it.experiment_changes = experiment_changes;
        it.failing = failing.unwrap_or_default();
        it.idle_rules = idle_rules;
        it.duration_ms = current.duration_ms;
        it.checks = checks;
        it.overall = overall;
        it.comparison = Some(comparison);
        it.baseline = Some(Arc::new(baseline.clone()));
        it.current = Some(current);
        it.notes = notes;
    }))
}

/// Scores a run that went far enough for a verdict; without anything accepted, its result is an error.
pub(crate) fn judge_executed(
    executed: Executed,
    accepted: (&[Redacted<Trajectory>], Accepted),
    rules: &Rules,
    allow_changed: bool,
) -> ScenarioResult {
    let open = result(&executed.scenario, Status::Error).with(|it| {
        it.notes = executed.notes;
        it.evaluators = executed.evaluations.into_inner();
    });
    let judged = judge(
        open.clone(),
        Some(&executed.scenario),
        accepted,
        Arc::new(executed.trajectory),
        (rules, &executed.patience),
        allow_changed,
    );
    judged.unwrap_or(open)
}

/// A note on the reads that were answered once, which are only graded; baselines of older versions have no others. Where recording again
/// would ask them twice, it says how.
fn reads_answered_once(
    scenario: Option<&Scenario>,
    baseline: &Trajectory,
    accepted_as: Accepted,
    rules: &Rules,
) -> Option<String> {
    let once = baseline.answered_once();
    let is_graded = |(number, call): &(usize, &ToolCall)| {
        once.binary_search(number).is_ok() && score::only_reads(call, &baseline.catalogue, rules)
    };
    let count = (1..).zip(baseline.calls()).filter(is_graded).count();
    let of = match accepted_as {
        Accepted::Baseline => "the baseline",
        Accepted::Version => "the other version",
    };
    let reads = match count {
        0 => return None,
        1 => format!(
            "1 read of {of} was recorded once, so it is unknown what varies in its answer, and a similar one passes"
        ),
        _ => format!(
            "{count} reads of {of} were recorded once, so it is unknown what varies in their answers, and similar ones pass"
        ),
    };
    let way_out = if accepted_as == Accepted::Version || baseline.has_answers_received_twice() {
        String::new()
    } else {
        let record = scenario.map_or_else(|| "mcp-eval record".to_owned(), replay::record_command);
        format!(": `{record}` makes each read twice")
    };
    Some(format!("{reads}{way_out}"))
}

/// Why a comparison with another experiment has no verdict, and what to do.
fn other_experiment(
    scenario: Option<&Scenario>,
    accepted_as: Accepted,
    changes: &[ExperimentChange],
) -> Problem {
    if accepted_as == Accepted::Version {
        return Problem::new("no verdict, because the other run is of another experiment")
            .hint("`--allow-changed` compares all the same");
    }
    let record = scenario.map_or_else(|| "mcp-eval record".to_owned(), replay::record_command);
    let is_asked_otherwise = changes.iter().any(|it| it.what != ExperimentPart::Scenario);
    let is_cell = scenario.is_some_and(|it| it.cell.is_some());
    let options = if is_asked_otherwise && !is_cell {
        " with the same --agent and --model"
    } else {
        ""
    };
    Problem::new("no verdict, because the baseline is of another experiment").hint(format!(
        "`--allow-changed` compares anyway; `{record}`{options} accepts the experiment as it is now"
    ))
}

/// The problem with criteria that cannot be judged; `None` where there are none.
pub(crate) fn impossible_criteria(impossible: &[Impossible]) -> Option<Problem> {
    let first = impossible.first()?;
    let also = impossible.iter().skip(1);
    Some(Problem {
        record: None,
        line: None,
        message: format!("{}: {}", first.what, first.why),
        hint: (first.meant.as_ref()).map(|it| format!("did you mean `{it}`?")),
        details: also
            .map(|it| {
                let meant = it.meant.as_ref();
                let hint = meant.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                format!("{}: {}{hint}", it.what, it.why)
            })
            .collect(),
    })
}

/// How much of what a server said is shown, in characters.
pub(crate) const SAID_CHARS: usize = 200;

/// The calls that did not come out as they are meant to.
///
/// An error that a tool answers to a model is no reason, because models try again. That all calls failed, or that a call got no answer at
/// all, is one.
pub(crate) fn failing_calls(
    scenario: &Scenario,
    trajectory: &Trajectory,
    replayed: Option<&Trajectory>,
) -> Vec<String> {
    let wrong = if scenario.agent.decides() {
        unanswered(trajectory)
    } else {
        let wrong = wrong_outcomes(scenario, trajectory, replayed);
        wrong.iter().map(ToString::to_string).collect()
    };
    let mut reasons = Vec::new();
    let all_failed = score::status(trajectory, &scenario.scoring) == ExecutionStatus::Failed;
    if let Ending::Blocked { message } = &trajectory.ending {
        reasons.push(message.clone());
    } else if all_failed && (!wrong.is_empty() || scenario.agent.decides()) {
        reasons.push("every call failed".to_owned());
    }
    reasons.extend(wrong);
    reasons
}

/// The calls of an agent that decides for itself that had no answer, or, where all failed, all of them.
fn unanswered(trajectory: &Trajectory) -> Vec<String> {
    let all = trajectory.calls().all(|it| it.outcome.is_failure());
    let calls = trajectory.calls().enumerate();
    let failed = calls.filter(|(_, call)| {
        // A call that could not be sent is the model's mistake, and the model got an error for it.
        let is_unanswered = matches!(
            &call.outcome,
            Outcome::Failure(it) if !matches!(it.kind, FailureKind::Rpc | FailureKind::NotSent)
        );
        is_unanswered || all
    });
    failed
        .map(|(index, call)| {
            let said = said(&call.outcome);
            format!("call {} of `{}`: {said}", index + 1, call.full_name())
        })
        .collect()
}

fn said(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => failure.message.clone(),
    };
    shorten(&text, SAID_CHARS).into_owned()
}
