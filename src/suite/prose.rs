//! Success criteria that are prose: nothing checks them, and where a scenario has a judge, it says what it thinks of them. That decides
//! nothing unless nothing else does.

use std::time::Instant;

use super::llm_judge::without_secrets;
use super::{RunContext, evaluating};
use crate::evaluate;
use crate::evaluate::judge::Case;
use crate::model::ruling::{Ruling, score_words};
use crate::model::{Evaluation, EvaluationStatus, Gate, Role, ScenarioResult, Status};
use crate::redact::Redactor;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Criterion;
use crate::scenario_file::evaluators::{Dimension, LlmJudge, Rubric, Standard, THRESHOLD};

impl RunContext {
    /// The same result with what the judge says of the criteria that nothing checks. It is asked once about all of them. With `decides`,
    /// nothing else has judged the run, and what it says gates.
    pub(super) async fn judge_prose(
        &self,
        scenario: &Scenario,
        mut result: ScenarioResult,
        decides: bool,
    ) -> ScenarioResult {
        let redacted = self.redacted(scenario);
        let prose = prose(&redacted, &result);
        let (Some(_), Some(run), false) = (&scenario.judge, &result.current, prose.is_empty())
        else {
            return result;
        };
        let criteria: Vec<String> = prose
            .iter()
            .map(|index| result.checks[*index].name.clone())
            .collect();
        let asked = question(criteria);
        let case = Case::of(&redacted, run);
        let started = Instant::now();
        let ruling = match self.suite.llm_judge(scenario) {
            Err(problem) => Err(problem.message),
            Ok(judge) => {
                let interrupt = &self.suite.interrupt;
                let ruling = interrupt.run_until_cancelled(judge.rule(&asked, &case));
                match ruling.await {
                    None => return result,
                    Some(ruling) => Ok(ruling),
                }
            }
        };
        let redactor = Redactor::new(&self.suite.remembered(scenario), &scenario.redaction);
        let ruling = match ruling {
            Ok(ruling) => Ok(without_secrets(ruling, &redactor)),
            Err(why) => Err(redactor.text(&why).into_inner()),
        };
        let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
        for (number, index) in prose.into_iter().enumerate() {
            let check = &result.checks[index];
            let mut opinion = opinion(
                &check.name,
                check.line,
                number,
                &asked,
                &ruling,
                duration_ms,
            );
            if decides {
                opinion.role = Role::Gating;
            }
            result.evaluators.push(opinion);
        }
        if decides && matches!(result.status, Status::Passed | Status::Error) {
            decided(&mut result, redacted.evaluation_threshold);
        }
        result
    }
}

/// Lets what the judge says of prose decide about a result that nothing else has judged.
fn decided(result: &mut ScenarioResult, threshold: Option<f64>) {
    let overall = evaluate::overall(&result.evaluators, threshold);
    result.overall = overall;
    result.problem = evaluating::unjudged(&result.evaluators, overall);
    result.trouble = evaluating::trouble(&result.evaluators, overall);
    result.status = match overall.map(|it| it.gate) {
        Some(Gate::Fails) => Status::Failed,
        Some(Gate::Incomplete) => Status::Error,
        Some(Gate::Passes) | None => Status::Passed,
    };
}

/// The criteria of a result that are prose and were not checked, by their places among its checks.
fn prose(scenario: &Scenario, result: &ScenarioResult) -> Vec<usize> {
    let checks = result.checks.iter().enumerate();
    let is_prose = |name: &str| {
        let mut criteria = scenario.success_criteria.iter();
        criteria.any(|it| matches!(it, Criterion::Text(text) if text == name))
    };
    checks
        .filter(|(_, it)| it.unchecked && is_prose(&it.name))
        .map(|(index, _)| index)
        .collect()
}

/// What the judge is asked about criteria: one by itself, several as the dimensions of a rubric, so that each gets its score.
fn question(criteria: Vec<String>) -> LlmJudge {
    if criteria.len() == 1 {
        return LlmJudge::of_criteria(criteria);
    }
    let dimensions = (1..).zip(criteria).map(|(number, criterion)| Dimension {
        name: name(number),
        asks: Some(criterion),
        weight: 1.0,
        anchors: Vec::new(),
    });
    LlmJudge {
        standard: Standard::Rubric(Rubric {
            id: None,
            version: None,
            about: Some("Each dimension is a criterion that must be met.".to_owned()),
            dimensions: dimensions.collect(),
        }),
        votes: 1,
        threshold: THRESHOLD,
    }
}

fn name(number: usize) -> String {
    format!("criterion {number}")
}

/// What the judge says of the criterion of this number, counted from 0, as advice.
fn opinion(
    criterion: &str,
    line: Option<usize>,
    number: usize,
    asked: &LlmJudge,
    ruling: &Result<Ruling, String>,
    duration_ms: f64,
) -> Evaluation {
    let mut opinion = Evaluation {
        name: criterion.to_owned(),
        kind: "llm-judge".to_owned(),
        role: Role::Advisory,
        weight: 1.0,
        status: EvaluationStatus::Error,
        score: None,
        message: String::new(),
        details: Vec::new(),
        duration_ms: Some(duration_ms),
        line,
        said_in: None,
        definition: None,
        judges: Vec::new(),
        is_gone: false,
    };
    match ruling {
        Err(why) => opinion.message.clone_from(why),
        Ok(ruling) => {
            opinion.message = ruling.message(asked.threshold);
            opinion.details = ruling.details(asked.threshold);
            if let Ok(verdict) = &ruling.verdict {
                let name = name(number + 1);
                let own = verdict.dimensions.iter().find(|it| it.name == name);
                let score = own.map_or(verdict.score, |it| it.score);
                opinion.score = Some(score);
                opinion.message = score_words(score, asked.threshold) + ruling.cached_words();
                opinion.status = if score >= asked.threshold {
                    EvaluationStatus::Passed
                } else {
                    EvaluationStatus::Failed
                };
            }
            // Several were asked about at once, and what that took is counted once.
            if number == 0 {
                opinion.judges.push(ruling.into());
            }
        }
    }
    opinion
}
