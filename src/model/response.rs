//! Differences between two answers to the same question.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Did the server answer the same?
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseScore {
    pub similarity: f64,
    /// Every place where the two answers differ.
    pub differences: Vec<Difference>,
}

/// One place where two answers differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where in the answer, as a path like `/content/0/json/servers/3/id`.
    pub path: String,
    pub edit: Edit,
    /// How it was graded; `None` where a difference is a difference, however large.
    pub grade: Option<Grade>,
    /// A consumer of the answer would trip over it: how steady the place had been. Any such caps the similarity at 0.5.
    pub breaks: Option<Steady>,
    /// What the baseline has there, shortened for reading; `None` where it has nothing.
    pub expected: Option<String>,
    /// What the run has there, shortened for reading; `None` where it has nothing.
    pub got: Option<String>,
    /// 0 to 1.
    pub similarity: f64,
    /// The share of the response's similarity lost here; the shares of one response add up to 1 − its similarity.
    pub loss: f64,
}

/// What happened at a place of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Changed,
    /// It is of another type now, or another of two values: `a string`, `true`.
    Became(String),
    BecameEmpty,
    WasEmpty,
    NoLongerJson,
    Missing(Piece),
    Added(Piece),
    /// A member has this name now.
    Renamed(String),
    /// An equal element stands elsewhere in its list.
    Displaced,
    /// A detail about a place that may vary: `is cut short`, `has passed`.
    Odd(Cow<'static, str>),
    BecameError,
    /// The server says that it is fine, and the text that it failed.
    ErrorInText,
    NoLongerError,
    /// The server asks its client something before it answers, which a client without an answer cannot go on from.
    AsksFirst,
    OtherKindOfError,
    OtherMessage,
    /// The code or the data of an error.
    BesideMessage,
    /// `_meta` and annotations.
    BesideContent,
    MissingBesideContent,
    NewSecret,
    /// What a call gave before, and this answer no longer repeats.
    NotRepeated {
        from: String,
        call: usize,
    },
    /// It was new in each take, and is what an earlier call gave.
    NotNew {
        call: usize,
    },
    /// The differences beyond those that are kept one by one, and how many of them break something.
    Rest {
        count: usize,
        breaking: usize,
    },
}

/// What of an answer went or came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    Member,
    Element,
    Line,
    Block,
    Structured,
}

/// How two values were graded that only differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grade {
    Words,
    Distance,
    Depth,
    Bytes,
    Uri,
}

/// How steady a place had been before it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Steady {
    /// Nothing is known, as the answer was received once.
    Unknown,
    /// It was the same whenever it was recorded.
    Always,
    /// It was the same in so many of so many takes.
    Same { agreed: usize, takes: usize },
    /// It varied, and was never so in so many of so many takes.
    Unlike { agreed: usize, takes: usize },
}

impl ResponseScore {
    /// Of two answers that are equal in every place.
    pub fn equal() -> Self {
        Self {
            similarity: 1.0,
            differences: Vec::new(),
        }
    }

    /// Whether a consumer of the answer would trip over something.
    pub fn is_broken(&self) -> bool {
        self.differences.iter().any(|it| it.breaks.is_some())
    }
}

impl Difference {
    /// Something that is shown, and costs nothing.
    pub fn shown(path: String, edit: Edit) -> Self {
        Self {
            path,
            edit,
            grade: None,
            breaks: None,
            expected: None,
            got: None,
            similarity: 1.0,
            loss: 0.0,
        }
    }

    /// The rule that decided, in words.
    pub fn rule(&self) -> String {
        self.grade
            .map_or_else(|| self.edit.to_string(), |it| it.name().to_owned())
    }

    /// What broke, in words, and how steady it had been: `missing, though stable in both recordings`.
    pub fn breach(&self) -> Option<String> {
        let steady = self.breaks?;
        Some(match (&self.edit, steady) {
            (Edit::Rest { breaking, .. }, _) => format!("{breaking} more changes"),
            (edit, _) => format!("{edit}{steady}"),
        })
    }
}

impl Edit {
    /// A detail about a place that may vary.
    pub const fn odd(what: &'static str) -> Self {
        Self::Odd(Cow::Borrowed(what))
    }

    /// Whether an error came, went, or is another one.
    pub fn is_of_error(&self) -> bool {
        matches!(
            self,
            Self::BecameError
                | Self::ErrorInText
                | Self::NoLongerError
                | Self::OtherKindOfError
                | Self::OtherMessage
        )
    }
}

impl Grade {
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Distance => "distance",
            Self::Depth => "depth",
            Self::Bytes => "bytes",
            Self::Uri => "uri",
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Self::Changed => "changed",
            Self::Became(what) => return write!(f, "became {what}"),
            Self::BecameEmpty => "became empty",
            Self::WasEmpty => "was empty",
            Self::NoLongerJson => "is no longer JSON",
            Self::Missing(Piece::Member) => "missing",
            Self::Missing(Piece::Element) => "missing element",
            Self::Missing(Piece::Line) => "missing line",
            Self::Missing(Piece::Block) => "missing block",
            Self::Missing(Piece::Structured) => "missing structured content",
            Self::Added(Piece::Member) => "added key",
            Self::Added(Piece::Element) => "added element",
            Self::Added(Piece::Line) => "added line",
            Self::Added(Piece::Block) => "added block",
            Self::Added(Piece::Structured) => "added structured content",
            Self::Renamed(to) => return write!(f, "renamed to {to:?}"),
            Self::Displaced => "stands in another place",
            Self::Odd(what) => what,
            Self::BecameError => "became an error",
            Self::ErrorInText => "became an error, in its text",
            Self::NoLongerError => "no longer an error",
            Self::AsksFirst => "is given only after a question to the client",
            Self::OtherKindOfError => "became another kind of error",
            Self::OtherMessage => "worded otherwise",
            Self::BesideMessage => "changed beside the message",
            Self::BesideContent => "is another one beside the content",
            Self::MissingBesideContent => "missing beside the content",
            Self::NewSecret => "a secret that was not there before",
            Self::NotRepeated { from, call } => {
                return write!(f, "does not repeat {from} of call {call}");
            }
            Self::NotNew { call } => {
                return write!(f, "is not new any more, but that of call {call}");
            }
            Self::Rest { count, .. } => return write!(f, "{count} smaller differences"),
        };
        f.write_str(said)
    }
}

impl fmt::Display for Steady {
    /// What stands behind the sentence of a change: `, though stable in both recordings`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unknown => Ok(()),
            Self::Always => f.write_str(", though stable in all recordings"),
            Self::Same { agreed, takes } => {
                f.write_str(", though stable in ")?;
                match (agreed, takes) {
                    (2, 2) => f.write_str("both recordings"),
                    _ if agreed == takes => write!(f, "all {takes} recordings"),
                    _ => write!(f, "{agreed} of {takes} recordings"),
                }
            }
            Self::Unlike {
                agreed: 2,
                takes: 2,
            } => f.write_str(", unlike both recordings"),
            Self::Unlike { agreed, takes } if agreed == takes => {
                write!(f, ", unlike all {takes} recordings")
            }
            Self::Unlike { agreed, takes } => {
                write!(f, ", unlike the {agreed} of {takes} recordings that agreed")
            }
        }
    }
}
