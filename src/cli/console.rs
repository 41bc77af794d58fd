//! The only place that prints: results to stdout, everything else to stderr.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::cli::args::{Color, OutputArgs};
use crate::cli::{Failure, ci};
use crate::report::terminal::{Style, Verbosity};
use crate::report::wrap;
use crate::{redact, text};

/// Where output goes, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Console {
    color: ColorChoice,
    quiet: bool,
    verbosity: Verbosity,
    no_progress: bool,
}

impl Console {
    pub(super) fn new(output: OutputArgs) -> Self {
        Self {
            color: match output.color {
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Never => ColorChoice::Never,
            },
            quiet: output.quiet,
            verbosity: match (output.quiet, output.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
            no_progress: output.no_progress,
        }
    }

    /// Whether nothing is to be said that needs nobody.
    pub(super) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// The same, with nothing to say about the work.
    pub(super) fn silenced(self) -> Self {
        Self {
            quiet: true,
            ..self
        }
    }

    /// The same, with short results.
    pub(super) fn terse(self) -> Self {
        Self {
            verbosity: Verbosity::Quiet,
            ..self
        }
    }

    /// The same, which tells of every call in a line of its own.
    pub(super) fn by_line(self) -> Self {
        Self {
            verbosity: Verbosity::Verbose,
            no_progress: true,
            ..self
        }
    }

    /// Whether more is said than usual.
    pub(super) fn is_verbose(self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    /// Whether nothing is shown while the work goes on.
    pub(super) fn no_progress(self) -> bool {
        self.no_progress
    }

    /// Clears the screen, where all that is printed goes to one.
    pub(super) fn clear() {
        let terminal = console::Term::stderr();
        if terminal.features().is_attended() && io::stdout().is_terminal() {
            let _ = terminal.clear_screen();
        }
    }

    /// Prints a result for people to stdout.
    pub(super) fn result(self, text: &str) {
        keep(write_all(
            AutoStream::new(io::stdout().lock(), self.color),
            &logged(text),
        ));
    }

    /// Prints a document for programs to stdout, to the letter.
    pub(super) fn document(text: &str) {
        keep(write_all(io::stdout().lock(), text));
    }

    /// The same of a document in a file.
    pub(super) fn copy(mut document: File) {
        let mut stdout = io::stdout().lock();
        let copied = io::copy(&mut document, &mut stdout);
        keep(copied.and_then(|_| stdout.flush()));
    }

    /// Prints commands to the runner of a workflow, which reads them from stderr as well as from stdout.
    pub(super) fn workflow_commands(text: &str) {
        if !text.is_empty() {
            let _ = write_all(io::stderr().lock(), text);
        }
    }

    /// Why a result did not reach stdout, if one did not. A reader that has gone away is no failure of ours.
    pub(super) fn lost() -> Option<&'static str> {
        LOST.get().map(String::as_str)
    }

    /// Prints something about the work to stderr, unless asked to be quiet.
    pub(super) fn note(self, text: &str) {
        if !self.quiet {
            let text = fitting(shown(text));
            let stderr = AutoStream::new(io::stderr().lock(), self.color);
            let _ = write_all(stderr, &logged(&text));
        }
    }

    /// Prints to stderr what is lost, or nearly was, also where it was asked to be quiet.
    pub(super) fn warning(self, text: &str) {
        self.note(text);
        self.said_to_quiet(text);
    }

    /// Prints a note to stderr for those alone who asked to be quiet: they need it, and the others have seen it.
    pub(super) fn said_to_quiet(self, text: &str) {
        Self {
            quiet: !self.quiet,
            ..self
        }
        .note(text);
    }

    /// Prints a report on the work to stderr, with its colours, unless asked to be quiet. It is safe to look at already.
    pub(super) fn report(self, report: &str) {
        if !self.quiet {
            let report = redact::environment().known(report);
            let stderr = AutoStream::new(io::stderr().lock(), self.color);
            let _ = write_all(stderr, &logged(&report));
        }
    }

    /// Prints a question to stderr, and leaves the line open for the answer.
    pub(super) fn prompt(self, question: &str) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.color);
        // A line break would be shown as one, so none is in it.
        let _ = write!(stream, "{}", shown(question)).and_then(|()| stream.flush());
    }

    /// Prints a failure to stderr, quiet or not.
    pub(super) fn failure(self, failure: &Failure) {
        let mut text = format!("\u{1b}[1;31merror:\u{1b}[0m {}\n", shown(&failure.message));
        for hint in &failure.hints {
            text.push_str(&fitting(format!("  {}\n", shown(hint))));
        }
        let stderr = AutoStream::new(io::stderr().lock(), self.color);
        let _ = write_all(stderr, &logged(&text));
    }

    /// How results are written for the reader of stdout.
    pub(super) fn style(self) -> Style {
        self.style_for(&console::Term::stdout())
    }

    /// How reports on the work are written for the reader of stderr.
    pub(super) fn style_of_progress(self) -> Style {
        self.style_for(&console::Term::stderr())
    }

    fn style_for(self, terminal: &console::Term) -> Style {
        Style {
            // The stream takes colours out again where they are not wanted.
            color: true,
            width: width(terminal).into(),
            verbosity: self.verbosity,
        }
    }

    /// Columns of the terminal that shows progress.
    pub(super) fn stderr_width() -> u16 {
        width(&console::Term::stderr())
    }

    /// Whether progress can be drawn.
    pub(super) fn can_draw(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Whether a bar shows how far the work is.
    pub(super) fn draws_progress(self) -> bool {
        self.can_draw() && !self.no_progress
    }

    /// The bar for work of so many steps, if their number is known; a hidden one where none is shown.
    pub(super) fn bar(self, steps: Option<usize>) -> ProgressBar {
        let target = if self.draws_progress() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        ProgressBar::with_draw_target(steps.map(|it| it as u64), target)
    }
}

/// A text of ours as it may be shown: without what the environment holds of secrets, and without control characters.
fn shown(text: &str) -> String {
    text::block(&redact::environment().known(text)).into_owned()
}

/// A text for people as it may stand in the log of a job, whose runner takes some lines for commands.
fn logged(text: &str) -> Cow<'_, str> {
    if ci::is_github_workflow() {
        ci::without_commands(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// The text with its lines broken between words where the terminal that shows notes is too narrow for them; a log has them as they are.
fn fitting(text: String) -> String {
    let terminal = console::Term::stderr();
    if terminal.is_term() {
        wrap::block(&text, width(&terminal).into())
    } else {
        text
    }
}

/// Columns of the terminal; the usual ones where it does not know them, and where there is none, wide enough for logs.
fn width(terminal: &console::Term) -> u16 {
    match terminal.size_checked() {
        Some((_, columns)) if columns > 0 => columns,
        _ if terminal.is_term() => 80,
        _ => 120,
    }
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
