//! Looks at a run with all evaluators of its scenario, one after another, and those first that a run fails for.

use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::finding::Finding;
use super::kinds::{
    combined, command, exact_match, file, llm_judge, schema_validate, sql_validate, text,
    tool_calls, trace_no_errors, within,
};
use super::names;
use super::subject::Subject;
use crate::model::evaluation::{Evaluation, EvaluationStatus};
use crate::model::evaluator::{Evaluator, EvaluatorKind, EvaluatorText};
use crate::model::placeholder::placeholders;
use crate::model::ruling::Judge;
use crate::model::stamp::Servers;

/// Judges a run by these evaluators, and tells of them in their order. Those that gate are asked first: what advisory ones spend or change is
/// nothing to them.
pub async fn evaluate(evaluators: &[Evaluator], subject: Subject<'_>) -> Vec<Evaluation> {
    let mut evaluations = Vec::with_capacity(evaluators.len());
    // What recorded servers answer was stored.
    let is_stored = subject.trajectory.stamp.servers == Servers::Recorded;
    let all = || evaluators.iter().enumerate();
    let gating = all().filter(|(_, it)| it.gates());
    let advisory = all().filter(|(_, it)| !it.gates());
    for (place, evaluator) in gating.chain(advisory) {
        let evaluation = if is_stored && is_hidden(evaluator) {
            told(evaluator, Finding::skipped(HIDDEN), Some(0.0))
        } else {
            evaluation(evaluator, subject).await
        };
        evaluations.push((place, evaluation));
    }
    evaluations.sort_by_key(|(place, _)| *place);
    evaluations.into_iter().map(|(_, it)| it).collect()
}

/// Judges a run that was stored: what needs more than the run itself is skipped.
pub fn evaluate_stored(evaluators: &[Evaluator], subject: Subject<'_>) -> Vec<Evaluation> {
    let subject = Subject {
        around: None,
        ..subject
    };
    let judged = evaluators.iter().map(|it| {
        if is_hidden(it) {
            return told(it, Finding::gone(HIDDEN), Some(0.0));
        }
        // Nothing around the run is asked, so nothing is waited for.
        let judged = evaluation(it, subject).now_or_never();
        judged.unwrap_or_else(|| told(it, Finding::error("it waits for something"), Some(0.0)))
    });
    judged.collect()
}

/// Why what is compared with a secret is not judged in a stored run.
const HIDDEN: &str = "what it compares looks like a secret, and what was stored says of such a text only that there was one";

/// Whether an evaluator, or one within it, compares with a text that looks like a secret and was not declared to be one: stored runs show
/// all of these alike. A declared one has a name of its own there.
fn is_hidden(evaluator: &Evaluator) -> bool {
    let mut evaluator = evaluator.clone();
    let mut is_hidden = false;
    evaluator.kind.each_text(&mut |text| {
        let text = match text {
            EvaluatorText::Words(it) | EvaluatorText::Pattern(it) => it.clone(),
            EvaluatorText::Value(it) => it.to_string(),
            EvaluatorText::Object(it) => Value::Object(it.clone()).to_string(),
        };
        is_hidden |= placeholders(&text).any(|it| it.name.is_none_or(|it| !it.contains('.')));
    });
    is_hidden || evaluator.kind.inner().iter().any(self::is_hidden)
}

async fn evaluation(evaluator: &Evaluator, subject: Subject<'_>) -> Evaluation {
    let started = Instant::now();
    let found = look(evaluator, subject).await;
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    told(evaluator, found, Some(duration_ms))
}

/// What is told of an evaluator that found this.
pub(super) fn told(evaluator: &Evaluator, found: Finding, duration_ms: Option<f64>) -> Evaluation {
    let Finding {
        status,
        score,
        message,
        details,
        rulings,
        leaves_open: _,
        is_gone,
    } = found.bounded();
    let is_judged = matches!(status, EvaluationStatus::Passed | EvaluationStatus::Failed);
    Evaluation {
        name: evaluator.title(),
        kind: evaluator.kind.name().to_owned(),
        role: evaluator.role,
        weight: evaluator.weight,
        status,
        score: score.filter(|it| is_judged && it.is_finite()),
        message,
        details,
        duration_ms,
        line: evaluator.line,
        said_in: evaluator.said_in.clone(),
        definition: evaluator.kind.definition(),
        judges: rulings.iter().map(Judge::from).collect(),
        is_gone,
    }
}

fn look<'a>(evaluator: &'a Evaluator, subject: Subject<'a>) -> BoxFuture<'a, Finding> {
    async move {
        if let Some(why) = names::unknown(&evaluator.kind, subject, false) {
            return Finding::error(why);
        }
        match &evaluator.kind {
            EvaluatorKind::Text(it) => text::look(it, subject),
            EvaluatorKind::ExactMatch(it) => exact_match::look(it, subject),
            EvaluatorKind::ToolCalls(it) => tool_calls::look(it, subject),
            EvaluatorKind::SchemaValidate(it) => schema_validate::look(it, subject).await,
            EvaluatorKind::TraceNoErrors(it) => trace_no_errors::look(it, subject),
            EvaluatorKind::Within(it) => within::look(it, subject),
            EvaluatorKind::SqlValidate(it) => sql_validate::look(it, subject).await,
            EvaluatorKind::File(it) => file::look(it, subject).await,
            EvaluatorKind::Command(it) => command::look(it, subject).await,
            EvaluatorKind::LlmJudge(it) => llm_judge::look(it, subject).await,
            EvaluatorKind::AllOf(_) | EvaluatorKind::AnyOf(_) | EvaluatorKind::Not(_) => {
                // Times of calls are judged run by run there: what is made of them may depend on the rest of the run.
                let subject = Subject {
                    is_repeated: false,
                    ..subject
                };
                let mut found = Vec::new();
                let mut rulings = Vec::new();
                for inner in evaluator.kind.inner() {
                    let mut finding = match names::unknown(&inner.kind, subject, true) {
                        Some(why) => Finding::error(why),
                        None => look(inner, subject).await,
                    };
                    rulings.append(&mut finding.rulings);
                    found.push((inner.title(), finding));
                }
                let together = match &evaluator.kind {
                    EvaluatorKind::AllOf(_) => combined::all(&found),
                    EvaluatorKind::AnyOf(_) => combined::any(&found),
                    _ => combined::not(&found),
                };
                together.ruled(rulings)
            }
        }
    }
    .boxed()
}
