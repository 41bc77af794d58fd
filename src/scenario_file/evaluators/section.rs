//! An evaluator, with its types and the keys that all have.

use super::exact_match::ExactMatchKeys;
use super::file::FileKeys;
use super::kind::{CommandEvaluator, Evaluator, EvaluatorKind};
use super::llm_judge::StandardKeys;
use super::schema_validate::SchemaKeys;
use super::sql_validate::SqlKeys;
use super::text::TextKeys;
use super::tool_calls::ToolCallsKeys;
use super::within::{TraceKeys, WithinKeys};
use crate::model::Role;
use crate::scenario_file::decode::{
    At, NO_HINT, Plain, Unnamed, Variant, Weight, Word, choice, kinds, section,
};
use crate::scenario_file::servers::hook::HookFields;
use crate::scenario_file::yaml::{Findings, Mark};

/// One check on a run.
pub(in crate::scenario_file) type EvaluatorSection = Variant<EvaluatorKeys, EvaluatorType>;

kinds! {
    /// One check on a run: how it should be, whatever it was before.
    EvaluatorType, by "type" of "evaluator", named "EvaluatorSection",
        unnamed Unnamed::Wrong("does not say its `type`", "`mcp-eval list --evaluators` lists the types"); {
        /// A text is looked for in the agent's last words, in the answers of tools, in all that was said or in the logs of servers.
        "text" => Text(TextKeys),
        /// An answer, or the agent's last words, is compared with a value.
        "exact-match" => ExactMatch(ExactMatchKeys),
        /// Tools must, may or must not be called: with what, how often, in which order, and with which answers.
        "tool-calls" => ToolCalls(ToolCallsKeys),
        /// An answer, the agent's last words or a file is validated against a JSON Schema.
        "schema-validate" => SchemaValidate(SchemaKeys),
        /// No call fails, and none answers with an error.
        "trace-no-errors" => TraceNoErrors(TraceKeys),
        /// Limits of what a run takes. A limit that is just reached holds.
        "within" => Within(WithinKeys),
        /// A database is asked one query, and its rows, or the value that it says, are compared.
        "sql-validate" => SqlValidate(SqlKeys),
        /// A file that the run left.
        "file" => File(FileKeys),
        /// A program of yours gets the run as JSON on its stdin, and writes a verdict as JSON to its stdout.
        "command" => Command(HookFields),
        /// A model, which the section `judge` describes, is asked whether the run meets criteria in plain words, or a rubric.
        "llm-judge" => LlmJudge(StandardKeys),
        /// Several evaluators that must all pass.
        "all_of" => AllOf(SeveralKeys),
        /// Several evaluators of which one must pass.
        "any_of" => AnyOf(SeveralKeys),
        /// An evaluator that must not pass. One that cannot judge is not turned round.
        "not" => Not(OneKey),
    }
}

choice! {
    /// Whether a run fails for an evaluator.
    RoleWord for Role {
        "gating" => Role::Gating,
        "advisory" => Role::Advisory,
    }
}

section! {
    /// What is said of every evaluator.
    EvaluatorKeys {
        /// What reports call it.
        name: Option<Word>,
        /// `gating`: a run fails for it. `advisory`: what it finds is only shown. `gating` unless given; an `llm-judge`, and what holds one without `role: gating`, is `advisory` unless nothing else in the scenario can fail.
        role: Option<RoleWord>,
        /// What its score counts for among the gating ones; 1 unless given.
        weight: Option<Weight>,
    }
}

section! {
    /// Several evaluators. What they say of `role` and `weight` means nothing here, but for a judge with `role: gating`.
    SeveralKeys {
        /// The evaluators.
        of: At<Vec<At<EvaluatorSection>>>,
    }
}

section! {
    /// One evaluator. What it says of `role` and `weight` means nothing here, but for a judge with `role: gating`.
    OneKey {
        /// The evaluator.
        of: Box<At<EvaluatorSection>>,
    }
}

impl EvaluatorSection {
    /// Whether a run can fail for it.
    pub(in crate::scenario_file) fn gates(&self) -> bool {
        self.role() == Role::Gating
    }

    /// Whether a run fails for it; a judge, be it one within, advises unless it is told otherwise.
    fn role(&self) -> Role {
        self.all.role.map_or_else(
            || {
                if self.has_judge_without_role() {
                    Role::Advisory
                } else {
                    Role::Gating
                }
            },
            |it| it.0,
        )
    }

