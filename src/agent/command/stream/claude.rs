//! Claude Code, `--output-format stream-json --verbose`: <https://code.claude.com/docs/en/headless>.
//!
//! Each content block of an answer is an event of its own, with the id and the usage of the whole answer, as far as it had come. With
//! `--include-partial-messages` there are the events of the model's API as well, which report the usage when it is complete.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;

use super::events::{AgentEvent, Events, ModelAnswer, answered, content, members, status, text};
use crate::agent::command::names::{Names, plain};
use crate::llm::anthropic;
use crate::model::usage::Usage;
use crate::run::{SetupError, Stop};
use crate::text::beginning;

/// How much is shown of the error the agent ended with.
const EXCERPT: usize = 400;

#[derive(Default)]
pub(super) struct Claude {
    names: Names,
    /// What is known of the model's answers, by their ids.
    answers: HashMap<String, ModelAnswer>,
    /// The answer under way of the agent itself, under an empty key, and of each agent it has started, under the id of that call.
    latest: BTreeMap<String, String>,
    /// What the agent has said since the user spoke.
    last_message: String,
    /// Tools it was not allowed to call.
    refused: BTreeSet<String>,
    ended: Option<Result<(), Stop>>,
}

/// The agent's name for a tool.
pub(in crate::agent::command) fn name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{}", plain(tool))
}

impl Claude {
    pub(super) fn new(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// The servers as the agent finds them when it starts: that it cannot use one is in no other event.
    fn check_servers(&self, event: &Value) -> Option<Stop> {
        let servers = event["mcp_servers"].as_array()?;
        let mut unusable = Vec::new();
        let mut missing: BTreeSet<&str> = self.names.servers().collect();
        for server in servers {
            let known = server["name"].as_str();
            let Some(known) = known.and_then(|it| self.names.server(it)) else {
                continue;
            };
            missing.remove(known);
            let status = server["status"].as_str().unwrap_or_default();
            if !matches!(status, "" | "connected" | "pending") {
                unusable.push(format!("`{known}` ({status})"));
            }
        }
        let message = if !unusable.is_empty() {
            format!("Claude Code cannot use the server {}", unusable.join(", "))
        } else if !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(|it| format!("`{it}`")).collect();
            let missing = missing.join(", ");
            format!(
                "Claude Code was not given the server {missing}: `agent.command` needs `--mcp-config ${{mcp_config}}`"
            )
        } else {
            return None;
        };
        Some(Stop::Error(SetupError::new(message)))
    }

    /// An answer of the model, or a part of it.
    fn assistant(&mut self, event: &Value) -> Vec<AgentEvent> {
        let message = &event["message"];
        // What the agent says in place of a model that gave no answer; the result says it again.
        if event["is_api_error_message"] == true || message["model"] == "<synthetic>" {
            return Vec::new();
        }
        let mut events = self.answer(event, message);
        let is_own = event["parent_tool_use_id"].is_null();
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") if is_own => {
                    let said = text(&block["text"]).unwrap_or_default();
                    if !said.trim().is_empty() {
                        self.last_message.clone_from(&said);
                        events.push(AgentEvent::Assistant(said));
                    }
                }
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    events.push(AgentEvent::Call {
                        id: text(&block["id"]).unwrap_or_default(),
                        name: self.names.full(block["name"].as_str().unwrap_or_default()),
                        arguments: members(&block["input"]),
                    });
                }
                _ => {}
            }
        }
        events
    }

    /// What came of calls.
    fn user(event: &Value) -> Vec<AgentEvent> {
        let blocks = event["message"]["content"].as_array().into_iter().flatten();
        let results = blocks.filter(|it| it["type"] == "tool_result");
        results
            .map(|it| {
                let is_error = it["is_error"] == true;
                answered(&it["tool_use_id"], content(&it["content"]), is_error)
            })
            .collect()
    }

    /// What a message of the model's API contains about an answer.
    fn answer(&mut self, event: &Value, message: &Value) -> Vec<AgentEvent> {
        let Some(id) = text(&message["id"]) else {
            return Vec::new();
        };
        let whose = text(&event["parent_tool_use_id"]).unwrap_or_default();
        self.latest.insert(whose, id.clone());
        let news = ModelAnswer {
            model: text(&message["model"]),
            stop_reason: text(&message["stop_reason"]),
            usage: anthropic::usage(&message["usage"]),
        };
        self.learn(id, news).into_iter().collect()
    }

    /// The end of an answer, with its whole usage.
    fn delta(&mut self, event: &Value) -> Vec<AgentEvent> {
        let inner = &event["event"];
        let whose = event["parent_tool_use_id"].as_str().unwrap_or_default();
        let id = text(&event["api_message_id"]).or_else(|| self.latest.get(whose).cloned());
        let Some(id) = id else { return Vec::new() };
        let news = ModelAnswer {
            model: None,
            stop_reason: text(&inner["delta"]["stop_reason"]),
            usage: anthropic::usage(&inner["usage"]),
        };
        self.learn(id, news).into_iter().collect()
    }

    /// Adds to what is known of an answer, and reports it if that changed anything. Counts only grow.
    fn learn(&mut self, id: String, news: ModelAnswer) -> Option<AgentEvent> {
        let known = self.answers.get(&id);
        let was = known.cloned().unwrap_or_default();
        let answer = ModelAnswer {
            model: was.model.clone().or(news.model),
            stop_reason: news.stop_reason.or_else(|| was.stop_reason.clone()),
            usage: Usage {
                input: was.usage.input.max(news.usage.input),
                output: was.usage.output.max(news.usage.output),
                cache_read: was.usage.cache_read.max(news.usage.cache_read),
                cache_write: was.usage.cache_write.max(news.usage.cache_write),
            },
        };
        if known == Some(&answer) {
            return None;
        }
        self.answers.insert(id.clone(), answer.clone());
        Some(AgentEvent::Request { id, answer })
    }

    fn retry(event: &Value) -> AgentEvent {
        let status = status(&event["error_status"]);
        let said = event["error"].as_str().unwrap_or("no answer");
        let pause = event["retry_delay_ms"].as_f64();
        AgentEvent::Retry {
            status,
            problem: match status {
                Some(status) => format!("HTTP {status}: {said}"),
                None => said.to_owned(),
            },
            pause: pause.and_then(|it| Duration::try_from_secs_f64(it / 1000.0).ok()),
        }
    }

    /// Says once of each tool that the agent was not allowed to call it.
    fn refusal(&mut self, tool: &Value) -> Option<AgentEvent> {
        let known = tool.as_str()?;
        let tool = self.names.full(known);
        self.refused.insert(tool.clone()).then(|| {
            AgentEvent::Note(format!(
                "Claude Code did not let its model call `{tool}`: allow it with `--allowedTools {known}` in `agent.command`"
            ))
        })
    }

    fn result(&mut self, event: &Value) -> Vec<AgentEvent> {
        let said = event["result"].as_str().unwrap_or_default().trim();
        let mut events = Vec::new();
        if event["is_error"] != true
            && !said.is_empty()
            && !self.last_message.trim_end().ends_with(said)
        {
            events.push(AgentEvent::Assistant(said.to_owned()));
        }
        let denials = event["permission_denials"].as_array();
        for denial in denials.into_iter().flatten() {
            events.extend(self.refusal(&denial["tool_name"]));
        }
        if let Some(id) = self.latest.get("").cloned() {
            let news = ModelAnswer {
                stop_reason: text(&event["stop_reason"]),
                ..ModelAnswer::default()
            };
            events.extend(self.learn(id, news));
        }
        // `usage` leaves out the agents that this one has started.
        let models = event["modelUsage"].as_object();
        let of_models = models.into_iter().flatten().map(|(_, it)| Usage {
            input: it["inputTokens"].as_u64(),
            output: it["outputTokens"].as_u64(),
            cache_read: it["cacheReadInputTokens"].as_u64(),
            cache_write: it["cacheCreationInputTokens"].as_u64(),
        });
        let total = of_models.reduce(Usage::and);
        let total = total.unwrap_or_else(|| anthropic::usage(&event["usage"]));
        let cost = event["total_cost_usd"].as_f64();
        if total.total().is_some_and(|it| it > 0) {
            events.push(AgentEvent::Total { usage: total, cost });
        }
        self.ended = Some(end(event, said));
        events
    }
}

