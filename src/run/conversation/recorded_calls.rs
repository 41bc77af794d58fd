//! The part of a conversation with an agent that makes its calls by itself: the gateway records the calls, and they are merged with the
//! steps that the agent reports.

use super::merge::{CallAfterSteps, merge};
use super::{Conversation, calls_made, milliseconds, not_sent, unanswered};
use crate::model::{Object, Outcome, Step, ToolCall};
use crate::run::call_recorder::{CallRecorder, Endpoint, Event, RecordedCall};
use crate::run::limits::{Clock, Stop};
use crate::run::ports::{Gateway, Progress};
use crate::text::beginning;

/// How much is kept of the outcome that an agent reports of a call which was not made.
const EXCERPT: usize = 500;

/// A call that an agent has reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Its index among the reported steps.
    pub(super) index: usize,
}

impl<'a> Conversation<'a> {
    /// Where an agent with an MCP client of its own reaches the servers.
    pub fn endpoints(&self) -> &[Endpoint] {
        let gateway = self.servers.gateway();
        gateway.map_or(&[], |it| it.endpoints())
    }

    /// The calls of an agent that makes them itself.
    fn recorder(&self) -> Option<&'a CallRecorder> {
        self.servers.gateway().map(Gateway::recorder)
    }

    /// Waits until the agent has begun or ended a call, and passes that to the observer. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when the agent wanted to make more calls than it may; [`Stop::Error`] when a server is gone.
    pub async fn next_call_event(&mut self) -> Result<(), Stop> {
        match self.recorder() {
            Some(recorder) => recorder.news(self.events_seen).await,
            None => std::future::pending().await,
        }
        self.catch_up()
    }

    /// Lets the run go on although a server was lost, because the client may start it again.
    pub fn go_on(&mut self) {
        if let Some(recorder) = self.recorder() {
            recorder.lock().lost = None;
        }
    }

    /// Processes all call events so far. To be called before anything is recorded that came after them.
    ///
    /// # Errors
    ///
    /// As [`Conversation::next_call_event`].
    pub fn catch_up(&mut self) -> Result<(), Stop> {
        let Some(recorder) = self.recorder() else {
            return Ok(());
        };
        let log = recorder.lock();
        for (index, event) in &log.events[self.events_seen..] {
            let call = &log.calls[*index];
            let (number, tool) = (index + 1, format!("mcp__{}__{}", call.server, call.tool));
            match (event, &call.end) {
                (Event::Begun, _) => {
                    self.steps_before_calls.push(self.steps.len());
                    let tool = &tool;
                    self.observer.progress(Progress::Calling { number, tool });
                }
                (Event::Ended, Some((outcome, duration))) => {
                    self.observer.progress(Progress::Called {
                        number,
                        tool: &tool,
                        outcome,
                        duration_ms: milliseconds(*duration),
                    });
                }
                (Event::Ended, None) => {}
            }
        }
        self.events_seen = log.events.len();
        if let Some(problem) = &log.lost {
            return Err(Stop::Error(problem.clone()));
        }
        if log.is_full {
            return Err(Stop::at_limit(
                "limits.max_steps",
                &calls_made(log.calls.len()),
            ));
        }
        Ok(())
    }

    /// Records a call that the agent reports, by the name it has for the tool: `mcp__<server>__<tool>` for one of the servers' tools,
    /// which is then looked for among the recorded calls; anything else is a tool of the agent's own.
    pub fn announce(&mut self, name: &str, arguments: Object) -> Announced {
        let own = name.strip_prefix("mcp__").and_then(|rest| {
            let servers = self.servers.catalogue().servers.iter();
            let fitting = servers.filter_map(|it| {
                let tool = rest.strip_prefix(it.server.as_str())?.strip_prefix("__")?;
                Some((it.server.clone(), tool.to_owned()))
            });
            fitting.max_by_key(|(server, _)| server.len())
        });
        let (server, tool, outcome) = match own {
            Some((server, tool)) => {
                let why = "the agent reported this call and never made it";
                (Some(server), tool, not_sent(why, None))
            }
            None => (None, name.to_owned(), unanswered()),
        };
        let index = self.steps.len();
        self.steps.push(Step::ToolCall(Box::new(ToolCall {
            start_ms: Some(milliseconds(self.clock.elapsed())),
            ..ToolCall::new(server, tool, arguments, outcome)
        })));
        Announced { index }
    }

    /// Records the outcome that the agent reports of a call. Where the call itself was recorded, its recorded outcome counts.
    pub fn announced_ended(&mut self, announced: Announced, outcome: Outcome) {
        let now = milliseconds(self.clock.elapsed());
        let Some(Step::ToolCall(call)) = self.steps.get_mut(announced.index) else {
            return;
        };
        if call.server.is_none() {
            call.duration_ms = call.start_ms.map(|it| ((now - it) * 10.0).round() / 10.0);
            call.outcome = outcome;
            return;
        }
        let text = match &outcome {
            Outcome::Answer(answer) => answer.text(),
            Outcome::Failure(failure) => failure.message.clone(),
        };
        let text = beginning(text.trim(), EXCERPT);
        if !text.is_empty() {
            let why = format!("the agent reported this call and never made it: {text}");
            call.outcome = not_sent(&why, None);
        }
    }

    /// Merges the recorded calls into the reported steps.
    pub(super) fn merge_recorded_calls(&mut self) {
        // An error was reported before, or comes too late to end the run.
        let _ = self.catch_up();
        let Some(recorder) = self.recorder() else {
            return;
        };
        let log = recorder.lock();
        let calls = log.calls.iter().zip(&self.steps_before_calls);
        let calls = calls.map(|(call, after)| CallAfterSteps {
            after_steps: *after,
            call: tool_call(call, &self.clock),
        });
        let merged = merge(std::mem::take(&mut self.steps), calls.collect());
        self.steps = merged.steps;
        for request in &mut self.requests {
            request.after_steps = merged.places[request.after_steps.min(merged.places.len() - 1)];
        }
    }
}

/// The call that was recorded, in the time of the run.
pub(in crate::run) fn tool_call(recorded: &RecordedCall, clock: &Clock) -> ToolCall {
    let (outcome, duration) = recorded.end.clone().unzip();
    ToolCall {
        server: Some(recorded.server.clone()),
        tool: recorded.tool.clone(),
        arguments: recorded.arguments.clone(),
        digits: recorded.digits.clone(),
        outcome: outcome.unwrap_or_else(unanswered),
        again: recorded.again.clone(),
        began: None,
        start_ms: Some(milliseconds(clock.at(recorded.begun))),
        duration_ms: duration.map(milliseconds),
    }
}
