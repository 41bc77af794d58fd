//! The answers to two calls, or to one alone, as a page shows them.

use std::cell::{Cell, RefCell};

use askama::Template;
use askama::filters::Safe;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::diff::{self, Diff, Known};
use crate::duration;
use model::text::aligned::aligned;
use model::{CallStatus, Header, Object, Outcome, ToolCall};

use super::content::{self, Content, Part};
use super::excerpt::DiffTemplate;
use super::render::embedded;
use super::sides::Sides;

/// One call on one side.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) outcome: &'static str,
    pub(super) failed: bool,
    pub(super) duration: Option<String>,
    /// What has nothing beside it.
    pub(super) parts: Vec<PartView>,
    /// In place of the answer, where that is not at hand.
    pub(super) remark: Option<String>,
}

impl Side {
    /// How a call ended that is at hand, without its answer.
    pub(super) fn made(call: &ToolCall) -> Self {
        let status = CallStatus::from(&call.outcome);
        Self {
            outcome: status.words(),
            failed: status.is_failure(),
            duration: call.duration_ms.map(duration::words),
            ..Self::default()
        }
    }

    /// How a call ended by what the document tells of it, where the trajectory is not at hand.
    pub(super) fn from_document(
        status: Option<CallStatus>,
        duration_ms: Option<f64>,
        error: Option<&str>,
    ) -> Self {
        let error = error.map_or_else(String::new, |it| format!("{it} – "));
        Self {
            outcome: status.map_or("unknown outcome", CallStatus::words),
            failed: status.is_some_and(CallStatus::is_failure),
            duration: duration_ms.map(duration::words),
            remark: Some(format!("{error}the whole answer is not at hand")),
            ..Self::default()
        }
    }

    /// How it ended, and how long that took: `answered in 1.4 ms`.
    pub(super) fn ended(&self) -> String {
        match &self.duration {
            Some(duration) => format!("{} in {duration}", self.outcome),
            None => self.outcome.to_owned(),
        }
    }

    pub(super) fn html<'a>(
        &'a self,
        title: &'a str,
        is_open: bool,
        sides: &'a Sides,
    ) -> Safe<SideTemplate<'a>> {
        embedded(SideTemplate {
            side: self,
            title,
            is_open,
            sides,
        })
    }
}

/// A [`Side`] within a page.
#[derive(Template)]
#[template(path = "scenario/side.html")]
pub(super) struct SideTemplate<'a> {
    side: &'a Side,
    title: &'a str,
    /// What changed in it is shown at once.
    is_open: bool,
    sides: &'a Sides,
}

/// One part of the answers, laid beside the other side's.
#[derive(Debug)]
pub(super) struct PartView {
    pub(super) label: String,
    /// How long it is, in words.
    pub(super) length: String,
    /// `same`, `changed`, `varying`, `missing`, `extra`, or `alone` where there is nothing beside it.
    pub(super) class: &'static str,
    /// What became of it: `2 places differ`; empty where nothing did.
    pub(super) words: String,
    /// Both sides have it to the letter.
    pub(super) is_equal: bool,
    pub(super) body: Body,
    /// Where the whole is, where not all of it is shown.
    pub(super) files: Vec<WholeFile>,
}

/// A [`PartView`] within a page.
#[derive(Template)]
#[template(path = "scenario/part.html")]
pub(super) struct PartTemplate<'a> {
    part: &'a PartView,
    /// It is shown at once.
    is_open: bool,
    sides: &'a Sides,
}

impl PartView {
    pub(super) fn html<'a>(&'a self, is_open: bool, sides: &'a Sides) -> Safe<PartTemplate<'a>> {
        embedded(PartTemplate {
            part: self,
            is_open,
            sides,
        })
    }
}

/// What is shown of a part.
#[derive(Debug)]
pub(super) enum Body {
    Lines(Diff),
    Pictures {
        was: Option<Picture>,
        now: Option<Picture>,
    },
}

/// A picture, or a word on why it is not shown.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) title: &'static str,
    /// A `data:` address of a type that can hold no program; `None` where it is too large.
    pub(super) address: Option<String>,
    pub(super) words: String,
}

/// The whole of an answer that a page does not show all of.
#[derive(Debug)]
pub struct PageFile {
    /// Relative to the page.
    pub path: String,
    pub content: Vec<u8>,
}

/// Leads to the whole of an answer in a file beside the page.
#[derive(Debug)]
pub(super) struct WholeFile {
    /// Whose answer it is: `Baseline`.
    pub(super) title: &'static str,
    /// Relative to the page, as a link.
    pub(super) path: String,
}

