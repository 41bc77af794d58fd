//! An evaluator, and the kinds there are.

use sha2::{Digest as _, Sha256};

use super::compared::{AnswerOf, quoted};
use super::exact_match::ExactMatch;
use super::file::{FileEvaluator, FilePlace};
use super::llm_judge::LlmJudge;
use super::schema_validate::{SchemaSource, SchemaValidate};
use super::sql_validate::SqlValidate;
use super::text::{TextEvaluator, TextSource};
use super::tool_calls::ToolCalls;
use crate::model::{Role, ShownText};
use crate::scenario_file::evaluators::within::{TraceNoErrors, Within};
use crate::scenario_file::servers::Hook;

/// One check on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluator {
    /// What reports call it; its own words unless given.
    pub name: Option<String>,
    pub role: Role,
    /// What its score counts for among the others; at least 0, and finite.
    pub weight: f64,
    /// The line of the scenario's own file that says it.
    pub line: Option<usize>,
    /// `FILE:LINE` where another file than the scenario's own says it.
    pub said_in: Option<String>,
    pub kind: EvaluatorKind,
}

impl Evaluator {
    /// These evaluators, and all that stand within them.
    pub fn with_inner(evaluators: &[Self]) -> Vec<&Self> {
        let mut all: Vec<&Self> = evaluators.iter().collect();
        let mut next = 0;
        while let Some(it) = all.get(next) {
            let inner = it.kind.inner();
            all.extend(inner);
            next += 1;
        }
        all
    }

    /// What reports call it.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.kind.words())
    }

    /// Whether a run can fail for it.
    pub fn gates(&self) -> bool {
        self.role == Role::Gating
    }
}

/// What an evaluator checks.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluatorKind {
    Text(TextEvaluator),
    ExactMatch(ExactMatch),
    ToolCalls(Box<ToolCalls>),
    SchemaValidate(SchemaValidate),
    TraceNoErrors(TraceNoErrors),
    Within(Within),
    SqlValidate(Box<SqlValidate>),
    File(Box<FileEvaluator>),
    Command(CommandEvaluator),
    LlmJudge(Box<LlmJudge>),
    /// All of these pass.
    AllOf(Vec<Evaluator>),
    /// One of these passes.
    AnyOf(Vec<Evaluator>),
    /// This one fails.
    Not(Box<Evaluator>),
}

/// A kind as scenario files spell it, and what it checks in a line.
pub type KindWords = (&'static str, &'static str);

/// All kinds, as scenario files spell them.
pub const KINDS: [KindWords; 13] = [
    (
        "text",
        "a text in the agent's last words, in the answers of tools, in all that was said or in the logs of servers",
    ),
    (
        "exact-match",
        "an answer, or the agent's last words, against a value",
    ),
    (
        "tool-calls",
        "tools that must, may or must not be called: with what, how often, in which order, and what they answer",
    ),
    (
        "schema-validate",
        "an answer, the agent's last words or a file, against a JSON Schema",
    ),
    (
        "trace-no-errors",
        "no call fails, and none answers with an error",
    ),
    (
        "within",
        "limits of what a run takes: time, calls, tokens, cost",
    ),
    (
        "sql-validate",
        "a query to SQLite, PostgreSQL, MariaDB or MySQL: its rows, or the value that it says",
    ),
    ("file", "a file that the run left"),
    (
        "command",
        "a program of yours, which gets the run as JSON and answers with a verdict",
    ),
    (
        "llm-judge",
        "a model that is asked whether the run meets criteria in plain words, or a rubric",
    ),
    ("all_of", "several evaluators that must all pass"),
    ("any_of", "several evaluators of which one must pass"),
    ("not", "an evaluator that must not pass"),
];

