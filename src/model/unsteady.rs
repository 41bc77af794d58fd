//! Answers of a system under test that changed when it was asked the same again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answers that were other ones when the same was asked once more, so that nobody knows whether anything changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsteady {
    /// It decides as what could not be judged does, unless `scoring.unsteady` says that it is only shown.
    pub gates: bool,
    /// Empty where only the score was too low, and was not the second time.
    pub answers: Vec<TwoAnswers>,
}

/// A place where two runs differ that asked the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TwoAnswers {
    /// The version that answered both; absent for the one under test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The number of the call; `null` where none is concerned.
    pub call: Option<usize>,
    /// The tool's full name.
    pub tool: Option<String>,
    /// Where: `response/content/0/json/state`; `null` for a call as a whole.
    pub path: Option<String>,
    /// What was accepted there, shortened; `null` for nothing.
    pub recorded: Option<String>,
    pub first: Option<String>,
    /// What it was when it was asked once more.
    pub again: Option<String>,
}

impl TwoAnswers {
    /// All its texts.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let place = [&mut self.version, &mut self.tool, &mut self.path];
        let values = [&mut self.recorded, &mut self.first, &mut self.again];
        place.into_iter().chain(values).flatten()
    }
}

impl fmt::Display for TwoAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.call.map(|it| format!("call {it}"));
        let place = [&self.version, &call, &self.tool, &self.path];
        let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        let value = |it: &'_ Option<String>| it.clone().unwrap_or_else(|| "nothing".to_owned());
        let (place, first, again) = (place.join(", "), value(&self.first), value(&self.again));
        write!(
            f,
            "{place} gave {first} first, and {again} when asked again"
        )
    }
}
