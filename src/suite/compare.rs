//! Scenarios are run again and scored against their baselines, with a second try before one fails: a system under test that answers in two ways is
//! unsteady, and no regression.

use std::sync::Arc;

use super::evaluating::Evaluating;
use super::execute::Reads;
use super::judge::{judge, judge_executed};
use super::measuring::Doing;
use super::outcome::unavailable;
use super::play::play;
use super::record::{unexpected_reads, usual_takes};
use super::repeat::{Attempt, Measure, repeat};
use super::{Error, Finished, RunContext, Settings, Suite, llm_judge, pending, recorded, replay};
use crate::evaluate::Accepted;
use crate::model::rules::{self, Rules};
use crate::model::{
    Check, Gate, Learned, Problem, Redacted, ScenarioResult, Servers, Status, Step, Trajectory,
    TwoAnswers, Unsteady,
};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;
use crate::store::Baselines;

/// Runs scenarios again and scores them against their baselines. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn compare(mut suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    if settings.answered_by == Servers::Recorded {
        let scenarios = suite.scenarios.into_iter();
        suite.scenarios = scenarios.map(recorded::without_live_setup).collect();
    }
    let selected = suite.scenarios.len();
    let doing = match settings.answered_by {
        Servers::Recorded => {
            Doing::Leave("measurements need the servers themselves, and these are recorded")
        }
        Servers::Live => Doing::Compare,
    };
    play(
        "compare",
        doing,
        suite,
        settings,
        |scenario, run_context| {
            let baselines = replay::baselines(&settings.baselines, &scenario, selected);
            let run_context = run_context.knowing(&baselines, &scenario.id);
            let settings = settings.clone();
            async move { Box::pin(compare_one(scenario, run_context, &baselines, &settings)).await }
        },
    )
    .await
}

async fn compare_one(
    scenario: Arc<Scenario>,
    run_context: RunContext,
    baselines: &Baselines,
    settings: &Settings,
) -> ScenarioResult {
    let ready = replay::accepted(&scenario, baselines).and_then(|accepted| {
        let held = match (settings.answered_by, accepted.first()) {
            (Servers::Recorded, Some(main)) => {
                let path = baselines.path(&scenario.id);
                // Called for its effect: it remembers the secrets of the scenario's own servers, which are not used from here on.
                run_context.redacted(&scenario);
                Arc::new(recorded::hold_still(&scenario, main, &path)?)
            }
            _ => Arc::clone(&scenario),
        };
        Ok((accepted, held))
    });
    let (accepted, scenario) = match ready {
        Ok(ready) => ready,
        Err(problem) => {
            let mut containers = scenario.containers.iter();
            let is_optional = containers.any(|it| it.optional.is_some());
            // Who gets its image must not find that what passed before fails now.
            if is_optional && !baselines.path(&scenario.id).exists() {
                let how = problem.hint.unwrap_or_default();
                let why = format!("it has no baseline yet: {how}");
                return unavailable(&run_context.redacted(&scenario), why);
            }
            return run_context.unplayed(&scenario, problem);
        }
    };
    let scenario = scenario.as_ref();
    let rules = settings.judging.scoring.over(&scenario.scoring);
    let measure = Measure {
        times: settings.times,
        pass_threshold: rules.pass_threshold,
        baseline: accepted.first().and_then(|it| it.repeated),
    };
    let main = replay::main(&accepted);
    let comparison = Comparison {
        scenario,
        accepted: &accepted,
        main: main.as_ref(),
        rules: &rules,
        allow_changed: settings.judging.allow_changed,
        reads: if settings.answered_by == Servers::Recorded {
            Reads::Once
        } else {
            unexpected_reads(scenario, &run_context, &accepted)
        },
    };
    let repeated = repeat(scenario, &run_context, measure, &comparison);
    let mut result = Box::pin(repeated).await;
    let again = if settings.times > 1 || settings.answered_by == Servers::Recorded {
        None
    } else {
        ask_once_more(&mut result, &comparison, &run_context).await
    };
    let kept = (&run_context, baselines);
    Box::pin(pending::settle(
        &mut result,
        scenario,
        (main.as_ref(), again),
        kept,
        settings,
    ))
    .await;
    if accepted.len() > 1 {
        let main = baselines.path(&scenario.id);
        let of = format!("{}, of {} variants", main.display(), accepted.len());
        if settings.answered_by == Servers::Recorded {
            result.notes.push(format!("the servers answer from {of}"));
        }
        if matches!(scenario.agent, Agent::Replay { .. }) {
            result.notes.push(format!("the replay plays {of}"));
        }
    }
    run_context.keep_baseline(scenario, &mut result);
    result
}

