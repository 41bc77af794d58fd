//! A search that is a tool of an MCP server.

use serde_json::{Map, Value};

use super::answer::Said;
use super::http::filled_value;
use crate::text;

/// How much is shown of what is no answer.
const SHOWN: usize = 120;

/// The arguments of a call, filled in.
pub fn filled_arguments(
    declared: &Map<String, Value>,
    query: &str,
    limit: usize,
) -> Map<String, Value> {
    let limit = limit.to_string();
    // The query comes last: what somebody asks may look like a name of ours.
    let fill = |text: &str| {
        text.replace("{{limit}}", &limit)
            .replace("{{query}}", query)
    };
    let filled = declared.iter();
    let filled = filled.map(|(key, value)| (key.clone(), filled_value(value, &fill)));
    filled.collect()
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidByTool {
    /// What it says in structured form, else the JSON in its texts.
    pub said: Said,
    /// How long it is.
    pub bytes: usize,
    /// What it says in words besides, where these are of a failure.
    pub trouble: Option<String>,
}

/// Words with which servers tell people that something went wrong, in small letters.
const OF_FAILURES: [&str; 9] = [
    "error",
    "fail",
    "unavailable",
    "timed out",
    "timeout",
    "could not",
    "cannot",
    "partial",
    "incomplete",
];

/// What a tool answered.
///
/// # Errors
///
/// In a fragment, why there is none.
pub fn said_by_tool(
    is_error: bool,
    content: &[Value],
    structured: Option<&Value>,
) -> Result<SaidByTool, String> {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|it| it.get("text").and_then(Value::as_str))
        .collect();
    let bytes = texts.iter().map(|it| it.len()).sum();
    if is_error {
        let message = texts.first().copied().unwrap_or("of which it says no more");
        return Err(format!("it answered an error: {}", text::line(message)));
    }
    let is_broken = |it: &&str| begins_as_json(it) && serde_json::from_str::<Value>(it).is_err();
    if let Some(broken) = texts
        .iter()
        .copied()
        .find(is_broken)
        .filter(|_| structured.is_none())
    {
        let shown = text::shorten(broken, SHOWN);
        return Err(format!(
            "a text of its answer begins as JSON and is none: {}",
            text::line(&shown)
        ));
    }
    // Beside documents, servers say what is for people.
    let documents: Vec<Value> = texts
        .iter()
        .filter_map(|it| serde_json::from_str(it).ok())
        .filter(|it: &Value| it.is_array() || it.is_object() || it.is_null())
        .collect();
    let mut ways = Vec::new();
    ways.extend(structured.map(|it| vec![it.clone()]));
    ways.extend(Some(documents).filter(|it| !it.is_empty()));
    match (&ways[..], texts.first()) {
        ([], None) => Err("it answered nothing".to_owned()),
        ([], Some(first)) => {
            let shown = text::shorten(first, SHOWN);
            Err(format!("it answered no JSON: {}", text::line(&shown)))
        }
        _ => {
            let bytes = match structured {
                Some(structured) if bytes == 0 => structured.to_string().len(),
                _ => bytes,
            };
            let prose = texts
                .iter()
                .filter(|it| serde_json::from_str::<Value>(it).is_err());
            let trouble = prose.copied().find(|it| {
                let words = it.to_lowercase();
                OF_FAILURES.iter().any(|it| words.contains(it))
            });
            Ok(SaidByTool {
                said: Said::in_ways(ways),
                bytes,
                trouble: trouble.map(|it| text::shorten(&text::line(it), SHOWN).into_owned()),
            })
        }
    }
}

/// Whether a text is no sentence: an object, or a list of anything.
fn begins_as_json(text: &str) -> bool {
    let text = text.trim_start();
    let in_list = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || in_list.is_some_and(|it| it.starts_with(['{', '[', '"', ']']))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::said_by_tool;
    use crate::discovery::search::{Search, read_answer};

    fn found(list: &str, texts: &[Value], structured: Option<&Value>) -> Result<String, String> {
        let ask = json!({ "name": "find", "arguments": { "q": "{{query}}" } });
        let declared = json!({ "tool": ask, "list": list, "id": "{{n}}" });
        let search = Search::read(&declared)?;
        let content = texts.iter().map(|it| {
            let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            json!({ "type": "text", "text": text })
        });
        let content: Vec<Value> = content.collect();
        let said = said_by_tool(false, &content, structured)?.said;
        let found = read_answer(&search, &said)?;
        let ids: Vec<String> = found.into_iter().map(|it| it.id).collect();
        Ok(ids.join(" "))
    }

    #[test]
    fn a_list_may_come_as_one_text_for_each_item() {
        let (a, b) = (json!({ "n": "s:a" }), json!({ "n": "s:b" }));
        let both = Ok("s:a s:b".to_owned());
        assert_eq!(found("$", &[a.clone(), b.clone()], None), both);
        assert_eq!(found("$", &[json!([a]), json!([b])], None), both);
        // What is for people, and what tells of something else, is no part of it.
        let (first, second) = (json!({ "t": [a] }), json!({ "t": [b] }));
        let more = [json!("Two:"), first, json!({ "took": 3 }), second];
        assert_eq!(found("t", &more, None), both);
        let why = |list: &str, texts: &[Value]| found(list, texts, None).unwrap_err();
        assert!(why("$", &more).contains("`n`"));
        assert!(why("t", &[json!({ "took": 3 })]).contains("no `t`"));
        assert!(why("$", &[json!("5")]).contains("no JSON"));
        assert!(why("$", &[]).contains("nothing"));
        // Nobody knows what a text holds that is cut off; and a sentence may begin with a bracket.
        let cut_off = json!("{\"n\": \"s:c\"");
        assert!(why("$", &[a.clone(), cut_off]).contains("begins as JSON"));
        let remark = json!("[warning] few were found");
        assert_eq!(found("$", &[remark, a, b], None), both);
    }

    #[test]
    fn a_failure_in_words_beside_a_list_is_kept() {
        let trouble = |texts: &[&str]| {
            let content = texts.iter().map(|it| json!({ "type": "text", "text": it }));
            let content: Vec<Value> = content.collect();
            said_by_tool(false, &content, None).unwrap().trouble
        };
        let list = "[{\"n\": \"error:list\"}]";
        assert_eq!(trouble(&["Found 1 tool", list]), None);
        let warning = "Warning: the index Timed Out,\nso this is what was there";
        let in_a_line =
            Some("Warning: the index Timed Out,\\nso this is what was there".to_owned());
        assert_eq!(trouble(&[list, warning]), in_a_line);
        assert_eq!(trouble(&[list]), None);
    }

    #[test]
    fn a_text_may_hold_the_answer_wherever_it_stands() {
        let held = json!({ "t": [{ "n": "s:a" }, { "n": "s:b" }] }).to_string();
        let both = Ok("s:a s:b".to_owned());
        let text = [json!(held)];
        let wrapped = json!({ "result": held });
        assert_eq!(found("result.t", &text, Some(&wrapped)), both);
        // The texts say the same as what is structured.
        assert_eq!(found("t", &text, Some(&wrapped)), both);
        // What is structured comes first.
        let other = json!({ "t": [{ "n": "s:c" }] });
        assert_eq!(found("t", &text, Some(&other)), Ok("s:c".to_owned()));
        // A failure is one, whatever else is said.
        let failed = json!({ "success": false, "error": "no index" });
        let why = found("t", &text, Some(&failed)).unwrap_err();
        assert!(why.contains("no index"));
    }
}
