//! Rows of files: `.csv` by RFC 4180, with the columns in the first line, and `.jsonl`, an object per line.

use std::collections::HashSet;

use serde_json::{Number, Value};

use crate::json::{self, JsonError};
use crate::model::Object;
use crate::scenario_file::decode::{At, NO_HINT};
use crate::scenario_file::yaml::{Findings, Mark, is_rounded, quoted, refuse_rounded_one};
use crate::text::plural;

pub(super) fn csv(source: usize, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let text = findings.text(source);
    let lines = match look_over(&text) {
        Ok(lines) => lines,
        Err(Wrong { at, message, hint }) => {
            let at = findings.mark_of_offset(source, at);
            return findings.refuse(at, message, Some(hint));
        }
    };
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let columns: Vec<String> = match reader.headers() {
        Ok(names) => names.iter().map(|it| it.trim().to_owned()).collect(),
        Err(error) => {
            let at = place(source, &text, error.position(), findings);
            return findings.refuse(at, wrong_line(&error), NO_HINT);
        }
    };
    let first = place(source, &text, None, findings);
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|it| !seen.insert(it.as_str())) {
        let message = format!("two columns are called {}", quoted(twice));
        return findings.refuse(first, message, NO_HINT);
    }
    if let (Some(blank), 1) = (lines.blank, columns.len()) {
        let at = findings.mark_of_offset(source, blank);
        let hint = "take the line out, or write `\"\"` for an empty cell";
        return findings.refuse(at, "a blank line is not a row", Some(hint));
    }
    let mut rows = Vec::new();
    let mut is_right = true;
    let mut empty = Vec::new();
    for record in reader.records() {
        match record {
            // Spreadsheets leave such lines where rows were deleted.
            Ok(record) if columns.len() > 1 && record.iter().all(|it| it.trim().is_empty()) => {
                empty.push(place(source, &text, record.position(), findings));
            }
            Ok(record) => rows.push(At {
                at: place(source, &text, record.position(), findings),
                value: (columns.iter().cloned())
                    .zip(record.iter().map(cell))
                    .collect(),
            }),
            Err(error) => {
                let at = place(source, &text, error.position(), findings);
                let hint = match columns.as_slice() {
                    [only] if only.contains([';', '\t']) => {
                        "cells are separated by commas, and these seem to be by something else"
                    }
                    _ => "put a cell that contains a comma in quotes",
                };
                findings.error(at, wrong_line(&error), Some(hint));
                is_right = false;
            }
        }
    }
    if let Some(first) = empty.first() {
        let message = match empty.len() {
            1 => "an empty row is left out".to_owned(),
            count => format!("{count} empty rows are left out, of which this is the first"),
        };
        let hint = "take the lines of nothing but commas out";
        findings.warning(*first, message, Some(hint));
    }
    is_right.then_some(rows)
}

/// Where a record begins. The reader takes the ends of lines before it as a part of it.
fn place(source: usize, text: &str, at: Option<&csv::Position>, findings: &Findings) -> Mark {
    let from = at.and_then(|it| usize::try_from(it.byte()).ok());
    let from = from.unwrap_or(0).min(text.len());
    let rest = &text.as_bytes()[from..];
    let ends = rest.iter().take_while(|it| matches!(it, b'\r' | b'\n'));
    findings.mark_of_offset(source, from + ends.count())
}

/// What is wrong with a line, without its place, which stands before it.
fn wrong_line(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            let (cells, columns) = (plural(*len, "cell"), plural(*expected_len, "column"));
            format!("has {cells}, and the first line names {columns}")
        }
        _ => error.to_string(),
    }
}

/// A cell: a number or a truth value where JSON writes it in just this way, or else text. So `007`, `1.10` and digits without end stay
/// what they are.
fn cell(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match serde_json::from_str::<Number>(text) {
            Ok(number) if number.to_string() == text => Value::Number(number),
            _ => Value::String(text.to_owned()),
        },
    }
}

/// Something that makes a file no table.
struct Wrong {
    /// In bytes.
    at: usize,
    message: &'static str,
    hint: &'static str,
}

/// What lines there are beside those of the table.
struct Lines {
    /// The first blank line between others, in bytes.
    blank: Option<usize>,
}

/// Looks at all quotes, and for blank lines.
fn look_over(text: &str) -> Result<Lines, Wrong> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let (mut has_begun, mut last_blank, mut blank) = (false, None, None);
    let mut line_begins = true;
    while at < bytes.len() {
        if line_begins && matches!(bytes[at], b'\r' | b'\n') {
            if has_begun {
                last_blank = last_blank.or(Some(at));
            }
            at = behind_end_of_line(bytes, at);
            continue;
        }
        if line_begins {
            blank = blank.or(last_blank);
            has_begun = true;
        }
        at = behind_cell(bytes, at)?;
        line_begins = bytes.get(at).is_some_and(|it| *it != b',');
        at = if line_begins {
            behind_end_of_line(bytes, at)
        } else {
            at + 1
        };
    }
    Ok(Lines { blank })
}

/// Right behind the cell that begins here: a comma, the end of a line, or the end of all.
fn behind_cell(bytes: &[u8], start: usize) -> Result<usize, Wrong> {
    let ends = |it: &u8| matches!(it, b',' | b'\r' | b'\n');
    if bytes[start] != b'"' {
        let length = bytes[start..].iter().take_while(|it| !ends(it)).count();
        let cell = &bytes[start..start + length];
        return match cell.iter().position(|it| *it == b'"') {
            Some(quote) => Err(Wrong {
                at: start + quote,
                message: "a quote is within a cell that does not begin with one",
                hint: "put the whole cell in quotes, and write each quote in it twice: `\"5\"\" nail\"`",
            }),
            None => Ok(start + length),
        };
    }
    let mut at = start + 1;
    loop {
        let Some(length) = bytes[at..].iter().position(|it| *it == b'"') else {
            return Err(Wrong {
                at: start,
                message: "the quote that opens here is never closed",
                hint: "close it at the end of the cell; a quote in a cell is written twice",
            });
        };
        at += length + 1;
        match bytes.get(at) {
            Some(b'"') => at += 1,
            Some(it) if !ends(it) => {
                return Err(Wrong {
                    at,
                    message: "something follows the quote that closes a cell",
                    hint: "a quote in a cell is written twice; is one missing above?",
                });
            }
            _ => return Ok(at),
        }
    }
}

fn behind_end_of_line(bytes: &[u8], at: usize) -> usize {
    if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
        at + 2
    } else {
        at + 1
    }
}

/// Numbers written with fewer characters keep all their digits.
const SHORT: usize = 16;

pub(super) fn json_lines(source: usize, findings: &mut Findings) -> Option<Vec<At<Object>>> {
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
                    refuse_rounded_one(at(byte), &number, findings);
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
