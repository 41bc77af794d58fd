//! The text of a first scenario for a server: the calls that can be made, and the others as comments that become calls when the `#` is
//! taken away.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::filling;
use super::find::absolute;
use super::rebase::relative;
use crate::model::Object;
use crate::scenario_file::servers::{HttpStyle, Server, Transport};
use crate::scenario_file::yaml::{Scalar, plain_scalar};
use crate::text;

/// How deep arguments may be nested that somebody is to read and change.
const DEPTH: usize = 20;
/// The longest name of a tool, and the longest remark, in characters.
const NAME: usize = 200;
const REMARK: usize = 100;

/// How much of the text calls may take that are not made, and names of tools that are no more than named, in bytes: a scenario of more than a
/// MiB is read by nobody, this program included.
const COMMENTS: usize = 400_000;
const NAMES: usize = 200_000;
/// What stands for a value that cannot be written.
const UNSAYABLE: &str = "...";

/// A first scenario for one server.
#[derive(Debug, Clone)]
pub struct FirstScenario {
    pub name: String,
    /// As it is to be written: without secrets.
    pub server: Server,
    pub calls: Vec<FirstCall>,
}

/// A call of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstCall {
    /// As the server calls it.
    pub tool: String,
    pub arguments: Object,
    /// What the server says the tool is for.
    pub description: Option<String>,
    /// What its readers should know of its answer.
    pub caution: Option<String>,
    /// Why it is a comment; `None` for a call that is made.
    pub why_not: Option<String>,
}

impl FirstCall {
    /// Whether a scenario can say this: double braces would be a variable there.
    pub fn can_be_written(&self) -> bool {
        let name = &self.tool;
        let is_name = !name.trim().is_empty() && name.chars().count() <= NAME;
        let arguments = Value::Object(self.arguments.clone());
        is_name && !name.contains("{{") && is_plain(&arguments, DEPTH)
    }

    /// The same with `...` in the place of arguments that cannot be written, for somebody to fill in.
    #[must_use]
    pub fn as_far_as_it_can_be_written(mut self) -> Self {
        self.arguments.retain(|key, _| !key.contains("{{"));
        for value in self.arguments.values_mut() {
            if !is_plain(value, DEPTH - 1) {
                *value = Value::from(UNSAYABLE);
            }
        }
        self
    }
}

