//! Lists and dictionaries the way Python prints them: `[{'type': 'text', 'text': "it's"}]`.

use serde_json::{Map, Number, Value};

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
    use serde_json::json;

    use super::{DEPTH, literal};

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
