//! What several runs of one scenario came to.

use super::page::{BOLD, DIM, Page, Verbosity, status_style};
use model::published::result::{Repeated, Scenario};

impl Page<'_> {
    /// Writes the result of all runs, and which of them the following lines are about.
    pub(super) fn repeated(&mut self, scenario: &Scenario, repeated: &Repeated) {
        self.indented(4, "", BOLD, &repeated.words());
        if let Some(words) = repeated.baseline_words() {
            self.indented(4, "", DIM, &words);
        }
        if let Some(reason) = &repeated.reason {
            let sign = format!("{} ", scenario.status.symbol());
            self.indented(4, &sign, status_style(scenario.status), reason);
        }
        let verbose = self.style.verbosity == Verbosity::Verbose;
        if verbose {
            for words in repeated.chances_words().iter().filter(|it| !it.is_empty()) {
                self.indented(4, "", DIM, words);
            }
        }
        if verbose || !scenario.status.is_fine() {
            self.usage(scenario);
        }
        let shown = repeated.shown_words();
        if let Some(words) = shown.filter(|_| verbose || !scenario.reasons().is_empty()) {
            self.indented(4, "", DIM, &format!("{words}:"));
        }
    }
}
