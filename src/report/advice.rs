//! Advice on what to do about a comparison, in a sentence.

use crate::command::review;
use model::points;
use model::published::result::{ResultDocument, Scenario};
use model::text::several;
use model::{Band, Called, NotRun, Selection, Status};

/// The same with the command that accepts changes, where they wait for it.
pub fn with_review(result: &ResultDocument) -> Option<String> {
    let keeps = result.called.as_ref().is_some_and(|it| it.keeps_pending);
    let mut scenarios = result.scenarios.iter();
    let waits = keeps && scenarios.any(|it| it.comparison.is_some() && !it.is_unchanged());
    sentence(result, waits.then(|| review(result)).as_deref())
}

/// Whether the advice of a terminal names the command that accepts changes.
pub fn names_review(result: &ResultDocument) -> bool {
    with_review(result) != sentence(result, None)
}

/// What to do: deploy, monitor, review, stop, or find out what stood in the way. `None` for commands that compare with no baseline, and where
/// nothing gates. How many failed, the sentence of the gate says; with `review`, this says by which command changes are accepted.
pub fn sentence(result: &ResultDocument, review: Option<&str>) -> Option<String> {
    let summary = result.summary;
    if result.command != "compare" || result.is_undecided() {
        return None;
    }
    let failed = result.scenarios.iter();
    let failed = failed.filter(|it| it.status == Status::Failed && !it.is_tolerated());
    let broken = failed.filter(|it| it.band() == Some(Band::Broken)).count();
    let stuck = summary.error + summary.timeout;
    let part = result.selection.filter(|it| it.chosen < it.of);
    let is_stopped = result.interrupted || summary.interrupted > 0;
    // Of two versions, neither becomes the baseline.
    let is_against = (result.called.as_ref()).is_some_and(Called::is_against_another);
    let with = review.map_or_else(String::new, |it| format!(" with `{it}`"));
    // Whether the sentence says how many could not be run.
    let mut counts_skipped = false;
    let sentence = if is_stopped {
        "Run it again before you decide: it was stopped before everything had been tried."
            .to_owned()
    } else if broken > 0 {
        format!(
            "Do not merge: {} completely from {}.",
            several(broken, "scenario differs", "scenarios differ"),
            match (is_against, broken) {
                (true, _) => "the other version",
                (false, 1) => "its baseline",
                (false, _) => "their baselines",
            }
        )
    } else if summary.failed > 0 {
        let [it, change] = match summary.failed {
            1 => ["it", "change"],
            _ => ["them", "changes"],
        };
        if is_against {
            format!("Fix {it}, unless the difference is intended.")
        } else {
            format!("Fix {it}, or accept the {change}{with}.")
        }
    } else if stuck > 0 {
        "Fix the error and run again.".to_owned()
    } else if result.scenarios.iter().any(|it| it.unsteady.is_some()) {
        let answered = "The system under test answers in two ways";
        format!(
            "{answered}: make it wait until it is ready, or make the scenarios wait until it is stable."
        )
    } else if summary.inconclusive > 0 {
        format!(
            "Monitor, or run it more often: these are too few runs to say whether {} worse.",
            several(summary.inconclusive, "scenario is", "scenarios are")
        )
    } else if summary.passed == 0 {
        return None;
    } else if without_rules(result) > 0 {
        format!(
            "Decide nothing by this alone: it differs in nothing that counts, but no rules of scenario files applied to {}, as there are no such files here.",
            several(without_rules(result), "scenario", "scenarios")
        )
    } else if let Some(failing) = failing(result) {
        format!(
            "Look at it before you deploy: nothing is worse than what was recorded, but {failing} as in the baseline."
        )
    } else if let Some(part) = part {
        return Some(of_part(result, part) + &skipped(result));
    } else if let Some(doubts) = monitored(result) {
        format!("Deploy and monitor: everything passed, but {doubts}.")
    } else if summary.changed > 0 {
        format!(
            "All passed; review the changes of {}{with}.",
            several(summary.changed, "scenario", "scenarios")
        )
    } else {
        let passed = if result.scenarios.iter().all(is_unchanged_or_left_out) {
            "passed, and nothing changed."
        } else {
            "passed."
        };
        let skipped = in_the_way(result);
        counts_skipped = skipped > 0;
        match skipped {
            0 => format!("Deploy: everything {passed}"),
            1 => format!(
                "Deploy if you can do without the scenario that could not be run: everything else {passed}"
            ),
            several => format!(
                "Deploy if you can do without the {several} scenarios that could not be run: everything else {passed}"
            ),
        }
    };
    let is_fine = summary.failed + stuck == 0 && !is_stopped;
    let sentence = if is_fine && !counts_skipped {
        sentence + &skipped(result)
    } else {
        sentence
    };
    Some(match part.filter(|_| !is_stopped) {
        Some(part) => format!(
            "{sentence} Ran {} of {}.",
            part.chosen,
            several(part.of, "scenario", "scenarios")
        ),
        None => sentence,
    })
}

