//! The judge of runs: the `judge` section, a file of its own (`--judge FILE`), and labelled examples that judge the judge.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::model::{Object, Place};
use crate::scenario_file::agent::model::{ApiWord, PriceSection, TemperatureSection, check_body};
use crate::scenario_file::agent::{ModelAgent, ModelApi, Temperature};
use crate::scenario_file::decode::{
    At, Count, Decode, Field, Given, NO_HINT, Named, Plain, Template, Timeout, Unnamed, Variant,
    Word, choice, kinds, section, shapes,
};
use crate::scenario_file::evaluators::LlmJudge;
use crate::scenario_file::evaluators::llm_judge::StandardKeys;
use crate::scenario_file::yaml::{Finding, Findings, Mark, Node, parse_some, quoted};

/// Which model judges runs.
pub(super) type JudgeSection = Variant<JudgeKeys, JudgeKind>;

kinds! {
    /// A model that judges runs: `llm-judge` evaluators ask it, and criteria that are prose.
    JudgeKind, by "provider" of "judge", named "JudgeSection", unnamed Unnamed::Keys(
        &[],
        ("missing key `provider`", "write `provider: anthropic`, openai, ollama or custom"),
    ); {
        /// A model behind the API of Anthropic.
        "anthropic" => Anthropic(AddressKeys),
        /// A model behind one of OpenAI's APIs.
        "openai" => OpenAi((AddressKeys, FormKeys)),
        /// A model behind the API of Ollama, which answers by a JSON Schema.
        "ollama" => Ollama(AddressKeys),
        /// A model behind any other server that speaks as one of OpenAI's APIs does.
        "custom" => Custom((CustomKeys, FormKeys)),
    }
}

section! {
    /// Where the API of a vendor is.
    AddressKeys {
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<Template<Word>>,
    }
}

section! {
    /// Where the API of nobody in particular is.
    CustomKeys {
        /// Where the API is, with or without `/v1`.
        base_url: Template<Word>,
    }
}

section! {
    /// What is said of a judge behind an API that has several forms.
    FormKeys {
        /// Which of OpenAI's APIs is spoken; `chat` unless given.
        api: Option<ApiWord>,
        /// How the judge is made to answer in a form that can be read: `tool_call` unless given; `json_schema` for servers that cannot force a call.
        answer: Option<AnswerWord>,
    }
}

choice! {
    /// How a judge answers: by a tool that it is made to call, or in JSON by a schema.
    AnswerWord for VerdictForm {
        "tool_call" => VerdictForm::ToolCall,
        "json_schema" => VerdictForm::JsonSchema,
    }
}

section! {
    /// What is said of every judge.
    JudgeKeys, checked by check_judge {
        /// The model, as its API names it. `${NAME}` is an environment variable, here and in `base_url` and `extra_headers`.
        model: Field<Template<Word>>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<Word>,
        /// Instructions for the judge besides those that all get.
        system: Option<String>,
        /// How much chance the model is allowed; sent only if it is given.
        temperature: Option<TemperatureSection>,
        /// How many tokens one answer may have.
        max_tokens: Option<Count>,
        /// How long the model may take for one answer; 120s unless given.
        timeout: Option<Timeout>,
        /// How many characters of a run it is shown: long answers are shortened around what the rest talks about. 40000 unless given.
        max_input_chars: Option<Count>,
        /// Headers sent with every request.
        extra_headers: Option<Named<Given>>,
        /// Members added to the body of every request, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>>,
        /// What the model costs.
        price: Option<PriceSection>,
    }
}

fn check_judge(judge: &JudgeKeys, _: Mark, findings: &mut Findings) {
    check_body(judge.extra_body.as_ref(), findings);
}

impl JudgeSection {
    /// How the judge is asked; `None` where the section does not say which model.
    pub(super) fn settings(&self, findings: &Findings) -> Option<JudgeSettings> {
        let forms = |it: &FormKeys| {
            let api = it.api.map_or(ModelApi::OpenAiChat, |it| it.0);
            (api, it.answer.map_or(VerdictForm::ToolCall, |it| it.0))
        };
        let ((api, form), base_url) = match &self.kind {
            JudgeKind::Anthropic(it) => {
                let form = (ModelApi::Anthropic, VerdictForm::ToolCall);
                (form, it.base_url.as_ref())
            }
            // It can offer tools, and not force a call.
            JudgeKind::Ollama(it) => {
                let form = (ModelApi::Ollama, VerdictForm::JsonSchema);
                (form, it.base_url.as_ref())
            }
            JudgeKind::OpenAi((address, it)) => (forms(it), address.base_url.as_ref()),
            JudgeKind::Custom((address, it)) => (forms(it), Some(&address.base_url)),
        };
        let all = &self.all;
        let defaults = ModelAgent::new(api, &all.model.given()?.0);
        Some(JudgeSettings {
            asked: ModelAgent {
                base_url: base_url.map(|it| it.plain(findings)),
                api_key_env: all.api_key_env.plain(findings),
                system: all.system.clone(),
                temperature: all.temperature.map_or(Temperature::Unset, |it| it.0),
                max_tokens: all.max_tokens.plain(findings),
                timeout: all.timeout.map_or(defaults.timeout, |it| it.0),
                extra_headers: all.extra_headers.plain(findings).unwrap_or_default(),
                extra_body: all.extra_body.plain(findings).unwrap_or_default(),
                price: all.price.plain(findings),
                ..defaults
            },
            form,
            max_input_chars: all
                .max_input_chars
                .plain(findings)
                .unwrap_or(MAX_INPUT_CHARS),
        })
    }
}

