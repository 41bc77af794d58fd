//! How a scenario came out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a scenario came out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Passed,
    Failed,
    /// Nothing judged it, or its servers are unsteady. With `--repeat` also: fewer runs passed than when the baseline was recorded, and chance
    /// alone may explain that.
    Inconclusive,
    /// It could not be run or judged.
    #[default]
    Error,
    /// It did not end within its timeout.
    Timeout,
    /// Somebody stopped the command before it had finished, or before it had begun.
    Interrupted,
    /// It is disabled.
    Skipped,
    /// Its trajectory was kept as the baseline.
    Recorded,
}

impl Status {
    /// The status as the document spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Skipped => "skipped",
            Self::Recorded => "recorded",
        }
    }

    /// A sign that tells the status without colour.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Passed => "✓",
            Self::Failed => "✗",
            Self::Inconclusive => "?",
            Self::Error | Self::Timeout | Self::Interrupted => "!",
            Self::Skipped => "-",
            Self::Recorded => "●",
        }
    }

    /// It was left out for a reason that says nothing about it, and that several may share.
    pub fn is_left_out(self) -> bool {
        matches!(self, Self::Skipped | Self::Interrupted)
    }

    /// Nobody needs to look at it.
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Passed | Self::Recorded)
    }
}
