//! JSON documents of ours, as they are written and read: written so that nothing in them acts on whoever looks at them, and read nested as
//! deeply as what was recorded, but never so deeply that the stack ends.
//!
//! `serde_json` reads 128 levels. That is the bound for an answer when it comes in: one that is nested more deeply is no answer that can be
//! read, and is recorded as such. In a file the same answer lies some levels further down, and an argument may hold one as a part of
//! its own; so files have a bound of their own, with room for all that.

use std::fmt::{self, Write};

use memchr::memchr3_iter;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::text;

/// How many levels of arrays and objects a file may have. Four times what any answer can have, and far less than a stack can hold.
pub const LEVELS: usize = 512;

/// The most values that an answer may hold. Read, each takes a hundred bytes and more, several times over.
pub const VALUES: usize = 1_000_000;

/// The longest key that a message repeats, in characters.
const SHOWN_KEY: usize = 60;

/// Why a text cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("it is nested more than {} levels deep", LEVELS)]
    TooDeep,
    /// It is no JSON, or not the JSON that was asked for.
    #[error("{0}")]
    Other(serde_json::Error),
}

/// Reads a value from a JSON text of at most [`LEVELS`] levels.
///
/// # Errors
///
/// A [`JsonError`] when it is nested more deeply, or is not such a value.
pub fn read<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, JsonError> {
    if extent(text).levels > LEVELS {
        return Err(JsonError::TooDeep);
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    // The levels have been counted.
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader).map_err(JsonError::Other)?;
    reader.end().map_err(JsonError::Other)?;
    Ok(value)
}

/// Reads a value whose objects have each key once. Of a key that is there twice, readers take this value or that.
///
/// # Errors
///
/// As [`read`], and with the key that is there twice.
pub fn read_distinct(text: &[u8]) -> Result<Value, JsonError> {
    read::<Distinct>(text).map(|it| it.0)
}

/// A value whose objects have each key once.
struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(DistinctVisitor).map(Self)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Distinct(item)) = from.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if members.contains_key(&key) {
                let key = text::shorten(&key, SHOWN_KEY);
                let twice = format!("the key `{key}` is given twice");
                return Err(serde::de::Error::custom(twice));
            }
            let Distinct(value) = from.next_value()?;
            members.insert(key, value);
        }
        Ok(members.into())
    }
}

/// A document as JSON text in one line, which takes half the room of [`pretty`]: for files that programs read, of which there are many.
pub fn compact<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string(document)
        .unwrap_or_else(|error| serde_json::json!({ "error": error.to_string() }).to_string());
    escaped(text)
}

/// A document as indented JSON text.
pub fn pretty<T: Serialize>(document: &T) -> String {
    // Plain structs with text keys cannot fail to serialize; should that change, the error is better seen than hidden.
    let text = serde_json::to_string_pretty(document)
        .unwrap_or_else(|error| serde_json::json!({ "error": error.to_string() }).to_string());
    escaped(text)
}

/// A JSON text in which what `serde_json` writes as it is, although it acts on terminals and editors, is escaped: control characters beyond
/// ASCII, and characters that break lines or change the direction of writing. They can only be in strings, so the values stay the same.
pub fn escaped(text: String) -> String {
    let mut written = String::new();
    let mut rest = 0;
    // The first bytes that such characters can have.
    for at in memchr3_iter(0xC2, 0xD8, 0xE2, text.as_bytes()) {
        let Some(it) = text[at..].chars().next().filter(|it| acts(*it)) else {
            continue;
        };
        written.push_str(&text[rest..at]);
        // Writing to a string cannot fail.
        let _ = write!(written, "\\u{:04x}", u32::from(it));
        rest = at + it.len_utf8();
    }
    if rest == 0 {
        return text;
    }
    written.push_str(&text[rest..]);
    written
}

fn acts(it: char) -> bool {
    matches!(
        it,
        '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// How much a JSON text holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Texts, numbers, lists, objects and so on, in all.
    pub values: usize,
    /// Those of the outermost list, or object.
    pub items: usize,
    levels: usize,
}

/// Counts what a JSON text holds without reading it, by the brackets and commas that are no part of a string. Of what is no JSON at all,
/// that is enough to read it safely.
pub fn extent(text: &[u8]) -> Extent {
    let mut found = Extent {
        values: 1,
        ..Extent::default()
    };
    let (mut level, mut last) = (0_usize, 0);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                level += 1;
                found.levels = found.levels.max(level);
                found.values += 1;
                found.items += usize::from(level == 1);
            }
            b']' | b'}' => {
                let is_empty = matches!(last, b'[' | b'{');
                found.values -= usize::from(is_empty);
                found.items -= usize::from(is_empty && level == 1);
                level = level.saturating_sub(1);
            }
            b',' => {
                found.values += 1;
                found.items += usize::from(level == 1);
            }
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => _ = bytes.next(),
                        _ => {}
                    }
                }
            }
            byte if byte.is_ascii_whitespace() => continue,
            _ => {}
        }
        last = byte;
    }
    found
}

