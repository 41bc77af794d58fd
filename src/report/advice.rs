//! What to do about a comparison, in a sentence.

use crate::model::points;
use crate::published::result::{Band, ResultDocument, Scenario, Status};

/// What to do: deploy, monitor, review, stop, or find out what stood in the way. `None` for commands that compare with no baseline.
pub fn sentence(result: &ResultDocument) -> Option<String> {
    let summary = result.summary;
    if result.command != "compare" {
        return None;
    }
    let failed = (result.scenarios.iter()).filter(|it| it.status == Status::Failed);
    let broken = failed.filter(|it| it.band() == Some(Band::Broken)).count();
    let stuck = summary.error + summary.timeout;
    let sentence = if result.interrupted {
        "Run it again before you decide: it was stopped before everything had been tried."
            .to_owned()
    } else if broken > 0 {
        format!(
            "Stop: {} little in common with what was recorded. Find out why before this goes anywhere.",
            several(broken, "scenario has", "scenarios have")
        )
    } else if summary.failed > 0 {
        format!(
            "Review: {}. Accept what is meant, and repair the rest.",
            several(summary.failed, "scenario failed", "scenarios failed")
        )
    } else if stuck > 0 {
        format!(
            "Find out what stood in the way: nothing is known of {}.",
            several(stuck, "scenario", "scenarios")
        )
    } else if summary.inconclusive > 0 {
        format!(
            "Monitor, or run it more often: whether {} worse cannot be told from so few runs.",
            several(summary.inconclusive, "scenario is", "scenarios are")
        )
    } else if summary.passed == 0 {
        return None;
    } else if let Some(lowest) = monitored(result) {
        format!(
            "Deploy and monitor: everything passed, but {} less like what was recorded than usual ({}).",
            several(lowest.0, "scenario is", "scenarios are"),
            lowest.1
        )
    } else if summary.changed > 0 {
        format!(
            "Deploy when you have seen what changed: {} with changes.",
            several(summary.changed, "scenario passed", "scenarios passed")
        )
    } else if result.scenarios.iter().all(is_unchanged_or_left_out) {
        "Deploy: everything passed, and nothing changed.".to_owned()
    } else {
        "Deploy: everything passed.".to_owned()
    };
    Some(sentence)
}

fn is_unchanged_or_left_out(scenario: &Scenario) -> bool {
    scenario.status == Status::Skipped || scenario.is_unchanged()
}

/// How many scenarios passed with a score that is not good, where their own threshold is so low, and the lowest score.
fn monitored(result: &ResultDocument) -> Option<(usize, String)> {
    let passed = result.scenarios.iter();
    let passed = passed.filter(|it| it.status == Status::Passed);
    let low = passed.filter(|it| it.band().is_some_and(|it| it < Band::Good));
    let mut scores: Vec<f64> = low.filter_map(Scenario::score).collect();
    scores.sort_by(f64::total_cmp);
    let lowest = scores.first()?;
    let words = format!("score {}", points::score(*lowest));
    Some((scores.len(), words))
}

fn several(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
