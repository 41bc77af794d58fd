//! Runs the scenarios of one command, several at a time, and gathers what came of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::stream::{self, StreamExt};
use jiff::Timestamp;

use crate::cli::args::{ExecuteArgs, OutputArgs, Preset, ScoreArgs};
use crate::cli::console::Console;
use crate::cli::execute::Executor;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::{ScenarioProgress, SuiteProgress};
use crate::model::rules;
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::{Ending, Trajectory};
use crate::scenario_file;
use crate::score;
use crate::store::{Runs, StoreError};

/// Where runs are kept.
pub(super) const RUNS: &str = ".mcp-eval/runs";

/// What running one scenario needs.
pub(super) struct Bench<'a> {
    executor: &'a Executor,
    pub(super) runs: &'a Runs,
    progress: ScenarioProgress<'a>,
}

/// A finished suite and where its runs are kept.
pub(super) struct Finished {
    pub(super) suite: SuiteResult,
    pub(super) runs: Runs,
}

/// Runs every scenario with `work` and gathers the results in the scenarios' order.
///
/// Disabled scenarios are skipped. When interrupted, what has finished is kept.
///
/// # Errors
///
/// When the servers given on the command line cannot be read, or runs cannot be kept at all.
pub(super) fn run_suite<W>(
    command: &str,
    scenarios: &[Scenario],
    args: &ExecuteArgs,
    output: OutputArgs,
    console: Console,
    ours: &[PathBuf],
    work: &W,
) -> Result<Finished, Failure>
where
    W: AsyncFn(&Scenario, Bench<'_>) -> ScenarioResult,
{
    let servers = match &args.mcp_config {
        None => Vec::new(),
        Some(path) => scenario_file::client_config(path)
            .map_err(|problem| Failure::usage(problem.to_string()))?,
    };
    let started_at = Timestamp::now();
    let started = Instant::now();
    let runs = Runs::create(Path::new(RUNS), started_at)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let mut ours = ours.to_vec();
    ours.extend([
        PathBuf::from("baselines"),
        PathBuf::from("reports"),
        PathBuf::from(".mcp-eval"),
    ]);

    let (mut results, interrupted, git) = runtime.block_on(async {
        let interrupt = interrupt::token();
        let executor = Executor::new(servers, ours, interrupt.clone());
        let progress = SuiteProgress::new(scenarios.len(), output, console);
        let stopped = AtomicBool::new(false);
        let results: Vec<Option<(usize, ScenarioResult)>> =
            stream::iter(scenarios.iter().enumerate())
                .map(|(index, scenario)| {
                    let (executor, runs, progress, stopped) =
                        (&executor, &runs, &progress, &stopped);
                    let interrupt = &interrupt;
                    async move {
                        let result = if !scenario.enabled {
                            skipped(scenario, "the scenario is disabled (`enabled: false`)")
                        } else if interrupt.is_cancelled() {
                            return None;
                        } else if stopped.load(Ordering::Relaxed) {
                            skipped(
                                scenario,
                                "not started: an earlier scenario has not passed (`--fail-fast`)",
                            )
                        } else {
                            let bench = Bench {
                                executor,
                                runs,
                                progress: progress.scenario(&scenario.name),
                            };
                            work(scenario, bench).await
                        };
                        if interrupt.is_cancelled() && was_interrupted(&result) {
                            return None;
                        }
                        if args.fail_fast
                            && !matches!(
                                result.status,
                                Status::Passed | Status::Recorded | Status::Skipped
                            )
                        {
                            stopped.store(true, Ordering::Relaxed);
                        }
                        progress.finished(&result);
                        Some((index, result))
                    }
                })
                .buffer_unordered(usize::from(args.jobs))
                .collect()
                .await;
        progress.end();
        (
            results,
            interrupt.is_cancelled(),
            executor.git(Path::new(".")),
        )
    });
    // A server that will not let go of its pipes must not hold us up.
    runtime.shutdown_background();

    results.sort_by_key(|it| it.as_ref().map(|(index, _)| *index));
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        command: command.to_owned(),
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        duration_ms: started.elapsed().as_secs_f64() * 1000.0,
        git,
        interrupted,
        scenarios: results
            .into_iter()
            .flatten()
            .map(|(_, result)| result)
            .collect(),
    };
    Ok(Finished { suite, runs })
}

impl Bench<'_> {
    /// Runs the scenario and keeps the run, whatever came of it.
    ///
    /// # Errors
    ///
    /// The trajectory is returned in any case; the error says that it could not be kept.
    pub(super) async fn execute(&self, scenario: &Scenario) -> (Trajectory, Option<StoreError>) {
        let mut trajectory = self.executor.execute(scenario, &self.progress).await;
        score::mark_breaches(&mut trajectory);
        let lost = self.runs.save(&scenario.id, &trajectory).err();
        (trajectory, lost)
    }
}

/// What every result says of its scenario.
pub(super) fn result(scenario: &Scenario, status: Status) -> ScenarioResult {
    ScenarioResult {
        id: scenario.id.clone(),
        name: scenario.name.clone(),
        path: scenario.path.display().to_string(),
        description: scenario.description.clone(),
        user_intent: scenario.user_intent.clone(),
        tags: scenario.tags.clone(),
        status,
        duration_ms: None,
        problem: None,
        checks: Vec::new(),
        comparison: None,
        baseline: None,
        current: None,
        notes: Vec::new(),
    }
}

fn skipped(scenario: &Scenario, why: &str) -> ScenarioResult {
    ScenarioResult {
        problem: Some(problem(why)),
        ..result(scenario, Status::Skipped)
    }
}

/// A problem that says it all in one sentence.
pub(super) fn problem(message: impl Into<String>) -> Problem {
    Problem {
        message: message.into(),
        hint: None,
        details: Vec::new(),
    }
}

/// The result of a run that is no basis for a verdict; `None` when it is one.
pub(super) fn incomplete(scenario: &Scenario, trajectory: &Trajectory) -> Option<ScenarioResult> {
    let (status, message, details) = match &trajectory.ending {
        Ending::Completed | Ending::Blocked { .. } => return None,
        Ending::TimedOut { message } => (Status::Timeout, message.clone(), Vec::new()),
        Ending::Interrupted => (Status::Error, "interrupted".to_owned(), Vec::new()),
        Ending::Error { message, details } => (Status::Error, message.clone(), details.clone()),
    };
    Some(ScenarioResult {
        problem: Some(Problem {
            message,
            hint: None,
            details,
        }),
        duration_ms: trajectory.duration_ms,
        current: Some(Arc::new(trajectory.clone())),
        ..result(scenario, status)
    })
}

fn was_interrupted(result: &ScenarioResult) -> bool {
    result
        .current
        .as_ref()
        .is_some_and(|it| it.ending == Ending::Interrupted)
}

/// A scenario's rules with what the command line says of them.
pub(super) fn rules(scenario: &Scenario, args: &ScoreArgs) -> Rules {
    overridden(scenario.scoring.clone(), args)
}

/// Rules with what the command line says of them.
pub(super) fn overridden(mut rules: Rules, args: &ScoreArgs) -> Rules {
    rules.threshold = args.threshold.unwrap_or(rules.threshold);
    rules.preset = match args.preset {
        None => rules.preset,
        Some(Preset::Standard) => rules::Preset::Standard,
        Some(Preset::Classic) => rules::Preset::Classic,
    };
    rules
}
