//! The context in which a command runs one scenario: it runs it, keeps the run, and returns it without secrets, while observers are shown its progress.

use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::evaluate::OfferedBefore;
use crate::model::{Ending, Evaluation, Problem, Redacted, ScenarioResult, Status, Trajectory};
use crate::redact::Redactor;
use crate::run::{self, Progress};
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::{Baselines, Runs};
use crate::suite::containers::ContainerSlot;
use crate::suite::evaluating::{Evaluating, offered_in_baselines, redacted_scenario};
use crate::suite::execute::{FinishedRun, Reads};
use crate::suite::measuring::Measuring;
use crate::suite::outcome::result;
use crate::suite::patience::Patience;
use crate::suite::post_mortem::blame;
use crate::suite::schedule::Job;
use crate::suite::suite_context::SuiteContext;

/// What running one scenario needs.
pub(crate) struct RunContext {
    pub(crate) suite: Arc<SuiteContext>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) progress: Arc<dyn ScenarioObserver>,
    pub(crate) slot: Arc<ContainerSlot>,
    pub(crate) job: Arc<Job>,
    /// Which one of several attempts it is, counted from 1.
    pub(crate) attempt: Option<u16>,
    /// It is one of several runs that are judged together.
    pub(crate) is_repeated: bool,
    /// What servers offered before, where anything is accepted.
    pub(crate) before: Option<Arc<OfferedBefore>>,
}

/// A run that has ended, however it did.
pub(crate) struct Executed {
    /// The scenario without secrets, its expectations filled in with what the run answered.
    pub(crate) scenario: Redacted<Scenario>,
    pub(crate) trajectory: Redacted<Trajectory>,
    /// What the scenario's evaluators found in it.
    pub(crate) evaluations: Redacted<Vec<Evaluation>>,
    /// What a reader should know of the run.
    pub(crate) notes: Vec<String>,
    /// How long work on it may still take.
    pub(crate) patience: Patience,
}

/// What becomes of a run that is no basis for a verdict, or that a limit has ended, and why; `None` of one that is to be judged.
pub(crate) fn unfinished(ending: &Ending) -> Option<(Status, String)> {
    let status = match ending {
        Ending::Completed | Ending::Blocked { .. } => return None,
        Ending::LimitReached { .. } => Status::Failed,
        Ending::TimedOut { .. } => Status::Timeout,
        Ending::Interrupted => Status::Interrupted,
        Ending::Error { .. } => Status::Error,
    };
    Some((status, ending.reason().unwrap_or("interrupted").to_owned()))
}

impl Executed {
    /// The result of a run that is not compared: it is no basis for a verdict, or a limit has ended it as failed. `None` when it is to be
    /// judged.
    pub(crate) fn incomplete(&self) -> Option<ScenarioResult> {
        let (status, message) = unfinished(&self.trajectory.ending)?;
        let details = match &self.trajectory.ending {
            Ending::Error { details, .. } => details.clone(),
            _ => Vec::new(),
        };
        Some(result(&self.scenario, status).with(|it| {
            it.problem = Some(Problem {
                details,
                ..Problem::new(message)
            });
            it.trouble = self.trajectory.trouble();
            it.duration_ms = self.trajectory.duration_ms;
            it.current = Some(Arc::new(self.trajectory.clone()));
            it.notes.clone_from(&self.notes);
        }))
    }

    /// See [`blame`]; what servers say last is without secrets here.
    pub(crate) fn blame(&mut self, accepted: &Trajectory) -> Vec<String> {
        let mut last_words = Vec::new();
        self.trajectory
            .refine(|it| last_words = blame(it, Some(accepted), false));
        last_words
    }
}

impl RunContext {
    /// Runs the scenario and keeps the run, whatever came of it. A replay plays `baseline`.
    pub(crate) async fn execute(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
    ) -> Executed {
        Box::pin(self.perform(scenario, baseline, Reads::Once)).await
    }

    /// The same for a run that is to become a baseline, which may ask its reads twice.
    pub(crate) async fn perform(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
        reads: Reads,
    ) -> Executed {
        let played = self.played(scenario, baseline, reads, self.evaluating());
        let (mut executed, log) = Box::pin(played).await;
        let trajectory = &executed.trajectory;
        let mut notes = Vec::new();
        if self.suite.judged.is_none() {
            notes.extend(self.keep(scenario, trajectory, log.as_ref()));
        }
        notes.append(&mut executed.notes);
        if let Ending::Blocked { message } = &trajectory.ending {
            notes.push(format!("the run ended early: {message}"));
        }
        // Even where that was intended, nothing was tested.
        if trajectory.ending == Ending::Completed && trajectory.calls().next().is_none() {
            notes.push("the agent called no tool of the servers".to_owned());
        }
        Executed { notes, ..executed }
    }

