//! The parts of two answers that are compared, and how alike two of them are.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::{excerpt, words};
use crate::values::embedded::{embedded, looks_like_json};
use crate::values::mask;
use crate::values::path::Step;
use crate::values::same::same;
use model::digits;
use model::{Answer, Edit, Grade, Steady};

use super::json::{Share, Walk};

/// One thing an answer consists of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// A content block and its place in the list as served.
    Block(usize, &'a Value),
    Structured(&'a Value),
}

impl<'a> Part<'a> {
    pub(crate) fn kind(self) -> &'a str {
        match self {
            Self::Block(_, block) => block.get("type").and_then(Value::as_str).unwrap_or(""),
            Self::Structured(_) => "structuredContent",
        }
    }

    pub(super) fn value(self) -> &'a Value {
        match self {
            Self::Block(_, value) | Self::Structured(value) => value,
        }
    }

    /// Goes to where the part is.
    pub(super) fn at<T>(self, walk: &mut Walk<'a>, inside: impl FnOnce(&mut Walk<'a>) -> T) -> T {
        match self {
            Self::Block(index, _) => walk.at(Step::Key("content"), |walk| {
                walk.at(Step::Index(index), inside)
            }),
            Self::Structured(_) => walk.at(Step::Key("structuredContent"), inside),
        }
    }
}

/// What of each answer is compared.
///
/// Where both have structured content and text blocks that merely repeat it, under the same headings if under any, it replaces those.
/// Structured content that only the current answer has is an addition, which is compatible; one that only the baseline has is missed.
pub(super) fn parts<'a>(b: &'a Answer, c: &'a Answer) -> (Vec<Part<'a>>, Vec<Part<'a>>) {
    let repeating = |answer: &'a Answer| -> Vec<Option<Said<'a>>> {
        let structured = answer.structured_content.as_ref();
        let repeated = |block: &'a Value| repeated(block, structured?);
        answer.content.iter().map(repeated).collect()
    };
    let (b_repeats, c_repeats) = (repeating(b), repeating(c));
    let said = [&b_repeats, &c_repeats].map(|it| it.iter().flatten().collect::<BTreeSet<_>>());
    let replace = !said[0].is_empty() && said[0] == said[1];
    let blocks = |answer: &'a Answer, repeats: &[Option<Said<'a>>]| -> Vec<Part<'a>> {
        let blocks = answer.content.iter().enumerate().zip(repeats);
        blocks
            .filter(|(_, said)| !(replace && said.is_some()))
            .map(|((index, block), _)| Part::Block(index, block))
            .collect()
    };
    let (mut b_parts, mut c_parts) = (blocks(b, &b_repeats), blocks(c, &c_repeats));
    if let Some(structured) = &b.structured_content {
        b_parts.push(Part::Structured(structured));
        c_parts.extend(c.structured_content.as_ref().map(Part::Structured));
    }
    (b_parts, c_parts)
}

/// Where a text block only says what the structured content says: the line before that, and the member of the structured content that it
/// says; each is empty where there is none, and the block says all of it.
type Said<'a> = (&'a str, &'a str);

fn repeated<'a>(block: &'a Value, structured: &'a Value) -> Option<Said<'a>> {
    let text = block.get("text")?.as_str()?;
    if let Some(member) = said_by(text, structured) {
        return Some(("", member));
    }
    let (heading, rest) = text.split_once('\n')?;
    let is_headed = !looks_like_json(text) && looks_like_json(rest);
    let member = said_by(rest, structured).filter(|_| is_headed)?;
    Some((heading, member))
}

/// Which member of the structured content a text is; empty for all of it. Servers wrap results that are no objects as an only member, and put
/// others beside what they say of themselves.
fn said_by<'a>(text: &str, structured: &'a Value) -> Option<&'a str> {
    let parsed: Option<Value> = embedded(text).or_else(|| digits::parse_integers(text).ok());
    // The structured content may lack the digits of its long integers.
    let nearest = parsed.as_ref().filter(|_| digits::are_in(text)).map(|it| {
        let mut nearest = it.clone();
        digits::take(&mut nearest);
        nearest
    });
    let says = |it: &Value| {
        let mut documents = parsed.iter().chain(&nearest);
        it.as_str() == Some(text) || documents.any(|document| same(document, it))
    };
    if says(structured) {
        return Some("");
    }
    let members = structured.as_object()?;
    let may_be = |it: &Value| members.len() == 1 || it.is_object() || it.is_array();
    let mut members = members.iter().filter(|(_, it)| may_be(it) && says(it));
    members.next().map(|(key, _)| key.as_str())
}

