//! The end of a suite: the document, the report, what is printed, the exit code.

use std::fs;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use crate::cli::args::{OutputArgs, ResultFormat};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::suite::Finished;
use crate::git;
use crate::model::suite::{ScenarioResult, SuiteResult};
use crate::report::document::{self, GateV1, ProblemV1, ResultV1};
use crate::report::{html, terminal};
use crate::store::{self, Runs, StoreError};

/// Where reports go unless the user says otherwise.
pub(super) const REPORTS: &str = "reports";

/// The document beside the pages, and beside the runs it speaks of.
pub(super) const RESULT: &str = "result.json";

/// How a suite's result is told.
pub(super) struct Telling<'a> {
    pub(super) format: ResultFormat,
    /// The folder the report goes to, where the user names one.
    pub(super) output: Option<&'a Path>,
    /// The threshold given on the command line.
    pub(super) threshold: Option<f64>,
}

/// Writes the report of a suite, prints its result and returns the exit code.
///
/// # Errors
///
/// When the report cannot be written; the result is printed all the same.
pub(super) fn finish(
    finished: &Finished,
    telling: &Telling<'_>,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let exit = Exit::of(&finished.suite);
    let runs = &finished.runs;
    let folder = telling
        .output
        .map_or_else(|| Path::new(REPORTS).join(runs.id()), Path::to_owned);
    let result = ResultV1::from(&finished.suite).with_gate(gate(exit, telling.threshold));
    let shown = with_files(result, &finished.suite, runs, &folder);
    match write_pages(&folder, &shown, &finished.suite.scenarios) {
        Ok(()) => {
            if telling.output.is_none() {
                point_latest(&folder);
            }
            keep(&shown, finished)?;
            tell(&shown, telling.format, output, console);
            console.note(&format!("Report: {}", folder.join("index.html").display()));
            Ok(exit)
        }
        Err(error) => {
            let failure = Failure::from(error);
            let exit = exit.and(failure.exit);
            let shown = shown.with_gate(gate(exit, telling.threshold));
            // Kept all the same: the report can be rendered again from there.
            let _ = keep(&shown, finished);
            tell(&shown, telling.format, output, console);
            Err(Failure {
                exit,
                told: true,
                ..failure
            })
        }
    }
}

fn gate(exit: Exit, threshold: Option<f64>) -> GateV1 {
    GateV1 {
        threshold,
        exit_code: exit.code(),
        name: exit.name().to_owned(),
        sentence: exit.sentence().to_owned(),
    }
}

/// Keeps the document beside the runs it speaks of.
fn keep(result: &ResultV1, finished: &Finished) -> Result<(), StoreError> {
    let runs = &finished.runs;
    let kept = with_files(result.clone(), &finished.suite, runs, runs.folder());
    store::write(
        &runs.folder().join(RESULT),
        document::json(&kept).as_bytes(),
    )
}

/// What `--format json` says when a command could not do what it was asked: the same document, without scenarios.
pub(super) fn refusal(command: &str, failure: &Failure) -> String {
    let suite = SuiteResult {
        run_id: String::new(),
        command: command.to_owned(),
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: Timestamp::now(),
        duration_ms: 0.0,
        git: git::stamp(Path::new("."), &[]),
        interrupted: false,
        selected: 0,
        scenarios: Vec::new(),
    };
    let mut result = ResultV1::from(&suite).with_gate(gate(failure.exit, None));
    result.problem = Some(ProblemV1 {
        message: failure.message.clone(),
        hint: failure.hints.first().cloned(),
        details: failure.hints.iter().skip(1).cloned().collect(),
    });
    document::json(&result)
}

/// Prints a result to stdout.
pub(super) fn tell(result: &ResultV1, format: ResultFormat, output: OutputArgs, console: Console) {
    match format {
        ResultFormat::Json => Console::document(&document::json(result)),
        ResultFormat::Terminal => {
            console.result(&terminal::terminal(result, Console::style(output)));
        }
    }
}

/// Writes the index, one page per scenario and the document.
///
/// # Errors
///
/// When one of them cannot be written.
pub(super) fn write_pages(
    folder: &Path,
    result: &ResultV1,
    scenarios: &[ScenarioResult],
) -> Result<(), StoreError> {
    for (scenario, told) in scenarios.iter().zip(&result.scenarios) {
        let page = html::scenario(
            result,
            told,
            scenario.baseline.as_deref(),
            scenario.current.as_deref(),
        );
        store::write(&folder.join(html::page_name(&scenario.id)), page.as_bytes())?;
    }
    store::write(&folder.join(RESULT), document::json(result).as_bytes())?;
    store::write(&folder.join("index.html"), html::index(result).as_bytes())
}

/// The document with the paths of the trajectories it speaks of, as seen from its own folder.
fn with_files(mut result: ResultV1, suite: &SuiteResult, runs: &Runs, folder: &Path) -> ResultV1 {
    for scenario in &suite.scenarios {
        let Some(told) = result.scenario_mut(&scenario.id) else {
            continue;
        };
        let sides = [
            (&mut told.current, runs.path(&scenario.id)),
            (&mut told.baseline, runs.baseline_path(&scenario.id)),
        ];
        for (side, path) in sides {
            if let Some(side) = side.as_mut().filter(|_| path.exists()) {
                side.file = Some(relative(folder, &path));
            }
        }
    }
    result
}

/// A path as seen from a folder, with `/`; both may be relative to the working directory.
pub(super) fn relative(from: &Path, to: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (from, to) = (absolute(from), absolute(to));
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(shared)).collect();
    path.to_string_lossy().replace('\\', "/")
}

/// Makes `reports/latest` lead to this report. A convenience: where links cannot be made, there is none.
fn point_latest(folder: &Path) {
    let Some((name, parent)) = folder.file_name().zip(folder.parent()) else {
        return;
    };
    let (latest, beside) = (parent.join("latest"), parent.join(".latest"));
    let _ = fs::remove_file(&beside);
    if std::os::unix::fs::symlink(name, &beside).is_ok() && fs::rename(&beside, &latest).is_err() {
        let _ = fs::remove_file(&beside);
    }
}
