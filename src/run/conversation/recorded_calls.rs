//! The part of a conversation with an agent that makes its calls by itself: they are heard as they pass, and what the agent tells of
//! its work is put together with them.

use super::merge::{Heard, merge};
use super::{Conversation, calls_made, milliseconds, not_sent, unanswered};
use crate::model::trajectory::{Outcome, Step, ToolCall};
use crate::model::{Digits, Object};
use crate::run::call_recorder::{CallRecorder, Endpoint, Event, RecordedCall};
use crate::run::clock::Clock;
use crate::run::ports::{Gateway, Progress};
use crate::run::stop::Stop;
use crate::text::shorten;

/// How much of what an agent tells of a call that was not made is kept.
const EXCERPT: usize = 500;

/// A call an agent has told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Its place among the steps that were told.
    pub(super) place: usize,
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

    /// Waits until the agent has begun or ended a call, and tells the observer. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// [`Stop::LimitReached`] when the agent wanted to make more calls than it may; [`Stop::Error`] when a server is gone.
    pub async fn overhear(&mut self) -> Result<(), Stop> {
        match self.recorder() {
            Some(recorder) => recorder.news(self.events_heard).await,
            None => std::future::pending().await,
        }
        self.catch_up()
    }

    /// Goes on although a server was lost: whoever makes the calls may start it again.
    pub fn go_on(&mut self) {
        if let Some(recorder) = self.recorder() {
            recorder.lock().lost = None;
        }
    }

    /// Takes note of all that was heard by now: before something else is recorded that came after it.
    ///
    /// # Errors
    ///
    /// As [`Conversation::overhear`].
    pub fn catch_up(&mut self) -> Result<(), Stop> {
        let Some(recorder) = self.recorder() else {
            return Ok(());
        };
        let heard = recorder.lock();
        for (place, event) in &heard.events[self.events_heard..] {
            let call = &heard.calls[*place];
            let (number, tool) = (place + 1, format!("mcp__{}__{}", call.server, call.tool));
            match (event, &call.end) {
                (Event::Begun, _) => {
                    self.heard_after.push(self.steps.len());
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
        self.events_heard = heard.events.len();
        if let Some(problem) = &heard.lost {
            return Err(Stop::Error(problem.clone()));
        }
        if heard.is_full {
            return Err(Stop::at_limit(
                "limits.max_steps",
                &calls_made(heard.calls.len()),
            ));
        }
        Ok(())
    }

    /// Records a call the agent tells of, by the name it has for the tool: `mcp__<server>__<tool>` for one of the servers' tools,
    /// which is then looked for among the calls that were heard; anything else is a tool of the agent's own.
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
                let why = "the agent told of this call and never made it";
                (Some(server), tool, not_sent(why, None))
            }
            None => (None, name.to_owned(), unanswered()),
        };
        let place = self.steps.len();
        self.steps.push(Step::ToolCall(Box::new(ToolCall {
            server,
            tool,
            arguments,
            digits: Digits::new(),
            outcome,
            again: Vec::new(),
            start_ms: Some(milliseconds(self.clock.elapsed())),
            duration_ms: None,
        })));
        Announced { place }
    }

    /// Records what the agent tells of how a call ended. Of a call that was heard, what was heard counts.
    pub fn announced_ended(&mut self, announced: Announced, outcome: Outcome) {
        let now = milliseconds(self.clock.elapsed());
        let Some(Step::ToolCall(call)) = self.steps.get_mut(announced.place) else {
            return;
        };
        if call.server.is_none() {
            call.duration_ms = call.start_ms.map(|it| ((now - it) * 10.0).round() / 10.0);
            call.outcome = outcome;
            return;
        }
        let said = match &outcome {
            Outcome::Answer(answer) => answer.text(),
            Outcome::Failure(failure) => failure.message.clone(),
        };
        let said = shorten(said.trim(), EXCERPT);
        if !said.is_empty() {
            let why = format!("the agent told of this call and never made it: {said}");
            call.outcome = not_sent(&why, None);
        }
    }

    /// The steps the agent told of, together with the calls that were heard.
    pub(super) fn with_overheard(&mut self) {
        // What went wrong is known already, or too late to matter.
        let _ = self.catch_up();
        let Some(recorder) = self.recorder() else {
            return;
        };
        let heard = recorder.lock();
        let calls = heard.calls.iter().zip(&self.heard_after);
        let calls = calls.map(|(call, after)| Heard {
            after_steps: *after,
            call: recorded(call, &self.clock),
        });
        let merged = merge(std::mem::take(&mut self.steps), calls.collect());
        self.steps = merged.steps;
        for request in &mut self.requests {
            request.after_steps = merged.places[request.after_steps.min(merged.places.len() - 1)];
        }
    }
}

fn recorded(heard: &RecordedCall, clock: &Clock) -> ToolCall {
    let (outcome, duration) = heard.end.clone().unzip();
    ToolCall {
        server: Some(heard.server.clone()),
        tool: heard.tool.clone(),
        arguments: heard.arguments.clone(),
        digits: heard.digits.clone(),
        outcome: outcome.unwrap_or_else(unanswered),
        again: heard.again.clone(),
        start_ms: Some(milliseconds(clock.at(heard.begun))),
        duration_ms: duration.map(milliseconds),
    }
}
