//! Why a tool is not called by a first scenario.

use std::fmt;
use std::time::Duration;

/// Why a tool is not called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WhyNot {
    NotReadOnly,
    /// These parameters.
    Unguessed(Vec<String>),
    Secret,
    Unsayable,
    /// Tried, with what it said.
    Failed(String),
    /// When it was recorded, with what it said.
    FailedLater(String),
    /// Tried for so long.
    TooSlow(Duration),
    NoTime,
    /// Tried, with what became of the server.
    Ended(String),
    Untried,
}

impl WhyNot {
    /// The same for several tools.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::NotReadOnly => "not marked as read-only",
            Self::Unguessed(_) => "with arguments that need a value",
            Self::Secret | Self::Unsayable => "with arguments that a scenario cannot hold",
            Self::Failed(_) | Self::FailedLater(_) => "failed when tried",
            Self::TooSlow(_) | Self::NoTime => "too slow for a first verdict in seconds",
            Self::Ended(_) => "ended the server",
            Self::Untried => "not tried, because the server had ended too often",
        }
    }

    /// Whether it would be called if there were more time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::TooSlow(_) | Self::NoTime)
    }
}

/// Why one tool is not called, in a few words.
impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReadOnly => f.write_str("it is not marked as read-only"),
            Self::Unguessed(unknown) => {
                let unknown: Vec<String> = unknown.iter().map(|it| format!("`{it}`")).collect();
                write!(f, "it needs a value for {}", unknown.join(", "))
            }
            Self::Secret => f.write_str("what it would be asked with looks like a secret"),
            Self::Unsayable => {
                f.write_str("`...` is what a scenario cannot say: `{{` begins a variable there")
            }
            Self::Failed(why) => write!(f, "tried once, it failed: {why}"),
            Self::FailedLater(why) => write!(f, "it failed: {why}"),
            Self::TooSlow(limit) => write!(
                f,
                "tried once, no answer came within {:.1} s",
                limit.as_secs_f64().max(0.1)
            ),
            Self::NoTime => {
                f.write_str("not tried, because the calls above fill the time for a first verdict")
            }
            Self::Ended(why) => write!(f, "tried once, it ended the server: {why}"),
            Self::Untried => f.write_str("not tried, because other calls had ended the server"),
        }
    }
}
