//! Why there is no answer.

use crate::http_client::{NoReply, Silence};
use crate::model::trouble::Trouble;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    /// In a fragment.
    pub why: String,
    /// What another try may find gone.
    pub trouble: Option<Trouble>,
}

impl From<String> for Unanswered {
    /// An answer that is none: asked again, it would be the same.
    fn from(why: String) -> Self {
        Self { why, trouble: None }
    }
}

impl From<NoReply> for Unanswered {
    fn from(it: NoReply) -> Self {
        Self {
            why: it.why,
            trouble: match it.silence {
                Silence::Unasked => None,
                Silence::TooLong => Some(Trouble::Timeout),
                Silence::Broken => Some(Trouble::Transport),
            },
        }
    }
}
