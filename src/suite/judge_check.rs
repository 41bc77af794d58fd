//! A judge is judged by labelled examples: how far it agrees with people, and how far its verdicts hang on what should not matter.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Error, llm_judge};
use crate::evaluate::judge::{Agreement, Case, CaseCall, Expected, Flips, Judge};
use crate::model::Redaction;
use crate::model::ruling::{Ruling, percents_apart};
use crate::model::usage::TotalUse;
use crate::redact::{Redactor, Secrets};
use crate::run::Budget;
use crate::scenario_file::evaluators::LlmJudge;
use crate::scenario_file::judge::{JudgeExample, JudgeExamples, LoadedJudge};
use crate::scenario_file::{Finding, Severity};
use crate::store::{self, StoreError};

/// What is said a second time, in other words, where a text is made longer without saying more.
const PADDING: &str = "To put this in other words: the above is my whole answer, and I have taken care to word it clearly. I have kept the \
     request in mind from the beginning to the end, gone through everything one step after the other, and put together what seemed most \
     helpful to know. If any of it should be unclear, please let me know, and I will gladly explain it again in more detail. Thank you very \
     much for your patience and for this interesting task.";

/// How much longer a text becomes at least, in characters.
const LONGER_BY: usize = 600;

/// How a judge is judged.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings {
    /// What all requests may cost together, in the currency of the judge's price.
    pub budget: Option<f64>,
    /// Where answers are kept and taken from; `None` asks each time.
    pub cache: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedJudge {
    pub model: String,
    pub threshold: f64,
    pub examples: Vec<CheckedExample>,
    pub agreement: Agreement,
    /// Dimensions and calls were listed in reverse.
    pub order: Flips,
    /// The agent's last words were padded.
    pub verbosity: Flips,
    pub took: TotalUse,
    /// How many votes were taken from the cache.
    pub cached: usize,
    pub interrupted: bool,
}

/// What came of one example.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedExample {
    pub name: String,
    pub line: usize,
    /// Whether it should pass.
    pub labelled: bool,
    pub ruling: Ruling,
    /// With dimensions and calls listed in reverse; `None` where there is nothing to reverse.
    pub reversed: Option<Ruling>,
    /// With the agent's last words padded; `None` where it has none.
    pub padded: Option<Ruling>,
}

impl CheckedExample {
    /// All that was asked about it.
    pub fn rulings(&self) -> impl Iterator<Item = &Ruling> {
        let variants = self.reversed.iter().chain(&self.padded);
        std::iter::once(&self.ruling).chain(variants)
    }

    /// Why something about it could not be judged.
    pub fn problem(&self) -> Option<&str> {
        let mut failures = self.rulings().filter_map(|it| it.verdict.as_ref().err());
        failures.next().map(|it| it.message.as_str())
    }
}

impl CheckedJudge {
    /// Whether all that was asked got a verdict.
    pub fn is_complete(&self) -> bool {
        !self.interrupted && self.examples.iter().all(|it| it.problem().is_none())
    }
}

/// Judges a judge by labelled examples; `on_example` is called with each that is done. What is done when `interrupt` is cancelled is kept.
///
/// # Errors
///
/// What the judge lacks to be asked at all, or an example to be read.
pub async fn check_judge(
    examples: &JudgeExamples,
    judge: &LoadedJudge,
    settings: &CheckSettings,
    on_example: &(dyn Fn(usize, &CheckedExample) + Sync),
    interrupt: &CancellationToken,
) -> Result<CheckedJudge, Error> {
    if settings.budget.is_some() && judge.settings.asked.price.is_none() {
        let message = "--budget cannot be kept, because the price of the judge is unknown";
        return Err(Error::invalid(message).hint("give its price under `judge.price`"));
    }
    let redaction = Redaction {
        marked: judge.marked.clone(),
        ..Redaction::default()
    };
    let budget = settings.budget.map(|it| Arc::new(Budget::new(it)));
    let cache = settings.cache.as_deref();
    let (asker, given) = llm_judge::reach(&judge.settings, &redaction, budget, cache)
        .map_err(|it| Error::incomplete(it.message))?;
    let mut secrets = Secrets::of_environment();
    secrets.extend(&given);
    let redactor = Redactor::new(&secrets, &redaction);
    let cases = cases(examples, &redactor)?;
    let mut checked = CheckedJudge {
        model: judge.settings.asked.model.clone(),
        threshold: examples.asked.threshold,
        examples: Vec::new(),
        agreement: Agreement::default(),
        order: Flips::default(),
        verbosity: Flips::default(),
        took: TotalUse::NOTHING,
        cached: 0,
        interrupted: false,
    };
    for (number, (example, case)) in (1..).zip(examples.examples.iter().zip(&cases)) {
        let looked = look(&asker, &redactor, &examples.asked, example, case);
        let Some(looked) = interrupt.run_until_cancelled(looked).await else {
            checked.interrupted = true;
            break;
        };
        on_example(number, &looked);
        checked.add(looked);
    }
    Ok(checked)
}

