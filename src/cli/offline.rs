//! `mcp-eval compare --run`: scores stored trajectories, with the rules of scenarios that are stored, without running anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::cli::args::{AgainstChoice, CompareArgs, SelectArgs};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::suite::scoring;
use crate::cli::{Console, Exit, Failure, called, matrix, runs, runtime};
use crate::input::real;
use crate::model::Cell;
use crate::published::result;
use crate::published::trajectory::CATALOGUES;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::store::{self, BASELINE, CURRENT};
use crate::suite::{self, Judging, Stored, StoredRun};
use crate::text::plural;

/// Scores a stored trajectory, or every one of a folder, against the accepted ones.
///
/// A scenario's own rules and criteria count. What a run was to do and has no trajectory of is as it was then, or an error.
pub(super) fn compare(
    args: &CompareArgs,
    run: &Path,
    root: PathBuf,
    reports: &Reports,
    console: Console,
) -> Result<Exit, Failure> {
    if !run.exists() {
        let message = format!("there is no run, folder or file {}", run.display());
        return Err(Failure::usage(message).hint(runs::STORED));
    }
    if !root.exists() {
        let failure = Failure::usage(format!("there is no {}", root.display()));
        return Err(match &args.against {
            Some(AgainstChoice::Version(_)) => failure.hint(runs::STORED),
            Some(AgainstChoice::Baselines(_)) | None => failure.hint(
                "--baseline names a folder of baselines, a baseline's folder, or a baseline.json",
            ),
        });
    }
    let of_run = StoredRun::of(run)?;
    let whole = of_run.as_ref().filter(|it| it.is_whole(run));
    let option = match (args.score.pass_threshold, args.strict_statistics) {
        (Some(_), _) => Some("--pass-threshold"),
        (None, true) => Some("--strict-statistics"),
        (None, false) => None,
    };
    if let Some(option) = option.filter(|_| !whole.is_some_and(StoredRun::is_repeated)) {
        let why = format!(
            "{option} is about several runs of a scenario, and {} is not a run that was made with `--repeat`",
            run.display()
        );
        return Err(Failure::usage(why));
    }
    let files = trajectory_files(run, whole)?;
    let known = known(&args.select, run, of_run.as_ref(), &files, console)?;
    // Signals are handled while the work goes on.
    let signals = runtime::beside(1)?;
    let interrupt = signals.block_on(async { runtime::interruption() });
    let stored = Stored {
        within: run.to_owned(),
        files,
        baselines: root,
        other_run: match &args.against {
            Some(AgainstChoice::Version(run)) => Some(run.to_string()),
            Some(AgainstChoice::Baselines(_)) | None => None,
        },
        scenarios: known.scenarios,
        rules_wanted: known.wanted,
        only: known.only,
        run: of_run,
        called: Some(called::compare(args)),
    };
    let judging = Judging {
        scoring: scoring(&args.score),
        allow_changed: args.allow_changed,
        strict_statistics: args.strict_statistics,
    };
    let found = suite::compare_stored(&stored, &judging, &interrupt)?;
    let results = &found.result.scenarios;
    if results.is_empty() {
        console.note(&format!(
            "note: {} has no run of a scenario that was chosen",
            run.display()
        ));
    }
    let ruleless = results.iter().filter(|it| it.without_rules).count();
    if ruleless > 0 {
        console.note(&format!(
            "note: no rules of scenario files applied to {}: no such files are here",
            plural(ruleless, "scenario")
        ));
    }
    let options = ReportOptions {
        threshold: args.score.threshold,
        strict_statistics: args.strict_statistics,
        strict: args.score.strict,
        ..ReportOptions::of(reports, args.execute.kept.keep.0, &stored.baselines)
    };
    finish::finish_scored(found, &options, console)
}

/// The trajectories that a file or folder holds.
fn trajectory_files(run: &Path, whole: Option<&StoredRun>) -> Result<Vec<PathBuf>, Failure> {
    if !run.is_dir() {
        // One file that cannot be read is a wrong argument; one of many is an error among results.
        store::load(run).map_err(|error| Failure {
            exit: Exit::Usage,
            ..error.into()
        })?;
        return Ok(vec![run.to_owned()]);
    }
    // The folder of a run holds the runs in a folder of their own; what else is there was not made in it.
    let current = whole.map_or_else(|| run.join(CURRENT), StoredRun::trajectories);
    let listed = whole.map_or(0, |it| it.scenarios.len());
    if listed > 0 && !current.is_dir() {
        return Ok(Vec::new());
    }
    let run = if current.is_dir() { &current } else { run };
    let mut files = Vec::new();
    let entries = WalkDir::new(run).sort_by_file_name().into_iter();
    // What baselines name is no run.
    for entry in entries.filter_entry(|it| it.file_name() != CATALOGUES) {
        let entry = entry.map_err(|error| {
            Failure::incomplete(format!("cannot read {}: {error}", run.display()))
        })?;
        let path = entry.path();
        // In the folder of a baseline, what lies beside it are its variants and recordings that were not accepted.
        let is_beside =
            path.file_name() != Some(BASELINE.as_ref()) && path.with_file_name(BASELINE).exists();
        if entry.file_type().is_file() && path.extension() == Some("json".as_ref()) && !is_beside {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() && listed == 0 {
        return Err(Failure::incomplete(format!(
            "{} holds no trajectories",
            run.display()
        )));
    }
    Ok(files)
}

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
    selected: &Path,
    run: Option<&StoredRun>,
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
            // Its own, or that of a row or a cell of it.
            let is_of = |it: &&str| {
                let rest = id.strip_prefix(it);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
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

/// The ids of the scenarios that the trajectories are of.
fn ids(run: Option<&StoredRun>, files: &[PathBuf]) -> Vec<String> {
    let listed = run.iter().flat_map(|it| &it.scenarios);
    let listed: Vec<String> = listed.map(|it| it.id.clone()).collect();
    if !listed.is_empty() {
        return listed;
    }
    let id = |number: usize| Some(store::load(&files[number]).ok()?.scenario.clone());
    let ids = suite::at_once(files.len(), id);
    ids.into_iter().flatten().collect()
}

/// Whether the user asks for a scenario that has no file any more, by its tags and its path when it was run.
fn was_chosen(args: &SelectArgs, stored: &result::Scenario) -> bool {
    let has_tag = args.tags.is_empty() || stored.tags.iter().any(|it| args.tags.contains(it));
    let path = real(Path::new(&stored.path));
    let is_below = || {
        let mut paths = args.paths.iter().chain(&args.scenarios);
        paths.any(|it| path.starts_with(real(it)))
    };
    has_tag && (args.are_default() || is_below())
}
