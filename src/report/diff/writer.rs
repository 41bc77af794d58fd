//! Two values, or two texts, as lines: around each change what surrounds it, and the equal rest folded away.

use serde_json::Value;

use super::known::Known;
use super::lines::{Diff, Line, Piece, PieceKind, Row};
use super::structure::{Change, Part, Step, change};
use super::tree::{Tree, identity_rank};
use super::value_lines::{container, escaped, grouped, in_one_line, named, quoted, written};
use super::words::{self, Lines};

/// How many equal lines stand before and after a change.
const CONTEXT: usize = 3;
/// Fewer equal lines than this are not folded.
const FOLDED: usize = 3;
/// The most lines that one fold holds; longer ones only say how many there are.
const IN_FOLD: usize = 150;
/// The most lines that all folds of one difference hold.
const IN_FOLDS: usize = 450;
/// The most lines of one difference, folds aside.
const ROWS: usize = 400;
/// The most lines of a value that came or went as a whole.
const WHOLE: usize = 60;
/// The most lines of a value or a text that has nothing beside it.
const ALONE: usize = 300;
/// The most characters of a text that has nothing beside it.
const ALONE_CHARS: usize = 16_000;
/// What differs between two JSON values that stand at a place of an answer.
pub fn json(was: &Value, now: &Value, place: Vec<String>, known: &Known) -> Diff {
    let (was, now) = (Tree::new(was), Tree::new(now));
    let mut writer = Writer::new(place, known);
    writer.change(0, Keys::NONE, &change(&was, &now));
    writer.diff
}

/// What differs between two texts that stand at a place of an answer.
pub fn text(was: &str, now: &str, place: Vec<String>, known: &Known) -> Diff {
    let mut writer = Writer::new(place, known);
    writer.lines(
        &words::lines(was, now),
        &|line| line.to_owned(),
        [
            (0, String::new(), String::new()),
            (0, String::new(), String::new()),
        ],
    );
    writer.diff
}

/// Two things that cannot be compared: all of one went, and all of the other came.
pub fn unlike(was: Diff, now: Diff, calm: bool) -> Diff {
    let lines = |diff: Diff| {
        diff.rows.into_iter().filter_map(|it| match it {
            Row::Same(line) => Some(line),
            _ => None,
        })
    };
    let is_cut = was.is_cut || now.is_cut;
    let (mut was, mut now) = (lines(was), lines(now));
    let row = || {
        let (was, now) = (was.next(), now.next());
        (was.is_some() || now.is_some()).then_some(Row::Changed {
            was,
            now,
            calm,
            note: None,
        })
    };
    Diff {
        rows: std::iter::from_fn(row).collect(),
        changes: usize::from(!calm),
        varying: usize::from(calm),
        is_cut,
        unseen: 0,
    }
}

/// A JSON value that has nothing beside it.
pub fn plain_json(value: &Value) -> Diff {
    let mut lines = Vec::new();
    let is_cut = written(&Tree::new(value), 0, &[], ALONE, &mut lines);
    Diff {
        rows: lines.into_iter().map(Row::Same).collect(),
        is_cut,
        ..Diff::default()
    }
}

/// A text that has nothing beside it.
pub fn plain_text(text: &str) -> Diff {
    let end = text.char_indices().nth(ALONE_CHARS).map(|(at, _)| at);
    let shown = &text[..end.unwrap_or(text.len())];
    let mut lines = shown.split('\n');
    let rows = lines.by_ref().take(ALONE).map(|it| {
        let pieces = match it {
            "" => Vec::new(),
            it => vec![Piece::plain(it)],
        };
        Row::Same(Line {
            pieces,
            ..Line::default()
        })
    });
    Diff {
        rows: rows.collect(),
        is_cut: end.is_some() || lines.next().is_some(),
        ..Diff::default()
    }
}

/// The name of a member on either side, as it stands before its value.
#[derive(Clone, Copy)]
struct Keys<'a> {
    was: Option<&'a str>,
    now: Option<&'a str>,
}

impl Keys<'_> {
    const NONE: Keys<'static> = Keys {
        was: None,
        now: None,
    };

    fn was(&self) -> Vec<Piece> {
        self.side(self.was.or(self.now))
    }

    fn now(&self) -> Vec<Piece> {
        self.side(self.now.or(self.was))
    }

    fn side(&self, key: Option<&str>) -> Vec<Piece> {
        let kind = if self.is_renamed() {
            PieceKind::Marked
        } else {
            PieceKind::Plain
        };
        key.map_or_else(Vec::new, |it| named(it, kind))
    }

    fn is_renamed(&self) -> bool {
        self.was.is_some() && self.now.is_some() && self.was != self.now
    }
}

