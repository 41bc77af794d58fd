//! Refusals in CI, and messages to the runner of GitHub.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

use crate::cli::exit::Failure;
use crate::published::result::ResultDocument;
use crate::report::markdown;
use crate::suite::ci::known_by;

/// Refuses to write baselines in a CI job, unless forced.
pub(super) fn refuse(force: bool) -> Result<(), Failure> {
    if let Some(variable) = known_by().filter(|_| !force) {
        return Err(Failure::usage(format!(
            "{variable} is set in the environment, and CI does not write baselines"
        ))
        .hint(format!(
            "write them on a development machine and commit the result, or pass --force{}",
            no_job(variable)
        )));
    }
    Ok(())
}

/// How to say that this is no CI job, where another variable than `CI` says that it is one.
fn no_job(variable: &str) -> &'static str {
    if variable == "CI" {
        ""
    } else {
        "; `CI=false` says that this is not a CI job"
    }
}

/// Whether this is a step of a workflow.
pub(super) fn is_github_workflow() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|it| it == "true")
}

/// Adds a result to the summary of the job, in a step of a workflow.
///
/// # Errors
///
/// When the file for it cannot be written.
pub(super) fn add_to_summary(result: &ResultDocument) -> io::Result<()> {
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|it| !it.is_empty());
    let Some(summary) = summary.filter(|_| is_github_workflow()) else {
        return Ok(());
    };
    // It belongs to the whole step: others may have written to it, or will.
    let mut file = OpenOptions::new().append(true).create(true).open(summary)?;
    file.write_all(format!("{}\n", markdown::markdown(result)).as_bytes())
}

/// A text for the log of a step, in which nothing is a command to the runner: what servers say stands in it, too.
///
/// The runner takes a line for a command that begins with `::`, behind blanks, and one with `##[` anywhere in it.
pub(super) fn without_commands(text: &str) -> Cow<'_, str> {
    let begins_so = |line: &str| behind_blanks(line).starts_with("::");
    if !text.contains("##[") && !text.lines().any(begins_so) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let rest = behind_blanks(line);
        let (blanks, _) = line.split_at(line.len() - rest.len());
        let rest = match rest.strip_prefix("::") {
            Some(rest) => format!(": :{rest}"),
            None => rest.to_owned(),
        };
        format!("{blanks}{}", rest.replace("##[", "## ["))
    });
    Cow::Owned(lines.collect())
}

/// What a line says behind blanks and colours, which are taken out of a log.
fn behind_blanks(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(code) = rest.strip_prefix("\u{1b}[") {
        let end = code.find(|it: char| it.is_ascii_alphabetic());
        rest = end.map_or("", |it| &code[it + 1..]).trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::without_commands;

    #[test]
    fn no_line_of_a_log_is_a_command() {
        for (text, shown) in [
            ("a :: b\nc", "a :: b\nc"),
            ("::error::x\n", ": :error::x\n"),
            ("a\n  ::stop-commands::x\nb", "a\n  : :stop-commands::x\nb"),
            ("\u{1b}[2m \u{1b}[31m::x", "\u{1b}[2m \u{1b}[31m: :x"),
            ("a ##[error]b", "a ## [error]b"),
        ] {
            assert_eq!(without_commands(text), shown);
        }
    }
}
