//! What an agent tells of its work, put on record.

use std::collections::HashMap;
use std::time::Instant;

use super::names::Names;
use super::said::{Said, Stream, Verdict};
use super::stream::stream;
use crate::model::agent::{CommandFormat, Price};
use crate::run::{Announced, Conversation, Stop, ToldRequest};

/// Reads what an agent prints and keeps it.
pub(super) struct Telling {
    stream: Box<dyn Stream>,
    price: Option<Price>,
    /// The model it was told to ask, for formats that do not tell of it.
    model: Option<String>,
    announced: HashMap<String, Announced>,
    requests: HashMap<String, ToldRequest>,
    /// When it last told anything: what it tells next has not begun before.
    silent_since: Instant,
    /// When it began to ask its model, where it tells of that.
    asking_since: Option<Instant>,
    notes: Vec<String>,
}

impl Telling {
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

    /// Keeps what a line tells, after what was heard before.
    ///
    /// # Errors
    ///
    /// Why the agent has to stop.
    pub(super) fn line(
        &mut self,
        conversation: &mut Conversation<'_>,
        line: &str,
    ) -> Result<(), Stop> {
        let said = self.stream.read(line);
        self.record(conversation, said)
    }

    /// Keeps what is left once it prints no more.
    ///
    /// # Errors
    ///
    /// As [`Telling::line`].
    pub(super) fn end(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        let said = self.stream.end();
        self.record(conversation, said)
    }

    /// How it ended, by its own account.
    pub(super) fn verdict(&mut self) -> Verdict {
        self.stream.verdict()
    }

    /// Everything is kept, also behind what stops the agent.
    fn record(&mut self, conversation: &mut Conversation<'_>, said: Vec<Said>) -> Result<(), Stop> {
        let mut stop = conversation.catch_up();
        for it in said {
            stop = stop.and(self.keep(conversation, it));
        }
        stop
    }

    fn keep(&mut self, conversation: &mut Conversation<'_>, said: Said) -> Result<(), Stop> {
        let now = Instant::now();
        let begun = std::mem::replace(&mut self.silent_since, now);
        let ago = now - self.asking_since.unwrap_or(begun);
        let price = self.price.as_ref();
        match said {
            Said::Assistant(text) => conversation.assistant(text),
            Said::Call {
                id,
                name,
                arguments,
            } => {
                let announced = conversation.announce(&name, arguments);
                self.announced.insert(id, announced);
            }
            Said::Answered { id, outcome } => {
                if let Some(announced) = self.announced.remove(&id) {
                    conversation.announced_ended(announced, outcome);
                }
            }
            Said::Begins => self.asking_since = Some(now),
            Said::Retry {
                status,
                problem,
                pause,
            } => conversation.told_failure(ago, status, problem, pause),
            Said::Request { id, answer } => {
                let request = self.requests.entry(id);
                let request = *request.or_insert_with(|| conversation.told_request(ago));
                let model = answer.model.or_else(|| self.model.clone());
                let (stop_reason, usage) = (answer.stop_reason, answer.usage);
                return conversation.told_answer(request, model, stop_reason, usage, price);
            }
            Said::Total { usage, cost } => return conversation.told_total(usage, cost, price),
            Said::Note(note) => self.notes.push(note),
            Said::Stop(stop) => return Err(stop),
        }
        Ok(())
    }
}
