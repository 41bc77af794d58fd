//! Variants of a baseline that no run comes near any more.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::replay;
use crate::model::Trajectory;
use crate::scenario_file::Scenario;
use crate::store::{self, Baselines, Runs, StoreError};

/// Removes the variants of a scenario that none of the last `runs` in which it was compared came nearest to, of those that are later than
/// the variant. The main one stays, and a variant since which fewer runs are stored. Returns the files that are gone.
///
/// # Errors
///
/// A [`StoreError`] when a file cannot be read or removed.
pub fn retire(
    scenario: &Scenario,
    baselines: &Baselines,
    stored: &Path,
    runs: usize,
) -> Result<Vec<PathBuf>, StoreError> {
    let id = &scenario.id;
    if !baselines.variant_path(id, 2).exists() {
        return Ok(Vec::new());
    }
    let _held = baselines.hold(id)?;
    let accepted = replay::load(baselines, id)?;
    let stored_runs = Runs::ids(stored);
    let compared = stored_runs.iter().filter_map(|run| {
        // What a run was compared with is the variant that was nearest to it.
        let with = store::load(&Runs::at(&stored.join(run)).baseline_path(id)).ok()?;
        Some((run, with.stamp.recorded_at))
    });
    let last: Vec<(&String, Timestamp)> = compared.take(runs).collect();
    let is_idle = |variant: &Trajectory| {
        let recorded_at = variant.stamp.recorded_at;
        let mut later = last
            .iter()
            .filter(|(run, _)| Runs::is_after(run, recorded_at));
        later.clone().count() == runs && !later.any(|(_, with)| *with == recorded_at)
    };
    let mut gone = Vec::new();
    for at in (1..accepted.len())
        .rev()
        .filter(|at| is_idle(&accepted[*at]))
    {
        let path = baselines.variant_path(id, at + 1);
        baselines.remove_variant(id, at + 1)?;
        gone.push(path);
    }
    gone.reverse();
    Ok(gone)
}
