//! Sentences that stand beside facts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sentence beside a fact, for those who read the document. Nothing reads it back, so all are equal.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    pub fn of(fact: &impl fmt::Display) -> Self {
        Self(fact.to_string())
    }
}

impl PartialEq for Text {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Text {}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
