//! What a person sees on the terminal: one line per scenario, reasons below, a summary at the end.

mod changes;
mod direct;
mod repeated;
mod summary;

use anstyle::{AnsiColor, Style as Ansi};
use unicode_width::UnicodeWidthStr;

use crate::model::number::fixed;
use crate::model::points;
use crate::published::result::{
    Band, Comparison, Loss, Problem, Reason, ResultDocument, Scenario, Status,
};
use crate::report::duration;
use crate::report::wrap;
use crate::text::{block, line, shorten};

/// How the text is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour it with ANSI escape codes. Colour never carries information that the text lacks.
    pub color: bool,
    /// Columns of the terminal; less than 72 is taken as 72.
    pub width: usize,
    pub verbosity: Verbosity,
}

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Only what did not pass, and the summary.
    Quiet,
    #[default]
    Normal,
    /// Also scores, notes and warnings of what passed.
    Verbose,
}

const GREEN: Ansi = AnsiColor::Green.on_default();
const RED: Ansi = AnsiColor::Red.on_default();
const YELLOW: Ansi = AnsiColor::Yellow.on_default();
const BLUE: Ansi = AnsiColor::Blue.on_default();
/// The colour of what passed with changes.
const MAGENTA: Ansi = AnsiColor::Magenta.on_default();
const DIM: Ansi = Ansi::new().dimmed();
const BOLD: Ansi = Ansi::new().bold();

/// The least width, and the widths of the columns, each with the spaces that keep it apart.
const MIN_WIDTH: usize = 72;
const SIGN: usize = 2;
const LEAST_STATUS: usize = 9;
const BAND: usize = 10;
const SCORE: usize = 6;
const DURATION: usize = 11;
/// How many losses of a failed scenario are shown.
const LOSSES: usize = 8;
/// How much of what follows from a reason is shown.
const FOLLOWS: usize = 5;
/// The longest reason or note shown; `result.json` holds the whole.
const TEXT_CHARS: usize = 600;
/// The longest criterion shown where it was not checked.
const NAME_CHARS: usize = 100;

/// The whole report of a command, ending with a line break.
pub fn terminal(result: &ResultDocument, style: Style) -> String {
    let mut page = Page::new(result, style);
    let columns = Columns::new(result, page.width);
    for (at, scenario) in result.scenarios.iter().enumerate() {
        if style.verbosity == Verbosity::Quiet && scenario.status.is_fine() {
            continue;
        }
        page.scenario_line(scenario, columns);
        // If several scenarios in a row were skipped for the same reason, only the last one shows it.
        let next = result.scenarios.get(at + 1);
        let is_shown_next = scenario.status.is_left_out()
            && scenario.current.is_none()
            && next.is_some_and(|it| {
                (it.status, &it.problem) == (scenario.status, &scenario.problem)
                    && it.current.is_none()
            });
        if !is_shown_next {
            page.below(scenario);
        }
    }
    if !page.text.is_empty() {
        page.text.push('\n');
    }
    page.summary(result);
    page.text
}

/// The widths of the columns that depend on what stands in them.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    status: usize,
    calls: usize,
}

impl Columns {
    fn new(result: &ResultDocument, width: usize) -> Self {
        let widest = |cell: fn(&Scenario) -> usize| result.scenarios.iter().map(cell).max();
        let calls = widest(|it| calls(it).width() + 2).unwrap_or(0);
        let statuses = result.scenarios.iter();
        let statuses = statuses.map(|it| it.status_words(&result.command).len() + 2);
        let status = statuses.max().unwrap_or(0).max(LEAST_STATUS);
        let others = SIGN + 2 + status + BAND + SCORE + calls + DURATION;
        let name = widest(|it| line(&it.name).width()).unwrap_or(0);
        Self {
            name: name.min(width.saturating_sub(others)).max(8),
            status,
            calls,
        }
    }
}

fn calls(scenario: &Scenario) -> String {
    scenario.calls().map_or_else(String::new, |it| {
        let noun = if it == "1" { "call" } else { "calls" };
        format!("{it} {noun}")
    })
}

/// The text as it grows.
struct Page<'a> {
    text: String,
    result: &'a ResultDocument,
    style: Style,
    width: usize,
}

