//! Differences between two texts, line by line.

use super::lines::{Diff, Line, Piece, PieceKind, grouped};
use super::words::{self, Lines};
use super::writer::{CONTEXT, FOLDED, Known, Writer};

/// What stands around a text of one side.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) indent: usize,
    /// What stands before its first line, and after its last one.
    pub(super) before: String,
    pub(super) after: String,
}

impl Around {
    /// How far the lines after the first are indented.
    fn indent_within(&self) -> usize {
        if self.before.is_empty() {
            self.indent
        } else {
            self.indent + 1
        }
    }
}

/// What differs between two texts that stand at a place of an answer.
pub fn text(was: &str, now: &str, place: Vec<String>, known: &Known) -> Diff {
    let mut writer = Writer::new(place, known);
    let lines = words::lines(was, now);
    writer.diff.is_text = true;
    writer.lines(&lines, &|line| line.to_owned(), Default::default());
    writer.diff
}

impl Writer<'_> {
    /// The lines of two texts, and what stands around each of them.
    pub(super) fn lines(
        &mut self,
        lines: &[Lines<'_>],
        shown: &dyn Fn(&str) -> String,
        around: [Around; 2],
    ) {
        let [was_around, now_around] = around;
        let last = |is_side: fn(&Lines<'_>) -> bool| lines.iter().rposition(is_side);
        let last_was = last(|it| !matches!(it, Lines::New(_)));
        let last_now = last(|it| !matches!(it, Lines::Gone(_)));
        let first = |is_side: fn(&Lines<'_>) -> bool| lines.iter().position(is_side);
        let first_was = first(|it| !matches!(it, Lines::New(_)));
        let first_now = first(|it| !matches!(it, Lines::Gone(_)));
        let line = |at: usize,
                    around: &Around,
                    pieces: Vec<Piece>,
                    (first, last): (Option<usize>, Option<usize>)| {
            let mut all = Vec::with_capacity(pieces.len() + 2);
            let is_first = first == Some(at);
            if is_first && !around.before.is_empty() {
                all.push(Piece::plain(around.before.as_str()));
            }
            all.extend(pieces);
            let is_last = last == Some(at);
            if is_last && !around.after.is_empty() {
                all.push(Piece::plain(around.after.as_str()));
            }
            Line {
                indent: if is_first {
                    around.indent
                } else {
                    around.indent_within()
                },
                pieces: all,
                goes_on: !is_last,
            }
        };
        let left = |at, pieces| line(at, &was_around, pieces, (first_was, last_was));
        let right = |at, pieces| line(at, &now_around, pieces, (first_now, last_now));
        let plain = |text: &str| words::shortened(&shown(text), PieceKind::Plain);
        // A line that begins or ends only one of the sides differs in what stands around it.
        let stands_alike = |at: usize| {
            let around = |it: Line| (it.indent, it.pieces);
            let ends = [first_was, first_now, last_was, last_now];
            !ends.contains(&Some(at)) || around(left(at, vec![])) == around(right(at, vec![]))
        };
        let is_same = |at: usize| matches!(lines[at], Lines::Same(_)) && stands_alike(at);
        let mut at = 0;
        while at < lines.len() {
            if self.is_full() {
                // What is left is counted, and not written.
                self.diff.is_cut = true;
                let rest = (at..lines.len()).filter(|it| !is_same(*it)).count();
                (0..rest).for_each(|_| self.count(false));
                return;
            }
            match &lines[at] {
                Lines::Same(text) if !stands_alike(at) => {
                    let [was, now] = [left(at, plain(text)), right(at, plain(text))];
                    self.changed(Some(was), Some(now), self.known.varies(&self.place));
                }
                Lines::Same(_) => {
                    let run = (at..lines.len()).take_while(|it| is_same(*it)).count();
                    let rows = (at..at + run).map(|at| match lines[at] {
                        Lines::Same(text) => left(at, plain(text)),
                        _ => Line::default(),
                    });
                    let ends = (at == 0, at + run == lines.len());
                    self.run(was_around.indent_within(), ends, run, rows);
                    at += run;
                    continue;
                }
                Lines::Gone(_) if replaced(&lines[at..]).is_some() => {
                    let (gone, new) = replaced(&lines[at..]).unwrap_or_default();
                    let text = |at: usize| match lines[at] {
                        Lines::Gone(it) | Lines::New(it) => plain(it),
                        _ => Vec::new(),
                    };
                    // Lines that nobody will see are not written.
                    let was = (at..at + gone).map(|it| left(it, text(it)));
                    let now = (at + gone..at + gone + new).map(|it| right(it, text(it)));
                    let calm = self.known.varies(&self.place);
                    self.replaced_lines(was.collect(), now.collect(), gone.max(new), calm);
                    at += gone + new;
                    continue;
                }
                Lines::Gone(text) => {
                    let calm = self.known.varies(&self.place);
                    self.count(calm);
                    self.changed(Some(left(at, plain(text))), None, calm);
                }
                Lines::New(text) => {
                    let calm = self.known.varies(&self.place);
                    self.count(calm);
                    self.changed(None, Some(right(at, plain(text))), calm);
                }
                Lines::Reworded(was, now) => {
                    let [was, now] = words::pieces(&shown(was), &shown(now));
                    let calm = self.varies(&was);
                    self.count(calm);
                    self.changed(Some(left(at, was)), Some(right(at, now)), calm);
                }
            }
            at += 1;
        }
    }

    /// Equal lines of a text between two changes.
    fn run(
        &mut self,
        indent: usize,
        (is_first, is_last): (bool, bool),
        count: usize,
        lines: impl Iterator<Item = Line>,
    ) {
        let before = if is_first { 0 } else { CONTEXT };
        let after = if is_last { 0 } else { CONTEXT };
        if count < before + after + FOLDED {
            lines.for_each(|it| self.same(it));
            return;
        }
        let folded = count - before - after;
        let mut lines = lines;
        lines.by_ref().take(before).for_each(|it| self.same(it));
        let mut inside = Vec::new();
        if self.takes_into_fold(folded) {
            inside.extend(lines.by_ref().take(folded));
        } else {
            lines.by_ref().take(folded).for_each(drop);
        }
        self.fold(indent, format!("{} equal lines", grouped(folded)), inside);
        lines.for_each(|it| self.same(it));
    }
}

/// How many lines went and came here, where some did both.
fn replaced(lines: &[Lines<'_>]) -> Option<(usize, usize)> {
    let gone = (lines.iter()).take_while(|it| matches!(it, Lines::Gone(_)));
    let gone = gone.count();
    let new = (lines[gone..].iter()).take_while(|it| matches!(it, Lines::New(_)));
    let new = new.count();
    (gone > 0 && new > 0).then_some((gone, new))
}
