//! Causes of failure that several scenarios have in common.

use std::collections::HashMap;

use crate::published::result::{Call, Cause, Reason, ReasonKind, Row, Scenario, Status};

/// Stands for any number.
const NUMBER: char = '#';

/// Why scenarios failed, each cause once with the scenarios it failed, the one with the most of them first.
///
/// Only root reasons count, because what follows from one has the same cause. A low score, and an unmet expectation of a single scenario, are
/// left out, because scenarios do not share them.
pub fn causes(scenarios: &[Scenario]) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let failed = scenarios
        .iter()
        .filter(|it| it.status == Status::Failed || it.status == Status::Inconclusive);
    for scenario in failed {
        for reason in scenario.comparison.iter().flat_map(|it| &it.reasons) {
            let Some(text) = sentence(scenario, reason) else {
                continue;
            };
            let at = *by_key.entry(key(&text)).or_insert_with(|| {
                found.push(Cause {
                    text,
                    scenarios: Vec::new(),
                });
                found.len() - 1
            });
            if found[at].scenarios.last() != Some(&scenario.id) {
                found[at].scenarios.push(scenario.id.clone());
            }
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.scenarios.len()));
    found
}

/// The sentence of a root reason without the numbers of calls, which differ between scenarios.
fn sentence(scenario: &Scenario, reason: &Reason) -> Option<String> {
    match reason.kind {
        ReasonKind::Drift => Some(reason.text.clone()),
        ReasonKind::Upstream => Some(behind_call(scenario, reason)),
        ReasonKind::ServerRegression
        | ReasonKind::EffectChange
        | ReasonKind::Strict
        | ReasonKind::Slower => Some(of_call(scenario, reason)),
        ReasonKind::Threshold
        | ReasonKind::Tokens
        | ReasonKind::Match
        | ReasonKind::Expectation => None,
    }
}

/// ``every `tools/*/name` of `retrieve_tools` gained `everything:` ``.
fn of_call(scenario: &Scenario, reason: &Reason) -> String {
    let Some((named, what)) = without_number(&reason.text) else {
        return reason.text.clone();
    };
    let row = row_of(scenario, reason);
    let tool = row.map_or_else(|| named.to_owned(), Row::tool_name);
    // The label of the call goes with its tool's name.
    let label = row.and_then(|it| it.label.as_deref());
    let rest = label.and_then(|it| what.strip_prefix("→ ")?.strip_prefix(it));
    let what = rest.map_or(what, |it| it.trim_start_matches(',').trim_start());
    let change = what
        .strip_prefix("asked the same and got another answer: ")
        .or_else(|| what.strip_prefix("changes something and had another result: "));
    let Some(change) = change else {
        return format!("`{tool}` {what}");
    };
    // What a generalised change is about stands in back quotes after one word: "every `tools/*/name` …", "3 of 5 `name` …".
    match change.match_indices('`').nth(1) {
        Some((end, _)) if is_generalised(change) => {
            let (place, rest) = change.split_at(end + 1);
            format!("{place} of `{tool}`{rest}")
        }
        _ => format!("`{tool}` answers otherwise: {change}"),
    }
}

/// ``behind `call_tool_write → files:write`, `files` heard `write` twice``, of a sentence that begins with the agent's call: ``call 3 (now 4)
/// `call_tool_write`: behind it, …``.
fn behind_call(scenario: &Scenario, reason: &Reason) -> String {
    let text = reason.text.as_str();
    let of_call = text.strip_prefix("new ").unwrap_or(text);
    let row = row_of(scenario, reason);
    // The label may hold anything.
    let name = row.map_or_else(String::new, Row::tool_name);
    let after_call = of_call.strip_prefix("call ").and_then(|it| {
        let after_name = it.split_once(&format!("{name}`: "));
        after_name.or_else(|| it.split_once("`: "))
    });
    let Some((_, what)) = after_call else {
        return text.to_owned();
    };
    let tool = row.map(Row::tool_name);
    match (tool, what.strip_prefix("behind it, ")) {
        (Some(tool), Some(heard)) => format!("behind `{tool}`, {heard}"),
        (Some(tool), None) => format!("`{tool}`: {what}"),
        (None, _) => what.to_owned(),
    }
}

fn is_generalised(change: &str) -> bool {
    let begins = change.split('`').next().unwrap_or_default().trim_end();
    let begins = begins.strip_prefix("at least ").unwrap_or(begins);
    begins == "every" || begins.split(" of ").all(|it| it.parse::<usize>().is_ok())
}

/// The tool and what is said of it, where the sentence begins with a call: `call 3 (now 4), mcp__p__t, …`.
fn without_number(text: &str) -> Option<(&str, &str)> {
    let (call, rest) = text.split_once(", ")?;
    let call = call.strip_prefix("new ").unwrap_or(call);
    let number = call.strip_prefix("call ")?;
    if !number.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let (tool, what) = rest.split_once([',', ' '])?;
    Some((tool, what.trim_start()))
}

/// The row of the calls that a reason is about, where it names the tool.
fn row_of<'a>(scenario: &'a Scenario, reason: &Reason) -> Option<&'a Row> {
    let mut rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    rows.find(|row| {
        let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
        row.tool.is_some()
            && number(&row.baseline) == reason.baseline
            && number(&row.current) == reason.current
    })
}

/// The sentence with its numbers masked. Sentences that differ only in numbers have one cause, because ids and times differ between
/// scenarios.
fn key(text: &str) -> String {
    let mut plain = String::new();
    for it in text.chars() {
        if !it.is_ascii_digit() {
            plain.push(it);
        } else if !plain.ends_with(NUMBER) {
            plain.push(NUMBER);
        }
    }
    plain
}
