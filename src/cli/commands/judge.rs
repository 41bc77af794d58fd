//! `mcp-eval judge check`: how far a judge can be trusted.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::args::{JudgeCheckArgs, JudgeCommand, ResultFormat};
use crate::cli::{Console, Exit, Failure, runtime};
use crate::evaluate::judge::{Agreement, Flips};
use crate::model::number::apart;
use crate::model::repeated::Tally;
use crate::model::ruling::Ruling;
use crate::model::usage::{TotalUse, cost_words};
use crate::scenario_file::judge::{JudgeExamples, LoadedJudge};
use crate::score::statistics;
use crate::suite::{self, CACHE, CheckSettings, CheckedExample, CheckedJudge, verdict_words};
use crate::text::plural;
use crate::{json, scenario_file};

pub(in crate::cli) fn run(command: &JudgeCommand, console: Console) -> Result<Exit, Failure> {
    let JudgeCommand::Check(args) = command;
    let examples =
        scenario_file::judge::judge_examples(&args.file).map_err(|it| Failure::invalid(&it))?;
    let judge = judge(args, &examples)?;
    let settings = CheckSettings {
        budget: args.budget,
        cache: (!args.no_cache).then(|| CACHE.clone()),
    };
    let bar = console.bar(Some(examples.examples.len()));
    let runtime = runtime::here()?;
    let checked = runtime.block_on(async {
        let interrupt = runtime::interruption();
        let of = examples.examples.len();
        let on_example = |number: usize, example: &CheckedExample| {
            bar.set_message(example.name.clone());
            bar.inc(1);
            if bar.is_hidden() {
                let words = verdict_words(&example.ruling, examples.asked.threshold);
                console.note(&format!("{number} of {of}: {}: {words}", example.name));
            }
        };
        suite::check_judge(&examples, &judge, &settings, &on_example, &interrupt).await
    });
    runtime.shutdown_background();
    bar.finish_and_clear();
    let checked = checked?;
    let reasons = unmet(args, &checked);
    let exit = exit(&checked, &reasons);
    match args.printed.format {
        ResultFormat::Json => Console::document(&json::pretty(&document(&checked, reasons))),
        ResultFormat::Terminal => console.result(&summary(&args.file, &checked, &reasons)),
    }
    Ok(exit)
}

/// The judge that is judged.
fn judge(args: &JudgeCheckArgs, examples: &JudgeExamples) -> Result<LoadedJudge, Failure> {
    if let Some(path) = &args.judge {
        return scenario_file::judge::judge_file(path).map_err(|it| Failure::invalid(&it));
    }
    examples.judge.clone().ok_or_else(|| {
        let message = format!("{} names no judge", args.file.display());
        Failure::usage(message).hint("give it a section `judge`, or name a file with `--judge`")
    })
}

/// What was asked of the judge, and is not so.
fn unmet(args: &JudgeCheckArgs, checked: &CheckedJudge) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut at_least = |what: &str, found: Option<f64>, least: Option<f64>| {
        let Some(least) = least else { return };
        match found {
            Some(found) if found >= least => {}
            Some(found) => {
                let [found, _] = apart(found, least, 2);
                reasons.push(format!("{what} is {found}, below {least}"));
            }
            None => reasons.push(format!("{what} cannot be determined")),
        }
    };
    at_least("agreement", checked.agreement.share(), args.min_agreement);
    at_least("Cohen's kappa", checked.agreement.kappa(), args.min_kappa);
    let flips = [
        (
            "order",
            "could calls or dimensions be listed in reverse",
            &checked.order,
        ),
        (
            "verbosity",
            "could the last words be padded",
            &checked.verbosity,
        ),
    ];
    for (name, lacking, flips) in flips {
        match (args.max_flips, flips.share()) {
            (Some(_), None) => reasons.push(format!(
                "{name} bias cannot be determined: in no example with a verdict {lacking}"
            )),
            (Some(most), Some(share)) if share > most => {
                let [share, _] = apart(share, most, 2);
                reasons.push(format!("{name} bias is {share}, above {most}"));
            }
            _ => {}
        }
    }
    reasons
}

