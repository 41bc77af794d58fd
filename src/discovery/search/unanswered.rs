//! Why there is no answer.

use std::fmt;

use crate::http_client::{NoReply, Silence};
use crate::model::trouble::Trouble;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// In a fragment.
    pub why: String,
    /// What another try may find gone.
    pub trouble: Option<Trouble>,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
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
