//! What a proxy does to answers on their way: those that the agent got, beside what the servers behind answer to the same calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::catalogue::Tool;
use crate::model::direct::{Cost, Direct, DirectCall, DirectTool};
use crate::model::trajectory::{Answer, Outcome, ToolCall, Trajectory};
use crate::score::text::excerpt;

/// How many characters of its own a proxy may add where it cuts an answer, such as how to read on.
const NOTICE: usize = 400;

/// How much of an answer must be there in the same words for the rest to have been cut, and not reworded: a fifth.
const KEPT: usize = 5;

/// What the agent got through a proxy, beside what the servers behind it answered when the same calls were made straight at them: an outcome
/// for each call of the run's second lane, with its time in milliseconds; `None` where it was not made.
pub fn direct(run: &Trajectory, straight: &[Option<(Outcome, f64)>]) -> Direct {
    let Some(lane) = &run.upstream else {
        return Direct::default();
    };
    let agents: Vec<&ToolCall> = run.calls().collect();
    let heard = lane.calls.iter().zip(straight);
    let calls = heard.enumerate().filter_map(|(index, (heard, straight))| {
        let number = heard.cause?;
        let call = agents.get(number.checked_sub(1)?)?;
        let (outcome, ms) = straight.as_ref()?;
        let follows = lane.calls[index + 1..].iter();
        // Of several calls, the last one's answer is the one that the agent got.
        let is_last = !follows.clone().any(|it| it.cause == heard.cause);
        let findings = if is_last {
            findings(outcome, &call.outcome)
        } else {
            Vec::new()
        };
        Some(DirectCall {
            call: number,
            tool: call.full_name(),
            server: heard.call.server.clone().unwrap_or_default(),
            upstream_tool: heard.call.tool.clone(),
            findings,
            through: cost(&call.outcome, call.duration_ms),
            direct: cost(outcome, Some(*ms)),
        })
    });
    let offered = lane.catalogue.servers.iter();
    let tools = offered.flat_map(|it| it.tools.iter().map(move |tool| (&it.server, tool)));
    Direct {
        calls: calls.collect(),
        tools: tools.map(|(server, it)| tool(run, server, it)).collect(),
    }
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

/// What became of an outcome on its way.
fn findings(was: &Outcome, now: &Outcome) -> Vec<String> {
    match (was, now) {
        (Outcome::Answer(was), Outcome::Answer(now)) => answer(was, now),
        (Outcome::Answer(_), Outcome::Failure(it)) => {
            vec![format!("the answer was lost: {}", it.message)]
        }
        (Outcome::Failure(it), Outcome::Answer(now)) if !now.is_error => {
            vec![format!("an error became a success: {}", it.message)]
        }
        (Outcome::Failure(_), _) => Vec::new(),
    }
}

fn answer(was: &Answer, now: &Answer) -> Vec<String> {
    let mut findings = Vec::new();
    match (was.is_error, now.is_error) {
        (true, false) => findings.push("an error became a success".to_owned()),
        (false, true) => findings.push("a success became an error".to_owned()),
        _ => {}
    }
    findings.extend(text(&was.text(), &now.text()));
    match (&was.structured_content, &now.structured_content) {
        (Some(_), None) => findings.push("`structuredContent` was lost".to_owned()),
        (Some(a), Some(b)) if a != b => {
            let (a, b) = excerpt::of_values(a, b);
            findings.push(format!("`structuredContent` was changed: {a} became {b}"));
        }
        _ => {}
    }
    let counts = |answer: &Answer| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for block in &answer.content {
            let kind = block.get("type").and_then(Value::as_str);
            let kind = kind.filter(|it| *it != "text");
            if let Some(kind) = kind {
                *counts.entry(kind.to_owned()).or_insert(0) += 1;
            }
        }
        counts
    };
    let kept = counts(now);
    for (kind, count) in counts(was) {
        let left = kept.get(&kind).copied().unwrap_or_default();
        if left < count {
            findings.push(format!(
                "{} of {count} `{kind}` blocks were lost",
                count - left
            ));
        }
    }
    findings
}

