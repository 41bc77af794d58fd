//! What `mcp-eval judge check --format json` prints.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::evaluate::judge::{Agreement, Flips};
use crate::model::ruling::Ruling;
use crate::model::usage::TotalUse;
use crate::suite::{CheckedExample, CheckedJudge};

/// The version of the document; it changes when a reader of an older one could misunderstand it.
const FORMAT_VERSION: u32 = 1;

/// What was asked of the judge.
pub(super) struct Gate {
    /// What is not so.
    pub(super) reasons: Vec<String>,
}

impl Gate {
    pub(super) fn passes(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// How a judge did on labelled examples.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "mcp-eval judge check")]
pub(super) struct JudgeDocument {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    format_version: u32,
    /// The model, as it was asked for.
    model: String,
    /// Whether everything that was asked got a verdict.
    complete: bool,
    /// Whether it is as good as `--min-agreement`, `--min-kappa` and `--max-flips` want it.
    passed: bool,
    /// What it is not good enough in.
    reasons: Vec<String>,
    /// How many examples were looked at.
    examples: usize,
    agreement: AgreementDocument,
    /// Dimensions and calls listed in reverse.
    order_bias: FlipsDocument,
    /// The agent's last words padded.
    verbosity_bias: FlipsDocument,
    usage: UsageDocument,
    results: Vec<ExampleDocument>,
}

/// How often the verdict was that of the label.
#[derive(Debug, Serialize, JsonSchema)]
struct AgreementDocument {
    /// How many examples have a verdict.
    of: usize,
    agreed: usize,
    /// `null` without any verdict.
    share: Option<f64>,
    /// Cohen's kappa; `null` where all verdicts are alike, so that chance would give all of it.
    kappa: Option<f64>,
    /// Passed, and labelled failed.
    too_lenient: usize,
    /// Failed, and labelled passed.
    too_strict: usize,
}

/// How many verdicts became others.
#[derive(Debug, Serialize, JsonSchema)]
struct FlipsDocument {
    of: usize,
    flipped: usize,
    /// `null` where none could.
    share: Option<f64>,
}

/// What it took.
#[derive(Debug, Serialize, JsonSchema)]
struct UsageDocument {
    #[serde(flatten)]
    took: TotalUse,
    /// Votes that were taken from the cache.
    cached_votes: usize,
}

/// One example.
#[derive(Debug, Serialize, JsonSchema)]
struct ExampleDocument {
    name: String,
    /// The line of the file that begins it.
    line: usize,
    /// Whether it should pass.
    labelled: bool,
    verdict: VerdictDocument,
    /// With dimensions and calls listed in reverse; `null` where there was nothing to reverse, or no verdict to flip.
    reversed: Option<VerdictDocument>,
    /// With the agent's last words padded; `null` where it has none, or there was no verdict to flip.
    padded: Option<VerdictDocument>,
}

/// What the judge said.
#[derive(Debug, Serialize, JsonSchema)]
struct VerdictDocument {
    /// `null` where there is no verdict.
    passed: Option<bool>,
    score: Option<f64>,
    reasoning: Option<String>,
    /// Why there is no verdict.
    problem: Option<String>,
}

pub(super) fn document(checked: &CheckedJudge, gate: &Gate) -> JudgeDocument {
    JudgeDocument {
        format_version: FORMAT_VERSION,
        model: checked.model.clone(),
        complete: checked.is_complete(),
        passed: gate.passes(),
        reasons: gate.reasons.clone(),
        examples: checked.examples.len(),
        agreement: agreement(&checked.agreement),
        order_bias: flips(&checked.order),
        verbosity_bias: flips(&checked.verbosity),
        usage: UsageDocument {
            took: checked.took,
            cached_votes: checked.cached,
        },
        results: checked.examples.iter().map(example).collect(),
    }
}

fn agreement(agreement: &Agreement) -> AgreementDocument {
    AgreementDocument {
        of: agreement.count(),
        agreed: agreement.agreed(),
        share: agreement.share(),
        kappa: agreement.kappa(),
        too_lenient: agreement.too_lenient,
        too_strict: agreement.too_strict,
    }
}

fn flips(flips: &Flips) -> FlipsDocument {
    FlipsDocument {
        of: flips.of,
        flipped: flips.flipped,
        share: flips.share(),
    }
}

fn example(example: &CheckedExample) -> ExampleDocument {
    ExampleDocument {
        name: example.name.clone(),
        line: example.line,
        labelled: example.labelled,
        verdict: verdict(&example.ruling),
        reversed: example.reversed.as_ref().map(verdict),
        padded: example.padded.as_ref().map(verdict),
    }
}

fn verdict(ruling: &Ruling) -> VerdictDocument {
    let verdict = ruling.verdict.as_ref();
    VerdictDocument {
        passed: verdict.ok().map(|it| it.passed),
        score: verdict.ok().map(|it| it.score),
        reasoning: verdict.ok().map(|it| it.reasoning.clone()),
        problem: verdict.err().map(|it| it.message.clone()),
    }
}

/// The JSON Schema (draft 2020-12) of the document, made from the types.
pub(super) fn json_schema() -> Value {
    schemars::schema_for!(JudgeDocument).to_value()
}
