//! The conversation of a run: an agent says, calls and asks everything through it, and it records every step.

mod asking;
mod merge;
mod recorded_calls;
mod reported_requests;
mod route;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use self::route::no_such_server;
use crate::digits;
use crate::model::usage::ModelRequest;
use crate::model::{Catalogue, Failure, FailureKind, Object, Outcome, Step, ToolCall, Unsendable};
use crate::run::again::{AskAgain, ask_again};
use crate::run::busy::Patience;
use crate::run::limits::{Budget, Clock, SetupError, Stop};
use crate::run::ports::{Connection, Observer, Progress};
use crate::scenario_file::agent::Limits;

pub use self::recorded_calls::Announced;
pub(super) use self::recorded_calls::tool_call;
pub use self::reported_requests::ReportedRequest;
pub(super) use self::route::route;

/// The conversation of one run. Everything an agent says, calls or asks goes through here and is recorded as it happens, so that a run that
/// is cut short keeps its steps so far.
pub struct Conversation<'a> {
    servers: &'a Connection,
    observer: &'a dyn Observer,
    clock: Clock,
    ask_again: Option<&'a AskAgain>,
    /// The reads that are still to be asked again.
    due: Vec<Due>,
    /// From when to when reads were asked again.
    asked_again: Vec<(Instant, Instant)>,
    patience: Option<Patience<'a>>,
    limits: Limits,
    budget: Option<&'a Budget>,
    steps: Vec<Step>,
    calls: usize,
    in_flight: Vec<ToolCall>,
    requests: Vec<ModelRequest>,
    /// How much of the budget the agent's own reports have used up.
    spent: f64,
    /// The agent's own tools, as far as it tells of them.
    own_tools: BTreeSet<String>,
    /// How many events of the call recorder have been processed.
    events_seen: usize,
    /// For each recorded call, how many steps there were when it began.
    steps_before_calls: Vec<usize>,
}

/// A read that is still to be asked again.
struct Due {
    /// The index of its step.
    step: usize,
    answered: Instant,
    /// An effect on the same server was under way at the same time.
    disturbed: bool,
}

/// A tool call a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedCall {
    /// `mcp__<server>__<tool>`, or any other text that the model gave as a name.
    pub name: String,
    /// The arguments, or why the call cannot be made.
    pub arguments: Result<Object, Unsendable>,
}

impl<'a> Conversation<'a> {
    /// A conversation whose offsets are those of `clock`.
    pub(super) fn new(servers: &'a Connection, observer: &'a dyn Observer, clock: Clock) -> Self {
        Self {
            servers,
            observer,
            clock,
            ask_again: None,
            due: Vec::new(),
            asked_again: Vec::new(),
            patience: None,
            limits: Limits::default(),
            budget: None,
            steps: Vec::new(),
            calls: 0,
            in_flight: Vec::new(),
            requests: Vec::new(),
            spent: 0.0,
            own_tools: BTreeSet::new(),
            events_seen: 0,
            steps_before_calls: Vec::new(),
        }
    }

    /// The same, with its reads asked again.
    #[must_use]
    pub(super) fn asking_again(self, ask_again: Option<&'a AskAgain>) -> Self {
        Self { ask_again, ..self }
    }

    /// The same, which waits for servers that are busy.
    #[must_use]
    pub(super) fn waiting(self, patience: Option<Patience<'a>>) -> Self {
        Self { patience, ..self }
    }

    /// The same with these limits.
    #[must_use]
    pub(super) fn within(self, limits: Limits, budget: Option<&'a Budget>) -> Self {
        if let (Some(gateway), Some(most)) = (self.servers.gateway(), limits.max_steps) {
            gateway.recorder().allow(most as usize);
        }
        Self {
            limits,
            budget,
            ..self
        }
    }

