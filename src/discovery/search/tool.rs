//! A search that is a tool of an MCP server.

use serde_json::{Map, Value};

use super::http::filled_value;

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

/// The document that a tool answered, and its length in bytes: what it says in structured form, else the JSON in its texts.
///
/// # Errors
///
/// In a fragment, why there is none.
pub fn tool_document(
    is_error: bool,
    content: &[Value],
    structured: Option<&Value>,
) -> Result<(Value, usize), String> {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|it| it.get("text").and_then(Value::as_str))
        .collect();
    let bytes = texts.iter().map(|it| it.len()).sum();
    if is_error {
        let told = texts.first().copied().unwrap_or("of which it says no more");
        return Err(format!("it answered an error: {}", crate::text::line(told)));
    }
    if let Some(structured) = structured {
        let bytes = if bytes > 0 {
            bytes
        } else {
            structured.to_string().len()
        };
        return Ok((structured.clone(), bytes));
    }
    let parsed = texts.iter().find_map(|it| serde_json::from_str(it).ok());
    match parsed {
        Some(document) => Ok((document, bytes)),
        None if texts.is_empty() => Err("it answered nothing".to_owned()),
        None => {
            let shown = crate::text::shorten(texts[0], 120);
            Err(format!(
                "it answered no JSON: {}",
                crate::text::line(&shown)
            ))
        }
    }
}
