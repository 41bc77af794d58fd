//! Runs the scenarios of one command, several at a time, and gathers what came of them.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::cli::args::{ExecuteArgs, OutputArgs, Preset, ScoreArgs};
use crate::cli::bench::Bench;
use crate::cli::console::Console;
use crate::cli::execute::Executor;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::outcome::{broken, is_fine, not_run, was_interrupted};
use crate::cli::progress::{ScenarioProgress, SuiteProgress};
use crate::docker::{Guard, Session};
use crate::model::rules;
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status, SuiteResult};
use crate::run::Budget;
use crate::scenario_file;
use crate::store::Runs;

/// Where baselines lie unless the user says otherwise.
pub(super) const BASELINES: &str = "baselines";

/// Where runs are kept.
pub(super) const RUNS: &str = ".mcp-eval/runs";

/// A finished suite and where its runs are kept.
pub(super) struct Finished {
    pub(super) suite: SuiteResult,
    pub(super) runs: Arc<Runs>,
    /// Where the trajectories lie, for each scenario of the suite.
    pub(super) files: Vec<Files>,
}

/// Where the trajectories of one scenario lie.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) current: Option<PathBuf>,
    pub(super) baseline: Option<PathBuf>,
    pub(super) container_log: Option<PathBuf>,
    /// Of each attempt, where there were several.
    pub(super) attempts: Vec<Option<PathBuf>>,
}

/// What a command runs, and how.
pub(super) struct Plan<'a> {
    /// The command's name.
    pub(super) command: &'a str,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) execute: &'a ExecuteArgs,
    pub(super) output: OutputArgs,
    pub(super) console: Console,
    /// What is inconclusive has not passed.
    pub(super) strict_statistics: bool,
    /// A folder the command writes to, besides the usual ones.
    pub(super) ours: Option<&'a Path>,
}

/// Why a disabled scenario is not run.
const DISABLED: &str = "the scenario is disabled (`enabled: false`)";

