//! Scenarios are run against their own expectations, or measured in a command of their own.

use std::sync::Arc;

use super::judge::impossible_criteria;
use super::measuring::{Doing, First};
use super::outcome::{result, without_verdict};
use super::patience::Patience;
use super::play::play;
use super::repeat::{Attempt, Measure, repeat};
use super::run_context::RunContext;
use super::{
    Error, Finished, Settings, Suite, evaluating, recorded, replay, stored_run, stored_secrets,
};
use crate::evaluate::{
    self, Basis, Checked, OfferedBefore, WrongOutcome, check_criteria, lists_tools, no_call,
    wrong_outcomes,
};
use crate::model::rules::Rules;
use crate::model::{
    Check, Evaluation, Gate, Problem, Redacted, ScenarioResult, Status, Trajectory,
};
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::Baselines;

/// Runs scenarios against their own expectations, or judges by them what a stored run made. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn run(mut suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    let selected = suite.scenarios.len();
    let mut settings = settings.clone();
    let doing = if settings.judged.is_some() {
        settings = settings.running_nothing();
        let scenarios = suite.scenarios.into_iter();
        suite.scenarios = scenarios.map(recorded::without_live_setup).collect();
        Doing::Leave(stored_run::MEASURED)
    } else {
        Doing::Run
    };
    play("run", doing, suite, &settings, |scenario, run_context| {
        let baselines = replay::baselines(&settings.baselines, &scenario, selected);
        let run_context = run_context.knowing(&baselines, &scenario.id);
        let settings = settings.clone();
        async move { expect(&scenario, &run_context, &baselines, &settings).await }
    })
    .await
}

/// Runs one scenario, as often as the settings say, against its own expectations.
pub(super) async fn expect(
    scenario: &Scenario,
    run_context: &RunContext,
    baselines: &Baselines,
    settings: &Settings,
) -> ScenarioResult {
    let replayed = match replay::to_play(scenario, baselines) {
        Ok(replayed) => replayed,
        Err(problem) => return run_context.unplayed(scenario, problem),
    };
    let rules = settings.judging.scoring.over(&scenario.scoring);
    let stored = settings.judged.as_ref();
    let measure = Measure {
        times: stored.map_or(settings.times, |it| it.times(&scenario.id)),
        pass_threshold: rules.pass_threshold,
        baseline: None,
    };
    let expecting = Expecting {
        scenario,
        replayed: replayed.as_ref(),
        rules: &rules,
    };
    let repeated = repeat(scenario, run_context, measure, &expecting);
    let mut result = Box::pin(repeated).await;
    run_context.keep_baseline(scenario, &mut result);
    result
}

/// Judges each run of a scenario by what the scenario itself expects.
struct Expecting<'a> {
    scenario: &'a Scenario,
    /// What a replay plays.
    replayed: Option<&'a Arc<Redacted<Trajectory>>>,
    rules: &'a Rules,
}

impl Attempt for Expecting<'_> {
    async fn once(&self, run_context: &RunContext) -> ScenarioResult {
        let executed = run_context.execute(self.scenario, self.replayed).await;
        if let Some(result) = executed.incomplete() {
            return result;
        }
        let expected = Expected {
            scenario: &executed.scenario,
            rules: self.rules,
            replayed: self.replayed.map(|it| &***it),
            patience: &executed.patience,
        };
        let evaluations = executed.evaluations.into_inner();
        let is_open = run_context.suite.judged.is_some()
            && expected.depends_on_secrets(
                &executed.trajectory,
                &evaluations,
                run_context.before.as_deref(),
            );
        let (mut result, decides) = expected.judge(executed.trajectory, evaluations);
        if is_open && matches!(result.status, Status::Passed | Status::Failed) {
            result.status = Status::Error;
            result.problem = Some(stored_secrets::unknown());
        }
        let result = result.with(|it| it.notes = executed.notes);
        let judged = run_context.judge_prose(self.scenario, result, decides);
        let mut result = Box::pin(judged).await;
        if decides {
            hold_to_something(&mut result);
        }
        result
    }
}

/// What is expected of a run.
pub(super) struct Expected<'a> {
    /// The scenario as it may be shown, filled in with what the run answered.
    pub(super) scenario: &'a Redacted<Scenario>,
    pub(super) rules: &'a Rules,
    /// What a replay played.
    pub(super) replayed: Option<&'a Trajectory>,
    pub(super) patience: &'a Patience,
}

