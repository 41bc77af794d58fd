//! A command that cannot do what it was asked says so wherever somebody looks for its result, so that nobody takes an older one there for it.

use crate::cli::args::{Asked, Color, Format, OutputArgs};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::finish;
use crate::cli::reports::Reports;
use crate::cli::without_scenarios;

/// Says why there is no result wherever a program looks for one: a person reads it on stderr.
pub(super) fn tell(command: &str, asked: &Asked, failure: &Failure, console: Console) {
    let format = asked.reporting.format;
    // Pages are no form of stdout.
    if !matches!(format, Format::Terminal | Format::Html) {
        let refusal = without_scenarios::refused(command, failure);
        Console::document(&format.render(&refusal, Console::style(OutputArgs::default())));
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
    let Some(command) = words.first().and_then(|it| named(it)) else {
        return;
    };
    let asked = Asked::of_words(words);
    tell(command, &asked, failure, Console::new(Color::Never, true));
}

/// The command that makes reports and is called so, here or by the original tool.
fn named(word: &str) -> Option<&'static str> {
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
