//! The outcome of a look at a run: of an evaluator, and of criteria.

use super::subject::Unasked;
use crate::model::ruling::Ruling;
use crate::model::{Check, CheckState, EvaluationStatus};
use crate::text::shorten;

/// The longest message and line of details, in characters: what servers and programs say may be long.
const MESSAGE_CHARS: usize = 600;

/// The most details that are kept.
const DETAILS: usize = 40;

/// Why nobody can tell any more.
pub const HIDDEN: &str =
    "a secret was taken out of what it looks at, and may decide it: run the scenario again";

/// Why what a stored run left is not looked at.
pub(super) const STORED: &str = "this run was stored, and what it left is not there any more";

/// What one evaluator found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) status: EvaluationStatus,
    /// From 0 to 1; `None` where nothing was judged.
    pub(super) score: Option<f64>,
    pub(super) message: String,
    pub(super) details: Vec<String>,
    /// What models said of it.
    pub(super) rulings: Vec<Ruling>,
    /// It failed as far as it could be judged: with what was skipped within, it might have passed.
    pub(super) leaves_open: bool,
    /// It was skipped because the run was stored: what it looks at is not there any more.
    pub(super) is_gone: bool,
}

impl Finding {
    fn new(status: EvaluationStatus, score: Option<f64>, message: impl Into<String>) -> Self {
        Self {
            status,
            score,
            message: message.into(),
            details: Vec::new(),
            rulings: Vec::new(),
            leaves_open: false,
            is_gone: false,
        }
    }

    pub(super) fn passed(message: impl Into<String>) -> Self {
        Self::new(EvaluationStatus::Passed, Some(1.0), message)
    }

    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(EvaluationStatus::Failed, Some(0.0), message)
    }

    /// There is nothing that could be judged.
    pub(super) fn skipped(why: impl Into<String>) -> Self {
        Self::new(EvaluationStatus::Skipped, None, why)
    }

    /// The run was stored, and what would be looked at is not there any more.
    pub(super) fn gone(why: impl Into<String>) -> Self {
        Self {
            is_gone: true,
            ..Self::skipped(why)
        }
    }

    /// What secrets were taken out of may decide, and nobody can tell any more.
    pub(super) fn hidden() -> Self {
        Self {
            is_gone: true,
            ..Self::error(HIDDEN)
        }
    }

    /// It could not be judged.
    pub(super) fn error(why: impl Into<String>) -> Self {
        Self::new(EvaluationStatus::Error, None, why)
    }

    /// Failed with all that speaks against the run, the first as message; passed without any.
    pub(super) fn of(problems: Vec<String>, passed: impl Into<String>) -> Self {
        let mut problems = problems.into_iter();
        match problems.next() {
            None => Self::passed(passed),
            Some(first) => Self::failed(first).with(problems),
        }
    }

    /// What was found in the run as it was, in words about the run as it is `shown`, which hold no secret.
    #[must_use]
    pub(super) fn worded_as(self, shown: Self) -> Self {
        if self.status == shown.status {
            return Self {
                score: self.score,
                ..shown
            };
        }
        let comes_to = match self.status {
            EvaluationStatus::Passed => "it passes",
            EvaluationStatus::Failed => "it fails",
            EvaluationStatus::Skipped => "it is skipped",
            EvaluationStatus::Error => "it cannot be judged",
        };
        let message = &shown.message;
        Self {
            message: format!("{comes_to} with what is hidden here; without that, {message}"),
            details: Vec::new(),
            ..self
        }
    }

    #[must_use]
    pub(super) fn with(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }

    #[must_use]
    pub(super) fn scored(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }

    #[must_use]
    pub(super) fn ruled(mut self, rulings: impl IntoIterator<Item = Ruling>) -> Self {
        self.rulings.extend(rulings);
        self
    }

    /// The same, as far as it could be judged.
    #[must_use]
    pub(super) fn leaving_open(mut self, leaves_open: bool) -> Self {
        self.leaves_open = leaves_open;
        self
    }

    /// The same with nothing in it that is too long to be shown.
    #[must_use]
    pub(super) fn bounded(mut self) -> Self {
        let left = self.details.len().saturating_sub(DETAILS);
        self.details.truncate(DETAILS);
        for text in std::iter::once(&mut self.message).chain(&mut self.details) {
            *text = shorten(text.trim(), MESSAGE_CHARS).into_owned();
        }
        if left > 0 {
            self.details.push(format!("and {left} more"));
        }
        self
    }
}

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

/// What came of asking where nothing was answered.
pub(super) fn not_asked(unasked: Unasked) -> Finding {
    match unasked {
        Unasked::Absent(why) => Finding::skipped(why),
        Unasked::Broken { why, said } => Finding::error(why).with(said),
    }
}