struct Writer<'k> {
    diff: Diff,
    known: &'k Known,
    /// Where the value stands that is being written, by the baseline's indices.
    place: Vec<String>,
    /// How many lines the folds may still hold.
    in_folds: usize,
}

impl<'k> Writer<'k> {
    fn new(place: Vec<String>, known: &'k Known) -> Self {
        Self {
            diff: Diff::default(),
            known,
            place,
            in_folds: IN_FOLDS,
        }
    }

    fn is_full(&self) -> bool {
        self.diff.rows.len() >= ROWS
    }

    /// Adds a row while there is room for it; without, the difference is cut.
    fn push(&mut self, row: Row) {
        if self.is_full() {
            self.diff.is_cut = true;
        } else {
            self.diff.rows.push(row);
        }
    }

    fn same(&mut self, line: Line) {
        self.diff.is_cut |= line.is_cut();
        self.push(Row::Same(line));
    }

    fn changed(&mut self, was: Option<Line>, now: Option<Line>, calm: bool) {
        self.diff.is_cut |= was.iter().chain(&now).any(Line::is_cut);
        self.push(Row::Changed {
            was,
            now,
            calm,
            note: None,
        });
    }

    /// Counts a place that differs; whether it is known to vary.
    fn count(&mut self, calm: bool) {
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

    fn change(&mut self, indent: usize, keys: Keys<'_>, change: &Change<'_, '_>) {
        match change {
            Change::Same(tree) => {
                if keys.is_renamed() {
                    self.count(false);
                    self.whole(indent, keys, Some(tree), Some(tree), None);
                } else {
                    let mut lines = Vec::new();
                    self.diff.is_cut |= written(tree, indent, &keys.was(), ALONE, &mut lines);
                    for line in lines {
                        self.same(line);
                    }
                }
            }
            Change::Gone(tree) => self.went(indent, keys, Some(tree), None, None),
            Change::New(tree) => self.went(indent, keys, None, Some(tree), None),
            Change::MovedAway(tree) => {
                self.whole(indent, keys, Some(tree), None, Some("moved from here"));
            }
            Change::MovedHere(tree) => {
                self.went(indent, keys, None, Some(tree), Some("moved here"));
            }
            Change::Replaced(was, now) => self.replaced(indent, keys, was, now),
            Change::Inside { is_list, parts } => {
                let [open, close] = if *is_list { ["[", "]"] } else { ["{", "}"] };
                self.bracket(indent, keys, open);
                self.parts(indent + 1, *is_list, parts);
                self.same(Line {
                    indent,
                    pieces: vec![Piece::plain(close)],
                    goes_on: false,
                });
            }
        }
    }

    fn bracket(&mut self, indent: usize, keys: Keys<'_>, open: &str) {
        let line = |mut pieces: Vec<Piece>| {
            pieces.push(Piece::plain(open));
            Line {
                indent,
                pieces,
                goes_on: false,
            }
        };
        if keys.is_renamed() {
            self.count(false);
            self.changed(Some(line(keys.was())), Some(line(keys.now())), false);
        } else {
            self.same(line(keys.was()));
        }
    }

    fn went(
        &mut self,
        indent: usize,
        keys: Keys<'_>,
        was: Option<&Tree<'_>>,
        now: Option<&Tree<'_>>,
        note: Option<&str>,
    ) {
        self.count(self.known.varies(&self.place));
        self.whole(indent, keys, was, now, note);
    }

    /// A value as a whole: on one side, or on both, one after the other.
    fn whole(
        &mut self,
        indent: usize,
        keys: Keys<'_>,
        was: Option<&Tree<'_>>,
        now: Option<&Tree<'_>>,
        note: Option<&str>,
    ) {
        let calm = self.known.varies(&self.place);
        let mut side = |tree: Option<&Tree<'_>>, lead: &[Piece]| {
            let mut lines = Vec::new();
            if let Some(tree) = tree {
                self.diff.is_cut |= written(tree, indent, lead, WHOLE, &mut lines);
            }
            lines.into_iter()
        };
        let mut before = side(was, &keys.was());
        let mut after = side(now, &keys.now());
        let mut is_first = true;
        loop {
            let (was, now) = (before.next(), after.next());
            if was.is_none() && now.is_none() {
                break;
            }
            self.diff.is_cut |= was.iter().chain(&now).any(Line::is_cut);
            self.push(Row::Changed {
                was,
                now,
                calm,
                note: note.filter(|_| is_first).map(ToOwned::to_owned),
            });
            is_first = false;
        }
    }