impl Attempt for Comparison<'_> {
    async fn once(&self, run_context: &RunContext) -> ScenarioResult {
        let reads = self.reads.clone();
        let mut executed = Box::pin(run_context.perform(self.scenario, self.main, reads)).await;
        (executed.notes).extend(recorded::unanswered(&executed.trajectory));
        if let Some(result) = executed.incomplete() {
            return result;
        }
        let accepted = (self.accepted, Accepted::Baseline);
        let result = judge_executed(executed, accepted, self.rules, self.allow_changed);
        Box::pin(run_context.judge_prose(self.scenario, result, false)).await
    }
}

/// How many scenarios of a command may fail before no more of them are asked once more: so many do not fail by chance.
const MOST: usize = 20;

/// What each run of a scenario is compared with, and how.
pub(super) struct Comparison<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) accepted: &'a [Redacted<Trajectory>],
    /// The main one of those: what a replay plays.
    pub(super) main: Option<&'a Arc<Redacted<Trajectory>>>,
    pub(super) rules: &'a Rules,
    pub(super) allow_changed: bool,
    /// Which reads are asked again, for what varies in an answer that may become the baseline's.
    pub(super) reads: Reads,
}

/// Asks once more what is about to fail, without models and judges. Where everything passes then, or has a third value, nobody is to blame.
/// Returns the run that was made for that, where one was, and the result stays as it is.
pub(super) async fn ask_once_more(
    result: &mut ScenarioResult,
    comparison: &Comparison<'_>,
    run_context: &RunContext,
) -> Option<Redacted<Trajectory>> {
    let scenario = comparison.scenario;
    let is_asked = result.status == Status::Failed && comparison.rules.confirm;
    if !is_asked || !may_be_chance(result, scenario) || run_context.suite.failing() > MOST {
        return None;
    }
    let is_played = plays_again(result, scenario, run_context);
    let second = if is_played {
        match play_again(comparison, run_context).await {
            Ok(second) => second,
            Err(incomplete) => {
                // Nobody knows whether it would have failed again.
                if run_context.suite.interrupt.is_cancelled() {
                    let said = "interrupted while its failure was tried once more";
                    *result = (*incomplete).with(|it| {
                        it.status = Status::Interrupted;
                        it.problem = Some(Problem::new(said));
                    });
                }
                return None;
            }
        }
    } else {
        with_reads_asked_again(result, comparison, run_context)?
    };
    if let Some(answers) = answers(result, &second, comparison.rules) {
        let gates = comparison.rules.unsteady == rules::Gate::Fail;
        blame_nobody(result, Unsteady { gates, answers });
        return None;
    }
    let run = second.current.filter(|_| is_played)?;
    Some((*run).clone())
}

/// Whether another run could come out otherwise: no tool is gone or refuses what it was asked, and no judge has to be asked.
fn may_be_chance(result: &ScenarioResult, scenario: &Scenario) -> bool {
    let mut drift = result.comparison.iter().flat_map(|it| &it.drift);
    let is_refused = drift.any(|it| it.breaking && it.used);
    let is_judged = llm_judge::asks(scenario) && evaluators_fail(result);
    !is_refused && !is_judged
}

fn evaluators_fail(result: &ScenarioResult) -> bool {
    result.overall.is_some_and(|it| it.gate == Gate::Fails)
}

/// Whether a run leaves nothing behind that a second one would meet: everything is reset, or recording saw that it is so.
fn plays_again(result: &ScenarioResult, scenario: &Scenario, run_context: &RunContext) -> bool {
    let is_known = || {
        let baseline = result.baseline.as_ref();
        baseline.is_some_and(|it| {
            it.answered_once().is_empty() && !it.learned.iter().any(Learned::grew)
        })
    };
    usual_takes(scenario, run_context) > 1
        && (run_context.suite.is_all_reset(scenario) || is_known())
}

