//! The parts of two answers that are compared.

use serde_json::Value;

use crate::digits;
use crate::model::trajectory::Answer;
use crate::score::values::embedded::embedded;
use crate::score::values::path::Step;
use crate::score::values::same::same;

use super::json::Walk;

/// One thing an answer consists of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// A content block and its place in the list as served.
    Block(usize, &'a Value),
    Structured(&'a Value),
}

impl<'a> Part<'a> {
    pub(in crate::score) fn kind(self) -> &'a str {
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
/// Where both have structured content and text blocks that merely repeat it, it replaces those. Structured content that
/// only the current answer has is an addition, which is compatible; one that only the baseline has is missed.
pub(super) fn parts<'a>(b: &'a Answer, c: &'a Answer) -> (Vec<Part<'a>>, Vec<Part<'a>>) {
    let repeating = |answer: &Answer| -> Vec<bool> {
        let structured = answer.structured_content.as_ref();
        let repeats = |block: &Value| structured.is_some_and(|it| repeats(block, it));
        answer.content.iter().map(repeats).collect()
    };
    let (b_repeats, c_repeats) = (repeating(b), repeating(c));
    let replace = b_repeats.contains(&true) && c_repeats.contains(&true);
    let blocks = |answer: &'a Answer, repeats: &[bool]| -> Vec<Part<'a>> {
        let blocks = answer.content.iter().enumerate().zip(repeats);
        blocks
            .filter(|(_, repeats)| !(replace && **repeats))
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

/// Whether a text block only says what the structured content says, be it whole or its one member, as servers wrap
/// results that are no objects.
fn repeats(block: &Value, structured: &Value) -> bool {
    let Some(text) = block.get("text").and_then(Value::as_str) else {
        return false;
    };
    let only_member = (structured.as_object())
        .filter(|it| it.len() == 1)
        .and_then(|it| it.values().next());
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
    says(structured) || only_member.is_some_and(says)
}