    fn replaced(&mut self, indent: usize, keys: Keys<'_>, was: &Tree<'_>, now: &Tree<'_>) {
        if let (Value::String(before), Value::String(after)) = (was.value, now.value) {
            return self.string(indent, keys, before, after);
        }
        if was.is_open() || now.is_open() {
            self.count(self.known.varies(&self.place));
            return self.whole(indent, keys, Some(was), Some(now), None);
        }
        let calm = self.known.varies(&self.place);
        self.count(calm);
        let values = words::value_pieces(&in_one_line(was.value), &in_one_line(now.value));
        self.one_line(indent, keys, values, calm);
    }

    fn one_line(&mut self, indent: usize, keys: Keys<'_>, values: [Vec<Piece>; 2], calm: bool) {
        let [was, now] = values;
        let line = |mut lead: Vec<Piece>, pieces| {
            lead.extend(pieces);
            Line {
                indent,
                pieces: lead,
                goes_on: false,
            }
        };
        self.changed(
            Some(line(keys.was(), was)),
            Some(line(keys.now(), now)),
            calm,
        );
    }

    fn string(&mut self, indent: usize, keys: Keys<'_>, was: &str, now: &str) {
        if let Some((was, now)) = container(was).zip(container(now)) {
            let (was, now) = (Tree::new(&was), Tree::new(&now));
            let mut pieces = keys.was();
            pieces.push(Piece {
                text: "a text that holds JSON:".to_owned(),
                kind: PieceKind::Remark,
            });
            self.same(Line {
                indent,
                pieces,
                goes_on: false,
            });
            self.place.push("json".to_owned());
            self.change(indent + 1, Keys::NONE, &change(&was, &now));
            self.place.pop();
            return;
        }
        if was.contains('\n') || now.contains('\n') {
            let leads = [keys.was(), keys.now()].map(|lead| {
                let lead: String = lead.into_iter().map(|it| it.text).collect();
                (indent, format!("{lead}\""), "\"".to_owned())
            });
            return self.lines(&words::lines(was, now), &escaped, leads);
        }
        let values = words::value_pieces(&quoted(was), &quoted(now));
        let calm = self.varies(&values[0]);
        self.count(calm);
        self.one_line(indent, keys, values, calm);
    }

    /// Whether a text at this place varies, or its words that changed do.
    fn varies(&self, was: &[Piece]) -> bool {
        let words = was.iter().filter(|it| it.kind == PieceKind::Marked);
        self.known.varies(&self.place) || self.known.vary(words.map(|it| it.text.as_str()))
    }

