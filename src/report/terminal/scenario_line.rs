//! The line of a scenario: how it came out, its score, its calls, and how long it took.

use unicode_width::UnicodeWidthStr;

use super::page::{DIM, Page, scenario_style};
use crate::duration;
use crate::wrap;
use model::Status;
use model::published::result::Scenario;
use model::{points, text};

/// A narrower terminal has no room for columns: what would stand in them follows below the name.
pub(super) const ROOM_FOR_COLUMNS: usize = 72;

/// The widths of the columns, each with the spaces that keep it apart.
const SIGN: usize = 2;
const LEAST_STATUS: usize = 9;
const SCORE: usize = 6;
const DURATION: usize = 11;

/// The widths of the columns that depend on what stands in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    name: usize,
    status: usize,
    calls: usize,
}

impl Columns {
    pub(super) fn new(scenarios: &[&Scenario], command: &str, width: usize) -> Self {
        let widest = |cell: &dyn Fn(&Scenario) -> usize| scenarios.iter().map(|it| cell(it)).max();
        let calls = widest(&|it| calls(it, command).width() + 2).unwrap_or(0);
        let status = widest(&|it| it.status_words(command).width() + 2).unwrap_or(0);
        let status = status.max(LEAST_STATUS);
        let others = SIGN + 2 + status + SCORE + calls + DURATION;
        let name = widest(&|it| text::line(&it.name).width()).unwrap_or(0);
        Self {
            name: name.min(width.saturating_sub(others)).max(8),
            status,
            calls,
        }
    }
}

/// How many calls were made, and what recording learned of them, in words; empty where nobody knows.
fn calls(scenario: &Scenario, command: &str) -> String {
    let words = scenario.calls_in_words(command).unwrap_or_default();
    let kept = scenario.current.as_ref();
    let Some(kept) = kept.filter(|_| scenario.status == Status::Recorded) else {
        return words;
    };
    let varying = kept.learned.iter().filter(|it| !it.varies.is_empty());
    let varying = match varying.count() {
        0 => String::new(),
        1 => ", 1 response varies".to_owned(),
        some => format!(", {some} responses vary"),
    };
    let bound = match kept.bindings.len() {
        0 => String::new(),
        1 => ", 1 id passed on".to_owned(),
        some => format!(", {some} ids passed on"),
    };
    words + &varying + &bound
}

/// Status, score, calls and time in words, as far as there are such.
pub(super) fn cells(scenario: &Scenario, command: &str) -> Vec<String> {
    let time = scenario.duration_ms.map(duration::words);
    let cells = [
        scenario.status_words(command),
        scenario.score().map_or_else(String::new, points::score),
        calls(scenario, command),
        time.unwrap_or_default(),
    ];
    cells.into_iter().filter(|it| !it.is_empty()).collect()
}

impl Page<'_> {
    pub(super) fn scenario_line(&mut self, scenario: &Scenario, columns: Columns) {
        if self.width < ROOM_FOR_COLUMNS {
            return self.scenario_lines(scenario);
        }
        let status = scenario_style(scenario);
        let score = scenario.score().map_or_else(String::new, points::score);
        let time = scenario
            .duration_ms
            .map_or_else(String::new, duration::words);
        let words = scenario.status_words(self.command);
        let cells = [
            self.painted(status, scenario.symbol()),
            " ".to_owned(),
            wrap::padded(&text::line(&scenario.name), columns.name),
            "  ".to_owned(),
            self.painted(status, &wrap::padded(&words, columns.status)),
            wrap::right(&score, SCORE),
            wrap::right(&calls(scenario, self.command), columns.calls),
            self.painted(DIM, &wrap::right(&time, DURATION)),
        ];
        self.text.push_str(cells.concat().trim_end());
        self.text.push('\n');
    }

    /// The same one below the other, the name as a whole.
    fn scenario_lines(&mut self, scenario: &Scenario) {
        let status = scenario_style(scenario);
        let sign = format!("{} ", scenario.symbol());
        self.indented(0, &sign, status, &scenario.name);
        let cells = cells(scenario, self.command);
        self.indented(2, "", status, &cells.join(" · "));
    }
}