    /// How evaluators look at a run that is judged.
    pub(crate) fn evaluating(&self) -> Evaluating<'_> {
        Evaluating::They {
            among_others: self.is_repeated,
            before: self.before.as_deref(),
        }
    }

    /// Measures what the scenario is about, and keeps the run, whatever came of it. The redactor has taken secrets out of that.
    pub(crate) async fn measure(
        &self,
        scenario: &Scenario,
        measuring: &Measuring,
    ) -> (Executed, Redactor) {
        let (mut executed, redactor, log) = self.measured(scenario, measuring).await;
        let unkept = self.keep(scenario, &executed.trajectory, log.as_ref());
        executed.notes.extend(unkept);
        (executed, redactor)
    }

    /// Keeps a run and what was said meanwhile; returns why that could not be.
    fn keep(
        &self,
        scenario: &Scenario,
        trajectory: &Redacted<Trajectory>,
        log: Option<&Redacted<String>>,
    ) -> Vec<String> {
        let lost = self.runs.save(&scenario.id, trajectory).err();
        let log = log.and_then(|it| self.runs.save_log(&scenario.id, it).err());
        (lost.iter().chain(&log))
            .map(|error| format!("the run could not be kept: {error}"))
            .collect()
    }

    /// The same without keeping the run.
    pub(crate) async fn measure_unkept(
        &self,
        scenario: &Scenario,
        measuring: &Measuring,
    ) -> Executed {
        self.measured(scenario, measuring).await.0
    }

    async fn measured(
        &self,
        scenario: &Scenario,
        measuring: &Measuring,
    ) -> (Executed, Redactor, Option<Redacted<String>>) {
        let slot = &self.slot;
        let measure = self
            .suite
            .measure(scenario, measuring, slot, &*self.progress);
        self.executed(scenario, Box::pin(measure).await)
    }

    /// A run that has ended, as it is judged; the redactor has taken secrets out of it.
    fn executed(
        &self,
        scenario: &Scenario,
        run: FinishedRun,
    ) -> (Executed, Redactor, Option<Redacted<String>>) {
        let executed = Executed {
            scenario: redacted_scenario(scenario, &run.trajectory, &run.redactor),
            patience: self.suite.patience(scenario, &run.trajectory),
            notes: (run.notes.iter())
                .map(|it| run.redactor.text(it).into_inner())
                .collect(),
            trajectory: run.trajectory,
            evaluations: run.evaluations,
        };
        (executed, run.redactor, run.log)
    }

    /// Waits until the next take of a scenario may begin, which another one may use to run.
    pub(crate) async fn between_takes(&self, scenario: &Scenario) {
        let pause = self.suite.takes_apart(scenario);
        if pause.is_zero() {
            return;
        }
        let doing = "waiting for the next take";
        self.progress.progress(Progress::Preparing { doing });
        let interrupt = &self.suite.interrupt;
        let pausing = interrupt.run_until_cancelled(self.job.pause(pause));
        let _ = pausing.await;
    }

    /// Runs the scenario once more for what can be learned from it, without keeping the run, as long after the run before as takes are apart.
    pub(crate) async fn play_again(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
    ) -> Executed {
        self.between_takes(scenario).await;
        self.perform_unkept(scenario, baseline, Reads::Once).await
    }

    /// The same for a run that may ask its reads twice.
    pub(crate) async fn perform_unkept(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
        reads: Reads,
    ) -> Executed {
        let played = self.played(scenario, baseline, reads, Evaluating::Not);
        Box::pin(played).await.0
    }

    /// Runs the scenario without keeping the run; returns with it what containers and servers have said.
    pub(crate) async fn played(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
        reads: Reads,
        evaluating: Evaluating<'_>,
    ) -> (Executed, Option<Redacted<String>>) {
        let suite = &self.suite;
        let ran = if let Some(stored) = &suite.judged {
            let baseline = baseline.map(|it| &***it);
            let taken = self.taken_from(stored, scenario, baseline, evaluating);
            taken.boxed()
        } else {
            let (slot, progress) = (&self.slot, &*self.progress);
            let ran = suite.execute(scenario, baseline, reads, evaluating, slot, progress);
            ran.boxed()
        };
        let (mut executed, _, log) = self.executed(scenario, ran.await);
        let trajectory = &mut executed.trajectory;
        tokio::task::block_in_place(|| trajectory.refine(score::mark_breaches));
        (executed, log)
    }

    /// The same, which knows what servers offered in what is accepted of a scenario.
    #[must_use]
    pub(crate) fn knowing(mut self, baselines: &Baselines, scenario: &str) -> Self {
        self.before = Some(Arc::new(offered_in_baselines(baselines, scenario)));
        self
    }

    /// The context of another version of the system under test, which has a container of its own.
    pub(crate) fn beside(&self) -> Self {
        Self {
            suite: Arc::clone(&self.suite),
            runs: Arc::clone(&self.runs),
            progress: Arc::clone(&self.progress),
            slot: Arc::default(),
            job: Arc::clone(&self.job),
            attempt: None,
            is_repeated: false,
            before: None,
        }
    }

    /// The context of one of several attempts, which has a container and a folder for its run of its own.
    pub(crate) fn attempt(&self, number: u16, of: u16) -> Self {
        Self {
            suite: Arc::clone(&self.suite),
            runs: Arc::new(self.runs.attempt(number.into())),
            progress: self.progress.attempt(number, of),
            slot: Arc::default(),
            job: Arc::clone(&self.job),
            attempt: Some(number),
            is_repeated: false,
            before: self.before.clone(),
        }
    }

    /// Makes an attempt the one that is shown of a scenario; returns what a reader should know of that.
    pub(crate) fn show(&self, scenario: &str, attempt: usize) -> Option<String> {
        if self.suite.judged.is_some() {
            return None;
        }
        let unkept = self.runs.show(scenario, attempt).err()?;
        Some(format!("the run could not be kept: {unkept}"))
    }

    /// Why a scenario that asks a model cannot be run any more; `None` while money is left.
    pub(crate) fn exhausted(&self, scenario: &Scenario) -> Option<String> {
        let costs = scenario.agent.decides();
        costs.then(|| self.suite.exhausted()).flatten()
    }

    /// The servers of a scenario that are not started anew for every run.
    pub(crate) fn outliving_servers(&self, scenario: &Scenario) -> Vec<String> {
        self.suite.outliving_servers(scenario)
    }

    /// A scenario that was not run, without secrets.
    pub(crate) fn redacted(&self, scenario: &Scenario) -> Redacted<Scenario> {
        self.suite.redacted(scenario)
    }

    /// Keeps beside its run what a result was compared with.
    pub(crate) fn keep_baseline(&self, scenario: &Scenario, result: &mut ScenarioResult) {
        if let Some(baseline) = &result.baseline {
            let unkept = self.runs.save_baseline(&scenario.id, baseline).err();
            result.notes.extend(unkept.map(|it| it.to_string()));
        }
    }

    /// The result of a scenario that could not be run.
    pub(crate) fn unplayed(&self, scenario: &Scenario, problem: Problem) -> ScenarioResult {
        result(&self.redacted(scenario), Status::Error).with(|it| it.problem = Some(problem))
    }
}

/// Receives the progress of a suite.
pub trait Observer: Send + Sync {
    /// The runs are kept under this id.
    fn kept_as(&self, _run: &str) {}

    /// A scenario begins. Returns the observer that receives the progress of its runs.
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver>;

    /// A scenario has its result.
    fn finished(&self, _result: &Redacted<ScenarioResult>) {}

    /// All scenarios have their results.
    fn ended(&self) {}
}

/// Receives the progress of one scenario.
pub trait ScenarioObserver: run::Observer {
    /// The observer of one of several attempts at it; `number` counts from 1.
    fn attempt(&self, number: u16, of: u16) -> Arc<dyn ScenarioObserver>;

    /// An attempt has ended.
    fn attempted(&self, _number: u16, _of: u16, _status: Status) {}

    /// What came of it is known, but for what is found out by running it once more.
    fn judged(&self, _result: &Redacted<ScenarioResult>) {}
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn begins(&self, _: &Scenario) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }
}

impl run::Observer for Silent {
    fn progress(&self, _: Progress<'_>) {}
}

impl ScenarioObserver for Silent {
    fn attempt(&self, _: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }
}
