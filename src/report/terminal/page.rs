//! The text of a report as it grows: its signs and colours, and the width it keeps to.

use anstyle::{AnsiColor, Style as Ansi};
use unicode_width::UnicodeWidthStr;

use crate::wrap;
use model::Status;
use model::published::result::Scenario;
use model::text::{self, shorten};

/// How the text is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour it with ANSI escape codes. Colour never carries information that the text lacks.
    pub color: bool,
    /// Columns of the terminal; less than 20 is taken as 20.
    pub width: usize,
    pub verbosity: Verbosity,
}

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Only what did not pass, and the summary.
    Quiet,
    /// What did not pass, what changed, and what was kept; of the others their number.
    #[default]
    Normal,
    /// Every scenario, with scores, notes and warnings.
    Verbose,
}

pub(super) const GREEN: Ansi = AnsiColor::Green.on_default();
pub(super) const RED: Ansi = AnsiColor::Red.on_default();
pub(super) const YELLOW: Ansi = AnsiColor::Yellow.on_default();
pub(super) const BLUE: Ansi = AnsiColor::Blue.on_default();
/// The colour of what passed with changes.
pub(super) const MAGENTA: Ansi = AnsiColor::Magenta.on_default();
pub(super) const DIM: Ansi = Ansi::new().dimmed();
pub(super) const BOLD: Ansi = Ansi::new().bold();

const MIN_WIDTH: usize = 20;
/// The longest reason or note shown; `result.json` holds the whole.
const TEXT_CHARS: usize = 600;

/// The text as it grows.
pub(super) struct Page<'a> {
    pub(super) text: String,
    pub(super) run_id: &'a str,
    /// The command, as the result names it.
    pub(super) command: &'a str,
    pub(super) style: Style,
    pub(super) width: usize,
    /// Words that are longer than a line stay whole: somebody may look for them, or click on them.
    pub(super) keeps_words: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(run_id: &'a str, command: &'a str, style: Style) -> Self {
        Self {
            text: String::new(),
            run_id,
            command,
            style,
            width: style.width.max(MIN_WIDTH),
            keeps_words: false,
        }
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.style.verbosity == Verbosity::Verbose
    }

    /// How many of something are shown: as many as usual, or all.
    pub(super) fn most(&self, usual: usize) -> usize {
        if self.is_verbose() { usize::MAX } else { usual }
    }

    /// A text from outside, made visible, shortened, wrapped, and its first line led by a sign.
    pub(super) fn indented(&mut self, indent: usize, sign: &str, style: Ansi, text: &str) {
        let shown = text::line(text);
        self.long(indent, sign, style, &shorten(&shown, TEXT_CHARS));
    }

    /// What a server said last, or the like, line by line.
    pub(super) fn details<'d>(
        &mut self,
        indent: usize,
        details: impl IntoIterator<Item = &'d str>,
    ) {
        for detail in details {
            for part in text::block(detail).lines() {
                self.indented(indent, "│ ", DIM, part);
            }
        }
    }

    /// A text from outside that is not shortened.
    pub(super) fn long(&mut self, indent: usize, sign: &str, style: Ansi, text: &str) {
        let shown = text::line(text);
        // A terminal that is very narrow keeps some room for the text.
        let indent = indent.min(self.width / 4);
        let room = self.width - indent - sign.width();
        let parts = if self.keeps_words {
            let block = wrap::block(&shown, room);
            block.lines().map(str::to_owned).collect()
        } else {
            wrap::lines(&shown, room)
        };
        for (index, part) in parts.iter().enumerate() {
            self.text.push_str(&" ".repeat(indent));
            if sign.is_empty() {
                let painted = self.painted(style, part);
                self.text.push_str(&painted);
            } else {
                // Where there is a sign, only the sign is coloured, so that the text stays easy to read.
                let lead = match index {
                    0 => self.painted(style, sign),
                    _ => " ".repeat(sign.width()),
                };
                self.text.push_str(&lead);
                self.text.push_str(part);
            }
            self.text.push('\n');
        }
    }

    /// An empty line, unless there is one already or nothing stands before it.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The text in a style, the spaces around it left as they are.
    pub(super) fn painted(&self, style: Ansi, text: &str) -> String {
        let inner = text.trim_matches(' ');
        if !self.style.color || inner.is_empty() {
            return text.to_owned();
        }
        let before = text.len() - text.trim_start_matches(' ').len();
        let (before, rest) = text.split_at(before);
        format!("{before}{style}{inner}{style:#}{}", &rest[inner.len()..])
    }
}

pub(super) fn scenario_style(scenario: &Scenario) -> Ansi {
    if scenario.is_failing() {
        YELLOW
    } else if scenario.is_changed() {
        MAGENTA
    } else {
        status_style(scenario.status)
    }
}

pub(super) fn status_style(status: Status) -> Ansi {
    match status {
        Status::Passed => GREEN,
        Status::Recorded => BLUE,
        Status::Failed => RED,
        Status::Inconclusive | Status::Error | Status::Timeout | Status::Interrupted => YELLOW,
        Status::Skipped => DIM,
    }
}
