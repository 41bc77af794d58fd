//! The conversation of a recording, step by step, with the times in it, and why a text is no recording.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::import::blocks::{served, summarised};
use crate::import::tools::split;
use crate::model::{Answer, FailureKind, Outcome, Step, ToolCall};

/// What a recording is made of.
pub(super) struct Source<'a> {
    pub(super) intent: Option<&'a str>,
    pub(super) messages: &'a [Value],
    /// The summary of calls. It lacks calls that were made while another was under way.
    pub(super) summary: &'a [Value],
    pub(super) servers: &'a [String],
    pub(super) clock: Clock,
}

/// The steps in order: of the messages, and the calls that only the summary has, by their time.
///
/// # Errors
///
/// [`ImportError::NotARecording`] for a call without a name, or whose arguments are no object.
pub(super) fn steps(source: &Source<'_>) -> Result<Vec<Step>, ImportError> {
    let mut reader = Reader {
        source,
        answers: answers(source),
        steps: Vec::new(),
        now: None,
    };
    if let Some(intent) = source.intent {
        reader.say(intent, true);
    }
    for message in source.messages {
        let at = time(message.get("timestamp"));
        reader.now = reader.now.max(at);
        reader.message(message, at)?;
    }
    reader.calls_without_message()?;
    Ok(reader.steps.into_iter().map(|(_, step)| step).collect())
}

/// What a call was answered, and when.
struct Answered {
    outcome: Outcome,
    at: Option<Timestamp>,
}

struct Reader<'a> {
    source: &'a Source<'a>,
    answers: HashMap<&'a str, Answered>,
    /// Each step with the latest time that was known when it was added.
    steps: Vec<(Option<Timestamp>, Step)>,
    now: Option<Timestamp>,
}

impl<'a> Reader<'a> {
    fn message(&mut self, message: &'a Value, at: Option<Timestamp>) -> Result<(), ImportError> {
        let by_user = match kind(message) {
            Some("AssistantMessage") => false,
            Some("UserMessage") => true,
            _ => return Ok(()),
        };
        match said(message) {
            Some(Value::String(text)) => self.say(text, by_user),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    if let Some(text) = block.get("text").and_then(Value::as_str) {
                        self.say(text, by_user);
                    } else if let Some(name) = block.get("name").and_then(Value::as_str) {
                        let id = block.get("id").and_then(Value::as_str);
                        let answered = id.and_then(|it| self.answers.remove(it));
                        let step = self.call(name, block.get("input"), answered, at)?;
                        self.steps.push((self.now, step));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, text: &str, by_user: bool) {
        let text = text.to_owned();
        let step = if by_user {
            Step::User { text }
        } else {
            Step::Assistant { text }
        };
        // Some recordings repeat the intent as their first message.
        let repeated = by_user && matches!(&*self.steps, [(_, only)] if *only == step);
        if !repeated {
            self.steps.push((self.now, step));
        }
    }

    fn call(
        &self,
        name: &str,
        input: Option<&Value>,
        answered: Option<Answered>,
        at: Option<Timestamp>,
    ) -> Result<Step, ImportError> {
        let (server, tool) = split(name, self.source.servers);
        let arguments = match input {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => {
                return Err(ImportError::NotARecording(format!(
                    "the arguments of `{tool}` are no object"
                )));
            }
        };
        let answered_at = answered.as_ref().and_then(|it| it.at);
        let outcome = answered.map_or_else(
            || Outcome::failed(FailureKind::Disconnected, "the recording holds no answer"),
            |it| it.outcome,
        );
        Ok(Step::ToolCall(Box::new(ToolCall {
            start_ms: self.source.clock.offset(at),
            duration_ms: milliseconds(at, answered_at),
            ..ToolCall::new(server, tool, arguments, outcome)
        })))
    }

    fn calls_without_message(&mut self) -> Result<(), ImportError> {
        let in_messages: HashSet<&str> = self.source.messages.iter().flat_map(call_ids).collect();
        let (mut late, mut sorted_at) = (false, self.now);
        for (number, call) in self.source.summary.iter().enumerate() {
            let id = call.get("tool_id").and_then(Value::as_str);
            // A call without an id may be one of the messages' calls, unless these have none.
            if id.map_or(!in_messages.is_empty(), |it| in_messages.contains(it)) {
                continue;
            }
            let name = call
                .get("tool_name")
                .and_then(Value::as_str)
                .ok_or_else(|| {
                    ImportError::NotARecording(format!("call {} has no `tool_name`", number + 1))
                })?;
            let at = time(call.get("timestamp"));
            let answered = from_summary(call).map(|outcome| Answered { outcome, at: None });
            let step = self.call(name, call.get("tool_input"), answered, at)?;
            // A call without a time stays behind the call before it.
            sorted_at = at.or(sorted_at);
            self.steps.push((sorted_at, step));
            late = true;
        }
        if late {
            // The sort is stable, so the steps of the messages keep their order.
            self.steps.sort_by_key(|(at, _)| *at);
        }
        Ok(())
    }
}

/// All answers by the id of their call: from the messages, which have them as served, else from the summary.
fn answers<'a>(source: &Source<'a>) -> HashMap<&'a str, Answered> {
    let mut answers = HashMap::new();
    for message in source.messages {
        let blocks = said(message).and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            if let Some(id) = block.get("tool_use_id").and_then(Value::as_str) {
                let content = block.get("content").map(served).unwrap_or_default();
                answers.entry(id).or_insert_with(|| Answered {
                    outcome: answer(content, block.get("is_error")),
                    at: time(message.get("timestamp")),
                });
            }
        }
    }
    for call in source.summary {
        if let (Some(id), Some(outcome)) = (
            call.get("tool_id").and_then(Value::as_str),
            from_summary(call),
        ) {
            answers.entry(id).or_insert(Answered { outcome, at: None });
        }
    }
    answers
}