/// # Errors
///
/// The result of a run that did not come to its end.
async fn play_again(
    comparison: &Comparison<'_>,
    run_context: &RunContext,
) -> Result<ScenarioResult, Box<ScenarioResult>> {
    let scenario = comparison.scenario;
    run_context.between_takes(scenario).await;
    let evaluating = if llm_judge::asks(scenario) {
        Evaluating::Not
    } else {
        run_context.evaluating()
    };
    let played = run_context.played(scenario, comparison.main, Reads::Once, evaluating);
    let executed = Box::pin(played).await;
    let executed = executed.0;
    if let Some(incomplete) = executed.incomplete() {
        return Err(Box::new(incomplete));
    }
    let accepted = (comparison.accepted, Accepted::Baseline);
    let allow_changed = comparison.allow_changed;
    Ok(judge_executed(
        executed,
        accepted,
        comparison.rules,
        allow_changed,
    ))
}

/// The run as if the reads that no effect follows had been answered as they were when they were asked again; `None` where none was.
fn with_reads_asked_again(
    result: &ScenarioResult,
    comparison: &Comparison<'_>,
    run_context: &RunContext,
) -> Option<ScenarioResult> {
    let mut run = (**result.current.as_ref()?).clone();
    let mut is_other = false;
    run.refine(|run| {
        for step in run.steps.iter_mut().rev() {
            let Step::ToolCall(call) = step else { continue };
            if call.server.is_some() && !score::only_reads(call, &run.catalogue, comparison.rules) {
                break;
            }
            if let Some(again) = call.again.first() {
                is_other |= *again != call.outcome;
                call.outcome = again.clone();
            }
        }
    });
    if !is_other {
        return None;
    }
    let scenario = run_context.redacted(comparison.scenario);
    let patience = run_context.suite.patience(comparison.scenario, &run);
    judge(
        result.clone(),
        Some(&scenario),
        (comparison.accepted, Accepted::Baseline),
        Arc::new(run),
        (comparison.rules, &patience),
        comparison.allow_changed,
    )
}

/// What was answered in two ways, where nothing that fails a first run fails the second one, too.
pub(super) fn answers(
    first: &ScenarioResult,
    second: &ScenarioResult,
    rules: &Rules,
) -> Option<Vec<TwoAnswers>> {
    let fails_again = |check: &&Check| {
        let mut checks = second.checks.iter();
        checks.any(|it| it.fails() && it.name == check.name)
    };
    let mut unmet = first.checks.iter().filter(|it| it.fails());
    let has_passed = second.status == Status::Passed;
    if !(has_passed || second.status == Status::Failed)
        || unmet.any(|it| fails_again(&it))
        || (evaluators_fail(first) && evaluators_fail(second))
    {
        return None;
    }
    match (&first.comparison, &second.comparison, &first.baseline) {
        (Some(one), Some(_), _) if one.verdict.passed => Some(Vec::new()),
        (Some(one), Some(other), Some(accepted)) if has_passed || one.variant == other.variant => {
            let runs = [&***first.current.as_ref()?, &***second.current.as_ref()?];
            score::unsteady(accepted, runs, (one, other), rules)
        }
        // A limit has ended the first one.
        (None, Some(_), _) => has_passed.then(Vec::new),
        _ => None,
    }
}

/// Makes a result that of an unsteady system: what differs is reported, and fails nobody.
pub(super) fn blame_nobody(result: &mut ScenarioResult, unsteady: Unsteady) {
    let mut answers = unsteady.answers.iter().map(ToString::to_string);
    let first = answers.next();
    let first = first.unwrap_or_else(|| "it failed, and passed when run again".to_owned());
    result.status = Status::Inconclusive;
    let hint = "`ready` waits until servers are ready, `until` until a read is stable";
    let problem = Problem::new(format!("the system under test is unsteady: {first}"));
    result.problem = Some(Problem {
        details: answers.collect(),
        ..problem.hint(hint)
    });
    if let Some(comparison) = &mut result.comparison {
        comparison.changes.retain(|it| !it.fails);
        for it in &mut comparison.changes {
            it.follows = None;
        }
        comparison.verdict.reasons.clear();
    }
    result.unsteady = Some(Box::new(unsteady));
}
