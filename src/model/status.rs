//! The status of a scenario.

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

/// Why a scenario was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotRun {
    /// Its file says `enabled: false`.
    Disabled,
    /// It makes no sense for the command, or what it needs is not here, which its file allows.
    Unavailable,
    /// An earlier scenario has not passed (`--fail-fast`).
    FailFast,
    /// The budget for models is spent.
    Budget,
    /// Somebody stopped the command before it had begun.
    Interrupted,
    /// A part of the suite should have run it, and no result of that part is there.
    MissingPart,
}

impl NotRun {
    /// It would have been run, had the command come so far.
    pub fn is_not_started(self) -> bool {
        matches!(self, Self::FailFast | Self::Budget | Self::Interrupted)
    }
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

    /// The same, or it was skipped.
    pub fn is_fine_or_skipped(self) -> bool {
        self.is_fine() || self == Self::Skipped
    }
}
