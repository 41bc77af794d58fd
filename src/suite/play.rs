//! Runs the scenarios of one command, as many at a time as the schedule says, and gathers what came of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::finished::LaidDown;
use super::hooks::{self, SetUp};
use super::kept_results::KeptResults;
use super::measuring::{Doing, measured};
use super::outcome::{broken, caught, disabled, not_started, result, unavailable, without_verdict};
use super::run_context::RunContext;
use super::schedule::{Schedule, Turn};
use super::suite_context::SuiteContext;
use super::{BASELINES, Error, Files, Finished, Observer, REPORTS, Settings, Silent, replay};
use crate::docker::{Guard, Session};
use crate::model::{Called, Git, NotRun, Redacted, ScenarioResult, Status, SuiteResult};
use crate::published::result::{self, ResultDocument};
use crate::report::document;
use crate::scenario_file::Scenario;
use crate::store::{self, Baselines, RESULT, Runs, STATE, StoreError};

/// Scenarios to be run, with the observer of their progress and the token that stops them.
#[derive(Clone)]
pub struct Suite {
    pub scenarios: Vec<Scenario>,
    pub observer: Arc<dyn Observer>,
    /// Cancelled when everything is to stop: what has finished is kept, and the rest is reported as interrupted.
    pub interrupt: CancellationToken,
}

impl Suite {
    /// Scenarios without an observer, and with a token that is never cancelled.
    pub fn new(scenarios: Vec<Scenario>) -> Self {
        Self {
            scenarios,
            observer: Arc::new(Silent),
            interrupt: CancellationToken::new(),
        }
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field("scenarios", &self.scenarios)
            .finish_non_exhaustive()
    }
}

