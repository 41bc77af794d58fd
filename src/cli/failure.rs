//! Why a command could not do what it was asked: what failed, why, and what to try.

use crate::cli::exit::Exit;
use crate::scenario_file::Finding;
use crate::store::StoreError;
use crate::suite;

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
            StoreError::Write { .. } | StoreError::Read { .. } | StoreError::Unreadable { .. } => {
                Exit::Incomplete
            }
            StoreError::CutOff { .. } | StoreError::Invalid { .. } | StoreError::Version { .. } => {
                Exit::Usage
            }
        };
        Self {
            exit,
            hints: error.hint().map(str::to_owned).into_iter().collect(),
            message: error.to_string(),
            is_printed: false,
        }
    }
}
