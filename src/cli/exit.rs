//! Exit codes, and failures: what failed, why, and what to try.

use std::process::ExitCode;

use crate::published::result::{Summary, UNDECIDED};
use crate::scenario_file::Finding;
use crate::store::StoreError;
use crate::suite;

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
                "no gate failed, but something is inconclusive (`--strict-statistics` makes that exit code 3)"
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

/// A command's failure. Its kind decides the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
    /// Each on a line of its own.
    pub(super) hints: Vec<String>,
    /// The result has been printed to stdout before this happened.
    pub(super) is_printed: bool,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            message: message.into(),
            hints: Vec::new(),
            is_printed: false,
        }
    }

    /// Something could not be run, read or written.
    pub(super) fn incomplete(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Incomplete,
            ..Self::usage(message)
        }
    }

    /// Something is wrong with what the user has written.
    pub(super) fn invalid(findings: &[Finding]) -> Self {
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Self::usage(findings.join("\n"))
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same in other words, such as without what is secret in them.
    #[must_use]
    pub(super) fn reworded(mut self, words: impl Fn(&str) -> String) -> Self {
        self.message = words(&self.message);
        for hint in &mut self.hints {
            *hint = words(hint);
        }
        self
    }
}

impl From<suite::Error> for Failure {
    fn from(error: suite::Error) -> Self {
        match error {
            suite::Error::Invalid { message, hint } => {
                let failure = Self::usage(message);
                hint.into_iter().fold(failure, Self::hint)
            }
            suite::Error::Incomplete { message, hints } => {
                let failure = Self::incomplete(message);
                hints.into_iter().fold(failure, Self::hint)
            }
            suite::Error::Store(error) => error.into(),
        }
    }
}

impl From<suite::Refusal> for Failure {
    fn from(refusal: suite::Refusal) -> Self {
        match refusal {
            suite::Refusal::Store(error) => error.into(),
            suite::Refusal::Other { message, hint } => Self::usage(message).hint(hint),
        }
    }
}

impl From<&suite::Broken> for Failure {
    fn from(broken: &suite::Broken) -> Self {
        let failure = Self::usage(broken.why().to_string());
        broken.why().hint().into_iter().fold(failure, Self::hint)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::Write { .. }
            | StoreError::Read { .. }
            | StoreError::Catalogue { .. }
            | StoreError::Unreadable { .. } => Exit::Incomplete,
            StoreError::CutOff { .. }
            | StoreError::Invalid { .. }
            | StoreError::Version { .. }
            | StoreError::OtherDialogue { .. } => Exit::Usage,
        };
        Self {
            exit,
            hints: error.hint().map(str::to_owned).into_iter().collect(),
            message: error.to_string(),
            is_printed: false,
        }
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