/// The key under which the section may stand.
const SECTION: &str = "judge";

/// A judge, and what its file says of secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedJudge {
    pub settings: JudgeSettings,
    /// The names of values that are marked as secret.
    pub marked: Vec<String>,
}

/// Reads a judge from a file that holds its section, by itself or under `judge`.
///
/// # Errors
///
/// All that is wrong with the file.
pub fn judge_file(path: &Path) -> Result<LoadedJudge, Vec<Finding>> {
    let mut findings = Findings::default();
    let judge = read_judge(path, &mut findings);
    match judge {
        Some(judge) if findings.errors() == 0 => Ok(judge),
        _ => Err(findings.into_list()),
    }
}

fn read_judge(path: &Path, findings: &mut Findings) -> Option<LoadedJudge> {
    let source = findings.read(path)?;
    let hint = "a judge needs at least `provider` and `model`";
    let document = parse_some(source, findings, hint)?;
    let entries = document.entries();
    let section: &Node = match entries {
        [only] if only.key == SECTION => &only.value,
        _ => &document,
    };
    if let Some(entry) = entries.iter().find(|it| it.key == SECTION)
        && entries.len() > 1
    {
        let message = "must be the only key";
        return findings.refuse(entry.key_at, message, NO_HINT);
    }
    loaded(&JudgeSection::decode(section, findings)?, findings)
}

/// The judge that a section describes.
pub(super) fn loaded(section: &JudgeSection, findings: &Findings) -> Option<LoadedJudge> {
    let mut marked = Vec::new();
    section.marked(&mut |name| marked.push(name.to_owned()));
    Some(LoadedJudge {
        settings: section.settings(findings)?,
        marked,
    })
}

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
    ExampleSection => JudgeExample, checked by check_example {
        /// What it is called; its number unless given.
        name: Option<Word> as String = String::new(),
        /// Whether the run should pass.
        passed: bool as bool,
        /// A stored trajectory, relative to this file.
        trajectory: Option<At<Word>>,
        /// What the user said: a text or several.
        prompt: Option<PromptSection> as Vec<String> = Vec::new(),
        /// The tools that were expected to be called, in order; an empty list expects none.
        expected_tools: Option<Vec<Word>> as Option<Vec<String>>,
        /// The calls, in order.
        calls: Option<At<Vec<ExampleCallSection>>> as Vec<ExampleCall> = Vec::new(),
        /// The agent's last words.
        final_text: Option<Word> as Option<String>,
    } and {
        /// The stored trajectory that it is; `None` where all of it stands here.
        trajectory: Option<PathBuf> = None,
        /// The line that begins it.
        line: usize = 0,
        /// Where the trajectory is named, or else where the example begins.
        at: Place = Place { line: 0, column: 0 },
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
    ExampleCallSection => ExampleCall {
        /// The tool.
        tool: Word as String,
        /// The arguments.
        args: Option<Object> as Object = Object::new(),
        /// What was answered: a text, or JSON.
        answer: Option<Value> as Value = Value::Null,
        /// The call failed.
        is_error: Option<bool> as bool = false,
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

/// Reads labelled examples.
///
/// # Errors
///
/// All that is wrong with the file.
pub fn judge_examples(path: &Path) -> Result<JudgeExamples, Vec<Finding>> {
    let mut findings = Findings::default();
    let examples = read_examples(path, &mut findings);
    match examples {
        Some(examples) if findings.errors() == 0 => Ok(examples),
        _ => Err(findings.into_list()),
    }
}

fn read_examples(path: &Path, findings: &mut Findings) -> Option<JudgeExamples> {
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
        Some(Field::Given(section)) => Some(loaded(section, findings)?),
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
fn check_example(example: &ExampleSection, at: Mark, findings: &mut Findings) {
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

impl Plain<Vec<String>> for PromptSection {
    fn plain(&self, findings: &Findings) -> Vec<String> {
        match self {
            Self::One(text) => vec![text.plain(findings)],
            Self::Several(list) => list.plain(findings),
        }
    }
}

impl ExampleSection {
    fn example(&self, number: usize, at: Mark, findings: &Findings) -> JudgeExample {
        let name: Option<String> = self.name.plain(findings);
        let file = self.trajectory.as_ref();
        let place = file.map_or(at, |it| it.at);
        JudgeExample {
            name: name.unwrap_or_else(|| format!("example {number}")),
            trajectory: file.map(|it| findings.folder(it.at).join(&it.0)),
            line: at.line,
            at: Place {
                line: place.line,
                column: place.column,
            },
            ..self.plain(findings)
        }
    }
}

/// How a judge is reached and asked.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSettings {
    /// The model and its API.
    pub asked: ModelAgent,
    pub form: VerdictForm,
    /// How many characters of a run it is shown.
    pub max_input_chars: usize,
}

/// How a judge is made to answer in a form that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictForm {
    /// It must call a tool whose arguments are the verdict.
    ToolCall,
    /// Its answer is JSON by a schema, for APIs that cannot force a call.
    JsonSchema,
}

/// How many characters of a run a judge is shown unless its section says otherwise.
pub const MAX_INPUT_CHARS: usize = 40_000;

/// How long one vote may take, as a multiple of what one answer may: it may be asked again for a form that can be read, and what an API
/// refuses for the moment is asked again after a pause.
pub const VOTE_TIMEOUT: u32 = 3;

impl JudgeSettings {
    /// How long one vote may take.
    pub fn vote_timeout(&self) -> Duration {
        self.asked.timeout.saturating_mul(VOTE_TIMEOUT)
    }
}
