//! The conversation of a recording, step by step.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::import::blocks::{served, summarised};
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::trajectory::{Answer, FailureKind, Outcome, Step, ToolCall};

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

/// The servers the session was connected to, as its first message names them.
pub(super) fn servers(messages: &[Value]) -> Vec<String> {
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

/// The server and the tool of `mcp__<server>__<tool>`, and the bare name of a tool that is no MCP tool.
///
/// The longest known server that fits wins, because names may hold `__` themselves. Sessions write any other sign in a server's name
/// than letters, digits, `_` and `-` as `_`.
pub(super) fn split(name: &str, servers: &[String]) -> (Option<String>, String) {
    let Some(rest) = name.strip_prefix("mcp__") else {
        return (None, name.to_owned());
    };
    let fits = |server: &str| {
        rest.strip_prefix(&*in_tool_names(server))?
            .strip_prefix("__")
    };
    let known = servers
        .iter()
        .filter_map(|server| Some((server.as_str(), fits(server)?)))
        .max_by_key(|(server, _)| server.len());
    match known
        .or_else(|| rest.split_once("__"))
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    {
        Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
        None => (None, name.to_owned()),
    }
}

fn in_tool_names(server: &str) -> String {
    let is_kept = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    server
        .chars()
        .map(|it| if is_kept(it) { it } else { '_' })
        .collect()
}

/// The tools the log knows, where it discovered any.
///
/// Some versions of the tool asked the model for its tools and kept the calls it made. Those are no list of what was offered, and
/// would show as drift, so only entries with a description or a schema count.
pub(super) fn catalogue(log: &Value, servers: &[String]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut indices = HashMap::new();
    let listed = log
        .get("available_tools")
        .and_then(|it| it.get("tools"))
        .and_then(Value::as_array);
    for mut served in listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .cloned()
    {
        if let Some(schema) = served.remove("input_schema") {
            served.entry("inputSchema").or_insert(schema);
        }
        let Some(name) = served.get("name").and_then(Value::as_str) else {
            continue;
        };
        if !served.contains_key("inputSchema") && !served.contains_key("description") {
            continue;
        }
        let (server, bare) = split(name, servers);
        let only = servers.first().filter(|_| servers.len() == 1);
        let Some(server) = server.or_else(|| only.cloned()) else {
            continue;
        };
        served.insert("name".to_owned(), Value::String(bare));
        let index = *indices.entry(server.clone()).or_insert_with(|| {
            catalogue.servers.push(ServerCatalogue {
                server,
                ..ServerCatalogue::default()
            });
            catalogue.servers.len() - 1
        });
        catalogue.servers[index].tools.push(Tool { served });
    }
    catalogue
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::import::steps::{Tool, catalogue, split};

    #[test]
    fn the_longest_known_server_wins() {
        let servers = ["front", "front__desk", "my desk"].map(str::to_owned);
        for (name, server, tool) in [
            ("mcp__front__note", Some("front"), "note"),
            ("mcp__front__desk__greet", Some("front__desk"), "greet"),
            ("mcp__my_desk__greet", Some("my desk"), "greet"),
            ("mcp__other__a__b", Some("other"), "a__b"),
            ("mcp__front", None, "mcp__front"),
            ("mcp____x", None, "mcp____x"),
            ("mcp__front__", None, "mcp__front__"),
            ("TodoWrite", None, "TodoWrite"),
        ] {
            let expected = (server.map(str::to_owned), tool.to_owned());
            assert_eq!(split(name, &servers), expected, "{name}");
        }
    }

    #[test]
    fn only_what_was_offered_is_in_the_catalogue() {
        let log = json!({ "available_tools": { "tools": [
            { "name": "mcp__front__note", "description": "Notes", "input_schema": { "type": "object" } },
            { "name": "mcp__front__look", "id": "t1", "input": { "at": 1 }, "discovered_via": "tool_call" },
            { "name": "bare", "inputSchema": {} },
            { "description": "nameless" },
        ] } });
        let known = catalogue(&log, &["front".to_owned()]);
        assert_eq!(known.servers.len(), 1);
        let tools: Vec<&str> = known.servers[0].tools.iter().map(Tool::name).collect();
        assert_eq!(tools, ["note", "bare"]);
        assert!(known.servers[0].tools[0].input_schema().is_some());
        assert!(catalogue(&log, &[]).tool("front", "note").is_some());
        assert!(catalogue(&log, &[]).tool("front", "bare").is_none());
    }
}
