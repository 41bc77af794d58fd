//! The lines of a difference as a page shows them.
//!
//! Counts as people read them.

use crate::bytes;

/// A difference in lines.
#[derive(Debug, Default)]
pub struct Diff {
    pub rows: Vec<Row>,
    /// How many places differ that are not known to vary; of a text, lines.
    pub changes: usize,
    /// How many places differ that are known to vary.
    pub varying: usize,
    /// Something is not shown here; the whole is needed to see it.
    pub is_cut: bool,
    /// How many places that differ are not shown.
    pub unseen: usize,
    /// Lines of a text are counted, and not places in a value.
    pub is_text: bool,
}

/// One line, on either side.
#[derive(Debug)]
pub enum Row {
    Same(Line),
    Changed {
        was: Option<Line>,
        now: Option<Line>,
        /// It is known to vary.
        calm: bool,
        /// What happened, where red and green do not say it: `moved`.
        note: Option<String>,
    },
    /// Lines that have nothing in common with each other: all of these went, and all of those came.
    Replaced {
        was: Vec<Line>,
        now: Vec<Line>,
        /// They are known to vary.
        calm: bool,
    },
    /// Equal lines that are folded away.
    Fold {
        indent: usize,
        /// What they are: `12 equal members`.
        words: String,
        /// Empty where they are too long to be shown at all.
        lines: Vec<Line>,
    },
}

/// A line of one side.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    pub indent: usize,
    pub pieces: Vec<Piece>,
    /// The text goes on in the next line of this side: there is a line break in it.
    pub goes_on: bool,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub kind: PieceKind,
}

/// What a piece of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    Plain,
    /// The other side lacks it.
    Marked,
    /// A remark of ours.
    Remark,
    /// A remark on what is left out here.
    LeftOut,
}

impl Diff {
    /// So many places, or lines, that differ: `3 places differ`.
    pub fn differ(&self, count: usize) -> String {
        let noun = if self.is_text { "line" } else { "place" };
        match count {
            1 => format!("1 {noun} differs"),
            count => format!("{} {noun}s differ", grouped(count)),
        }
    }
}

/// About what the HTML of a line takes beside its text.
const LINE: usize = 60;

impl Diff {
    /// About how many bytes a page takes to show it.
    pub fn weight(&self) -> usize {
        self.rows.iter().map(Row::weight).sum()
    }

    /// The same difference with a remark in place of its lines.
    #[must_use]
    pub fn left_out(self, remark: &str) -> Self {
        let pieces = vec![Piece {
            text: remark.to_owned(),
            kind: PieceKind::Remark,
        }];
        Self {
            rows: vec![Row::Same(Line {
                pieces,
                ..Line::default()
            })],
            is_cut: true,
            unseen: 0,
            ..self
        }
    }
}

impl Row {
    /// How many lines it takes on a page, side by side.
    pub(super) fn height(&self) -> usize {
        match self {
            Self::Replaced { was, now, .. } => was.len().max(now.len()),
            _ => 1,
        }
    }

    fn weight(&self) -> usize {
        match self {
            // Side by side, it stands there twice.
            Self::Same(line) => 2 * line.weight(),
            Self::Changed { was, now, .. } => {
                LINE + was.iter().chain(now).map(Line::weight).sum::<usize>()
            }
            Self::Replaced { was, now, .. } => {
                LINE + was.iter().chain(now).map(Line::weight).sum::<usize>()
            }
            Self::Fold { lines, .. } => LINE + lines.iter().map(Line::weight).sum::<usize>(),
        }
    }
}

/// The lines of two sides beside each other, until both have ended.
pub(crate) fn side_by_side<T>(
    mut was: impl Iterator<Item = T>,
    mut now: impl Iterator<Item = T>,
) -> impl Iterator<Item = (Option<T>, Option<T>)> {
    std::iter::from_fn(move || {
        let both = (was.next(), now.next());
        (both.0.is_some() || both.1.is_some()).then_some(both)
    })
}

impl Piece {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: PieceKind::Plain,
        }
    }

    /// A remark on so many bytes that are left out.
    pub(super) fn left_out(bytes: usize) -> Self {
        Self {
            text: format!(" ⋯ {} ⋯ ", bytes::words(bytes)),
            kind: PieceKind::LeftOut,
        }
    }
}

impl Line {
    pub(super) fn new(indent: usize, pieces: Vec<Piece>) -> Self {
        Self {
            indent,
            pieces,
            goes_on: false,
        }
    }

    /// The blanks that it is indented by.
    pub fn lead(&self) -> String {
        "  ".repeat(self.indent)
    }

    fn weight(&self) -> usize {
        LINE + self.indent + self.pieces.iter().map(|it| it.text.len()).sum::<usize>()
    }

    /// Whether something is left out in it.
    pub fn is_cut(&self) -> bool {
        self.pieces.iter().any(|it| it.kind == PieceKind::LeftOut)
    }

    /// The line as a text, without its indentation.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|it| it.text.as_str()).collect()
    }
}

/// A count with its thousands apart: `36,000`.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
