//! What a proxy does to answers: the calls that arrive behind it are made once more, straight at the servers there.

use std::time::Instant;

use super::behind::Upstreams;
use super::error::Error;
use super::expect::Expecting;
use super::outcome::{not_run, problem, result};
use super::play::{Finished, Suite, play};
use super::repeat::Attempt as _;
use super::replay;
use super::run_context::RunContext;
use super::settings::Settings;
use crate::digits;
use crate::mcp;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::{Outcome, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::{Progress, SetupError};
use crate::score;
use crate::suite::source;

/// Why a scenario says nothing of what a proxy does.
const NOTHING_BEHIND: &str =
    "it declares no `upstreams`, so there is nothing behind its servers to be asked straight";

/// What came of a call that was made straight at a server, with its time in milliseconds; `None` where it was not made.
type Straight = Option<(Outcome, f64)>;

/// Runs scenarios against their own expectations, and makes each call that arrives behind their servers once more, straight there, to tell
/// what the servers do to the answers. Those without servers behind are skipped. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn compare_direct(suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    let selected = suite.scenarios.len();
    play("compare", suite, settings, |scenario, run_context| {
        let settings = settings.clone();
        async move {
            if scenario.upstreams.is_empty() {
                let why = NOTHING_BEHIND.to_owned();
                return not_run(&run_context.redacted(&scenario), Status::Skipped, why);
            }
            let baselines = replay::baselines(&settings.baselines, &scenario, selected);
            let replayed = match replay::to_play(&scenario, &baselines) {
                Ok(replayed) => replayed,
                Err(problem) => {
                    return ScenarioResult {
                        problem: Some(problem),
                        ..result(&run_context.redacted(&scenario), Status::Error)
                    };
                }
            };
            let rules = settings.judging.scoring.over(&scenario.scoring);
            let expecting = Expecting {
                scenario: &scenario,
                replayed: replayed.as_ref(),
                rules: &rules,
            };
            let result = expecting.once(&run_context).await;
            Box::pin(with_direct(result, &scenario, &run_context)).await
        }
    })
    .await
}

/// Adds to the result of a run what its calls behind came to when they were made straight.
async fn with_direct(
    mut result: ScenarioResult,
    scenario: &Scenario,
    run_context: &RunContext,
) -> ScenarioResult {
    let Some(run) = result.current.clone() else {
        return result;
    };
    if !run.ending.is_complete() {
        return result;
    }
    let asking = straight(scenario, &run, run_context, &mut result.notes);
    let interrupted = run_context.suite.interrupt.cancelled();
    let asked = tokio::select! {
        biased;
        () = interrupted => {
            result.status = Status::Interrupted;
            result.problem = Some(problem("interrupted"));
            return result;
        }
        asked = asking => asked,
    };
    match asked {
        Ok(straight) => result.direct = Some(Box::new(score::direct(&run, &straight))),
        Err(failed) => {
            result.status = Status::Error;
            let mut problem = problem(failed.message);
            problem.details = failed.details;
            result.problem = Some(problem);
        }
    }
    result
}

/// Makes the calls that a run's servers behind heard, straight at fresh ones.
async fn straight(
    scenario: &Scenario,
    run: &Redacted<Trajectory>,
    run_context: &RunContext,
    notes: &mut Vec<String>,
) -> Result<Vec<Straight>, SetupError> {
    let suite = &run_context.suite;
    let scenario = &*source::settled(scenario);
    let mut secrets = Secrets::given_to(&scenario.redaction);
    secrets.extend(&suite.remembered(scenario));
    let Upstreams {
        targets,
        mut started,
    } = suite.upstreams(scenario, &mut secrets)?;
    let redactor = Redactor::new(&secrets, &scenario.redaction);
    let doing = "asking the servers behind straight";
    run_context.progress.progress(Progress::Preparing { doing });
    let tools = started.during(mcp::connect(&targets, &|_| ())).await?;
    let calls = run.upstream.iter().flat_map(|it| &it.calls);
    let mut outcomes = Vec::new();
    for (number, heard) in (1..).zip(calls) {
        let server = heard.call.server.as_deref().unwrap_or_default();
        let mut call = heard.call.clone();
        digits::put_into(&mut call.arguments, &call.digits);
        if let Err(unknown) = secrets.restore(&mut call.arguments, server) {
            notes.push(format!(
                "call {number} behind was not made straight, because the secret {} is not known: {}",
                unknown.placeholder, unknown.hint
            ));
            outcomes.push(None);
            continue;
        }
        let asked = Instant::now();
        let called = tools.call(server, &call.tool, &call.arguments).await;
        let ms = asked.elapsed().as_secs_f64() * 1000.0;
        call.outcome = called.outcome;
        outcomes.push(Some((redactor.call(call).into_inner().outcome, ms)));
        if let Some(lost) = called.lost {
            return Err(lost);
        }
    }
    tools.close().await;
    started.stop().await;
    Ok(outcomes)
}
