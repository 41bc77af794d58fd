//! The content blocks of an answer, out of the wrapping a recording puts around them.
//!
//! Messages hold them as served. The summary of calls puts the whole content into the `text` of one block, as a list, as JSON, or the way
//! Python prints a list; an answer of one text is only that text.

use serde_json::{Value, json};

use crate::import::python;

/// The blocks of a content as messages hold it. What a served text says is left alone, even where it looks like blocks.
pub(super) fn served(content: &Value) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::String(said) => {
            written_out(said).map_or_else(|| vec![text(said)], |list| served(&list))
        }
        Value::Array(items) => items.iter().flat_map(block).collect(),
        other => block(other),
    }
}

/// The blocks of a content as the summary of calls wraps it.
pub(super) fn summarised(content: &Value) -> Vec<Value> {
    match content.as_array() {
        Some(items) => items
            .iter()
            .flat_map(|item| wrapped(item).map_or_else(|| block(item), served))
            .collect(),
        None => served(content),
    }
}

/// One block of a list. The text of a served block is never a list, so where it is one, the recording has wrapped the content in it.
fn block(item: &Value) -> Vec<Value> {
    match item {
        Value::Object(_) => match wrapped(item) {
            Some(list @ Value::Array(_)) => served(list),
            _ => vec![item.clone()],
        },
        Value::String(said) => vec![text(said)],
        other => vec![text(&other.to_string())],
    }
}

/// What a text block holds.
fn wrapped(block: &Value) -> Option<&Value> {
    block.get("text").filter(|_| block["type"] == "text")
}

fn text(said: &str) -> Value {
    json!({ "type": "text", "text": said })
}

/// The list of blocks a text writes out, as JSON or as Python; `None` for any other text.
fn written_out(said: &str) -> Option<Value> {
    let said = said.trim();
    if !said.starts_with("[{") {
        return None;
    }
    let list = serde_json::from_str(said)
        .ok()
        .or_else(|| python::literal(said))?;
    let items = list.as_array()?;
    items.iter().all(is_block).then_some(list)
}

/// Whether a value is a content block of the protocol: other lists of objects are answers in their own right.
///
/// Source: <https://modelcontextprotocol.io/specification/2025-06-18/server/tools#tool-result>
fn is_block(item: &Value) -> bool {
    let is_text = |member: &str| item.get(member).is_some_and(Value::is_string);
    match item.get("type").and_then(Value::as_str) {
        Some("text") => is_text("text"),
        Some("image" | "audio") => is_text("data"),
        Some("resource") => item.get("resource").is_some_and(Value::is_object),
        Some("resource_link") => is_text("uri"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{served, summarised, text};

    #[test]
    fn what_the_summary_wraps_is_unwrapped() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let cases = [
            (Value::Null, vec![]),
            (json!("plain"), vec![text("plain")]),
            (json!([text("a"), text("b")]), vec![text("a"), text("b")]),
            (json!([{ "type": "text", "text": null }]), vec![]),
            (
                json!([{ "type": "text", "text": [text("{\"x\":1}"), image] }]),
                vec![text("{\"x\":1}"), image.clone()],
            ),
            (
                json!([text(r#"[{"type": "text", "text": "in json"}]"#)]),
                vec![text("in json")],
            ),
            (
                json!([text(
                    r#"[{'type': 'text', 'text': 'it\'s'}, {'type': 'text', 'text': "b"}]"#
                )]),
                vec![text("it's"), text("b")],
            ),
            (json!([image]), vec![image.clone()]),
            (json!([text("[{'cut")]), vec![text("[{'cut")]),
            (json!([text("[{\"id\": 1}]")]), vec![text("[{\"id\": 1}]")]),
        ];
        for (content, expected) in cases {
            assert_eq!(summarised(&content), expected, "{content}");
        }
    }

    #[test]
    fn what_a_server_says_stays_as_it_was_served() {
        let quoting = text(r#"[{"type": "text", "text": "a block as an example"}]"#);
        assert_eq!(Value::from(served(&json!([quoting]))), json!([quoting]));
        assert_eq!(
            summarised(&json!([{ "type": "text", "text": [quoting] }])),
            [quoting]
        );
        assert_eq!(served(&json!("not found")), [text("not found")]);
        assert_eq!(served(&json!(["a", 1])), [text("a"), text("1")]);
    }
}
