//! Places in answers: the values that stand there, and the same place in another answer to the same request.

use std::borrow::Cow;

use serde_json::Value;

use crate::values::embedded::embedded;
use crate::values::path::{escape, steps};
use crate::values::same::{self, View};
use model::Answer;
use model::digits;

/// How deep answers are looked into, embedded documents included.
const DEPTH: usize = 64;
/// The most values of one answer that are looked at.
const LEAVES: usize = 50_000;

/// A text or number in an answer.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) path: String,
    pub(crate) value: Value,
}

/// The texts and numbers of an answer, structured content first.
pub(crate) fn leaves(answer: &Answer) -> Vec<Leaf> {
    let mut found = Vec::new();
    if let Some(structured) = &answer.structured_content {
        collect(
            structured,
            shortened("/structuredContent", structured),
            DEPTH,
            &mut found,
        );
    }
    // As in the references of scripts, the only block is not named if its text is JSON.
    let only = answer.structured_content.is_none() && answer.content.len() == 1;
    for (index, block) in answer.content.iter().enumerate() {
        let path = format!("/content/{index}");
        match block.get("text").and_then(Value::as_str) {
            Some(text) => match embedded(text) {
                Some(json) if only => {
                    let root = shortened(&format!("{path}/json"), &json);
                    collect(&json, root, DEPTH, &mut found);
                }
                Some(json) => collect(&json, format!("{path}/json"), DEPTH, &mut found),
                None => found.push(Leaf {
                    path: format!("{path}/text"),
                    value: text.into(),
                }),
            },
            None => collect(block, path, DEPTH, &mut found),
        }
    }
    found
}

/// The root of a document's paths: none of its own, unless its keys would be taken for parts of the answer.
fn shortened(root: &str, document: &Value) -> String {
    let is_mistakable = document
        .as_object()
        .is_none_or(|it| it.contains_key("content") || it.contains_key("structuredContent"));
    if is_mistakable {
        root.to_owned()
    } else {
        String::new()
    }
}

fn collect(value: &Value, path: String, depth: usize, found: &mut Vec<Leaf>) {
    if depth == 0 || found.len() >= LEAVES {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                collect(member, format!("{path}/{}", escape(key)), depth - 1, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{path}/{index}"), depth - 1, found);
            }
        }
        Value::String(text) => match embedded(text) {
            Some(json) => collect(&json, format!("{path}/json"), depth - 1, found),
            None => found.push(Leaf {
                path,
                value: as_given(value),
            }),
        },
        Value::Number(_) => found.push(Leaf {
            path,
            value: value.clone(),
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A value as a later request can hold it; an integer too long for 64 bits becomes a text.
pub(super) fn as_given(value: &Value) -> Value {
    digits::of(value).map_or_else(|| value.clone(), Value::from)
}

/// The value at a place of an answer.
pub(crate) fn at(answer: &Answer, path: &str) -> Option<Value> {
    in_other(answer, answer, path)
}

/// The value in a live answer at the place that `path` names in the recorded one.
///
/// An element of a list is identified by its other members, so that it is found at any index of the live list; where these do not
/// distinguish the elements, its index counts.
pub(super) fn in_other(recorded: &Answer, live: &Answer, path: &str) -> Option<Value> {
    let steps = steps(path);
    match steps.first().map(String::as_str) {
        Some("structuredContent") => {
            let was = recorded.structured_content.as_ref();
            follow(was, live.structured_content.as_ref()?, &steps[1..])
        }
        Some("content") => {
            let index: usize = steps.get(1)?.parse().ok()?;
            let was = recorded.content.get(index);
            let at = counterpart(was, &live.content, index, steps.get(2))?;
            follow(was, &live.content[at], &steps[2..])
        }
        _ => {
            let was = documents(recorded).next();
            documents(live).find_map(|it| follow(was.as_deref(), &it, &steps))
        }
    }
}

/// The member that a read block has beside its text.
const JSON: &str = "json";

/// The answer with the JSON in its texts parsed, so that looking up many places of it parses each text only once.
pub fn read_answer(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    for block in answer.content.iter_mut().filter_map(Value::as_object_mut) {
        let text = block.get("text").and_then(Value::as_str);
        if let Some(json) = text.and_then(embedded) {
            block.insert(JSON.to_owned(), json);
        }
    }
    answer
}

/// The documents a plain pointer is looked for in: the structured content, and the text as JSON.
fn documents(answer: &Answer) -> impl Iterator<Item = Cow<'_, Value>> {
    let structured = answer.structured_content.iter().map(Cow::Borrowed);
    let text = std::iter::once_with(|| match answer.content.as_slice() {
        [only] => child(only, JSON),
        _ => embedded(&answer.text()).map(Cow::Owned),
    });
    structured.chain(text.flatten())
}

/// The same place as a path into the answer itself, as volatile places are named. There are two where the text repeats the structured
/// content.
pub(crate) fn full_paths(answer: &Answer, path: &str) -> Vec<String> {
    starred_paths(answer, path)
        .into_iter()
        .map(|it| it.exact)
        .collect()
}

/// The same with `*` for any index of a list.
pub(crate) fn full_patterns(answer: &Answer, path: &str) -> Vec<String> {
    starred_paths(answer, path)
        .into_iter()
        .map(|it| it.starred)
        .collect()
}

fn starred_paths(answer: &Answer, path: &str) -> Vec<Written> {
    let steps = steps(path);
    let structured = |steps: &[String]| {
        let inner = written(answer.structured_content.as_ref()?, steps)?;
        Some(inner.within("/structuredContent"))
    };
    let content = |index: &str, steps: &[String]| {
        let block = answer.content.get(index.parse::<usize>().ok()?)?;
        Some(written(block, steps)?.within(&format!("/content/{index}")))
    };
    let found = match (steps.first().map(String::as_str), steps.get(1)) {
        (Some("structuredContent"), _) => [structured(&steps[1..]), None],
        (Some("content"), Some(index)) => [content(index, &steps[2..]), None],
        _ => {
            let in_text = [&["json".to_owned()], steps.as_slice()].concat();
            [structured(&steps), content("0", &in_text)]
        }
    };
    found.into_iter().flatten().collect()
}

/// The places of an answer that differ from a path only in the indexes of lists, the path itself among them.
pub(crate) fn alike(answer: &Answer, path: &str) -> Vec<Leaf> {
    let Some(pattern) = full_patterns(answer, path).into_iter().next() else {
        return Vec::new();
    };
    // A pattern begins with the root, which a path may leave out.
    let length = path.matches('/').count();
    let pattern: Vec<&str> = pattern.rsplit('/').take(length).collect();
    let mut found = leaves(answer);
    found.retain(|leaf| {
        let fits = |(step, part): (&str, &&str)| *part == "*" || *part == step;
        leaf.path.matches('/').count() == length && leaf.path.rsplit('/').zip(&pattern).all(fits)
    });
    found
}

/// Steps written out, with indexes as they are and as `*`.
#[derive(Default)]
struct Written {
    exact: String,
    starred: String,
}

impl Written {
    fn within(self, root: &str) -> Self {
        Self {
            exact: format!("{root}{}", self.exact),
            starred: format!("{root}{}", self.starred),
        }
    }
}

/// The steps written out, if they lead anywhere.
fn written(value: &Value, steps: &[String]) -> Option<Written> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(Written::default());
    };
    let inner = written(&*child(value, step)?, rest)?;
    let step = escape(step);
    let starred = if value.is_array() { "*" } else { &step };
    Some(Written {
        starred: format!("/{starred}{}", inner.starred),
        exact: format!("/{step}{}", inner.exact),
    })
}