impl EvaluatorKind {
    /// As scenario files spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::ExactMatch(_) => "exact-match",
            Self::ToolCalls(_) => "tool-calls",
            Self::SchemaValidate(_) => "schema-validate",
            Self::TraceNoErrors(_) => "trace-no-errors",
            Self::Within(_) => "within",
            Self::SqlValidate(_) => "sql-validate",
            Self::File(_) => "file",
            Self::Command(_) => "command",
            Self::LlmJudge(_) => "llm-judge",
            Self::AllOf(_) => "all_of",
            Self::AnyOf(_) => "any_of",
            Self::Not(_) => "not",
        }
    }

    /// What it checks, in a fragment.
    pub fn words(&self) -> String {
        let several = |inner: &[Evaluator]| {
            let titles: Vec<String> = inner.iter().map(Evaluator::title).collect();
            titles.join("; ")
        };
        match self {
            Self::Text(it) => it.words(),
            Self::ExactMatch(it) => it.words(),
            Self::ToolCalls(it) => it.words(),
            Self::SchemaValidate(it) => it.words(),
            Self::TraceNoErrors(it) => it.words(),
            Self::Within(it) => it.words(),
            Self::SqlValidate(it) => it.words(),
            Self::File(it) => it.words(),
            Self::Command(it) => it.words(),
            Self::LlmJudge(it) => format!("a judge: {}", quoted(&it.words())),
            Self::AllOf(inner) => format!("all of: {}", several(inner)),
            Self::AnyOf(inner) => format!("any of: {}", several(inner)),
            Self::Not(inner) => format!("not: {}", inner.title()),
        }
    }

    /// Whether it says itself that a run without calls does not pass.
    pub fn forbids_empty_runs(&self) -> bool {
        matches!(self, Self::TraceNoErrors(it) if it.allow_empty == Some(false))
    }

    /// Whether there is a run that it fails.
    pub fn can_fail(&self) -> bool {
        match self {
            Self::Text(it) => it.negated || it.least() > 0 || it.at_most.is_some(),
            Self::ToolCalls(it) => it.can_fail(),
            Self::AllOf(inner) => inner.iter().any(|it| it.kind.can_fail()),
            Self::AnyOf(inner) => inner.iter().all(|it| it.kind.can_fail()),
            _ => true,
        }
    }

    /// Whether it cannot fail a run without a judge that has its say: a judge, and what needs one to fail.
    pub fn fails_by_judge_alone(&self) -> bool {
        match self {
            Self::LlmJudge(_) => true,
            Self::AllOf(inner) => inner.iter().all(|it| it.kind.fails_by_judge_alone()),
            Self::AnyOf(inner) => inner.iter().any(|it| it.kind.fails_by_judge_alone()),
            Self::Not(inner) => inner.kind.passes_by_judge_alone(),
            _ => false,
        }
    }

    /// Whether it cannot pass without a judge that has its say.
    fn passes_by_judge_alone(&self) -> bool {
        match self {
            Self::LlmJudge(_) => true,
            Self::AllOf(inner) => inner.iter().any(|it| it.kind.passes_by_judge_alone()),
            Self::AnyOf(inner) => inner.iter().all(|it| it.kind.passes_by_judge_alone()),
            Self::Not(inner) => inner.kind.fails_by_judge_alone(),
            _ => false,
        }
    }

    /// The evaluators within; none for most kinds.
    pub fn inner(&self) -> &[Evaluator] {
        match self {
            Self::AllOf(inner) | Self::AnyOf(inner) => inner,
            Self::Not(inner) => std::slice::from_ref(inner),
            _ => &[],
        }
    }

    /// The same, to change them.
    pub fn inner_mut(&mut self) -> &mut [Evaluator] {
        match self {
            Self::AllOf(inner) | Self::AnyOf(inner) => inner,
            Self::Not(inner) => std::slice::from_mut(inner),
            _ => &mut [],
        }
    }

    /// The tools that it names, but for those of evaluators within.
    pub fn tools(&self) -> Vec<&str> {
        match self {
            Self::ExactMatch(it) => it.answer.iter().filter_map(AnswerOf::tool).collect(),
            Self::SchemaValidate(it) => match &it.source {
                SchemaSource::Answer(of) | SchemaSource::Structured(of) => {
                    of.tool().into_iter().collect()
                }
                SchemaSource::FinalText | SchemaSource::File(_) => Vec::new(),
            },
            Self::Within(it) => it.tool.as_deref().into_iter().collect(),
            Self::ToolCalls(it) => it.tools().collect(),
            Self::Text(_)
            | Self::TraceNoErrors(_)
            | Self::SqlValidate(_)
            | Self::File(_)
            | Self::Command(_)
            | Self::LlmJudge(_)
            | Self::AllOf(_)
            | Self::AnyOf(_)
            | Self::Not(_) => Vec::new(),
        }
    }

    /// The file that it looks at, if any.
    pub fn file(&self) -> Option<&FilePlace> {
        match self {
            Self::File(it) => Some(&it.file),
            Self::SchemaValidate(it) => match &it.source {
                SchemaSource::File(file) => Some(file),
                _ => None,
            },
            _ => None,
        }
    }

    /// Visits all that is compared with what a run holds, but for what stands in evaluators within.
    pub fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        match self {
            Self::Text(it) => it.wanted.each_text(visit),
            Self::ExactMatch(it) => visit(ShownText::Value(&mut it.value)),
            Self::ToolCalls(it) => it.each_text(visit),
            Self::SqlValidate(it) => it.each_text(visit),
            Self::File(it) => it.each_text(visit),
            Self::LlmJudge(it) => {
                for text in it.texts_mut() {
                    visit(ShownText::Words(text));
                }
            }
            Self::SchemaValidate(_)
            | Self::TraceNoErrors(_)
            | Self::Within(_)
            | Self::Command(_)
            | Self::AllOf(_)
            | Self::AnyOf(_)
            | Self::Not(_) => {}
        }
    }
}

impl EvaluatorKind {
    /// What tells an evaluator of this kind from one that asks for something else, whatever it is called and wherever it stands: a SHA-256, in
    /// hexadecimal.
    pub fn definition(&self) -> String {
        let mut hash = Sha256::new();
        self.add_to(&mut hash);
        hex::encode(hash.finalize())
    }

    /// Whether it needs more than a run to judge it, so that it cannot look at one that was stored.
    pub fn needs_more(&self) -> bool {
        match self {
            Self::SqlValidate(_) | Self::File(_) | Self::Command(_) | Self::LlmJudge(_) => true,
            Self::SchemaValidate(it) => matches!(it.source, SchemaSource::File(_)),
            Self::Text(it) => it.within == TextSource::Log,
            _ => self.inner().iter().any(|it| it.kind.needs_more()),
        }
    }

    fn add_to(&self, hash: &mut Sha256) {
        hash.update(self.name());
        match self {
            // Where they stand in their file is nothing to tell them by.
            Self::AllOf(_) | Self::AnyOf(_) | Self::Not(_) => {
                for inner in self.inner() {
                    hash.update("(");
                    inner.kind.add_to(hash);
                    hash.update(")");
                }
            }
            // Its address is not shown.
            Self::SqlValidate(it) => hash.update(format!(
                "{:?}{:?}{:?}{:?}",
                it.asked.database, it.asked.query, it.asked.parameters, it.wanted
            )),
            _ => hash.update(format!("{self:?}")),
        }
    }
}

/// A program of the author's that is given the run and says whether it is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEvaluator {
    pub run: Hook,
}

impl CommandEvaluator {
    /// The program's name, without its folder.
    pub fn program(&self) -> &str {
        let program = self.run.command.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    pub(super) fn words(&self) -> String {
        format!("the command {}", quoted(self.program()))
    }
}
