//! Results of which nothing is kept: of a command that had nothing to do, and of one that cannot do what it was asked, so that nobody takes
//! an older result for its own.

use std::borrow::Cow;
use std::path::Path;

use crate::cli::args::{Asked, Format};
use crate::cli::pages::write_pages;
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::{Console, Exit, Failure, finish, without_scenarios};
use crate::published::result::ResultDocument;
use crate::suite::Sides;

/// Tells that nothing has changed of what a command is about, so that nothing was run: in the form that is printed, and in all files
/// whose names were given. Nothing is stored, and the last report stays the last.
///
/// # Errors
///
/// When a file cannot be written.
pub(super) fn unchanged(
    command: &str,
    sentence: &str,
    reports: &Reports,
    console: Console,
) -> Result<Exit, Failure> {
    let exit = Exit::Unchanged;
    let result = without_scenarios::unchanged(command, sentence);
    let folder = reports.output.as_deref().filter(|_| reports.pages);
    let mut nothing = Nothing { result, folder };
    if let Some(folder) = folder {
        nothing.write_pages(folder)?;
        console.note(&format!("Report: {}", folder.join(INDEX).display()));
    }
    reports.write(folder, &mut nothing, console)?;
    match reports.printed {
        Format::Terminal => console.result(sentence),
        format => {
            Console::document(&format.render(&nothing.result, Console::default().style()));
        }
    }
    Ok(exit)
}

/// A result without scenarios.
struct Nothing<'a> {
    result: ResultDocument,
    /// Where its pages are.
    folder: Option<&'a Path>,
}

impl Source for Nothing<'_> {
    fn document(&mut self, _: &Path) -> Cow<'_, ResultDocument> {
        Cow::Borrowed(&self.result)
    }

    fn write_pages(&mut self, folder: &Path) -> Result<(), Failure> {
        Ok(write_pages(folder, &self.result, &|_| Sides::default())?)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.folder == Some(folder)
    }
}

/// Says why there is no result wherever a program looks for one: a person reads it on stderr.
pub(super) fn tell(command: &str, asked: &Asked, failure: &Failure, console: Console) {
    let format = asked.reporting.format;
    // Pages are no form of stdout.
    if !matches!(format, Format::Terminal | Format::Html) {
        let refusal = without_scenarios::refused(command, failure);
        Console::document(&format.render(&refusal, Console::default().style()));
    }
    tell_files(command, asked, failure, console);
}

/// The same in files alone.
pub(super) fn tell_files(command: &str, asked: &Asked, failure: &Failure, console: Console) {
    let refusal = without_scenarios::refused(command, failure);
    finish::add_to_summary(&refusal, console);
    let (reporting, output) = (&asked.reporting, asked.output.as_deref());
    let written = match Reports::new(reporting, asked.no_report, output) {
        Ok(reports) => reports.write_refusal(&refusal),
        // The files are what was refused: no older result stays in any of them that can be written, and none is made.
        Err(_) => Reports::unchecked(reporting, asked.no_report, output).replace(&refusal),
    };
    if let Err(error) = written {
        console.failure(&error.into());
    }
}

/// The same where the command line is wrong, so that nobody knows all of what it asks for: its words are looked through for files.
pub(super) fn of_words(words: &[String], failure: &Failure) {
    let Some(command) = words.first().and_then(|it| command_in(it)) else {
        return;
    };
    let asked = Asked::of_words(words);
    tell(command, &asked, failure, Console::default().silenced());
}

/// The command that makes reports and is called so, here or by the original tool.
fn command_in(word: &str) -> Option<&'static str> {
    match word {
        "record" | "record-multi-turn" => Some("record"),
        "compare" | "compare-multi-turn" | "test" | "batch" => Some("compare"),
        "run" => Some("run"),
        "merge" => Some("merge"),
        "bisect" => Some("bisect"),
        "report" => Some("report"),
        _ => None,
    }
}
