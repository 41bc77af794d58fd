//! What an agent does its work through, and what records every step of it.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use crate::model::Object;
use crate::model::agent::Limits;
use crate::model::catalogue::Catalogue;
use crate::model::trajectory::{Failure, FailureKind, Outcome, Step, ToolCall};
use crate::model::usage::{Attempt, ModelRequest, Usage, total_cost, total_usage};
use crate::run::budget::Budget;
use crate::run::ports::{Called, Observer, Progress, SetupError, Tools};

/// The conversation of one run. Whatever an agent says, calls or asks goes through here and is recorded as it happens, so that a run cut
/// short keeps what it did.
pub struct Conversation<'a> {
    tools: &'a dyn Tools,
    observer: &'a dyn Observer,
    started: Instant,
    limits: Limits,
    budget: Option<&'a Budget>,
    steps: Vec<Step>,
    calls: usize,
    in_flight: Vec<ToolCall>,
    requests: Vec<ModelRequest>,
}

/// Why an agent has to stop before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A critical call failed.
    Blocked { message: String },
    /// A limit of the scenario was reached.
    LimitReached { message: String },
    /// The run cannot go on, for a reason that is no verdict on the servers' answers.
    Error(SetupError),
}

/// A tool call a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedCall {
    /// `mcp__<server>__<tool>`, or whatever else the model said.
    pub name: String,
    /// The arguments, or why the call cannot be made.
    pub arguments: Result<Object, Unsendable>,
}

/// Why a call that a model asks for cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsendable {
    /// In a sentence.
    pub why: String,
    /// What the model said for arguments.
    pub said: String,
}