/// How long running scenarios may take to stop when the program is asked to, but for what they run afterwards.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs every scenario with `work`, or measures what it is about, and gathers the results in the scenarios' order.
///
/// Each scenario is a task of its own, so that work on one answer does not delay the others. Disabled scenarios are skipped. When
/// interrupted, what has finished is kept, and what has not is reported as interrupted.
///
/// # Errors
///
/// When runs cannot be kept at all.
pub(crate) async fn play<W, F>(
    command: &str,
    doing: Doing,
    suite: Suite,
    settings: &Settings,
    work: W,
) -> Result<Finished, Error>
where
    W: Fn(Arc<Scenario>, RunContext) -> F,
    F: Future<Output = ScenarioResult> + Send + 'static,
{
    let Suite {
        scenarios,
        observer,
        interrupt,
    } = suite;
    let started_at = Timestamp::now();
    let started = Instant::now();
    let runs = Arc::new(Runs::create(&settings.runs, started_at)?);
    observer.kept_as(runs.id());
    let mut ours: Vec<PathBuf> = [BASELINES, REPORTS, STATE].map(PathBuf::from).to_vec();
    ours.push(settings.baselines.clone());
    let mut selected = scenarios.iter().filter(|it| it.enabled).count();
    let containers = settings.containers.then(|| {
        let variable = |name: &str| std::env::var(name).ok();
        Arc::new(Session::new(variable))
    });
    let _guard = containers.clone().map(Guard);
    let context = SuiteContext::new(settings, ours, containers.clone(), interrupt.clone());
    let context = Arc::new(context);
    let mut around = SetUp::run(settings, &interrupt).await;
    let mut results = BTreeMap::new();
    let all = scenarios.len();
    let scenarios: Vec<_> = scenarios.into_iter().map(Arc::new).collect();
    let begun = (command, started_at, settings.called.clone());
    let begun = keep_begun(begun, &runs, &scenarios, &context)?;
    let mut kept = KeptResults::begin(settings, &begun, &runs, &scenarios, &context);
    let mut schedule = Schedule::new(&scenarios, settings, &context);
    let mut running = JoinSet::new();
    let mut stopped = false;
    loop {
        while !interrupt.is_cancelled() {
            let Some(turn) = schedule.next() else {
                break;
            };
            let Turn {
                index,
                scenario,
                permit,
                job,
            } = turn;
            let (failed, exhausted) = (around.problem(), context.exhausted());
            let redacted = || context.redacted(&scenario);
            let skip = match (scenario.enabled, failed, stopped, exhausted) {
                (false, ..) => Some(disabled(&redacted())),
                (true, Some(problem), ..) => Some(
                    result(&redacted(), Status::Error)
                        .with(|it| it.problem = Some(problem.clone())),
                ),
                (true, None, true, _) => Some(not_started(
                    &redacted(),
                    Status::Skipped,
                    NotRun::FailFast,
                    "an earlier scenario has not passed (`--fail-fast`)",
                )),
                // The budget is spent. Only agents that ask a model cost anything, so the others still run.
                (true, None, false, Some(why)) if scenario.agent.decides() => {
                    let budget = NotRun::Budget;
                    Some(not_started(&redacted(), Status::Error, budget, &why))
                }
                (true, None, false, _) => None,
            };
            if let Some(result) = skip {
                let result = context.redacted_result(result);
                observer.finished(&result);
                kept.result(index, &result);
                results.insert(index, Ended::of(result));
                continue;
            }
            let run_context = RunContext {
                suite: Arc::clone(&context),
                runs: Arc::clone(&runs),
                progress: observer.begins(&scenario),
                slot: Arc::default(),
                job: Arc::clone(&job),
                attempt: None,
                is_repeated: false,
                before: None,
            };
            let (context, slot) = (Arc::clone(&context), Arc::clone(&run_context.slot));
            let runs = Arc::clone(&runs);
            let it = Arc::clone(&scenario);
            let progress = Arc::clone(&run_context.progress);
            // What is measured comes to its result in another way; all else is the same for all.
            let task = if scenario.measurement.is_some() {
                measure(scenario, run_context, &doing, settings, all).boxed()
            } else {
                work(scenario, run_context).boxed()
            };
            running.spawn(async move {
                // Whether another one may have it is known only when the result is.
                let place = (permit, job);
                if let Some(why) = context.why_not(&it, &*progress).await {
                    let result = unavailable(&context.redacted(&it), why);
                    return (index, result, LaidDown::default(), place);
                }
                let mut result =
                    (caught(task).await).unwrap_or_else(|why| broken(&context.redacted(&it), &why));
                let look =
                    !result.status.is_fine_or_skipped() && result.status != Status::Interrupted;
                result.notes.extend(slot.release(look).await);
                // A stored run has its own files, which stay as they are.
                let laid_down = if context.judged.is_some() {
                    LaidDown::default()
                } else {
                    tokio::task::block_in_place(|| LaidDown::of(&result, &runs))
                };
                (index, result, laid_down, place)
            });
        }
        let done = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            done = running.join_next() => done,
            () = schedule.has_place() => continue,
        };
        // `None` when all scenarios have finished, or the program is asked to stop.
        let Some(done) = done else { break };
        if let Ok((index, result, laid_down, _place)) = done {
            // `--fail-fast` stops only after results that make the command fail.
            let stops = match result.status {
                Status::Inconclusive => result.is_undecided() || settings.judging.strict_statistics,
                status => !status.is_fine_or_skipped(),
            };
            let decides = !settings.quarantined.contains(&result.id);
            stopped |= settings.fail_fast && stops && decides;
            // A scenario that cannot run here does not count as selected.
            selected -= usize::from(result.status == Status::Skipped);
            let result = context.redacted_result(result);
            observer.finished(&result);
            kept.result(index, &result);
            results.insert(index, Ended::of(result).without(laid_down));
        }
    }
    let stopping = async {
        while let Some(done) = running.join_next().await {
            if let Ok((index, result, laid_down, _place)) = done {
                selected -= usize::from(result.status == Status::Skipped);
                let ended = Ended {
                    result,
                    laid_down: LaidDown::default(),
                };
                results.insert(index, ended.without(laid_down));
            }
        }
    };
    let grace = if scenarios.iter().any(|it| !it.after.is_empty()) {
        hooks::GRACE
    } else {
        Duration::ZERO
    };
    let _ = tokio::time::timeout(STOP_TIMEOUT + grace, stopping).await;
    running.abort_all();
    for (index, scenario) in scenarios.iter().enumerate() {
        results.entry(index).or_insert_with(|| {
            let begun = schedule.has_begun(index);
            Ended {
                result: if interrupt.is_cancelled() {
                    unfinished(&context.redacted(scenario), begun)
                } else {
                    // Its task has ended without a result.
                    broken(
                        &context.redacted(scenario),
                        "its task ended without a result",
                    )
                },
                laid_down: LaidDown::default(),
            }
        });
    }
    if let Some(containers) = &containers {
        containers.end().await;
    }
    let mut notes = around.tear_down().await;
    observer.ended();
    let (results, laid_down): (Vec<ScenarioResult>, Vec<LaidDown>) = results
        .into_values()
        .map(|it| (it.result, it.laid_down))
        .unzip();
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        // What a suite may take, the run took, and not whoever judges it.
        duration_ms: (settings.judged.as_ref().and_then(|it| it.duration_ms))
            .unwrap_or_else(|| started.elapsed().as_secs_f64() * 1000.0),
        interrupted: interrupt.is_cancelled(),
        called: settings.called.clone(),
        selected,
        scenarios: results,
        ..SuiteResult::new(command, started_at, context.git(Path::new(".")))
    };
    let files = suite.scenarios.iter().zip(laid_down);
    let made = settings.judged.as_ref();
    let made = made.map_or_else(|| Arc::clone(&runs), |it| Arc::new(Runs::at(&it.folder)));
    let files = files.map(|(it, laid_down)| Files {
        current: Some(made.path(&it.id)).filter(|it| it.is_file()),
        baseline: Some(runs.baseline_path(&it.id)).filter(|it| it.exists()),
        container_log: Some(runs.log_path(&it.id)).filter(|it| it.exists()),
        attempts: attempts(&made, it),
        laid_down,
    });
    let files = files.collect();
    let redactor = context.redactor();
    let suite = redactor.suite(suite);
    let unkept = kept.end(&suite).await;
    notes.extend(unkept.iter().map(|it| redactor.text(it)));
    Ok(Finished {
        files,
        notes,
        suite,
        runs,
        database: settings.database.clone(),
    })
}

