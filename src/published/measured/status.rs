//! How a measurement came out, and the version of its document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the documents; it changes when a reader of an older one could misunderstand it.
pub const FORMAT_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Passed,
    Failed,
    /// Something could not be measured.
    Incomplete,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        }
    }
}