/// How long running scenarios may take to stop when the program is asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs every scenario with `work` and gathers the results in the scenarios' order.
///
/// Each scenario is a task of its own, so that the work on one answer holds up nobody else. Disabled scenarios are skipped. When
/// interrupted, what has finished is kept, and what has not is told as interrupted.
///
/// # Errors
///
/// When the servers given on the command line cannot be read, or runs cannot be kept at all.
pub(super) fn run_suite<W, F>(plan: Plan<'_>, work: W) -> Result<Finished, Failure>
where
    W: Fn(Arc<Scenario>, Bench) -> F,
    F: Future<Output = ScenarioResult> + Send + 'static,
{
    let servers = match &plan.execute.mcp_config {
        None => Vec::new(),
        Some(path) => scenario_file::client_config(path)
            .map_err(|problem| Failure::usage(problem.to_string()))?,
    };
    let started_at = Timestamp::now();
    let started = Instant::now();
    let runs = Arc::new(Runs::create(Path::new(RUNS), started_at)?);
    let mut ours: Vec<PathBuf> = [BASELINES, "reports", ".mcp-eval"]
        .map(PathBuf::from)
        .to_vec();
    ours.extend(plan.ours.map(Path::to_owned));
    let mut selected = plan.scenarios.iter().filter(|it| it.enabled).count();
    let jobs = usize::from(plan.execute.jobs);
    let budget = plan.execute.budget.map(|it| Arc::new(Budget::new(it)));
    let containers = (!plan.execute.no_docker).then(|| {
        let variable = |name: &str| std::env::var(name).ok();
        Arc::new(Session::new(variable))
    });
    let _guard = containers.clone().map(Guard);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One more than can be busy with large answers, so that time is kept and signals are heard.
        .worker_threads(jobs.min(8) + 1)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;

    let (results, interrupted, git) = runtime.block_on(async {
        let interrupt = interrupt::token();
        let executor = Arc::new(Executor::new(
            servers,
            ours,
            containers.clone(),
            budget.clone(),
            interrupt.clone(),
        ));
        let progress = Arc::new(SuiteProgress::new(
            plan.scenarios.len(),
            plan.output,
            plan.console,
        ));
        let mut results = BTreeMap::new();
        let scenarios: Vec<_> = plan.scenarios.into_iter().map(Arc::new).collect();
        let mut waiting = scenarios.iter().map(Arc::clone).enumerate().peekable();
        let mut running = JoinSet::new();
        let mut stopped = false;
        loop {
            while running.len() < jobs && !interrupt.is_cancelled() {
                let Some((index, scenario)) = waiting.next() else {
                    break;
                };
                let exhausted = budget.as_ref().and_then(|it| it.exhausted());
                let skip = match (scenario.enabled, stopped, exhausted) {
                    (false, _, _) => Some((Status::Skipped, DISABLED.to_owned())),
                    (true, true, _) => Some((
                        Status::Skipped,
                        "not started: an earlier scenario has not passed (`--fail-fast`)"
                            .to_owned(),
                    )),
                    // Whatever decides nothing costs nothing.
                    (true, false, Some(why)) if scenario.agent.decides() => {
                        Some((Status::Error, format!("not started: {why}")))
                    }
                    (true, false, _) => None,
                };
                if let Some((status, why)) = skip {
                    let result = not_run(&executor.told(&scenario), status, why);
                    progress.finished(&result);
                    results.insert(index, result);
                    continue;
                }
                let bench = Bench {
                    executor: Arc::clone(&executor),
                    runs: Arc::clone(&runs),
                    progress: ScenarioProgress::new(&progress, &scenario),
                    place: Arc::default(),
                };
                let (executor, place) = (Arc::clone(&executor), Arc::clone(&bench.place));
                let it = Arc::clone(&scenario);
                let task = AssertUnwindSafe(work(scenario, bench)).catch_unwind();
                running.spawn(async move {
                    if let Some(why) = executor.why_not(&it).await {
                        return (index, not_run(&executor.told(&it), Status::Skipped, why));
                    }
                    let mut result = task.await.unwrap_or_else(|_| broken(&it));
                    let look = !is_fine(&result) && !was_interrupted(&result);
                    result.notes.extend(place.release(look).await);
                    (index, result)
                });
            }
            let done = tokio::select! {
                biased;
                () = interrupt.cancelled() => None,
                done = running.join_next() => done,
            };
            // Nothing is running any more, or nothing is to run any more.
            let Some(done) = done else { break };
            if let Ok((index, result)) = done {
                // Whatever is to come is left out only where the command fails anyway.
                let stops = match result.status {
                    Status::Inconclusive => plan.strict_statistics,
                    _ => !is_fine(&result),
                };
                stopped |= plan.execute.fail_fast && stops;
                // What cannot run here was not to run.
                selected -= usize::from(result.status == Status::Skipped);
                progress.finished(&result);
                results.insert(index, result);
            }
        }
        let stopping = async {
            while let Some(done) = running.join_next().await {
                if let Ok((index, result)) = done {
                    selected -= usize::from(result.status == Status::Skipped);
                    results.insert(index, result);
                }
            }
        };
        let _ = tokio::time::timeout(STOP_TIMEOUT, stopping).await;
        running.abort_all();
        // Whatever is to come after those that have begun.
        let not_begun = waiting.peek().map_or(usize::MAX, |(index, _)| *index);
        for (index, scenario) in scenarios.iter().enumerate() {
            results.entry(index).or_insert_with(|| {
                match (interrupt.is_cancelled(), index < not_begun) {
                    // Its task has ended without a result.
                    (false, _) => broken(scenario),
                    (true, begun) => unfinished(&executor.told(scenario), begun),
                }
            });
        }
        if let Some(containers) = &containers {
            containers.end().await;
        }
        progress.end();
        (
            results,
            interrupt.is_cancelled(),
            executor.git(Path::new(".")),
        )
    });
    // A server that will not let go of its pipes must not hold us up.
    runtime.shutdown_background();

    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        command: plan.command.to_owned(),
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        duration_ms: started.elapsed().as_secs_f64() * 1000.0,
        git,
        interrupted,
        selected,
        scenarios: results.into_values().collect(),
    };
    let files = suite.scenarios.iter().map(|it| Files {
        current: Some(runs.path(&it.id)).filter(|it| it.exists()),
        baseline: Some(runs.baseline_path(&it.id)).filter(|it| it.exists()),
        container_log: Some(runs.log_path(&it.id)).filter(|it| it.exists()),
        attempts: attempts(&runs, it),
    });
    Ok(Finished {
        files: files.collect(),
        suite,
        runs,
    })
}

/// The result of a scenario that an interruption left without one.
fn unfinished(scenario: &Scenario, begun: bool) -> ScenarioResult {
    let (status, why) = match (scenario.enabled, begun) {
        (false, _) => (Status::Skipped, DISABLED),
        (true, true) => (
            Status::Interrupted,
            "interrupted, and it did not stop in time to tell what it had done",
        ),
        (true, false) => (Status::Interrupted, "not started: interrupted before"),
    };
    not_run(scenario, status, why.to_owned())
}

/// Where the trajectories of a scenario's attempts lie.
fn attempts(runs: &Runs, result: &ScenarioResult) -> Vec<Option<PathBuf>> {
    let count = (result.repeated.as_ref()).map_or(0, |it| it.attempts.len());
    let file = |number| Some(runs.attempt(number).path(&result.id)).filter(|it| it.exists());
    (1..=count).map(file).collect()
}

/// A scenario's rules with what the command line says of them.
pub(super) fn rules(scenario: &Scenario, args: &ScoreArgs) -> Rules {
    overridden(scenario.scoring.clone(), args)
}

/// Rules with what the command line says of them.
pub(super) fn overridden(mut rules: Rules, args: &ScoreArgs) -> Rules {
    rules.threshold = args.threshold.unwrap_or(rules.threshold);
    rules.pass_threshold = args.pass_threshold.unwrap_or(rules.pass_threshold);
    rules.strict |= args.strict;
    rules.preset = match args.preset {
        None => rules.preset,
        Some(Preset::Standard) => rules::Preset::Standard,
        Some(Preset::Classic) => rules::Preset::Classic,
    };
    rules
}
