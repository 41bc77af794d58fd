//! Runs one scenario: connect, let the agent work within the limits, keep everything that happened.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::model::{Catalogue, Ending, Redacted, Stamp, Step, Trajectory};
use crate::redact::Redactor;
use crate::run::again::AskAgain;
use crate::run::busy::Patience;
use crate::run::conversation::{Conversation, milliseconds};
use crate::run::limits::{Budget, Clock, SetupError, Stop};
use crate::run::ports::{Connection, Gateway, Observer, Progress};
use crate::run::upstream::Ear;
use crate::scenario_file::agent::Criterion;
use crate::scenario_file::evaluators::Evaluator;
use crate::scenario_file::{Scenario, Timeouts};

/// How long servers may take to end after a run that did not complete. It is short, because a server that hangs will not end by itself.
const SHORT_GOODBYE: Duration = Duration::from_millis(200);

/// How long servers may take to list their tools once more in the end.
const LISTING: Duration = Duration::from_secs(5);

/// Everything one run needs.
pub struct Job<'a> {
    pub scenario: &'a Scenario,
    pub stamp: Stamp,
    /// Starts the servers; bounded by its own connect timeout.
    pub connect: BoxFuture<'a, Result<Connection, SetupError>>,
    pub agent: &'a mut dyn Agent,
    pub observer: &'a dyn Observer,
    /// Cancelled when the program is asked to stop.
    pub interrupt: CancellationToken,
    /// What all runs of the command may cost together.
    pub budget: Option<&'a Budget>,
    /// Which calls are asked again, for what can be learned from that; `None` when nothing is recorded, or all is played twice.
    pub ask_again: Option<AskAgain>,
    /// How long servers that are busy are waited for; `None` where they are not.
    pub patience: Option<Patience<'a>>,
    /// What listens behind the servers; `None` where nothing does.
    pub behind: Option<&'a dyn Gateway>,
    /// Calls of ours prove that the servers are ready before the agent begins.
    pub proven_by_calls: bool,
    /// What must not be stored.
    pub redactor: &'a Redactor,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    pub trajectory: Redacted<Trajectory>,
    /// The steps with secrets in them as they were, by their places; of no use but to judge the run.
    pub said: BTreeMap<usize, Step>,
}