fn child<'v>(value: &'v Value, step: &str) -> Option<Cow<'v, Value>> {
    match value {
        Value::Object(members) => match members.get(step) {
            Some(member) => Some(Cow::Borrowed(member)),
            // The step into a text block's document goes past the block's own member.
            None if step == "json" => embedded(members.get("text")?.as_str()?).map(Cow::Owned),
            None => None,
        },
        Value::Array(items) => items.get(step.parse::<usize>().ok()?).map(Cow::Borrowed),
        Value::String(text) if step == "json" => embedded(text).map(Cow::Owned),
        _ => None,
    }
}

fn follow(recorded: Option<&Value>, live: &Value, steps: &[String]) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(as_given(live));
    };
    if let Value::Array(items) = live {
        let index: usize = step.parse().ok()?;
        let was = recorded.and_then(|it| it.get(index));
        let at = counterpart(was, items, index, rest.first())?;
        return follow(was, items.get(at)?, rest);
    }
    let was = recorded.and_then(|it| child(it, step));
    follow(was.as_deref(), &*child(live, step)?, rest)
}

/// The index of the element that is most like the recorded one, apart from the member that is looked for; of equals, the nearest to
/// the recorded index.
fn counterpart(
    was: Option<&Value>,
    items: &[Value],
    index: usize,
    sought: Option<&String>,
) -> Option<usize> {
    if items.len() == 1 && index == 0 {
        return Some(0);
    }
    let alike = |item: &Value| -> usize {
        let (Some(Value::Object(was)), Value::Object(item)) = (was, item) else {
            return 0;
        };
        let beside = was.iter().filter(|(key, _)| Some(*key) != sought);
        let hash = |it: &Value| same::hash(it, View::Masked);
        beside
            .filter(|(key, was)| item.get(*key).is_some_and(|it| hash(it) == hash(was)))
            .count()
    };
    // The same index is tried first, because in most lists no element has moved.
    let beside = was.and_then(Value::as_object).map(|it| {
        let beside = it.keys().filter(|key| Some(*key) != sought);
        beside.count()
    });
    if let (Some(all), Some(item)) = (beside, items.get(index))
        && alike(item) == all
    {
        return Some(index);
    }
    let rated = items
        .iter()
        .take(LEAVES)
        .enumerate()
        .map(|(at, item)| (alike(item), at));
    let (best, at) =
        rated.max_by_key(|&(alike, at)| (alike, std::cmp::Reverse(at.abs_diff(index))))?;
    if best > 0 {
        Some(at)
    } else {
        (index < items.len()).then_some(index)
    }
}
