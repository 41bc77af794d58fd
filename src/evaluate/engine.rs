//! Looks at a run with all evaluators of its scenario, one after another, and those first that a run fails for.

use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::finding::Finding;
use super::kinds::within::{self, Times};
use super::kinds::{
    combined, command, exact_match, file, schema_validate, sql_validate, text, tool_calls,
};
use super::subject::Subject;
use super::tools;
use crate::model::placeholder::{Placeholder, placeholders};
use crate::model::ruling::Judge;
use crate::model::{Evaluation, EvaluationStatus, ShownText, Trajectory};
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind, SchemaSource, TextSource};

/// Judges a run by the evaluators of its scenario, and tells of them in their order. Those that gate are asked first: what advisory ones
/// spend or change is nothing to them.
pub async fn evaluate(subject: Subject<'_>) -> Vec<Evaluation> {
    let shown = &subject.scenario.evaluators;
    let written = subject
        .said
        .map_or(shown, |(scenario, _)| &scenario.evaluators);
    let mut evaluations = Vec::with_capacity(shown.len());
    let all = || shown.iter().zip(written).enumerate();
    let gating = all().filter(|(_, (it, _))| it.gates());
    let advisory = all().filter(|(_, (it, _))| !it.gates());
    for (place, evaluator) in gating.chain(advisory) {
        evaluations.push((place, evaluation(evaluator, subject).await));
    }
    evaluations.sort_by_key(|(place, _)| *place);
    evaluations.into_iter().map(|(_, it)| it).collect()
}

/// Judges a run that was stored: what needs more than the run itself is skipped.
pub fn evaluate_stored(subject: Subject<'_>) -> Vec<Evaluation> {
    let subject = subject.stored();
    let judged = subject.scenario.evaluators.iter().map(|it| {
        // Nothing around the run is asked, so nothing is waited for.
        let judged = evaluation((it, it), subject).now_or_never();
        judged.unwrap_or_else(|| {
            as_evaluation(it, Finding::error("it waits for something"), Some(0.0))
        })
    });
    judged.collect()
}

/// Whether a secret was recognised, and not declared: all of its kind have one placeholder.
fn is_nameless(it: &Placeholder<'_>) -> bool {
    it.name.is_none_or(|it| !it.contains('.'))
}

/// Whether an evaluator, or one within it, compares with a text that looks like a secret and was not declared to be one: stored runs show
/// all of these alike. A declared one has a name of its own there.
pub fn is_hidden(evaluator: &Evaluator) -> bool {
    let mut evaluator = evaluator.clone();
    let mut is_hidden = false;
    evaluator.kind.each_text(&mut |text| {
        let text = match text {
            ShownText::Words(it) | ShownText::Name(it) => it.clone(),
            ShownText::Value(it) => it.to_string(),
            ShownText::Object(it) => Value::Object(it.clone()).to_string(),
        };
        is_hidden |= placeholders(&text).any(|it| is_nameless(&it));
    });
    is_hidden || evaluator.kind.inner().iter().any(self::is_hidden)
}

/// An evaluator as it is shown, and as it is written.
type Asked<'a> = (&'a Evaluator, &'a Evaluator);

/// Whether secrets that have no name were taken out of the run.
fn has_lost_secrets(subject: Subject<'_>) -> bool {
    let mut has_lost = false;
    let mut look = |text: &str| has_lost |= placeholders(text).any(|it| is_nameless(&it));
    (subject.trajectory.steps.iter()).for_each(|it| it.each_text(&mut look));
    has_lost
}

async fn evaluation(evaluator: Asked<'_>, subject: Subject<'_>) -> Evaluation {
    let started = Instant::now();
    let found = judged(evaluator, subject).await;
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    let mut evaluation = as_evaluation(evaluator.0, found, Some(duration_ms));
    let has_secrets = |(_, run): (_, &Trajectory)| !std::ptr::eq(run, subject.trajectory);
    if evaluation.definition.is_none() && subject.said.is_some_and(has_secrets) {
        // What it found cannot be found again.
        let stored = judged((evaluator.0, evaluator.0), subject.stored()).await;
        evaluation.definition = stored.is_gone.then(|| evaluator.0.kind.definition());
    }
    evaluation
}

async fn judged(evaluator: Asked<'_>, subject: Subject<'_>) -> Finding {
    if subject.hides_secrets() && is_hidden(evaluator.0) && has_lost_secrets(subject) {
        return Finding::hidden();
    }
    look(evaluator, subject).await
}

/// The evaluation of an evaluator that found this.
pub(super) fn as_evaluation(
    evaluator: &Evaluator,
    found: Finding,
    duration_ms: Option<f64>,
) -> Evaluation {
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
        definition: (evaluator.kind.needs_more() || is_gone).then(|| evaluator.kind.definition()),
        judges: rulings.iter().map(Judge::from).collect(),
        is_gone,
    }
}

