//! What a model says of a run.

use super::schema_validate::not_asked;
use crate::evaluate::finding::Finding;
use crate::evaluate::judge::Case;
use crate::evaluate::subject::Subject;
use crate::model::judge::LlmJudge;

pub(in crate::evaluate) async fn look(it: &LlmJudge, subject: Subject<'_>) -> Finding {
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