fn exit(checked: &CheckedJudge, reasons: &[String]) -> Exit {
    if checked.interrupted {
        Exit::Interrupted
    } else if !reasons.is_empty() && checked.agreement.count() > 0 {
        Exit::Failed
    } else if checked.is_complete() {
        Exit::Passed
    } else {
        Exit::Incomplete
    }
}

fn summary(file: &Path, checked: &CheckedJudge, reasons: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for example in &checked.examples {
        let place = format!("{} ({}:{})", example.name, file.display(), example.line);
        lines.extend(remarks(example, checked.threshold).map(|it| format!("{place}: {it}")));
    }
    let agreement = &checked.agreement;
    let (count, agreed) = (agreement.count(), agreement.agreed());
    let of = plural(checked.examples.len(), "example");
    let interval = statistics::wilson(Tally {
        passed: agreed,
        runs: count,
    });
    let interval = interval.map_or_else(String::new, |it| {
        format!(", {:.0}–{:.0}%", it.low * 100.0, it.high * 100.0)
    });
    lines.push(format!("{of}, judged by {}", checked.model));
    lines.push(format!(
        "agreement: {agreed} of {count} ({}{interval}) · too lenient: {} · too strict: {}",
        percent(agreement.share()),
        agreement.too_lenient,
        agreement.too_strict
    ));
    lines.push(format!(
        "Cohen's kappa: {}",
        match agreement.kappa() {
            Some(kappa) => format!("{kappa:.2}"),
            None if count == 0 => "unknown, because there is no verdict".to_owned(),
            None => "unknown, because all verdicts are alike".to_owned(),
        }
    ));
    for (name, what, flips) in [
        (
            "order",
            "dimensions and calls listed in reverse",
            &checked.order,
        ),
        (
            "verbosity",
            "the agent's last words padded",
            &checked.verbosity,
        ),
    ] {
        lines.push(format!(
            "{name} bias: {} of {} verdicts flip ({}), with {what}",
            flips.flipped,
            flips.of,
            percent(flips.share())
        ));
    }
    let took = &checked.took;
    let tokens = took.tokens.total_tokens;
    lines.push(format!(
        "{}, {}, {}{}",
        plural(took.requests, "request"),
        tokens.map_or_else(|| "tokens unknown".to_owned(), |it| format!("{it} tokens")),
        took.cost.map_or_else(
            || "cost unknown".to_owned(),
            |it| format!("cost {}", cost_words(it))
        ),
        match checked.cached {
            0 => String::new(),
            1 => ", 1 vote from the cache".to_owned(),
            more => format!(", {more} votes from the cache"),
        }
    ));
    lines.extend(reasons.iter().map(|it| format!("failed: {it}")));
    lines.join("\n") + "\n"
}

/// What is worth a look about an example.
fn remarks(example: &CheckedExample, threshold: f64) -> impl Iterator<Item = String> {
    let words = |passed: bool| if passed { "passed" } else { "failed" };
    let judged = example.ruling.verdict.as_ref().ok();
    let wrong = judged.filter(|it| it.passed != example.labelled).map(|_| {
        let labelled = words(example.labelled);
        format!(
            "labelled {labelled}, judged {}",
            verdict_words(&example.ruling, threshold)
        )
    });
    let variants = [
        ("listed in reverse", &example.reversed),
        ("padded", &example.padded),
    ];
    let flipped = variants.into_iter().filter_map(move |(how, then)| {
        let then = then.as_ref()?;
        let flips = then.verdict.as_ref().ok()?.passed != judged?.passed;
        flips.then(|| format!("flips when {how}: {}", verdict_words(then, threshold)))
    });
    let problem = example.problem().map(|it| format!("no verdict: {it}"));
    let all: Vec<String> = wrong.into_iter().chain(flipped).chain(problem).collect();
    all.into_iter()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |it| format!("{:.1}%", it * 100.0))
}

/// The version of the document; it changes when a reader of an older one could misunderstand it.
const FORMAT_VERSION: u32 = 1;

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

pub(super) fn document(checked: &CheckedJudge, reasons: Vec<String>) -> JudgeDocument {
    JudgeDocument {
        format_version: FORMAT_VERSION,
        model: checked.model.clone(),
        complete: checked.is_complete(),
        passed: reasons.is_empty(),
        reasons,
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