impl CheckedJudge {
    fn add(&mut self, example: CheckedExample) {
        let verdict = |it: &Ruling| it.verdict.as_ref().ok().map(|it| it.passed);
        if let Some(judged) = verdict(&example.ruling) {
            self.agreement.add(example.labelled, judged);
            for (variant, flips) in [
                (&example.reversed, &mut self.order),
                (&example.padded, &mut self.verbosity),
            ] {
                if let Some(then) = variant.as_ref().and_then(verdict) {
                    flips.add(judged, then);
                }
            }
        }
        for ruling in example.rulings() {
            self.took = self.took.and(ruling.took);
            self.cached += ruling.cached;
        }
        self.examples.push(example);
    }
}

async fn look(
    judge: &Judge,
    redactor: &Redactor,
    asked: &LlmJudge,
    example: &JudgeExample,
    case: &Case,
) -> CheckedExample {
    let redacted = |ruling: Ruling| llm_judge::without_secrets(ruling, redactor);
    let ruling = redacted(judge.rule(asked, case).await);
    let is_judged = ruling.verdict.is_ok();
    let mut checked = CheckedExample {
        name: example.name.clone(),
        line: example.line,
        labelled: example.passed,
        ruling,
        reversed: None,
        padded: None,
    };
    // Of what has no verdict, none can flip.
    if is_judged && (case.calls.len() > 1 || asked.standard.dimensions().len() > 1) {
        let reversed = Case {
            reversed: true,
            ..case.clone()
        };
        checked.reversed = Some(redacted(judge.rule(asked, &reversed).await));
    }
    if is_judged && let Some(words) = &case.final_text {
        let padded = Case {
            final_text: Some(padded(words)),
            ..case.clone()
        };
        checked.padded = Some(redacted(judge.rule(asked, &padded).await));
    }
    checked
}

/// The same text and much more that says nothing: at least as long again, and at least a few sentences.
fn padded(words: &str) -> String {
    let longer_by = words.len().max(LONGER_BY);
    let times = longer_by.div_ceil(PADDING.len());
    format!("{words}\n\n{}", vec![PADDING; times].join(" "))
}

/// The examples as a judge is shown them, without secrets.
fn cases(examples: &JudgeExamples, redactor: &Redactor) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    let mut wrong = Vec::new();
    for example in &examples.examples {
        match case(example, redactor) {
            Ok(case) => cases.push(case),
            Err(error) => {
                let message = format!("{}: {error}", example.name);
                let finding =
                    Finding::at_place(&examples.path, example.at, Severity::Error, message);
                let hint = error.hint().unwrap_or(STORED);
                wrong.push(finding.with_hint(Some(hint)).to_string());
            }
        }
    }
    if wrong.is_empty() {
        Ok(cases)
    } else {
        Err(Error::invalid(wrong.join("\n")))
    }
}

/// What a stored trajectory of an example is.
const STORED: &str = "name a file that `mcp-eval record` has stored, such as `baselines/NAME/baseline.json`, relative to this one";

fn case(example: &JudgeExample, redactor: &Redactor) -> Result<Case, StoreError> {
    let text = |it: &String| redactor.text(it).into_inner();
    let mut case = match &example.trajectory {
        None => Case::default(),
        Some(path) => {
            let run = store::load(path)?;
            Case::of_run(&run)
        }
    };
    if !example.prompt.is_empty() {
        case.prompt = example.prompt.iter().map(text).collect();
    }
    case.expected = match &example.expected_tools {
        None => Expected::Unsaid,
        Some(tools) if tools.is_empty() => Expected::Nothing,
        Some(tools) => Expected::Tools(tools.clone()),
    };
    case.calls.extend(example.calls.iter().map(|it| CaseCall {
        tool: it.tool.clone(),
        arguments: text(&Value::Object(it.args.clone()).to_string()),
        answer: match &it.answer {
            Value::Null => String::new(),
            Value::String(answer) => text(answer),
            json => text(&json.to_string()),
        },
        failed: it.is_error,
    }));
    if let Some(words) = &example.final_text {
        case.final_text = Some(text(words));
    }
    Ok(case)
}

/// A verdict in words: `passed, 86.5%`, with as many digits as tell the score from the threshold.
pub fn verdict_words(ruling: &Ruling, threshold: f64) -> String {
    match &ruling.verdict {
        Ok(verdict) => {
            let said = if verdict.passed { "passed" } else { "failed" };
            let [score, _] = percents_apart(verdict.score, threshold);
            format!("{said}, {score}{}", ruling.cached_words())
        }
        Err(unruled) => format!("no verdict: {}", unruled.message),
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGER_BY, padded};

    #[test]
    fn a_padded_text_is_much_longer_and_begins_the_same() {
        for words in ["Paid.".to_owned(), "Paid. ".repeat(500)] {
            let padded = padded(&words);
            assert!(padded.starts_with(&words));
            assert!(padded.len() >= words.len() * 2, "{}", padded.len());
            assert!(padded.len() >= words.len() + LONGER_BY, "{}", padded.len());
        }
    }
}