impl<'a> Conversation<'a> {
    /// A conversation whose offsets count from `started`.
    pub fn new(tools: &'a dyn Tools, observer: &'a dyn Observer, started: Instant) -> Self {
        Self {
            tools,
            observer,
            started,
            limits: Limits::default(),
            budget: None,
            steps: Vec::new(),
            calls: 0,
            in_flight: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// The same, ended by these limits.
    #[must_use]
    pub fn within(self, limits: Limits, budget: Option<&'a Budget>) -> Self {
        Self {
            limits,
            budget,
            ..self
        }
    }

    /// What the servers offered when they were connected.
    pub fn catalogue(&self) -> &'a Catalogue {
        self.tools.catalogue()
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
        let (server, tool) = route(self.tools.catalogue(), name)
            .map_err(|message| Stop::Error(SetupError::new(message)))?;
        self.make(name, server, tool, arguments).await
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
        let catalogue = self.tools.catalogue();
        if !catalogue.servers.iter().any(|it| it.server == server) {
            return Err(Stop::Error(SetupError::new(no_such_server(
                catalogue, &name,
            ))));
        }
        let (server, tool) = (server.to_owned(), tool.to_owned());
        self.make(&name, server, tool, arguments).await
    }

    /// Makes the calls a model asks for, all at once, and records them in their order. One that cannot be made is recorded as such.
    ///
    /// # Errors
    ///
    /// [`Stop::Error`] when a server is gone; the calls are recorded all the same.
    pub async fn call_all(&mut self, wanted: Vec<WantedCall>) -> Result<Vec<ToolCall>, Stop> {
        let made = wanted.len();
        for WantedCall { name, arguments } in wanted {
            let routed = route(self.tools.catalogue(), &name);
            let (server, tool) = match &routed {
                Ok((server, tool)) => (Some(server.clone()), tool.clone()),
                Err(_) => (None, name),
            };
            let (arguments, outcome) = match (arguments, routed) {
                (Ok(arguments), Ok(_)) => (arguments, unanswered()),
                (Ok(arguments), Err(why)) => (arguments, not_sent(&why, None)),
                (Err(it), _) => (Object::new(), not_sent(&it.why, Some(&it.said))),
            };
            self.in_flight.push(ToolCall {
                server,
                tool,
                arguments,
                outcome,
                start_ms: Some(milliseconds(self.started.elapsed())),
                duration_ms: None,
            });
        }
        let lost = self.fly().await;
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
        server: String,
        tool: String,
        arguments: Object,
    ) -> Result<&ToolCall, Stop> {
        if let Some(most) = self.limits.max_steps
            && self.calls >= most as usize
        {
            return Err(limit("max_steps", &format!("{most} tool calls were made")));
        }
        // Recorded before the answer is awaited: if the run is cut short here, the call is not lost.
        self.in_flight.push(ToolCall {
            server: Some(server),
            tool,
            arguments,
            outcome: unanswered(),
            start_ms: Some(milliseconds(self.started.elapsed())),
            duration_ms: None,
        });
        let lost = self.fly().await;
        match (lost, self.steps.last()) {
            (None, Some(Step::ToolCall(call))) => Ok(call),
            (Some(lost), _) => Err(Stop::Error(SetupError {
                message: format!("call {} of `{name}`: {}", self.calls, lost.message),
                details: lost.details,
            })),
            (None, _) => unreachable!("the call was recorded just above"),
        }
    }

    /// Makes the calls in flight, all at once, and records them. Says so when a server is lost.
    async fn fly(&mut self) -> Option<SetupError> {
        let (tools, observer) = (self.tools, self.observer);
        let first = self.calls + 1;
        self.calls += self.in_flight.len();
        let calls = self.in_flight.iter_mut().enumerate();
        let lost = join_all(calls.map(|(index, call)| async move {
            let name = call.full_name();
            let number = first + index;
            observer.progress(Progress::Calling {
                number,
                tool: &name,
            });
            let begun = Instant::now();
            let sent = call.server.as_ref().filter(|_| !is_not_sent(&call.outcome));
            let mut lost = None;
            if let Some(server) = sent {
                let called = tools.call(server, &call.tool, &call.arguments).await;
                let Called {
                    outcome,
                    lost: gone,
                } = called;
                call.outcome = outcome;
                lost = gone;
            }
            let duration_ms = milliseconds(begun.elapsed());
            call.duration_ms = Some(duration_ms);
            observer.progress(Progress::Called {
                number,
                tool: &name,
                outcome: &call.outcome,
                duration_ms,
            });
            lost
        }))
        .await;
        self.steps
            .extend(self.in_flight.drain(..).map(tool_call_step));
        lost.into_iter().flatten().next()
    }

    /// Records that the agent asks its model, where it still may.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when no further request is allowed; `max_steps` is the agent's own bound. [`Stop::Error`] when the
    /// budget of the command is spent.
    pub fn ask(&mut self, max_steps: u32) -> Result<(), Stop> {
        let most = self
            .limits
            .max_steps
            .map_or(max_steps, |it| it.min(max_steps));
        if self.requests.len() >= most as usize {
            return Err(limit(
                "max_steps",
                &format!("{most} requests to the model were made and it was not done"),
            ));
        }
        self.budget.map_or(Ok(()), Budget::check)?;
        self.requests.push(ModelRequest {
            after_steps: self.steps.len(),
            model: None,
            stop_reason: None,
            usage: Usage::default(),
            cost: None,
            attempts: Vec::new(),
        });
        self.observer.progress(Progress::Asking {
            number: self.requests.len(),
        });
        Ok(())
    }

    /// Records that an attempt at the latest request begins.
    pub fn attempt(&mut self) {
        let start_ms = milliseconds(self.started.elapsed());
        if let Some(request) = self.requests.last_mut() {
            request.attempts.push(Attempt {
                start_ms,
                duration_ms: 0.0,
                status: None,
                problem: Some("the run ended before the answer came".to_owned()),
            });
        }
    }

    /// Records how the latest attempt ended, and whether there will be another after a pause.
    pub fn attempted(
        &mut self,
        status: Option<u16>,
        problem: Option<String>,
        pause: Option<Duration>,
    ) {
        let now = milliseconds(self.started.elapsed());
        let number = self.requests.len();
        if let Some(attempt) = self
            .requests
            .last_mut()
            .and_then(|it| it.attempts.last_mut())
        {
            attempt.duration_ms = ((now - attempt.start_ms) * 10.0).round() / 10.0;
            attempt.status = status;
            attempt.problem = problem;
            if let (Some(pause), Some(problem)) = (pause, &attempt.problem) {
                self.observer.progress(Progress::AskingAgain {
                    number,
                    pause,
                    status,
                    problem,
                });
            }
        }
    }

    /// Records what the latest request was answered.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when the answer goes beyond what the run may use; [`Stop::Error`] when that cannot be told.
    pub fn answered(
        &mut self,
        model: Option<String>,
        stop_reason: Option<String>,
        usage: Usage,
        cost: Option<f64>,
    ) -> Result<(), Stop> {
        if let Some(request) = self.requests.last_mut() {
            request.model = model;
            request.stop_reason = stop_reason;
            request.usage = usage;
            request.cost = cost;
        }
        if let Some(budget) = self.budget {
            budget.spend(cost)?;
        }
        if let Some(most) = self.limits.max_total_tokens {
            let used = total_usage(&self.requests).and_then(|it| it.total());
            let used =
                used.ok_or_else(|| unknown("max_total_tokens", "how many tokens it used"))?;
            if used > most {
                return Err(limit(
                    "max_total_tokens",
                    &format!("{used} tokens were used of {most}"),
                ));
            }
        }
        if let Some(most) = self.limits.max_cost {
            let cost = total_cost(&self.requests);
            let cost = cost.ok_or_else(|| unknown("max_cost", "what it cost"))?;
            if cost > most {
                return Err(limit("max_cost", &format!("the run cost {cost} of {most}")));
            }
        }
        Ok(())
    }

    /// The steps and requests so far. Calls that were still waiting are recorded as unanswered.
    pub fn into_record(mut self) -> (Vec<Step>, Vec<ModelRequest>) {
        self.steps
            .extend(self.in_flight.drain(..).map(tool_call_step));
        (self.steps, self.requests)
    }
}

fn limit(name: &str, reached: &str) -> Stop {
    Stop::LimitReached {
        message: format!("`limits.{name}` ended the run: {reached}"),
    }
}

fn unknown(name: &str, what: &str) -> Stop {
    Stop::Error(SetupError::new(format!(
        "`limits.{name}` cannot be kept: the model's answer does not tell {what}"
    )))
}

fn not_sent(why: &str, said: Option<&str>) -> Outcome {
    Outcome::Failure(Failure {
        kind: FailureKind::NotSent,
        message: why.to_owned(),
        code: None,
        data: said.map(|it| json!({ "arguments": it })),
    })
}

fn is_not_sent(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent)
}