impl Expected<'_> {
    /// Whether a stored run comes to something else with other secrets in the place of those that were taken out of it.
    fn depends_on_secrets(
        &self,
        run: &Redacted<Trajectory>,
        evaluations: &[Evaluation],
        before: Option<&OfferedBefore>,
    ) -> bool {
        if !stored_secrets::were_taken_out(run) {
            return false;
        }
        let status = |scenario: &Redacted<Scenario>, run: Redacted<Trajectory>| {
            let found = evaluating::looked_at_again(evaluations, scenario, &run, before);
            let expected = Expected { scenario, ..*self };
            expected.judge(run, found).0.status
        };
        let shown = status(self.scenario, run.clone());
        stored_secrets::OTHERS.iter().any(|other| {
            let (scenario, run) = stored_secrets::with_others(self.scenario, run, other);
            status(&scenario, run) != shown
        })
    }

    /// What comes of a run, and whether nothing has judged it but that nothing went wrong.
    pub(super) fn judge(
        &self,
        trajectory: Redacted<Trajectory>,
        evaluations: Vec<Evaluation>,
    ) -> (ScenarioResult, bool) {
        let scenario = self.scenario;
        let Checked {
            mut checks,
            impossible,
        } = check_criteria(scenario, &trajectory, Basis::Nothing);
        checks.extend(no_call(scenario, &trajectory));
        checks.extend(lists_tools(scenario, &trajectory));
        let overall = evaluate::overall(&evaluations, scenario.evaluation_threshold);
        if !scenario.is_test_case {
            let wrong = wrong_outcomes(scenario, &trajectory, self.replayed);
            checks.extend(wrong.iter().map(WrongOutcome::check));
        }
        let compared = self.patience.spend_on(|is_unwanted| {
            score::compare_with_expectation(
                &scenario.expectation(),
                &trajectory,
                self.rules,
                is_unwanted,
            )
        });
        let (expectation, mut comparison) = match compared {
            Ok(compared) => compared.unzip(),
            Err(stopped) => return (stopped.of(scenario, &trajectory), false),
        };
        if let (Some(expectation), Some(comparison)) = (&expectation, &mut comparison) {
            let labels = &scenario.labels;
            (comparison.verdict).label(labels, expectation, &trajectory);
        }
        let passed = !checks.iter().any(Check::fails)
            && overall.is_none_or(|it| it.gate != Gate::Fails)
            && comparison.as_ref().is_none_or(|it| it.verdict.passed);
        let is_judged = comparison.is_some()
            || checks.iter().any(|it| !it.unchecked)
            || evaluating::has_judged(&evaluations);
        let unjudged = evaluating::unjudged(&evaluations, overall)
            .or_else(|| evaluating::all_skipped(&evaluations).filter(|_| !is_judged));
        let problem = impossible_criteria(&impossible).or(unjudged);
        let status = match (passed, &problem) {
            (true, None) => Status::Passed,
            (true, Some(_)) => Status::Error,
            (false, _) => Status::Failed,
        };
        let trouble = evaluating::trouble(&evaluations, overall);
        let is_in_the_way = status == Status::Error && impossible.is_empty();
        let result = result(scenario, status).with(|it| {
            it.duration_ms = trajectory.duration_ms;
            it.trouble = trouble.filter(|_| is_in_the_way);
            it.problem = problem;
            it.checks = checks;
            it.evaluators = evaluations;
            it.overall = overall;
            it.comparison = comparison;
            it.baseline = expectation.map(|it| Arc::new(scenario.derive(|_| it)));
            it.idle_rules = score::idle_after(self.rules, &[&trajectory]);
            it.current = Some(Arc::new(trajectory));
        });
        (result, !is_judged && impossible.is_empty())
    }
}

/// What called nothing, and of which nothing is expected, has passed nothing.
pub(super) fn hold_to_something(result: &mut ScenarioResult) {
    let run = result.current.as_ref();
    let is_silent = run.is_some_and(|it| it.calls().next().is_none());
    if is_silent && result.status == Status::Passed && result.overall.is_none() {
        result.status = Status::Inconclusive;
        result.problem = Some(nothing_judges());
    }
}

fn nothing_judges() -> Problem {
    Problem::new("nothing judges this run: no tool was called, and nothing is expected of it")
        .hint("list calls under `expected_trajectory`, or a text under `success_criteria`")
}

/// Measures what scenarios are about, each held against the figures that its file names, and each search against the first that could be
/// measured. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn measure_alone(
    command: &str,
    suite: Suite,
    settings: &Settings,
) -> Result<Finished, Error> {
    let doing = Doing::Alone(First::default());
    play(
        command,
        doing,
        suite,
        settings,
        |scenario, run_context| async move {
            let why = "it measures nothing".to_owned();
            without_verdict(&run_context.redacted(&scenario), Status::Error, why)
        },
    )
    .await
}
