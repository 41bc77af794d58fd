//! Scenarios are run again and scored against their baselines.

use std::sync::Arc;

use super::error::Error;
use super::judge::judge;
use super::outcome::result;
use super::play::{Finished, Suite, play};
use super::recorded;
use super::repeat::{Measure, repeat};
use super::replay;
use super::run_context::RunContext;
use super::settings::Settings;
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::stamp::Servers;
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::store::Baselines;

/// Runs scenarios again and scores them against their baselines. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn compare(mut suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    if settings.answered_by == Servers::Recorded {
        let scenarios = suite.scenarios.into_iter();
        suite.scenarios = scenarios.map(recorded::without_container).collect();
    }
    let selected = suite.scenarios.len();
    play("compare", suite, settings, |scenario, run_context| {
        let baselines = replay::baselines(&settings.baselines, &scenario, selected);
        let settings = settings.clone();
        async move { compare_one(scenario, run_context, &baselines, &settings).await }
    })
    .await
}

async fn compare_one(
    scenario: Arc<Scenario>,
    run_context: RunContext,
    baselines: &Baselines,
    settings: &Settings,
) -> ScenarioResult {
    let run_context = Arc::new(run_context);
    let ready = replay::accepted(&scenario, baselines).and_then(|accepted| {
        let held = match (settings.answered_by, accepted.first()) {
            (Servers::Recorded, Some(main)) => {
                let path = baselines.path(&scenario.id);
                Arc::new(recorded::hold_still(&scenario, main, &path)?)
            }
            _ => Arc::clone(&scenario),
        };
        Ok((accepted, held))
    });
    let (accepted, scenario) = match ready {
        Ok(ready) => ready,
        Err(problem) => {
            return ScenarioResult {
                problem: Some(problem),
                ..result(&run_context.redacted(&scenario), Status::Error)
            };
        }
    };
    let scenario = scenario.as_ref();
    let rules = settings.judging.scoring.over(&scenario.scoring);
    let measure = Measure {
        times: settings.times,
        pass_threshold: rules.pass_threshold,
        baseline: accepted.first().and_then(|it| it.repeated),
    };
    let replayed = replay::replayed(scenario, &accepted);
    let (accepted, replayed, rules) = (&accepted, replayed.as_ref(), &rules);
    let attempt = |run_context| {
        compare_once(
            scenario,
            run_context,
            accepted,
            replayed,
            rules,
            settings.judging.allow_changed,
        )
    };
    let mut result = repeat(scenario, &run_context, measure, attempt).await;
    if let Some(baseline) = &result.baseline {
        let unkept = run_context.runs.save_baseline(&scenario.id, baseline).err();
        result.notes.extend(unkept.map(|error| error.to_string()));
    }
    result
}

async fn compare_once(
    scenario: &Scenario,
    run_context: Arc<RunContext>,
    accepted: &[Trajectory],
    replayed: Option<&Arc<Trajectory>>,
    rules: &Rules,
    allow_changed: bool,
) -> ScenarioResult {
    let mut executed = run_context.execute(scenario, replayed).await;
    (executed.notes).extend(recorded::unanswered(&executed.trajectory));
    if let Some(result) = executed.incomplete() {
        return result;
    }
    let open = ScenarioResult {
        notes: executed.notes,
        ..result(&executed.scenario, Status::Error)
    };
    let current = Arc::new(executed.trajectory);
    let scoring = (rules, &executed.patience);
    let judged = judge(
        open.clone(),
        Some(&executed.scenario),
        accepted,
        current,
        scoring,
        allow_changed,
    );
    judged.unwrap_or(open)
}
