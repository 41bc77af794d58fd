//! The lines below the one of a scenario: repeated runs, and direct calls, among them.

use super::page::{BLUE, BOLD, DIM, GREEN, MAGENTA, Page, RED, Verbosity, YELLOW, status_style};

use crate::direct::{self, Line};
use crate::measured;
use model::number::fixed;
use model::points;
use model::published::result::{Comparison, EvaluationSummary, Scenario};
use model::repeated::Repeated;
use model::text::shorten;
use model::{Direct, EvaluationStatus, Loss, Problem, Status};

/// The longest criterion shown where it was not checked.
const NAME_CHARS: usize = 100;

impl Page<'_> {
    /// Writes what stands below a scenario's line: all of it with `-v`, else what no cause tells, because it is the scenario's own. A
    /// scenario that failed for a cause of its own is shown with whose doing that is.
    pub(super) fn below(&mut self, scenario: &Scenario, has_own_cause: bool) {
        let verbose = self.is_verbose();
        if let Some(sentence) = scenario.not_the_same_experiment() {
            self.indented(4, "! ", YELLOW, &sentence);
        }
        if verbose && !scenario.status.is_fine() {
            self.indented(4, "", DIM, &scenario.path);
        }
        // Why a scenario was left out has no cause.
        let is_shown = verbose || scenario.status.is_left_out();
        if let Some(problem) = scenario.problem.as_ref().filter(|_| is_shown) {
            self.problem(problem, scenario.status);
        }
        if let Some(repeated) = &scenario.repeated {
            self.repeated(scenario, repeated);
        }
        if let Some(sentence) = scenario
            .in_words
            .as_ref()
            .filter(|_| verbose || has_own_cause)
        {
            self.indented(4, "", BOLD, sentence);
        }
        self.measured(scenario);
        if verbose {
            self.in_full(scenario);
        }
        self.direct(scenario);
        self.without_effect(scenario);
        if scenario.repeated.is_none() && (verbose || !scenario.status.is_fine()) {
            self.usage(scenario);
        }
        if let Some(comparison) = &scenario.comparison {
            if verbose || !scenario.status.is_fine() || scenario.is_changed() {
                let others = comparison.warnings.iter();
                for warning in others.filter(|it| !comparison.mentions(it)) {
                    self.indented(4, "! ", YELLOW, &warning.to_string());
                }
            }
            if verbose {
                self.numbers(scenario, comparison);
                self.losses(comparison);
            }
        }
        self.notes(scenario);
    }

    /// What was measured, where there is something to look at.
    fn measured(&mut self, scenario: &Scenario) {
        let is_asked = self.is_verbose() || !scenario.status.is_fine() || scenario.is_changed();
        let measured = scenario.measured.as_ref().filter(|_| is_asked);
        for line in measured.map(measured::lines).unwrap_or_default() {
            self.indented(4, "", DIM, &line);
        }
    }

    /// What the causes say, in the words of this scenario.
    fn in_full(&mut self, scenario: &Scenario) {
        for it in scenario.comparison.iter().flat_map(Comparison::grouped) {
            self.indented(4, "✗ ", RED, &it.reason.to_string());
            for follows in it.follows {
                self.indented(6, "└ ", RED, &follows.to_string());
            }
        }
        for unmet in scenario.unmet_checks() {
            self.indented(4, "✗ ", RED, &unmet);
        }
        for change in scenario.changes() {
            // A change that a run failed for is listed among its reasons, too.
            let fails = change.fails && !scenario.status.is_fine();
            let style = if fails { RED } else { MAGENTA };
            self.indented(4, "~ ", style, &change.to_string());
        }
    }

    /// What was not checked, what fails as before, and rules that had no effect.
    fn without_effect(&mut self, scenario: &Scenario) {
        if self.style.verbosity == Verbosity::Quiet {
            return;
        }
        for check in scenario.unchecked() {
            let shown = shorten(&check.name, NAME_CHARS);
            let text = format!("unchecked: {shown}: {}", check.message);
            self.indented(4, "? ", YELLOW, &text);
        }
        for it in scenario.fails_as_before() {
            let text = format!("fails as in its baseline: {it}");
            self.indented(4, "! ", YELLOW, &text);
        }
        if self.is_verbose() {
            self.evaluators(scenario);
        } else {
            for it in scenario.evaluators_to_look_at() {
                let sign = format!("{} ", it.status.symbol());
                self.indented(4, &sign, YELLOW, &it.to_string());
            }
        }
        for rule in &scenario.idle_rules {
            self.indented(4, "! ", YELLOW, rule);
        }
    }

    /// What all evaluators found, with `-v`.
    fn evaluators(&mut self, scenario: &Scenario) {
        for it in &scenario.evaluators {
            let style = match it.status {
                EvaluationStatus::Passed => GREEN,
                EvaluationStatus::Failed if it.gates() => RED,
                _ => YELLOW,
            };
            let sign = format!("{} ", it.status.symbol());
            self.indented(4, &sign, style, &it.to_string());
            if it.is_worth_a_look() {
                self.details(6, it.details.iter().map(String::as_str));
            }
        }
        let summary = scenario.evaluation.as_ref();
        if let Some(words) = summary.and_then(EvaluationSummary::words) {
            self.indented(4, "", DIM, &words);
        }
    }

    pub(super) fn usage(&mut self, scenario: &Scenario) {
        if let Some(usage) = scenario.usage() {
            self.indented(4, "", DIM, &format!("model: {}", usage.words()));
        }
    }

    pub(super) fn problem(&mut self, problem: &Problem, status: Status) {
        let sign = format!("{} ", status.symbol());
        self.indented(4, &sign, status_style(status), &problem.message);
        if let Some(hint) = &problem.hint {
            self.indented(4, "→ ", BLUE, hint);
        }
        self.details(6, problem.details.iter().map(String::as_str));
    }

    /// The numbers behind the overall score, with `-v`.
    fn numbers(&mut self, scenario: &Scenario, comparison: &Comparison) {
        let scores = &comparison.scores;
        let band = scenario.band().unwrap_or(comparison.band);
        let numbers = [
            format!("arguments {}", fixed(scores.trajectory, 3)),
            format!("calls {}", fixed(scores.calls, 3)),
            format!(
                "status {} → {} × {}",
                comparison.baseline_status.name(),
                comparison.current_status.name(),
                fixed(scores.status_factor, 2)
            ),
            format!("count penalty {}", fixed(scores.count_penalty, 2)),
            format!("threshold {}", fixed(scores.threshold, 2)),
            band.name().to_owned(),
            format!("variant {}", comparison.variant),
        ];
        self.indented(4, "", DIM, &numbers.join(", "));
    }

    /// Where the points went, the largest losses first.
    fn losses(&mut self, comparison: &Comparison) {
        let costly = comparison.losses.iter();
        let mut losses: Vec<&Loss> = costly.filter(|it| points::costs(it.points)).collect();
        losses.sort_by(|a, b| b.points.total_cmp(&a.points));
        for loss in losses {
            self.indented(4, "- ", DIM, &loss.to_string());
        }
    }

    /// Remarks that change no status: shown where a baseline was just kept, or when asked for more.
    fn notes(&mut self, scenario: &Scenario) {
        let wanted = match self.style.verbosity {
            Verbosity::Quiet => !scenario.status.is_fine(),
            Verbosity::Normal => scenario.status != Status::Passed,
            Verbosity::Verbose => true,
        };
        if wanted {
            let details = scenario.details.iter().filter(|_| self.is_verbose());
            let all: Vec<&String> = scenario.notes.iter().chain(details).collect();
            for note in all {
                self.indented(4, "· ", DIM, note);
            }
        }
    }
}

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
        let shown = self.most(LINES);
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
        let verbose = self.is_verbose();
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
