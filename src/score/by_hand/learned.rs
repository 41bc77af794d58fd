//! Checks of what people wrote by hand of what a baseline has learned.

use std::collections::HashMap;

use serde_json::Value;

use crate::response::finding::Tree;
use crate::text::token::{LONG, tokens};
use crate::values::embedded::embedded;
use crate::values::path::escape;
use crate::values::same::DEPTH;
use model::{Answer, Learned, Outcome, Trajectory, Variation, Varying, VaryingToken};

/// The most steps that are named where one leads nowhere.
const NAMED: usize = 8;

/// The example for a take in which a place was missing. Such a place may be missing in the recorded answer, too.
pub(crate) const NOTHING: &str = "nothing";

/// Whether the texts of a trajectory have the tokens that are said to vary in them.
///
/// # Errors
///
/// What is wrong, and which tokens there are.
pub fn check_tokens(trajectory: &Trajectory) -> Result<(), String> {
    for (learned, answer) in of_answers(trajectory) {
        let places = Places::new(learned, answer);
        for it in &learned.varies {
            let Some(texts) = places.texts(it).filter(|_| it.by == Variation::Tokens) else {
                continue;
            };
            check(&it.parts, texts).map_err(|problem| {
                format!("`learned`, call {}, `{}`: {problem}", learned.call, it.path)
            })?;
        }
    }
    Ok(())
}

/// Places that are said to vary and that no recorded answer has, so that nothing can vary there; one sentence each. Places that
/// were missing in some take are left out, because the recorded take may be that one.
pub fn unknown_places(trajectory: &Trajectory) -> Vec<String> {
    let mut unknown = Vec::new();
    for (learned, answer) in of_answers(trajectory) {
        let places = Places::new(learned, answer);
        let comes_and_goes = |it: &Varying| it.heard.iter().any(|it| it == NOTHING);
        let lost = |it: &&Varying| places.texts(it).is_none() && !comes_and_goes(it);
        for it in learned.varies.iter().filter(lost) {
            let path = &it.path;
            unknown.push(format!(
                "`learned`, call {}: the recorded answer has no `{path}`, so nothing varies there; {}",
                learned.call,
                nearest(answer, path)
            ));
        }
    }
    unknown
}

/// What was learned of the calls that have an answer, with the answers.
fn of_answers(trajectory: &Trajectory) -> impl Iterator<Item = (&Learned, &Answer)> {
    let calls: Vec<_> = trajectory.calls().collect();
    let varying = trajectory.learned.iter().filter(|it| !it.varies.is_empty());
    varying.filter_map(move |it| {
        let call = calls.get(it.call.checked_sub(1)?)?;
        match &call.outcome {
            Outcome::Answer(answer) => Some((it, answer)),
            Outcome::Failure(_) => None,
        }
    })
}

/// The texts that an answer has at a place that is said to vary; `None` where it has no such place. In a place that holds something else,
/// there are none.
pub(crate) fn place_texts(of: &Varying, answer: &Answer) -> Option<Vec<String>> {
    let mut texts = places_texts(std::slice::from_ref(of), answer);
    texts.pop().flatten()
}

/// The same for each of several places.
pub(crate) fn places_texts(of: &[Varying], answer: &Answer) -> Vec<Option<Vec<String>>> {
    let learned = Learned {
        varies: of.to_vec(),
        ..Learned::default()
    };
    let places = Places::new(&learned, answer);
    let texts = learned.varies.iter().map(|own| {
        places.texts(own)?;
        places.said.get(&std::ptr::from_ref(own)).cloned()
    });
    texts.collect()
}

/// How many tokens each text of a place has. A text that is too long to be cut into tokens passes with any number.
type Texts = Vec<usize>;

/// Whether one of the texts has all these tokens.
fn check(varying: &[VaryingToken], texts: &Texts) -> Result<(), String> {
    let Some(longest) = texts.iter().max() else {
        return Err("there is no text, so none of its tokens can vary".to_owned());
    };
    // If the recorded take had none of the varying tokens, they stand before the named one, or at the end of the text.
    let last = |it: &VaryingToken| it.token.saturating_sub(1).saturating_add(it.tokens);
    let wrong = |it: &&VaryingToken| it.token == 0 || last(it) > *longest;
    varying.iter().find(wrong).map_or(Ok(()), |it| {
        let number = if it.token == 0 { 0 } else { last(it) };
        Err(format!(
            "there is no token {number}: the text has tokens 1 to {longest}"
        ))
    })
}

/// The places of one answer that are said to vary, as far as it has them.
#[derive(Default)]
struct Places {
    seen: HashMap<*const Varying, Texts>,
    /// The same texts.
    said: HashMap<*const Varying, Vec<String>>,
}

