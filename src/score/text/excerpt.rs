//! Short pieces of long values, cut around what matters.

use std::fmt::{self, Write};

use serde_json::Value;

use model::Object;
use model::digits;
use model::text::shorten as cut;
use model::text::word_diff::{around_difference, around_places};

/// The most characters an excerpt shows, its quotes and ellipses aside.
const LENGTH: usize = 120;
/// How much of two lists or objects is compared, in characters, before they are cut around what differs.
const COMPARED: usize = 20_000;

/// The beginning of a value, as JSON.
pub(crate) fn of(value: &Value) -> String {
    match (value, digits::of(value)) {
        (_, Some(digits)) => shorten(digits),
        (Value::String(text), _) => of_text(text),
        _ => start_of(value),
    }
}

/// The beginning of a text, in quotes.
pub(crate) fn of_text(text: &str) -> String {
    quoted(text)
}

/// The first keys of an object.
pub(crate) fn of_keys(members: &Object) -> String {
    let keys: Vec<&str> = members.keys().take(3).map(String::as_str).collect();
    shorten(&format!("keys {}", keys.join(", ")))
}

/// The beginning of a sentence.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(2 * LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Two texts around the first place where they differ, in quotes.
pub(crate) fn of_texts(a: &str, b: &str) -> (String, String) {
    let [a, b] = around_difference(a, b, LENGTH).map(|it| Value::String(it).to_string());
    (a, b)
}

/// Two texts around a byte position of each, in quotes.
pub(crate) fn around(a: (&str, usize), b: (&str, usize)) -> (String, String) {
    let cut = around_places([a.0, b.0], [a.1, b.1], LENGTH);
    cut.map(|it| Value::String(it).to_string()).into()
}

/// Two values around the first place where they differ.
pub(crate) fn of_values(a: &Value, b: &Value) -> (String, String) {
    match (a, b) {
        _ if digits::of(a).or(digits::of(b)).is_some() => (of(a), of(b)),
        (Value::String(a), Value::String(b)) => of_texts(a, b),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            let [a, b] = [a, b].map(|it| start_within(it, COMPARED));
            if a == b {
                // They differ behind what is looked at.
                return [a, b].map(|it| cut(&it, LENGTH).into_owned()).into();
            }
            around_difference(&a, &b, LENGTH).into()
        }
        _ => (of(a), of(b)),
    }
}

/// Two values around the first place where they differ, where both are there.
pub(crate) fn of_both(a: Option<&Value>, b: Option<&Value>) -> (Option<String>, Option<String>) {
    match (a, b) {
        (Some(a), Some(b)) => {
            let (a, b) = of_values(a, b);
            (Some(a), Some(b))
        }
        (a, b) => (a.map(of), b.map(of)),
    }
}

/// The beginning of a text, in quotes.
fn quoted(text: &str) -> String {
    Value::String(cut(text, LENGTH).into_owned()).to_string()
}

/// Writes JSON until the limit is reached, so that neither size nor depth of a value matters.
fn start_of(value: &Value) -> String {
    start_within(value, LENGTH)
}

fn start_within(value: &Value, room: usize) -> String {
    let mut start = Start {
        text: String::new(),
        room,
    };
    if write!(start, "{value}").is_err() {
        start.text.push('…');
    }
    digits::unmarked(&start.text).into_owned()
}

struct Start {
    text: String,
    room: usize,
}

impl Write for Start {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for it in piece.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(it);
        }
        Ok(())
    }
}
