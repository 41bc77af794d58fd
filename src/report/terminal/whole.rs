//! The report of a command.

use super::left_out::LeftOut;
use super::page::{Page, Style, Verbosity};
use super::scenario_line::Columns;
use crate::published::result::{ResultDocument, Scenario, Status};

/// The whole report of a command, ending with a line break.
pub fn terminal(result: &ResultDocument, style: Style) -> String {
    let mut page = Page::new(&result.run_id, &result.command, style);
    let left_out = if page.is_verbose() {
        Vec::new()
    } else {
        LeftOut::of(result)
    };
    let is_told = |it: &&Scenario| {
        is_told(it, style.verbosity) && !left_out.iter().any(|left| left.holds(it))
    };
    let told: Vec<&Scenario> = result.scenarios.iter().filter(is_told).collect();
    let columns = Columns::new(&told, &result.command, page.width);
    // What failed stands last, next to the summary, where one looks first.
    let (fine, others): (Vec<&Scenario>, Vec<&Scenario>) =
        told.into_iter().partition(|it| it.status.is_fine());
    for scenario in fine.into_iter().chain(others) {
        page.scenario_line(scenario, columns);
        page.below(scenario);
    }
    let is_quiet = style.verbosity == Verbosity::Quiet;
    for it in left_out.iter().filter(|it| !(is_quiet && it.is_skipped())) {
        page.left_out(it);
    }
    if !page.text.is_empty() {
        page.text.push('\n');
    }
    page.summary(result);
    page.text
}

/// Whether there is more to tell of a scenario than that it passed.
fn is_told(scenario: &Scenario, verbosity: Verbosity) -> bool {
    match verbosity {
        Verbosity::Verbose => true,
        Verbosity::Quiet => !scenario.status.is_fine() && scenario.status != Status::Skipped,
        Verbosity::Normal => {
            scenario.status != Status::Passed
                || scenario.is_changed()
                || scenario.repeated.is_some()
                || scenario.direct.is_some()
                || scenario.unchecked().next().is_some()
                || !scenario.idle_rules.is_empty()
                || !scenario.experiment_changes.is_empty()
                // That nothing was called is not what passing sounds like.
                || scenario.calls().as_deref() == Some("0")
        }
    }
}
