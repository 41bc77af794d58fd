//! Runs that were stored by earlier commands, as people name them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::published::result::Summary;
use crate::store::Runs;
use crate::suite::RUNS;

/// The document beside the pages, and beside the runs it speaks of.
pub(super) const RESULT: &str = "result.json";
/// The folder of the stored run of this id, or the only one whose id begins so; of the `latest`; or that is named by its path.
///
/// # Errors
///
/// When several ids begin so, or there is no latest run.
pub(super) fn folder(run: &str) -> Result<PathBuf, String> {
    let kept = Path::new(RUNS).join(run);
    if kept.is_dir() {
        return Ok(kept);
    }
    if Path::new(run).exists() {
        return Ok(run.into());
    }
    if run == "latest" {
        return latest()
            .ok_or_else(|| format!("no run is stored in {RUNS}/, so there is no latest one"));
    }
    let runs = fs::read_dir(RUNS).into_iter().flatten().flatten();
    let ids = runs.map(|it| it.file_name().to_string_lossy().into_owned());
    let mut ids: Vec<String> = ids.filter(|it| it.starts_with(run)).collect();
    ids.sort_unstable();
    match &ids[..] {
        // Who reads it says that it is not there.
        [] => Ok(run.into()),
        [only] => Ok(Path::new(RUNS).join(only)),
        several => Err(format!(
            "the ids of several runs begin with `{run}`: {}",
            several.join(", ")
        )),
    }
}

/// The folder of the latest run that has a result.
pub(super) fn latest() -> Option<PathBuf> {
    let runs = fs::read_dir(RUNS).into_iter().flatten().flatten();
    let stored = runs.filter(|it| it.path().join(RESULT).is_file());
    let latest = stored.max_by_key(|it| Runs::order(&it.file_name().to_string_lossy()));
    latest.map(|it| it.path())
}

/// What a list of runs tells of one.
#[derive(Deserialize)]
pub(super) struct Outline {
    pub(super) command: String,
    pub(super) summary: Summary,
}

/// The stored runs with their ids, the latest first. One that cannot be read is left out.
pub(super) fn stored() -> Vec<(String, Outline)> {
    let runs = fs::read_dir(RUNS).into_iter().flatten().flatten();
    let mut ids: Vec<String> = runs
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    ids.sort_by_key(|it| std::cmp::Reverse(Runs::order(it)));
    let read = ids.into_iter().filter_map(|id| {
        let text = fs::read(Path::new(RUNS).join(&id).join(RESULT)).ok()?;
        let outline = crate::json::read(&text).ok()?;
        Some((id, outline))
    });
    read.collect()
}

/// Whether a run of this name is stored.
pub(super) fn is_stored(run: &Path) -> bool {
    Path::new(RUNS).join(run).join(RESULT).is_file()
}
