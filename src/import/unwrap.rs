//! Text blocks that are wrapped in text blocks: the original tool stores the content of an answer as the text of a block, as a list, as
//! JSON, or the way Python prints a list.

use serde_json::{Value, json};

/// How deep blocks may be wrapped; deeper ones are kept as they are.
const DEPTH: usize = 4;

/// The content blocks of an answer, unwrapped.
pub(super) fn blocks(content: &Value) -> Vec<Value> {
    unwrapped(content, DEPTH)
}

fn unwrapped(content: &Value, depth: usize) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) => match wrapped(text).filter(|_| depth > 0) {
            Some(inner) => unwrapped(&inner, depth - 1),
            None => vec![json!({ "type": "text", "text": text })],
        },
        Value::Array(items) if depth > 0 => {
            items.iter().flat_map(|it| block(it, depth - 1)).collect()
        }
        other => vec![json!({ "type": "text", "text": other.to_string() })],
    }
}

fn block(item: &Value, depth: usize) -> Vec<Value> {
    let is_text = item.get("type").is_none_or(|it| it == "text");
    match item.get("text") {
        Some(text) if is_text => unwrapped(text, depth),
        _ if item.get("type").is_some() => vec![item.clone()],
        _ => unwrapped(item, depth),
    }
}

/// The list of blocks that a text is, when it is one.
fn wrapped(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with("[{") {
        return None;
    }
    let list = serde_json::from_str(text).ok().or_else(|| python(text))?;
    let is_block = |it: &Value| {
        it.get("type").is_some_and(Value::is_string)
            && (it.get("text").is_some() || it.get("data").is_some())
    };
    list.as_array()
        .is_some_and(|it| it.iter().all(is_block))
        .then_some(list)
}

/// A list of flat dictionaries the way Python prints it: `[{'type': 'text', 'text': 'it\'s'}]`.
///
/// Literals: <https://docs.python.org/3/reference/lexical_analysis.html#string-and-bytes-literals>
fn python(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let mut list = Vec::new();
    reader.take('[')?;
    loop {
        reader.take('{')?;
        let mut members = serde_json::Map::new();
        loop {
            let key = reader.string()?;
            reader.take(':')?;
            members.insert(key, reader.value()?);
            if reader.take(',').is_none() {
                break;
            }
        }
        reader.take('}')?;
        list.push(Value::Object(members));
        if reader.take(',').is_none() {
            break;
        }
    }
    reader.take(']')?;
    reader.rest.trim().is_empty().then_some(Value::Array(list))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    fn value(&mut self) -> Option<Value> {
        let rest = self.rest.trim_start();
        for (word, value) in [
            ("None", Value::Null),
            ("True", Value::Bool(true)),
            ("False", Value::Bool(false)),
        ] {
            if let Some(rest) = rest.strip_prefix(word) {
                self.rest = rest;
                return Some(value);
            }
        }
        self.string().map(Value::String)
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

fn code(signs: &mut std::str::CharIndices<'_>, digits: usize) -> Option<char> {
    let number: String = signs.by_ref().take(digits).map(|(_, it)| it).collect();
    char::from_u32(u32::from_str_radix(&number, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::blocks;

    #[test]
    fn wrapped_blocks_are_unwrapped() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let cases = [
            (Value::Null, vec![]),
            (json!("plain"), vec![text("plain")]),
            (json!([text("a"), text("b")]), vec![text("a"), text("b")]),
            (
                json!([{ "type": "text", "text": [text("{\"x\":1}")] }]),
                vec![text("{\"x\":1}")],
            ),
            (
                json!([text(r#"[{"type": "text", "text": "in json"}]"#)]),
                vec![text("in json")],
            ),
            (
                json!(
                    r#"[{'type': 'text', 'text': 'it\'s \u00e9\n', 'annotations': None}, {'type': 'text', 'text': "b"}]"#
                ),
                vec![text("it's é\n"), text("b")],
            ),
            (json!([image.clone()]), vec![image]),
            (json!("[{'cut"), vec![text("[{'cut")]),
            (json!("[{\"id\": 1}]"), vec![text("[{\"id\": 1}]")]),
        ];
        for (content, expected) in cases {
            assert_eq!(blocks(&content), expected, "{content}");
        }
    }
}
