//! Runs one scenario for real: its container, its agent, its stamp.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;

use crate::agent::Listener;
use crate::digits;
use crate::evaluate::{self, Left};
use crate::mcp;
use crate::model::{
    Ending, Evaluation, Outcome, Redacted, Servers, Stamp, Step, ToolCall, Trajectory,
};
use crate::process::Logs;
use crate::redact::{Redactor, Secrets};
use crate::run::{self, AskAgain, Connection, Job, Observer, Patience, Progress, Ran, SetupError};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::scenario_file::measured::Measurement;
use crate::score;
use crate::suite::addresses::Addresses;
use crate::suite::agents::{self, Reached};
use crate::suite::assemble::{Assembled, Way, Who, redactor};
use crate::suite::behind::Behind;
use crate::suite::containers::{self, ContainerSlot};
use crate::suite::evaluating::{self, Evaluating};
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::hooks::Hooks;
use crate::suite::measuring::{Measuring, place_of};
use crate::suite::post_mortem::blame;
use crate::suite::ready::{self, Asking};
use crate::suite::run_environment::Around;
use crate::suite::started::StartedServers;
use crate::suite::{SuiteContext, recorded, replay, source};

/// How often a run asks what only reads.
#[derive(Debug, Clone)]
pub(crate) enum Reads {
    Once,
    /// Again after each answer, to learn what of it varies.
    Twice,
    /// Again after an answer that none of these accepted trajectories has.
    WhereNew(Arc<[Redacted<Trajectory>]>),
}

/// What one run came to.
pub(crate) struct FinishedRun {
    pub(crate) trajectory: Redacted<Trajectory>,
    /// Has taken secrets out of it.
    pub(crate) redactor: Redactor,
    /// What the scenario's evaluators found in it.
    pub(crate) evaluations: Redacted<Vec<Evaluation>>,
    /// What the agent has to tell of it.
    pub(crate) notes: Vec<String>,
    /// What the containers, and the servers that were started, have said.
    pub(crate) log: Option<Redacted<String>>,
}

/// Says what a run is doing without the secrets that names of tools hold.
struct Redacting<'a> {
    observer: &'a dyn Observer,
    redactor: &'a Redactor,
}

impl Observer for Redacting<'_> {
    fn progress(&self, progress: Progress<'_>) {
        match progress {
            Progress::Calling { number, tool } => {
                let tool = &self.redactor.known(tool);
                self.observer.progress(Progress::Calling { number, tool });
            }
            Progress::Called {
                number,
                tool,
                outcome,
                duration_ms,
            } => self.observer.progress(Progress::Called {
                number,
                tool: &self.redactor.known(tool),
                outcome,
                duration_ms,
            }),
            other => self.observer.progress(other),
        }
    }
}

/// What the containers and the servers that were started have written since the run began, with their names.
async fn written(
    place: &ContainerSlot,
    begun: Timestamp,
    started: &StartedServers,
    behind: Option<&Behind>,
) -> Vec<(String, String)> {
    let mut logs = place.logs(begun).await;
    logs.extend(started.logs());
    logs.extend(behind.into_iter().flat_map(Behind::logs));
    logs
}

/// The same without secrets; `None` where there are none. Where there are
/// several, each stands under its name.
fn log(logs: &[(String, String)], redactor: &Redactor) -> Option<Redacted<String>> {
    let text = match logs {
        [] => return None,
        [(_, only)] => only.clone(),
        several => {
            let titled = several.iter();
            let titled = titled.map(|(whose, log)| format!("==> {whose} <==\n{log}"));
            titled.collect::<Vec<_>>().join("\n")
        }
    };
    Some(redactor.text(&text))
}

/// A call of this run as accepted trajectories have theirs: without secrets, and with the digits of long integers beside it.
fn stored(call: &ToolCall, redactor: &Redactor) -> Redacted<ToolCall> {
    let mut call = call.clone();
    call.digits.extend(digits::take_from(&mut call.arguments));
    redactor.call(call)
}

