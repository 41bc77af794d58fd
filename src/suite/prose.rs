//! Success criteria that are prose: nothing checks them, and where a scenario has a judge, it says what it thinks of them. They decide
//! nothing for that.

use super::llm_judge::without_secrets;
use super::run_context::RunContext;
use crate::evaluate::judge::Case;
use crate::model::judge::{Dimension, LlmJudge, Rubric, Standard, THRESHOLD};
use crate::model::ruling::{Ruling, Verdict, percent};
use crate::model::scenario::{Criterion, Scenario};
use crate::model::suite::{CheckState, ScenarioResult};
use crate::redact::Redactor;

impl RunContext {
    /// The same result with what the judge says of the criteria that nothing checks. It is asked once about all of them.
    pub(super) async fn judge_prose(
        &self,
        scenario: &Scenario,
        mut result: ScenarioResult,
    ) -> ScenarioResult {
        let told = self.redacted(scenario);
        let prose = prose(&told, &result);
        let (Some(_), Some(run), false) = (&scenario.judge, &result.current, prose.is_empty())
        else {
            return result;
        };
        let criteria: Vec<String> = prose
            .iter()
            .map(|index| result.checks[*index].name.clone())
            .collect();
        let asked = question(criteria);
        let case = Case::of(&told, run);
        let ruling = match self.suite.llm_judge(scenario) {
            Err(problem) => Err(problem.message),
            Ok(judge) => {
                let ruling = tokio::select! {
                    biased;
                    () = self.suite.interrupt.cancelled() => return result,
                    ruling = judge.rule(&asked, &case) => ruling,
                };
                Ok(ruling)
            }
        };
        let redactor = Redactor::new(&self.suite.remembered(scenario), &scenario.redaction);
        let ruling = match ruling {
            Ok(ruling) => without_secrets(ruling, &redactor),
            Err(why) => {
                for index in prose {
                    say(
                        &mut result,
                        index,
                        &redactor.text(&format!("the judge cannot be asked: {why}")),
                    );
                }
                return result;
            }
        };
        for (number, index) in prose.into_iter().enumerate() {
            say(&mut result, index, &opinion(&ruling, number));
        }
        result.notes.push(format!("judge: {}", ruling.took_words()));
        result
    }
}

/// The criteria of a result that are prose and were not checked, by their places among its checks.
fn prose(scenario: &Scenario, result: &ScenarioResult) -> Vec<usize> {
    let checks = result.checks.iter().enumerate();
    let is_prose = |name: &str| {
        let mut criteria = scenario.success_criteria.iter();
        criteria.any(|it| matches!(it, Criterion::Text(text) if text == name))
    };
    checks
        .filter(|(_, it)| it.state == CheckState::Unchecked && is_prose(&it.name))
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

/// What the judge says of the criterion of this number, counted from 0.
fn opinion(ruling: &Ruling, number: usize) -> String {
    match &ruling.verdict {
        Err(unruled) => format!("no verdict of the judge: {}", unruled.why),
        Ok(verdict) => {
            let Verdict {
                score,
                dimensions,
                reasoning,
                ..
            } = verdict;
            let name = name(number + 1);
            let own = dimensions.iter().find(|(it, _)| *it == name);
            let score = percent(own.map_or(*score, |(_, score)| *score));
            format!("LLM judge score: {score} (advisory): {reasoning}")
        }
    }
}

fn say(result: &mut ScenarioResult, index: usize, words: &str) {
    if let Some(check) = result.checks.get_mut(index) {
        check.message = format!("{}; {words}", check.message);
    }
}
