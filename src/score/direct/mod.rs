//! Changes that a proxy makes to answers: those that the agent got, beside those that the servers behind gave.
//!
//! - `answer`: what became of an answer, of its text, and of a value within.
//!
//! The tools of the servers behind are looked for as it lists them: their names there, and what it says of them.

mod answer;

use std::collections::BTreeMap;

use serde_json::Value;

use self::answer::{change, findings};
use crate::text::excerpt;
use model::{
    Cost, Direct, DirectCall, DirectTool, FailureKind, Outcome, Tool, ToolCall, Trajectory,
};

/// What the agent got through a proxy, beside what the servers behind it answered. An answer is compared with the one that was
/// given behind in the same run, so that one that varies by nature is not taken for the proxy's doing. `straight` has what came of each
/// call of the run's second lane when it was made once more, straight at its server, with its time in milliseconds; `None` where it was not.
pub fn direct(run: &Trajectory, straight: &[Option<(Outcome, f64)>]) -> Direct {
    let Some(lane) = &run.upstream else {
        return Direct::default();
    };
    let agents: Vec<&ToolCall> = run.calls().collect();
    let mut calls: Vec<DirectCall> = Vec::new();
    let mut refusals = Vec::new();
    // By the agent's call, where the answer is that it got.
    let mut passed_on: BTreeMap<usize, usize> = BTreeMap::new();
    let not_made = std::iter::repeat(&None);
    for (upstream, straight) in lane.calls.iter().zip(straight.iter().chain(not_made)) {
        let number = upstream.cause.filter(|it| *it > 0);
        let Some((number, call)) = number.and_then(|it| Some((it, *agents.get(it - 1)?))) else {
            continue;
        };
        let answered = match straight {
            Some((outcome, _)) if !is_answered(&upstream.call.outcome) => outcome,
            _ => &upstream.call.outcome,
        };
        let made = DirectCall {
            call: number,
            tool: call.full_name(),
            server: upstream.call.server.clone().unwrap_or_default(),
            upstream_tool: upstream.call.tool.clone(),
            findings: findings(answered, &call.outcome),
            through: cost(&call.outcome, call.duration_ms),
            straight: cost(answered, straight.as_ref().map(|(_, ms)| *ms)),
        };
        refusals.push(refusal(
            &upstream.call.outcome,
            straight.as_ref().map(|(it, _)| it),
        ));
        // Of several calls, the last one's answer is the one that the agent got, or one that it got as it was.
        match passed_on.get(&number).map(|it| &mut calls[*it]) {
            Some(other) if other.findings.is_empty() && !made.findings.is_empty() => {
                calls.push(DirectCall {
                    findings: Vec::new(),
                    ..made
                });
            }
            other => {
                if let Some(other) = other {
                    other.findings.clear();
                }
                passed_on.insert(number, calls.len());
                calls.push(made);
            }
        }
    }
    for (call, refusal) in calls.iter_mut().zip(refusals) {
        call.findings.extend(refusal);
    }
    let offered = lane.catalogue.servers.iter();
    let tools = offered.flat_map(|it| it.tools.iter().map(move |tool| (&it.server, tool)));
    let tools = tools.map(|(server, it)| tool(run, server, it));
    Direct::new(calls, tools.collect())
}

/// Whether a server behind gave an answer, be it an error, before whoever asked had gone.
fn is_answered(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(_) => true,
        Outcome::Failure(it) => it.kind == FailureKind::Rpc,
    }
}

/// That a server behind refused a call which it does not refuse when it is asked straight; `None` where that is not so.
fn refusal(upstream: &Outcome, straight: Option<&Outcome>) -> Option<String> {
    if !is_answered(upstream) || !upstream.is_failure() || straight?.is_failure() {
        return None;
    }
    let said = excerpt::shorten(&upstream.said());
    Some(format!("refused, but not when asked straight: {said}"))
}

fn cost(outcome: &Outcome, ms: Option<f64>) -> Cost {
    let text = match outcome {
        Outcome::Answer(answer) => {
            let mut members = answer.other.clone();
            members.insert("content".to_owned(), answer.content.clone().into());
            if let Some(structured) = &answer.structured_content {
                members.insert("structuredContent".to_owned(), structured.clone());
            }
            Value::Object(members).to_string()
        }
        Outcome::Failure(failure) => failure.message.clone(),
    };
    Cost {
        ms,
        bytes: text.len(),
        tokens: text.chars().count().div_ceil(4),
    }
}

/// What the servers under test list a tool of a server behind as, and what they say of it.
pub(super) fn tool(run: &Trajectory, server: &str, tool: &Tool) -> DirectTool {
    let offered = run.catalogue.servers.iter().flat_map(|it| &it.tools);
    let named = offered.filter_map(|it| Some((name(it.name(), server, tool.name())?, it)));
    let listed = named.max_by_key(|(named, _)| *named).map(|(_, it)| it);
    let members = tool.served.iter().filter(|(key, _)| *key != "name");
    let findings = members.filter_map(|(key, was)| match listed?.served.get(key) {
        Some(now) => change(key, was, now),
        None => Some(format!("`{key}` was lost")),
    });
    DirectTool {
        server: server.to_owned(),
        tool: tool.name().to_owned(),
        findings: findings.collect(),
        listed_as: listed.map(|it| it.name().to_owned()),
    }
}

/// How a proxy's name for a tool tells which one of which server it is, the clearer the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    /// By the tool's name alone.
    Tool,
    /// By the server's name after others, and the tool's: `mcp__files__read`, which may also be of a server `mcp__files`.
    Within,
    /// By the server's name and the tool's: `files__read`.
    Exactly,
}

/// How a proxy's name for a tool stands for that of a server behind it; `None` where it stands for another.
fn name(name: &str, server: &str, tool: &str) -> Option<Named> {
    let before = name.strip_suffix(tool)?;
    if before.is_empty() {
        return Some(Named::Tool);
    }
    let prefix = words(before.strip_suffix(|it: char| !it.is_alphanumeric())?);
    let server = words(server);
    if prefix == server {
        Some(Named::Exactly)
    } else {
        let is_last = !server.is_empty() && prefix.ends_with(&server);
        is_last.then_some(Named::Within)
    }
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|it: char| !it.is_alphanumeric());
    let words = words.filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Named, name};

    #[test]
    fn a_tool_is_known_by_its_name_with_that_of_its_server() {
        let cases = [
            ("read", Some(Named::Tool)),
            ("my_files__read", Some(Named::Exactly)),
            ("My-Files.read", Some(Named::Exactly)),
            ("mcp__my-files__read", Some(Named::Within)),
            ("thread", None),
            ("my-filesread", None),
            ("files__read", None),
            ("dummy_files__read", None),
            ("mail__read", None),
            ("read__my-files", None),
            ("my-files__read_all", None),
        ];
        for (listed, expected) in cases {
            assert_eq!(name(listed, "my-files", "read"), expected, "{listed}");
        }
        assert!(Named::Exactly > Named::Within && Named::Within > Named::Tool);
    }
}