/// A run with its secrets, but for what was found afterwards of how it ended; `None` where there are none in it.
fn as_it_was(shown: &Trajectory, said: BTreeMap<usize, Step>) -> Option<Trajectory> {
    if said.is_empty() {
        return None;
    }
    let mut run = shown.clone();
    for (index, step) in said {
        match (run.steps.get_mut(index), step) {
            (Some(Step::ToolCall(call)), Step::ToolCall(said)) => {
                call.arguments = said.arguments;
                call.digits = said.digits;
                if matches!(call.outcome, Outcome::Answer(_)) {
                    call.outcome = said.outcome;
                }
            }
            (Some(step), said) => *step = said,
            (None, _) => {}
        }
    }
    // What looks like a placeholder in it is none.
    run.as_said = Some(Box::default());
    score::mark_breaches(&mut run);
    Some(run)
}

impl SuiteContext {
    /// Runs a scenario once, with the baseline to play where it replays one, and returns what happened, however it ended. `place` has
    /// the container, if any, before and after.
    pub(crate) async fn execute(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
        reads: Reads,
        evaluating: Evaluating<'_>,
        place: &ContainerSlot,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let who = Who::Scenario(baseline);
        let how = (reads, evaluating);
        Box::pin(self.perform(scenario, who, how, place, observer)).await
    }

    /// Measures what a scenario is about.
    pub(crate) async fn measure(
        &self,
        scenario: &Scenario,
        measuring: &Measuring,
        place: &ContainerSlot,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let how = (Reads::Once, Evaluating::Not);
        Box::pin(self.perform(scenario, Who::Measures(measuring), how, place, observer)).await
    }

    /// Lets somebody else make calls, through a gateway at this port or a free one, and listens.
    pub(crate) async fn listen(
        &self,
        scenario: &Scenario,
        (listener, port): (Listener, Option<u16>),
        reads: Reads,
        place: &ContainerSlot,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let who = Who::Else(listener, port);
        let how = (reads, Evaluating::Not);
        Box::pin(self.perform(scenario, who, how, place, observer)).await
    }

