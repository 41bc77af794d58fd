//! Labelled examples, by which a judge itself is judged: `mcp-eval judge check FILE`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{LoadedJudge, loaded};
use super::section::JudgeSection;
use crate::model::Object;
use crate::model::judge::LlmJudge;
use crate::model::scenario::Place;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, Field, NO_HINT, section, shapes};
use crate::scenario_file::evaluators::llm_judge::StandardKeys;
use crate::scenario_file::yaml::finding::{Finding, quoted};
use crate::scenario_file::yaml::parse::parse_some;
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// A judge and what it is to judge by.
    HeadKeys {
        /// The judge; `--judge` names another.
        judge: Option<Field<JudgeSection>>,
        /// The runs whose verdict is known.
        examples: At<Vec<At<ExampleSection>>>,
    }
}

type CheckDocument = (HeadKeys, StandardKeys);

section! {
    /// A run whose verdict is known: one that was stored, or what was said and done in it.
    ExampleSection, checked by check {
        /// What it is called; its number unless given.
        name: Option<Word>,
        /// Whether the run should pass.
        passed: bool,
        /// A stored trajectory, relative to this file.
        trajectory: Option<At<Word>>,
        /// What the user said: a text or several.
        prompt: Option<PromptSection>,
        /// The tools that were expected to be called, in order; an empty list expects none.
        expected_tools: Option<Vec<Word>>,
        /// The calls, in order.
        calls: Option<At<Vec<ExampleCallSection>>>,
        /// The agent's last words.
        final_text: Option<Word>,
    }
}

shapes! {
    /// What the user said, message by message.
    PromptSection, "text or a list of texts" {
        Text => One(Word),
        List => Several(Vec<Word>),
    }
}

section! {
    /// A call and its answer.
    ExampleCallSection {
        /// The tool.
        tool: Word,
        /// The arguments.
        args: Option<Object>,
        /// What was answered: a text, or JSON.
        answer: Option<Value>,
        /// The call failed.
        is_error: Option<bool>,
    }
}

/// A judge that is to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeExamples {
    /// The file that holds them.
    pub path: PathBuf,
    /// `None` where the file names none.
    pub judge: Option<LoadedJudge>,
    pub asked: LlmJudge,
    pub examples: Vec<JudgeExample>,
}

/// A run whose verdict is known.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeExample {
    pub name: String,
    /// The line that begins it.
    pub line: usize,
    /// Whether it should pass.
    pub passed: bool,
    /// The stored trajectory that it is; `None` where all of it stands here.
    pub trajectory: Option<PathBuf>,
    /// Where that is named, or else where the example begins.
    pub at: Place,
    pub prompt: Vec<String>,
    /// `None` where nobody says.
    pub expected_tools: Option<Vec<String>>,
    pub calls: Vec<ExampleCall>,
    pub final_text: Option<String>,
}

/// A call and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleCall {
    pub tool: String,
    pub arguments: Object,
    pub answer: Value,
    pub failed: bool,
}

/// Reads labelled examples.
///
/// # Errors
///
/// All that is wrong with the file.
pub fn judge_examples(path: &Path) -> Result<JudgeExamples, Vec<Finding>> {
    let mut findings = Findings::default();
    let examples = read(path, &mut findings);
    match examples {
        Some(examples) if findings.errors() == 0 => Ok(examples),
        _ => Err(findings.into_list()),
    }
}

fn read(path: &Path, findings: &mut Findings) -> Option<JudgeExamples> {
    let source = findings.read(path)?;
    let hint = "it needs `criteria` or a `rubric`, and `examples`";
    let document = parse_some(source, findings, hint)?;
    let (head, standard) = CheckDocument::decode(&document, findings)?;
    if head.examples.is_empty() {
        findings.error(head.examples.at, "lists no example", NO_HINT);
    }
    let judge = match &head.judge {
        None => None,
        Some(Field::Wrong) => return None,
        Some(Field::Given(section)) => Some(loaded(section)?),
    };
    let examples = (1..).zip(head.examples.iter());
    let examples = examples.map(|(number, it)| (it.at, it.example(number, it.at, findings)));
    let examples: Vec<(Mark, JudgeExample)> = examples.collect();
    refuse_two_labels(&examples, findings);
    Some(JudgeExamples {
        path: path.to_owned(),
        judge,
        asked: standard.judge()?,
        examples: examples.into_iter().map(|(_, it)| it).collect(),
    })
}

/// One and the same run cannot both pass and fail: one of its labels is a slip, and every verdict would agree with the other.
fn refuse_two_labels(examples: &[(Mark, JudgeExample)], findings: &mut Findings) {
    for (index, (at, example)) in examples.iter().enumerate() {
        let is_other_label = |(_, other): &&(Mark, JudgeExample)| {
            let same = JudgeExample {
                name: other.name.clone(),
                line: other.line,
                at: other.at,
                passed: other.passed,
                ..example.clone()
            };
            same == *other && example.passed != other.passed
        };
        if let Some((_, other)) = examples[..index].iter().find(is_other_label) {
            let label = |passed: bool| if passed { "passed" } else { "failed" };
            let message = format!(
                "{} is labelled {} here and {} in line {}, and the run is the same",
                quoted(&example.name),
                label(example.passed),
                label(other.passed),
                other.line
            );
            findings.error(*at, message, Some("keep one of the two"));
        }
    }
}

/// An example is either stored or written out.
fn check(example: &ExampleSection, at: Mark, findings: &mut Findings) {
    let is_written = example.calls.is_some() || example.final_text.is_some();
    match (&example.trajectory, is_written) {
        (None, false) => {
            let hint = "give its `calls` and `final_text`, or the file of a stored `trajectory`";
            findings.error(at, "says nothing of the run", Some(hint));
        }
        (Some(trajectory), true) => {
            let message = "`trajectory` holds the calls and the last words already";
            findings.error(trajectory.at, message, Some("keep one of the two"));
        }
        (None, true) | (Some(_), false) => {}
    }
}

impl ExampleSection {
    fn example(&self, number: usize, at: Mark, findings: &Findings) -> JudgeExample {
        let name = self.name.as_ref();
        let prompt = match &self.prompt {
            None => Vec::new(),
            Some(PromptSection::One(text)) => vec![text.0.clone()],
            Some(PromptSection::Several(list)) => list.iter().map(|it| it.0.clone()).collect(),
        };
        let calls = self.calls.iter().flat_map(|it| it.value.iter());
        let expected = self.expected_tools.as_ref();
        let file = self.trajectory.as_ref();
        let place = file.map_or(at, |it| it.at);
        JudgeExample {
            name: name.map_or_else(|| format!("example {number}"), |it| it.0.clone()),
            line: at.line,
            passed: self.passed,
            trajectory: file.map(|it| findings.folder(it.at).join(&it.0)),
            at: Place {
                line: place.line,
                column: place.column,
            },
            prompt,
            expected_tools: expected.map(|it| it.iter().map(|it| it.0.clone()).collect()),
            calls: calls.map(ExampleCallSection::call).collect(),
            final_text: self.final_text.as_ref().map(|it| it.0.clone()),
        }
    }
}

impl ExampleCallSection {
    fn call(&self) -> ExampleCall {
        ExampleCall {
            tool: self.tool.0.clone(),
            arguments: self.args.clone().unwrap_or_default(),
            answer: self.answer.clone().unwrap_or_default(),
            failed: self.is_error.unwrap_or(false),
        }
    }
}
