//! A trajectory as people read it: where a value is known to vary, what it is stands in its place.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::binding::{full_paths, read_answer, replaced, text_of};
use crate::response::finding::Tree;
use crate::text::counted::Counted;
use crate::text::generated::is_generated;
use crate::text::times::is_time;
use crate::text::token::{LONG, tokens};
use crate::values::path::escape;
use crate::values::same::DEPTH;
use model::{Answer, Binding, Learned, Outcome, Step, TokenKind, Trajectory, Variation, Varying};

/// What stands in the place of values of which only their kind matters.
const TIME: &str = "<time>";
const ID: &str = "<id>";
const NUMBER: &str = "<number>";
const DURATION: &str = "<duration>";

/// The trajectory with `<id>`, `<time>`, `<number>` or `<duration>` in the places of values that are known to vary: in answers, and in
/// arguments that take such a value from an earlier answer. What varies otherwise, such as lists and words, stays as it was recorded.
pub fn by_kind(trajectory: &Trajectory) -> Cow<'_, Trajectory> {
    if trajectory.learned.is_empty() {
        return Cow::Borrowed(trajectory);
    }
    let mut shown = trajectory.clone();
    let learned: HashMap<usize, &Learned> =
        trajectory.learned.iter().map(|it| (it.call, it)).collect();
    let mut named: HashMap<usize, Named> = HashMap::new();
    let mut number = 0;
    for step in &mut shown.steps {
        let Step::ToolCall(call) = step else { continue };
        if call.server.is_none() {
            continue;
        }
        number += 1;
        for binding in trajectory.bindings.iter().filter(|it| it.call == number) {
            let of = named.get(&binding.from.call);
            if let Some(kind) = of.and_then(|it| it.kind(binding)) {
                replace_bound(&mut call.arguments, binding, kind);
            }
        }
        if let (Some(learned), Outcome::Answer(answer)) = (learned.get(&number), &mut call.outcome)
        {
            let handed_on = trajectory
                .bindings
                .iter()
                .filter(|it| it.from.call == number);
            let mut found = Named::new(answer, handed_on);
            let mut varies = learned.varies.clone();
            for repeat in &learned.repeats {
                let made = named.get(&repeat.call).into_iter();
                let made = made.flat_map(|it| &it.kinds);
                found
                    .made
                    .extend(made.map(|(at, kind)| (at.1.clone(), *kind)));
                varies.push(Varying::new(repeat.path.clone(), Variation::SameType));
            }
            named.insert(number, found.replaced(&varies, answer));
        }
    }
    Cow::Owned(shown)
}

/// The values of an answer that were replaced.
struct Named {
    /// As it was recorded, with the JSON that its texts hold.
    read: Answer,
    /// Where later calls take a value from it: a number there is an id.
    handed_on: HashSet<String>,
    /// What values are that this answer repeats from earlier ones.
    made: HashMap<String, &'static str>,
    /// By the place and the value as text.
    kinds: HashMap<(String, String), &'static str>,
}

impl Named {
    fn new<'b>(answer: &Answer, handed_on: impl Iterator<Item = &'b Binding>) -> Self {
        let read = read_answer(answer);
        let handed_on = handed_on.flat_map(|it| full_paths(&read, &it.from.path));
        Self {
            handed_on: handed_on.collect(),
            read,
            made: HashMap::new(),
            kinds: HashMap::new(),
        }
    }

    /// What a bound value is; `None` where it is not known to vary.
    fn kind(&self, binding: &Binding) -> Option<&'static str> {
        let value = text_of(&binding.value)?;
        let places = full_paths(&self.read, &binding.from.path);
        let mut kinds = places.into_iter().filter_map(|it| {
            let place = (it, value.clone());
            self.kinds.get(&place).copied()
        });
        kinds.next()
    }

    fn replaced(mut self, varies: &[Varying], answer: &mut Answer) -> Self {
        let tree = Tree::new(varies);
        let root = vec![&tree];
        let structured = Tree::under(&root, "structuredContent");
        if let Some(value) = &mut answer.structured_content {
            let text = value.to_string();
            let shown = self.in_json(&text, &structured, "/structuredContent");
            let shown = shown.and_then(|it| serde_json::from_str(&it).ok());
            *value = shown.unwrap_or_else(|| value.take());
        }
        let content = Tree::under(&root, "content");
        for (index, block) in answer.content.iter_mut().enumerate() {
            let at = Tree::under(&content, &index.to_string());
            let Some(Value::String(text)) = block.get_mut("text") else {
                continue;
            };
            let place = format!("/content/{index}");
            let json = Tree::under(&at, "json");
            let plain = Tree::varying(&Tree::under(&at, "text"));
            let shown = match plain {
                Some(varying) => self.in_text(text, varying, &format!("{place}/text")),
                None => self.in_json(text, &json, &format!("{place}/json")),
            };
            if let Some(shown) = shown {
                *text = shown;
            }
        }
        self
    }

    /// A JSON text with what its values are in their places, as it is laid out; `None` where it is none, or nothing in it varies.
    fn in_json(&mut self, text: &str, at: &[&Tree<'_>], place: &str) -> Option<String> {
        if at.is_empty() {
            return None;
        }
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        let mut edits = BTreeMap::new();
        let mut walk = Walk {
            text,
            named: self,
            edits: &mut edits,
        };
        walk.value(raw, at, place, DEPTH);
        let mut shown = text.to_owned();
        for (start, (end, by)) in edits.into_iter().rev() {
            shown.replace_range(start..end, &by);
        }
        Some(shown)
    }

    /// A text with what its varying tokens are in their places, or that as a whole; `None` where nothing is said of it.
    fn in_text(&mut self, text: &str, varying: &Varying, place: &str) -> Option<String> {
        if varying.by == Variation::SameType {
            let kind = self.kind_of_text(text, varying)?;
            self.note(place, text, kind);
            return Some(kind.to_owned());
        }
        if varying.by != Variation::Tokens || text.len() > LONG {
            return None;
        }
        let counted = Counted::new(tokens(text));
        let mut edits: BTreeMap<usize, (usize, &'static str)> = BTreeMap::new();
        for part in &varying.parts {
            let Some(kind) = part.only().and_then(word) else {
                continue;
            };
            let Some(span) = counted.span(part).and_then(|it| within(text, &counted, it)) else {
                continue;
            };
            self.note(place, &text[span.clone()], kind);
            edits.insert(span.start, (span.end, kind));
        }
        let mut shown = text.to_owned();
        for (start, (end, kind)) in edits.into_iter().rev() {
            shown.replace_range(start..end, kind);
        }
        Some(shown)
    }

    fn note(&mut self, place: &str, value: &str, kind: &'static str) {
        self.kinds
            .insert((place.to_owned(), value.to_owned()), kind);
    }

    /// What a text is that may be any other.
    fn kind_of_text(&self, text: &str, varying: &Varying) -> Option<&'static str> {
        if let Some(made) = self.made.get(text) {
            Some(made)
        } else if is_time(text) || !varying.offsets.is_empty() {
            Some(TIME)
        } else {
            is_generated(&text.into()).then_some(ID)
        }
    }

    /// What a number is that may be any other.
    fn kind_of_number(&self, number: &str, varying: &Varying, place: &str) -> Option<&'static str> {
        let is_known = matches!(varying.by, Variation::SameType | Variation::AtLeast);
        let kind = if let Some(made) = self.made.get(number) {
            made
        } else if self.handed_on.contains(place) {
            ID
        } else if varying.offsets.is_empty() {
            NUMBER
        } else {
            TIME
        };
        is_known.then_some(kind)
    }
}