/// Two parts of one kind.
pub(super) fn part<'a>(walk: &mut Walk<'a>, b: Part<'a>, c: Part<'a>, share: Share) -> f64 {
    let (kind, c) = (b.kind(), c.value());
    b.at(walk, |walk| {
        if walk.is_left_out() {
            return 1.0;
        }
        let b = b.value();
        match kind {
            "text" => match (member(b, "text"), member(c, "text")) {
                (Some(b), Some(c)) => walk.texts(b, c, share, Some(Step::Key("text"))),
                _ => walk.document(b, c, share),
            },
            "image" | "audio" => media(walk, b, c, "data", share),
            "resource" => walk.at(Step::Key("resource"), |walk| {
                match (b.get("resource"), c.get("resource")) {
                    (Some(b), Some(c)) => resource(walk, b, c, share),
                    _ => walk.document(b, c, share),
                }
            }),
            "resource_link" => link(walk, b, c, share),
            _ => walk.document(b, c, share),
        }
    })
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// Bytes as base64: 1 if they are equal, else 0.5 if the MIME type is.
fn media<'a>(walk: &mut Walk<'a>, b: &'a Value, c: &'a Value, bytes: &'a str, share: Share) -> f64 {
    if b.get(bytes) == c.get(bytes) {
        return 1.0;
    }
    let type_of = |it: &'a Value| member(it, "mimeType").unwrap_or("unknown type");
    let similarity = if type_of(b) == type_of(c) { 0.5 } else { 0.0 };
    let size = |it: &'a Value| member(it, bytes).map_or(0, str::len);
    let shown = |it: &'a Value| format!("{}, {} characters of base64", type_of(it), size(it));
    walk.at(Step::Key(bytes), |walk| {
        if walk.is_left_out() {
            return 1.0;
        }
        walk.note(share, similarity, Grade::Bytes, || {
            (Some(shown(b)), Some(shown(c)))
        });
        similarity
    })
}

/// By URI, then by what is in it.
fn resource<'a>(walk: &mut Walk<'a>, b: &'a Value, c: &'a Value, share: Share) -> f64 {
    if let Some(similarity) = other_uri(walk, b, c, share) {
        return similarity;
    }
    match (member(b, "text"), member(c, "text")) {
        (Some(b), Some(c)) => walk.at(Step::Key("text"), |walk| walk.texts(b, c, share, None)),
        (None, None) => media(walk, b, c, "blob", share),
        _ if walk.at(Step::Key("text"), |it| it.is_left_out()) => 1.0,
        (text, _) => {
            let what = if text.is_some() { "a blob" } else { "a text" };
            let edit = Edit::Became(what.to_owned());
            walk.note_whole(share, edit, Some(Steady::Unknown), || {
                (Some(excerpt::of(b)), Some(excerpt::of(c)))
            });
            0.0
        }
    }
}

/// By URI, then by name and description.
fn link<'a>(walk: &mut Walk<'a>, b: &'a Value, c: &'a Value, share: Share) -> f64 {
    if let Some(similarity) = other_uri(walk, b, c, share) {
        return similarity;
    }
    let mut said = ["name", "title", "description"].to_vec();
    said.retain(|name| !walk.at(Step::Key(name), |it| it.is_left_out()));
    let text = |it: &Value| {
        let said = said.iter().filter_map(|name| member(it, name));
        said.collect::<Vec<_>>().join("\n")
    };
    let (b, c) = (text(b), text(c));
    let similarity = words::similarity(&mask::text(&b), &mask::text(&c));
    if similarity < 1.0 {
        walk.note(share, similarity, Grade::Words, || {
            let (b, c) = excerpt::of_texts(&b, &c);
            (Some(b), Some(c))
        });
    }
    similarity
}

/// Notes that two URIs differ after masking, which makes two resources wholly different.
fn other_uri<'a>(walk: &mut Walk<'a>, b: &'a Value, c: &'a Value, share: Share) -> Option<f64> {
    let uri = |it: &'a Value| member(it, "uri").unwrap_or("");
    let (b, c) = (uri(b), uri(c));
    if mask::text(b) == mask::text(c) {
        return None;
    }
    walk.at(Step::Key("uri"), |walk| {
        if walk.is_left_out() {
            return None;
        }
        walk.note(share, 0.0, Grade::Uri, || {
            (Some(excerpt::of_text(b)), Some(excerpt::of_text(c)))
        });
        Some(0.0)
    })
}
