//! One line of the alignment in the published result: two calls, or one without a partner.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::call::CallStatus;
use crate::comparison::{Bound, Polled};
use crate::label::labelled;

/// One line of the alignment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub kind: RowKind,
    /// The server the call was routed to; `null` when the trajectory was not at hand.
    pub server: Option<String>,
    /// The tool's name on that server; `null` when the trajectory was not at hand.
    pub tool: Option<String>,
    /// What the call is for, where its tool only passes calls on: `everything:echo`; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The call changes something, as opposed to only reading.
    pub effect: bool,
    /// The call of the baseline; `null` for an extra call.
    pub baseline: Option<Call>,
    /// The call of the run; `null` for a missing call.
    pub current: Option<Call>,
    /// What a call without a partner asked for; `null` for a pair, whose parameters say it.
    pub arguments: Option<Map<String, Value>>,
    /// Did the agent ask for the same thing? `null` without a partner.
    pub request: Option<RequestComparison>,
    /// Did the server answer the same? `null` without a partner.
    pub response: Option<ResponseComparison>,
    /// Both questions together, 0 to 1; a call without a partner counts 0.
    pub call: f64,
    /// What of the arguments comes from earlier answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<Bound>,
    /// How often each side asked, where the call is a poll: the same read, repeated until its answer changed. Its last answer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polled: Option<Polled>,
    /// How often recording heard the answer to this request. What was heard once is graded, as nobody knows what of it varies; else what
    /// did not vary must be as it was. `null` without a partner, and where answers are not compared.
    #[serde(default)]
    pub takes: Option<usize>,
    /// Places of the answer that are not looked at, because they were another thing whenever it was heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// The rows of `upstream` with what was heard behind this call, counted from 1; absent where there are none. A row that no call has is
    /// about what was heard before the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<usize>,
}

/// Whether a call has a partner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    #[default]
    Pair,
    /// The baseline has it, the run does not.
    Missing,
    /// The run has it, the baseline does not.
    Extra,
}

/// One call, as far as a report needs it without the trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Counted from 1 among the scored calls of its side.
    pub number: usize,
    /// `null` when the trajectory was not at hand.
    pub outcome: Option<CallStatus>,
    /// What the failure said, shortened for reading; `null` for an answer.
    pub error: Option<String>,
    /// Milliseconds from request to outcome.
    pub duration_ms: Option<f64>,
}

/// The two requests of a pair, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestComparison {
    /// 0 to 1.
    pub similarity: f64,
    /// One entry per argument of either side, sorted by name.
    pub parameters: Vec<Parameter>,
}

/// One argument, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    pub name: String,
    /// The baseline's value; left out (as opposed to `null`) where the baseline left the argument out.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub expected: Option<Value>,
    /// The run's value; left out (as opposed to `null`) where the run left the argument out.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub got: Option<Value>,
    /// 0 to 1; `null` where a rule leaves the argument out of the comparison.
    pub similarity: Option<f64>,
    /// How it was compared: `equal`, `words`, `distance`, `type` …, `missing` or `added`, or the scenario's rule; `bound` for
    /// a value that each side's own server gave, `stale` for the baseline's where the run's server gave another.
    pub method: String,
}

/// Keeps a `null` that is there apart from a member that is not.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

/// The two answers of a pair, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseComparison {
    /// 0 to 1.
    pub similarity: f64,
    /// The two answers say the same, down to what is not compared; `null` when a trajectory was not at hand.
    #[serde(default)]
    pub identical: Option<bool>,
    /// Changes a consumer of the answer would trip over; any of them caps the similarity at 0.5.
    pub contract_changes: Vec<ContractChange>,
    /// Every place where the two answers differ, contract changes among them.
    pub differences: Vec<Difference>,
}

impl Row {
    /// The calls it is about: number in the baseline, number in the run.
    pub fn calls(&self) -> (Option<usize>, Option<usize>) {
        let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
        (number(&self.baseline), number(&self.current))
    }

    /// The tool's name for people: its name on the server, which stands beside it, and what the call is for.
    pub fn tool_name(&self) -> String {
        let tool = self.tool.as_deref().unwrap_or("unknown tool");
        labelled(tool, self.label.as_deref())
    }

    /// The numbers of the row's calls, for people: `3`, `3 → 2`, `3 → none`.
    pub fn numbers(&self) -> String {
        match (&self.baseline, &self.current) {
            (Some(before), Some(now)) if before.number == now.number => now.number.to_string(),
            (Some(before), Some(now)) => format!("{} → {}", before.number, now.number),
            (Some(before), None) => format!("{} → none", before.number),
            (None, Some(now)) => format!("none → {}", now.number),
            (None, None) => "none".to_owned(),
        }
    }
}

/// A change that a consumer of the answer would trip over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractChange {
    /// Where in the answer, as a path like `/content/0/json/servers/3/id`.
    pub path: String,
    /// What happened, in words: `became an error`, `missing`, `renamed to "server_id"`.
    pub what: String,
}

/// One place where two answers differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Where in the answer, as a path like `/content/0/json/servers/3/id`.
    pub path: String,
    /// What the baseline has there, shortened for reading; `null` where it has nothing.
    pub expected: Option<String>,
    /// What the run has there, shortened for reading; `null` where it has nothing.
    pub got: Option<String>,
    /// 0 to 1.
    pub similarity: f64,
    /// The rule that decided, in words.
    pub rule: String,
    /// The share of the response's similarity lost here; the shares of one response add up to 1 − its similarity.
    pub loss: f64,
}
