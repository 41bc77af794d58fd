//! The result of a command that had nothing to do, of which nothing is kept.

use std::path::Path;

use crate::cli::args::{Format, OutputArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::pages::write_pages;
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::without_scenarios;
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
    let nothing = Nothing { result, folder };
    if let Some(folder) = folder {
        nothing.write_pages(folder)?;
        console.note(&format!("Report: {}", folder.join(INDEX).display()));
    }
    reports.write(folder, &nothing, console)?;
    match reports.printed {
        Format::Terminal => console.result(sentence),
        format => {
            Console::document(
                &format.render(&nothing.result, Console::style(OutputArgs::default())),
            );
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
    fn document(&self, _: &Path) -> ResultDocument {
        self.result.clone()
    }

    fn write_pages(&self, folder: &Path) -> Result<(), Failure> {
        let sides = self.result.scenarios.iter().map(|_| Sides::default());
        Ok(write_pages(folder, &self.result, sides)?)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.folder == Some(folder)
    }
}
