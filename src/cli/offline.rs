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
use crate::cli::stored_rules;
use crate::cli::suite::scoring;
use crate::store::{self, BASELINE};
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
    let known = stored_rules::known(&args.select, (run, of_run.as_ref()), &files, console)?;
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
    let finished = suite::compare_stored(&stored, &judging, &interrupt)?;
    let results = &finished.suite.scenarios;
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
    finish::finish(&finished, &options, output, console)
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
    let current = whole.map_or_else(|| run.join("current"), StoredRun::trajectories);
    let listed = whole.map_or(0, |it| it.scenarios.len());
    if listed > 0 && !current.is_dir() {
        return Ok(Vec::new());
    }
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
    if files.is_empty() && listed == 0 {
        return Err(Failure::incomplete(format!(
            "{} holds no trajectories",
            run.display()
        )));
    }
    Ok(files)
}
