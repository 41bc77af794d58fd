//! Trajectories, and runs that wait for review, read from files.

use std::cell::Cell;
use std::path::Path;

use super::catalogues::named_by;
use super::files::{StoreError, cannot_read};
use super::runs::{RESULT, Runs};
use crate::input;
use crate::json;
use crate::model::{PendingRun, Redacted, ServerCatalogue, Trajectory};
use crate::published::result::{self, ResultDocument, Scenario};
use crate::published::trajectory::{self, FORMAT_VERSION, TrajectoryError};

/// Reads a trajectory from a file, with the catalogues that it names.
///
/// # Errors
///
/// A [`StoreError`] that names the file and what is wrong with it.
pub fn load(path: &Path) -> Result<Redacted<Trajectory>, StoreError> {
    let text = || input::read(path).map_err(|source| cannot_read(path, source));
    let mut read = text()?;
    loop {
        let names_some = Cell::new(false);
        let trajectory = parse_with(path, &read, &|name| {
            names_some.set(true);
            named_by(path, name)
        });
        if !names_some.get() {
            return trajectory;
        }
        // Another process may have given a catalogue another name meanwhile.
        let now = text()?;
        if now == read {
            return trajectory;
        }
        read = now;
    }
}

/// Reads a trajectory from a file's content; `path` is for messages, and for where the catalogues lie that it names.
///
/// # Errors
///
/// As [`load`].
pub fn parse(path: &Path, text: &[u8]) -> Result<Redacted<Trajectory>, StoreError> {
    parse_with(path, text, &|name| named_by(path, name))
}

fn parse_with(
    path: &Path,
    text: &[u8],
    named: &dyn Fn(&str) -> Result<ServerCatalogue, TrajectoryError>,
) -> Result<Redacted<Trajectory>, StoreError> {
    let path = || path.to_owned();
    let read = trajectory::parse(text, named).map_err(|error| match error {
        TrajectoryError::CutOff => StoreError::CutOff { path: path() },
        TrajectoryError::Invalid(problem) => StoreError::Invalid {
            path: path(),
            problem,
        },
        TrajectoryError::Version { found } => StoreError::Version {
            path: path(),
            found,
            supported: FORMAT_VERSION,
        },
        TrajectoryError::Catalogue {
            path: catalogue,
            problem,
        } => StoreError::Catalogue {
            path: catalogue,
            by: path(),
            problem,
        },
    })?;
    // Stored trajectories were redacted before they were written.
    Ok(Redacted::vouch_for(read))
}

/// Reads the result in the folder of a run.
///
/// # Errors
///
/// When there is none, or none that can be read.
pub(super) fn load_result(folder: &Path) -> Result<Redacted<ResultDocument>, StoreError> {
    let path = folder.join(RESULT);
    let text = input::read_to_string(&path).map_err(|source| cannot_read(&path, source))?;
    let read = result::parse(&text).map_err(|error| StoreError::Unreadable {
        path,
        problem: error.to_string(),
    })?;
    // Results were redacted before they were written, too.
    Ok(Redacted::vouch_for(read))
}

/// Reads what came of a scenario of a run that has not ended; `None` where it has not ended either, or that cannot be read.
pub(super) fn load_ended(folder: &Path, scenario: &str) -> Option<Redacted<Scenario>> {
    let text = input::read(&Runs::at(folder).ended_path(scenario)).ok()?;
    let read: Scenario = json::read(&text).ok()?;
    // It was redacted before it was written, too.
    (read.id == scenario).then(|| Redacted::vouch_for(read))
}

/// Reads a run that waits for review.
///
/// # Errors
///
/// As [`load`].
pub(super) fn parse_pending(path: &Path, text: &[u8]) -> Result<PendingRun, StoreError> {
    let trajectory = parse(path, text)?;
    let (origin, found) = trajectory::origin(text).map_err(|error| StoreError::Invalid {
        path: path.to_owned(),
        problem: error.to_string(),
    })?;
    Ok(PendingRun {
        trajectory,
        origin,
        // It was redacted before it was written, too.
        found: Redacted::vouch_for(found),
    })
}
