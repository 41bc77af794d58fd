//! The report of a command, a failure at the moment it happens, and scenarios that were left out.

use std::collections::HashSet;
use std::slice;

use super::page::{BLUE, Page, Style, Verbosity, scenario_style, status_style};
use super::scenario_line::Columns;

use crate::causes;
use model::published::result::{Cause, ResultDocument, Scenario};
use model::text::shorten;
use model::{Problem, Status};

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
        let most = self.most(LINES);
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

/// Scenarios that were left out for the same reason.
pub(super) struct LeftOut<'a> {
    status: Status,
    problem: Option<&'a Problem>,
    scenarios: Vec<&'a Scenario>,
}

impl<'a> LeftOut<'a> {
    /// The reasons that several scenarios of a result were left out for, in the order of the first of each.
    pub(super) fn of(result: &'a ResultDocument) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for scenario in result.scenarios.iter().filter(|it| it.is_left_out()) {
            let problem = scenario.problem.as_ref();
            let known = found.iter_mut();
            let mut known =
                known.filter(|it| it.status == scenario.status && it.problem == problem);
            match known.next() {
                Some(it) => it.scenarios.push(scenario),
                None => found.push(Self {
                    status: scenario.status,
                    problem,
                    scenarios: vec![scenario],
                }),
            }
        }
        found.retain(|it| it.scenarios.len() > 1);
        found
    }

    /// Nobody wanted them to run here.
    fn is_skipped(&self) -> bool {
        self.status == Status::Skipped
    }

    /// The ids of the scenarios.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.scenarios.iter().map(|it| it.id.as_str())
    }
}

impl Page<'_> {
    /// `- 16 skipped: its image is not there`.
    pub(super) fn left_out(&mut self, left_out: &LeftOut<'_>) {
        let LeftOut {
            status,
            problem,
            scenarios,
        } = left_out;
        let mut words = format!("{} {}", scenarios.len(), status.name());
        if let Some(problem) = problem {
            words = format!("{words}: {}", problem.message);
        }
        let sign = format!("{} ", status.symbol());
        self.indented(0, &sign, status_style(*status), &words);
        if let Some(hint) = problem.and_then(|it| it.hint.as_ref()) {
            self.indented(4, "→ ", BLUE, hint);
        }
    }
}

/// A scenario that did not pass, with the first reason, ending with a line break. `command` is the one that results name.
pub fn failure(scenario: &Scenario, command: &str, style: Style) -> String {
    let mut page = Page::new("", command, style);
    let sign = format!("{} ", scenario.symbol());
    let id = if scenario.name == scenario.id {
        String::new()
    } else {
        format!(" ({})", scenario.id)
    };
    let causes = causes::causes(slice::from_ref(scenario), command);
    let mut reasons = causes.into_iter().filter(|it| it.fails);
    let first = reasons.next().map(|it| it.text);
    let problem = scenario.problem.as_ref().map(|it| it.message.clone());
    let said = first.or(problem).map(|it| format!(": {it}"));
    let said = said.unwrap_or_default();
    let status = scenario.status_words(command);
    let line = format!("{}{id}  {status}{said}", scenario.name);
    let more = match reasons.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let room = page.width.saturating_sub(sign.len() + more.len());
    let line = format!("{}{more}", shorten(&line, room));
    page.indented(0, &sign, status_style(scenario.status), &line);
    page.text
}
