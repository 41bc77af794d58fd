//! Codex, `codex exec --json`: <https://developers.openai.com/codex/noninteractive>.
//!
//! It prints items – messages, calls, commands – when they begin and when they end, and usage once for a whole turn.

use std::collections::BTreeSet;

use serde_json::Value;

use super::events::{
    AgentEvent, Events, ModelAnswer, answered, content, members, text, text_content,
};
use crate::agent::command::names::Names;
use crate::model::usage::Usage;
use crate::run::{SetupError, Stop};
use crate::text::beginning;

/// How much is shown of the error the agent ended with.
const EXCERPT: usize = 400;
/// What a call that wants a person's consent ends with, where there is no person.
const NO_CONSENT: &str = "approval";

#[derive(Default)]
pub(super) struct Codex {
    names: Names,
    /// The ids of the calls that have been reported.
    called: BTreeSet<String>,
    /// Servers it was not allowed to call all tools of.
    refused: BTreeSet<String>,
    turns: u64,
    /// Its latest error message, which is the reason where the output ends without an ending.
    trouble: Option<String>,
    ended: Option<Result<(), Stop>>,
}

/// The full name of a tool, from the names of server and tool that the agent prints.
pub(in crate::agent::command) fn name(server: &str, tool: &str) -> String {
    format!("{server}/{tool}")
}

impl Codex {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    fn item(&mut self, item: &Value, is_complete: bool) -> Vec<AgentEvent> {
        let kind = item["type"].as_str().unwrap_or_default();
        let said = |member: &str| text(&item[member]).filter(|it| !it.trim().is_empty());
        match kind {
            "agent_message" if is_complete => said("text")
                .map(AgentEvent::Assistant)
                .into_iter()
                .collect(),
            "error" if is_complete => {
                let note = said("message").map(|it| format!("Codex says: {it}"));
                note.map(AgentEvent::Note).into_iter().collect()
            }
            "mcp_tool_call" => {
                let server = item["server"].as_str().unwrap_or_default();
                let tool = item["tool"].as_str().unwrap_or_default();
                let known = name(server, tool);
                let full = self.names.full(&known);
                // A server the scenario does not have: the user's own.
                let full = if full == known {
                    format!("mcp__{server}__{tool}")
                } else {
                    full
                };
                let mut events = self.call(item, full.clone(), &["arguments"], is_complete);
                if is_complete {
                    events.extend(self.refusal(item, server, &full));
                }
                events
            }
            "command_execution" => self.call(item, kind.to_owned(), &["command"], is_complete),
            "file_change" => self.call(item, kind.to_owned(), &["changes"], is_complete),
            "web_search" => self.call(item, kind.to_owned(), &["query", "action"], is_complete),
            "collab_tool_call" => {
                let tool = text(&item["tool"]).unwrap_or_else(|| kind.to_owned());
                self.call(item, tool, &["prompt", "receiver_thread_ids"], is_complete)
            }
            _ => Vec::new(),
        }
    }

    /// A call, reported at its first item, and its outcome, reported at its last.
    fn call(
        &mut self,
        item: &Value,
        name: String,
        arguments: &[&str],
        is_complete: bool,
    ) -> Vec<AgentEvent> {
        let id = text(&item["id"]).unwrap_or_default();
        let mut events = Vec::new();
        if self.called.insert(id.clone()) {
            let arguments = match arguments {
                ["arguments"] => members(&item["arguments"]),
                several => {
                    let given = several.iter().filter(|it| !item[**it].is_null());
                    given
                        .map(|it| ((*it).to_owned(), item[*it].clone()))
                        .collect()
                }
            };
            events.push(AgentEvent::Call {
                id,
                name,
                arguments,
            });
        }
        if is_complete {
            let failed = matches!(item["status"].as_str(), Some("failed" | "declined"));
            let exit_code = item["exit_code"].as_i64().unwrap_or(0);
            let is_error = failed || exit_code != 0;
            events.push(answered(&item["id"], answer(item), is_error));
        }
        events
    }

    /// Says once of each server that not all its tools may be called.
    fn refusal(&mut self, item: &Value, server: &str, tool: &str) -> Option<AgentEvent> {
        let why = item["error"]["message"].as_str()?;
        if !why.contains(NO_CONSENT) || !self.refused.insert(server.to_owned()) {
            return None;
        }
        Some(AgentEvent::Note(format!(
            "Codex did not let its model call `{tool}`: allow it with `default_tools_approval_mode = \"approve\"` for the server"
        )))
    }

    /// An error event: a request is made again, or the work ends.
    fn error(&mut self, said: &str) -> Option<AgentEvent> {
        self.trouble = Some(said.to_owned());
        let again = said.strip_prefix("Reconnecting... ")?;
        let problem = match (again.find('('), again.rfind(')')) {
            (Some(from), Some(to)) if from < to => &again[from + 1..to],
            _ => said,
        };
        Some(AgentEvent::Retry {
            status: http_status(problem),
            problem: beginning(problem, EXCERPT).into_owned(),
            pause: None,
        })
    }

    fn completed(&mut self, event: &Value) -> Vec<AgentEvent> {
        self.trouble = None;
        self.turns += 1;
        self.ended = Some(Ok(()));
        let answer = ModelAnswer {
            usage: usage(&event["usage"]),
            ..ModelAnswer::default()
        };
        let id = format!("turn {}", self.turns);
        vec![AgentEvent::Request { id, answer }]
    }
}

impl Events for Codex {
    fn read(&mut self, event: &Value) -> Vec<AgentEvent> {
        match event["type"].as_str().unwrap_or_default() {
            "item.started" | "item.updated" => self.item(&event["item"], false),
            "item.completed" => self.item(&event["item"], true),
            "turn.started" => vec![AgentEvent::Begins],
            "turn.completed" => self.completed(event),
            "turn.failed" => {
                let said = event["error"]["message"].as_str().unwrap_or_default();
                self.ended = Some(Err(failed(said)));
                Vec::new()
            }
            "error" => {
                let said = event["message"].as_str().unwrap_or_default();
                self.error(said).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn ending(&mut self) -> Option<Result<(), Stop>> {
        let trouble = self.trouble.take().map(|it| Err(failed(&it)));
        self.ended.take().or(trouble)
    }

    fn format(&self) -> (&'static str, &'static str) {
        ("Codex", "--json")
    }
}

fn failed(said: &str) -> Stop {
    let said = beginning(said, EXCERPT);
    Stop::Error(SetupError::new(format!(
        "Codex ended with an error: {said}"
    )))
}

/// What came of a call.
fn answer(item: &Value) -> Vec<Value> {
    if let Some(why) = item["error"]["message"].as_str() {
        return text_content(why);
    }
    match &item["aggregated_output"] {
        Value::String(printed) => text_content(printed),
        _ => content(&item["result"]["content"]),
    }
}

/// The status in `unexpected status 403 Forbidden: …`.
fn http_status(problem: &str) -> Option<u16> {
    let (_, rest) = problem.split_once("status ")?;
    rest.get(..3)?.parse().ok()
}

/// Tokens as Codex counts them: those of the cache are among the input.
fn usage(usage: &Value) -> Usage {
    let cache_read = usage["cached_input_tokens"].as_u64();
    let cache_write = usage["cache_write_input_tokens"].as_u64();
    let cached = cache_read
        .unwrap_or(0)
        .saturating_add(cache_write.unwrap_or(0));
    let input = usage["input_tokens"].as_u64();
    Usage {
        input: input.map(|it| it.saturating_sub(cached)),
        output: usage["output_tokens"].as_u64(),
        cache_read,
        cache_write,
    }
}