fn tool_call_step(call: ToolCall) -> Step {
    Step::ToolCall(Box::new(call))
}

fn unanswered() -> Outcome {
    Outcome::Failure(Failure {
        kind: FailureKind::Timeout,
        message: "the run ended before the answer came".to_owned(),
        code: None,
        data: None,
    })
}

/// A duration in milliseconds, to a tenth: finer would only be noise.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}

/// The server and the tool a name stands for.
///
/// `mcp__<server>__<tool>` goes to that server even if it lists no such tool: what the server then says is worth recording. Server
/// names may hold `__` themselves, so the longest that fits wins. A bare name goes to the one server that lists it.
fn route(catalogue: &Catalogue, name: &str) -> Result<(String, String), String> {
    let servers = || catalogue.servers.iter();
    if let Some(rest) = name.strip_prefix("mcp__") {
        return servers()
            .filter_map(|it| {
                let tool = rest.strip_prefix(it.server.as_str())?.strip_prefix("__")?;
                Some((it.server.clone(), tool.to_owned()))
            })
            .max_by_key(|(server, _)| server.len())
            .ok_or_else(|| no_such_server(catalogue, name));
    }
    let having: Vec<&str> = servers()
        .filter(|it| it.tools.iter().any(|tool| tool.name() == name))
        .map(|it| it.server.as_str())
        .collect();
    match (having.as_slice(), catalogue.servers.as_slice()) {
        ([server], _) => Ok(((*server).to_owned(), name.to_owned())),
        ([], [only]) => Ok((only.server.clone(), name.to_owned())),
        ([], _) => Err(format!(
            "no server lists a tool `{name}`; the servers of this run are {}",
            names(catalogue)
        )),
        (several, _) => {
            let choices: Vec<String> = several
                .iter()
                .map(|it| format!("`mcp__{it}__{name}`"))
                .collect();
            Err(format!(
                "tool `{name}` is ambiguous: write {}",
                choices.join(" or ")
            ))
        }
    }
}

fn no_such_server(catalogue: &Catalogue, name: &str) -> String {
    format!(
        "tool `{name}` belongs to no server of this run, which has {}",
        names(catalogue)
    )
}

fn names(catalogue: &Catalogue) -> String {
    let servers = catalogue.servers.iter();
    let names: Vec<String> = servers.map(|it| format!("`{}`", it.server)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::route;
    use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};

    fn catalogue(servers: &[(&str, &[&str])]) -> Catalogue {
        let tool = |name: &&str| Tool {
            served: json!({ "name": name })
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        Catalogue {
            servers: servers
                .iter()
                .map(|(server, tools)| ServerCatalogue {
                    server: (*server).to_owned(),
                    tools: tools.iter().map(tool).collect(),
                    ..ServerCatalogue::default()
                })
                .collect(),
        }
    }

    #[test]
    fn names_lead_to_servers() {
        let two = catalogue(&[("a", &["x", "both"]), ("a__b", &["y", "both"])]);
        let routed = |name: &str| match route(&two, name) {
            Ok((server, tool)) => format!("{server} {tool}"),
            Err(message) => message,
        };
        let cases = [
            ("mcp__a__x", "a x"),
            ("mcp__a__b__y", "a__b y"),
            ("mcp__a__unlisted", "a unlisted"),
            ("x", "a x"),
            (
                "both",
                "tool `both` is ambiguous: write `mcp__a__both` or `mcp__a__b__both`",
            ),
            (
                "z",
                "no server lists a tool `z`; the servers of this run are `a`, `a__b`",
            ),
            (
                "mcp__c__x",
                "tool `mcp__c__x` belongs to no server of this run, which has `a`, `a__b`",
            ),
        ];
        for (name, expected) in cases {
            assert_eq!(routed(name), expected);
        }
        let one = catalogue(&[("a", &[])]);
        assert_eq!(route(&one, "gone"), Ok(("a".to_owned(), "gone".to_owned())));
    }
}