fn is_plain(value: &Value, depth: usize) -> bool {
    let is_text = |it: &str| !it.contains("{{");
    match value {
        Value::String(text) => is_text(text),
        Value::Array(items) => depth > 0 && items.iter().all(|it| is_plain(it, depth - 1)),
        Value::Object(members) => {
            depth > 0 && (members.iter()).all(|(key, it)| is_text(key) && is_plain(it, depth - 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The text of the scenario, for a file in `folder`, and how many tools are no more than named in it: those of calls that cannot be written,
/// and of comments that would be too long.
pub fn first_scenario(scenario: &FirstScenario, folder: &Path) -> (String, usize) {
    let mut text = String::from(
        "# Written by `mcp-eval init`; from here on it is yours. `mcp-eval help scenario` explains every key.\n",
    );
    let server = &scenario.server;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "name: {}", word(&scenario.name));
    let keys = keys(&server.transport, &absolute(folder));
    // What looks like a variable and is none stands for itself.
    let mut own: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, value) in &keys {
        for reference in filling::references(value) {
            own.entry(reference.trim()).or_insert(reference);
        }
    }
    if !own.is_empty() {
        text.push_str("variables: # kept as they are\n");
    }
    for (name, reference) in own {
        let _ = writeln!(
            text,
            "  {}: {}",
            word(name),
            word(&format!("{{{{{reference}}}}}"))
        );
    }
    let _ = writeln!(text, "servers:\n  {}:", word(&server.name));
    for (key, value) in keys {
        let _ = writeln!(text, "    {key}: {value}");
    }
    if let (Transport::Stdio(_), Some(timeout)) = (&server.transport, server.connect_timeout) {
        let seconds = timeout.as_secs();
        let _ = writeln!(
            text,
            "    connect_timeout: {seconds}s # it took its time to start"
        );
    }
    text.push_str(
        "\n# A tool that is gone, or that accepts less than before, fails, whether it is called or not.\nscoring: { drift: fail }\n\n",
    );
    let (writable, mut named): (Vec<_>, Vec<_>) =
        scenario.calls.iter().partition(|it| it.can_be_written());
    let (made, comments): (Vec<_>, Vec<_>) =
        writable.into_iter().partition(|it| it.why_not.is_none());
    if made.is_empty() {
        text.push_str("# Nothing is called yet: what the server lists is compared. Take the `#` away from calls that are to be made.\n");
    }
    text.push_str("expected_trajectory:\n");
    for call in &made {
        described(&mut text, call);
        if let Some(caution) = &call.caution {
            let _ = writeln!(text, "  # {}", remark(first_line(caution)));
        }
        let _ = writeln!(text, "  - tool: {}", word(&tool_name(server, &call.tool)));
        if !call.arguments.is_empty() {
            let _ = writeln!(text, "    args: {}", members(&call.arguments));
        }
    }
    let most = text.len() + COMMENTS;
    for call in comments {
        let comment = comment(server, call);
        if text.len() + comment.len() > most {
            named.push(call);
        } else {
            text.push_str(&comment);
        }
    }
    by_name(&mut text, &named);
    (text, named.len())
}

/// A call as a comment, which becomes a call when the `#` is taken away.
fn comment(server: &Server, call: &FirstCall) -> String {
    let mut text = "\n".to_owned();
    described(&mut text, call);
    if let Some(why) = &call.why_not {
        let _ = writeln!(text, "  # Not called: {}", remark(why));
    }
    let _ = writeln!(text, "  # - tool: {}", word(&tool_name(server, &call.tool)));
    if !call.arguments.is_empty() {
        let _ = writeln!(text, "  #   args: {}", members(&call.arguments));
    }
    text
}

/// Tools that are no more than named.
fn by_name(text: &mut String, calls: &[&FirstCall]) {
    if calls.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n  # Not called, and too long or too odd to be written down:"
    );
    let most = text.len() + NAMES;
    for (index, call) in calls.iter().enumerate() {
        if text.len() > most {
            let _ = writeln!(text, "  # and {} more", calls.len() - index);
            return;
        }
        let _ = writeln!(text, "  # · {}", remark(&call.tool));
    }
}

fn described(text: &mut String, call: &FirstCall) {
    let description = call.description.as_deref().map(first_line);
    if let Some(description) = description.filter(|it| !it.is_empty()) {
        let _ = writeln!(text, "  # {}", remark(description));
    }
}

/// The bare name is enough in a scenario of one server, unless it reads like a full one.
fn tool_name(server: &Server, tool: &str) -> String {
    if tool.starts_with("mcp__") {
        format!("mcp__{}__{tool}", server.name)
    } else {
        tool.to_owned()
    }
}

/// How a server is reached, as keys with their values.
fn keys(transport: &Transport, folder: &Path) -> Vec<(&'static str, String)> {
    let mut keys = Vec::new();
    match transport {
        Transport::Stdio(it) => {
            keys.push(("type", "stdio".to_owned()));
            keys.push(("command", word(&seen_from(folder, &it.command))));
            if !it.args.is_empty() {
                keys.push(("args", list(it.args.iter().map(|it| word(it)))));
            }
            if !it.env.is_empty() {
                keys.push(("env", pairs(&it.env)));
            }
            if let Some(cwd) = &it.cwd {
                keys.push(("cwd", word(&relative(folder, &absolute(cwd)))));
            }
        }
        Transport::Http {
            style,
            url,
            headers,
            bearer_token_env,
            ..
        } => {
            let kind = match style {
                HttpStyle::Streamable => "http",
                HttpStyle::Sse => "sse",
            };
            keys.push(("type", kind.to_owned()));
            keys.push(("url", word(url)));
            if !headers.is_empty() {
                keys.push(("headers", pairs(headers)));
            }
            if let Some(variable) = bearer_token_env {
                keys.push(("bearer_token_env", word(variable)));
            }
        }
        Transport::Mock | Transport::Recorded { .. } => keys.push(("type", "mock".to_owned())),
    }
    keys
}

/// A program by its path, as the file names it: a bare name is looked up, and an absolute path is the same everywhere.
fn seen_from(folder: &Path, command: &str) -> String {
    let path = PathBuf::from(command);
    if !command.contains('/') || path.is_absolute() || command.starts_with("${") {
        return command.to_owned();
    }
    let way = relative(folder, &absolute(&path));
    if way.starts_with("../") {
        way
    } else {
        format!("./{way}")
    }
}

fn pairs(named: &[(String, String)]) -> String {
    let named = named.iter();
    map(named.map(|(name, value)| (name.as_str(), word(value))))
}

fn members(members: &Object) -> String {
    map(members.iter().map(|(key, it)| (key.as_str(), value(it))))
}

fn map<'a>(entries: impl Iterator<Item = (&'a str, String)>) -> String {
    let entries: Vec<String> = entries
        .map(|(key, it)| format!("{}: {it}", word(key)))
        .collect();
    match entries.as_slice() {
        [] => "{}".to_owned(),
        entries => format!("{{ {} }}", entries.join(", ")),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => word(text),
        Value::Array(items) => list(items.iter().map(self::value)),
        Value::Object(object) => members(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text as YAML has it wherever it stands: as it is where it can be nothing else, and in quotes otherwise.
fn word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./@+=".contains(it);
    let mut start = text.trim_start_matches(['-', '.', '/']).chars();
    let is_text = start.next().is_some_and(|it| it.is_ascii_alphabetic())
        && text.chars().all(is_plain)
        && plain_scalar(text) == Ok(Scalar::Text(text.to_owned()));
    // What other readers of YAML take for a truth value, and what begins a document.
    let lower = text.to_ascii_lowercase();
    let is_special =
        ["y", "n", "yes", "no", "on", "off"].contains(&lower.as_str()) || text.starts_with("---");
    if is_text && !is_special {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            it if text::is_hidden(it) || is_no_yaml(it) => {
                let code = u32::from(it);
                let _ = match code {
                    0..=0xffff => write!(quoted, "\\u{code:04x}"),
                    _ => write!(quoted, "\\U{code:08x}"),
                };
            }
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that may not stand in a YAML file as they are.
fn is_no_yaml(it: char) -> bool {
    matches!(it, '\u{fffe}' | '\u{ffff}') || it.is_control()
}

/// A text from outside as a comment.
fn remark(text: &str) -> String {
    let text = text::line(text.trim());
    let text: String = text.chars().filter(|it| !is_no_yaml(*it)).collect();
    text::shorten(&text, REMARK).into_owned()
}

/// The first line that says something, without what would make the comment look like an entry of the list.
fn first_line(text: &str) -> &str {
    let mut lines = text
        .lines()
        .map(|it| it.trim_matches(|it: char| it == '-' || it == '#' || it.is_whitespace()));
    lines.find(|it| !it.is_empty()).unwrap_or_default()
}
