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
use crate::suite::outcome::{caught, panic_again};
use crate::suite::post_mortem::blame;
use crate::suite::ready::{self, Asking};
use crate::suite::run_environment::Around;
use crate::suite::stack::{Log, Stack};
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
    /// What the containers, and the servers that were started, have said until they were torn down.
    pub(crate) log: Option<Redacted<String>>,
}

/// What is known of a run, and what stands for it, while it is set up.
struct NewRun<'a> {
    scenario: &'a Scenario,
    place: &'a Arc<ContainerSlot>,
    observer: &'a dyn Observer,
    begun: Timestamp,
    secrets: Secrets,
    /// The model that the agent asks, as far as that is known.
    model: Option<String>,
    /// Made once the containers stand.
    stamp: Option<Stamp>,
    stack: Stack,
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

/// What was written during a run, without secrets; `None` where nobody writes anything. Where there are
/// several, each stands under its name.
fn log(logs: &[Log], redactor: &Redactor) -> Option<Redacted<String>> {
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
        place: &Arc<ContainerSlot>,
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
        place: &Arc<ContainerSlot>,
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
        place: &Arc<ContainerSlot>,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let who = Who::Else(listener, port);
        let how = (reads, Evaluating::Not);
        Box::pin(self.perform(scenario, who, how, place, observer)).await
    }

    /// Makes a run and tears down what was set up for it, whatever happened.
    async fn perform(
        &self,
        scenario: &Scenario,
        who: Who<'_>,
        (reads, evaluating): (Reads, Evaluating<'_>),
        place: &Arc<ContainerSlot>,
        observer: &dyn Observer,
    ) -> FinishedRun {
        let scenario = &*source::resolved(scenario);
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let mut run = NewRun {
            scenario,
            place,
            observer,
            begun: Timestamp::now(),
            // Recorded servers are given nothing: what the servers are given that they stand for is known from before.
            secrets: if recorded::servers(scenario) == Servers::Recorded {
                self.remembered(scenario)
            } else {
                Secrets::given_to(&scenario.redaction)
            },
            model: None,
            stamp: None,
            stack: Stack::default(),
        };
        let made = caught(Box::pin(self.set_up(&mut run, who, reads, evaluating))).await;
        let NewRun {
            begun,
            secrets,
            model,
            stamp,
            stack,
            ..
        } = run;
        let in_haste = match &made {
            Ok(Ok(made)) => made.trajectory.ending == Ending::Interrupted,
            Ok(Err(_)) | Err(_) => self.interrupt.is_cancelled(),
        };
        let torn_down = stack.tear_down(begun, in_haste, &tell).await;
        let mut made = match made.unwrap_or_else(|why| panic_again(why)) {
            Ok(made) => made,
            Err(problem) => {
                self.remember(scenario, &secrets);
                let redactor = redactor(&secrets, scenario);
                let ending = if in_haste {
                    Ending::Interrupted
                } else {
                    problem.into()
                };
                let stamp = stamp.unwrap_or_else(|| Stamp {
                    model,
                    ..self.stamp(scenario)
                });
                FinishedRun {
                    trajectory: run::not_begun(scenario, stamp, ending, &redactor),
                    redactor,
                    evaluations: Redacted::default(),
                    notes: Vec::new(),
                    log: None,
                }
            }
        };
        made.notes.extend(torn_down.notes);
        made.log = log(&torn_down.logs, &made.redactor);
        made
    }

    /// Sets up a run, step by step, makes it, and looks at it while what was set up still stands.
    ///
    /// # Errors
    ///
    /// Why it could not begin.
    async fn set_up(
        &self,
        run: &mut NewRun<'_>,
        who: Who<'_>,
        reads: Reads,
        evaluating: Evaluating<'_>,
    ) -> Result<FinishedRun, SetupError> {
        let NewRun {
            scenario,
            place,
            observer,
            begun,
            ref mut secrets,
            ref mut model,
            ref mut stamp,
            ref mut stack,
        } = *run;
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let (baseline, reached) = match &who {
            Who::Scenario(baseline) => (*baseline, agents::reach(scenario, secrets)),
            Who::Else(..) | Who::Measures(_) => (None, Ok(Reached::Here)),
        };
        *model = (reached.as_ref().ok()).and_then(|it| it.model().map(str::to_owned));
        // Their secrets are known whatever fails.
        let hooks = self.hooks(scenario, secrets);
        let around = match evaluating {
            Evaluating::Not => Ok(Around::default()),
            Evaluating::They { .. } => self.around(scenario, secrets),
        };
        // Whoever cannot ask needs no container.
        let reached = reached?;
        self.check(scenario, baseline)?;
        self.prepare_source(scenario, secrets, observer).await?;
        let hooks = stack.push(hooks?);
        hooks.before(&tell).await?;
        let mut around = around?;
        tokio::task::block_in_place(|| around.files().look());
        let behind = self.listen_behind(scenario, &place.behind, secrets, &tell);
        let behind = behind.await?.map(|it| stack.push(it));
        let behind = behind.as_deref();
        if !scenario.containers.is_empty() {
            stack.share(place);
        }
        let mut printed = PrintedHeaders::default();
        let standing = self.stand_with_headers(
            scenario,
            (place, behind, baseline),
            observer,
            (&mut printed, secrets),
        );
        let standing = Box::pin(standing).await?;
        if standing.is_some() {
            around.files().look_inside(place).await;
        }
        let stamp = stamp.insert(Stamp {
            image: standing.as_ref().and_then(|it| it.image.clone()),
            model: model.clone(),
            ..self.stamp(scenario)
        });
        let stale = source::other_than_image(stamp);
        let with = (standing, behind, &printed);
        let mut assembled = self.assemble(scenario, (who, reached), with, secrets)?;
        self.remember(scenario, secrets);
        if let Way::Gateway(place) = &assembled.way {
            secrets.declare("gateway.path", "", &place.secret);
        }
        let redactor = redactor(secrets, scenario);
        let programs = std::mem::take(&mut assembled.programs);
        let started = stack.push(StartedServers::start(programs)?);

        let own = assembled.targets.iter().filter_map(|it| match &it.launch {
            // What stands in for a server has no log of that server.
            mcp::Launch::Child(it) if it.within.is_none() => Some(it.logs.clone()),
            mcp::Launch::Child(_) | mcp::Launch::Http { .. } => None,
        });
        let own: Vec<Logs> = own.collect();
        let known = (&redactor, &*secrets);
        let with = (assembled, &*started, behind);
        let running = self.make(
            scenario,
            with,
            baseline,
            stamp.clone(),
            reads,
            known,
            observer,
        );
        let (ran, mut notes) = Box::pin(running).await;
        let (mut trajectory, said) = (ran.trajectory, ran.said);
        notes.extend(stale);

        let mut has_ended = place.examine(&mut trajectory, &redactor).await;
        has_ended |= started.examine(&mut trajectory, &redactor).await;
        let accepted = baseline.map(|it| &***it);
        trajectory.refine(|it| notes.extend(blame(it, accepted, has_ended)));
        if let Some(behind) = behind {
            behind.examine(&mut trajectory, &redactor).await;
        }
        let said = as_it_was(&trajectory, said);
        let filled = evaluating::filled(scenario, said.as_ref().unwrap_or(&trajectory));
        if let Some(said) = &said {
            let said = Box::new(evaluate::as_said(&filled, said));
            trajectory.refine(|it| it.as_said = Some(said));
        }
        if around.wants_logs {
            let logs = stack.logs(begun).await.into_iter().map(|it| it.1);
            let left = |said: String| Left {
                shown: redactor.text(&said).into_inner(),
                said,
            };
            let own = own.iter().map(Logs::text);
            around.logs = logs.chain(own).map(left).collect();
        }
        tokio::task::block_in_place(|| trajectory.refine(score::mark_breaches));
        let run = (&trajectory, said.as_ref());
        let with = (&around, &**place, &redactor);
        let evaluations = evaluating::evaluations(&filled, run, with, evaluating).await;
        Ok(FinishedRun {
            trajectory,
            redactor,
            evaluations,
            notes,
            log: None,
        })
    }

    /// Makes a run; returns it with what the agent and those who proved that servers are ready have to tell.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is made by another step before"
    )]
    async fn make(
        &self,
        scenario: &Scenario,
        (prepared, started, behind): (Assembled, &StartedServers, Option<&Behind>),
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
