//! Errors that a server reports in an answer which it says is fine: gateways answer `{"error": …}` with `isError: false`.

use std::borrow::Cow;
use std::fmt;

use regex::Regex;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::excerpt;
use crate::values::embedded::embedded;
use crate::values::path::{Pattern, Place, Step};
use crate::values::same::DEPTH;
use model::rules::{ErrorSign, ErrorSigns, Rules};
use model::{Answer, Outcome};

/// The members of an object that may say that it is an error.
const ERROR_MEMBERS: [&str; 5] = ["error", "errors", "success", "ok", "status"];

/// The members that may say what went wrong, where the one that says that it is an error does not.
const MESSAGES: [&str; 5] = ["message", "error_message", "detail", "reason", "code"];

/// How texts begin that are errors, before a colon or the end of their line.
const OPENINGS: [&str; 4] = [
    "Error",
    "Traceback (most recent call last)",
    "Traceback",
    "Exception",
];

/// Of a description of an error longer than this only the text is looked at.
const LONG: usize = 1 << 14;

/// What an answer says went wrong although the server says that it is fine; `None` for a good answer, and for a
/// failed call, whose error is known already.
pub fn in_band_error(outcome: &Outcome, rules: &Rules) -> Option<String> {
    Signs::new(&rules.errors).error(outcome)
}

/// The signs by which such errors are recognised, compiled once for many answers.
pub(crate) struct Signs {
    look: bool,
    paths: Vec<Pattern>,
    texts: Vec<Regex>,
}

impl Signs {
    /// Signs that cannot be read are left out; validating the scenario reports them.
    pub(crate) fn new(signs: &ErrorSigns) -> Self {
        let (mut paths, mut texts) = (Vec::new(), Vec::new());
        for sign in &signs.more {
            match sign {
                ErrorSign::Path(path) => paths.extend(Pattern::parse(path)),
                ErrorSign::Text(pattern) => texts.extend(Regex::new(pattern)),
            }
        }
        Self {
            look: signs.look,
            paths,
            texts,
        }
    }

    /// See [`in_band_error`].
    pub(crate) fn error(&self, outcome: &Outcome) -> Option<String> {
        let Outcome::Answer(answer) = outcome else {
            return None;
        };
        if !self.look || outcome.is_failure() {
            return None;
        }
        let structured = answer.structured_content.as_ref();
        structured
            .and_then(Members::of_value)
            .and_then(|it| it.error())
            .or_else(|| texts(answer).find_map(|it| Members::of_text(it)?.error()))
            .or_else(|| texts(answer).find_map(opening))
            .or_else(|| self.at_a_path(answer))
            .or_else(|| self.in_a_text(answer))
    }

    /// What stands at one of the paths.
    fn at_a_path(&self, answer: &Answer) -> Option<String> {
        if self.paths.is_empty() {
            return None;
        }
        let mut place = Place::default();
        if let Some(structured) = &answer.structured_content {
            place.enter(Step::Key("structuredContent"));
            let found = self.in_document(structured, &mut place);
            place.leave();
            if found.is_some() {
                return found;
            }
        }
        let mut blocks = answer.content.iter().enumerate();
        blocks.find_map(|(index, block)| {
            let text = block.get("text").and_then(Value::as_str)?;
            let document = embedded(text)?;
            let mut place = Place::default();
            for step in [Step::Key("content"), Step::Index(index), Step::Json] {
                place.enter(step);
            }
            self.in_document(&document, &mut place)
        })
    }

    fn in_document<'a>(&self, document: &'a Value, place: &mut Place<'a>) -> Option<String> {
        let outer = place.begin_document();
        let found = self.in_value(document, place, DEPTH);
        place.end_document(outer);
        found
    }

    fn in_value<'a>(
        &self,
        value: &'a Value,
        place: &mut Place<'a>,
        depth: usize,
    ) -> Option<String> {
        if self.paths.iter().any(|it| it.matches(place)) {
            return says_something(value).then(|| said(value));
        }
        let depth = depth.checked_sub(1)?;
        let mut look = |step, inner| {
            place.enter(step);
            let found = self.in_value(inner, place, depth);
            place.leave();
            found
        };
        match value {
            Value::Object(members) => {
                (members.iter()).find_map(|(key, inner)| look(Step::Key(key), inner))
            }
            Value::Array(elements) => (elements.iter().enumerate())
                .find_map(|(index, inner)| look(Step::Index(index), inner)),
            _ => None,
        }
    }

    /// The line that one of the expressions is found in.
    fn in_a_text(&self, answer: &Answer) -> Option<String> {
        texts(answer).find_map(|text| {
            let found = self.texts.iter().find_map(|it| it.find(text))?;
            let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
            Some(line_of(&text[start..]))
        })
    }
}

