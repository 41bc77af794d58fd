//! A scenario's rules for scoring: the `scoring` section.

use std::time::Duration;

use serde_json::Value;

use crate::Object;

/// The rules one comparison follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The lowest overall score that passes, 0 to 1.
    pub threshold: f64,
    /// The lowest share of several runs that passes, 0 to 1.
    pub pass_threshold: f64,
    pub preset: Preset,
    /// How calls of the two sides are matched.
    pub matching: Match,
    /// How much of a response counts.
    pub responses: Responses,
    /// What a breaking change of the tool catalogue does to the verdict.
    pub drift: Gate,
    /// Rules for single arguments; a later rule wins over an earlier one.
    pub arguments: Vec<ArgumentRule>,
    /// Calls that only read, whatever the server's annotations say.
    pub reads: Vec<ReadRule>,
    /// Whatever changed fails, save slower calls and tokens, which have gates of their own.
    pub strict: bool,
    /// The signs of an answer that is an error although the server does not say so.
    pub errors: ErrorSigns,
    /// JSON paths into responses that are left out of the comparison, `*` for any key or index.
    pub ignore: Vec<String>,
    pub slower: Slower,
    pub tokens: Tokens,
    /// How long after one take the next one begins, so that what a clock makes to the second differs in them.
    pub takes_apart: Duration,
    /// What is about to fail is asked once more.
    pub confirm: bool,
    /// What it does where the system under test turns out to be unsteady.
    pub unsteady: Gate,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            threshold: 0.8,
            pass_threshold: 1.0,
            preset: Preset::default(),
            matching: Match::default(),
            responses: Responses::default(),
            drift: Gate::default(),
            arguments: Vec::new(),
            reads: Vec::new(),
            strict: false,
            errors: ErrorSigns::default(),
            ignore: Vec::new(),
            slower: Slower::default(),
            tokens: Tokens::default(),
            takes_apart: Duration::from_millis(1100),
            confirm: true,
            unsteady: Gate::Fail,
        }
    }
}

/// Which family of formulas to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preset {
    #[default]
    Standard,
    /// The formulas of the original tool, for teams that already have such scores.
    Classic,
}

/// How calls are matched, and what an extra or missing call costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Match {
    /// Best order-preserving alignment, graded.
    #[default]
    Similar,
    /// The same calls in the same order, nothing else (0 or 1).
    Exact,
    /// The expected calls in order, others may lie between (0 or 1).
    InOrder,
    /// The expected calls in any order, others may be there (0 or 1).
    AnyOrder,
    /// Same number of calls, compared in order.
    Strict,
    /// Same number of calls, compared in any order.
    Unordered,
    /// No call beyond the expected ones.
    Subset,
    /// At least the expected calls.
    Superset,
}

/// How the answers are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Responses {
    /// What did not vary while recording must be as it was; what was answered once is graded.
    #[default]
    Stable,
    /// Graded, with contract changes.
    Similar,
    /// As `Stable`, without additions either; what was answered once must be equal after masking.
    Exact,
    /// Keys and types only.
    Shape,
    /// Not at all.
    Ignore,
}

/// How errors are recognised that servers report in an answer that is said to be fine (scoring.md 5, rule 9).
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorSigns {
    /// Whether such errors are looked for at all.
    pub look: bool,
    /// Signs besides the usual ones.
    pub more: Vec<ErrorSign>,
}

impl Default for ErrorSigns {
    fn default() -> Self {
        Self {
            look: true,
            more: Vec::new(),
        }
    }
}

/// A sign that an answer is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorSign {
    /// There is something at this JSON path other than null, false, zero or nothing.
    Path(String),
    /// A text of the answer matches this regular expression.
    Text(String),
}

/// What a finding does to the verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gate {
    Fail,
    #[default]
    Warn,
    Ignore,
}

/// When a call counts as slower than its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slower {
    /// How many times as long it must take.
    pub factor: f64,
    /// How much longer it must take, too.
    pub floor: Duration,
    pub gate: Gate,
}

impl Default for Slower {
    fn default() -> Self {
        Self {
            factor: 3.0,
            floor: Duration::from_millis(250),
            gate: Gate::Warn,
        }
    }
}

/// When a run counts as using more tokens than its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tokens {
    /// How many times as many it must be.
    pub factor: f64,
    /// How many more it must be, too.
    pub floor: u32,
    pub gate: Gate,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            factor: 3.0,
            floor: 1000,
            gate: Gate::Warn,
        }
    }
}

/// A rule for one argument, of one tool or of all.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentRule {
    /// The tool's bare or full name; `None` for any tool.
    pub tool: Option<String>,
    pub argument: String,
    pub how: ArgumentMatch,
}

/// How one argument is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentMatch {
    /// Equal, or the whole request scores 0.
    Exact,
    /// Left out of the comparison on both sides.
    Ignore,
    /// As text, word by word.
    Words,
    /// As a number; a difference of `max_diff` or more scores 0.
    Number { max_diff: f64 },
    /// 1 when the current value is one of these.
    OneOf(Vec<Value>),
    /// 1 when the current value, as text, matches this regular expression.
    Regex(String),
    /// 1 when the argument is there at all.
    Any,
}

/// A call that only reads: a tool, or a tool called with certain arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRule {
    /// The tool's bare or full name.
    pub tool: String,
    /// Arguments the call must have, with these values.
    pub arguments: Object,
}
