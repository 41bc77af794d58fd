//! What changed, one line each: for runs that passed, too.

use std::collections::HashSet;

use super::{DIM, MAGENTA, Page, RED, Verbosity};
use crate::published::result::{ChangeV1, ScenarioV1};
use crate::text::line;

/// How many changes of a scenario are shown.
const CHANGES: usize = 10;

impl Page<'_> {
    /// The changes that no reason tells of already. All of them for readers who asked for more.
    pub(super) fn changes(&mut self, scenario: &ScenarioV1) {
        let all = self.style.verbosity == Verbosity::Verbose;
        // What a run failed for stands among its reasons.
        let is_told = |it: &ChangeV1| it.fails && !scenario.status.is_fine();
        let changes = scenario.changes().iter();
        let changes: Vec<&ChangeV1> = changes.filter(|it| all || !is_told(it)).collect();
        let shown = if all {
            changes.clone()
        } else {
            some_of_each(&changes, CHANGES)
        };
        for change in &shown {
            let style = if is_told(change) { RED } else { MAGENTA };
            self.indented(4, "~ ", style, &change.to_string());
        }
        if changes.len() > shown.len() {
            let left = changes.len() - shown.len();
            let more = format!("and {left} more: {}", self.explain(scenario));
            self.indented(4, "~ ", DIM, &more);
        }
    }

    /// The command that tells everything of a scenario.
    fn explain(&self, scenario: &ScenarioV1) -> String {
        let plain = |it: char| it.is_alphanumeric() || "/._-".contains(it);
        let id = line(&scenario.id);
        let id = if id.chars().all(plain) {
            id.into_owned()
        } else {
            format!("'{}'", id.replace('\'', "'\\''"))
        };
        format!("mcp-eval explain {} --scenario {id}", self.result.run_id)
    }
}

/// At most as many changes, in order, and of every kind at least one: many of one kind hide no other.
fn some_of_each<'c>(changes: &[&'c ChangeV1], most: usize) -> Vec<&'c ChangeV1> {
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