fn texts(answer: &Answer) -> impl Iterator<Item = &str> {
    let texts = answer.content.iter();
    texts.filter_map(|block| block.get("text").and_then(Value::as_str))
}

/// What a text that begins as errors do says.
fn opening(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    let first = lines.next()?;
    let (opening, rest) = OPENINGS.iter().find_map(|opening| {
        let rest = first.strip_prefix(opening)?;
        (rest.is_empty() || rest.starts_with(':')).then_some((opening, rest))
    })?;
    let said = match lines.next() {
        // The message of a traceback is its last line.
        Some(second) if opening.starts_with("Traceback") => {
            lines.next_back().unwrap_or(second).to_owned()
        }
        Some(second) if rest.len() <= 1 => format!("{first} {second}"),
        _ => first.to_owned(),
    };
    Some(line_of(&said))
}

fn line_of(text: &str) -> String {
    excerpt::shorten(text.lines().next().unwrap_or_default().trim())
}

/// Anything but null, false, zero and nothing.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_f64() != Some(0.0),
        Value::String(it) => !it.trim().is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
    }
}

/// A value that describes an error, in words: its message where it has one.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => line_of(text.trim_start()),
        Value::Array(elements) if elements.len() == 1 => said_once(&elements[0]),
        value => said_once(value),
    }
}

fn said_once(value: &Value) -> String {
    let message = MESSAGES.iter().find_map(|name| value.get(name)?.as_str());
    match message.or(value.as_str()) {
        Some(text) => line_of(text.trim_start()),
        None => excerpt::of(value),
    }
}

/// Those members of an object that matter here, whatever its size.
#[derive(Default)]
struct Members<'a>(Vec<(Cow<'a, str>, Cow<'a, Value>)>);

impl<'a> Members<'a> {
    fn of_value(value: &'a Value) -> Option<Self> {
        let object = value.as_object()?;
        let wanted = ERROR_MEMBERS.into_iter().chain(MESSAGES);
        let members =
            wanted.filter_map(|name| Some((Cow::Borrowed(name), Cow::Borrowed(object.get(name)?))));
        Some(Self(members.collect()))
    }

    /// Parses only the members that are needed, because an answer may be large and nearly all are good.
    fn of_text(text: &'a str) -> Option<Self> {
        if !text.trim_start().starts_with('{') {
            return None;
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = reader.deserialize_map(Reading).ok()?;
        reader.end().ok()?;
        Some(members)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        // Of two members of one name, readers of JSON take the last.
        let mut members = self.0.iter().rev();
        members
            .find(|(it, _)| it == name)
            .map(|(_, value)| &**value)
    }

    fn error(&self) -> Option<String> {
        let message = MESSAGES
            .iter()
            .find_map(|name| self.get(name)?.as_str())
            .map(line_of);
        for name in ["error", "errors"] {
            match self.get(name) {
                Some(Value::Bool(true)) => {
                    return message.or_else(|| Some(format!("`{name}` is true")));
                }
                Some(value @ (Value::String(_) | Value::Array(_) | Value::Object(_)))
                    if says_something(value) =>
                {
                    return Some(said(value));
                }
                _ => {}
            }
        }
        for name in ["success", "ok"] {
            if self.get(name) == Some(&Value::Bool(false)) {
                return message.or_else(|| Some(format!("`{name}` is false")));
            }
        }
        let is_error = self.get("status").and_then(Value::as_str) == Some("error");
        is_error.then(|| message.unwrap_or_else(|| "`status` is \"error\"".to_owned()))
    }
}

/// Reads an object, keeping only the members that may say that it is an error, or what went wrong.
struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if ERROR_MEMBERS.contains(&&*name) || MESSAGES.contains(&&*name) {
                let raw: &RawValue = map.next_value()?;
                members.0.push((name, Cow::Owned(short(raw.get()))));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(members)
    }
}

/// A value read from its text; of a long list or object, or one too deep to be read, the text's beginning.
fn short(raw: &str) -> Value {
    let is_small = raw.len() <= LONG || raw.starts_with('"');
    let read = is_small.then(|| serde_json::from_str(raw).ok()).flatten();
    read.unwrap_or_else(|| Value::String(raw.chars().take(LONG).collect()))
}