/// What became of a text; `None` where it was passed on as it was.
fn text(was: &str, now: &str) -> Option<String> {
    if was == now {
        return None;
    }
    let (before, after) = (was.chars().count(), now.chars().count());
    if was.is_empty() {
        return Some(format!(
            "{after} characters were added to an answer without text"
        ));
    }
    if now.is_empty() {
        return Some(format!("all {before} characters of the text were lost"));
    }
    if now.contains(was) {
        return Some(format!(
            "{} characters were put around the text",
            after - before
        ));
    }
    // As a text within JSON.
    let quoted = Value::from(was).to_string();
    if now.contains(&quoted[1..quoted.len() - 1]) {
        return Some(format!(
            "the text was wrapped in JSON, {after} characters for {before}"
        ));
    }
    let same = was
        .chars()
        .zip(now.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let is_beginning = same == after || same * KEPT >= after;
    if after < before && after <= same + NOTICE && is_beginning {
        let added = after - same;
        let notice = if added == 0 {
            String::new()
        } else {
            format!(", and {added} of the proxy's own added")
        };
        return Some(format!("cut after {same} of {before} characters{notice}"));
    }
    let (was, now) = excerpt::of_texts(was, now);
    Some(format!("reworded: {was} became {now}"))
}

/// What a proxy lists a tool of a server behind as, and what it says of it.
fn tool(run: &Trajectory, server: &str, tool: &Tool) -> DirectTool {
    let offered = run.catalogue.servers.iter().flat_map(|it| &it.tools);
    let listed: Vec<&Tool> = offered
        .filter(|it| is_named(it.name(), server, tool.name()))
        .collect();
    // One that names the server, too, is meant before one that has the tool's name alone.
    let listed = listed.iter().max_by_key(|it| it.name().len());
    let mut findings = Vec::new();
    for (key, was) in tool.served.iter().filter(|(key, _)| *key != "name") {
        let Some(listed) = listed else {
            break;
        };
        match listed.served.get(key) {
            Some(now) if now == was => {}
            Some(Value::String(now)) if was.as_str().is_some_and(|it| now.contains(it)) => {
                findings.push(format!("`{key}` got more text"));
            }
            Some(now) => {
                let (was, now) = excerpt::of_values(was, now);
                findings.push(format!("`{key}` was changed: {was} became {now}"));
            }
            None => findings.push(format!("`{key}` was lost")),
        }
    }
    DirectTool {
        server: server.to_owned(),
        tool: tool.name().to_owned(),
        listed_as: listed.map(|it| it.name().to_owned()),
        findings,
    }
}

/// Whether a proxy's name for a tool stands for that of a server behind it: the same, or with the server's before it.
fn is_named(name: &str, server: &str, tool: &str) -> bool {
    let Some(before) = name.strip_suffix(tool) else {
        return false;
    };
    let prefix = before.strip_suffix(|it: char| !it.is_alphanumeric());
    let plain = |it: &str| -> String {
        let letters = it.chars().filter(|it| it.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    before.is_empty() || prefix.is_some_and(|it| plain(it).ends_with(&plain(server)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{findings, is_named, text};
    use crate::model::trajectory::{Answer, Failure, FailureKind, Outcome};

    fn answer(text: &str) -> Answer {
        Answer {
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        }
    }

    #[test]
    fn what_became_of_a_text_is_told_apart() {
        let long = "abcdefghij".repeat(20);
        let cases = [
            (long.clone(), long.clone(), None),
            (
                long.clone(),
                long[..50].to_owned(),
                Some("cut after 50 of 200 characters"),
            ),
            (
                long.clone(),
                format!("{}… read on", &long[..50]),
                Some("cut after 50 of 200 characters, and 9 of the proxy's own added"),
            ),
            (
                "now".to_owned(),
                "Result: now".to_owned(),
                Some("8 characters were put around the text"),
            ),
            (
                "say \"hi\"".to_owned(),
                json!({ "text": "say \"hi\"" }).to_string(),
                Some("the text was wrapped in JSON, 21 characters for 8"),
            ),
            (
                "12 of 12".to_owned(),
                "12 of 13".to_owned(),
                Some("reworded: "),
            ),
            (
                "no".to_owned(),
                String::new(),
                Some("all 2 characters of the text were lost"),
            ),
            (
                String::new(),
                "yes".to_owned(),
                Some("3 characters were added to an answer without text"),
            ),
        ];
        for (was, now, expected) in cases {
            let found = text(&was, &now);
            match (&found, expected) {
                (Some(found), Some(expected)) => assert!(found.starts_with(expected), "{found}"),
                _ => assert_eq!(found.as_deref(), expected),
            }
        }
    }

    #[test]
    fn what_became_of_an_outcome_is_told() {
        let failed = Answer {
            is_error: true,
            ..answer("no such file")
        };
        let lost = Failure {
            kind: FailureKind::Timeout,
            message: "no answer within 60s".to_owned(),
            code: None,
            data: None,
        };
        let structured = |it: Value| Answer {
            structured_content: Some(it),
            ..answer("1")
        };
        let image = json!({ "type": "image", "data": "" });
        let pictured = Answer {
            content: vec![image.clone(), image],
            ..Answer::default()
        };
        let cases = [
            (
                Outcome::Answer(failed.clone()),
                Outcome::Answer(answer("no such file")),
                vec!["an error became a success"],
            ),
            (
                Outcome::Answer(answer("done")),
                Outcome::Answer(Answer {
                    is_error: true,
                    ..answer("done")
                }),
                vec!["a success became an error"],
            ),
            (
                Outcome::Answer(answer("done")),
                Outcome::Failure(lost.clone()),
                vec!["the answer was lost: no answer within 60s"],
            ),
            (
                Outcome::Failure(lost.clone()),
                Outcome::Answer(answer("")),
                vec!["an error became a success: no answer within 60s"],
            ),
            (Outcome::Failure(lost), Outcome::Answer(failed), vec![]),
            (
                Outcome::Answer(structured(json!({ "a": 1 }))),
                Outcome::Answer(answer("1")),
                vec!["`structuredContent` was lost"],
            ),
            (
                Outcome::Answer(structured(json!({ "a": 1 }))),
                Outcome::Answer(structured(json!({ "a": 2 }))),
                vec!["`structuredContent` was changed: "],
            ),
            (
                Outcome::Answer(pictured),
                Outcome::Answer(Answer::default()),
                vec!["2 of 2 `image` blocks were lost"],
            ),
        ];
        for (was, now, expected) in cases {
            let found = findings(&was, &now);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }

    #[test]
    fn a_tool_is_known_by_its_name_with_that_of_its_server() {
        for name in [
            "read",
            "files__read",
            "files:read",
            "mcp__files__read",
            "Files.read",
        ] {
            assert!(is_named(name, "files", "read"), "{name}");
        }
        for name in [
            "thread",
            "fileread",
            "mail__read",
            "read__files",
            "files__read_all",
        ] {
            assert!(!is_named(name, "files", "read"), "{name}");
        }
    }
}
