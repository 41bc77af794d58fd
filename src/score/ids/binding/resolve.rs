//! What a live answer has where a recorded one has a bound value.

use serde_json::Value;

use super::extract;
use super::place::{self, at};
use super::within::text_of;
use model::binding::Binding;
use model::trajectory::Answer;

/// Words that stand where a value is missing.
const MISSING: [&str; 4] = ["undefined", "null", "None", "NaN"];
/// One character this often in a row is no id.
const REPEATED: usize = 8;

/// The value a live answer has where the recorded answer has the bound one; `None` when there is no text and no number there, or one that
/// stands for a missing value.
pub fn resolve(binding: &Binding, recorded: &Answer, live: &Answer) -> Option<Value> {
    let was = at(recorded, &binding.from.path)?;
    let now = place::in_other(recorded, live, &binding.from.path)?;
    let (was, now_text) = (text_of(&was)?, text_of(&now)?);
    let bound = text_of(&binding.value)?;
    if was == bound {
        return (!is_missing(&now_text)).then_some(now);
    }
    let piece = extract::extract(&was, &bound, &now_text);
    piece.filter(|it| !is_missing(it)).map(Value::from)
}

/// Whether a text stands for a missing value: nothing, `undefined`, a UUID of zeros.
fn is_missing(text: &str) -> bool {
    let mut signs = text.chars().filter(|it| *it != '-');
    let first = signs.next();
    let is_one = text.len() >= REPEATED && signs.all(|it| Some(it) == first);
    is_one || text.trim().is_empty() || MISSING.contains(&text)
}
