//! The texts of a run: its answers, and the agent's last words.

use serde_json::{Deserializer, Value};

use crate::evaluate::subject::texts_of_answer;
use crate::evaluate::tools::{calls_of, numbered};
use crate::model::placeholder;
use crate::model::rules::Rules;
use crate::model::{Answer, FailureKind, Outcome, Step, ToolCall, Trajectory};
use crate::scenario_file::evaluators::AnswerOf;
use crate::score::in_band_error;

/// The calls whose answers are meant, with their numbers among all calls of the servers. Those of the agent's own tools are meant where
/// their name is given.
pub(super) fn selected<'t>(
    run: &'t Trajectory,
    of: &AnswerOf,
) -> Vec<(Option<usize>, &'t ToolCall)> {
    let calls: Vec<_> = match &of.tool {
        Some(tool) => calls_of(run, tool).collect(),
        None => numbered(run).filter(|it| it.0.is_some()).collect(),
    };
    match of.call {
        Some(wanted) => wanted
            .checked_sub(1)
            .and_then(|it| calls.get(it).copied())
            .into_iter()
            .collect(),
        None => calls,
    }
}

/// Why an answer is none that could be used; `None` for one that is.
pub(super) fn failure(call: &ToolCall) -> Option<String> {
    match &call.outcome {
        Outcome::Answer(answer) if answer.is_error => {
            Some(format!("answers with an error: {}", answer.text()))
        }
        Outcome::Answer(_) => None,
        Outcome::Failure(failure) => Some(format!(
            "failed ({}): {}",
            failure.kind.words(),
            failure.message
        )),
    }
}

/// Why an answer is an error: one that is marked as such, one that breaks the schema of its tool, or one that the server says is fine and that
/// looks like an error by the rules of scoring; `None` for a good one.
pub(in crate::evaluate) fn error(call: &ToolCall, rules: &Rules) -> Option<String> {
    failure(call).or_else(|| {
        if let Outcome::Answer(Answer {
            breach: Some(breach),
            ..
        }) = &call.outcome
        {
            return Some(format!("breaks its own schema: {breach}"));
        }
        let said = in_band_error(&call.outcome, rules)?;
        Some(format!("looks like an error: {said}"))
    })
}

/// What an answer says, as text: its text, or where it has none its structured content as JSON; of a JSON-RPC error its message.
pub(super) fn text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(answer) => {
            let text = answer.text();
            match &answer.structured_content {
                Some(structured) if text.is_empty() => structured.to_string(),
                _ => text,
            }
        }
        Outcome::Failure(failure) => failure.message.clone(),
    }
}

/// The same answer in every way in which it can be read as text: a text is in the answer as often as it is in the one that has it most.
pub(super) fn readings(outcome: &Outcome) -> Vec<String> {
    match outcome {
        Outcome::Answer(answer) => {
            let mut blocks = Vec::new();
            let mut structured = Vec::new();
            texts_of_answer(answer, &mut blocks, &mut structured);
            let mut readings = vec![answer.text(), blocks.join("\n"), structured.join("\n")];
            readings.extend(answer.structured_content.as_ref().map(Value::to_string));
            // Only an answer that is empty in every way is an empty text.
            readings.retain(|it| !it.trim().is_empty());
            if readings.is_empty() {
                readings.push(answer.text());
            }
            readings
        }
        // The messages of other failures are ours.
        Outcome::Failure(it) if it.kind == FailureKind::Rpc => vec![it.message.clone()],
        Outcome::Failure(_) => Vec::new(),
    }
}

/// Whether a secret was taken out of an answer.
pub(in crate::evaluate) fn holds_placeholder(outcome: &Outcome) -> bool {
    let mut found = false;
    outcome.each_text(&mut |text| found |= placeholder::holds(text));
    found
}

/// The JSON of an answer: its structured content, and its text where that is JSON, all of it or a block.
pub(super) fn documents(outcome: &Outcome) -> Vec<Value> {
    let [mut structured, text] = both_forms(outcome);
    structured.extend(text);
    structured
}

/// The same apart: of its structured content, and of its text. Servers that give both say the same in them.
pub(super) fn both_forms(outcome: &Outcome) -> [Vec<Value>; 2] {
    let Outcome::Answer(answer) = outcome else {
        return [Vec::new(), Vec::new()];
    };
    let structured = answer.structured_content.iter().cloned().collect();
    if let Ok(whole) = serde_json::from_str(&answer.text()) {
        return [structured, vec![whole]];
    }
    let blocks = answer.content.iter();
    let texts = blocks.filter_map(|it| it.get("text").and_then(Value::as_str));
    let of_blocks = texts.filter_map(|it| serde_json::from_str(it).ok());
    [structured, of_blocks.collect()]
}

/// How many places in a text are tried as the beginning of a JSON document.
const TRIES: usize = 200;

/// The agent's last words; empty where it said nothing.
///
/// # Errors
///
/// Why there can be none.
pub(in crate::evaluate) fn of(run: &Trajectory) -> Result<&str, String> {
    let said = run.steps.iter().rev().find_map(|it| match it {
        Step::Assistant { text } => Some(text.as_str()),
        Step::User { .. } | Step::ToolCall(_) => None,
    });
    match (said, run.stamp.agent.as_str()) {
        (_, "scripted") => Err("a script says nothing in the end".to_owned()),
        (_, "replay") => Err("a replay makes calls, and says nothing in the end".to_owned()),
        (Some(said), _) => Ok(said),
        (None, "listen") => Err("what was said around a session is not recorded".to_owned()),
        (None, _) => Ok(""),
    }
}

/// The JSON document in a text: all of it, what stands in a fence, else the first object or list within.
pub(in crate::evaluate) fn document(text: &str) -> Option<Value> {
    if let Ok(whole) = serde_json::from_str(text.trim()) {
        return Some(whole);
    }
    let fenced = text.split("```").skip(1).step_by(2);
    let mut fenced = fenced.filter_map(|it| {
        let body = it.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
        serde_json::from_str(body.trim()).ok()
    });
    fenced.next().or_else(|| {
        let mut starts = text.match_indices(['{', '[']).take(TRIES);
        starts.find_map(|(at, _)| {
            let mut documents = Deserializer::from_str(&text[at..]).into_iter::<Value>();
            documents.next()?.ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::document;

    #[test]
    fn json_is_found_where_models_put_it() {
        for (text, found) in [
            (" {\"a\": 1}\n", Some(json!({ "a": 1 }))),
            (
                "Here it is:\n```json\n{\"a\": [1]}\n```\nWell?",
                Some(json!({ "a": [1] })),
            ),
            ("```\n[1, 2]\n```", Some(json!([1, 2]))),
            ("See [the list] {\"a\": 1} above", Some(json!({ "a": 1 }))),
            ("no JSON {at all}", None),
            ("12", Some(json!(12))),
            ("", None),
        ] {
            assert_eq!(document(text), found, "{text}");
        }
        assert_eq!(document(&"[{".repeat(100_000)), None);
    }
}
