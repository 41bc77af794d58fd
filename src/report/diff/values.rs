//! Differences between two JSON values, member by member and element by element, and values that have none beside them.

use serde_json::Value;

use super::lines::{Diff, Line, Piece, PieceKind, Row, grouped, side_by_side};
use super::structure::{Change, Part, Step, change};
use super::texts::Around;
use super::tree::{Tree, identity_rank};
use super::value_lines::{container, escaped, in_one_line, named, quoted, written};
use super::words;
use super::writer::{CONTEXT, FOLDED, IN_FOLD, Known, REPLACED, Writer};

/// The most lines of a value that came or went as a whole.
const WHOLE: usize = 60;

/// What differs between two JSON values that stand at a place of an answer.
pub fn json(was: &Value, now: &Value, place: Vec<String>, known: &Known) -> Diff {
    let (was, now) = (Tree::new(was), Tree::new(now));
    let mut writer = Writer::new(place, known);
    writer.change(0, Keys::NONE, &change(&was, &now));
    writer.diff
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

impl Writer<'_> {
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
                self.same(Line::new(indent, vec![Piece::plain(close)]));
            }
        }
    }

    fn bracket(&mut self, indent: usize, keys: Keys<'_>, open: &str) {
        let line = |mut pieces: Vec<Piece>| {
            pieces.push(Piece::plain(open));
            Line::new(indent, pieces)
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
        let (before, after) = (side(was, &keys.was()), side(now, &keys.now()));
        for (at, (was, now)) in side_by_side(before, after).enumerate() {
            self.diff.is_cut |= was.iter().chain(&now).any(Line::is_cut);
            self.push(Row::Changed {
                was,
                now,
                calm,
                note: note.filter(|_| at == 0).map(ToOwned::to_owned),
            });
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
        // A small value is written in one line, whatever differs in it.
        let changes = self.diff.changes;
        self.count_places(was.value, now.value, calm);
        let calm = self.diff.changes == changes;
        let mut values = words::value_pieces(&in_one_line(was.value), &in_one_line(now.value));
        if !calm {
            let marked = values.iter_mut().flatten();
            let known = marked.filter(|it| self.known.has_word(&it.text));
            known.for_each(|it| it.kind = PieceKind::Plain);
        }
        self.one_line(indent, keys, values, calm);
    }

    /// Counts in how many places two values differ that are written in one line.
    fn count_places(&mut self, was: &Value, now: &Value, calm: bool) {
        let differing = |it: &Self| it.diff.changes + it.diff.varying;
        let before = differing(self);
        match (was, now) {
            (Value::Object(was), Value::Object(now)) => {
                for (key, it) in was {
                    match now.get(key) {
                        Some(now) if now == it => {}
                        Some(now) => self.count_places(it, now, calm),
                        None => self.count(calm),
                    }
                }
                for _ in now.keys().filter(|it| !was.contains_key(*it)) {
                    self.count(calm);
                }
            }
            (Value::Array(was), Value::Array(now)) if was.len() == now.len() => {
                for (was, now) in was.iter().zip(now).filter(|(was, now)| was != now) {
                    self.count_places(was, now, calm);
                }
            }
            (Value::String(was), Value::String(now)) => {
                self.count(calm || self.known.vary([was.as_str(), now]));
            }
            _ => {}
        }
        // What is asked about differs at least in itself.
        if differing(self) == before {
            self.count(calm);
        }
    }

    fn one_line(&mut self, indent: usize, keys: Keys<'_>, values: [Vec<Piece>; 2], calm: bool) {
        let [was, now] = values;
        let line = |mut lead: Vec<Piece>, pieces| {
            lead.extend(pieces);
            Line::new(indent, lead)
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
            self.same(Line::new(indent, pieces));
            self.place.push("json".to_owned());
            self.change(indent + 1, Keys::NONE, &change(&was, &now));
            self.place.pop();
            return;
        }
        if was.contains('\n') || now.contains('\n') {
            let leads = [keys.was(), keys.now()].map(|lead| {
                let lead: String = lead.into_iter().map(|it| it.text).collect();
                Around {
                    indent,
                    before: format!("{lead}\""),
                    after: "\"".to_owned(),
                }
            });
            return self.lines(&words::lines(was, now), &escaped, leads);
        }
        let values = words::value_pieces(&quoted(was), &quoted(now));
        let calm = self.varies(&values[0]) || self.known.vary([was, now]);
        self.count(calm);
        self.one_line(indent, keys, values, calm);
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
            if let Some(run) = replaced(&parts[at..]) {
                self.replaced_parts(indent, &parts[at..at + run]);
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

    /// Many members or elements that went, and many that came: both sides beside each other.
    fn replaced_parts(&mut self, indent: usize, parts: &[Part<'_, '_>]) {
        let (mut was, mut now) = (Vec::new(), Vec::new());
        let mut is_calm = true;
        for part in parts {
            let step = match part.was.or(part.now) {
                Some(Step::Key(key)) => key.to_owned(),
                Some(Step::Index(at)) => at.to_string(),
                None => String::new(),
            };
            self.place.push(step);
            is_calm &= self.known.varies(&self.place);
            self.place.pop();
            match part.change {
                Change::Gone(tree) => {
                    self.diff.is_cut |= written(tree, indent, &keys(part).was(), WHOLE, &mut was);
                }
                Change::New(tree) => {
                    self.diff.is_cut |= written(tree, indent, &keys(part).now(), WHOLE, &mut now);
                }
                _ => {}
            }
        }
        self.replaced_lines(was, now, parts.len(), is_calm);
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
        if self.takes_into_fold(lines) {
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
            Step::Key(key) => Some(model::text::shorten(key, 24)),
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

/// How many parts went or came here, where either is so many that the other side would not be seen after it.
fn replaced(parts: &[Part<'_, '_>]) -> Option<usize> {
    let (mut gone, mut new) = (0, 0);
    let run = parts.iter().take_while(|it| match &it.change {
        Change::Gone(tree) => {
            gone += tree.lines;
            true
        }
        Change::New(tree) => {
            new += tree.lines;
            true
        }
        _ => false,
    });
    let run = run.count();
    (gone > 0 && new > 0 && gone.max(new) > REPLACED).then_some(run)
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

/// The most lines of a value or a text that has nothing beside it.
const ALONE: usize = 300;
/// The most characters of a text that has nothing beside it.
const ALONE_CHARS: usize = 16_000;

/// Two things that cannot be compared: all of one went, and all of the other came.
pub fn unlike(was: Diff, now: Diff, calm: bool) -> Diff {
    let lines = |diff: Diff| {
        diff.rows.into_iter().filter_map(|it| match it {
            Row::Same(line) => Some(line),
            _ => None,
        })
    };
    let is_cut = was.is_cut || now.is_cut;
    let rows = side_by_side(lines(was), lines(now)).map(|(was, now)| Row::Changed {
        was,
        now,
        calm,
        note: None,
    });
    Diff {
        rows: rows.collect(),
        changes: usize::from(!calm),
        varying: usize::from(calm),
        is_cut,
        unseen: 0,
        is_text: false,
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