impl Places {
    fn new(learned: &Learned, answer: &Answer) -> Self {
        let mut places = Self::default();
        let tree = Tree::new(&learned.varies);
        let root = vec![&tree];
        let content = Tree::under(&root, "content");
        places.note(&content);
        for (index, block) in answer.content.iter().enumerate() {
            places.walk(&Tree::under(&content, &index.to_string()), block, DEPTH);
        }
        if let Some(structured) = &answer.structured_content {
            places.walk(&Tree::under(&root, "structuredContent"), structured, DEPTH);
        }
        if let Some(meta) = answer.other.get("_meta") {
            places.walk(&Tree::under(&root, "_meta"), meta, DEPTH);
        }
        places
    }

    /// The texts of a place; `None` where the answer has no such place.
    fn texts(&self, of: &Varying) -> Option<&Texts> {
        self.seen.get(&std::ptr::from_ref(of))
    }

    fn note(&mut self, at: &[&Tree<'_>]) -> Vec<*const Varying> {
        let here = at.iter().filter_map(|it| Tree::varying(&[*it]));
        let here: Vec<*const Varying> = here.map(std::ptr::from_ref).collect();
        for it in &here {
            self.seen.entry(*it).or_default();
            self.said.entry(*it).or_default();
        }
        here
    }

    fn walk(&mut self, at: &[&Tree<'_>], value: &Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| !at.is_empty()) else {
            return;
        };
        let here = self.note(at);
        if let Some(text) = value.as_str().filter(|_| !here.is_empty()) {
            let count = if text.len() > LONG {
                usize::MAX
            } else {
                tokens(text).iter().map(|it| it.pieces).sum()
            };
            for it in here {
                self.seen.entry(it).or_default().push(count);
                self.said.entry(it).or_default().push(text.to_owned());
            }
        }
        let json = Tree::under(at, JSON);
        if let Some(document) = document(value).filter(|_| !json.is_empty()) {
            self.walk(&json, &document, depth);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.walk(&Tree::under(at, name), member, depth);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(&Tree::under(at, &index.to_string()), item, depth);
                }
            }
            // What varies in the lines of a text that grew is listed by their indexes.
            Value::String(text) => {
                for (index, line) in text.lines().enumerate() {
                    let under = Tree::under(at, &index.to_string());
                    if !under.is_empty() {
                        self.walk(&under, &line.into(), depth);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The step into a text that holds JSON.
const JSON: &str = "json";

/// The JSON that a text, or the text of a block, holds.
fn document(of: &Value) -> Option<Value> {
    let block = of.get("text").filter(|_| of.get(JSON).is_none());
    embedded(block.unwrap_or(of).as_str()?)
}

/// How far a path leads, and where it could go on from there.
fn nearest(answer: &Answer, path: &str) -> String {
    let content = ("content".to_owned(), answer.content.clone().into());
    let structured = answer.structured_content.clone();
    let structured = structured.map(|it| ("structuredContent".to_owned(), it));
    let meta = answer.other.get_key_value("_meta");
    let meta = meta.map(|(key, it)| (key.clone(), it.clone()));
    let all = [content].into_iter().chain(structured).chain(meta);
    let mut value = Value::Object(all.collect());
    let mut there = String::new();
    for step in path.split('/').skip(1) {
        let next = steps(&value).into_iter();
        let Some((name, under)) = next
            .into_iter()
            .find(|(name, _)| step == "*" || name == step)
        else {
            break;
        };
        there = format!("{there}/{name}");
        value = under;
    }
    let on = steps(&value).into_iter().map(|(name, _)| name);
    let slash = if there.is_empty() { "/" } else { "" };
    let mut named: Vec<String> = on.map(|it| format!("`{slash}{it}`")).collect();
    if named.len() > NAMED {
        named.truncate(NAMED);
        named.push("…".to_owned());
    }
    let there = match there.as_str() {
        "" => "it".to_owned(),
        there => format!("`{there}`"),
    };
    match named.as_slice() {
        [] => format!("{there} has nothing beneath it"),
        named => format!("{there} has {}", named.join(", ")),
    }
}

/// What lies one step further on, by the names of the steps.
fn steps(value: &Value) -> Vec<(String, Value)> {
    let json = document(value).map(|it| (JSON.to_owned(), it));
    let under: Vec<(String, Value)> = match value {
        Value::Object(members) => (members.iter())
            .map(|(name, it)| (escape(name).into_owned(), it.clone()))
            .collect(),
        Value::Array(items) => (items.iter().enumerate())
            .map(|(index, it)| (index.to_string(), it.clone()))
            .collect(),
        _ => Vec::new(),
    };
    json.into_iter().chain(under).collect()
}