/// Measures what a scenario is about, of so many that were selected.
fn measure(
    scenario: Arc<Scenario>,
    run_context: RunContext,
    doing: &Doing,
    settings: &Settings,
    selected: usize,
) -> impl Future<Output = ScenarioResult> + Send + 'static + use<> {
    let (doing, settings) = (doing.clone(), settings.clone());
    let baselines = if settings.recording.of_one_scenario {
        Baselines::of_one_scenario(&settings.baselines)
    } else if matches!(doing, Doing::Record) {
        Baselines::new(&settings.baselines)
    } else {
        replay::baselines(&settings.baselines, &scenario, selected)
    };
    async move { measured(&scenario, &run_context, &baselines, &doing, &settings).await }
}

/// What is kept in memory of a scenario that has ended.
struct Ended {
    result: ScenarioResult,
    laid_down: LaidDown,
}

impl Ended {
    fn of(result: Redacted<ScenarioResult>) -> Self {
        Self {
            result: result.into_inner(),
            laid_down: LaidDown::default(),
        }
    }

    /// The same without the trajectories that lie in their files.
    fn without(mut self, laid_down: LaidDown) -> Self {
        laid_down.take_from(&mut self.result);
        Self { laid_down, ..self }
    }
}

/// What is kept of a scenario in a run that has begun.
const UNENDED: &str = "the run has not ended: it is under way, or was killed";

/// Keeps the result of a run that has begun, in which nothing has come of any scenario yet. Whoever looks for the run after a `kill -9`
/// finds that, and no earlier run in its place.
fn keep_begun(
    (command, started_at, called): (&str, Timestamp, Option<Called>),
    runs: &Runs,
    scenarios: &[Arc<Scenario>],
    context: &SuiteContext,
) -> Result<Redacted<ResultDocument>, StoreError> {
    let results = scenarios.iter().map(|it| {
        let it = context.redacted(it);
        if it.enabled {
            without_verdict(&it, Status::Interrupted, UNENDED.to_owned())
        } else {
            disabled(&it)
        }
    });
    let git = Git::Unknown {
        reason: "the run has not ended".to_owned(),
    };
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        called,
        interrupted: true,
        selected: scenarios.iter().filter(|it| it.enabled).count(),
        scenarios: results.collect(),
        ..SuiteResult::new(command, started_at, git)
    };
    let suite = context.redactor().suite(suite);
    let begun = suite.derive(|_| document::of(&suite));
    store::write(&runs.folder().join(RESULT), result::json(&begun).as_bytes())?;
    Ok(begun)
}

/// The result of a scenario that an interruption left without one.
fn unfinished(scenario: &Scenario, begun: bool) -> ScenarioResult {
    match (scenario.enabled, begun) {
        (false, _) => disabled(scenario),
        (true, true) => without_verdict(
            scenario,
            Status::Interrupted,
            "interrupted, and it did not stop in time to tell what it had done".to_owned(),
        ),
        (true, false) => not_started(
            scenario,
            Status::Interrupted,
            NotRun::Interrupted,
            "interrupted before",
        ),
    }
}

/// Where the trajectories of a scenario's attempts lie.
fn attempts(runs: &Runs, result: &ScenarioResult) -> Vec<Option<PathBuf>> {
    let count = (result.repeated.as_ref()).map_or(0, |it| it.attempts.len());
    let file = |number| Some(runs.attempt(number).path(&result.id)).filter(|it| it.exists());
    (1..=count).map(file).collect()
}