impl<'a> Page<'a> {
    fn new(result: &'a ResultDocument, style: Style) -> Self {
        Self {
            text: String::new(),
            result,
            style,
            width: style.width.max(MIN_WIDTH),
        }
    }

    fn scenario_line(&mut self, scenario: &Scenario, columns: Columns) {
        let status = scenario_style(scenario);
        let band = scenario.band().filter(|_| scenario.repeated.is_none());
        let score = scenario.score().map_or_else(String::new, points::score);
        let time = scenario
            .duration_ms
            .map_or_else(String::new, duration::words);
        let cells = [
            self.painted(status, scenario.symbol()),
            " ".to_owned(),
            wrap::padded(&line(&scenario.name), columns.name),
            "  ".to_owned(),
            self.painted(
                status,
                &wrap::padded(&scenario.status_words(&self.result.command), columns.status),
            ),
            self.painted(
                band.map_or(DIM, band_style),
                &wrap::padded(band.map_or("", Band::name), BAND),
            ),
            wrap::right(&score, SCORE),
            wrap::right(&calls(scenario), columns.calls),
            self.painted(DIM, &wrap::right(&time, DURATION)),
        ];
        self.text.push_str(cells.concat().trim_end());
        self.text.push('\n');
    }

    /// Writes what stands below a scenario's line.
    fn below(&mut self, scenario: &Scenario) {
        let verbose = self.style.verbosity == Verbosity::Verbose;
        if let Some(sentence) = scenario.not_the_same_experiment() {
            self.indented(4, "! ", YELLOW, &sentence);
        }
        if !scenario.status.is_fine() && scenario.status != Status::Skipped {
            self.indented(4, "", DIM, &scenario.path);
        }
        if let Some(problem) = &scenario.problem {
            self.problem(problem, scenario.status);
        }
        let wordy = verbose || !scenario.status.is_fine();
        if let Some(repeated) = &scenario.repeated {
            self.repeated(scenario, repeated);
        }
        if let Some(sentence) = scenario.in_words.as_ref().filter(|_| wordy) {
            self.indented(4, "", BOLD, sentence);
        }
        for reason in scenario.comparison.iter().flat_map(|it| &it.reasons) {
            self.reason(reason);
        }
        for unmet in scenario.unmet() {
            self.indented(4, "✗ ", RED, &unmet);
        }
        self.changes(scenario);
        self.direct(scenario);
        self.without_effect(scenario);
        if scenario.repeated.is_none() && wordy {
            self.usage(scenario);
        }
        let Some(comparison) = &scenario.comparison else {
            self.notes(scenario);
            return;
        };
        if wordy || scenario.is_changed() {
            let others = comparison.warnings.iter();
            for warning in others.filter(|it| !comparison.mentions(it)) {
                self.indented(4, "! ", YELLOW, &warning.to_string());
            }
        }
        if verbose {
            self.numbers(comparison);
        }
        let failed = matches!(scenario.status, Status::Failed | Status::Inconclusive);
        // Shown only with `-v` where the changes say the same more clearly; results of earlier versions have no changes.
        if verbose || (failed && comparison.changes.is_empty()) {
            self.losses(comparison);
        }
        self.notes(scenario);
    }

    /// A reason, and beneath it what follows from it.
    fn reason(&mut self, reason: &Reason) {
        self.indented(4, "✗ ", RED, &reason.to_string());
        let all = self.style.verbosity == Verbosity::Verbose;
        let shown = if all { usize::MAX } else { FOLLOWS };
        for it in reason.follows.iter().take(shown) {
            self.indented(6, "└ ", RED, &it.to_string());
        }
        let left = reason.follows.len().saturating_sub(shown);
        if left > 0 {
            self.indented(6, "└ ", RED, &format!("and {left} more follow from it"));
        }
    }

    /// What was not checked, and rules that had no effect.
    fn without_effect(&mut self, scenario: &Scenario) {
        if self.style.verbosity == Verbosity::Quiet {
            return;
        }
        for check in scenario.unchecked() {
            let shown = shorten(&check.name, NAME_CHARS);
            let text = format!("unchecked: {shown}: {}", check.message);
            self.indented(4, "? ", YELLOW, &text);
        }
        for rule in &scenario.idle_rules {
            self.indented(4, "! ", YELLOW, rule);
        }
    }

