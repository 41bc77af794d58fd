//! The status of a measurement, and the version of its document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the documents; it changes when a reader of an older one could misunderstand it.
pub const FORMAT_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Passed,
    Failed,
    /// It was measured, and nothing was demanded of it.
    NoGate,
    /// Something could not be measured.
    Incomplete,
}

impl Status {
    /// The status of a scenario that looks like it on pages.
    pub fn class(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NoGate => "recorded",
            Self::Incomplete => "error",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NoGate => "no gate",
            Self::Incomplete => "incomplete",
        }
    }
}
