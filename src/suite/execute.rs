//! Runs one scenario for real: its container, its agent, its stamp.

use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;

use crate::agent::Listener;
use crate::docker::Standing;
use crate::mcp;
use crate::model::scenario::{Agent, Scenario};
use crate::model::trajectory::Trajectory;
use crate::redact::Redactor;
use crate::run::{self, AskAgain, Job, Observer, Progress, SetupError};
use crate::score;
use crate::suite::addresses;
use crate::suite::agents::{self, Reached};
use crate::suite::containers::{self, Place, ServersProbe};
use crate::suite::context::RunContext;
use crate::suite::ready::{self, Asking};
use crate::suite::replay;

/// Who makes the calls of a run.
enum Who<'a> {
    /// The scenario's agent, with the baseline to play where it replays one.
    Scenario(Option<&'a Arc<Trajectory>>),
    /// Somebody else, whom we listen to at this port or a free one.
    Else(Listener, Option<u16>),
}

/// How often a run asks what only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    Once,
    /// Again right after each answer, to learn what of it varies.
    Twice,
}

/// What one run came to.
pub(crate) struct Ran {
    pub(crate) trajectory: Trajectory,
    /// Has taken secrets out of it.
    pub(crate) redactor: Redactor,
    /// What the agent has to tell of it.
    pub(crate) notes: Vec<String>,
    /// What the container has said, without secrets.
    pub(crate) log: Option<String>,
}

impl RunContext {
    /// Runs a scenario once, with the baseline to play where it replays one, and returns what happened, however it ended. `place` has
    /// the container, if any, before and after.
    pub(crate) async fn execute(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Trajectory>>,
        reads: Reads,
        place: &Place,
        observer: &dyn Observer,
    ) -> Ran {
        let who = Who::Scenario(baseline);
        Box::pin(self.perform(scenario, who, reads, place, observer)).await
    }

    /// Lets somebody else make calls, through a gateway at this port or a free one, and listens.
    pub(crate) async fn listen(
        &self,
        scenario: &Scenario,
        (listener, port): (Listener, Option<u16>),
        reads: Reads,
        place: &Place,
        observer: &dyn Observer,
    ) -> Ran {
        let who = Who::Else(listener, port);
        Box::pin(self.perform(scenario, who, reads, place, observer)).await
    }

    async fn perform(
        &self,
        scenario: &Scenario,
        who: Who<'_>,
        reads: Reads,
        place: &Place,
        observer: &dyn Observer,
    ) -> Ran {
        let begun = Timestamp::now();
        let mut secrets = Vec::new();
        // Whoever cannot ask needs no container.
        let (baseline, reachable) = match &who {
            Who::Scenario(baseline) => (*baseline, agents::reach(scenario, &mut secrets)),
            Who::Else(..) => (None, Ok(Reached::Here)),
        };
        let able = reachable.as_ref().map(|_| ()).map_err(Clone::clone);
        let standing = match able.and_then(|()| self.check(scenario, baseline)) {
            Ok(()) => self.stand(scenario, place, observer, &mut secrets).await,
            Err(problem) => Err(problem),
        };
        let mut stamp = self.stamp(scenario);
        let (image, reached) = match &standing {
            Ok(Some(standing)) => (Some(standing.image.clone()), Some(standing.reached.clone())),
            _ => (None, None),
        };
        stamp.image = image;
        if let Ok(reached) = &reachable {
            stamp.model = reached.model().map(str::to_owned);
        }
        let reached = reached.or_else(|| addresses::as_it_stands(scenario));
        let proofs = ready::proofs(self, scenario);
        let targets = standing.and_then(|_| {
            for proof in &proofs {
                ready::secrets(proof.ready(), reached.as_ref(), &mut secrets)?;
            }
            self.targets(scenario, reached.as_ref(), &mut secrets)
        });
        let stands = targets.is_ok();
        let redactor = Redactor::declared(secrets.iter().cloned(), &scenario.redaction);
        let of_agent = Redactor::declared(secrets.iter().cloned(), &scenario.redaction);
        let port = match &who {
            Who::Scenario(_) => scenario.agent.command().map(|_| None),
            Who::Else(_, port) => Some(*port),
        };
        let agent: Result<Box<dyn run::Agent>, _> = match who {
            Who::Scenario(_) => {
                reachable.and_then(|it| agents::agent(scenario, it, baseline, of_agent))
            }
            Who::Else(listener, _) => Ok(Box::new(listener)),
        };
        let (mut agent, targets) = match (agent, targets) {
            (Ok(agent), targets) => (agent, targets),
            // The run ends before anybody asks.
            (Err(problem), _) => (agents::nobody(), Err(problem)),
        };
        let rules = scenario.scoring.clone();
        let ask_again = (reads == Reads::Twice)
            .then(|| AskAgain::new(move |call, offered| score::only_reads(call, offered, &rules)));
        let gateway_asks = ask_again.clone();
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let asking = Asking {
            scenario,
            reached: reached.as_ref(),
            redactor: &redactor,
            observer,
        };
        let gateway = port.map(|port| (port, ask_again.clone()));
        let mut notes = Vec::new();
        let proven = match &targets {
            Ok(targets) if !proofs.is_empty() => tokio::select! {
                biased;
                // The run notices it for itself.
                () = self.interrupt.cancelled() => None,
                proven = ready::connect(&proofs, targets, gateway, asking, (&stamp, &secrets)) => Some(proven),
            },
            _ => None,
        };
        let proven = proven.map(|it| {
            it.map(|it| {
                notes = it.notes;
                it.tools
            })
        });
        let job = Job {
            scenario,
            stamp,
            connect: async move {
                let targets = targets?;
                match (proven, port) {
                    (Some(proven), _) => proven,
                    (None, Some(port)) => {
                        mcp::open_gateway(&targets, None, port, gateway_asks, &tell).await
                    }
                    (None, None) => mcp::connect(&targets, &tell).await,
                }
            }
            .boxed(),
            agent: agent.as_mut(),
            observer,
            interrupt: self.interrupt.clone(),
            budget: self.budget.as_deref(),
            ask_again,
            redactor: &redactor,
        };
        let mut trajectory = run::run(job).await;
        if trajectory.stamp.model.is_none() {
            // An agent that chooses for itself: if it chooses another one next time, that is another experiment.
            let mut requests = trajectory.requests.iter();
            trajectory.stamp.model = requests.find_map(|it| it.model.clone());
        }
        if stands {
            place.examine(&mut trajectory, &redactor).await;
        }
        let log = place.log(begun, &redactor).await;
        Ran {
            trajectory,
            redactor,
            notes: notes.into_iter().chain(agent.notes().to_vec()).collect(),
            log,
        }
    }