/// Runs the scenario and returns what happened, however it ended, with secrets taken out.
///
/// Never waits longer than the scenario's timeout, plus the time it takes to end the servers, and to ask again what is asked again.
pub async fn run(job: Job<'_>) -> Ran {
    let clock = Clock::start();
    let timeouts = job.scenario.timeouts;
    let limit = timeouts.scenario;
    let deadline = clock.reaches(limit);
    tokio::pin!(deadline);
    let limits = job.scenario.limits;
    let longest = limits.max_duration;
    let run_out = clock.reaches(longest.unwrap_or(limit));
    tokio::pin!(run_out);
    job.observer.progress(Progress::Connecting);

    let connected = tokio::select! {
        biased;
        () = job.interrupt.cancelled() => Err(Ending::Interrupted),
        connected = job.connect => connected.map_err(Ending::from),
        () = &mut run_out, if longest.is_some() => Err(ran_out(longest)),
        () = &mut deadline => Err(timed_out(timeouts, "connecting to the servers")),
    };
    let ear = job.behind.map(|it| Ear::new(it, job.proven_by_calls));
    let (catalogue, (steps, requests), upstream, ending) = match connected {
        Err(ending) => (Catalogue::default(), <_>::default(), None, ending),
        Ok(servers) => {
            let mut conversation = Conversation::new(&servers, job.observer, clock.clone())
                .asking_again(job.ask_again.as_ref())
                .waiting(job.patience)
                .within(limits, job.budget);
            let mut ending = tokio::select! {
                biased;
                () = job.interrupt.cancelled() => Ending::Interrupted,
                driven = job.agent.drive(&mut conversation) => match driven {
                    Ok(()) => Ending::Completed,
                    Err(Stop::Blocked { message }) => Ending::Blocked { message },
                    Err(Stop::LimitReached { message }) => Ending::LimitReached { message },
                    Err(Stop::Error(failed)) => failed.into(),
                },
                () = &mut run_out, if longest.is_some() => ran_out(longest),
                () = &mut deadline => timed_out(timeouts, "the agent was still at work"),
            };
            if ending.is_complete()
                && let Some(gateway) = servers.gateway()
            {
                let _still = clock.stand_still();
                tokio::select! {
                    biased;
                    () = job.interrupt.cancelled() => ending = Ending::Interrupted,
                    () = gateway.wait_for_repeats() => {}
                }
            }
            let mut asked_again = Vec::new();
            if ending.is_complete() {
                tokio::select! {
                    biased;
                    () = job.interrupt.cancelled() => ending = Ending::Interrupted,
                    asked = conversation.settle() => asked_again = asked,
                }
            }
            if ending.is_complete()
                && let Some(ear) = &ear
            {
                ear.wait_until_idle().await;
            }
            let own = conversation.take_own_tools();
            let record = conversation.into_record();
            let calls = record.0.iter().filter_map(Step::scored_call);
            let busy = job.patience.and_then(|it| it.in_vain(calls));
            if let Some(busy) = busy.filter(|_| ending.is_complete()) {
                ending = busy.into();
            }
            let lane = ear.map(|it| {
                let gateway = servers.gateway().map(Gateway::recorder);
                asked_again.extend(gateway.iter().flat_map(|it| it.asked_again()));
                if let Some(lost) = it.lost().filter(|_| ending.is_complete()) {
                    ending = lost.into();
                }
                Box::new(it.lane(&clock, &asked_again, &record.0))
            });
            let mut catalogue = servers.catalogue().clone();
            if ending.is_complete() {
                let _still = clock.stand_still();
                let named = named(job.scenario);
                tokio::select! {
                    biased;
                    () = job.interrupt.cancelled() => {}
                    listed = servers.catalogue_in_the_end(LISTING, &named) => {
                        catalogue = listed;
                    }
                }
            }
            if let Some(gateway) = servers.gateway() {
                for server in &mut catalogue.servers {
                    let client = gateway.recorder().client_of(&server.server);
                    server.client = client.filter(|it| !it.is_plain()).unwrap_or_default();
                }
            }
            catalogue.own = own;
            if ending != Ending::Interrupted {
                // If the future is dropped, the servers are killed at once.
                tokio::select! {
                    () = job.interrupt.cancelled() => {}
                    () = servers.close() => {}
                    () = tokio::time::sleep(SHORT_GOODBYE), if !ending.is_complete() => {}
                }
            }
            (catalogue, record, lane, ending)
        }
    };

    let (trajectory, said) = job.redactor.trajectory_and_said(Trajectory {
        catalogue,
        steps,
        upstream,
        requests,
        duration_ms: Some(milliseconds(clock.elapsed())),
        ..empty(job.scenario, job.stamp, ending)
    });
    Ran { trajectory, said }
}

/// The trajectory of a run that could not begin, with secrets taken out.
pub fn not_begun(
    scenario: &Scenario,
    stamp: Stamp,
    ending: Ending,
    redactor: &Redactor,
) -> Redacted<Trajectory> {
    redactor.trajectory(empty(scenario, stamp, ending))
}

/// The tools that evaluators and criteria name.
fn named(scenario: &Scenario) -> Vec<&str> {
    let evaluators = Evaluator::with_inner(&scenario.evaluators).into_iter();
    let criteria = scenario.success_criteria.iter();
    let criteria = criteria.filter_map(|it| match it {
        Criterion::ToolCalled(tool) | Criterion::ToolNeverCalled(tool) => Some(tool.as_str()),
        _ => None,
    });
    evaluators
        .flat_map(|it| it.kind.tools())
        .chain(criteria)
        .collect()
}

/// A run in which nothing happened.
fn empty(scenario: &Scenario, stamp: Stamp, ending: Ending) -> Trajectory {
    Trajectory {
        scenario: scenario.id.clone(),
        name: scenario.name.clone(),
        scenario_hash: Some(scenario.hash.clone()),
        ending,
        ..Trajectory::new(stamp, Vec::new())
    }
}

impl From<SetupError> for Ending {
    fn from(failed: SetupError) -> Self {
        Self::Error {
            message: failed.message,
            details: failed.details,
            trouble: failed.trouble,
        }
    }
}

fn timed_out(timeouts: Timeouts, doing: &str) -> Ending {
    Ending::TimedOut {
        message: format!("{}: {doing}", timeouts.passed()),
    }
}

fn ran_out(longest: Option<Duration>) -> Ending {
    let longest = longest.unwrap_or_default();
    Ending::LimitReached {
        message: format!("`limits.max_duration` ended the run: {longest:?} passed"),
    }
}

/// An agent at work.
pub type Driving<'a> = BoxFuture<'a, Result<(), Stop>>;

/// Drives the conversation until the agent is done.
pub trait Agent: Send {
    /// # Errors
    ///
    /// A [`Stop`] when the run has to end early.
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a>;

    /// Notes for the reader of the results, complete once the agent is done.
    fn notes(&self) -> &[String] {
        &[]
    }
}
