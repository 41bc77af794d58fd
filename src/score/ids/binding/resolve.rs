//! What a live answer has where a recorded one has a bound value.

use serde_json::Value;

use super::extract;
use super::place::{self, at};
use super::within::text_of;
use crate::model::binding::Binding;
use crate::model::trajectory::Answer;

/// The value a live answer has where the recorded answer has the bound one; `None` when there is no text and no number there.
pub fn resolve(binding: &Binding, recorded: &Answer, live: &Answer) -> Option<Value> {
    let was = at(recorded, &binding.from.path)?;
    let now = place::in_other(recorded, live, &binding.from.path)?;
    let (was, now_text) = (text_of(&was)?, text_of(&now)?);
    let bound = text_of(&binding.value)?;
    if was == bound {
        return (!now_text.trim().is_empty()).then_some(now);
    }
    extract::extract(&was, &bound, &now_text).map(Value::from)
}
