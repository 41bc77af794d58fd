//! Whether nothing went wrong on the way.

use super::answers;
use crate::evaluate::finding::Finding;
use crate::evaluate::outcomes::meant_to_fail;
use crate::evaluate::subject::Subject;
use crate::model::evaluator::TraceNoErrors;
use crate::model::trajectory::ToolCall;

pub(in crate::evaluate) fn look(it: &TraceNoErrors, subject: Subject<'_>) -> Finding {
    let (scenario, run) = (subject.scenario, subject.trajectory);
    let calls: Vec<&ToolCall> = run.calls().collect();
    if calls.is_empty() && !it.allow_empty && !scenario.expects_no_call {
        return Finding::failed("no tool was called, so nothing shows that it works")
            .with(["`allow_empty: true` lets that pass".to_owned()]);
    }
    let meant = meant_to_fail(scenario, run);
    let wrong = |index: usize, call: &ToolCall| -> Option<String> {
        if meant.contains(&index) {
            return None;
        }
        let error = answers::error(call, &scenario.scoring)?;
        Some(format!("{} {error}", answers::name((index + 1, call))))
    };
    let wrong: Vec<Option<String>> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| wrong(index, call))
        .collect();
    let is_made_good = |index: usize| {
        let later = calls.iter().zip(&wrong).skip(index + 1);
        let mut later = later.filter(|(_, wrong)| wrong.is_none());
        later.any(|(it, _)| it.full_name() == calls[index].full_name())
    };
    let mut forgiven = 0;
    let mut problems = Vec::new();
    let mut retried = Vec::new();
    for (index, problem) in wrong.iter().enumerate() {
        let Some(problem) = problem else { continue };
        if is_made_good(index) && forgiven < it.max_retries {
            forgiven += 1;
            retried.push(format!("{problem}; it was retried"));
        } else {
            problems.push(problem.clone());
        }
    }
    let words = match (calls.len(), forgiven) {
        (0, _) => "nothing was called".to_owned(),
        (1, 0) => "1 call, no error".to_owned(),
        (calls, 0) => format!("{calls} calls, no error"),
        (calls, 1) => format!("{calls} calls, 1 error that was retried"),
        (calls, errors) => format!("{calls} calls, {errors} errors that were retried"),
    };
    Finding::of(problems, words).with(retried)
}
