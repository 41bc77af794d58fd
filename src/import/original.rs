//! `detailed_log.json` of the original tool (smart-mcp-proxy/mcp-eval).

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::import::unwrap::blocks;
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::stamp::{GitCommit, GitStamp, Stamp};
use crate::model::trajectory::{
    Answer, Ending, Failure, FailureKind, Outcome, Step, ToolCall, Trajectory,
};
use crate::text::shorten;

/// Why a text is no recording of the original tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("it is cut off: it ends in the middle of its JSON")]
    CutOff,
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is no recording of the original tool: {0}")]
    NotARecording(String),
}

/// Reads a `detailed_log.json`; `id` becomes the scenario's id.
///
/// Tools named `mcp__<server>__<tool>` are split and scored, others are kept without a server and are not. Messages give the order; a call
/// the messages lack is taken from the summary of calls.
///
/// # Errors
///
/// An [`ImportError`] when the text is cut off, is no JSON, or holds neither messages nor calls.
pub fn original(text: &str, id: &str) -> Result<Trajectory, ImportError> {
    let log: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            ImportError::CutOff
        } else {
            ImportError::NotJson(error.to_string())
        }
    })?;
    let messages = log.get("messages").and_then(Value::as_array);
    let summary = log.get("tool_calls_summary").and_then(Value::as_array);
    if messages.is_none() && summary.is_none() {
        return Err(ImportError::NotARecording(
            "it holds neither `messages` nor `tool_calls_summary`".to_owned(),
        ));
    }
    let messages = messages.map(Vec::as_slice).unwrap_or_default();
    let summary = summary.map(Vec::as_slice).unwrap_or_default();
    let started = time(log.get("execution_time"));
    let mut reader = Reader {
        servers: servers(messages),
        results: results(messages, summary),
        started,
        steps: Vec::new(),
    };
    if let Some(intent) = log.get("user_intent").and_then(Value::as_str) {
        reader.steps.push(Step::User {
            text: intent.to_owned(),
        });
    }
    for message in messages {
        reader.message(message)?;
    }
    reader.calls_without_message(messages, summary)?;
    let last = messages.last().and_then(|it| time(it.get("timestamp")));
    Ok(Trajectory {
        scenario: id.to_owned(),
        name: log
            .get("scenario")
            .and_then(Value::as_str)
            .unwrap_or(id)
            .to_owned(),
        scenario_hash: None,
        stamp: Stamp {
            recorded_at: started.unwrap_or_default(),
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            agent: "imported".to_owned(),
            scenarios: GitStamp::Unknown {
                reason: "imported from a recording of the original tool".to_owned(),
            },
            source: log.get("mcpproxy_git_info").and_then(source),
        },
        catalogue: catalogue(&log, &reader.servers),
        steps: reader.steps,
        ending: ending(&log),
        duration_ms: started.zip(last).map(|(from, to)| milliseconds(from, to)),
        volatile: Vec::new(),
    })
}

/// What a call was answered, and when.
struct Recorded {
    content: Value,
    is_error: bool,
    error: Option<String>,
    at: Option<Timestamp>,
}

struct Reader {
    servers: Vec<String>,
    results: HashMap<String, Recorded>,
    started: Option<Timestamp>,
    steps: Vec<Step>,
}

