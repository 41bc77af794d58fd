//! The JSON document that a text consists of.

use serde_json::Value;

use crate::digits;

/// Documents of less than this are always looked into.
const LARGE: usize = 1 << 20;
/// The most memory that a document in a text may take: so many times the text, and this much more.
const TIMES: usize = 10;
const BEYOND: usize = 16 << 20;
/// What a member takes beside its value.
const NAME: usize = 96;

/// The JSON object or list a text consists of, long integers as [`digits`] marks them.
pub(super) fn embedded(text: &str) -> Option<Value> {
    (looks_like_json(text) && !is_too_dense(text))
        .then(|| digits::parse(text).ok())
        .flatten()
}

/// Whether a text would take far more memory as JSON than JSON usually does: millions of empty lists or of numbers. It is compared as the
/// text that it is.
pub(super) fn is_too_dense(text: &str) -> bool {
    if text.len() < LARGE {
        return false;
    }
    let bytes = text.as_bytes();
    let number_of = |sought: u8| times_in(bytes, sought);
    let empty = bytes.windows(2).filter(|it| *it == b"[]" || *it == b"{}");
    let inner = (number_of(b'[') + number_of(b'{')).saturating_sub(empty.count());
    let values = number_of(b',') + inner;
    let memory = values * size_of::<Value>() + number_of(b':') * NAME;
    memory > TIMES * text.len() + BEYOND
}

fn times_in(bytes: &[u8], sought: u8) -> usize {
    memchr::memchr_iter(sought, bytes).count()
}

/// Whether a text begins as a JSON object or list does.
pub(super) fn looks_like_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
}