    /// The lines of two texts. `around` is what stands before the first line and after the last one, and how far they are indented.
    fn lines(
        &mut self,
        lines: &[Lines<'_>],
        shown: &dyn Fn(&str) -> String,
        around: [(usize, String, String); 2],
    ) {
        let [was_around, now_around] = around;
        let last = |is_side: fn(&Lines<'_>) -> bool| lines.iter().rposition(is_side);
        let last_was = last(|it| !matches!(it, Lines::New(_)));
        let last_now = last(|it| !matches!(it, Lines::Gone(_)));
        let first = |is_side: fn(&Lines<'_>) -> bool| lines.iter().position(is_side);
        let first_was = first(|it| !matches!(it, Lines::New(_)));
        let first_now = first(|it| !matches!(it, Lines::Gone(_)));
        let line = |at: usize,
                    (indent, before, after): &(usize, String, String),
                    pieces: Vec<Piece>,
                    (first, last): (Option<usize>, Option<usize>)| {
            let mut all = Vec::with_capacity(pieces.len() + 2);
            let is_first = first == Some(at);
            if is_first && !before.is_empty() {
                all.push(Piece::plain(before));
            }
            all.extend(pieces);
            let is_last = last == Some(at);
            if is_last && !after.is_empty() {
                all.push(Piece::plain(after));
            }
            Line {
                indent: if is_first || before.is_empty() {
                    *indent
                } else {
                    indent + 1
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
                    self.run(at == 0, at + run == lines.len(), run, rows);
                    at += run;
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
        is_first: bool,
        is_last: bool,
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
        let indent = 0;
        let fits = folded <= IN_FOLD && folded <= self.in_folds;
        let mut inside = Vec::new();
        if fits {
            self.in_folds -= folded;
            inside.extend(lines.by_ref().take(folded));
        } else {
            lines.by_ref().take(folded).for_each(drop);
        }
        self.fold(indent, format!("{} equal lines", grouped(folded)), inside);
        lines.for_each(|it| self.same(it));
    }

    fn fold(&mut self, indent: usize, words: String, lines: Vec<Line>) {
        self.diff.is_cut |= lines.is_empty();
        self.push(Row::Fold {
            indent,
            words,
            lines,
        });
    }

    /// The members of an object, or the elements of a list.
    fn parts(&mut self, indent: usize, is_list: bool, parts: &[Part<'_, '_>]) {
        let is_same = |it: &Part<'_, '_>| same(it).is_some();
        let mut at = 0;
        while at < parts.len() {
            if is_same(&parts[at]) {
                let run = parts[at..].iter().take_while(|it| is_same(it)).count();
                let ends = (at == 0, at + run == parts.len());
                self.same_parts(indent, is_list, &parts[at..at + run], ends);
                at += run;
                continue;
            }
            let part = &parts[at];
            self.place.push(match (part.was, part.now) {
                (Some(Step::Key(key)), _) | (None, Some(Step::Key(key))) => key.to_owned(),
                (Some(Step::Index(at)), _) | (None, Some(Step::Index(at))) => at.to_string(),
                (None, None) => String::new(),
            });
            self.change(indent, keys(part), &part.change);
            self.place.pop();
            at += 1;
        }
    }

    /// Equal members or elements between two changes: those next to a change are shown, and what tells which object it is.
    fn same_parts(
        &mut self,
        indent: usize,
        is_list: bool,
        parts: &[Part<'_, '_>],
        (begins, ends): (bool, bool),
    ) {
        let sizes: Vec<usize> = (parts.iter().filter_map(same)).map(|it| it.lines).collect();
        let near = |sizes: &mut dyn Iterator<Item = &usize>| {
            let mut lines = 0;
            let fitting = sizes.take_while(|it| {
                lines += **it;
                lines <= CONTEXT
            });
            fitting.count()
        };
        let mut shown = vec![false; parts.len()];
        let before = if begins { 0 } else { near(&mut sizes.iter()) };
        let after = if ends {
            0
        } else {
            near(&mut sizes.iter().rev())
        };
        for (at, is_shown) in shown.iter_mut().enumerate() {
            let is_identity = match parts[at].was {
                Some(Step::Key(key)) => sizes[at] == 1 && identity_rank(key).is_some(),
                _ => false,
            };
            *is_shown = at < before || at >= parts.len() - after || is_identity;
        }
        let mut at = 0;
        while at < parts.len() {
            let run = shown[at..].iter().take_while(|it| **it == shown[at]);
            let run = run.count();
            let these = &parts[at..at + run];
            let lines: usize = sizes[at..at + run].iter().sum();
            if shown[at] || lines < FOLDED {
                for part in these {
                    self.change(indent, keys(part), &part.change);
                }
            } else {
                self.fold_parts(indent, is_list, these, lines);
            }
            at += run;
        }
    }

    fn fold_parts(&mut self, indent: usize, is_list: bool, parts: &[Part<'_, '_>], lines: usize) {
        let mut inside = Vec::new();
        if lines <= IN_FOLD && lines <= self.in_folds {
            self.in_folds -= lines;
            for part in parts {
                if let Some(tree) = same(part) {
                    written(tree, indent, &keys(part).was(), IN_FOLD, &mut inside);
                }
            }
        }
        let count = grouped(parts.len());
        let words = match (is_list, parts) {
            (true, [_]) => "1 equal item".to_owned(),
            (true, _) => format!("{count} equal items"),
            (false, [_]) => "1 equal member".to_owned(),
            (false, _) => format!("{count} equal members"),
        };
        let names = parts.iter().filter_map(|it| match it.was? {
            Step::Key(key) => Some(crate::text::shorten(key, 24)),
            Step::Index(_) => None,
        });
        let names: Vec<_> = names.take(4).collect();
        let words = match (names.is_empty(), parts.len() > names.len()) {
            (true, _) => words,
            (false, true) => format!("{words}: {}, …", names.join(", ")),
            (false, false) => format!("{words}: {}", names.join(", ")),
        };
        self.fold(indent, words, inside);
    }
}

/// The value of a part that is the same on both sides, under the same name.
fn same<'t, 'a>(part: &Part<'t, 'a>) -> Option<&'t Tree<'a>> {
    match part.change {
        Change::Same(tree) if !keys(part).is_renamed() => Some(tree),
        _ => None,
    }
}

fn keys<'a>(part: &Part<'_, 'a>) -> Keys<'a> {
    let key = |step| match step {
        Some(Step::Key(key)) => Some(key),
        _ => None,
    };
    Keys {
        was: key(part.was),
        now: key(part.now),
    }
}
