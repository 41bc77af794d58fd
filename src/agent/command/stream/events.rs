//! Output that is a JSON object a line: an event.

use serde_json::{Value, json};

use crate::agent::command::agent_event::{AgentEvent, Stream, Verdict};
use crate::model::Object;
use crate::model::trajectory::{Answer, Outcome};
use crate::run::{SetupError, Stop};
use crate::text::beginning;

/// How much is shown of a line that is no event, in bytes.
const EXCERPT: usize = 200;

/// Knows the events of one format.
pub(super) trait Events: Send {
    /// The events of the work in one event of the format; none where it is unknown.
    fn read(&mut self, event: &Value) -> Vec<AgentEvent>;

    /// The remaining events once the output has ended.
    fn rest(&mut self) -> Vec<AgentEvent> {
        Vec::new()
    }

    /// How the agent says it ended; `None` when it did not say.
    fn ending(&mut self) -> Option<Result<(), Stop>>;

    /// The agent's name, and what makes it print this format.
    fn format(&self) -> (&'static str, &'static str);
}

/// Reads the lines that are events and passes over the others.
pub(super) struct Lines<E> {
    events: E,
    /// The first line that is no event.
    noise: Option<String>,
}

impl<E> Lines<E> {
    pub(super) fn new(events: E) -> Self {
        Self {
            events,
            noise: None,
        }
    }
}

impl<E: Events> Stream for Lines<E> {
    fn read(&mut self, line: &str) -> Vec<AgentEvent> {
        match serde_json::from_str::<Value>(line) {
            Ok(event) if event.is_object() => self.events.read(&event),
            _ => {
                let line = line.trim();
                if !line.is_empty() && self.noise.is_none() {
                    self.noise = Some(beginning(line, EXCERPT).into_owned());
                }
                Vec::new()
            }
        }
    }

    fn end(&mut self) -> Vec<AgentEvent> {
        self.events.rest()
    }

    fn verdict(&mut self) -> Verdict {
        match self.events.ending() {
            Some(Ok(())) => Verdict::Done,
            Some(Err(stop)) => Verdict::Stopped(stop),
            None => {
                let (agent, format) = self.events.format();
                let noise = self.noise.take();
                let noise = noise.map(|it| format!("it has a line that is not an event: {it}"));
                Verdict::CutOff(SetupError {
                    message: format!(
                        "the output of {agent} lacks its end: is it whole, and printed with `{format}`?"
                    ),
                    details: noise.into_iter().collect(),
                    trouble: None,
                })
            }
        }
    }
}

/// A text in an event.
pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The members of an object; none of anything else.
pub(super) fn members(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// The HTTP status in an event.
pub(super) fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|it| u16::try_from(it).ok())
}

/// A text as the content of a tool's answer.
pub(super) fn text_content(text: &str) -> Vec<Value> {
    vec![json!({ "type": "text", "text": text })]
}

/// The content of a tool's answer: blocks, or a text alone.
pub(super) fn content(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => text_content(text),
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// The outcome of a call, as the agent received it.
pub(super) fn answered(id: &Value, content: Vec<Value>, is_error: bool) -> AgentEvent {
    AgentEvent::Answered {
        id: text(id).unwrap_or_default(),
        outcome: Outcome::Answer(Answer {
            is_error,
            content,
            ..Answer::default()
        }),
    }
}
