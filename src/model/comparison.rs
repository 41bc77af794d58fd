//! The comparison of a run with its baseline, every number with the rule that led to it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::reason::Reason;
use crate::{CallStatus, Change, Drift, Labels, ResponseScore, Source, Text, ToolCall, Trajectory};

/// A baseline and a run, side by side.
///
/// Calls are numbered from 1 among the scored calls of their own side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub scores: Scores,
    pub band: Band,
    /// How the calls of the two sides went, as a whole.
    pub baseline_status: ExecutionStatus,
    pub current_status: ExecutionStatus,
    /// The run went better than its baseline did; never scored up.
    pub improved: bool,
    /// The calls of both sides in order, paired where they match.
    pub rows: Vec<Row>,
    /// Where the points between 1 and the overall score went; they add up to the difference.
    pub losses: Vec<Loss>,
    /// What changed in the tools the servers offer.
    pub drift: Vec<Drift>,
    /// Calls that took much longer than in the baseline.
    pub slower: Vec<SlowerCall>,
    /// Whatever differs between the two sides, in the order of the calls; empty where nothing does.
    pub changes: Vec<Change>,
    pub verdict: Verdict,
    /// Which accepted variant the run was scored against, where there are several (1 is the main one).
    pub variant: usize,
    /// What reached the servers behind the one under test, with the numbers of its calls alone; `None` where nobody listened on either side.
    pub upstream: Option<Upstream>,
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

/// What the servers behind the one under test heard on both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Upstream {
    /// The calls that arrived there, in order, paired where they match.
    pub rows: Vec<UpstreamRow>,
    /// Headers of the agent's side that arrived with no call, and on one side only or with another value; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<UpstreamHeader>,
}

/// Two calls behind the server under test, or one without a partner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamRow {
    pub kind: RowKind,
    /// The server behind; `null` when the trajectory was not at hand.
    pub server: Option<String>,
    /// The tool's name on that server; `null` when the trajectory was not at hand.
    pub tool: Option<String>,
    /// The call changes something, as opposed to only reading.
    pub effect: bool,
    /// The call of the baseline; `null` for an extra call.
    pub baseline: Option<UpstreamCall>,
    /// The call of the run; `null` for a missing call.
    pub current: Option<UpstreamCall>,
    /// What a call without a partner asked for; `null` for a pair.
    pub arguments: Option<Map<String, Value>>,
    /// Places in the arguments that differ; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ArgumentDifference>,
    /// Headers that were passed on with it on one side only, or with another value; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<UpstreamHeader>,
    /// The server behind answered otherwise: what followed from that is not the doing of the one under test.
    pub answered_otherwise: bool,
    /// The run failed for it.
    pub fails: bool,
}

/// One call behind the server under test, as far as a report needs it without the trajectory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamCall {
    /// Counted from 1 among the calls that arrived behind on its side.
    pub number: usize,
    /// The call of the agent during or after which it arrived, counted from 1 among the scored calls of its side; `null` before the first.
    pub cause: Option<usize>,
    /// `null` when the trajectory was not at hand.
    pub outcome: Option<CallStatus>,
    /// What the failure said, shortened for reading; `null` for an answer.
    pub error: Option<String>,
    /// Milliseconds from request to outcome.
    pub duration_ms: Option<f64>,
}

impl UpstreamRow {
    /// A row of which nothing is known but the numbers of its calls, at least one, and what they do.
    pub fn new(baseline: Option<usize>, current: Option<usize>, effect: bool) -> Self {
        let call = |number| UpstreamCall {
            number,
            ..UpstreamCall::default()
        };
        Self {
            kind: match (baseline, current) {
                (Some(_), None) => RowKind::Missing,
                (None, _) => RowKind::Extra,
                (Some(_), Some(_)) => RowKind::Pair,
            },
            effect,
            baseline: baseline.map(call),
            current: current.map(call),
            ..Self::default()
        }
    }

    /// The calls it is about: number in the baseline, number in the run.
    pub fn calls(&self) -> (Option<usize>, Option<usize>) {
        let number = |call: &Option<UpstreamCall>| call.as_ref().map(|it| it.number);
        (number(&self.baseline), number(&self.current))
    }
}

/// A header of the agent's side that was passed on to a server behind, on one side only or with another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamHeader {
    /// The server behind.
    pub server: String,
    /// In lower case.
    pub name: String,
    /// Its value in the baseline; `null` where it was not passed on.
    pub was: Option<String>,
    /// Its value in the run; `null` where it was not passed on.
    pub now: Option<String>,
}

