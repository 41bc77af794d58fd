//! The end of a suite: the document, the report, what is printed, the exit code.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use crate::cli::args::{OutputArgs, ResultFormat};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::runs::RESULT;
use crate::git;
use crate::model::suite::{ScenarioResult, SuiteResult};
use crate::published::result::{self, Bisected, Gate, Problem, ResultDocument};
use crate::redact;
use crate::report::{html, terminal};
use crate::store::{self, StoreError};
use crate::suite::Finished;

/// Where reports go unless the user says otherwise.
pub(super) const REPORTS: &str = "reports";

/// How a suite's result is reported.
pub(super) struct ReportOptions<'a> {
    pub(super) format: ResultFormat,
    /// Whether pages are written; without them the result is only kept.
    pub(super) pages: bool,
    /// The folder the report goes to, where the user names one.
    pub(super) output: Option<&'a Path>,
    /// The threshold given on the command line.
    pub(super) threshold: Option<f64>,
    /// What is inconclusive has not passed.
    pub(super) strict_statistics: bool,
    /// What a search has found whose last comparison this is.
    pub(super) bisected: Option<Bisected>,
}

/// Writes the report of a suite, prints its result and returns the exit code.
///
/// # Errors
///
/// When the report cannot be written; the result is printed all the same.
pub(super) fn finish(
    finished: &Finished,
    options: &ReportOptions<'_>,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let exit = match &options.bisected {
        Some(bisected) if bisected.first_bad.len() == 1 => Exit::Passed,
        Some(_) => Exit::Incomplete,
        None => Exit::of(&finished.suite, options.strict_statistics),
    };
    let runs = &finished.runs;
    let folder = match options.output {
        Some(folder) => folder.to_owned(),
        None if options.pages => Path::new(REPORTS).join(runs.id()),
        None => runs.folder().to_owned(),
    };
    let document = ResultDocument {
        bisected: options.bisected.clone(),
        ..ResultDocument::from(&finished.suite)
    };
    let mut shown = with_gate(document, exit, options.threshold);
    name_files(&mut shown, finished, &folder);
    let text = result::json(&shown);
    let written = if options.pages {
        write_pages(&folder, &shown, &text, &finished.suite.scenarios).and_then(|()| {
            if options.output.is_none() {
                point_latest(&folder);
            }
            keep(&mut shown, finished)
        })
    } else {
        store::write(&folder.join(RESULT), text.as_bytes())
    };
    let Err(error) = written else {
        match options.format {
            ResultFormat::Json => Console::document(&text),
            ResultFormat::Terminal => print(&shown, options.format, output, console),
        }
        if options.pages {
            console.note(&format!("Report: {}", folder.join("index.html").display()));
        } else {
            console.note(&format!("Result: {}", folder.join(RESULT).display()));
        }
        return Ok(exit);
    };
    let failure = Failure::from(error);
    let exit = exit.and(failure.exit);
    let mut shown = with_gate(shown, exit, options.threshold);
    // Kept all the same, where that is possible: the report can be rendered again from there.
    let _ = keep(&mut shown, finished);
    print(&shown, options.format, output, console);
    Err(Failure {
        exit,
        is_printed: true,
        ..failure
    })
}

fn gate(exit: Exit, threshold: Option<f64>) -> Gate {
    Gate {
        threshold,
        exit_code: exit.code(),
        name: exit.name().to_owned(),
        sentence: exit.sentence().to_owned(),
    }
}

/// The gate of a document that is otherwise complete. That everything passed is not all there is to say where something changed.
fn with_gate(result: ResultDocument, exit: Exit, threshold: Option<f64>) -> ResultDocument {
    let mut gate = gate(exit, threshold);
    let summary = result.summary;
    if exit == Exit::Passed && result.command == "record" {
        "everything was recorded".clone_into(&mut gate.sentence);
    }
    if let Some(bisected) = &result.bisected {
        gate.sentence = match bisected.first_bad.len() {
            1 => "the first bad commit was found".to_owned(),
            several => format!("the first bad commit is one of {several}"),
        };
    }
    if exit == Exit::Passed && summary.recorded_failing > 0 {
        let _ = write!(
            gate.sentence,
            ", {} of it failing",
            summary.recorded_failing
        );
    }
    if exit == Exit::Passed && summary.changed > 0 {
        let noun = if result.command == "run" {
            "deviations"
        } else {
            "changes"
        };
        let _ = write!(gate.sentence, ", {} with {noun}", summary.changed);
    }
    result.with_gate(gate)
}

