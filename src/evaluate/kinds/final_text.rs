//! The agent's last words.

use serde_json::{Deserializer, Value};

use crate::model::trajectory::{Step, Trajectory};

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
