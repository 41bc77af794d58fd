//! What the servers under test did to the answers of those behind them.

use super::page::{DIM, MAGENTA, Page, Verbosity};
use crate::direct::{self, Line};
use model::published::result::{Direct, Scenario};

/// How many lines of calls, and of tools, are shown of a scenario.
const LINES: usize = 6;

impl Page<'_> {
    /// The calls, the tools, and what all of it cost both ways; all lines with `-v`.
    pub(super) fn direct(&mut self, scenario: &Scenario) {
        let Some(found) = &scenario.direct else {
            return;
        };
        self.some(&direct::calls(found));
        self.some(&direct::tools(found));
        self.totals(found);
    }

    fn some(&mut self, lines: &[Line]) {
        let all = self.style.verbosity == Verbosity::Verbose;
        let shown = if all { usize::MAX } else { LINES };
        let (changed, others): (Vec<_>, Vec<_>) = lines.iter().partition(|it| it.is_changed);
        for line in changed.iter().take(shown) {
            self.indented(4, "~ ", MAGENTA, &line.text);
        }
        let left = changed.len().saturating_sub(shown);
        if left > 0 {
            self.indented(4, "~ ", DIM, &format!("and {left} more; see the page"));
        }
        for line in others {
            self.indented(4, "· ", DIM, &line.text);
        }
    }

    fn totals(&mut self, found: &Direct) {
        if found.calls.is_empty() {
            self.indented(4, "· ", DIM, "no call arrived behind");
            return;
        }
        let mut text = format!("in all {}", direct::costs(&found.totals));
        let ratios = direct::ratios(&found.totals);
        if !ratios.is_empty() {
            text = format!("{text}: {ratios}");
        }
        self.indented(4, "· ", DIM, &text);
    }
}
