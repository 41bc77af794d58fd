//! What a program of the author's says of a run.

use super::schema_validate::not_asked;
use crate::evaluate::finding::Finding;
use crate::evaluate::subject::Subject;
use crate::model::evaluator::CommandEvaluator;

pub(in crate::evaluate) async fn look(it: &CommandEvaluator, subject: Subject<'_>) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone("this run was stored, and the command is not run on it again");
    };
    let asked = around.command(it);
    let said = match asked.await {
        Err(unasked) => return not_asked(unasked),
        Ok(said) => said,
    };
    let score = said.score.unwrap_or(if said.passed { 1.0 } else { 0.0 });
    let found = match (said.passed, said.message.is_empty()) {
        (true, true) => Finding::passed("the command says that it is right"),
        (true, false) => Finding::passed(said.message),
        (false, true) => Finding::failed("the command says that it is not right"),
        (false, false) => Finding::failed(said.message),
    };
    let stderr = said.stderr.into_iter().map(|it| format!("stderr: {it}"));
    found.scored(score).with(said.details).with(stderr)
}
