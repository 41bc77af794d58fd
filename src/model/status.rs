//! How a scenario came out.

/// How a scenario came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Passed,
    Failed,
    /// Fewer of several runs passed than when the baseline was recorded, and chance alone may explain that.
    Inconclusive,
    /// It could not be run or judged.
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
}