/// The numbers of a comparison, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
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

/// The overall score in a word; at most `acceptable` of what failed, and `degraded` where an answer or an effect changed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Band {
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
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
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// A call of the baseline and the call of the run that stands for it.
    Pair(Box<Pair>),
    /// A call of the baseline that the run did not make.
    Missing { baseline: usize, effect: bool },
    /// A call of the run that the baseline does not have.
    Extra { current: usize, effect: bool },
}

impl Row {
    /// The two calls, where it has both.
    pub fn pair(&self) -> Option<&Pair> {
        match self {
            Self::Pair(pair) => Some(pair),
            Self::Missing { .. } | Self::Extra { .. } => None,
        }
    }

    /// The calls it is about: number in the baseline, number in the run.
    pub fn calls(&self) -> (Option<usize>, Option<usize>) {
        match self {
            Self::Pair(pair) => (Some(pair.baseline), Some(pair.current)),
            Self::Missing { baseline, .. } => (Some(*baseline), None),
            Self::Extra { current, .. } => (None, Some(*current)),
        }
    }
}

/// Two calls of the same tool, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub baseline: usize,
    pub current: usize,
    /// Whether the tool changes something, as opposed to only reading.
    pub effect: bool,
    pub request: RequestScore,
    pub response: ResponseScore,
    /// Both questions together: what the pair adds to the overall score.
    pub call: f64,
    /// What of its arguments comes from earlier answers.
    pub bound: Vec<Bound>,
    /// How often each side asked, where the call is a poll; its last answer is the one that counts.
    pub polled: Option<Polled>,
    /// An equal read that the run made in another place among its calls.
    pub moved: bool,
    /// How often recording received the answer to this request, at least 1. What was answered once is graded; else what did not vary must be
    /// as it was.
    pub takes: usize,
    /// Places of the answer that are not looked at, because they were another thing in every take.
    pub unseen: Vec<String>,
}

/// An argument, or a part of one, that comes from an earlier answer; each side has the value its own server gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// JSON pointer to it in the arguments.
    pub path: String,
    pub from: Source,
    /// The baseline's value.
    #[serde(rename = "expected")]
    pub baseline: Value,
    /// The value in the run's answer; `null` where that has none, and the baseline's value was all there was to use.
    #[serde(rename = "got")]
    pub current: Option<Value>,
}

/// How often the two sides of a poll asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Polled {
    pub baseline: usize,
    pub current: usize,
}

/// Did the agent ask for the same thing?
#[derive(Debug, Clone, PartialEq)]
pub struct RequestScore {
    pub similarity: f64,
    /// One entry per argument of either side, sorted by name; none where all are simply equal.
    pub parameters: Vec<ParameterScore>,
    /// Of an effect, where it was made with something else; empty for reads, which are graded alone.
    pub differences: Vec<ArgumentDifference>,
}

/// A place in the arguments of a call that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArgumentDifference {
    /// JSON pointer into the arguments.
    pub path: String,
    /// What was given there, shortened; `null` for nothing.
    pub was: Option<String>,
    /// What is given now; `null` for nothing.
    pub now: Option<String>,
    /// It is another wording of the same thing.
    pub worded: bool,
}

impl RequestScore {
    /// Of two requests that are equal in every argument.
    pub fn equal() -> Self {
        Self {
            similarity: 1.0,
            parameters: Vec::new(),
            differences: Vec::new(),
        }
    }
}

/// One argument, compared; its values are in the calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterScore {
    pub name: String,
    /// `None` where a rule leaves the argument out of the comparison.
    pub similarity: Option<f64>,
    /// How it was compared: `equal`, `words`, `distance`, `type` … , `missing` or `added`, or the scenario's rule; `bound` for
    /// a value that each side's own server gave, `stale` for the baseline's where the run's server gave another.
    pub method: &'static str,
    /// The share of the request's similarity lost here; the shares of one request add up to 1 − its similarity.
    pub loss: f64,
}

/// A place where points were lost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    pub points: f64,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The tool's full name, where a call is concerned.
    pub tool: Option<String>,
    /// What the call is for, where its tool only passes calls on; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The argument or the path into the response, such as `arguments/query` or `response/content/0/text`.
    pub path: Option<String>,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// What took the points.
    #[serde(rename = "code", default)]
    pub of: LossOf,
    /// The same in words, for those who read the document.
    #[serde(rename = "rule", default)]
    pub text: Text,
}