    /// What the servers offered when they were connected.
    pub fn catalogue(&self) -> &'a Catalogue {
        self.servers.catalogue()
    }

    /// Says what the agent is doing besides calls.
    pub fn tell(&self, doing: &str) {
        self.observer.progress(Progress::Preparing { doing });
    }

    /// The agent has these tools of its own, which are no server's.
    pub fn has_own_tools(&mut self, names: impl IntoIterator<Item = String>) {
        self.own_tools.extend(names);
    }

    /// All that it has of these, sorted.
    pub(super) fn take_own_tools(&mut self) -> Vec<String> {
        std::mem::take(&mut self.own_tools).into_iter().collect()
    }

    /// Records a message of the person the agent works for.
    pub fn user(&mut self, text: impl Into<String>) {
        self.steps.push(Step::User { text: text.into() });
    }

    /// Records a message of the agent.
    pub fn assistant(&mut self, text: impl Into<String>) {
        self.steps.push(Step::Assistant { text: text.into() });
    }

    /// Calls a tool by the name agents use, and records the call with its outcome.
    ///
    /// # Errors
    ///
    /// [`Stop::Error`] when the name leads to no server or to several, or when the server is gone; in the latter case the call is recorded.
    /// [`Stop::LimitReached`] when no further call is allowed.
    pub async fn call(&mut self, name: &str, arguments: Object) -> Result<&ToolCall, Stop> {
        let (server, tool) = route(self.servers.catalogue(), name)
            .map_err(|message| Stop::Error(SetupError::new(message)))?;
        self.make(name, (server, tool), arguments, unanswered())
            .await
    }

    /// Calls a tool of a server, whether the server lists it or not, and records the call with its outcome.
    ///
    /// # Errors
    ///
    /// [`Stop::Error`] when the run has no such server, or when the server is gone; in the latter case the call is recorded.
    /// [`Stop::LimitReached`] when no further call is allowed.
    pub async fn call_on(
        &mut self,
        server: &str,
        tool: &str,
        arguments: Object,
    ) -> Result<&ToolCall, Stop> {
        let name = format!("mcp__{server}__{tool}");
        let catalogue = self.servers.catalogue();
        if !catalogue.servers.iter().any(|it| it.server == server) {
            return Err(Stop::Error(SetupError::new(no_such_server(
                catalogue, &name,
            ))));
        }
        let target = (server.to_owned(), tool.to_owned());
        self.make(&name, target, arguments, unanswered()).await
    }

    /// Calls a tool of a server that the run may not have any more, and records the call with its outcome. Without the server, the call is
    /// recorded as not sent.
    ///
    /// # Errors
    ///
    /// As [`Self::call_on`], but for a run without the server.
    pub async fn call_formerly(
        &mut self,
        server: &str,
        tool: &str,
        arguments: Object,
    ) -> Result<&ToolCall, Stop> {
        let catalogue = self.servers.catalogue();
        let name = format!("mcp__{server}__{tool}");
        let outcome = if catalogue.servers.iter().any(|it| it.server == server) {
            unanswered()
        } else {
            not_sent(&no_such_server(catalogue, &name), None)
        };
        self.make(
            &name,
            (server.to_owned(), tool.to_owned()),
            arguments,
            outcome,
        )
        .await
    }

    /// Records a call of a server that cannot be made, and why; `needs` are the numbers of the calls whose answers it takes values from.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when no further call is allowed.
    pub async fn leave_out(
        &mut self,
        server: &str,
        tool: &str,
        arguments: Object,
        why: &str,
        needs: &[usize],
    ) -> Result<&ToolCall, Stop> {
        let name = format!("mcp__{server}__{tool}");
        let target = (server.to_owned(), tool.to_owned());
        let needs = (!needs.is_empty()).then(|| json!({ "needs": needs }));
        let outcome = not_sent(why, needs);
        self.make(&name, target, arguments, outcome).await
    }

    /// Forgets the call that was made last, at this moment, because it is made again: the calls that it caused at servers behind are no part
    /// of the run.
    pub fn take_back(&mut self, asked: Instant) {
        self.asked_again.push((asked, Instant::now()));
        self.steps.pop();
        self.calls -= 1;
        let steps = self.steps.len();
        self.due.retain(|it| it.step < steps);
    }

    /// Makes the calls a model asks for, all at once, and records them in their order. One that cannot be made is recorded as such.
    ///
    /// # Errors
    ///
    /// [`Stop::Error`] when a server is gone; the calls are recorded all the same.
    pub async fn call_all(&mut self, wanted: Vec<WantedCall>) -> Result<Vec<ToolCall>, Stop> {
        let made = wanted.len();
        let names: Vec<String> = wanted.iter().map(|it| it.name.clone()).collect();
        for WantedCall { name, arguments } in wanted {
            let routed = route(self.servers.catalogue(), &name);
            let (server, tool) = match &routed {
                Ok((server, tool)) => (Some(server.clone()), tool.clone()),
                Err(_) => (None, name),
            };
            let (arguments, outcome) = match (arguments, routed) {
                (Ok(arguments), Ok(_)) => (arguments, unanswered()),
                (Ok(arguments), Err(why)) => (arguments, not_sent(&why, None)),
                (Err(it), _) => (
                    Object::new(),
                    not_sent(&it.why, Some(json!({ "arguments": it.said }))),
                ),
            };
            self.in_flight.push(ToolCall {
                start_ms: Some(milliseconds(self.clock.elapsed())),
                ..ToolCall::new(server, tool, arguments, outcome)
            });
        }
        let lost = self.fly(&names).await;
        let calls = self.steps[self.steps.len() - made..].iter();
        let calls = calls.filter_map(|step| match step {
            Step::ToolCall(call) => Some(call.as_ref().clone()),
            _ => None,
        });
        lost.map_or_else(|| Ok(calls.collect()), |it| Err(Stop::Error(it)))
    }

    async fn make(
        &mut self,
        name: &str,
        (server, tool): (String, String),
        arguments: Object,
        outcome: Outcome,
    ) -> Result<&ToolCall, Stop> {
        if let Some(most) = self.limits.max_steps
            && self.calls >= most as usize
        {
            return Err(Stop::at_limit(
                "limits.max_steps",
                &calls_made(most as usize),
            ));
        }
        // Recorded before the answer is awaited: if the run is cut short here, the call is not lost.
        self.in_flight.push(ToolCall {
            start_ms: Some(milliseconds(self.clock.elapsed())),
            ..ToolCall::new(Some(server), tool, arguments, outcome)
        });
        let lost = self.fly(&[name.to_owned()]).await;
        match (lost, self.steps.last()) {
            (None, Some(Step::ToolCall(call))) => Ok(call),
            (Some(lost), _) => Err(Stop::Error(lost)),
            (None, _) => unreachable!("the call was recorded just above"),
        }
    }

    /// Makes the calls in flight, all at once, by the names they were asked for with, and records them. Says so when a server is lost.
    async fn fly(&mut self, names: &[String]) -> Option<SetupError> {
        let (tools, observer, patience) = (self.servers.tools(), self.observer, self.patience);
        // An effect could change what the reads before it are answered.
        let mut calls = self.in_flight.iter();
        let only_reads =
            |asking: &AskAgain| calls.all(|it| asking.only_reads(it, self.servers.catalogue()));
        let may_wait = self.ask_again.is_none_or(only_reads);
        self.ask_again(may_wait).await;
        if tools.is_none() {
            for call in &mut self.in_flight {
                call.outcome = not_sent(
                    "calls go through the gateway, and the agent makes them itself",
                    None,
                );
            }
        }
        let first = self.calls + 1;
        self.calls += self.in_flight.len();
        let calls = self.in_flight.iter_mut().zip(names).enumerate();
        let lost = join_all(calls.map(|(index, (call, name))| async move {
            let number = first + index;
            observer.progress(Progress::Calling { number, tool: name });
            let begun = Instant::now();
            let sent = call.server.clone().filter(|_| !is_not_sent(&call.outcome));
            let mut lost = None;
            if let Some((server, tools)) = sent.zip(tools) {
                let gone = loop {
                    let called = tools.call(&server, &call.tool, &call.arguments).await;
                    call.outcome = called.outcome;
                    let pause = patience
                        .and_then(|it| it.pause(number, call, tools.catalogue(), begun.elapsed()));
                    let Some((status, pause)) = pause else {
                        break called.lost;
                    };
                    let doing = &format!(
                        "call {number} waits {pause:?}: server `{server}` is busy (HTTP {status})"
                    );
                    observer.progress(Progress::Preparing { doing });
                    tokio::time::sleep(pause).await;
                };
                lost = gone.map(|it| SetupError {
                    message: format!("call {number} of `{name}`: {}", it.message),
                    details: it.details,
                    trouble: it.trouble,
                });
            }
            let duration_ms = milliseconds(begun.elapsed());
            call.duration_ms = Some(duration_ms);
            observer.progress(Progress::Called {
                number,
                tool: name,
                outcome: &call.outcome,
                duration_ms,
            });
            lost
        }))
        .await;
        let lost = lost.into_iter().flatten().next();
        if lost.is_some() {
            self.due.clear();
        } else {
            self.plan_to_ask_again();
        }
        self.steps
            .extend(self.in_flight.drain(..).map(tool_call_step));
        // Where nothing has to be waited for, nothing is put off.
        self.ask_again(true).await;
        lost
    }

    /// Notes which of the calls in flight are to be asked again, once all of them are answered.
    fn plan_to_ask_again(&mut self) {
        let (Some(asking), Some(tools)) = (self.ask_again, self.servers.tools()) else {
            return;
        };
        let catalogue = tools.catalogue();
        let calls = self.in_flight.iter();
        let effects = calls.filter(|it| !asking.only_reads(it, catalogue));
        let effects: BTreeSet<&Option<String>> = effects.map(|it| &it.server).collect();
        let calls = (self.steps.len()..).zip(&self.in_flight);
        let reads = calls.filter(|(_, it)| {
            !it.outcome.is_failure() && asking.only_reads(it, catalogue) && asking.wants(it)
        });
        self.due.extend(reads.map(|(step, it)| Due {
            step,
            answered: Instant::now(),
            disturbed: effects.contains(&it.server),
        }));
    }

    /// Asks reads again: those whose time has come, and where the others may not wait, these, too, once it has. Meanwhile no time of the run
    /// passes.
    async fn ask_again(&mut self, may_wait: bool) {
        let (Some(asking), Some(tools)) = (self.ask_again, self.servers.tools()) else {
            return;
        };
        let is_due = |it: &mut Due| !may_wait || it.answered.elapsed() >= asking.apart;
        let due: Vec<Due> = self.due.extract_if(.., is_due).collect();
        let Some(last) = due.iter().map(|it| it.answered).max() else {
            return;
        };
        let _still = self.clock.stand_still();
        tokio::time::sleep_until((last + asking.apart).into()).await;
        let since = Instant::now();
        for Due {
            step, disturbed, ..
        } in due
        {
            let Step::ToolCall(call) = &mut self.steps[step] else {
                continue;
            };
            let server = call.server.as_deref().unwrap_or_default();
            let ask = async || {
                let called = tools.call(server, &call.tool, &call.arguments).await;
                // That a server is busy says nothing about its answer.
                Some(called.outcome).filter(|it| it.asks_to_wait().is_none())
            };
            call.again = ask_again(&call.outcome, ask, || disturbed).await;
        }
        self.asked_again.push((since, Instant::now()));
    }

    /// Asks again what is still to be asked, since the agent is done; returns from when to when reads were asked again.
    pub(super) async fn settle(&mut self) -> Vec<(Instant, Instant)> {
        self.ask_again(false).await;
        std::mem::take(&mut self.asked_again)
    }

    /// The steps and requests so far, with the recorded calls. Calls that were still waiting are recorded as unanswered.
    pub fn into_record(mut self) -> (Vec<Step>, Vec<ModelRequest>) {
        self.steps
            .extend(self.in_flight.drain(..).map(tool_call_step));
        self.merge_recorded_calls();
        (self.steps, self.requests)
    }
}

fn calls_made(most: usize) -> String {
    let noun = if most == 1 { "call" } else { "calls" };
    format!("{most} tool {noun} had been made")
}

fn not_sent(why: &str, data: Option<Value>) -> Outcome {
    Outcome::Failure(Failure {
        kind: FailureKind::NotSent,
        message: why.to_owned(),
        code: None,
        data,
    })
}

/// Whether a call was never made.
pub(super) fn is_not_sent(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent)
}

fn tool_call_step(mut call: ToolCall) -> Step {
    call.digits.extend(digits::take_from(&mut call.arguments));
    Step::ToolCall(Box::new(call))
}

fn unanswered() -> Outcome {
    Outcome::failed(FailureKind::Timeout, "the run ended before the answer came")
}

/// A duration in milliseconds, rounded to a tenth.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}
