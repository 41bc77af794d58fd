//! The parts of two answers that are compared.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::values::embedded::{embedded, looks_like_json};
use crate::values::path::Step;
use crate::values::same::same;
use model::digits;
use model::trajectory::Answer;

use super::json::Walk;

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
