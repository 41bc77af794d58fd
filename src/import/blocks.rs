//! The content blocks of an answer, out of the wrapping a recording puts around them.
//!
//! Messages hold them as served. The summary of calls puts the whole content into the `text` of one block, as a list, as JSON, or the way
//! Python prints a list; an answer of one text is only that text.

use serde_json::{Map, Number, Value, json};

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
    let list = serde_json::from_str(said).ok().or_else(|| literal(said))?;
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

/// How deep lists and dictionaries may lie in one another.
const DEPTH: usize = 64;

/// The value a text writes as a Python literal, as far as JSON has its like; `None` for any other text.
///
/// Source: <https://docs.python.org/3/reference/lexical_analysis.html#literals>
pub(super) fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(DEPTH)?;
    reader.rest.trim().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let deeper = depth.checked_sub(1)?;
        if self.take("[") {
            self.items(']', |it| it.value(deeper)).map(Value::Array)
        } else if self.take("{") {
            let member = |it: &mut Self| {
                let key = it.string()?;
                Some((key, it.take(":").then(|| it.value(deeper))??))
            };
            let members = self.items('}', member)?;
            Some(Value::Object(members.into_iter().collect::<Map<_, _>>()))
        } else if self.take("None") {
            Some(Value::Null)
        } else if self.take("True") {
            Some(Value::Bool(true))
        } else if self.take("False") {
            Some(Value::Bool(false))
        } else {
            match self.string() {
                Some(text) => Some(Value::String(text)),
                None => self.number().map(Value::Number),
            }
        }
    }

    /// What stands between commas, to the closing bracket.
    fn items<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let close = close.to_string();
        let mut items = Vec::new();
        while !self.take(&close) {
            if !items.is_empty() && !self.take(",") {
                return None;
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn number(&mut self) -> Option<Number> {
        let rest = self.rest.trim_start();
        let is_sign = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '+' | '-');
        let end = rest.find(|it| !is_sign(it)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        rest[..end].parse().ok()
    }

    fn string(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
        let mut text = String::new();
        let mut signs = rest[1..].char_indices();
        while let Some((at, sign)) = signs.next() {
            match sign {
                it if it == quote => {
                    self.rest = &rest[at + 2..];
                    return Some(text);
                }
                '\\' => match signs.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'x' => text.push(code(&mut signs, 2)?),
                    'u' => text.push(code(&mut signs, 4)?),
                    'U' => text.push(code(&mut signs, 8)?),
                    plain @ ('\\' | '\'' | '"') => text.push(plain),
                    other => text.extend(['\\', other]),
                },
                other => text.push(other),
            }
        }
        None
    }
}

/// The character of a code point in hexadecimal. Python has half surrogate pairs, which become the replacement character.
fn code(signs: &mut std::str::CharIndices<'_>, digits: usize) -> Option<char> {
    let mut number = 0_u32;
    for _ in 0..digits {
        number = number.checked_mul(16)? + signs.next()?.1.to_digit(16)?;
    }
    Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::import::blocks::{DEPTH, literal, served, summarised, text};

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

    #[test]
    fn literals_are_read_and_other_texts_are_not() {
        let cases = [
            (
                r#"[{'a': 'it\'s', "b": "x'y"}, {}]"#,
                json!([{ "a": "it's", "b": "x'y" }, {}]),
            ),
            (
                r"['line\nnext\tend\\', '\x41\u00e9\U0001f512\ud83d', '\d']",
                json!(["line\nnext\tend\\", "Aé🔒\u{fffd}", "\\d"]),
            ),
            (
                "{'n': None, 't': [True, False], 'i': -12, 'f': 1.5e3}",
                json!({ "n": null, "t": [true, false], "i": -12, "f": 1500.0 }),
            ),
            ("[ ]", json!([])),
        ];
        for (text, expected) in cases {
            assert_eq!(literal(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "[",
            "[1",
            "[1 2]",
            "{'a'}",
            "{'a': }",
            "{1: 2}",
            "['a",
            r"['\u12",
            r"['\xgg']",
            "[nan]",
            "[1] x",
            "[object]",
            "{'a': 1,, }",
        ] {
            assert_eq!(literal(text), None, "{text}");
        }
    }

    #[test]
    fn no_depth_overflows_the_stack() {
        assert!(literal(&format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH))).is_some());
        assert_eq!(literal(&"[".repeat(1_000_000)), None);
    }
}
