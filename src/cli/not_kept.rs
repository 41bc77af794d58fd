//! Results of which nothing is kept here: of a command that had nothing to do, or of runs that lie elsewhere.

use std::path::Path;

use crate::cli::args::{Format, OutputArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{add_to_summary, print};
use crate::cli::gate_sentence;
use crate::cli::gates;
use crate::cli::pages::write_pages;
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::without_scenarios;
use crate::published::result::ResultDocument;
use crate::suite::{REPORTS, Sides};

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

/// Reports a result that was found elsewhere, where its trajectories are; nothing of it is stored here.
///
/// # Errors
///
/// When a file cannot be written; the result is printed all the same.
pub(super) fn elsewhere(
    mut result: ResultDocument,
    reports: &Reports,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    for scenario in &mut result.scenarios {
        scenario.container_log = None;
        let sides = [&mut scenario.current, &mut scenario.baseline];
        for side in sides.into_iter().flatten() {
            side.file = None;
        }
        for attempt in scenario.repeated.iter_mut().flat_map(|it| &mut it.attempts) {
            attempt.file = None;
        }
    }
    let exit = if result.interrupted {
        Exit::Interrupted
    } else {
        gates::exit(&result, (false, false))
    };
    // What the gate says is found here, too.
    gate_sentence::set(&mut result, exit, None, (false, false));
    let folder = match &reports.output {
        Some(folder) => folder.clone(),
        None => Path::new(REPORTS).join(&result.run_id),
    };
    let folder = Some(folder.as_path()).filter(|_| reports.pages);
    let found = Nothing { result, folder };
    let written = match folder {
        Some(folder) => found.write_pages(folder),
        None => Ok(()),
    };
    let written = written.and_then(|()| reports.write(folder, &found, console));
    add_to_summary(&found.result, console);
    print(&found.result, reports.printed, output, console);
    if let Some(folder) = folder.filter(|_| written.is_ok()) {
        console.note(&format!("Report: {}", folder.join(INDEX).display()));
    }
    match written {
        Ok(()) => Ok(exit),
        Err(failure) => Err(Failure {
            exit: exit.and(failure.exit),
            is_printed: true,
            ..failure
        }),
    }
}

/// A result without trajectories: of a command that had nothing to do, or of one elsewhere.
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
