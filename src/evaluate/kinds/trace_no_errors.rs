//! Whether nothing went wrong on the way.

use super::answers;
use crate::evaluate::finding::Finding;
use crate::evaluate::outcomes::meant_to_fail;
use crate::evaluate::subject::Subject;
use crate::evaluate::tools::call_name;
use crate::model::evaluator::TraceNoErrors;
use crate::model::trajectory::ToolCall;

pub(in crate::evaluate) fn look(it: &TraceNoErrors, subject: Subject<'_>) -> Finding {
    let (scenario, run) = (subject.scenario, subject.trajectory);
    let calls: Vec<&ToolCall> = run.calls().collect();
    // What the evaluator says wins over what the scenario expects.
    let may_be_empty = it.allow_empty.unwrap_or(scenario.expects_no_call);
    if calls.is_empty() && !may_be_empty {
        return Finding::failed("no tool was called, so nothing shows that it works")
            .with(["`allow_empty: true` lets that pass".to_owned()]);
    }
    let meant = meant_to_fail(scenario, run);
    let wrong = |index: usize, call: &ToolCall| -> Option<String> {
        if meant.contains(&index) {
            return None;
        }
        let error = answers::error(call, &scenario.scoring)?;
        Some(format!("{} {error}", call_name((Some(index + 1), call))))
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
    let mut retried = Vec::new();
    let mut problems = Vec::new();
    for (index, problem) in wrong.iter().enumerate() {
        let Some(problem) = problem else { continue };
        if is_made_good(index) && retried.len() < it.max_retries as usize {
            retried.push(format!("{problem}; it was retried"));
        } else {
            problems.push(problem.clone());
        }
    }
    let failed = |index: &usize| {
        let call = calls.get(*index);
        call.is_some_and(|it| answers::error(it, &scenario.scoring).is_some())
    };
    let meant = meant.iter().filter(|it| failed(it)).count();
    Finding::of(problems, words(calls.len(), meant, retried.len())).with(retried)
}

/// What is said of a run in which nothing went wrong.
fn words(calls: usize, meant: usize, retried: usize) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let were = |count: usize| if count == 1 { "was" } else { "were" };
    let errors = |count: usize, what: &str| {
        let (errors, were) = (counted(count, "error"), were(count));
        (count > 0).then(|| format!("{errors} that {were} {what}"))
    };
    if calls == 0 {
        return "nothing was called".to_owned();
    }
    let errors: Vec<String> = [errors(meant, "meant"), errors(retried, "retried")]
        .into_iter()
        .flatten()
        .collect();
    let calls = counted(calls, "call");
    if errors.is_empty() {
        return format!("{calls}, no error");
    }
    format!("{calls}, no error but {}", errors.join(" and "))
}
