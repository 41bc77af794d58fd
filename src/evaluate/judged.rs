//! What comes of looking at criteria.

use crate::model::suite::{Check, CheckState};

/// The results of the criteria.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    pub checks: Vec<Check>,
    /// The criteria that cannot be judged.
    pub impossible: Vec<Impossible>,
}

/// A criterion that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// What is expected, in words.
    pub what: String,
    /// Why not, in a sentence.
    pub why: String,
    /// The name that may be meant where it names what was never there.
    pub meant: Option<String>,
}

/// The state of a criterion, and what speaks against it.
pub(super) type State = (CheckState, String);

/// The state of a criterion, where it can be judged.
pub(super) type Judged = Result<State, Unclear>;

/// Why a criterion cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unclear {
    /// In a sentence.
    pub(super) why: String,
    /// The name that may be meant where it names what was never there.
    pub(super) meant: Option<String>,
}

pub(super) fn passed() -> State {
    (CheckState::Passed, String::new())
}

pub(super) fn failed(message: impl Into<String>) -> State {
    (CheckState::Failed, message.into())
}

pub(super) fn unchecked(message: impl Into<String>) -> State {
    (CheckState::Unchecked, message.into())
}
