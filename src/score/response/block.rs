//! Similarity of two content blocks of one type: text, media, resources, links.

use serde_json::Value;

use crate::text::excerpt;
use crate::text::words;
use crate::values::mask;
use crate::values::path::Step;

use model::response::{Edit, Grade, Steady};

use super::json::{Share, Walk};
use super::parts::Part;

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
