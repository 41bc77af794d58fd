//! Causes of differences, each once for the whole document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CauseCall;
use crate::text::plural;

/// One root cause of whatever failed or changed, with everything it led to.
///
/// Results of earlier programs have `text` and `scenarios` alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Names the cause in addresses and commands; the same cause has the same one in every run.
    #[serde(default)]
    pub id: String,
    /// `null` in results of earlier programs.
    #[serde(default)]
    pub kind: Option<CauseKind>,
    /// The cause in one sentence, with the place, what was there and what is there now.
    pub text: String,
    /// The full name of the tool concerned, or of the first one; `null` where none is.
    #[serde(default)]
    pub tool: Option<String>,
    /// What the calls are for, where their tool only passes calls on; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where: `arguments/query`, `response/content/0/json/total`, `inputSchema/properties/limit`, a `*` for each index where several places
    /// are concerned; `null` for a call or a tool as a whole.
    #[serde(default)]
    pub path: Option<String>,
    /// What it was, shortened around the difference; the first one where several places are concerned; `null` where there was nothing.
    #[serde(default)]
    pub was: Option<String>,
    /// What it is now; `null` where there is nothing.
    #[serde(default)]
    pub now: Option<String>,
    /// The line of the scenario's file that asks for what is not met; absent where none does, and where several scenarios have it in others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Whose doing it is; `null` where nobody can tell.
    #[serde(default)]
    pub whose: Option<Whose>,
    /// A scenario did not pass because of it; else it is only a change. What earlier programs wrote was always of this kind.
    #[serde(default = "yes")]
    pub fails: bool,
    /// The ids of the scenarios: those that fail for it first, else in the order of the document.
    pub scenarios: Vec<String>,
    /// How many calls of all scenarios are concerned, those that follow from it included; 0 where none is.
    #[serde(default)]
    pub calls: usize,
    /// The calls of each scenario, in the order of `scenarios`.
    #[serde(default)]
    pub places: Vec<CausePlace>,
    /// What follows from it, a sentence each.
    #[serde(default)]
    pub follows: Vec<String>,
    /// What to try; absent where there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The calls of one scenario that a cause concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CausePlace {
    /// The scenario's id.
    pub scenario: String,
    /// Empty where no call is concerned.
    pub calls: Vec<CauseCall>,
    /// This scenario did not pass because of it; elsewhere it may only be a change. Earlier programs told this of the cause alone.
    #[serde(default = "yes")]
    pub fails: bool,
}

/// What kind of thing a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The two runs are not the same experiment.
    Experiment,
    /// A scenario could not be run or judged, or speaks against being kept.
    Problem,
    /// The tool catalogue drifted.
    Drift,
    /// A call fails, no longer fails, or fails with a different message.
    Error,
    /// An answer says something else.
    Answer,
    /// An answer says more than it did.
    Addition,
    /// An effect was made with something else.
    Effect,
    /// A read was asked otherwise.
    Request,
    /// A call was not made, is new, or stands elsewhere.
    Call,
    /// A server behind the one under test heard something else.
    Upstream,
    /// An expectation of the scenario is not met.
    Expectation,
    /// Calls took much longer.
    Slower,
    /// The model used many more tokens.
    Tokens,
    /// Too few of several runs passed.
    Repeated,
    /// The score is too low, and no single difference says why.
    Score,
}

impl CauseKind {
    /// Whether it is about what a call got.
    pub fn is_of_answer(self) -> bool {
        matches!(self, Self::Answer | Self::Addition | Self::Error)
    }
}

/// Whose doing a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// It asked otherwise, or something else.
    Agent,
    /// It answered equal requests otherwise, or later.
    Server,
    /// The tools that a server offers changed.
    Catalogue,
    /// What passes between the server under test and those behind it changed.
    Behind,
    /// Another experiment was made.
    Experiment,
}

fn yes() -> bool {
    true
}

impl Whose {
    /// Whose doing it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agent => "the agent",
            Self::Server => "the server",
            Self::Catalogue => "the tool catalogue",
            Self::Behind => "behind the server",
            Self::Experiment => "another experiment",
        }
    }
}

impl Cause {
    /// How many scenarios and calls it concerns: `3 scenarios, 12 calls`.
    pub fn extent(&self) -> String {
        let scenarios = plural(self.scenarios.len(), "scenario");
        match self.calls {
            0 => scenarios,
            calls => format!("{scenarios}, {}", plural(calls, "call")),
        }
    }
}