fn look<'a>((evaluator, written): Asked<'a>, subject: Subject<'a>) -> BoxFuture<'a, Finding> {
    async move {
        if let Some(why) = tools::unknown(&evaluator.kind, subject, false) {
            return Finding::error(why);
        }
        match (&evaluator.kind, &written.kind) {
            (EvaluatorKind::SqlValidate(it), EvaluatorKind::SqlValidate(written)) => {
                sql_validate::look(it, written, subject).await
            }
            (EvaluatorKind::File(it), EvaluatorKind::File(written)) => {
                file::look(it, written, subject).await
            }
            (EvaluatorKind::SchemaValidate(it), EvaluatorKind::SchemaValidate(written))
                if let SchemaSource::File(file) = &it.source =>
            {
                schema_validate::look_at_file(file, (it, written), subject).await
            }
            (EvaluatorKind::Command(it), _) => command::by_command(it, subject).await,
            (EvaluatorKind::LlmJudge(it), _) => command::by_model(it, subject).await,
            (EvaluatorKind::AllOf(_) | EvaluatorKind::AnyOf(_) | EvaluatorKind::Not(_), _) => {
                // Times of calls are judged run by run there: what is made of them may depend on the rest of the run.
                let subject = Subject {
                    is_repeated: false,
                    ..subject
                };
                let mut found = Vec::new();
                let mut rulings = Vec::new();
                for (inner, written) in evaluator.kind.inner().iter().zip(written.kind.inner()) {
                    let mut finding = match tools::unknown(&inner.kind, subject, true) {
                        Some(why) => Finding::error(why),
                        None => look((inner, written), subject).await,
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
            (kind, written) => {
                let shown = in_run(kind, subject);
                match subject.said {
                    Some((scenario, trajectory))
                        if kind != written
                            || !std::ptr::eq(trajectory, subject.trajectory)
                            || matches!(kind, EvaluatorKind::Text(it) if it.within == TextSource::Log) =>
                    {
                        let said = Subject {
                            scenario,
                            trajectory,
                            said: None,
                            ..subject
                        };
                        in_run(written, said).worded_as(shown)
                    }
                    _ => shown,
                }
            }
        }
    }
    .boxed()
}

/// What is found in the run itself.
fn in_run(kind: &EvaluatorKind, subject: Subject<'_>) -> Finding {
    match kind {
        EvaluatorKind::Text(it) => text::look(it, subject),
        EvaluatorKind::ExactMatch(it) => exact_match::look(it, subject),
        EvaluatorKind::ToolCalls(it) => tool_calls::look(it, subject),
        EvaluatorKind::SchemaValidate(it) => schema_validate::look(it, subject),
        EvaluatorKind::TraceNoErrors(it) => within::no_errors(it, subject),
        EvaluatorKind::Within(it) => within::look(it, subject),
        EvaluatorKind::SqlValidate(_)
        | EvaluatorKind::File(_)
        | EvaluatorKind::Command(_)
        | EvaluatorKind::LlmJudge(_)
        | EvaluatorKind::AllOf(_)
        | EvaluatorKind::AnyOf(_)
        | EvaluatorKind::Not(_) => Finding::error("nothing in the run itself is looked at"),
    }
}

/// The times of calls that evaluators limit, gathered over several runs: for each evaluator all times of the calls that it means.
#[derive(Debug, Clone, Default)]
pub struct CallTimes {
    of: Vec<Vec<f64>>,
    runs: usize,
}

impl CallTimes {
    /// Adds those of one run.
    pub fn add(&mut self, evaluators: &[Evaluator], run: &Trajectory) {
        self.of.resize(evaluators.len(), Vec::new());
        self.runs += 1;
        for (times, evaluator) in self.of.iter_mut().zip(evaluators) {
            if let EvaluatorKind::Within(it) = &evaluator.kind
                && it.call_duration.is_some()
            {
                times.extend(within::durations(it, run));
            }
        }
    }

    /// Judges the times of all runs, and puts what comes of that in the place of what the run that is shown alone could not say.
    pub fn judge(
        &self,
        evaluators: &[Evaluator],
        evaluations: &mut [Evaluation],
        shown: Subject<'_>,
    ) {
        let all = evaluators.iter().zip(evaluations).zip(&self.of);
        for ((evaluator, evaluation), times) in all {
            // One that names a tool which nobody knows has nothing to judge in any run.
            if let EvaluatorKind::Within(it) = &evaluator.kind
                && it.call_duration.is_some()
                && evaluation.status != EvaluationStatus::Error
            {
                let found = within::look_at(it, shown, Times::OfAll(times, self.runs));
                *evaluation = as_evaluation(evaluator, found, evaluation.duration_ms);
            }
        }
    }
}
