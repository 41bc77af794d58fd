//! Output that is a JSON object a line: an event.

use std::time::Duration;

use serde_json::{Value, json};

use crate::model::usage::Usage;
use crate::model::{Answer, Object, Outcome};
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

/// One event in an agent's output.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::agent::command) enum AgentEvent {
    /// A message.
    Assistant(String),
    /// A call of a tool: `mcp__<server>__<tool>` for a server's, or the name of one of its own.
    Call {
        /// Unique within the run.
        id: String,
        name: String,
        arguments: Object,
    },
    /// What came of a call.
    Answered { id: String, outcome: Outcome },
    /// It has these tools of its own.
    OwnTools(Vec<String>),
    /// It begins to ask its model, for formats that print all requests at once.
    Begins,
    /// A request to its model failed and is made again.
    Retry {
        /// The HTTP status, where a response came.
        status: Option<u16>,
        problem: String,
        pause: Option<Duration>,
    },
    /// A request to its model was answered, or more is known of the answer to the one with this id.
    Request { id: String, answer: ModelAnswer },
    /// What all requests took together, including those that were not printed.
    Total {
        usage: Usage,
        /// In US dollars, as the agent calculates it.
        cost: Option<f64>,
    },
    /// What a reader should know of how it went.
    Note(String),
    /// Why it makes no sense to let it go on.
    Stop(Stop),
}

/// What is known of an answer of an agent's model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::agent::command) struct ModelAnswer {
    pub(in crate::agent::command) model: Option<String>,
    pub(in crate::agent::command) stop_reason: Option<String>,
    pub(in crate::agent::command) usage: Usage,
}

/// Reads what an agent prints, line by line.
pub(in crate::agent::command) trait Stream: Send {
    /// The events of a line, without its line break. A line that cannot be understood has none.
    fn read(&mut self, line: &str) -> Vec<AgentEvent>;

    /// The output has ended: the remaining events.
    fn end(&mut self) -> Vec<AgentEvent> {
        Vec::new()
    }

    /// How the work ended, according to the output. Called last.
    fn verdict(&mut self) -> Verdict {
        Verdict::Done
    }
}

/// How an agent ended, according to its output.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::agent::command) enum Verdict {
    /// It is done, or its format does not print how it ended.
    Done,
    /// It says what ended it.
    Stopped(Stop),
    /// It would have said so if it were done.
    CutOff(SetupError),
}

/// How much of the answer is kept, in bytes.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// Gathers what the agent prints.
#[derive(Default)]
pub(super) struct Generic {
    printed: String,
    is_cut: bool,
}

impl Stream for Generic {
    fn read(&mut self, line: &str) -> Vec<AgentEvent> {
        let mut left = LONGEST_ANSWER - self.printed.len();
        if line.len() > left {
            self.is_cut = true;
            while !line.is_char_boundary(left) {
                left -= 1;
            }
            self.printed.push_str(&line[..left]);
        } else if !self.is_cut {
            self.printed.push_str(line);
            if line.len() < left {
                self.printed.push('\n');
            }
        }
        Vec::new()
    }

    fn end(&mut self) -> Vec<AgentEvent> {
        let answer = self.printed.trim();
        let mut events = Vec::new();
        if !answer.is_empty() {
            events.push(AgentEvent::Assistant(answer.to_owned()));
        }
        if self.is_cut {
            events.push(AgentEvent::Note(format!(
                "the agent printed more than {LONGEST_ANSWER} bytes; the rest is not kept"
            )));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentEvent, Generic, LONGEST_ANSWER, Stream};

    #[test]
    fn the_answer_is_what_was_printed_and_bounded() {
        let mut nothing = Generic::default();
        nothing.read("");
        assert_eq!(nothing.end(), []);
        let mut some = Generic::default();
        some.read("a");
        some.read("b");
        assert_eq!(some.end(), [AgentEvent::Assistant("a\nb".to_owned())]);
        let mut much = Generic::default();
        for _ in 0..3 {
            much.read(&"ä".repeat(LONGEST_ANSWER / 3));
        }
        let [AgentEvent::Assistant(answer), AgentEvent::Note(_)] = &much.end()[..] else {
            panic!("an answer and a note");
        };
        assert!((LONGEST_ANSWER - 1..=LONGEST_ANSWER).contains(&answer.len()));
    }
}