impl Reader {
    fn message(&mut self, message: &Value) -> Result<(), ImportError> {
        let content = message.get("content").unwrap_or(&Value::Null);
        let kind = message
            .get("type")
            .or_else(|| content.get("_type"))
            .and_then(Value::as_str);
        if kind != Some("AssistantMessage") {
            return Ok(());
        }
        let said = content.get("content").unwrap_or(&Value::Null);
        if let Some(text) = said.as_str() {
            self.steps.push(Step::Assistant {
                text: text.to_owned(),
            });
        }
        for block in said.as_array().into_iter().flatten() {
            if let Some(text) = block.get("text").and_then(Value::as_str) {
                self.steps.push(Step::Assistant {
                    text: text.to_owned(),
                });
            } else if let Some(name) = block.get("name").and_then(Value::as_str) {
                let id = block.get("id").and_then(Value::as_str).unwrap_or_default();
                self.call(name, id, block.get("input"), time(message.get("timestamp")))?;
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        name: &str,
        id: &str,
        input: Option<&Value>,
        at: Option<Timestamp>,
    ) -> Result<(), ImportError> {
        let arguments = match input {
            None | Some(Value::Null) => serde_json::Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(other) => {
                let shown = shorten(&other.to_string(), 80).into_owned();
                return Err(ImportError::NotARecording(format!(
                    "the arguments of `{name}` are no object: {shown}"
                )));
            }
        };
        let (server, tool) = split(name, &self.servers);
        let result = self.results.remove(id);
        let answered = result.as_ref().and_then(|it| it.at);
        self.steps.push(Step::ToolCall(Box::new(ToolCall {
            server,
            tool,
            arguments,
            outcome: outcome(result),
            start_ms: self
                .started
                .zip(at)
                .map(|(from, to)| milliseconds(from, to)),
            duration_ms: at.zip(answered).map(|(from, to)| milliseconds(from, to)),
        })));
        Ok(())
    }

    /// Calls that only the summary knows.
    fn calls_without_message(
        &mut self,
        messages: &[Value],
        summary: &[Value],
    ) -> Result<(), ImportError> {
        let told: Vec<&str> = messages.iter().flat_map(uses).collect();
        for (number, call) in summary.iter().enumerate() {
            let id = call.get("tool_id").and_then(Value::as_str);
            if id.is_some_and(|it| told.contains(&it)) || (id.is_none() && !told.is_empty()) {
                continue;
            }
            let Some(name) = call.get("tool_name").and_then(Value::as_str) else {
                return Err(ImportError::NotARecording(format!(
                    "call {} has no `tool_name`",
                    number + 1
                )));
            };
            let id = id.map_or_else(|| format!("#{number}"), str::to_owned);
            self.call(
                name,
                &id,
                call.get("tool_input"),
                time(call.get("timestamp")),
            )?;
        }
        Ok(())
    }
}

/// The ids of the calls a message makes.
fn uses(message: &Value) -> impl Iterator<Item = &str> {
    let content = message
        .get("content")
        .and_then(|it| it.get("content"))
        .and_then(Value::as_array);
    let blocks = content
        .into_iter()
        .flatten()
        .filter(|it| it.get("name").is_some());
    blocks.filter_map(|it| it.get("id").and_then(Value::as_str))
}

/// The servers the session was connected to, as its first message names them.
fn servers(messages: &[Value]) -> Vec<String> {
    let listed = messages.iter().filter_map(|it| {
        it.get("content")?
            .get("data")?
            .get("mcp_servers")?
            .as_array()
    });
    listed
        .flatten()
        .filter_map(|it| Some(it.get("name")?.as_str()?.to_owned()))
        .collect()
}

/// All results by the id of their call: from the messages, else from the summary.
fn results(messages: &[Value], summary: &[Value]) -> HashMap<String, Recorded> {
    let mut results = HashMap::new();
    for (number, call) in summary.iter().enumerate() {
        let id = call
            .get("tool_id")
            .and_then(Value::as_str)
            .map_or_else(|| format!("#{number}"), str::to_owned);
        let response = call.get("response").filter(|it| !it.is_null());
        let error = call.get("error").and_then(Value::as_str).map(str::to_owned);
        if response.is_some() || error.is_some() {
            results.insert(
                id,
                Recorded {
                    content: response
                        .and_then(|it| it.get("content"))
                        .cloned()
                        .unwrap_or_default(),
                    is_error: is_true(response.and_then(|it| it.get("is_error"))),
                    error,
                    at: None,
                },
            );
        }
    }
    for message in messages {
        let content = message
            .get("content")
            .and_then(|it| it.get("content"))
            .and_then(Value::as_array);
        for block in content.into_iter().flatten() {
            let Some(id) = block.get("tool_use_id").and_then(Value::as_str) else {
                continue;
            };
            let at = time(message.get("timestamp"));
            let known = results.entry(id.to_owned()).or_insert_with(|| Recorded {
                content: block.get("content").cloned().unwrap_or_default(),
                is_error: is_true(block.get("is_error")),
                error: None,
                at,
            });
            known.at = at;
            known.is_error |= is_true(block.get("is_error"));
        }
    }
    results
}

fn outcome(result: Option<Recorded>) -> Outcome {
    let failure = |message: String| {
        Outcome::Failure(Failure {
            kind: FailureKind::InvalidResponse,
            message,
            code: None,
            data: None,
        })
    };
    match result {
        None => failure("the recording holds no answer".to_owned()),
        Some(Recorded {
            content: Value::Null,
            error: Some(error),
            ..
        }) => failure(error),
        Some(result) => Outcome::Answer(Answer {
            is_error: result.is_error,
            content: blocks(&result.content),
            ..Answer::default()
        }),
    }
}

/// The server and the tool of `mcp__<server>__<tool>`; the longest known server that fits wins, because names may hold `__` themselves.
fn split(name: &str, servers: &[String]) -> (Option<String>, String) {
    let Some(rest) = name.strip_prefix("mcp__") else {
        return (None, name.to_owned());
    };
    let known = servers
        .iter()
        .filter_map(|server| {
            Some((
                server,
                rest.strip_prefix(server.as_str())?.strip_prefix("__")?,
            ))
        })
        .max_by_key(|(server, _)| server.len())
        .map(|(server, tool)| (server.as_str(), tool));
    match known.or_else(|| rest.split_once("__")) {
        Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
        None => (None, name.to_owned()),
    }
}

/// The tools the log knows, where it discovered any.
fn catalogue(log: &Value, servers: &[String]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let listed = log
        .get("available_tools")
        .and_then(|it| it.get("tools"))
        .and_then(Value::as_array);
    for tool in listed.into_iter().flatten() {
        let Some(name) = tool.get("name").and_then(Value::as_str) else {
            continue;
        };
        let (owner, bare) = split(name, servers);
        let Some(server) =
            owner.or_else(|| servers.first().filter(|_| servers.len() == 1).cloned())
        else {
            continue;
        };
        let mut members = tool.as_object().cloned().unwrap_or_default();
        members.insert("name".to_owned(), Value::String(bare));
        let place = catalogue
            .servers
            .iter()
            .position(|it| it.server == server)
            .unwrap_or_else(|| {
                catalogue.servers.push(ServerCatalogue {
                    server,
                    ..ServerCatalogue::default()
                });
                catalogue.servers.len() - 1
            });
        catalogue.servers[place]
            .tools
            .push(Tool { served: members });
    }
    catalogue
}

fn ending(log: &Value) -> Ending {
    let status = log
        .get("execution_status")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if is_true(log.get("early_stopped")) || status.eq_ignore_ascii_case("blocked") {
        return Ending::Blocked {
            message: format!(
                "the original run ended early: {}",
                if status.is_empty() { "unknown" } else { status }
            ),
        };
    }
    Ending::Completed
}

fn source(info: &Value) -> Option<GitStamp> {
    let field = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
    let commit = field("git_hash")?;
    Some(GitStamp::Known(GitCommit {
        short: field("git_hash_short").unwrap_or_else(|| commit.chars().take(7).collect()),
        branch: field("branch"),
        describe: None,
        subject: field("commit_message").unwrap_or_default(),
        committed_at: field("commit_date").unwrap_or_default(),
        dirty: false,
        commit,
    }))
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or(false)
}

/// A time as the original tool writes it: local, without an offset. Taken as UTC, which is as good for telling times apart.
fn time(value: Option<&Value>) -> Option<Timestamp> {
    let text = value?.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

fn milliseconds(from: Timestamp, to: Timestamp) -> f64 {
    let duration = to.duration_since(from);
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}
