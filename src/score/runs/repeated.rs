//! Several attempts at one scenario: their summary, and whether it passes.

use std::cmp::Ordering;

use model::Status;
use model::repeated::{Attempt, BaselineRate, OfRuns, RateDifference, Repeated, Tally, percent};
use model::usage::TotalUse;

use super::statistics;

/// For how many runs the chances of passing are shown, beside the number of runs made.
const SHOWN: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 200, 500];

/// Sums up attempts, without a gate. `shown` is the number of the one the result shows, counted from 1.
pub fn summarise(attempts: Vec<Attempt>, shown: usize) -> Repeated {
    let judged = || attempts.iter().filter(|it| has_verdict(it.status));
    let passed = judged().filter(|it| it.status == Status::Passed).count();
    let tally = Tally {
        runs: judged().count(),
        passed,
    };
    let scores: Vec<f64> = judged().filter_map(|it| it.score).collect();
    let durations: Vec<f64> = judged().filter_map(|it| it.duration_ms).collect();
    let of_runs = |chance: fn(Tally, usize) -> Option<f64>| {
        let shown = SHOWN.into_iter().filter(|it| *it < tally.runs);
        let shown = shown.chain(std::iter::once(tally.runs));
        shown
            .filter_map(|k| chance(tally, k).map(|chance| OfRuns { k, chance }))
            .collect()
    };
    let usage = attempts.iter().filter_map(|it| it.usage);
    Repeated {
        runs: attempts.len(),
        passed,
        failed: tally.runs - passed,
        incomplete: attempts.len() - tally.runs,
        pass_rate: tally.pass_rate(),
        flaky: 0 < passed && passed < tally.runs,
        usage: usage.reduce(TotalUse::and),
        shown,
        interval: statistics::wilson(tally),
        pass_threshold: None,
        score: statistics::spread(&scores),
        duration_ms: statistics::spread(&durations),
        pass_at_k: of_runs(statistics::pass_at_k),
        pass_hat_k: of_runs(statistics::pass_hat_k),
        baseline: None,
        difference: None,
        reason: None,
        attempts,
    }
}

/// What attempts come to at a gate; `shown` as for [`summarise`]. The gate is the lowest share that passes and, where the baseline was
/// recorded several times, how often it was reproduced then.
///
/// An attempt without a verdict never makes the result better. The result fails only if it would also fail with all such attempts passed;
/// otherwise it has the status of the attempts without a verdict.
pub fn gate(
    attempts: Vec<Attempt>,
    shown: usize,
    pass_threshold: f64,
    baseline: Option<Tally>,
) -> (Status, Repeated) {
    let mut repeated = summarise(attempts, shown);
    let baseline = baseline.filter(|it| it.runs > 0);
    let tally = repeated.tally();
    repeated.pass_threshold = Some(pass_threshold);
    repeated.baseline = baseline.map(|it| BaselineRate {
        tally: it.into(),
        interval: statistics::wilson(it),
    });
    repeated.difference = baseline.and_then(|before| {
        let value = tally.pass_rate()? - before.pass_rate()?;
        let interval = statistics::newcombe(tally, before)?;
        Some(RateDifference::new(value, interval))
    });
    let incomplete = repeated.incomplete;
    let at_best = Tally {
        runs: tally.runs + incomplete,
        passed: tally.passed + incomplete,
    };
    let (status, reason) = verdict(at_best, tally, pass_threshold, baseline);
    if incomplete == 0 {
        repeated.reason = reason;
        return (status, repeated);
    }
    if status == Status::Failed {
        let even_if = format!("even if the {incomplete} without a verdict had passed");
        repeated.reason = reason.map(|it| format!("{it}, {even_if}"));
        return (status, repeated);
    }
    (without_verdict(&repeated.attempts), repeated)
}

/// The verdict on a tally; `found` is what the words speak of.
fn verdict(
    tally: Tally,
    found: Tally,
    pass_threshold: f64,
    baseline: Option<Tally>,
) -> (Status, Option<String>) {
    let share = tally.pass_rate().unwrap_or(0.0);
    let passed = format!("{} of {} runs passed", found.passed, found.runs);
    let dropped = baseline.and_then(|before| Some((before, statistics::newcombe(tally, before)?)));
    if let Some((before, interval)) = dropped.filter(|(_, it)| it.high < 0.0) {
        let reason = format!(
            "{passed}, and {} of {} did when the baseline was recorded: the pass rate is lower by {} to {} points, which chance does not explain",
            before.passed,
            before.runs,
            percent(-interval.high).trim_end_matches(" %"),
            percent(-interval.low).trim_end_matches(" %"),
        );
        return (Status::Failed, Some(reason));
    }
    // Exact comparison is right here: the quotient 7/10 and the literal 0.7 are the same double.
    if share >= pass_threshold {
        return (Status::Passed, None);
    }
    let asked = format!("`pass_threshold` asks for {}", percent(pass_threshold));
    let Some(before) = baseline else {
        return (Status::Failed, Some(format!("{passed}, and {asked}")));
    };
    let then = before.pass_rate().unwrap_or(0.0);
    let before_words = format!(
        "{} of {} did when the baseline was recorded",
        before.passed, before.runs
    );
    // If no run passes, it does not help that none passed before.
    if share >= then && share > 0.0 {
        let note = format!("{passed}; {asked}, but only {before_words}, so it is no worse");
        return (Status::Passed, Some(note));
    }
    let wanted = match statistics::runs_to_distinguish(tally, before) {
        Some(runs) => format!("it would take about {runs} runs on each side to tell"),
        None if share >= then => "there is nothing to compare with".to_owned(),
        None => "no sensible number of runs would tell".to_owned(),
    };
    let reason =
        format!("{passed}, and {before_words}: chance alone may explain that, and {wanted}");
    (Status::Inconclusive, Some(reason))
}

/// Whether an attempt should be shown rather than another: one that failed, then one that passed, and of those the one with the
/// lower score, or of equal scores the one in which more changed.
pub fn is_more_relevant(a: &Attempt, b: &Attempt) -> bool {
    let rank = |status| match status {
        Status::Failed => 0,
        Status::Passed => 1,
        _ => 2,
    };
    let by_score = match (a.score, b.score) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    let by_changes = b.changes.cmp(&a.changes);
    (rank(a.status).cmp(&rank(b.status)))
        .then(by_score)
        .then(by_changes)
        .is_lt()
}

/// The status of attempts without a verdict: that of all of them if it is the same, else an error.
fn without_verdict(attempts: &[Attempt]) -> Status {
    let mut statuses = (attempts.iter())
        .map(|it| it.status)
        .filter(|it| !has_verdict(*it));
    let first = statuses.next().unwrap_or(Status::Error);
    if statuses.all(|it| it == first) {
        first
    } else {
        Status::Error
    }
}

fn has_verdict(status: Status) -> bool {
    matches!(status, Status::Passed | Status::Failed)
}
