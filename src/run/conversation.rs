//! What an agent does its work through, and what records every step of it.

use std::time::Instant;

use crate::model::Object;
use crate::model::catalogue::Catalogue;
use crate::model::trajectory::{Failure, FailureKind, Outcome, Step, ToolCall};
use crate::run::ports::{Observer, Progress, SetupError, Tools};

/// The conversation of one run. Whatever an agent says or calls goes through here and is recorded as it happens, so that a run cut
/// short keeps what it did.
pub struct Conversation<'a> {
    tools: &'a dyn Tools,
    observer: &'a dyn Observer,
    started: Instant,
    steps: Vec<Step>,
    calls: usize,
    in_flight: Option<ToolCall>,
}

/// Why an agent has to stop before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A critical call failed.
    Blocked { message: String },
    /// The run cannot go on, for a reason that is no verdict on the servers' answers.
    Error(SetupError),
}

impl<'a> Conversation<'a> {
    /// A conversation whose offsets count from `started`.
    pub fn new(tools: &'a dyn Tools, observer: &'a dyn Observer, started: Instant) -> Self {
        Self {
            tools,
            observer,
            started,
            steps: Vec::new(),
            calls: 0,
            in_flight: None,
        }
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

    async fn make(
        &mut self,
        name: &str,
        server: String,
        tool: String,
        arguments: Object,
    ) -> Result<&ToolCall, Stop> {
        self.calls += 1;
        let number = self.calls;
        self.observer
            .progress(Progress::Calling { number, tool: name });
        let begun = Instant::now();
        // Recorded before the answer is awaited: if the run is cut short here, the call is not lost.
        let call = self.in_flight.insert(ToolCall {
            server: Some(server.clone()),
            tool: tool.clone(),
            arguments: arguments.clone(),
            outcome: unanswered(),
            start_ms: Some(milliseconds(begun - self.started)),
            duration_ms: None,
        });
        let called = self.tools.call(&server, &tool, &arguments).await;
        let duration_ms = milliseconds(begun.elapsed());
        call.outcome = called.outcome;
        call.duration_ms = Some(duration_ms);
        self.observer.progress(Progress::Called {
            number,
            tool: name,
            outcome: &call.outcome,
            duration_ms,
        });
        self.steps.extend(self.in_flight.take().map(tool_call_step));
        match (called.lost, self.steps.last()) {
            (None, Some(Step::ToolCall(call))) => Ok(call),
            (Some(lost), _) => Err(Stop::Error(SetupError {
                message: format!("call {number} of `{name}`: {}", lost.message),
                details: lost.details,
            })),
            (None, _) => unreachable!("the call was recorded just above"),
        }
    }

    /// The steps so far. A call that was still waiting is recorded as unanswered.
    pub fn into_steps(mut self) -> Vec<Step> {
        self.steps.extend(self.in_flight.take().map(tool_call_step));
        self.steps
    }
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
pub(crate) fn milliseconds(duration: std::time::Duration) -> f64 {
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
