//! Results that are newer than now, because the clock was set back, or another machine's goes ahead.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::console::Console;
use crate::published::history::HistoryDocument;
use crate::store::Runs;
use crate::text;

/// How far clocks of several machines may be apart before a warning is shown.
const LEEWAY: Duration = Duration::from_secs(5 * 60);

/// Warns of the latest run in a folder where it lies in the future: what is run by now does not count as the latest.
pub(super) fn look_at_runs(folder: &Path, console: Console) {
    let soon = Timestamp::now() + LEEWAY;
    // Others may have put folders there that are no runs.
    let is_run = |it: &String| it.starts_with(|it: char| it.is_ascii_digit());
    let latest = Runs::ids(folder).into_iter().find(is_run);
    if let Some(latest) = latest.filter(|it| Runs::is_after(it, soon)) {
        warn(&latest, console);
    }
}

/// The same of the latest result in a history.
pub(super) fn look_at_history(document: &HistoryDocument, console: Console) {
    let results = document.scenarios.iter().flat_map(|it| &it.results);
    let latest = results.max_by(|a, b| a.at.cmp(&b.at));
    let soon = Timestamp::now() + LEEWAY;
    let is_ahead = |at: &str| at.parse().is_ok_and(|at: Timestamp| at > soon);
    if let Some(latest) = latest.filter(|it| is_ahead(&it.at)) {
        warn(&latest.run, console);
    }
}

fn warn(run: &str, console: Console) {
    console.warning(&format!(
        "warning: by the clock of this machine, the run {} is in the future: until then it counts as the latest, even after newer runs",
        text::line(run)
    ));
}
