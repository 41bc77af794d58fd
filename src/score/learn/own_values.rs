//! Values that show where they come from, because hardly anything else holds them: texts, ids, long integers.

use serde_json::Value;

use crate::ids::binding::text_of;
use crate::text::token::{LONG, tokens};
use crate::text::{generated, key};
use crate::values::embedded::embedded;
use crate::values::mask;
use crate::values::same::DEPTH;
use model::placeholder;
use model::{Answer, TokenKind, ToolCall};

/// Shorter texts and integers of fewer digits are too common.
const LETTERS: usize = 3;
const DIGITS: usize = 5;
/// A text of up to so many words is found within another one.
const WORDS: usize = 6;

/// Which values are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    /// Those that may come from here. Long integers of an answer that no key says to be ids may be measures, which are alike by chance.
    Own,
    /// These integers, too.
    Counted,
    /// All that may be such a value: some words of a text, too.
    Held,
}

/// Passes on the values that a call sends and gets. One that is such a value only under the key of an id begins with `#`.
pub(super) fn of_call(
    call: &ToolCall,
    answer: Option<&Answer>,
    look: Look,
    found: &mut dyn FnMut(&str),
) {
    for (name, it) in &call.arguments {
        within(it, name, look.max(Look::Counted), DEPTH, found);
    }
    if let Some(it) = answer {
        of_answer(it, look, found);
    }
}

pub(super) fn of_answer(answer: &Answer, look: Look, found: &mut dyn FnMut(&str)) {
    let blocks = answer.content.iter().map(|it| it.get("text").unwrap_or(it));
    for it in blocks.chain(&answer.structured_content) {
        within(it, "", look, DEPTH, found);
    }
}

pub(super) fn within(
    value: &Value,
    key: &str,
    look: Look,
    depth: usize,
    found: &mut dyn FnMut(&str),
) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|it| within(it, key, look, depth, found)),
        Value::Object(members) => {
            (members.iter()).for_each(|(key, it)| within(it, key, look, depth, found));
        }
        _ => match (value.as_str().and_then(embedded), text_of(value)) {
            (Some(json), _) => within(&json, key, look, depth, found),
            (None, Some(text)) if text.len() <= LONG => {
                text.lines().for_each(|it| line(it, key, look, found));
            }
            _ => {}
        },
    }
}

/// A line as a whole, what it says behind a key, the names in it, and what else it holds.
fn line(text: &str, key: &str, look: Look, found: &mut dyn FnMut(&str)) {
    let text = text.trim_start_matches(['-', '*', ' ']).trim_end();
    single(text, key, look, found);
    if let Some((key, text)) = text.split_once(": ") {
        single(text, key, look, found);
    }
    let mut moving = tokens(text);
    moving.retain(|it| is_moving(it.kind));
    for it in generated::tokens(text) {
        let is_name = it.contains(['-', '_']) || generated::is_generated(&it.into());
        if is_name && !moving.iter().any(|moving| moving.text.contains(it)) {
            single(it, "", look, found);
        }
    }
    if look == Look::Held {
        let words = text.split_whitespace();
        let words = words.map(|it| it.trim_matches(|it: char| !it.is_alphanumeric()));
        let words: Vec<&str> = words.collect();
        let start = |it: &str| it.as_ptr().addr() - text.as_ptr().addr();
        for few in (0..words.len()).map(|from| &words[from..words.len().min(from + WORDS)]) {
            let ends = few.iter().skip(1).map(|it| start(it) + it.len());
            ends.for_each(|end| found(&text[start(few[0])..end]));
        }
    }
}

fn single(text: &str, key: &str, look: Look, found: &mut dyn FnMut(&str)) {
    let (is_id, is_number) = (key::is_id(key), text.parse::<f64>().is_ok());
    let is_own = if is_number {
        let is_time = key::is_moving(key) || mask::text(text) != text;
        let is_long = text.len() >= DIGITS && text.bytes().all(|it| it.is_ascii_digit());
        is_long && !is_time && (is_id || look > Look::Own)
    } else {
        text.chars().count() >= LETTERS
    };
    let is_prose = !is_number && text.contains(' ');
    let varies = |kind| is_moving(kind) || (is_prose && kind == TokenKind::Number);
    if text.is_empty() || placeholder::holds(text) || tokens(text).iter().any(|it| varies(it.kind))
    {
    } else if is_own {
        found(text);
    } else if is_id {
        found(&format!("#{text}"));
    }
}

/// Whether a token may differ only because time has passed.
fn is_moving(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Time | TokenKind::Duration | TokenKind::Ago)
}
