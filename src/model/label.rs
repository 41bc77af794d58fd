//! The purpose of a call whose tool only passes calls on: gateways have one tool that calls all others.
//!
//! A label is for people alone. Nothing is matched, scored or stored by it.

use serde_json::Value;

use crate::ToolCall;
use crate::text::beginning;

/// The longest label, in characters.
const LONGEST: usize = 60;

/// Tools that usually pass calls on.
const META_TOOLS: [&str; 11] = [
    "call",
    "call_tool",
    "call_tool_destructive",
    "call_tool_read",
    "call_tool_write",
    "execute",
    "execute_tool",
    "invoke_tool",
    "run_tool",
    "tool_call",
    "use_tool",
];

/// The arguments that usually name the tool, and the server that has it.
const TOOL_NAMES: [&str; 3] = ["tool_name", "name", "tool"];
const SERVER_NAMES: [&str; 2] = ["server_name", "server"];

/// How calls are labelled besides the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// A tool's bare or full name, and the way to the text in its arguments.
    pub own: Vec<(String, Vec<String>)>,
}

impl Labels {
    /// What a call is for, shortened: `everything:echo`; `None` where its tool says it already.
    pub fn of(&self, call: &ToolCall) -> Option<String> {
        let full = call.full_name();
        let mut own = self.own.iter();
        let label = match own.find(|(tool, _)| *tool == call.tool || *tool == full) {
            Some((_, way)) => at(call, way)?.to_owned(),
            None => usual(call)?,
        };
        let label = label.trim();
        (!label.is_empty()).then(|| beginning(label, LONGEST).into_owned())
    }
}

fn usual(call: &ToolCall) -> Option<String> {
    if !META_TOOLS.contains(&call.tool.as_str()) {
        return None;
    }
    let first = |names: &[&str]| {
        let mut given = names.iter().filter_map(|it| call.arguments.get(*it));
        given.find_map(Value::as_str).map(str::to_owned)
    };
    let tool = first(&TOOL_NAMES)?;
    Some(match first(&SERVER_NAMES) {
        Some(server) => format!("{server}:{tool}"),
        None => tool,
    })
}

fn at<'c>(call: &'c ToolCall, way: &[String]) -> Option<&'c str> {
    let (first, rest) = way.split_first()?;
    let mut value = call.arguments.get(first)?;
    for step in rest {
        value = match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            other => other.get(step)?,
        };
    }
    value.as_str()
}

/// A tool with its label, for people: `call_tool_read → everything:echo`.
pub fn labelled(tool: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{tool} → {label}"),
        None => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Labels;
    use crate::{Answer, Object, Outcome, ToolCall};

    fn call(tool: &str, arguments: &serde_json::Value) -> ToolCall {
        ToolCall::new(
            Some("p".to_owned()),
            tool.to_owned(),
            arguments.as_object().cloned().unwrap_or_else(Object::new),
            Outcome::Answer(Answer::default()),
        )
    }

    #[test]
    fn calls_are_labelled_by_what_they_are_for() {
        let way = |steps: &[&str]| steps.iter().map(|it| (*it).to_owned()).collect();
        let labels = Labels {
            own: vec![
                ("dispatch".to_owned(), way(&["steps", "1", "do"])),
                ("mcp__p__execute".to_owned(), way(&["script"])),
            ],
        };
        let cases = [
            (
                "call_tool_read",
                json!({ "name": "everything:echo" }),
                Some("everything:echo"),
            ),
            (
                "execute_tool",
                json!({ "server_name": "git", "tool_name": "log" }),
                Some("git:log"),
            ),
            ("use_tool", json!({ "tool": "log", "name": 7 }), Some("log")),
            ("call", json!({ "server": "git" }), None),
            ("call_tool", json!({ "name": "  " }), None),
            ("echo", json!({ "name": "me" }), None),
            (
                "dispatch",
                json!({ "steps": [{}, { "do": "sweep" }] }),
                Some("sweep"),
            ),
            ("dispatch", json!({ "steps": [{ "do": "sweep" }] }), None),
            // What the scenario says takes the place of what is usual.
            (
                "execute",
                json!({ "name": "n", "script": "a.js" }),
                Some("a.js"),
            ),
            ("execute", json!({ "name": "n" }), None),
        ];
        for (tool, arguments, expected) in cases {
            let label = labels.of(&call(tool, &arguments));
            assert_eq!(label.as_deref(), expected, "{tool} {arguments}");
        }
        let long = json!({ "name": "several words ".repeat(20) });
        let label = labels.of(&call("call_tool", &long)).unwrap();
        assert!(
            label.chars().count() <= 61 && label.ends_with('…'),
            "{label}"
        );
    }
}
