//! A run against its baseline in the published result, every number with the rule that led to it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A baseline and a run, side by side. Calls are numbered from 1 among the scored calls of their own side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonV1 {
    pub passed: bool,
    pub scores: ScoresV1,
    pub band: BandV1,
    /// What the band advises to do.
    pub advice: String,
    pub baseline_status: ExecutionStatusV1,
    pub current_status: ExecutionStatusV1,
    /// The run went better than its baseline did; never scored up.
    pub improved: bool,
    /// Which accepted variant the run was scored against, where there are several (1 is the main one).
    pub variant: usize,
    /// One per failed condition; empty when passed.
    pub reasons: Vec<ReasonV1>,
    /// What a reader should know although it does not fail the gate.
    pub warnings: Vec<ReasonV1>,
    /// The calls of both sides in order, paired where they match.
    pub rows: Vec<RowV1>,
    /// Where the points between 1 and the overall score went; they add up to the difference.
    pub losses: Vec<LossV1>,
    /// What changed in the tools the servers offer.
    pub drift: Vec<DriftV1>,
    /// Calls that took much longer than in the baseline.
    pub slower: Vec<SlowerV1>,
}

/// The numbers of a comparison, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoresV1 {
    /// The score the gate looks at: `calls * status_factor - count_penalty`, at least 0.
    pub overall: f64,
    /// Argument similarity alone, over the longer of the two sides.
    pub trajectory: f64,
    /// Mean of the call scores, over the longer of the two sides.
    pub calls: f64,
    /// What the mean is multiplied by because the run went worse as a whole.
    pub status_factor: f64,
    /// What is taken off because the numbers of calls differ by more than 2.
    pub count_penalty: f64,
    /// The lowest overall score that passes.
    pub threshold: f64,
}

/// The overall score in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BandV1 {
    /// Below 0.3.
    Broken,
    /// From 0.3.
    Degraded,
    /// From 0.6.
    Acceptable,
    /// From 0.8.
    Good,
}

/// How the calls of one run went, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatusV1 {
    /// A critical call failed and the run ended early.
    Blocked,
    /// Every call failed.
    Failed,
    /// Some calls failed.
    Partial,
    /// No call failed.
    Success,
}

/// One line of the alignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowV1 {
    pub kind: RowKindV1,
    /// The server the call was routed to; `null` when the trajectory was not at hand.
    pub server: Option<String>,
    /// The tool's name on that server; `null` when the trajectory was not at hand.
    pub tool: Option<String>,
    /// The call changes something, as opposed to only reading.
    pub effect: bool,
    /// The call of the baseline; `null` for an extra call.
    pub baseline: Option<CallV1>,
    /// The call of the run; `null` for a missing call.
    pub current: Option<CallV1>,
    /// What a call without a partner asked for; `null` for a pair, whose parameters say it.
    pub arguments: Option<Map<String, Value>>,
    /// Did the agent ask for the same thing? `null` without a partner.
    pub request: Option<RequestV1>,
    /// Did the server answer the same? `null` without a partner.
    pub response: Option<ResponseV1>,
    /// Both questions together, 0 to 1; a call without a partner counts 0.
    pub call: f64,
}

/// Whether a call has a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowKindV1 {
    Pair,
    /// The baseline has it, the run does not.
    Missing,
    /// The run has it, the baseline does not.
    Extra,
}

/// One call, as far as a report needs it without the trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallV1 {
    /// Counted from 1 among the scored calls of its side.
    pub number: usize,
    /// `null` when the trajectory was not at hand.
    pub outcome: Option<OutcomeV1>,
    /// What the failure said, shortened for reading; `null` for an answer.
    pub error: Option<String>,
    /// Milliseconds from request to outcome.
    pub duration_ms: Option<f64>,
}

/// What became of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeV1 {
    /// The server answered.
    Answer,
    /// The tool says it failed (`isError`).
    ToolError,
    /// The server returned a JSON-RPC error.
    RpcError,
    /// No answer within the tool timeout.
    Timeout,
    /// The connection ended before the answer came.
    Disconnected,
    /// An answer came that is no tool result.
    InvalidResponse,
    /// The structured content breaks the tool's own output schema.
    InvalidStructuredContent,
    /// The HTTP exchange failed.
    Transport,
}