impl Events for Claude {
    fn read(&mut self, event: &Value) -> Vec<AgentEvent> {
        let subtype = event["subtype"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "system" if subtype == "init" => {
                let stop = self.check_servers(event).map(AgentEvent::Stop);
                own_tools(event).into_iter().chain(stop).collect()
            }
            "system" if subtype == "api_retry" => vec![Self::retry(event)],
            "system" if subtype == "permission_denied" => {
                self.refusal(&event["tool_name"]).into_iter().collect()
            }
            "assistant" => self.assistant(event),
            "user" => Self::user(event),
            "stream_event" => match event["event"]["type"].as_str() {
                Some("message_start") => self.answer(event, &event["event"]["message"]),
                Some("message_delta") => self.delta(event),
                _ => Vec::new(),
            },
            "result" => self.result(event),
            _ => Vec::new(),
        }
    }

    fn ending(&mut self) -> Option<Result<(), Stop>> {
        self.ended.take()
    }

    fn format(&self) -> (&'static str, &'static str) {
        ("Claude Code", "--output-format stream-json --verbose")
    }
}

/// The tools that it has besides those of servers.
fn own_tools(event: &Value) -> Option<AgentEvent> {
    let tools = event["tools"].as_array()?.iter().filter_map(Value::as_str);
    let own = tools.filter(|it| !it.starts_with("mcp__"));
    let own: Vec<String> = own.map(str::to_owned).collect();
    (!own.is_empty()).then_some(AgentEvent::OwnTools(own))
}

/// What the result says of how it went. Errors of the model's API come as a success that is an error.
fn end(event: &Value, said: &str) -> Result<(), Stop> {
    let subtype = event["subtype"].as_str().unwrap_or_default();
    let errors = event["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
    let said = if errors.is_empty() {
        said.to_owned()
    } else {
        errors.join("; ")
    };
    let said = beginning(&said, EXCERPT).into_owned();
    let limit = |option: &str| {
        let message = format!("`{option}` of Claude Code ended the run: {said}");
        Err(Stop::LimitReached { message })
    };
    let message = match (subtype, status(&event["api_error_status"])) {
        ("error_max_turns", _) => return limit("--max-turns"),
        ("error_max_budget_usd", _) => return limit("--max-budget-usd"),
        ("success", _) if event["is_error"] != true => return Ok(()),
        ("success", Some(status)) => {
            format!("the model of Claude Code gave no answer (HTTP {status}): {said}")
        }
        ("success", None) => format!("Claude Code ended with an error: {said}"),
        (other, _) => format!("Claude Code ended with `{other}`: {said}"),
    };
    Err(Stop::Error(SetupError::new(message)))
}
