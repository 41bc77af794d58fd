//! The state of a scenario, for people: one word that says it all, in one colour.

use model::Status;
use model::published::result::Scenario;

/// How a scenario came out. Each has a colour, a filter and a section of its own; what needs a look comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Failed,
    Error,
    Timeout,
    Interrupted,
    Inconclusive,
    /// Recorded although something speaks against it.
    Failing,
    /// Passed, or recorded, and yet not everything is as it was.
    Changed,
    Passed,
    Recorded,
    Skipped,
}

impl State {
    pub(super) const ALL: [Self; 10] = [
        Self::Failed,
        Self::Error,
        Self::Timeout,
        Self::Interrupted,
        Self::Inconclusive,
        Self::Failing,
        Self::Changed,
        Self::Passed,
        Self::Recorded,
        Self::Skipped,
    ];

    pub(super) fn of(scenario: &Scenario) -> Self {
        match scenario.status {
            _ if scenario.is_failing() => Self::Failing,
            _ if scenario.is_changed() => Self::Changed,
            Status::Passed => Self::Passed,
            Status::Failed => Self::Failed,
            Status::Inconclusive => Self::Inconclusive,
            Status::Error => Self::Error,
            Status::Timeout => Self::Timeout,
            Status::Interrupted => Self::Interrupted,
            Status::Skipped => Self::Skipped,
            Status::Recorded => Self::Recorded,
        }
    }

    /// What style sheet, script and addresses call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Inconclusive => "inconclusive",
            Self::Failing => "failing",
            Self::Changed => "changed",
            Self::Passed => "passed",
            Self::Recorded => "recorded",
            Self::Skipped => "skipped",
        }
    }

    /// The state for people; `command` is that of the result.
    pub(super) fn words(self, command: &str) -> &'static str {
        match (self, command) {
            (Self::Failing, _) => "recorded, failing",
            (Self::Changed, "record") => "recorded, with changes",
            (Self::Changed, "run") => "passed, with deviations",
            (Self::Changed, _) => "passed, with changes",
            _ => self.name(),
        }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Failed => "✗",
            Self::Error | Self::Timeout | Self::Interrupted | Self::Failing => "!",
            Self::Inconclusive => "?",
            Self::Changed => "~",
            Self::Passed => "✓",
            Self::Recorded => "●",
            Self::Skipped => "-",
        }
    }
}
