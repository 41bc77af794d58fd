//! The exit codes.

use std::process::ExitCode;

use crate::published::result::{Summary, UNDECIDED};

/// The exit codes; scripts and CI depend on these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Everything that was asked for was done, and everything that gates passed.
    Passed,
    /// Nothing that was asked for has changed, so there was nothing to do.
    Unchanged,
    /// There was nothing to do here, in a part of a suite that has something to do elsewhere.
    EmptyShard,
    /// All scenarios are quarantined, and the suite has no other gate, so that nothing was there to decide.
    Undecided,
    /// Nothing failed, but a drop was seen that too few runs cannot tell from chance.
    Inconclusive,
    /// Something failed its gate.
    Failed,
    /// Wrong usage, or an invalid file.
    Usage,
    /// Something could not be run or judged, or nothing ran.
    Incomplete,
    /// Stopped by a signal.
    Interrupted,
    /// The code that a fault makes a mock server exit with.
    Declared(u8),
}

impl Exit {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Passed
            | Self::Unchanged
            | Self::EmptyShard
            | Self::Undecided
            | Self::Inconclusive => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Incomplete => 3,
            Self::Interrupted => 130,
            Self::Declared(code) => code,
        }
    }

    /// The code's name in the result document.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Unchanged => "unchanged",
            Self::EmptyShard => "empty_shard",
            Self::Undecided => UNDECIDED,
            Self::Inconclusive => "inconclusive",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
            Self::Declared(_) => "declared",
        }
    }

    /// What the code means, for people.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Passed => "everything passed",
            Self::Unchanged => "nothing has changed, so nothing was run",
            Self::EmptyShard => "this part of the suite has no scenarios, so nothing was run",
            Self::Undecided => "nothing gates, because all scenarios are quarantined",
            Self::Inconclusive => {
                "nothing failed, but something is inconclusive (`--strict-statistics` makes that exit code 3)"
            }
            Self::Failed => "a gate failed",
            Self::Usage => "wrong usage or an invalid file",
            Self::Incomplete => "something could not be run or judged, or nothing ran",
            Self::Interrupted => "interrupted",
            Self::Declared(_) => "as declared",
        }
    }

    /// The code of a suite that came to its end. A failed gate weighs more than an incomplete run, and a suite in which nothing ran is never
    /// green. With `strict_statistics`, what is inconclusive could not be judged.
    pub(super) fn of(summary: Summary, strict_statistics: bool) -> Self {
        if summary.failed > 0 {
            Self::Failed
        } else if summary.error + summary.timeout + summary.interrupted > 0 {
            Self::Incomplete
        } else if summary.inconclusive > 0 {
            if strict_statistics {
                Self::Incomplete
            } else {
                Self::Inconclusive
            }
        } else if summary.succeeded() + summary.quarantined > 0 {
            Self::Passed
        } else {
            Self::Incomplete
        }
    }

    /// The code when this also happened: usage, then failure, then incompleteness.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        let weight = |exit| match exit {
            Self::Passed | Self::Unchanged | Self::EmptyShard | Self::Undecided => 0,
            Self::Inconclusive => 1,
            Self::Incomplete => 2,
            Self::Failed => 3,
            Self::Usage => 4,
            Self::Interrupted => 5,
            Self::Declared(_) => 6,
        };
        if weight(other) > weight(self) {
            other
        } else {
            self
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn usage_outweighs_failure_and_failure_outweighs_incompleteness() {
        assert_eq!(Exit::Incomplete.and(Exit::Failed), Exit::Failed);
        assert_eq!(Exit::Failed.and(Exit::Incomplete), Exit::Failed);
        assert_eq!(Exit::Failed.and(Exit::Usage), Exit::Usage);
        assert_eq!(Exit::Passed.and(Exit::Incomplete), Exit::Incomplete);
        assert_eq!(Exit::Inconclusive.and(Exit::Incomplete), Exit::Incomplete);
    }
}
