//! Rows in a `.jsonl` file: an object per line.

use serde_json::{Number, Value};

use crate::json::{self, JsonError};
use crate::model::Object;
use crate::scenario_file::decode::{At, NO_HINT};
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
        match json::read_distinct(content.as_bytes()) {
            Ok(Value::Object(value)) => {
                for (byte, number) in rounded_numbers(content) {
                    refuse_one(at(byte), &number, findings);
                }
                rows.push(At { at: at(0), value });
            }
            Ok(_) => findings.error(at(0), "a row must be an object", NO_HINT),
            Err(error @ JsonError::TooDeep) => findings.error(at(0), error.to_string(), NO_HINT),
            Err(JsonError::Other(error)) => {
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