/// What takes points.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossOf {
    /// In results of earlier programs, which say it in words alone.
    #[default]
    Unknown,
    /// A call of the baseline, or one that is expected, was not made.
    Missing {
        expected: bool,
    },
    /// A call is new, or not expected.
    Extra {
        expected: bool,
    },
    /// All of a call that is not equal to the other one, where only equal calls count.
    Unequal,
    Moved,
    /// An argument, compared in this way.
    Argument(String),
    /// A place of the answer that differs: the edit in words, or how it was graded.
    Answer(String),
    /// The run went worse as a whole, or calls failed that were to succeed.
    Ending {
        expected: bool,
    },
    Count,
    Order,
    Blocked,
}

impl fmt::Display for LossOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "",
            Self::Missing { expected: false } => "missing call",
            Self::Missing { expected: true } => "expected and not made",
            Self::Extra { expected: false } => "extra call",
            Self::Extra { expected: true } => "not expected",
            Self::Unequal => "not an equal call",
            Self::Moved => "made in another place",
            Self::Argument(method) => method,
            Self::Answer(rule) => rule,
            Self::Ending { expected: false } => "the run went worse as a whole",
            Self::Ending { expected: true } => "calls failed that were to succeed",
            Self::Count => "the numbers of calls differ by more than 2",
            Self::Order => "the calls are in a different order",
            Self::Blocked => "the run was blocked",
        })
    }
}

impl Loss {
    /// What took the points, in words.
    pub fn rule(&self) -> String {
        match &self.of {
            LossOf::Unknown => self.text.to_string(),
            of => of.to_string(),
        }
    }
}

/// A call that took much longer than in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Slower", expecting = "struct Slower")]
pub struct SlowerCall {
    /// The number of the call in the baseline.
    pub baseline: usize,
    /// The number of the call in the run.
    pub current: usize,
    pub baseline_ms: f64,
    pub current_ms: f64,
}

/// Passed or not, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub passed: bool,
    /// The failed conditions, one per cause, with what follows from it beneath; empty when passed.
    pub reasons: Vec<Reason>,
    /// What a reader should know although it does not fail the gate.
    pub warnings: Vec<Reason>,
}

impl Band {
    /// The band an overall score falls into.
    pub fn of(overall: f64) -> Self {
        // The same tolerance as the gate's, so that a score at the threshold is not called worse than it gates.
        let overall = overall + 1e-9;
        if overall >= 0.8 {
            Self::Good
        } else if overall >= 0.6 {
            Self::Acceptable
        } else if overall >= 0.3 {
            Self::Degraded
        } else {
            Self::Broken
        }
    }

    /// The band of what has failed: nobody should read `good` beside that, nor more than `degraded` where something broke.
    #[must_use]
    pub fn of_failed(self, broke: bool) -> Self {
        self.min(if broke {
            Self::Degraded
        } else {
            Self::Acceptable
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Degraded => "degraded",
            Self::Broken => "broken",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Good => "deploy",
            Self::Acceptable => "monitor, consider accepting",
            Self::Degraded => "review",
            Self::Broken => "stop",
        }
    }
}

impl Verdict {
    /// Gives reasons the labels of the calls that they are about.
    pub fn label(&mut self, labels: &Labels, baseline: &Trajectory, current: &Trajectory) {
        let before: Vec<&ToolCall> = baseline.calls().collect();
        let now: Vec<&ToolCall> = current.calls().collect();
        let label = |reason: &mut Reason| {
            let call = match (reason.baseline, reason.current) {
                (Some(number), _) => before.get(number.wrapping_sub(1)),
                (None, Some(number)) => now.get(number.wrapping_sub(1)),
                (None, None) => None,
            };
            reason.label = call.and_then(|it| labels.of(it));
        };
        for reason in self.reasons.iter_mut().chain(&mut self.warnings) {
            label(reason);
        }
    }
}

impl ExecutionStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Bound {
    /// `/id ← call 1 response /id: "a" became "b"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            from,
            baseline: expected,
            current: got,
        } = self;
        write!(f, "{path} ← call {} response {}: ", from.call, from.path)?;
        match got {
            Some(got) if got == expected => write!(f, "{got}"),
            Some(got) => write!(f, "{expected} became {got}"),
            None => write!(f, "not in the answer now, {expected} when recorded"),
        }
    }
}

impl fmt::Display for Polled {
    /// `asked 5 times until the answer changed (3 in the baseline)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.current == 1 { "once" } else { "times" };
        match self.current {
            1 => f.write_str("asked ")?,
            all => write!(f, "asked {all} ")?,
        }
        write!(
            f,
            "{times}, {} in the baseline: only the last answer counts",
            self.baseline
        )
    }
}
