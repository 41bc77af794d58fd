//! Differences between baseline and run: a value for each thing that happened.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Drift, Edit, Text, ToolDrift};

/// One thing that differs between baseline and run, whether it fails the gate or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub kind: ChangeKind,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The full name of the tool concerned.
    pub tool: Option<String>,
    /// What the call is for, where its tool only passes calls on: `everything:echo`; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where: `arguments/query`, `response/content/0/json/total`, `description`, `inputSchema/properties/limit`; `null` for a call as a whole.
    pub path: Option<String>,
    /// What happened there.
    #[serde(rename = "code")]
    pub what: What,
    /// The same in words, for those who read the document.
    #[serde(rename = "what", default)]
    pub text: Text,
    /// What it was, shortened around the difference; `null` where there was nothing.
    pub was: Option<String>,
    /// What it is now; `null` where there is nothing.
    pub now: Option<String>,
    /// The run failed for it.
    pub fails: bool,
    /// The earlier change that it follows from; absent where it is one by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Follows>,
}

/// The change that another one follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Follows {
    /// Its place in the list of changes, from 0.
    pub change: usize,
    pub how: How,
}

/// How one change follows from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The same value became the same other one.
    SameValue,
    /// A number changed by the same factor.
    Derived,
    /// An effect failed that had changed it before, or the server could not be asked any more.
    AfterFailed,
    /// The object that both are members of was replaced.
    SameObject,
    /// One happened behind the server under test, the other in the call of the agent that it is behind.
    Behind,
    /// It is of the same call, which that tells of.
    SameCall,
    /// It is the same change of another call, or of another tool.
    Alike,
    /// The changed catalogue refuses the call.
    Refused,
    /// The call is made under the new name of its tool.
    NewName,
    /// The call is made of the tool that is nearest to one that is gone.
    Instead,
    /// The call needs a value of the other one.
    Needs,
    /// The run ended before it came to the call.
    NotReached,
    /// The call was made once more.
    Retried,
}

impl How {
    /// Whether what follows is the same thing once more, and not worth a line.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::SameCall | Self::Alike | Self::NewName)
    }
}

impl Change {
    /// Of which nothing is known but what happened; no run failed for it.
    pub fn new(kind: ChangeKind, what: What) -> Self {
        Self {
            kind,
            baseline: None,
            current: None,
            tool: None,
            label: None,
            path: None,
            what,
            text: Text::default(),
            was: None,
            now: None,
            fails: false,
            follows: None,
        }
    }

    /// A change of the catalogue that no run failed for.
    pub fn of_drift(drift: &Drift) -> Self {
        Self {
            tool: Some(format!("mcp__{}__{}", drift.server, drift.tool)),
            path: Some(drift.path.clone()).filter(|it| !it.is_empty()),
            was: drift.was.clone(),
            now: drift.now.clone(),
            ..Self::new(ChangeKind::Drift, What::Catalogue(drift.of_tool()))
        }
    }
}

/// A path with a star for each index of a list. The number of a content block stays, because people do not see blocks as a list.
pub fn starred(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for (at, step) in path.split('/').enumerate() {
        let is_block = at == 2 && steps.get(1) == Some(&"content");
        let is_index = !step.is_empty() && step.bytes().all(|it| it.is_ascii_digit());
        steps.push(if is_index && !is_block { "*" } else { step });
    }
    steps.join("/")
}

/// The key that a step of a path stands for.
pub fn unescaped(step: &str) -> String {
    let key = step.replace("~2", "*").replace("~1", "/");
    key.replace("~0", "~")
}

/// What kind of thing a change is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A call was not made, is new, or stands elsewhere.
    Call,
    /// A read was asked otherwise.
    Request,
    /// An effect was made with something else, or worded otherwise.
    Effect,
    /// An answer says something else.
    Answer,
    /// An answer says more than it did.
    Addition,
    /// An error is worded otherwise, came, or went.
    Error,
    /// The tool catalogue drifted.
    Drift,
    /// A call took much longer.
    Slower,
    /// The model used many more tokens.
    Tokens,
    /// A server behind the one under test heard something else.
    Upstream,
}

/// What happened at the place of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    NotMade,
    New,
    /// An equal read was made elsewhere among the calls.
    Moved,
    /// It is expected as the call of this number, and was not made.
    Expected(usize),
    Unexpected,
    NotWhereExpected,
    NotAsExpected,
    AskedOtherwise,
    MadeOtherwise,
    WordedOtherwise,
    /// The same value in another notation, such as a number as text.
    WrittenOtherwise,
    /// An answer before the last one of a call that was asked again and again.
    OtherTry,
    Answer(Edit),
    Slower,
    Tokens,
    /// A server's catalogue changed.
    Catalogue(ToolDrift),
    /// What a server behind the one under test heard, in words, and when.
    Heard {
        when: Option<When>,
        said: String,
    },
    /// In words: of results of earlier programs, and remarks on what could not be compared.
    Described(String),
}

/// When a server behind the one under test heard something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// During a call of the agent.
    Behind,
    BeforeFirst,
}

impl ChangeKind {
    /// Whether it is about what a call got.
    pub fn is_of_answer(self) -> bool {
        matches!(self, Self::Answer | Self::Addition | Self::Error)
    }

    /// Whether it is about which call was made, and with what.
    pub fn is_of_request(self) -> bool {
        matches!(self, Self::Call | Self::Request | Self::Effect)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Request => "request",
            Self::Effect => "effect",
            Self::Answer => "answer",
            Self::Addition => "addition",
            Self::Error => "error",
            Self::Drift => "drift",
            Self::Slower => "slower",
            Self::Tokens => "tokens",
            Self::Upstream => "upstream",
        }
    }
}

impl What {
    /// Whether the words on it say what was there and what is there now.
    pub fn has_values(&self) -> bool {
        matches!(self, Self::Catalogue(drift) if drift.change.has_values())
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotMade => "was not made",
            Self::New => "is new",
            Self::Moved => "was made in another place",
            Self::Expected(number) => {
                return write!(f, "is expected as call {number}, and was not made");
            }
            Self::Unexpected => "is not expected",
            Self::NotWhereExpected => "was made in another place than expected",
            Self::NotAsExpected => "is not as expected",
            Self::AskedOtherwise => "asked otherwise",
            Self::MadeOtherwise => "made with another value",
            Self::WordedOtherwise => "worded otherwise",
            Self::WrittenOtherwise => "the same, written otherwise",
            Self::OtherTry => "was another one while it was asked again and again",
            Self::Answer(edit) => return edit.fmt(f),
            Self::Slower => "took much longer",
            Self::Tokens => "the model used many more tokens",
            Self::Catalogue(drift) => return drift.fmt(f),
            Self::Heard { when, said } => {
                return match when {
                    Some(when) => write!(f, "{when}, {said}"),
                    None => f.write_str(said),
                };
            }
            Self::Described(said) => said,
        })
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Behind => "behind it",
            Self::BeforeFirst => "before the first call",
        })
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameValue => "the same value",
            Self::Derived => "computed from it",
            Self::AfterFailed => "after it failed",
            Self::SameObject => "in the same object",
            Self::Behind | Self::SameCall => "in the same call",
            Self::Alike => "the same change",
            Self::Refused => "refused by the new catalogue",
            Self::NewName => "under its new name",
            Self::Instead => "in its place",
            Self::Needs => "it needs a value of that call",
            Self::NotReached => "the run had ended before",
            Self::Retried => "made once more",
        })
    }
}
