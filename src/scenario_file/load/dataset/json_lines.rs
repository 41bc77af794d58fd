//! Rows in a `.jsonl` file: an object per line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::model::Object;
use crate::scenario_file::decode::{At, NO_HINT};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::rounded::{is_rounded, refuse_one};
use crate::scenario_file::yaml::source::{Findings, Mark};

/// Numbers written with fewer characters keep all their digits.
const SHORT: usize = 16;

pub(super) fn rows(source: usize, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let text = findings.text(source);
    let errors = findings.errors();
    let mut rows = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let at = |byte: usize| Mark {
            source,
            line,
            column: 1 + content.get(..byte).map_or(0, |it| it.chars().count()),
        };
        match serde_json::from_str(content) {
            Ok(Strict(Value::Object(value))) => {
                for (byte, number) in rounded_numbers(content) {
                    refuse_one(at(byte), &number, findings);
                }
                rows.push(At { at: at(0), value });
            }
            Ok(_) => findings.error(at(0), "a row is an object, and this is none", NO_HINT),
            Err(error) => {
                let place = format!(" at line {} column {}", error.line(), error.column());
                let message = error.to_string().replace(&place, "");
                let at = at(error.column().saturating_sub(1));
                let message = if error.is_data() {
                    message
                } else {
                    format!("is not JSON: {message}")
                };
                findings.error(at, message, NO_HINT);
            }
        }
    }
    (findings.errors() == errors).then_some(rows)
}

/// The numbers in a text of JSON that are not what is written there: where each stands, in bytes, and what it is read as.
fn rounded_numbers(text: &str) -> Vec<(usize, Number)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_of_number = |it: &&u8| {
                    it.is_ascii_digit() || matches!(it, b'-' | b'+' | b'.' | b'e' | b'E')
                };
                let length = bytes[at..].iter().take_while(is_of_number).count();
                let written = &text[at..at + length];
                let may_be = length >= SHORT || written.contains(['e', 'E']);
                if may_be
                    && let Ok(number) = serde_json::from_str(written)
                    && is_rounded(written, &number)
                {
                    found.push((at, number));
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    found
}

/// A value in which no object gives a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                let message = format!("the key {} is given twice", quoted(&key));
                return Err(A::Error::custom(message));
            }
            let Strict(value) = members.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