    /// Prepares a run and, where that succeeds, makes it.
    async fn perform(
        &self,
        scenario: &Scenario,
        who: Who<'_>,
        (reads, evaluating): (Reads, Evaluating<'_>),
        place: &ContainerSlot,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let begun = Timestamp::now();
        let scenario = &*source::resolved(scenario);
        // Recorded servers are given nothing: what the servers are given that they stand for is known from before.
        let is_recorded = recorded::servers(scenario) == Servers::Recorded;
        let mut secrets = if is_recorded {
            self.remembered(scenario)
        } else {
            Secrets::given_to(&scenario.redaction)
        };
        let baseline = match &who {
            Who::Scenario(baseline) => *baseline,
            Who::Else(..) | Who::Measures(_) => None,
        };
        let reachable = match &who {
            Who::Scenario(_) => agents::reach(scenario, &mut secrets),
            Who::Else(..) | Who::Measures(_) => Ok(Reached::Here),
        };
        // Whoever cannot ask needs no container.
        let able = reachable.as_ref().map(|_| ()).map_err(Clone::clone);
        let able = able.and_then(|()| self.check(scenario, baseline));
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let mut hooks = self.hooks(scenario, &mut secrets);
        let mut around = if matches!(evaluating, Evaluating::Not) {
            Ok(Around::default())
        } else {
            self.around(scenario, &mut secrets)
        };
        let prepared = match able {
            Ok(()) => self.prepare_source(scenario, &mut secrets, observer).await,
            Err(problem) => Err(problem),
        };
        let cleared = match (prepared, &mut hooks) {
            (Err(problem), _) => Err(problem),
            (Ok(()), Err(problem)) => Err(problem.clone()),
            (Ok(()), Ok(hooks)) => hooks.before(&tell).await,
        };
        let cleared = match (cleared, &mut around) {
            (Ok(()), Ok(around)) => {
                tokio::task::block_in_place(|| around.files().look());
                Ok(())
            }
            (Ok(()), Err(problem)) => Err(problem.clone()),
            (Err(problem), _) => Err(problem),
        };
        let mut behind = None;
        let listening = match cleared {
            Ok(()) => {
                let listening = self.listen_behind(scenario, &place.behind, &mut secrets, &tell);
                listening.await.map(|it| behind = it)
            }
            Err(problem) => Err(problem),
        };
        let mut printed = PrintedHeaders::default();
        let standing = match listening {
            Ok(()) => {
                let place = (place, behind.as_ref(), baseline);
                let known = (&mut printed, &mut secrets);
                Box::pin(self.stand_with_headers(scenario, place, observer, known)).await
            }
            Err(problem) => Err(problem),
        };
        if let (Ok(Some(_)), Ok(around)) = (&standing, &mut around) {
            around.files().look_inside(place).await;
        }
        let mut stamp = self.stamp(scenario);
        if let Ok(Some(standing)) = &standing {
            stamp.image.clone_from(&standing.image);
        }
        let stale = source::other_than_image(&stamp);
        if let Ok(reachable) = &reachable {
            stamp.model = reachable.model().map(str::to_owned);
        }
        let prepared = standing.and_then(|standing| {
            let with = (standing, behind.as_ref(), &printed);
            self.assemble(scenario, (who, reachable?), with, &mut secrets)
        });
        self.remember(scenario, &secrets);
        if let Ok(Assembled {
            way: Way::Gateway(place),
            ..
        }) = &prepared
        {
            secrets.declare("gateway.path", "", &place.secret);
        }
        let redactor = redactor(&secrets, scenario);
        let mut started = StartedServers::default();
        let prepared = prepared.and_then(|mut it| {
            started = StartedServers::start(std::mem::take(&mut it.programs))?;
            Ok(it)
        });
        let mut evaluations = Redacted::default();
        let (trajectory, mut notes) = match prepared {
            Ok(prepared) => {
                let own = prepared.targets.iter().filter_map(|it| match &it.launch {
                    // What stands in for a server has no log of that server.
                    mcp::Launch::Child(it) if it.within.is_none() => Some(it.logs.clone()),
                    mcp::Launch::Child(_) | mcp::Launch::Http { .. } => None,
                });
                let own: Vec<_> = own.collect();
                let known = (&redactor, &secrets);
                let run = (prepared, &mut started, behind.as_ref());
                let running = self.make(scenario, run, baseline, stamp, reads, known, observer);
                let (ran, mut notes) = Box::pin(running).await;
                let (mut trajectory, said) = (ran.trajectory, ran.said);
                notes.extend(stale);
                let mut has_ended = place.examine(&mut trajectory, &redactor).await;
                has_ended |= started.examine(&mut trajectory, &redactor).await;
                let accepted = baseline.map(|it| &***it);
                trajectory.refine(|it| notes.extend(blame(it, accepted, has_ended)));
                if let Some(behind) = &mut behind {
                    behind.examine(&mut trajectory, &redactor).await;
                }
                let said = as_it_was(&trajectory, said);
                let filled = evaluating::filled(scenario, said.as_ref().unwrap_or(&trajectory));
                if let Some(said) = &said {
                    let said = Box::new(evaluate::as_said(&filled, said));
                    trajectory.refine(|it| it.as_said = Some(said));
                }
                if let Ok(around) = &mut around {
                    if around.wants_logs {
                        let logs = written(place, begun, &started, behind.as_ref()).await;
                        let logs = logs.into_iter().map(|it| it.1);
                        let logs = logs.chain(own.iter().map(Logs::text));
                        let left = |said: String| Left {
                            shown: redactor.text(&said).into_inner(),
                            said,
                        };
                        around.logs = logs.map(left).collect();
                    }
                    tokio::task::block_in_place(|| trajectory.refine(score::mark_breaches));
                    let run = (&trajectory, said.as_ref());
                    let with = (&*around, place, &redactor);
                    evaluations = evaluating::evaluations(&filled, run, with, evaluating).await;
                }
                if trajectory.ending != Ending::Interrupted {
                    started.stop().await;
                }
                (trajectory, notes)
            }
            Err(problem) => {
                let ending = if self.interrupt.is_cancelled() {
                    Ending::Interrupted
                } else {
                    problem.into()
                };
                (
                    run::not_begun(scenario, stamp, ending, &redactor),
                    Vec::new(),
                )
            }
        };
        let logs = written(place, begun, &started, behind.as_ref()).await;
        let log = log(&logs, &redactor);
        if let Some(behind) = behind.filter(|_| trajectory.ending != Ending::Interrupted) {
            behind.stop().await;
        }
        if let Ok(hooks) = hooks {
            notes.extend(hooks.after(&tell).await);
        }
        FinishedRun {
            trajectory,
            redactor,
            evaluations,
            notes,
            log,
        }
    }

    /// Makes a run; returns it with what the agent and those who proved that servers are ready have to tell.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is made by another step before"
    )]
    async fn make(
        &self,
        scenario: &Scenario,
        (prepared, started, behind): (Assembled, &mut StartedServers, Option<&Behind>),
        baseline: Option<&Arc<Redacted<Trajectory>>>,
        stamp: Stamp,
        reads: Reads,
        (redactor, secrets): (&Redactor, &Secrets),
        observer: &dyn Observer,
    ) -> (Ran, Vec<String>) {
        let observer = &Redacting { observer, redactor };
        let Assembled {
            mut agent,
            targets,
            proofs,
            addresses,
            programs: _,
            way,
        } = prepared;
        let rules = scenario.scoring.clone();
        let only_reads = move |call: &_, offered: &_| score::only_reads(call, offered, &rules);
        let apart = self.takes_apart(scenario);
        let all_reads = AskAgain::new(apart, only_reads);
        let ask_again = match reads {
            Reads::Once => None,
            Reads::Twice => Some(all_reads.clone()),
            Reads::WhereNew(accepted) => {
                let rules = scenario.scoring.clone();
                // One of its own, because the one of the run numbers secrets in the order of the steps.
                let redactor = redactor.fresh();
                let is_new = move |call: &ToolCall| {
                    let call = stored(call, &redactor);
                    !(accepted.iter()).any(|it| score::has_answer(it, &call, &rules))
                };
                Some(all_reads.clone().where_answer(is_new))
            }
        };
        // It asks nothing again then, and knows nevertheless which calls only read.
        let nothing = || all_reads.clone().where_answer(|_| false);
        let gateway_asks = ask_again.clone().unwrap_or_else(nothing);
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let asking = Asking {
            scenario,
            addresses: &addresses,
            redactor,
            observer,
            accepted: baseline,
        };
        let gateway = match &way {
            Way::Direct => None,
            Way::Gateway(place) => Some((place.clone(), Some(gateway_asks.clone()))),
        };
        let proven = if proofs.is_empty() {
            None
        } else {
            let proven = ready::connect(&proofs, &targets, gateway, asking, &stamp, secrets);
            // The run notices for itself that it is interrupted.
            let interrupt = &self.interrupt;
            interrupt.run_until_cancelled(started.during(proven)).await
        };
        let found: Vec<_> = targets.iter().map(|it| it.observed.clone()).collect();
        let mut notes = Vec::new();
        let proven = proven.map(|it| {
            it.map(|it| {
                notes = it.notes;
                it.servers
            })
        });
        let job = Job {
            scenario,
            stamp: Stamp {
                // Calls are timed from here on, and servers may have taken minutes to be ready.
                recorded_at: Timestamp::now(),
                ..stamp
            },
            connect: async move {
                match (proven, way) {
                    (Some(proven), _) => proven,
                    (None, Way::Gateway(place)) => {
                        let opening =
                            mcp::open_gateway(&targets, None, place, Some(gateway_asks), &tell);
                        let opened = started.during(opening).await;
                        opened.map(Connection::Gateway)
                    }
                    (None, Way::Direct) => {
                        let connected = started.during(mcp::connect(&targets, &tell)).await;
                        connected.map(Connection::Tools)
                    }
                }
            }
            .boxed(),
            agent: agent.as_mut(),
            observer,
            interrupt: self.interrupt.clone(),
            budget: self.budget.as_deref(),
            ask_again,
            patience: Some(Patience {
                limit: (scenario.agent.tool_timeout()).unwrap_or(scenario.timeouts.tool),
                reads: &all_reads,
                accepted: baseline.map(|it| &***it),
                script: scenario.agent.calls(),
            }),
            behind: behind.map(Behind::gateway),
            proven_by_calls: ready::asks_calls(self, scenario),
            redactor,
        };
        let mut ran = run::run(job).await;
        ran.trajectory.refine(|it| {
            if it.stamp.model.is_none() {
                // An agent that chooses for itself: if it chooses another one next time, that is another experiment.
                it.stamp.model = it.requests.iter().find_map(|it| it.model.clone());
            }
        });
        notes.extend(found.iter().flat_map(mcp::Observed::notes));
        notes.extend_from_slice(agent.notes());
        (ran, notes)
    }

    /// The commands around a run; the secrets that they are given are added to `secrets`.
    pub(crate) fn hooks(
        &self,
        scenario: &Scenario,
        secrets: &mut Secrets,
    ) -> Result<Hooks, SetupError> {
        let (supervisor, interrupt) = (self.program.clone(), self.interrupt.clone());
        let hooks = (&scenario.before[..], &scenario.after[..]);
        Hooks::new(("before", "after"), hooks, secrets, supervisor, interrupt)
    }

    /// What evaluators may ask besides the run; the secrets that they are given are added to `secrets`.
    fn around(&self, scenario: &Scenario, secrets: &mut Secrets) -> Result<Around, SetupError> {
        let (program, interrupt) = (self.program.clone(), self.interrupt.clone());
        let servers = self.servers(scenario);
        let around = Around::new(scenario, &servers, secrets, program, interrupt)?;
        Ok(around.with_judge(scenario, || self.llm_judge(scenario)))
    }

    /// The secrets of the scenario are known, and the servers that a baseline was recorded with are those of this run.
    fn check(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Redacted<Trajectory>>>,
    ) -> Result<(), SetupError> {
        if !scenario.redaction.unset.is_empty() {
            let names = scenario.redaction.unset.join("`, `");
            return Err(SetupError::new(format!(
                "secret `variables` of the scenario have their values from the environment, and there is no `{names}`: set it"
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

    /// The scenario as it may be shown: without secrets.
    pub(crate) fn redacted(&self, scenario: &Scenario) -> Redacted<Scenario> {
        let mut secrets = Secrets::given_to(&scenario.redaction);
        let scenario = &*source::resolved(scenario);
        // What cannot be resolved holds no secret.
        let addresses = Addresses::anywhere(scenario, &self.servers(scenario));
        let _ = self.targets(
            scenario,
            &addresses,
            &PrintedHeaders::default(),
            &mut secrets,
        );
        let _ = agents::reach(scenario, &mut secrets);
        for proof in ready::proofs(self, scenario) {
            let _ = proof.secrets(&addresses, &mut secrets);
        }
        for container in &scenario.containers {
            let _ = containers::expand(container, &addresses, &mut secrets);
        }
        if let Some(Measurement::Retrieval(it)) = &scenario.measurement {
            let _ = place_of(it, &[], &addresses, &mut secrets);
        }
        let _ = self.hooks(scenario, &mut secrets);
        let _ = self.around(scenario, &mut secrets);
        self.remember(scenario, &secrets);
        Redactor::new(&secrets, &scenario.redaction).shown(scenario)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::stored;
    use crate::digits;
    use crate::model::{Answer, Outcome, ToolCall};
    use crate::redact::Redactor;

    #[test]
    fn a_call_is_looked_for_in_the_form_that_is_stored() {
        let long = "123456789012345678901234567890";
        let arguments = format!(r#"{{"id": {long}, "access_token": "tok_a4B9x2Qz"}}"#);
        let arguments = digits::parse(&arguments).expect("it is JSON");
        let call = ToolCall::new(
            Some("s".to_owned()),
            "t".to_owned(),
            arguments.as_object().cloned().expect("an object"),
            Outcome::Answer(Answer {
                content: vec![json!({ "type": "text", "text": "for tok_a4B9x2Qz" })],
                ..Answer::default()
            }),
        );
        let stored = stored(&call, &Redactor::default());
        assert!(stored.arguments["id"].is_f64(), "{stored:?}");
        assert_eq!(stored.digits["/id"], long);
        assert_eq!(stored.arguments["access_token"], "<secret:token>");
        let Outcome::Answer(answer) = &stored.outcome else {
            unreachable!("it was answered");
        };
        assert_eq!(answer.content[0]["text"], "for <secret:token>");
    }
}