    fn usage(&mut self, scenario: &Scenario) {
        if let Some(usage) = scenario.usage() {
            self.indented(4, "", DIM, &format!("model: {}", usage.words()));
        }
    }

    fn problem(&mut self, problem: &Problem, status: Status) {
        let sign = format!("{} ", status.symbol());
        self.indented(4, &sign, status_style(status), &problem.message);
        if let Some(hint) = &problem.hint {
            self.indented(4, "→ ", BLUE, hint);
        }
        for detail in &problem.details {
            for part in block(detail).lines() {
                self.indented(6, "│ ", DIM, part);
            }
        }
    }

    /// The numbers behind the overall score, with `-v`.
    fn numbers(&mut self, comparison: &Comparison) {
        let scores = &comparison.scores;
        self.indented(
            4,
            "",
            DIM,
            &format!(
                "arguments {}, calls {}, status {} → {} × {}, count penalty {}, threshold {}, variant {}",
                fixed(scores.trajectory, 3),
                fixed(scores.calls, 3),
                comparison.baseline_status.name(),
                comparison.current_status.name(),
                fixed(scores.status_factor, 2),
                fixed(scores.count_penalty, 2),
                fixed(scores.threshold, 2),
                comparison.variant
            ),
        );
    }

    /// Where the points went, the largest losses first. Those of a run that is fine are shown with `-v`.
    fn losses(&mut self, comparison: &Comparison) {
        let costly = comparison.losses.iter();
        let mut losses: Vec<&Loss> = costly.filter(|it| points::costs(it.points)).collect();
        losses.sort_by(|a, b| b.points.total_cmp(&a.points));
        let shown = match self.style.verbosity {
            Verbosity::Verbose => losses.len(),
            Verbosity::Normal | Verbosity::Quiet => LOSSES,
        };
        for loss in losses.iter().take(shown) {
            self.indented(4, "- ", DIM, &loss.to_string());
        }
        if losses.len() > shown {
            let left = losses.len() - shown;
            let noun = if left == 1 { "loss" } else { "losses" };
            let more = format!("{left} more {noun}: see result.json");
            self.indented(4, "- ", DIM, &more);
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
            for note in &scenario.notes {
                self.indented(4, "· ", DIM, note);
            }
        }
    }

    /// A text from outside, made visible, shortened, wrapped, and its first line led by a sign.
    fn indented(&mut self, indent: usize, sign: &str, style: Ansi, text: &str) {
        let shown = line(text);
        let shown = shorten(&shown, TEXT_CHARS);
        let room = self.width - indent - sign.width();
        for (index, part) in wrap::lines(&shown, room).iter().enumerate() {
            self.text.push_str(&" ".repeat(indent));
            if sign.is_empty() {
                let painted = self.painted(style, part);
                self.text.push_str(&painted);
            } else {
                // Where there is a sign, only the sign is coloured, so that the text stays easy to read.
                let lead = match index {
                    0 => self.painted(style, sign),
                    _ => " ".repeat(sign.width()),
                };
                self.text.push_str(&lead);
                self.text.push_str(part);
            }
            self.text.push('\n');
        }
    }

    /// The text in a style, the spaces around it left as they are.
    fn painted(&self, style: Ansi, text: &str) -> String {
        let inner = text.trim_matches(' ');
        if !self.style.color || inner.is_empty() {
            return text.to_owned();
        }
        let before = text.len() - text.trim_start_matches(' ').len();
        let (before, rest) = text.split_at(before);
        format!("{before}{style}{inner}{style:#}{}", &rest[inner.len()..])
    }
}

fn scenario_style(scenario: &Scenario) -> Ansi {
    if scenario.is_failing() {
        YELLOW
    } else if scenario.is_changed() {
        MAGENTA
    } else {
        status_style(scenario.status)
    }
}

fn status_style(status: Status) -> Ansi {
    match status {
        Status::Passed => GREEN,
        Status::Recorded => BLUE,
        Status::Failed => RED,
        Status::Inconclusive | Status::Error | Status::Timeout | Status::Interrupted => YELLOW,
        Status::Skipped => DIM,
    }
}

fn band_style(band: Band) -> Ansi {
    match band {
        Band::Good => GREEN,
        Band::Acceptable => BLUE,
        Band::Degraded => YELLOW,
        Band::Broken => RED,
    }
}
