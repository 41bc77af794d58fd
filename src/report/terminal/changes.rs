//! What changed, one line each: for runs that passed, too.

use std::collections::HashSet;

use super::page::{DIM, MAGENTA, Page, RED};
use crate::published::result::{Change, Scenario};
use crate::text::line;

/// How many changes of a scenario are shown.
const CHANGES: usize = 10;

impl Page<'_> {
    /// The changes that no reason names already; all of them with `-v`.
    pub(super) fn changes(&mut self, scenario: &Scenario) {
        let all = self.is_verbose();
        // A change that a run failed for is listed among its reasons already.
        let is_among_reasons = |it: &Change| it.fails && !scenario.status.is_fine();
        let changes = scenario.changes().iter();
        let changes: Vec<&Change> = changes.filter(|it| all || !is_among_reasons(it)).collect();
        let shown = if all {
            changes.clone()
        } else {
            some_of_each(&changes, CHANGES)
        };
        for change in &shown {
            let style = if is_among_reasons(change) {
                RED
            } else {
                MAGENTA
            };
            self.indented(4, "~ ", style, &change.to_string());
        }
        if changes.len() > shown.len() {
            let left = changes.len() - shown.len();
            let more = format!("and {left} more: {}", self.explain(scenario));
            self.indented(4, "~ ", DIM, &more);
        }
    }

    /// The command that explains all of a scenario.
    fn explain(&self, scenario: &Scenario) -> String {
        let plain = |it: char| it.is_alphanumeric() || "/._-".contains(it);
        let id = line(&scenario.id);
        let id = if id.chars().all(plain) {
            id.into_owned()
        } else {
            format!("'{}'", id.replace('\'', "'\\''"))
        };
        format!("mcp-eval explain {} --scenario {id}", self.run_id)
    }
}

/// At most `most` changes, in order, with at least one of every kind, so that many of one kind do not hide the others.
fn some_of_each<'c>(changes: &[&'c Change], most: usize) -> Vec<&'c Change> {
    let mut kinds = HashSet::new();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (at, change) in changes.iter().enumerate() {
        let is_new = kinds.insert(change.kind);
        if is_new { &mut first } else { &mut others }.push(at);
    }
    let mut chosen: Vec<usize> = first.into_iter().chain(others).take(most).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| changes[at]).collect()
}