    /// Whether it asks a model, by itself or by one within, and nothing there says that a run fails for that.
    fn has_judge_without_role(&self) -> bool {
        if self.all.role.is_some_and(|it| it.0 == Role::Gating) {
            return false;
        }
        match &self.kind {
            EvaluatorType::LlmJudge(_) => true,
            EvaluatorType::AllOf(it) | EvaluatorType::AnyOf(it) => {
                let mut inner = it.of.iter();
                inner.any(|it| it.value.has_judge_without_role())
            }
            EvaluatorType::Not(it) => it.of.value.has_judge_without_role(),
            _ => false,
        }
    }

    /// Whether it is left open if a run fails for it: a judge decides in it, and it does not say.
    pub(in crate::scenario_file) fn leaves_role_open(&self) -> bool {
        self.all.role.is_none() && self.has_judge_without_role()
    }

    /// The tools that it names, as written.
    pub(in crate::scenario_file) fn tools(&self) -> Vec<(Mark, &str)> {
        match &self.kind {
            EvaluatorType::ExactMatch(it) => it.tool().into_iter().collect(),
            EvaluatorType::ToolCalls(it) => it.tools(),
            EvaluatorType::SchemaValidate(it) => it.tool().into_iter().collect(),
            EvaluatorType::Within(it) => it.tool().into_iter().collect(),
            EvaluatorType::AllOf(it) | EvaluatorType::AnyOf(it) => {
                it.of.iter().flat_map(|it| it.value.tools()).collect()
            }
            EvaluatorType::Not(it) => it.of.value.tools(),
            EvaluatorType::Text(_)
            | EvaluatorType::TraceNoErrors(_)
            | EvaluatorType::SqlValidate(_)
            | EvaluatorType::File(_)
            | EvaluatorType::Command(_)
            | EvaluatorType::LlmJudge(_) => Vec::new(),
        }
    }

    /// The evaluator, which stands at this mark, in the scenario's `own` file or another one; `None` after saying what is wrong with it.
    pub(in crate::scenario_file) fn evaluator(
        &self,
        at: Mark,
        own: usize,
        findings: &mut Findings,
    ) -> Option<Evaluator> {
        let mut several = |keys: &SeveralKeys| -> Option<Vec<Evaluator>> {
            if keys.of.is_empty() {
                return findings.refuse(keys.of.at, "names no evaluator", NO_HINT);
            }
            let inner = keys.of.iter();
            inner
                .map(|it| it.value.evaluator(it.at, own, findings))
                .collect()
        };
        let kind = match &self.kind {
            EvaluatorType::AllOf(it) => EvaluatorKind::AllOf(several(it)?),
            EvaluatorType::AnyOf(it) => EvaluatorKind::AnyOf(several(it)?),
            EvaluatorType::Not(it) => {
                let inner = it.of.value.evaluator(it.of.at, own, findings)?;
                EvaluatorKind::Not(Box::new(inner))
            }
            EvaluatorType::Text(it) => EvaluatorKind::Text(it.text(at, findings)?),
            EvaluatorType::ExactMatch(it) => EvaluatorKind::ExactMatch(it.exact_match(findings)),
            EvaluatorType::ToolCalls(it) => {
                EvaluatorKind::ToolCalls(Box::new(it.tool_calls(findings)))
            }
            EvaluatorType::SchemaValidate(it) => {
                EvaluatorKind::SchemaValidate(it.schema_validate(at, findings)?)
            }
            EvaluatorType::TraceNoErrors(it) => EvaluatorKind::TraceNoErrors(it.plain(findings)),
            EvaluatorType::Within(it) => EvaluatorKind::Within(it.plain(findings)),
            EvaluatorType::SqlValidate(it) => {
                EvaluatorKind::SqlValidate(Box::new(it.sql_validate(at, findings)?))
            }
            EvaluatorType::File(it) => EvaluatorKind::File(Box::new(it.file(at, findings)?)),
            EvaluatorType::Command(it) => EvaluatorKind::Command(CommandEvaluator {
                run: it.plain(findings),
            }),
            EvaluatorType::LlmJudge(it) => EvaluatorKind::LlmJudge(Box::new(it.judge()?)),
        };
        let is_own = at.source == own;
        let place = || format!("{}:{}", findings.path(at.source).display(), at.line);
        Some(Evaluator {
            said_in: (!is_own).then(place),
            name: self.all.name.as_ref().map(|it| it.0.clone()),
            role: self.role(),
            weight: self.all.weight.map_or(1.0, |it| it.0),
            line: is_own.then_some(at.line),
            kind,
        })
    }
}
