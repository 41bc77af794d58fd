//! The outcome of a measurement of a search or of scanners, written to its folder.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::json;
use crate::model::redacted::Redacted;
use crate::published::measured::Status;
use crate::redact::Redactor;
use crate::store;
use crate::text;

/// The files of a measurement.
const DOCUMENT: &str = "report.json";
const PAGE: &str = "report.html";
const COMMENT: &str = "report.md";
const TESTS: &str = "junit.xml";

/// What is written beside the document.
pub(super) struct Forms {
    pub(super) page: String,
    pub(super) comment: String,
    pub(super) tests: String,
}

/// A report without secrets: of every text in it, what is known for sure to be one is taken out.
///
/// # Errors
///
/// When it cannot be read again, which no report of ours does.
pub(super) fn clean<T: Serialize + DeserializeOwned>(
    report: &T,
    redactor: &Redactor,
) -> Result<Redacted<T>, Failure> {
    let failed = |error: serde_json::Error| {
        Failure::incomplete(format!("the report cannot be written: {error}"))
    };
    let value = serde_json::to_value(report).map_err(failed)?;
    let clean = redactor.measured(value);
    let read = T::deserialize(&*clean).map_err(failed)?;
    Ok(clean.derive(|_| read))
}

/// Writes a report in all its forms; returns the line that names the first two.
///
/// # Errors
///
/// When one of them cannot be written.
pub(super) fn write(
    folder: &Path,
    document: &Redacted<impl Serialize>,
    forms: &Forms,
) -> Result<String, Failure> {
    let text = document.derive(json::pretty);
    let files = [
        (DOCUMENT, text.as_str()),
        (PAGE, &forms.page),
        (COMMENT, &forms.comment),
        (TESTS, &forms.tests),
    ];
    for (name, text) in files {
        store::write_following_links(&folder.join(name), text.as_bytes())?;
    }
    let [document, page] = [DOCUMENT, PAGE].map(|it| folder.join(it).display().to_string());
    Ok(format!("Reports: {document} , {page}\n"))
}

/// Says what a measurement came to, in full where more was asked for or it has not passed; returns the exit code of its status.
pub(super) fn tell(
    mut text: String,
    more: impl FnOnce() -> String,
    status: Status,
    problems: &[String],
    console: Console,
) -> Exit {
    if !console.is_quiet() || status != Status::Passed {
        text.push_str(&more());
    }
    console.result(&text::block(&text));
    if !problems.is_empty() {
        console.failure(&Failure::incomplete(problems.join("\n")));
    }
    match status {
        Status::Passed | Status::NoGate => Exit::Passed,
        Status::Failed => Exit::Failed,
        Status::Incomplete => Exit::Incomplete,
    }
}

/// Refuses, before anything is measured, to write over a file that is measured with: the next measurement would be held against this one.
///
/// # Errors
///
/// Which file it is, and the way out.
pub(super) fn spare(
    folders: &[PathBuf],
    inputs: &[(&'static str, Option<&Path>)],
) -> Result<(), Failure> {
    let files = [DOCUMENT, PAGE, COMMENT, TESTS];
    let written: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files.map(|it| folder.join(it)))
        .collect();
    let written: Vec<&Path> = written.iter().map(PathBuf::as_path).collect();
    spare_files(&written, inputs).map_err(|it| {
        it.hint("keep a copy of it elsewhere, or write to another folder with `--out-dir`")
    })
}

/// The same of files that are written by themselves.
///
/// # Errors
///
/// Which file it is.
pub(super) fn spare_files(
    written: &[&Path],
    inputs: &[(&'static str, Option<&Path>)],
) -> Result<(), Failure> {
    // A file may be named in many ways, and what is not there yet is nobody's input.
    let real: Vec<PathBuf> = written
        .iter()
        .filter_map(|it| it.canonicalize().ok())
        .collect();
    for (given_as, path) in inputs {
        let path = path.and_then(|it| Some((it, it.canonicalize().ok()?)));
        if let Some((path, same)) = path
            && real.contains(&same)
        {
            let shown = path.display();
            return Err(Failure::usage(format!(
                "{shown} is given as {given_as}, and would be written over"
            )));
        }
    }
    Ok(())
}

/// Replaces what an earlier measurement left in a folder, where it did, by one that could not even begin: nothing that stands there is to be
/// taken for this one.
///
/// # Errors
///
/// When one of the files cannot be written.
pub(super) fn outdate<T: Serialize + DeserializeOwned>(
    folder: &Path,
    report: &T,
    forms: fn(&T) -> Forms,
    redactor: &Redactor,
) -> Result<(), Failure> {
    if !folder.join(DOCUMENT).exists() {
        return Ok(());
    }
    let report = clean(report, redactor)?;
    write(folder, &report, &forms(&report)).map(drop)
}

/// Refuses a folder that cannot be written to, before anything is measured.
///
/// # Errors
///
/// Which file cannot be written.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    store::check_writable(&folder.join(DOCUMENT)).map_err(Failure::from)
}
