//! Checks of a run as a whole: whether nothing went wrong, and whether it took no more than it may.

use super::answers;
use crate::evaluate::finding::Finding;
use crate::evaluate::outcomes::meant_to_fail;
use crate::evaluate::subject::Subject;
use crate::evaluate::tools::{call_name, calls_of};
use crate::model::number::{apart, fixed, is_at_most};
use crate::model::usage::{TotalUse, costs_apart};
use crate::model::{ToolCall, Trajectory};
use crate::scenario_file::evaluators::{TraceNoErrors, Within};

/// How one limit came out.
enum Kept {
    Yes(String),
    No(String),
    /// Nobody knows what was taken.
    Unknown(String),
}

/// The times of calls that are judged.
#[derive(Debug, Clone, Copy)]
pub(in crate::evaluate) enum Times<'a> {
    /// Those of the run.
    OfRun,
    /// Those of the run and of others, later.
    Later,
    /// Those of so many runs.
    OfAll(&'a [f64], usize),
}

pub(in crate::evaluate) fn look(it: &Within, subject: Subject<'_>) -> Finding {
    let times = if subject.is_repeated {
        Times::Later
    } else {
        Times::OfRun
    };
    look_at(it, subject, times)
}

/// The same with the times of calls that several runs took.
pub(in crate::evaluate) fn look_at(it: &Within, subject: Subject<'_>, times: Times<'_>) -> Finding {
    let run = subject.trajectory;
    let mut kept = Vec::new();
    if let Some(most) = it.steps {
        let steps = run.calls().count();
        let words = format!("{steps} of at most {most} steps");
        kept.push(if steps <= most as usize {
            Kept::Yes(words)
        } else {
            Kept::No(words)
        });
    }
    if let Some(most) = it.duration {
        let most = most.as_secs_f64() * 1000.0;
        kept.push(match run.duration_ms {
            Some(took) => at_most("the run took", took, most),
            None => Kept::Unknown("how long the run took was not recorded".to_owned()),
        });
    }
    if let Some(most) = it.call_duration {
        let most = most.as_secs_f64() * 1000.0;
        kept.push(match times {
            Times::OfRun => of_calls(&durations(it, run), most, ""),
            Times::OfAll(all, runs) => of_calls(all, most, &format!(" in {runs} runs")),
            Times::Later => {
                Kept::Unknown("how long calls take is judged over all runs together".to_owned())
            }
        });
    }
    let used = TotalUse::of(&run.requests);
    let nobody = || match run.stamp.agent.as_str() {
        kind @ ("scripted" | "replay") => format!("an agent of kind `{kind}` asks no model"),
        _ => "the agent does not say what it used".to_owned(),
    };
    if let Some(most) = it.tokens {
        kept.push(match used.and_then(|it| it.tokens.total_tokens) {
            Some(tokens) if tokens <= most => {
                Kept::Yes(format!("{tokens} of at most {most} tokens"))
            }
            Some(tokens) => Kept::No(format!("{tokens} of at most {most} tokens")),
            None => Kept::Unknown(format!("tokens are not counted: {}", nobody())),
        });
    }
    if let Some(most) = it.cost {
        kept.push(match used.map(|it| it.cost) {
            Some(Some(cost)) => {
                let [took, limit] = costs_apart(cost, most);
                let words = format!("a cost of {took} of at most {limit}");
                if is_at_most(cost, most) {
                    Kept::Yes(words)
                } else {
                    Kept::No(words)
                }
            }
            Some(None) => Kept::Unknown("the cost of the model is unknown".to_owned()),
            None => Kept::Unknown(format!("the cost is unknown: {}", nobody())),
        });
    }
    together(kept)
}

/// How long the calls took that are meant, in milliseconds.
pub(in crate::evaluate) fn durations(it: &Within, run: &Trajectory) -> Vec<f64> {
    match &it.tool {
        Some(tool) => calls_of(run, tool)
            .filter_map(|(_, it)| it.duration_ms)
            .collect(),
        None => run.calls().filter_map(|it| it.duration_ms).collect(),
    }
}

fn of_calls(durations: &[f64], most: f64, runs: &str) -> Kept {
    let Some(took) = nearest_rank(durations) else {
        return Kept::Unknown("there is no such call whose time is known".to_owned());
    };
    let what = match durations.len() {
        1 => "the call took".to_owned(),
        calls => format!("95 % of {calls} calls{runs} took at most"),
    };
    at_most(&what, took, most)
}

/// The 95th percentile by nearest rank: the smallest of the values that at least 95 of 100 do not exceed.
fn nearest_rank(values: &[f64]) -> Option<f64> {
    let mut values: Vec<f64> = values.to_vec();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 95).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// In milliseconds.
const SECOND: f64 = 1000.0;

fn at_most(what: &str, took: f64, most: f64) -> Kept {
    // Rounded to the same, a limit that is exceeded would look as if it held.
    let in_seconds = |it: f64| fixed(it / 1000.0, 2);
    let is_long = took.max(most) >= SECOND;
    let is_alike = time(took) == time(most) || (is_long && in_seconds(took) == in_seconds(most));
    let [took_words, most_words] = if is_alike && took.to_bits() != most.to_bits() {
        apart(took, most, 1).map(|it| it + " ms")
    } else {
        [time(took), time(most)]
    };
    let words = format!("{what} {took_words}, and may take {most_words}");
    if took <= most {
        Kept::Yes(words)
    } else {
        Kept::No(words)
    }
}

fn time(milliseconds: f64) -> String {
    if milliseconds >= SECOND {
        format!("{} s", fixed(milliseconds / 1000.0, 2))
    } else {
        format!("{} ms", fixed(milliseconds, 1))
    }
}

/// A limit that is exceeded fails, whatever else is unknown; what nobody knows is never passed.
fn together(kept: Vec<Kept>) -> Finding {
    let (mut yes, mut no, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for it in kept {
        match it {
            Kept::Yes(words) => yes.push(words),
            Kept::No(words) => no.push(words),
            Kept::Unknown(words) => unknown.push(words),
        }
    }
    if !no.is_empty() {
        return Finding::of(no, "").with(unknown).with(yes);
    }
    if unknown.is_empty() {
        return Finding::passed(yes.join("; "));
    }
    Finding::skipped(unknown.join("; ")).with(yes)
}

pub(in crate::evaluate) fn no_errors(it: &TraceNoErrors, subject: Subject<'_>) -> Finding {
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

#[cfg(test)]
mod tests {
    use super::nearest_rank;

    #[test]
    fn of_twenty_values_one_may_be_larger() {
        let values = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
        for (count, rank) in [
            (1, 1.0),
            (2, 2.0),
            (19, 19.0),
            (20, 19.0),
            (21, 20.0),
            (100, 95.0),
        ] {
            assert_eq!(nearest_rank(&values(count)), Some(rank), "{count}");
        }
        assert_eq!(nearest_rank(&[]), None);
    }
}
