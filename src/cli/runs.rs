//! Runs that were stored by earlier commands, as people name them, and those that are newer than now, because a clock was set back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::console::Console;
use crate::published::history::HistoryDocument;
use crate::store::{CURRENT, RESULT, Runs};
use crate::suite::{RUNS, StoredRun};
use crate::text;

/// How to find those that there are.
pub(super) const STORED: &str = "`mcp-eval report --list` lists the runs that are stored";

/// How people name the run that was made last.
const LATEST: &str = "latest";

/// The folder of the stored run of this id, or the only one whose id begins so; of the `latest`; or that is named by its path.
///
/// # Errors
///
/// When several ids begin so, or there is no latest run.
pub(super) fn folder(run: &str) -> Result<PathBuf, String> {
    let kept = RUNS.join(run);
    if kept.is_dir() {
        return Ok(kept);
    }
    if Path::new(run).exists() {
        return Ok(run.into());
    }
    if run == LATEST {
        let place = RUNS.display();
        return latest()
            .ok_or_else(|| format!("no run is stored in {place}/, so there is no latest one"));
    }
    let mut ids = Runs::ids(&RUNS);
    ids.retain(|it| it.starts_with(run));
    ids.reverse();
    match &ids[..] {
        // Who reads it says that it is not there.
        [] => Ok(run.into()),
        [only] => Ok(RUNS.join(only)),
        several => Err(format!(
            "the ids of several runs begin with `{run}`: {}",
            several.join(", ")
        )),
    }
}

/// The same, to compare what the run made: of the latest, one that has trajectories of its own, or should have.
///
/// # Errors
///
/// As [`folder`].
pub(super) fn made(run: &str) -> Result<PathBuf, String> {
    let is_path = Path::new(run).exists() || RUNS.join(run).is_dir();
    if run == LATEST
        && !is_path
        && let Some(latest) = latest_made()
    {
        return Ok(latest);
    }
    folder(run)
}

/// The folder of the latest run that has a result.
pub(super) fn latest() -> Option<PathBuf> {
    latest_of(|it| it.join(RESULT).exists())
}

/// The folder of the latest run that has a result and trajectories of its own, or in which nothing came so far: no earlier one stands for a
/// run that was killed. One that only compared others has none.
fn latest_made() -> Option<PathBuf> {
    let is_made = |it: &Path| {
        let run = StoredRun::of(it).ok().flatten();
        run.is_some_and(|it| it.is_made())
    };
    latest_of(|it| it.join(RESULT).exists() && (it.join(CURRENT).exists() || is_made(it)))
}

fn latest_of(is_it: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let ids = Runs::ids(&RUNS).into_iter();
    let mut folders = ids.map(|it| RUNS.join(it));
    folders.find(|it| is_it(it))
}

/// Whether a stored run is called so, from beginning to end.
pub(super) fn is_stored(run: &Path) -> bool {
    run == Path::new(LATEST) || RUNS.join(run).join(RESULT).is_file()
}

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