/// The two requests of a pair, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestV1 {
    /// 0 to 1.
    pub similarity: f64,
    /// One entry per argument of either side, sorted by name.
    pub parameters: Vec<ParameterV1>,
}

/// One argument, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterV1 {
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
    /// How it was compared: `equal`, `words`, `distance`, `type` …, `missing` or `added`, or the scenario's rule.
    pub method: String,
}

/// Keeps a `null` that is there apart from a member that is not.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

/// The two answers of a pair, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseV1 {
    /// 0 to 1.
    pub similarity: f64,
    /// Changes a consumer of the answer would trip over; any of them caps the similarity at 0.5.
    pub contract_changes: Vec<ContractChangeV1>,
    /// Every place where the two answers differ, contract changes among them.
    pub differences: Vec<DifferenceV1>,
}

/// A change that a consumer of the answer would trip over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractChangeV1 {
    /// Where in the answer, as a path like `/content/0/json/servers/3/id`.
    pub path: String,
    /// What happened, in words: `became an error`, `missing`, `renamed to "server_id"`.
    pub what: String,
}

/// One place where two answers differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceV1 {
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

/// A place where points were lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LossV1 {
    pub points: f64,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The tool's full name, where a call is concerned.
    pub tool: Option<String>,
    /// The argument or the path into the response, such as `arguments/query` or `response/content/0/text`.
    pub path: Option<String>,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// The rule that took the points, in words.
    pub rule: String,
}

/// What changed in one tool the servers offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriftV1 {
    pub server: String,
    pub tool: String,
    /// What changed, in words.
    pub what: String,
    /// A client written against the old catalogue may fail.
    pub breaking: bool,
    /// The baseline calls this tool.
    pub used: bool,
}

/// A call that took much longer than in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowerV1 {
    /// The number of the call in the baseline.
    pub baseline: usize,
    /// The number of the call in the run.
    pub current: usize,
    pub baseline_ms: Option<f64>,
    pub current_ms: Option<f64>,
}

/// One condition that failed or is worth a warning, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonV1 {
    pub kind: ReasonKindV1,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The whole sentence, tool included.
    pub text: String,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// What explains it, where the tool catalogue does.
    pub cause: Option<String>,
}

/// Which condition failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKindV1 {
    /// The overall score is below the threshold.
    Threshold,
    /// The same question got another answer.
    ServerRegression,
    /// An effect differs, is missing or is new.
    EffectChange,
    /// The tool catalogue changed in a way that breaks clients.
    Drift,
    /// A call became slower.
    Slower,
    /// A match mode that is all or nothing does not hold.
    Match,
    /// An expectation of the scenario is not met.
    Expectation,
}

impl fmt::Display for ReasonV1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => write!(f, ": expected {expected}, got {got}")?,
            (Some(expected), None) => write!(f, ": expected {expected}, got nothing")?,
            (None, Some(got)) => write!(f, ": got {got}")?,
            (None, None) => {}
        }
        match &self.cause {
            Some(cause) => write!(f, " ({cause})"),
            None => Ok(()),
        }
    }
}

impl BandV1 {
    /// The band as the document spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Degraded => "degraded",
            Self::Broken => "broken",
        }
    }
}

impl ExecutionStatusV1 {
    /// The status as the document spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }
}

impl OutcomeV1 {
    /// The outcome in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Answer => "answered",
            Self::ToolError => "tool error",
            Self::RpcError => "JSON-RPC error",
            Self::Timeout => "no answer in time",
            Self::Disconnected => "connection ended",
            Self::InvalidResponse => "invalid response",
            Self::InvalidStructuredContent => "invalid structured content",
            Self::Transport => "HTTP exchange failed",
        }
    }

    pub fn is_failure(self) -> bool {
        self != Self::Answer
    }
}

impl RowV1 {
    /// The tool's name for people: its name on the server, which stands beside it.
    pub fn tool_name(&self) -> &str {
        self.tool.as_deref().unwrap_or("unknown tool")
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
