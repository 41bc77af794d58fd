//! Scenarios are run again and scored against their baselines.

use std::sync::Arc;

use super::confirm::{Comparison, ask_once_more};
use super::execute::Reads;
use super::judge::judge_executed;
use super::measuring::Doing;
use super::outcome::{result, unavailable};
use super::play::play;
use super::record::unexpected_reads;
use super::repeat::{Attempt, Measure, repeat};
use super::{Error, Finished, RunContext, Settings, Suite, pending, recorded, replay};
use crate::evaluate::Accepted;
use crate::model::stamp::Servers;
use crate::model::suite::{ScenarioResult, Status};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
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
    if let Some(baseline) = &result.baseline {
        let unkept = run_context.runs.save_baseline(&scenario.id, baseline).err();
        result.notes.extend(unkept.map(|error| error.to_string()));
    }
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
