//! Records in the conversation what an agent prints of its work.

use std::collections::HashMap;
use std::time::Instant;

use super::names::Names;
use super::stream::events::{AgentEvent, Stream, Verdict};
use super::stream::stream;
use crate::model::usage::Price;
use crate::run::{Announced, Conversation, ReportedRequest, Stop};
use crate::scenario_file::agent::CommandFormat;

/// Reads what an agent prints and records it in the conversation.
pub(super) struct OutputRecorder {
    stream: Box<dyn Stream>,
    price: Option<Price>,
    /// The model it was configured with, for formats that do not print the model.
    model: Option<String>,
    announced: HashMap<String, Announced>,
    requests: HashMap<String, ReportedRequest>,
    /// When it last printed an event: what the next one is about began after that.
    silent_since: Instant,
    /// When it began to ask its model, for formats that print that.
    asking_since: Option<Instant>,
    notes: Vec<String>,
}

impl OutputRecorder {
    pub(super) fn new(
        format: CommandFormat,
        names: Names,
        model: Option<String>,
        price: Option<Price>,
    ) -> Self {
        Self {
            stream: stream(format, names),
            price,
            model,
            announced: HashMap::new(),
            requests: HashMap::new(),
            silent_since: Instant::now(),
            asking_since: None,
            notes: Vec::new(),
        }
    }

    /// What a reader should know of how it went.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Records the events of a line, after the calls that were recorded before it.
    ///
    /// # Errors
    ///
    /// Why the agent has to stop.
    pub(super) fn line(
        &mut self,
        conversation: &mut Conversation<'_>,
        line: &str,
    ) -> Result<(), Stop> {
        let events = self.stream.read(line);
        self.record(conversation, events)
    }

    /// Records the remaining events once the output has ended.
    ///
    /// # Errors
    ///
    /// As [`OutputRecorder::line`].
    pub(super) fn end(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        let events = self.stream.end();
        self.record(conversation, events)
    }

    /// How it ended, by its own account.
    pub(super) fn verdict(&mut self) -> Verdict {
        self.stream.verdict()
    }

    /// Records all events, also those after one that stops the agent.
    fn record(
        &mut self,
        conversation: &mut Conversation<'_>,
        events: Vec<AgentEvent>,
    ) -> Result<(), Stop> {
        let mut stop = conversation.catch_up();
        for it in events {
            stop = stop.and(self.keep(conversation, it));
        }
        stop
    }

    fn keep(&mut self, conversation: &mut Conversation<'_>, event: AgentEvent) -> Result<(), Stop> {
        let now = Instant::now();
        let begun = std::mem::replace(&mut self.silent_since, now);
        let ago = now - self.asking_since.unwrap_or(begun);
        let price = self.price.as_ref();
        match event {
            AgentEvent::Assistant(text) => conversation.assistant(text),
            AgentEvent::Call {
                id,
                name,
                arguments,
            } => {
                let announced = conversation.announce(&name, arguments);
                self.announced.insert(id, announced);
            }
            AgentEvent::Answered { id, outcome } => {
                if let Some(announced) = self.announced.remove(&id) {
                    conversation.announced_ended(announced, outcome);
                }
            }
            AgentEvent::OwnTools(names) => conversation.has_own_tools(names),
            AgentEvent::Begins => self.asking_since = Some(now),
            AgentEvent::Retry {
                status,
                problem,
                pause,
            } => conversation.report_failure(ago, status, problem, pause),
            AgentEvent::Request { id, answer } => {
                let request = self.requests.entry(id);
                let request = *request.or_insert_with(|| conversation.report_request(ago));
                let model = answer.model.or_else(|| self.model.clone());
                let (stop_reason, usage) = (answer.stop_reason, answer.usage);
                return conversation.report_answer(request, model, stop_reason, usage, price);
            }
            AgentEvent::Total { usage, cost } => {
                return conversation.report_total(usage, cost, price);
            }
            AgentEvent::Note(note) => self.notes.push(note),
            AgentEvent::Stop(stop) => return Err(stop),
        }
        Ok(())
    }
}
