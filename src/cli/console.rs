//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};

use crate::cli::args::{Color, OutputArgs};
use crate::cli::failure::Failure;
use crate::redact;
use crate::report::terminal::{Style, Verbosity};
use crate::text;

/// Where output goes, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Console {
    color: ColorChoice,
    quiet: bool,
}

impl Console {
    pub(super) fn new(color: Color, quiet: bool) -> Self {
        let color = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { color, quiet }
    }

    /// Prints a result for people to stdout.
    pub(super) fn result(self, text: &str) {
        keep(write_all(
            AutoStream::new(io::stdout().lock(), self.color),
            text,
        ));
    }

    /// Prints a document for programs to stdout, to the letter.
    pub(super) fn document(text: &str) {
        keep(write_all(io::stdout().lock(), text));
    }

    /// Why a result did not reach stdout, if one did not. A reader that has gone away is no failure of ours.
    pub(super) fn lost() -> Option<&'static str> {
        LOST.get().map(String::as_str)
    }

    /// Prints something about the work to stderr, unless asked to be quiet.
    pub(super) fn note(self, text: &str) {
        if !self.quiet {
            let text = shown(text);
            let _ = write_all(AutoStream::new(io::stderr().lock(), self.color), &text);
        }
    }

    /// Prints a failure to stderr, quiet or not.
    pub(super) fn failure(self, failure: &Failure) {
        let mut text = format!("\u{1b}[1;31merror:\u{1b}[0m {}\n", shown(&failure.message));
        for hint in &failure.hints {
            text.push_str("  ");
            text.push_str(&shown(hint));
            text.push('\n');
        }
        let _ = write_all(AutoStream::new(io::stderr().lock(), self.color), &text);
    }

    /// How results are written for the reader of stdout.
    pub(super) fn style(output: OutputArgs) -> Style {
        Style {
            // The stream takes colours out again where they are not wanted.
            color: true,
            width: width(),
            verbosity: match (output.quiet, output.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
        }
    }

    /// Whether progress can be drawn.
    pub(super) fn can_draw(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

/// A text of ours as it may be shown: without what the environment holds of secrets, and without control characters.
fn shown(text: &str) -> String {
    text::block(&redact::environment().known(text)).into_owned()
}

/// Columns of the terminal, as far as the environment says; else wide enough for logs.
fn width() -> usize {
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 120));
    usize::from(columns)
}

/// The first failure to write a result: exiting with 0 would say that it was written.
static LOST: OnceLock<String> = OnceLock::new();

fn keep(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stream.write_all(b"\n")?;
    }
    stream.flush()
}
