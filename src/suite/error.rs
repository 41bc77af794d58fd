//! Why scenarios could not be run at all.

use crate::store::StoreError;

/// Why scenarios could not be run at all: what failed, and what to try.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be fulfilled.
    #[error("{message}")]
    Invalid {
        message: String,
        hint: Option<String>,
    },
    /// Nothing is wrong with the request, but it could not be carried out.
    #[error("{message}")]
    Incomplete { message: String, hints: Vec<String> },
    /// Runs could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid {
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn incomplete(message: impl Into<String>) -> Self {
        Self::Incomplete {
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The same with what to try, where that is not said yet.
    #[must_use]
    pub(super) fn hint(self, hint: &str) -> Self {
        match self {
            Self::Invalid {
                message,
                hint: None,
            } => Self::Invalid {
                message,
                hint: Some(hint.to_owned()),
            },
            Self::Incomplete { message, mut hints } => {
                hints.push(hint.to_owned());
                Self::Incomplete { message, hints }
            }
            error => error,
        }
    }
}
