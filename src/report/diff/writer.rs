//! A difference as it grows: its rows, as many as a page has room for, and what there was no room for counted.

use super::lines::{Diff, Line, Piece, PieceKind, Row, grouped};

/// How many equal lines stand before and after a change.
pub(super) const CONTEXT: usize = 3;
/// Fewer equal lines than this are not folded.
pub(super) const FOLDED: usize = 3;
/// The most lines that one fold holds; longer ones only say how many there are.
pub(super) const IN_FOLD: usize = 150;
/// The most lines that all folds of one difference hold.
const IN_FOLDS: usize = 450;
/// The most lines of one difference, folds aside.
const ROWS: usize = 400;
/// The most lines on either side of what was replaced as a whole, so that both sides show, and what comes after it.
pub(super) const REPLACED: usize = 120;

/// A difference as it is written, row by row, as long as there is room.
pub(super) struct Writer<'k> {
    pub(super) diff: Diff,
    pub(super) known: &'k Known,
    /// Where the value stands that is being written, by the baseline's indices.
    pub(super) place: Vec<String>,
    /// How many lines the folds may still hold.
    in_folds: usize,
    /// How many lines were written.
    height: usize,
}

impl<'k> Writer<'k> {
    pub(super) fn new(place: Vec<String>, known: &'k Known) -> Self {
        Self {
            diff: Diff::default(),
            known,
            place,
            in_folds: IN_FOLDS,
            height: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.height >= ROWS
    }

    /// Adds a row while there is room for it; without, the difference is cut.
    pub(super) fn push(&mut self, row: Row) {
        if self.is_full() {
            self.diff.is_cut = true;
        } else {
            self.height += row.height();
            self.diff.rows.push(row);
        }
    }

    pub(super) fn same(&mut self, line: Line) {
        self.diff.is_cut |= line.is_cut();
        self.push(Row::Same(line));
    }

    pub(super) fn changed(&mut self, was: Option<Line>, now: Option<Line>, calm: bool) {
        self.diff.is_cut |= was.iter().chain(&now).any(Line::is_cut);
        self.push(Row::Changed {
            was,
            now,
            calm,
            note: None,
        });
    }

    /// Lines that have nothing in common, the beginning of either side where there are too many, and how many places they are.
    pub(super) fn replaced_lines(
        &mut self,
        mut was: Vec<Line>,
        mut now: Vec<Line>,
        places: usize,
        calm: bool,
    ) {
        let shown = REPLACED.min(ROWS - self.height.min(ROWS));
        let most = was.len().max(now.len());
        for side in [&mut was, &mut now] {
            let left = side.len().saturating_sub(shown);
            if left > 0 {
                side.truncate(shown);
                side.push(Line {
                    pieces: vec![Piece {
                        text: format!("⋯ {} more lines", grouped(left)),
                        kind: PieceKind::LeftOut,
                    }],
                    ..Line::default()
                });
            }
        }
        let (begun, unseen) = if most > shown {
            let begun = (places * shown).div_ceil(most);
            (begun, places - begun)
        } else {
            (places, 0)
        };
        for _ in 0..begun {
            self.count(calm);
        }
        let counted = if calm {
            &mut self.diff.varying
        } else {
            &mut self.diff.changes
        };
        *counted += unseen;
        self.diff.unseen += unseen;
        self.diff.is_cut |= unseen > 0 || was.iter().chain(&now).any(Line::is_cut);
        self.push(Row::Replaced { was, now, calm });
    }

    /// Counts a place that differs; whether it is known to vary.
    pub(super) fn count(&mut self, calm: bool) {
        if calm {
            self.diff.varying += 1;
        } else {
            self.diff.changes += 1;
        }
        if self.is_full() {
            self.diff.unseen += 1;
            self.diff.is_cut = true;
        }
    }

    /// Whether a text at this place varies, or its words that changed do.
    pub(super) fn varies(&self, was: &[Piece]) -> bool {
        let words = was.iter().filter(|it| it.kind == PieceKind::Marked);
        self.known.varies(&self.place) || self.known.vary(words.map(|it| it.text.as_str()))
    }

    /// Whether so many equal lines find room in a fold; those that do take it.
    pub(super) fn takes_into_fold(&mut self, lines: usize) -> bool {
        let fits = lines <= IN_FOLD && lines <= self.in_folds;
        if fits {
            self.in_folds -= lines;
        }
        fits
    }

    pub(super) fn fold(&mut self, indent: usize, words: String, lines: Vec<Line>) {
        self.diff.is_cut |= lines.is_empty();
        self.push(Row::Fold {
            indent,
            words,
            lines,
        });
    }
}

/// The places of an answer that are known to vary.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Nothing of what differs in the answer counts: all of it is known to vary, or is not compared.
    pub all: bool,
    /// The places, step by step; `*` stands for any one step. What lies beneath varies, too.
    pub places: Vec<Vec<String>>,
    /// Words of texts that were something else each time they were received.
    pub words: Vec<String>,
}

impl Known {
    /// The steps of a place as reports write it: `/content/0/json/servers/3/id`.
    pub fn steps(path: &str) -> Vec<String> {
        let step = |it: &str| match it {
            "~2" => "**".to_owned(),
            it => it.replace("~1", "/").replace("~0", "~"),
        };
        path.split('/').skip(1).map(step).collect()
    }

    /// Whether what stands at a place is known to vary.
    pub(super) fn varies(&self, place: &[String]) -> bool {
        let covers = |known: &Vec<String>| {
            known.len() <= place.len()
                && (known.iter().zip(place)).all(|(known, step)| match known.as_str() {
                    "*" => true,
                    "**" => step == "*",
                    known => known == step,
                })
        };
        self.all || self.places.iter().any(covers)
    }

    /// Whether all these words of a text are known to vary.
    pub(super) fn vary<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> bool {
        if self.all {
            return true;
        }
        let mut words = words.into_iter().peekable();
        // Words that only came, or only went, have nothing to be recognized by.
        words.peek().is_some() && words.all(|it| self.has_word(it))
    }

    /// Whether a word is one that is known to vary.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|known| known.trim() == word.trim())
    }
}
