//! Gemini CLI, `--output-format stream-json`: <https://geminicli.com/docs/cli/headless>.
//!
//! Messages come in pieces, and usage at the end, for each model that was asked.

use serde_json::Value;

use super::events::{AgentEvent, Events, ModelAnswer, answered, members, text, text_content};
use crate::agent::command::names::Names;
use crate::model::usage::Usage;
use crate::run::{SetupError, Stop};
use crate::text::beginning;

/// How much is shown of the error the agent ended with.
const EXCERPT: usize = 400;
/// The longest name of a tool; what is longer loses its middle.
const LONGEST_NAME: usize = 63;
const KEPT_AT_EACH_END: usize = 30;

#[derive(Default)]
pub(super) struct Gemini {
    names: Names,
    /// The pieces of a message so far.
    message: String,
    /// The latest error it printed.
    trouble: Option<String>,
    ended: Option<Result<(), Stop>>,
}

/// The agent's name for a tool.
pub(in crate::agent::command) fn name(server: &str, tool: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ':');
    let qualified = format!("{server}_{tool}");
    let qualified = if qualified.starts_with("mcp_") {
        qualified
    } else {
        format!("mcp_{qualified}")
    };
    let units = qualified.encode_utf16().map(|it| {
        let it = char::from_u32(u32::from(it)).unwrap_or('_');
        if is_plain(it) { it } else { '_' }
    });
    let plain: String = units.collect();
    if plain.len() <= LONGEST_NAME {
        return plain;
    }
    let (beginning, end) = (
        &plain[..KEPT_AT_EACH_END],
        &plain[plain.len() - KEPT_AT_EACH_END..],
    );
    format!("{beginning}...{end}")
}

impl Gemini {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// The message whose pieces have come.
    fn spoken(&mut self) -> Option<AgentEvent> {
        let said = std::mem::take(&mut self.message);
        (!said.trim().is_empty()).then_some(AgentEvent::Assistant(said))
    }

    fn message(&mut self, event: &Value) -> Option<AgentEvent> {
        if event["role"] != "assistant" {
            return None;
        }
        let piece = event["content"].as_str().unwrap_or_default();
        if event["delta"] == true {
            self.message.push_str(piece);
            return None;
        }
        let before = self.spoken();
        self.message.push_str(piece);
        before
    }

    fn tool_result(event: &Value) -> AgentEvent {
        let is_error = event["status"] == "error";
        let (output, error) = (&event["output"], &event["error"]["message"]);
        let texts = if is_error {
            [error, output]
        } else {
            [output, error]
        };
        let text = texts.iter().find_map(|it| it.as_str());
        let content = text.map(text_content).unwrap_or_default();
        answered(&event["tool_id"], content, is_error)
    }

    fn error(&mut self, event: &Value) -> Option<AgentEvent> {
        let said = text(&event["message"])?;
        if event["severity"] == "error" {
            self.trouble = Some(said);
            return None;
        }
        Some(AgentEvent::Note(format!("Gemini CLI says: {said}")))
    }

    fn result(&mut self, event: &Value) -> Vec<AgentEvent> {
        let mut events: Vec<AgentEvent> = self.spoken().into_iter().collect();
        let stats = &event["stats"];
        let models = stats["models"].as_object().into_iter().flatten();
        let answers = models.map(|(model, it)| (Some(model.clone()), usage(it)));
        let mut answers: Vec<_> = answers.collect();
        if answers.is_empty() {
            answers.push((None, usage(stats)));
        }
        let used = |usage: &Usage| usage.total().is_some_and(|it| it > 0);
        let answers = answers.into_iter().filter(|(_, usage)| used(usage));
        events.extend(answers.map(|(model, usage)| AgentEvent::Request {
            id: model.clone().unwrap_or_default(),
            answer: ModelAnswer {
                model,
                stop_reason: None,
                usage,
            },
        }));
        self.ended = Some(self.outcome(event));
        events
    }

    fn outcome(&mut self, event: &Value) -> Result<(), Stop> {
        let trouble = self.trouble.take();
        let error = &event["error"];
        let said = text(&error["message"]).or(trouble).unwrap_or_default();
        let said = beginning(&said, EXCERPT).into_owned();
        let is_limit = error["type"] == "FatalTurnLimitedError"
            || said.starts_with("Maximum session turns exceeded");
        if is_limit {
            let message = format!("`maxSessionTurns` of Gemini CLI ended the run: {said}");
            return Err(Stop::LimitReached { message });
        }
        if event["status"] == "success" {
            return Ok(());
        }
        let message = format!("Gemini CLI ended with an error: {said}");
        Err(Stop::Error(SetupError::new(message)))
    }
}

impl Events for Gemini {
    fn read(&mut self, event: &Value) -> Vec<AgentEvent> {
        match event["type"].as_str().unwrap_or_default() {
            "init" => vec![AgentEvent::Begins],
            "message" => self.message(event).into_iter().collect(),
            "tool_use" => {
                let call = AgentEvent::Call {
                    id: text(&event["tool_id"]).unwrap_or_default(),
                    name: self
                        .names
                        .full(event["tool_name"].as_str().unwrap_or_default()),
                    arguments: members(&event["parameters"]),
                };
                self.spoken().into_iter().chain([call]).collect()
            }
            "tool_result" => vec![Self::tool_result(event)],
            "error" => self.error(event).into_iter().collect(),
            "result" => self.result(event),
            _ => Vec::new(),
        }
    }

    fn rest(&mut self) -> Vec<AgentEvent> {
        self.spoken().into_iter().collect()
    }

    fn ending(&mut self) -> Option<Result<(), Stop>> {
        self.ended.take()
    }

    fn format(&self) -> (&'static str, &'static str) {
        ("Gemini CLI", "--output-format stream-json")
    }
}

/// Tokens as Gemini CLI counts them: those of the cache are among the input, and what the model thinks is in the total alone.
fn usage(stats: &Value) -> Usage {
    let count = |member: &str| stats[member].as_u64();
    let input = count("input_tokens");
    let thought = count("total_tokens").zip(input);
    let output = thought.map(|(total, input)| total.saturating_sub(input));
    let cache_read = count("cached");
    Usage {
        input: input.map(|it| it.saturating_sub(cache_read.unwrap_or(0))),
        output: count("output_tokens").max(output),
        cache_read,
        cache_write: None,
    }
}