/// How many scenarios nothing is known of because something stood in the way, which nobody has chosen as `enabled: false` is.
fn in_the_way(result: &ResultDocument) -> usize {
    let skipped = result.scenarios.iter();
    let skipped = skipped.filter(|it| it.status == Status::Skipped);
    let is_chosen = |it: &&Scenario| it.not_run == Some(NotRun::Disabled);
    skipped.filter(|it| !is_chosen(it)).count()
}

/// How many scenarios passed of which nothing but the comparison counts.
fn without_rules(result: &ResultDocument) -> usize {
    let passed = result.scenarios.iter();
    let passed = passed.filter(|it| it.status == Status::Passed);
    passed.filter(|it| it.without_rules).count()
}

/// What ends a sentence that would sound as if all had been run; empty where that is so.
fn skipped(result: &ResultDocument) -> String {
    match in_the_way(result) {
        0 => String::new(),
        count => format!(
            " Nothing is known of {} could not be run.",
            several(count, "scenario that", "scenarios that")
        ),
    }
}

/// The scenarios that passed because their calls fail as they did when they were recorded; `None` where all is well.
fn failing(result: &ResultDocument) -> Option<String> {
    let failing = result.scenarios.iter();
    let mut failing = failing.filter(|it| !it.fails_as_before().is_empty());
    let first = failing.next()?;
    Some(match failing.count() {
        0 => format!("calls of `{}` fail", first.id),
        more => format!(
            "calls of `{}` and {} fail",
            first.id,
            several(more, "other scenario", "other scenarios")
        ),
    })
}

/// What to do where all of a part has passed, which says nothing about the rest.
fn of_part(result: &ResultDocument, part: Selection) -> String {
    let passed = if result.summary.quarantined > 0 {
        format!(
            "Everything passed that is not quarantined, of {}.",
            chosen(part)
        )
    } else if result.scenarios.iter().all(is_unchanged_or_left_out) {
        format!(
            "Everything passed, and nothing changed, of {}.",
            chosen(part)
        )
    } else if result.summary.changed > 0 {
        format!(
            "Everything passed of {}, {} of them with changes.",
            chosen(part),
            result.summary.changed
        )
    } else {
        format!("Everything passed of {}.", chosen(part))
    };
    let rest = if part.not_passed > 0 {
        format!(
            "Do not deploy yet: {} when last run, and {} not run again.",
            several(
                part.not_passed,
                "scenario did not pass",
                "scenarios did not pass"
            ),
            was_or_were(part.not_passed)
        )
    } else if part.of - part.chosen == 1 {
        "Run the other one before you deploy.".to_owned()
    } else {
        format!("Run the other {} before you deploy.", part.of - part.chosen)
    };
    format!("{passed} {rest}")
}

/// `the 2 scenarios that were chosen of 9`.
fn chosen(part: Selection) -> String {
    match part.chosen {
        1 => format!("the 1 scenario that was chosen of {}", part.of),
        several => format!("the {several} scenarios that were chosen of {}", part.of),
    }
}

fn was_or_were(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

fn is_unchanged_or_left_out(scenario: &Scenario) -> bool {
    scenario.status == Status::Skipped || scenario.is_unchanged()
}

/// What speaks for a look although everything passed: runs that failed, of a scenario of which only a share has to pass, and scores that are
/// not good, where the scenario's own threshold is so low. `None` where nothing does.
fn monitored(result: &ResultDocument) -> Option<String> {
    let passed = result.scenarios.iter();
    let passed = passed.filter(|it| it.status == Status::Passed);
    let low = passed.filter(|it| it.band().is_some_and(|it| it < Band::Good));
    let failed_runs = |it: &&Scenario| it.repeated.as_ref().is_some_and(|it| it.failed > 0);
    let (now_and_then, low): (Vec<&Scenario>, Vec<&Scenario>) = low.partition(failed_runs);
    let mut doubts = Vec::new();
    if let Some(worst) = (now_and_then.iter())
        .filter_map(|it| it.repeated.as_ref())
        .min_by(|a, b| {
            a.pass_rate
                .unwrap_or(0.0)
                .total_cmp(&b.pass_rate.unwrap_or(0.0))
        })
    {
        doubts.push(format!(
            "{} not in every run ({} of {} runs)",
            several(now_and_then.len(), "scenario passed", "scenarios passed"),
            worst.passed,
            worst.runs
        ));
    }
    let mut scores: Vec<f64> = low.into_iter().filter_map(Scenario::score).collect();
    scores.sort_by(f64::total_cmp);
    if let Some(lowest) = scores.first() {
        doubts.push(format!(
            "{} less like what was recorded than usual (score {})",
            several(scores.len(), "scenario is", "scenarios are"),
            points::score(*lowest)
        ));
    }
    (!doubts.is_empty()).then(|| doubts.join(", and "))
}