/// Keeps the document beside the runs it speaks of, which it names as seen from there.
fn keep(result: &mut ResultDocument, finished: &Finished) -> Result<(), StoreError> {
    let folder = finished.runs.folder();
    name_files(result, finished, folder);
    store::write(&folder.join(RESULT), result::json(result).as_bytes())
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
    let suite = redact::environment().suite(suite);
    let mut result = ResultDocument::from(&suite).with_gate(gate(failure.exit, None));
    let clean = |text: &String| redact::environment().text(text).into_inner();
    result.problem = Some(Problem {
        message: clean(&failure.message),
        hint: failure.hints.first().map(&clean),
        details: failure.hints.iter().skip(1).map(&clean).collect(),
    });
    result::json(&result)
}

/// Prints a result to stdout.
pub(super) fn print(
    result: &ResultDocument,
    format: ResultFormat,
    output: OutputArgs,
    console: Console,
) {
    match format {
        ResultFormat::Json => Console::document(&result::json(result)),
        ResultFormat::Terminal => {
            console.result(&terminal::terminal(result, Console::style(output)));
        }
    }
}

/// Writes the index, one page per scenario and the document, whose text is given.
///
/// # Errors
///
/// When one of them cannot be written.
fn write_pages(
    folder: &Path,
    result: &ResultDocument,
    text: &str,
    scenarios: &[ScenarioResult],
) -> Result<(), StoreError> {
    for (scenario, published) in scenarios.iter().zip(&result.scenarios) {
        let page = html::scenario(
            result,
            published,
            scenario.baseline.as_deref(),
            scenario.current.as_deref(),
        );
        store::write(&folder.join(html::page_name(&scenario.id)), page.as_bytes())?;
    }
    store::write(&folder.join(RESULT), text.as_bytes())?;
    store::write(&folder.join("index.html"), html::index(result).as_bytes())
}

/// Gives the document the paths of the trajectories it speaks of, as seen from its own folder.
fn name_files(result: &mut ResultDocument, finished: &Finished, folder: &Path) {
    let seen = SeenFrom::new(folder);
    for (published, files) in result.scenarios.iter_mut().zip(&finished.files) {
        published.container_log = files.container_log.as_deref().map(|it| seen.path(it));
        for (side, file) in [
            (&mut published.current, &files.current),
            (&mut published.baseline, &files.baseline),
        ] {
            if let Some(side) = side {
                side.file = file.as_deref().map(|it| seen.path(it));
            }
        }
        let attempts = published
            .repeated
            .iter_mut()
            .flat_map(|it| &mut it.attempts);
        for (attempt, file) in attempts.zip(&files.attempts) {
            attempt.file = file.as_deref().map(|it| seen.path(it));
        }
    }
}

/// Paths as seen from a folder.
pub(super) struct SeenFrom {
    working_dir: PathBuf,
    folder: PathBuf,
}

impl SeenFrom {
    /// The folder may be relative to the working directory.
    pub(super) fn new(folder: &Path) -> Self {
        let working_dir = std::env::current_dir().unwrap_or_default();
        Self {
            folder: plain(&working_dir.join(folder)),
            working_dir,
        }
    }

    /// A path, which may be relative to the working directory, with `/`.
    pub(super) fn path(&self, to: &Path) -> String {
        let to = plain(&self.working_dir.join(to));
        let shared = self
            .folder
            .components()
            .zip(to.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = self
            .folder
            .components()
            .skip(shared)
            .map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(to.components().skip(shared)).collect();
        path.to_string_lossy().into_owned()
    }
}

/// The path without steps that lead nowhere (`.`) or back (`..`).
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            step => plain.push(step),
        }
    }
    plain
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
