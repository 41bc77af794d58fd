//! The evaluators that ask others about a run: a program of the author's, or a model.

use crate::evaluate::finding::{Finding, not_asked};
use crate::evaluate::judge::Case;
use crate::evaluate::subject::Subject;
use crate::scenario_file::evaluators::{CommandEvaluator, LlmJudge};

pub(in crate::evaluate) async fn by_command(
    it: &CommandEvaluator,
    subject: Subject<'_>,
) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone("this run was stored, and the command is not run on it again");
    };
    let asked = around.command(it);
    let said = match asked.await {
        Err(unasked) => return not_asked(unasked),
        Ok(said) => said,
    };
    let score = said.score.unwrap_or(if said.passed { 1.0 } else { 0.0 });
    let message = said.message.filter(|it| !it.is_empty());
    let message = message.as_deref();
    let found = if said.passed {
        Finding::passed(message.unwrap_or("the command says that it is right"))
    } else {
        Finding::failed(message.unwrap_or("the command says that it is not right"))
    };
    found.scored(score).with(said.details)
}

pub(in crate::evaluate) async fn by_model(it: &LlmJudge, subject: Subject<'_>) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone("this run was stored, and the judge is not asked about it again");
    };
    let case = Case::of(subject.scenario, subject.trajectory);
    let ruling = match around.judge(it, case).await {
        Err(unasked) => return not_asked(unasked),
        Ok(ruling) => ruling,
    };
    let message = ruling.message(it.threshold);
    let found = match &ruling.verdict {
        Ok(verdict) if verdict.passed => Finding::passed(message).scored(verdict.score),
        Ok(verdict) => Finding::failed(message).scored(verdict.score),
        Err(_) => Finding::error(message),
    };
    found.with(ruling.details(it.threshold)).ruled([ruling])
}
