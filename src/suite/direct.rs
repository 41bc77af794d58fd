//! The effect of a proxy on answers: the calls that arrive behind it are made once more, straight at the servers there.

use std::time::Instant;

use jiff::Timestamp;

use super::behind::Upstreams;
use super::expect::expect;
use super::measuring::Doing;
use super::outcome::unavailable;
use super::play::play;
use super::stack::Stack;
use super::{Error, Finished, RunContext, Settings, Suite, replay, source};
use crate::digits;
use crate::mcp;
use crate::model::{Outcome, Problem, Redacted, Redaction, ScenarioResult, Status, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::{Progress, SetupError, Tools};
use crate::scenario_file::Scenario;
use crate::score;

/// Why a scenario says nothing of what a proxy does.
const NOTHING_BEHIND: &str =
    "it declares no `upstreams`, so there is nothing behind its servers to be asked straight";

/// What came of a call that was made straight at a server, with its time in milliseconds; `None` where it was not made.
type Straight = Option<(Outcome, f64)>;

/// Runs scenarios against their own expectations, and makes each call that arrives behind their servers once more, straight there, to tell
/// what the servers do to the answers. Those without servers behind are skipped. What is found is the result of a `run`, as it is judged by
/// the same. Needs a runtime with several threads.
///
/// # Errors
///
/// When runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn compare_direct(suite: Suite, settings: &Settings) -> Result<Finished, Error> {
    let selected = suite.scenarios.len();
    let doing = Doing::Leave(NOTHING_BEHIND);
    play("run", doing, suite, settings, |scenario, run_context| {
        let settings = settings.clone();
        async move {
            if scenario.upstreams.is_empty() {
                let why = NOTHING_BEHIND.to_owned();
                return unavailable(&run_context.redacted(&scenario), why);
            }
            let baselines = replay::baselines(&settings.baselines, &scenario, selected);
            let run_context = run_context.knowing(&baselines, &scenario.id);
            let result = expect(&scenario, &run_context, &baselines, &settings).await;
            Box::pin(with_direct(result, &scenario, &run_context)).await
        }
    })
    .await
}

/// Adds to the result of a run what its servers did to the answers from behind. Where something keeps the calls from being made straight, a
/// run that had passed is an error, and what is known without them is reported all the same.
async fn with_direct(
    mut result: ScenarioResult,
    scenario: &Scenario,
    run_context: &RunContext,
) -> ScenarioResult {
    let Some(run) = result.current.clone() else {
        return result;
    };
    if run.upstream.is_none() || !run.ending.is_complete() {
        return result;
    }
    let mut straight = Vec::new();
    let asked = make_straight(
        scenario,
        &run,
        run_context,
        &mut straight,
        &mut result.notes,
    )
    .await;
    let direct = tokio::task::block_in_place(|| score::direct(&run, &straight));
    result.direct = Some(Box::new(direct));
    if let Err(failed) = asked {
        let message = format!("asking the servers behind straight: {}", failed.message);
        if result.status == Status::Failed {
            result.notes.push(message);
        } else {
            let is_interrupted = run_context.suite.interrupt.is_cancelled();
            result.status = if is_interrupted {
                Status::Interrupted
            } else {
                Status::Error
            };
            let mut problem = Problem::new(message);
            problem.details = failed.details;
            result.problem = Some(problem);
        }
    }
    result
}

/// Makes the calls that a run's servers behind received, straight at fresh ones, with what resets them before and after.
///
/// # Errors
///
/// What kept the servers from being asked; what came of the calls before that is in `straight`.
async fn make_straight(
    scenario: &Scenario,
    run: &Redacted<Trajectory>,
    run_context: &RunContext,
    straight: &mut Vec<Straight>,
    notes: &mut Vec<String>,
) -> Result<(), SetupError> {
    let suite = &run_context.suite;
    let scenario = &*source::resolved(scenario);
    let mut secrets = Secrets::given_to(&scenario.redaction);
    secrets.extend(&suite.remembered(scenario));
    let tell = |doing: &str| {
        let progress = Progress::Preparing { doing };
        run_context.progress.progress(progress);
    };
    let (begun, mut stack) = (Timestamp::now(), Stack::default());
    let mut said = Vec::new();
    let asked = async {
        let hooks = stack.push(suite.hooks(scenario, &mut secrets)?);
        hooks.before(&tell).await?;
        tell("asking the servers behind straight");
        let Upstreams { targets, started } = suite.upstreams(scenario, &mut secrets)?;
        let started = stack.push(started);
        let asking = async {
            let tools = started.during(mcp::connect(&targets, &|_| ())).await?;
            ask(
                tools,
                run,
                &scenario.redaction,
                &secrets,
                straight,
                &mut said,
            )
            .await
        };
        let asked = suite.interrupt.run_until_cancelled(asking).await;
        asked.unwrap_or_else(|| Err(SetupError::new("interrupted")))
    };
    let asked = asked.await;
    let torn_down = stack.tear_down(begun, asked.is_err(), &tell).await;
    said.extend(torn_down.notes);
    let redactor = Redactor::new(&secrets, &scenario.redaction);
    let clean = |text: &String| redactor.text(text).into_inner();
    notes.extend(said.iter().map(clean));
    asked.map_err(|mut failed| {
        failed.message = clean(&failed.message);
        failed.details = failed.details.iter().map(clean).collect();
        failed
    })
}

/// Makes the calls at the servers behind.
async fn ask(
    tools: Box<dyn Tools>,
    run: &Redacted<Trajectory>,
    redaction: &Redaction,
    secrets: &Secrets,
    straight: &mut Vec<Straight>,
    notes: &mut Vec<String>,
) -> Result<(), SetupError> {
    let redactor = Redactor::new(secrets, redaction);
    let calls = run.upstream.iter().flat_map(|it| &it.calls);
    for (number, upstream_call) in (1..).zip(calls) {
        let server = upstream_call.call.server.as_deref().unwrap_or_default();
        let mut call = upstream_call.call.clone();
        digits::put_into(&mut call.arguments, &call.digits);
        if let Err(unknown) = secrets.restore(&mut call.arguments, server) {
            notes.push(format!(
                "call {number} behind was not made straight, because the secret {} is not known: {}",
                unknown.placeholder, unknown.hint
            ));
            straight.push(None);
            continue;
        }
        let asked = Instant::now();
        let called = tools.call(server, &call.tool, &call.arguments).await;
        let ms = asked.elapsed().as_secs_f64() * 1000.0;
        call.outcome = called.outcome;
        straight.push(Some((redactor.call(call).into_inner().outcome, ms)));
        if let Some(lost) = called.lost {
            return Err(lost);
        }
    }
    tools.close().await;
    Ok(())
}
