//! The scenarios by whose rules stored runs are judged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::args::SelectArgs;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::matrix;
use crate::cli::select::{self, Purpose, Selected};
use crate::input::real;
use crate::model::cell::Cell;
use crate::model::scenario::Scenario;
use crate::scenario_file;
use crate::store;
use crate::suite::{StoredRun, StoredScenario};
use crate::text::plural;

/// What is known of the scenarios of stored runs.
#[derive(Default)]
pub(super) struct Known {
    pub(super) scenarios: Vec<Scenario>,
    /// There is no verdict on a run of any other scenario.
    pub(super) wanted: bool,
    /// The ids of the scenarios that the user has chosen; `None` for all.
    pub(super) only: Option<BTreeSet<String>>,
}

/// What scenario files say by now of the trajectories that were selected, and of the run that they are of. The rules of a run's scenarios are
/// in files that lie where they lay when it was made; where there are none at all, it is judged without.
///
/// # Errors
///
/// When a file is invalid that the user named, or that has the rules of one of the trajectories, and when nothing fits what was asked for.
pub(super) fn known(
    args: &SelectArgs,
    (selected, run): (&Path, Option<&StoredRun>),
    files: &[PathBuf],
    console: Console,
) -> Result<Known, Failure> {
    let select = &with_paths(args, run);
    let is_chosen = !args.are_default() || !args.tags.is_empty();
    let is_there = is_chosen || select.all_paths().iter().any(|it| it.exists());
    if !is_there {
        return Ok(Known::default());
    }
    let (mut all, findings) = select::of_paths(select);
    let mut picked: Option<BTreeSet<String>> = None;
    if is_chosen {
        // It runs nothing, so that nobody need be named who asks.
        let purpose = Purpose {
            agent_given: true,
            ..Purpose::default()
        };
        let chosen = match select::select(select, purpose, console)? {
            Selected::Scenarios(chosen) => chosen.scenarios,
            Selected::Unchanged(_) => Vec::new(),
        };
        picked = Some(chosen.into_iter().map(|it| it.id).collect());
    } else if let Some(broken) = select::broken(&findings) {
        let found = scenario_file::find(&select.all_paths()).0;
        let is_broken = |it: &&scenario_file::Found| !all.iter().any(|of| of.has_id(&it.id));
        let broken_ids: Vec<&str> = found
            .iter()
            .filter(is_broken)
            .map(|it| it.id.as_str())
            .collect();
        let is_of_broken = |id: &String| {
            let is_of = |it: &&str| id.strip_prefix(it).is_some_and(begins_part);
            !all.iter().any(|it| it.id == *id) && broken_ids.iter().any(is_of)
        };
        if ids(run, files).iter().any(is_of_broken) {
            return Err(broken);
        }
        let errors = findings.iter().filter(|it| it.is_error()).count();
        console.note(&format!(
            "note: {} in files of scenarios that are not compared here (`mcp-eval validate` shows them)",
            plural(errors, "error")
        ));
    }
    let scenarios = run.map_or(&[][..], |it| it.scenarios.as_slice());
    let is_known = |all: &[Scenario], id: &str| all.iter().any(|it| it.id == id);
    for stored in scenarios {
        if is_known(&all, &stored.id) {
            continue;
        }
        // It was a cell of a matrix.
        let cell = Cell::of_id(&stored.id).and_then(|cell| {
            let of = all.iter().find(|it| it.id == cell.scenario)?;
            Some((cell.scenario.clone(), matrix::resolved(of, &cell)?))
        });
        if let Some((of, cell)) = cell {
            if let Some(picked) = picked.as_mut().filter(|it| it.contains(&of)) {
                picked.insert(cell.id.clone());
            }
            all.push(cell);
        }
    }
    if let Some(picked) = &mut picked {
        // What has no file any more was chosen by what it was when it was run.
        let gone = scenarios.iter().filter(|it| !is_known(&all, &it.id));
        let gone = gone.filter(|it| was_chosen(args, it));
        picked.extend(gone.map(|it| it.id.clone()));
        // Of one file, PATHS say by which rules.
        let of_named = |it: &Scenario| picked.contains(&it.id);
        all.retain(of_named);
    }
    let narrows = selected.is_dir() || !args.tags.is_empty();
    Ok(Known {
        scenarios: all,
        wanted: run.is_some(),
        only: picked.filter(|_| narrows),
    })
}

/// What the user selected. Without PATHS, those that the run was given, as far as they are here.
fn with_paths(args: &SelectArgs, run: Option<&StoredRun>) -> SelectArgs {
    let mut args = args.clone();
    if args.are_default() {
        let given = run.iter().flat_map(|it| &it.paths);
        args.paths = given.filter(|it| it.exists()).cloned().collect();
    }
    args
}

/// Whether an id that begins with that of a file is the file's own, or that of a row or a cell of it.
fn begins_part(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// The ids of the scenarios that the trajectories are of.
fn ids(run: Option<&StoredRun>, files: &[PathBuf]) -> Vec<String> {
    let listed = run.iter().flat_map(|it| &it.scenarios);
    let listed: Vec<String> = listed.map(|it| it.id.clone()).collect();
    if !listed.is_empty() {
        return listed;
    }
    let loaded = files.iter().filter_map(|it| store::load(it).ok());
    loaded.map(|it| it.scenario.clone()).collect()
}

/// Whether the user asks for a scenario that has no file any more, by its tags and its path when it was run.
fn was_chosen(args: &SelectArgs, stored: &StoredScenario) -> bool {
    let has_tag = args.tags.is_empty() || stored.tags.iter().any(|it| args.tags.contains(it));
    let path = real(Path::new(&stored.path));
    let is_below = || {
        let mut paths = args.paths.iter().chain(&args.scenarios);
        paths.any(|it| path.starts_with(real(it)))
    };
    has_tag && (args.are_default() || is_below())
}