fn from_summary(call: &Value) -> Option<Outcome> {
    if let Some(response) = call.get("response").filter(|it| !it.is_null()) {
        let content = response.get("content").map(summarised).unwrap_or_default();
        return Some(answer(content, response.get("is_error")));
    }
    let error = call.get("error")?.as_str()?;
    Some(Outcome::failed(FailureKind::InvalidResponse, error))
}

fn answer(content: Vec<Value>, is_error: Option<&Value>) -> Outcome {
    Outcome::Answer(Answer {
        // `null` counts as no error.
        is_error: is_error.and_then(Value::as_bool).unwrap_or(false),
        content,
        ..Answer::default()
    })
}

/// The ids of the calls a message makes.
fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = said(message).and_then(Value::as_array);
    let calls = blocks
        .into_iter()
        .flatten()
        .filter(|it| it.get("name").is_some());
    calls.filter_map(|it| it.get("id").and_then(Value::as_str))
}

/// The kind of a message, by the name of its Python class.
pub(super) fn kind(message: &Value) -> Option<&str> {
    let own = message.get("type");
    own.or_else(|| message.get("content")?.get("_type"))?
        .as_str()
}

/// A message's text, or its blocks.
fn said(message: &Value) -> Option<&Value> {
    message.get("content")?.get("content")
}

/// Measures from the start of a recorded run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) start: Timestamp,
}

impl Clock {
    /// Milliseconds from the start; `None` for a moment that is unknown or before it.
    pub(super) fn offset(self, at: Option<Timestamp>) -> Option<f64> {
        milliseconds(Some(self.start), at)
    }
}

/// A time, taken as UTC where it has no offset: only the differences between times matter. `None` for anything that is no time.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    let text = value?.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

/// Milliseconds between two moments, to a tenth; `None` where one is unknown, or the clock was set back in between.
pub(super) fn milliseconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    let duration = to?.duration_since(from?);
    let tenths = (duration.as_secs_f64() * 10_000.0).round();
    (!duration.is_negative()).then_some(tenths / 10.0)
}

/// Why a text is no recording of the original tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("it is cut off: it ends in the middle of its JSON")]
    CutOff,
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is not a recording of the original tool: {0}")]
    NotARecording(String),
    #[error("neither `execution_time` nor any message tells when it was recorded")]
    NoTime,
}