    /// The secrets of the scenario are known, and the servers that a baseline was recorded with are those of this run.
    fn check(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Trajectory>>,
    ) -> Result<(), SetupError> {
        if let [first, ..] = scenario.redaction.unset.as_slice() {
            let names = scenario.redaction.unset.join(", ");
            return Err(SetupError::new(format!(
                "a secret variable needs {names} from the environment, where it is not set: set it, or give a default with `${{{first}:-…}}`"
            )));
        }
        // What a script plays is not of the baseline.
        let replays = matches!(scenario.agent, Agent::Replay { .. });
        let Some(baseline) = baseline.filter(|_| replays) else {
            return Ok(());
        };
        let servers = self.servers(scenario);
        let names: Vec<&str> = servers.iter().map(|it| it.name.as_str()).collect();
        replay::check_servers(baseline, &names)
    }

    /// Puts a container that is ready in its place; `None` when the scenario has none, or none is to be used.
    async fn stand(
        &self,
        scenario: &Scenario,
        place: &Place,
        observer: &dyn Observer,
        secrets: &mut Vec<String>,
    ) -> Result<Option<Standing>, SetupError> {
        let (Some(container), Some(session)) = (&scenario.container, &self.containers) else {
            return Ok(None);
        };
        let container = containers::expand(container, secrets)?;
        let slot = place.slot(session, container, scenario.config_file.clone());
        let mut known = secrets.clone();
        // What cannot be resolved holds no secret.
        let _ = self.targets(scenario, None, &mut known);
        let redactor = Redactor::declared(known, &scenario.redaction);
        let probe = ServersProbe {
            context: self,
            scenario,
            observer,
            redactor: &redactor,
        };
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        tokio::select! {
            biased;
            // The run notices it for itself.
            () = self.interrupt.cancelled() => Ok(None),
            standing = slot.reset(&probe, &tell) => standing.map(Some),
        }
    }

    /// The scenario as it may be told: without secrets.
    pub(crate) fn told(&self, scenario: &Scenario) -> Scenario {
        let mut secrets = Vec::new();
        // What cannot be resolved holds no secret.
        let _ = self.targets(scenario, None, &mut secrets);
        let _ = agents::reach(scenario, &mut secrets);
        for proof in ready::proofs(self, scenario) {
            let reached = addresses::as_it_stands(scenario);
            let _ = ready::secrets(proof.ready(), reached.as_ref(), &mut secrets);
        }
        if let Some(container) = &scenario.container {
            let _ = containers::expand(container, &mut secrets);
        }
        let mut told = scenario.clone();
        Redactor::declared(secrets, &scenario.redaction).scenario(&mut told);
        told
    }
}