/// Whose room on a page a part takes up that has nothing beside it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Room {
    /// That of what changed, came or went.
    Changed,
    /// That of what is the same, or was compared with nothing.
    Equal,
}

/// Lays the answers of the calls of one page side by side.
#[derive(Debug)]
pub(super) struct Answers<'p> {
    /// The folder of the files of this page.
    folder: &'p str,
    pub(super) titles: [&'static str; 2],
    /// How many bytes of pictures the page may still hold.
    pictures: Cell<usize>,
    /// How many bytes of answers that changed it may still hold, and of those that did not.
    changed: Cell<usize>,
    equal: Cell<usize>,
    /// The files beside the page; `None` where it has to stand alone.
    files: Option<RefCell<Vec<PageFile>>>,
}

/// The largest picture that is shown on a page, as base64.
const PICTURE: usize = 700_000;
/// How much all pictures of a page may take.
const PICTURES: usize = 5_000_000;
/// How much all answers of a page may take: what changed is not kept out by what did not.
const CHANGED: usize = 6_000_000;
const EQUAL: usize = 4_000_000;

impl<'p> Answers<'p> {
    /// Whether files can lie beside the page.
    pub(super) fn has_files(&self) -> bool {
        self.files.is_some()
    }

    pub(super) fn new(folder: &'p str, titles: [&'static str; 2], has_files: bool) -> Self {
        Self {
            folder,
            titles,
            pictures: Cell::new(PICTURES),
            changed: Cell::new(CHANGED),
            equal: Cell::new(EQUAL),
            files: has_files.then(RefCell::default),
        }
    }

    /// Whether the page has to stand alone.
    pub(super) fn is_alone(&self) -> bool {
        self.files.is_none()
    }

    /// The files with the whole of what the page does not show all of.
    pub(super) fn into_files(self) -> Vec<PageFile> {
        self.files.map_or_else(Vec::new, RefCell::into_inner)
    }

    /// The parts of two answers side by side. `name` tells the files of this call from those of others.
    pub(super) fn pair(
        &self,
        was: &Outcome,
        now: &Outcome,
        known: &Known,
        name: &str,
    ) -> Vec<PartView> {
        self.parts(&content::parts(was), &content::parts(now), known, name)
    }

    /// Parts of either side, laid beside each other.
    pub(super) fn parts(
        &self,
        was: &[Part<'_>],
        now: &[Part<'_>],
        known: &Known,
        name: &str,
    ) -> Vec<PartView> {
        let views = beside(was, now).into_iter().enumerate();
        let views = views.map(|(index, it)| {
            let name = format!("{name}.{}", index + 1);
            match it {
                Beside::Both(was, now) => self.both(was, now, known, &name),
                Beside::Was(part) => self.one_sided(part, 0, known, &name),
                Beside::Now(part) => self.one_sided(part, 1, known, &name),
            }
        });
        views.collect()
    }

    /// The parts of an answer that has nothing beside it; `side` is 0 for the left one.
    pub(super) fn alone(
        &self,
        outcome: &Outcome,
        side: usize,
        room: Room,
        name: &str,
    ) -> Vec<PartView> {
        let parts = content::parts(outcome);
        let views = parts.iter().enumerate().map(|(index, part)| {
            let name = format!("{name}.{}", index + 1);
            self.lone(part, side, room, &name)
        });
        views.collect()
    }

    /// A part that has nothing beside it.
    pub(super) fn lone(&self, part: &Part<'_>, side: usize, room: Room, name: &str) -> PartView {
        let room = match room {
            Room::Changed => &self.changed,
            Room::Equal => &self.equal,
        };
        let body = match &part.content {
            Content::Picture(..) => {
                let picture = self.picture(part, side);
                let (was, now) = if side == 0 {
                    (Some(picture), None)
                } else {
                    (None, Some(picture))
                };
                Body::Pictures { was, now }
            }
            _ => Body::Lines(fitted(plain(part), room)),
        };
        PartView {
            label: part.label.clone(),
            length: part.length(),
            class: "alone",
            words: String::new(),
            is_equal: false,
            files: self.files(&body, [None, Some((part, side))], name),
            body,
        }
    }

    /// A part that only one side has.
    fn one_sided(&self, part: &Part<'_>, side: usize, known: &Known, name: &str) -> PartView {
        let room = if known.all {
            Room::Equal
        } else {
            Room::Changed
        };
        let view = self.lone(part, side, room, name);
        let body = match view.body {
            Body::Lines(lines) if side == 0 => {
                Body::Lines(diff::unlike(lines, Diff::default(), known.all))
            }
            Body::Lines(lines) => Body::Lines(diff::unlike(Diff::default(), lines, known.all)),
            pictures @ Body::Pictures { .. } => pictures,
        };
        let (class, words) = match side {
            _ if known.all => ("varying", "only on one side, which is not compared"),
            0 => ("missing", "not in this run"),
            _ => ("extra", "only in this run"),
        };
        PartView {
            class,
            words: words.to_owned(),
            body,
            ..view
        }
    }

    fn both(&self, was: &Part<'_>, now: &Part<'_>, known: &Known, name: &str) -> PartView {
        let is_equal = was.label == now.label && was.content == now.content;
        if is_equal {
            return PartView {
                class: "same",
                words: "the same on both sides".to_owned(),
                is_equal: true,
                ..self.lone(now, 1, Room::Equal, name)
            };
        }
        let body = match (&was.content, &now.content) {
            (Content::Picture(..), Content::Picture(..)) => Body::Pictures {
                was: Some(self.picture(was, 0)),
                now: Some(self.picture(now, 1)),
            },
            (Content::Json(a, a_text), Content::Json(b, b_text)) => {
                let diff = diff::json(a, b, was.place.clone(), known);
                match (a_text, b_text) {
                    // What JSON does not tell apart: more digits than a number has, how it is laid out.
                    (Some(a), Some(b)) if diff.changes + diff.varying == 0 => {
                        Body::Lines(diff::text(a, b, was.place.clone(), known))
                    }
                    _ => Body::Lines(diff),
                }
            }
            (Content::Text(a), Content::Text(b)) => {
                Body::Lines(diff::text(a, b, was.place.clone(), known))
            }
            _ => Body::Lines(diff::unlike(plain(was), plain(now), known.all)),
        };
        let body = match body {
            Body::Lines(diff) => Body::Lines(fitted(diff, &self.changed)),
            pictures @ Body::Pictures { .. } => pictures,
        };
        let (class, words) = match &body {
            Body::Lines(diff) => match (diff.changes, diff.varying) {
                (0, 0) if was.label != now.label => {
                    let class = if known.all { "varying" } else { "changed" };
                    (
                        class,
                        "the same content, as another kind of part".to_owned(),
                    )
                }
                (0, 0) => ("same", "the same but for how it is written".to_owned()),
                (0, varying) => (
                    "varying",
                    format!("{}, as is known or not compared", diff.differ(varying)),
                ),
                _ if now.is_empty() => ("changed", "nothing is left of it".to_owned()),
                _ if was.is_empty() => ("changed", "there was nothing before".to_owned()),
                (changes, 0) => ("changed", diff.differ(changes)),
                (changes, varying) => (
                    "changed",
                    format!("{}, and {varying} more known to vary", diff.differ(changes)),
                ),
            },
            Body::Pictures { .. } if known.all => (
                "varying",
                "another picture, which is not compared".to_owned(),
            ),
            Body::Pictures { .. } => ("changed", "another picture".to_owned()),
        };
        let length = match (was.length(), now.length()) {
            (was, now) if was == now => now,
            (was, now) => format!("{was} → {now}"),
        };
        let label = if was.label == now.label {
            now.label.clone()
        } else {
            format!("{} → {}", was.label, now.label)
        };
        PartView {
            label,
            length,
            class,
            words,
            is_equal: false,
            files: self.files(&body, [Some((was, 0)), Some((now, 1))], name),
            body,
        }
    }

    fn picture(&self, part: &Part<'_>, side: usize) -> Picture {
        let address = match &part.content {
            Content::Picture(kind, data)
                if data.len() <= PICTURE && data.len() <= self.pictures.get() =>
            {
                self.pictures.set(self.pictures.get() - data.len());
                Some(format!("data:{kind};base64,{data}"))
            }
            _ => None,
        };
        Picture {
            title: self.titles[side],
            address,
            words: part.length(),
        }
    }

    /// Leads to the whole of what a page does not show all of.
    fn files(
        &self,
        body: &Body,
        parts: [Option<(&Part<'_>, usize)>; 2],
        name: &str,
    ) -> Vec<WholeFile> {
        let is_cut = match body {
            Body::Lines(diff) => diff.is_cut,
            Body::Pictures { was, now } => {
                let mut pictures = was.iter().chain(now);
                pictures.any(|it| it.address.is_none())
            }
        };
        let parts = parts.into_iter().flatten().filter(|_| is_cut);
        let file = |(part, side): (&Part<'_>, usize)| {
            let side_name = ["baseline", "current"][side];
            let path = format!("{}/{name}.{side_name}.{}", self.folder, file_ending(part)?);
            if let Some(files) = &self.files {
                files.borrow_mut().push(PageFile {
                    path: path.clone(),
                    content: whole(part)?,
                });
            }
            Some(WholeFile {
                title: self.titles[side],
                path,
            })
        };
        parts.filter_map(file).collect()
    }
}

/// The lines, as long as there is room on the page; else a line that says so.
fn fitted(diff: Diff, room: &Cell<usize>) -> Diff {
    match room.get().checked_sub(diff.weight()) {
        Some(left) => {
            room.set(left);
            diff
        }
        None => diff.left_out("not shown, because this page is long"),
    }
}

/// A part without anything beside it.
fn plain(part: &Part<'_>) -> Diff {
    match &part.content {
        Content::Text(text) => diff::plain_text(text),
        Content::Json(value, _) => diff::plain_json(value),
        Content::Picture(kind, _) => diff::plain_text(kind),
        Content::Binary(_, words) => diff::plain_text(words),
    }
}

/// The ending of a file with the whole of a part; `None` where that is nothing to look at.
fn file_ending(part: &Part<'_>) -> Option<&'static str> {
    match &part.content {
        Content::Text(_) => Some("txt"),
        Content::Json(..) => Some("json"),
        Content::Picture(kind, _) => {
            let ending = kind.strip_prefix("image/")?;
            let known = ["png", "jpeg", "gif", "webp"];
            known.into_iter().find(|it| *it == ending)
        }
        Content::Binary(..) => None,
    }
}

/// The whole of a part as a file holds it; `None` where it cannot be read.
fn whole(part: &Part<'_>) -> Option<Vec<u8>> {
    match &part.content {
        Content::Text(text) => Some(text.as_bytes().to_owned()),
        Content::Json(value, _) => Some(pretty(value).into_bytes()),
        Content::Picture(_, data) | Content::Binary(data, _) => STANDARD.decode(data).ok(),
    }
}

/// Parts that stand for each other.
enum Beside<'p, 'a> {
    Both(&'p Part<'a>, &'p Part<'a>),
    Was(&'p Part<'a>),
    Now(&'p Part<'a>),
}

/// The parts of two answers in order: first those that are equal find each other, then between them those of one kind.
fn beside<'p, 'a>(was: &'p [Part<'a>], now: &'p [Part<'a>]) -> Vec<Beside<'p, 'a>> {
    let key = |it: &'_ Part<'_>| -> (String, String) {
        let content = match &it.content {
            Content::Text(text) => text.to_string(),
            Content::Json(value, _) => value.to_string(),
            Content::Picture(_, data) | Content::Binary(data, _) => (*data).to_owned(),
        };
        (it.label.clone(), content)
    };
    let ends = (was.len(), now.len());
    let pairs = match ends {
        (1, 1) => vec![(0, 0)],
        _ => aligned(
            &was.iter().map(key).collect::<Vec<_>>(),
            &now.iter().map(key).collect::<Vec<_>>(),
        ),
    };
    let (mut left, mut right) = (0, 0);
    let mut all = Vec::new();
    for (a, b) in pairs.into_iter().chain([ends]) {
        between(&was[left..a], &now[right..b], &mut all);
        if let (Some(one), Some(other)) = (was.get(a), now.get(b)) {
            all.push(Beside::Both(one, other));
        }
        (left, right) = (a + 1, b + 1);
    }
    all
}

/// Parts between two that are equal on both sides.
fn between<'p, 'a>(was: &'p [Part<'a>], now: &'p [Part<'a>], all: &mut Vec<Beside<'p, 'a>>) {
    if let ([one], [other]) = (was, now) {
        all.push(Beside::Both(one, other));
        return;
    }
    let mut rest = now.iter();
    for one in was {
        let mut ahead = rest.clone();
        let skipped = ahead.by_ref().take_while(|it| it.label != one.label);
        let skipped = skipped.count();
        match rest.as_slice().get(skipped) {
            Some(other) => {
                all.extend(rest.by_ref().take(skipped).map(Beside::Now));
                rest.next();
                all.push(Beside::Both(one, other));
            }
            None => all.push(Beside::Was(one)),
        }
    }
    all.extend(rest.map(Beside::Now));
}

/// The arguments of a call.
pub(super) fn arguments(arguments: &Object) -> Part<'static> {
    Part::value("arguments", Value::Object(arguments.clone()))
}

/// Headers that came with a call, one in a line.
pub(super) fn headers(headers: &[Header]) -> Part<'static> {
    let lines = headers
        .iter()
        .map(|Header { name, value }| format!("{name}: {value}"));
    Part::text("passed-on headers", lines.collect::<Vec<_>>().join("\n"))
}

/// A value as indented JSON.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string())
}