/// The places of one JSON text.
struct Walk<'w, 't> {
    text: &'t str,
    named: &'w mut Named,
    /// By the byte where each begins: where it ends, and what comes in its place.
    edits: &'w mut BTreeMap<usize, (usize, String)>,
}

impl Walk<'_, '_> {
    fn value(&mut self, raw: &RawValue, at: &[&Tree<'_>], place: &str, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| !at.is_empty()) else {
            return;
        };
        let said = raw.get();
        match said.as_bytes().first() {
            Some(b'{') => {
                let members: serde_json::Result<HashMap<Cow<'_, str>, &RawValue>> =
                    serde_json::from_str(said);
                for (name, member) in members.unwrap_or_default() {
                    let place = format!("{place}/{}", escape(&name));
                    self.value(member, &Tree::under(at, &name), &place, depth);
                }
            }
            Some(b'[') => {
                let items: serde_json::Result<Vec<&RawValue>> = serde_json::from_str(said);
                for (index, item) in items.unwrap_or_default().into_iter().enumerate() {
                    let index = index.to_string();
                    let place = format!("{place}/{index}");
                    self.value(item, &Tree::under(at, &index), &place, depth);
                }
            }
            Some(b'"') => {
                let text: serde_json::Result<String> = serde_json::from_str(said);
                if let (Ok(text), Some(varying)) = (text, Tree::varying(at))
                    && let Some(shown) = self.named.in_text(&text, varying, place)
                {
                    self.edit(raw, &shown);
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let varying = Tree::varying(at);
                let kind = varying.and_then(|it| self.named.kind_of_number(said, it, place));
                if let Some(kind) = kind {
                    self.named.note(place, said, kind);
                    self.edit(raw, kind);
                }
            }
            _ => {}
        }
    }

    fn edit(&mut self, raw: &RawValue, shown: &str) {
        let start = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
        let by = Value::from(shown).to_string();
        self.edits.insert(start, (start + raw.get().len(), by));
    }
}

/// The bytes of some tokens in their text.
fn within(text: &str, counted: &Counted<'_>, span: Range<usize>) -> Option<Range<usize>> {
    let tokens = counted.tokens.get(span)?;
    let (first, last) = (tokens.first()?.text, tokens.last()?.text);
    let at = |it: &str| it.as_ptr().addr() - text.as_ptr().addr();
    Some(at(first)..at(last) + last.len())
}

/// What stands in the place of a token; `None` where words and signs say more.
fn word(kind: TokenKind) -> Option<&'static str> {
    match kind {
        TokenKind::Time | TokenKind::Ago => Some(TIME),
        TokenKind::Id => Some(ID),
        TokenKind::Number => Some(NUMBER),
        TokenKind::Duration => Some(DURATION),
        TokenKind::Word | TokenKind::Sign => None,
    }
}

/// Puts what a bound value is in its place.
fn replace_bound(arguments: &mut model::Object, binding: &Binding, kind: &'static str) {
    let mut whole = Value::Object(std::mem::take(arguments));
    let value = text_of(&binding.value).unwrap_or_default();
    match whole.pointer_mut(&binding.path) {
        Some(Value::String(text)) => {
            if let Some(shown) = replaced(text, &value, kind) {
                *text = shown;
            }
        }
        Some(place @ Value::Number(_)) if text_of(place).as_ref() == Some(&value) => {
            *place = kind.into();
        }
        _ => {}
    }
    if let Value::Object(shown) = whole {
        *arguments = shown;
    }
}
