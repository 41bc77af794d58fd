//! The trajectories that a stored result speaks of.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finished::Sides;
use crate::input;
use crate::published::result::{Scenario, Side};
use crate::store::{self, Runs};

/// The trajectories that the page of a scenario is made from; the result lies in this folder. Why others are not there is added to `gone`.
pub fn stored_sides(folder: &Path, scenario: &Scenario, gone: &mut Vec<String>) -> Sides {
    // Of a report that came from elsewhere, both sides lie beside the pages.
    let beside = Runs::at(&folder.join("trajectories"));
    let mut load = |side: &Option<Side>, copy: PathBuf| {
        let file = folder.join(side.as_ref()?.file.as_ref()?);
        let file = if !file.exists() && copy.is_file() {
            copy
        } else {
            file
        };
        let links = input::check_links(&file, &file).map_err(|error| error.to_string());
        let loaded = links.and_then(|()| store::load(&file).map_err(|error| error.to_string()));
        let loaded = loaded.map_err(|error| gone.push(error));
        loaded.ok().map(Arc::new)
    };
    let id = &scenario.id;
    [
        load(&scenario.baseline, beside.baseline_path(id)),
        load(&scenario.current, beside.path(id)),
    ]
}
