//! The report of a command.

use std::collections::HashSet;

use super::left_out::LeftOut;
use super::page::{Page, Style, Verbosity, scenario_style};
use super::scenario_line::Columns;
use model::published::result::{Cause, ResultDocument, Scenario, Status};

/// How many scenarios that failed, or passed with changes, have a line of their own: the others are summed up by cause.
const LINES: usize = 20;

/// The whole report of a command, ending with a line break.
pub fn terminal(result: &ResultDocument, style: Style) -> String {
    let mut page = Page::new(&result.run_id, &result.command, style);
    let left_out = if page.is_verbose() {
        Vec::new()
    } else {
        LeftOut::of(result)
    };
    let grouped: HashSet<&str> = left_out.iter().flat_map(LeftOut::ids).collect();
    let is_shown =
        |it: &&Scenario| is_shown(it, style.verbosity) && !grouped.contains(it.id.as_str());
    let shown: Vec<&Scenario> = result.scenarios.iter().filter(is_shown).collect();
    let columns = Columns::new(&shown, &result.command, page.width);
    // What failed stands first, and so do its causes below.
    let (fine, others): (Vec<&Scenario>, Vec<&Scenario>) =
        shown.into_iter().partition(|it| it.status.is_fine());
    for group in [others, fine] {
        page.scenarios(&group, columns, &result.causes);
    }
    let is_quiet = style.verbosity == Verbosity::Quiet;
    for it in left_out.iter().filter(|it| !(is_quiet && it.is_skipped())) {
        page.left_out(it);
    }
    page.gap();
    page.causes(result);
    page.gap();
    page.summary(result);
    page.text
}

impl Page<'_> {
    /// The lines of scenarios with what is their own. Of many that were not just recorded, only the first.
    fn scenarios(&mut self, scenarios: &[&Scenario], columns: Columns, causes: &[Cause]) {
        let most = if self.is_verbose() { usize::MAX } else { LINES };
        let (kept, others): (Vec<&Scenario>, Vec<&Scenario>) =
            (scenarios.iter()).partition(|it| it.status == Status::Recorded);
        for scenario in kept.into_iter().chain(others.iter().copied().take(most)) {
            self.scenario_line(scenario, columns);
            let has_own_cause =
                (causes.iter()).any(|it| it.fails && it.scenarios == [scenario.id.as_str()]);
            self.below(scenario, has_own_cause);
        }
        let left = &others[others.len().min(most)..];
        if let Some(first) = left.first() {
            let what = if first.status.is_fine() {
                "passed with changes"
            } else {
                "did not pass"
            };
            let words = format!("{} more {what} (`-v` lists them)", left.len());
            let sign = format!("{} ", first.symbol());
            self.indented(0, &sign, scenario_style(first), &words);
        }
    }
}

/// What is said of each scenario, without the sums of all.
pub fn scenarios(result: &ResultDocument, style: Style) -> String {
    let mut page = Page::new(&result.run_id, &result.command, style);
    let all: Vec<&Scenario> = result.scenarios.iter().collect();
    let columns = Columns::new(&all, &result.command, page.width);
    page.scenarios(&all, columns, &result.causes);
    page.gap();
    page.causes(result);
    page.text
}

/// One cause, behind what leads to it: `change 1 of 3: `.
pub fn question(result: &ResultDocument, lead: &str, cause: &Cause, style: Style) -> String {
    let mut page = Page::new(&result.run_id, &result.command, style);
    page.keeps_words = true;
    page.cause(result, 2, lead, cause);
    page.text
}

/// Whether there is more to tell of a scenario than that it passed.
fn is_shown(scenario: &Scenario, verbosity: Verbosity) -> bool {
    match verbosity {
        Verbosity::Verbose => true,
        Verbosity::Quiet => !scenario.status.is_fine() && scenario.status != Status::Skipped,
        Verbosity::Normal => {
            scenario.status != Status::Passed
                || scenario.is_changed()
                || scenario.flaky
                || scenario.repeated.is_some()
                || scenario.direct.is_some()
                || scenario.unchecked().next().is_some()
                || !scenario.fails_as_before().is_empty()
                || scenario.evaluators_to_look_at().next().is_some()
                || !scenario.idle_rules.is_empty()
                || !scenario.experiment_changes.is_empty()
                // That nothing was called is not what passing sounds like.
                || scenario.calls().as_deref() == Some("0")
        }
    }
}
