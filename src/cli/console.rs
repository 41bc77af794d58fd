//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use crate::cli::args::{Color, OutputArgs};
use crate::cli::failure::Failure;
use crate::report::terminal::{Style, Verbosity};

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

    /// Prints a result to stdout. A reader that has gone away is no failure of ours.
    pub(super) fn result(self, text: &str) {
        let _ = write_all(AutoStream::new(io::stdout().lock(), self.color), text);
    }

    /// Prints something about the work to stderr, unless asked to be quiet.
    pub(super) fn note(self, text: &str) {
        if !self.quiet {
            let _ = write_all(AutoStream::new(io::stderr().lock(), self.color), text);
        }
    }

    /// Prints a failure to stderr, quiet or not.
    pub(super) fn failure(self, failure: &Failure) {
        let mut text = format!("\u{1b}[1;31merror:\u{1b}[0m {}\n", failure.message);
        for hint in &failure.hints {
            text.push_str("  ");
            text.push_str(hint);
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

/// Columns of the terminal, as far as the environment tells; else wide enough for logs.
fn width() -> usize {
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 120));
    usize::from(columns)
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stream.write_all(b"\n")?;
    }
    stream.flush()
}