/// Where a text is no JSON, in words that follow that it is none.
pub fn place(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "it breaks off".to_owned();
    }
    format!("line {}, column {}", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Extent, JsonError, LEVELS, escaped, extent, pretty, read, read_distinct};

    fn nested(open: &str, close: &str, levels: usize) -> String {
        format!("{}{}", open.repeat(levels), close.repeat(levels))
    }

    #[test]
    fn a_key_that_is_there_twice_is_no_answer() {
        let text = r#"{"a": [1, -2, 0.5, "b", true, null], "c": {"a": 18446744073709551615}}"#;
        let usual: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(read_distinct(text.as_bytes()).expect("it is JSON"), usual);
        for twice in [
            r#"{"a": 1, "a": 1}"#,
            r#"[{"b": {"a": 1, "c": 2, "a": 2}}]"#,
        ] {
            let error = read_distinct(twice.as_bytes()).expect_err("it is given twice");
            assert!(error.to_string().contains("`a` is given twice"), "{error}");
        }
        assert!(read_distinct(b"{} {}").is_err());
    }

    #[test]
    fn what_acts_on_a_reader_is_escaped_and_read_again_as_it_was() {
        let acting: String = ('\u{80}'..='\u{9f}')
            .chain('\u{2028}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{61c}', '\u{200e}', '\u{200f}'])
            .collect();
        let value = serde_json::json!({ acting.clone(): ["\\", acting, "é – 中 😀 \u{a0}\u{2027}\u{202f}\u{200d}"] });
        let text = pretty(&value);
        assert_eq!(text.matches("\\u").count(), 2 * 46, "{text}");
        assert!(text.contains("é – 中 😀 \u{a0}\u{2027}\u{202f}\u{200d}"));
        assert!(
            text.contains("\\u0085") && text.contains("\\u202e"),
            "{text}"
        );
        assert_eq!(read::<Value>(text.as_bytes()).unwrap(), value);
        let plain = r#"{"é":"–"}"#;
        assert_eq!(escaped(plain.to_owned()), plain);
    }

    #[test]
    fn the_bound_is_exact_and_strings_do_not_count() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let inner = if open == "[" { "" } else { "1" };
            let text =
                |levels: usize| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
            read::<Value>(text(LEVELS).as_bytes()).unwrap();
            let error = read::<Value>(text(LEVELS + 1).as_bytes()).unwrap_err();
            assert!(matches!(error, JsonError::TooDeep), "{error}");
        }
        let quoted = format!(r#"["\"{}\\", 1]"#, "[{".repeat(LEVELS));
        let value: Value = read(quoted.as_bytes()).unwrap();
        assert_eq!(value[1], 1);
    }

    #[test]
    fn what_a_text_holds_is_counted() {
        let cases = [
            ("1", 1, 0),
            (" [ ] ", 1, 0),
            (r#"{"a": [], "b": {}}"#, 3, 2),
            (r#"[[1, 2], {"a,[": "b,\\\",["}, null]"#, 7, 3),
        ];
        for (text, values, items) in cases {
            let Extent {
                values: found,
                items: outermost,
                ..
            } = extent(text.as_bytes());
            assert_eq!((found, outermost), (values, items), "{text}");
        }
    }

    #[test]
    fn hostile_texts_are_errors_and_no_end_of_the_stack() {
        let after_a_quote = format!(r#""{}"#, "[".repeat(1_000_000));
        for text in [
            nested("[", "]", 1_000_000),
            "[".repeat(1_000_000),
            nested(r#"{"a":["#, "]}", 500_000),
            after_a_quote,
            format!("{}{}", "]".repeat(1000), "[".repeat(100_000)),
            "[1] 2".to_owned(),
            r#"["\"#.to_owned(),
        ] {
            assert!(read::<Value>(text.as_bytes()).is_err());
        }
    }
}
