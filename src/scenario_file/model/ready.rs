//! Readiness checks: calls and pages that prove that servers can be asked.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::model::Object;
use crate::model::json_path::JsonPath;
use crate::model::rules::Rules;

/// What must hold before a run begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// Tools that must be listed.
    pub tools: Vec<String>,
    /// How many tools must be listed at least.
    pub min_tools: usize,
    /// What is asked, in order; all of it must be answered as expected in the same round.
    pub calls: Vec<ReadyCall>,
    /// Pages that must answer as expected.
    pub http: Vec<HealthPage>,
    /// How long the tools and the answers to the calls must have stayed the same.
    pub settle: Duration,
    /// How long to wait before asking again; `None` for hardly at all at first, then longer.
    pub interval: Option<Duration>,
    /// How long it may take in all.
    pub timeout: Duration,
}

/// A tool call that only asks whether a server is ready. It is no part of any trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyCall {
    /// `None` where the tool's name says it, or there is only one.
    pub server: Option<String>,
    /// The bare name, or `mcp__<server>__<tool>`.
    pub tool: String,
    pub arguments: Object,
    pub expect: Expected,
}

/// A page of a server's REST interface.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthPage {
    pub at: PageAddress,
    /// With `${…}` not yet filled in.
    pub headers: Vec<(String, String)>,
    pub status: u16,
    pub expect: Expected,
}

/// Where a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAddress {
    /// Below the origin of a server; `None` where there is only one with an origin.
    Path {
        server: Option<String>,
        path: String,
    },
    /// Somewhere else.
    Url(String),
}

/// What an answer must hold. With nothing said, an answer that is no error is enough.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The answer must be an error.
    pub is_error: bool,
    /// This text is somewhere in the answer.
    pub text: Option<String>,
    /// What must be found at a place in its JSON.
    pub at: Option<(JsonPath, AtPath)>,
}

impl fmt::Display for Expected {
    /// `is_error, text "a", /n: 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_error = self.is_error.then(|| "is_error".to_owned());
        let text = self.text.as_ref().map(|it| format!("text {it:?}"));
        let at = self.at.as_ref().map(|(path, at)| match at {
            AtPath::Equals(value) => format!("{path}: {value}"),
            AtPath::Exists(true) => format!("{path} exists"),
            AtPath::Exists(false) => format!("{path} does not exist"),
            AtPath::MinItems(count) => format!("{path}: {count} or more"),
        });
        let parts: Vec<String> = [is_error, text, at].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// What the answer to a read must hold before a script goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    pub expect: Expected,
    /// How long the read is repeated for that.
    pub timeout: Duration,
}

/// What must be found at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum AtPath {
    /// This value.
    Equals(Value),
    /// Anything but `null`, or nothing at all.
    Exists(bool),
    /// A list of so many items; for a path with `*`, so many places.
    MinItems(usize),
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            min_tools: 0,
            calls: Vec::new(),
            http: Vec::new(),
            settle: Duration::ZERO,
            interval: None,
            timeout: Duration::from_secs(60),
        }
    }
}

/// First words of names of tools that only read, and of tools that do not.
const READING: [&str; 20] = [
    "check", "count", "describe", "echo", "fetch", "find", "get", "has", "health", "is", "list",
    "look", "ping", "poll", "query", "read", "retrieve", "search", "show", "status",
];
const CHANGING: [&str; 26] = [
    "add", "append", "approve", "cancel", "clear", "close", "create", "delete", "disable", "drop",
    "edit", "enable", "insert", "move", "patch", "post", "put", "remove", "rename", "reset",
    "restart", "send", "set", "update", "upload", "write",
];

impl ReadyCall {
    /// Whether asking changes something, where that is known: by what the scenario says of the tool, by what the server does (its
    /// `readOnlyHint`), else by the operation, which is the `operation` argument or the tool's name.
    pub fn changes(&self, read_only_hint: Option<bool>, rules: &Rules) -> Option<bool> {
        let is_read = rules.reads.iter().any(|rule| {
            let tail = self.tool.strip_suffix(rule.tool.as_str());
            let is_tool = tail.is_some_and(|it| it.is_empty() || it.ends_with("__"));
            let mut given = rule.arguments.iter();
            is_tool && given.all(|(name, value)| self.arguments.get(name) == Some(value))
        });
        if is_read {
            return Some(false);
        }
        if let Some(reads) = read_only_hint {
            return Some(!reads);
        }
        let tool = self.tool.rsplit("__").next().unwrap_or(&self.tool);
        let operation = self.arguments.get("operation").and_then(Value::as_str);
        let operation = operation.unwrap_or(tool).to_lowercase();
        let word = operation.split(['_', '-', '.', ' ', '/']).next();
        let word = word.unwrap_or_default();
        match (READING.contains(&word), CHANGING.contains(&word)) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        }
    }
}
