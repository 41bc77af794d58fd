//! `mcp-eval compare --run`: scores stored trajectories without running anything.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::cli::args::{AgainstChoice, CompareArgs, OutputArgs};
use crate::cli::called;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::interrupt;
use crate::cli::reports::Reports;
use crate::cli::runtime;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::suite::scoring;
use crate::model::scenario::Scenario;
use crate::store::{self, BASELINE};
use crate::suite::{self, Judging, Stored};

/// Scores a stored trajectory, or every one of a folder, against the accepted ones.
///
/// A scenario's own rules and criteria count where its file is found.
pub(super) fn compare(
    args: &CompareArgs,
    run: &Path,
    root: PathBuf,
    reports: &Reports,
    (output, console): (OutputArgs, Console),
) -> Result<Exit, Failure> {
    const STORED: &str = "`mcp-eval report --list` lists the runs that are stored";
    if !run.exists() {
        let message = format!("there is no run, folder or file {}", run.display());
        return Err(Failure::usage(message).hint(STORED));
    }
    if !root.exists() {
        let failure = Failure::usage(format!("there is no {}", root.display()));
        return Err(match &args.against {
            Some(AgainstChoice::Version(_)) => failure.hint(STORED),
            Some(AgainstChoice::Baselines(_)) | None => failure.hint(
                "--baseline names a folder of baselines, a baseline's folder, or a baseline.json",
            ),
        });
    }
    let files = trajectory_files(run)?;
    let scenarios = known_scenarios(args, console)?;
    // Signals are handled while the work goes on.
    let signals = runtime::beside(1)?;
    let interrupt = signals.block_on(async { interrupt::token() });
    let stored = Stored {
        within: run.to_owned(),
        files,
        baselines: root,
        other_run: match &args.against {
            Some(AgainstChoice::Version(run)) => Some(run.to_string()),
            Some(AgainstChoice::Baselines(_)) | None => None,
        },
        scenarios,
        // Of one file, they say by which rules.
        only_these: run.is_dir() && !args.select.are_default(),
        called: Some(called::compare(args)),
    };
    let judging = Judging {
        scoring: scoring(&args.score),
        allow_changed: args.allow_changed,
        ..Judging::default()
    };
    let finished = suite::compare_stored(&stored, &judging, &interrupt)?;
    let options = ReportOptions {
        threshold: args.score.threshold,
        strict: args.score.strict,
        ..ReportOptions::of(reports, args.execute.kept.keep.0, &stored.baselines)
    };
    finish::finish(&finished, &options, output, console)
}

/// The trajectories that a file or folder holds.
fn trajectory_files(run: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !run.is_dir() {
        // One file that cannot be read is a wrong argument; one of many is an error among results.
        store::load(run).map_err(|error| Failure {
            exit: Exit::Usage,
            ..error.into()
        })?;
        return Ok(vec![run.to_owned()]);
    }
    // The folder of a run holds the runs in a folder of their own.
    let current = run.join("current");
    let run = if current.is_dir() { &current } else { run };
    let mut files = Vec::new();
    for entry in WalkDir::new(run).sort_by_file_name() {
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
    if files.is_empty() {
        return Err(Failure::incomplete(format!(
            "{} holds no trajectories",
            run.display()
        )));
    }
    Ok(files)
}

/// The scenarios whose rules apply. An offline comparison works without any, but those that the user names must be valid.
fn known_scenarios(args: &CompareArgs, console: Console) -> Result<Vec<Scenario>, Failure> {
    if !args.select.are_default() {
        match select::select(&args.select, Purpose::default(), console)? {
            Selected::Scenarios(chosen) => Ok(chosen.scenarios),
            Selected::Unchanged(_) => Ok(Vec::new()),
        }
    } else if Path::new("scenarios").is_dir() {
        let (scenarios, findings) = select::of_paths(&args.select);
        let errors = findings.iter().filter(|it| it.is_error()).count();
        if errors > 0 {
            console.note(&format!(
                "note: {} in scenarios/, whose rules do not apply here (`mcp-eval validate` shows them)",
                select::plural(errors, "error")
            ));
        }
        Ok(scenarios)
    } else {
        Ok(Vec::new())
    }
}
