//! Places in answers: the values that stand there, and the same place in another answer to the same request.

use serde_json::Value;

use crate::model::Object;
use crate::model::trajectory::Answer;
use crate::score::path::escape;
use crate::score::same::{self, View};
use crate::score::value::embedded;

/// How deep answers are looked into, embedded documents included.
const DEPTH: usize = 64;
/// The most values of one answer that are looked at.
const LEAVES: usize = 50_000;

/// A text or number in an answer.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) value: Value,
}

/// The texts and numbers of an answer, structured content first.
pub(super) fn leaves(answer: &Answer) -> Vec<Leaf> {
    let mut found = Vec::new();
    if let Some(structured) = &answer.structured_content {
        collect(
            structured,
            shortened("/structuredContent", structured),
            DEPTH,
            &mut found,
        );
    }
    // As a script's references have it: one text that is JSON needs no naming of its block.
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
                value: value.clone(),
            }),
        },
        Value::Number(_) => found.push(Leaf {
            path,
            value: value.clone(),
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The value at a place of an answer.
pub(in crate::score) fn at(answer: &Answer, path: &str) -> Option<Value> {
    in_other(answer, answer, path)
}

/// The value in a live answer at the place that `path` names in the recorded one.
///
/// An element of a list is looked for by what stands beside it, so that it is found wherever the live list has it; where nothing
/// tells the elements apart, its index counts.
pub(super) fn in_other(recorded: &Answer, live: &Answer, path: &str) -> Option<Value> {
    let steps = steps(path);
    match steps.first().map(String::as_str) {
        Some("structuredContent") => follow(
            recorded.structured_content.as_ref(),
            live.structured_content.as_ref()?,
            &steps[1..],
        ),
        Some("content") => {
            let index: usize = steps.get(1)?.parse().ok()?;
            let was = recorded.content.get(index);
            let at = counterpart(was, &live.content, index, steps.get(2))?;
            follow(was, &live.content[at], &steps[2..])
        }
        _ => documents(live).into_iter().find_map(|it| {
            let recorded = documents(recorded).into_iter().next();
            follow(recorded.as_ref(), &it, &steps)
        }),
    }
}

/// The documents a plain pointer is looked for in: the structured content, and the text as JSON.
fn documents(answer: &Answer) -> Vec<Value> {
    let text = embedded(&answer.text());
    answer
        .structured_content
        .iter()
        .cloned()
        .chain(text)
        .collect()
}

/// The same place as a path into the answer itself, as volatile places are named, `*` for indexes. There are two where the text
/// repeats the structured content.
pub(in crate::score) fn full_paths(answer: &Answer, path: &str) -> Vec<String> {
    let given = steps(path);
    let all = answer_value(answer);
    let starts: Vec<Vec<String>> = match given.first().map(String::as_str) {
        Some("structuredContent" | "content") => vec![given],
        _ => [&["structuredContent"][..], &["content", "0", "json"]]
            .into_iter()
            .map(|root| {
                root.iter()
                    .map(|it| (*it).to_owned())
                    .chain(given.clone())
                    .collect()
            })
            .collect(),
    };
    starts
        .iter()
        .filter_map(|steps| full_path(&all, steps))
        .collect()
}

fn answer_value(answer: &Answer) -> Value {
    let mut all = Object::new();
    all.insert("content".to_owned(), answer.content.clone().into());
    if let Some(structured) = &answer.structured_content {
        all.insert("structuredContent".to_owned(), structured.clone());
    }
    all.into()
}

/// The steps written out, if they lead anywhere; indexes beneath the list of blocks become `*`.
fn full_path(all: &Value, steps: &[String]) -> Option<String> {
    let mut path = String::new();
    let mut value = all.clone();
    for (depth, step) in steps.iter().enumerate() {
        let is_index = value.is_array();
        value = child(&value, step)?;
        path.push('/');
        path.push_str(&if is_index && depth > 1 {
            "*".to_owned()
        } else {
            escape(step)
        });
    }
    Some(path)
}

fn child(value: &Value, step: &str) -> Option<Value> {
    match value {
        Value::Object(members) => match members.get(step) {
            Some(member) => Some(member.clone()),
            // The step into a text block's document goes past the block's own member.
            None if step == "json" => embedded(members.get("text")?.as_str()?),
            None => None,
        },
        Value::Array(items) => items.get(step.parse::<usize>().ok()?).cloned(),
        Value::String(text) if step == "json" => embedded(text),
        _ => None,
    }
}

fn follow(recorded: Option<&Value>, live: &Value, steps: &[String]) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(live.clone());
    };
    if let Value::Array(items) = live {
        let index: usize = step.parse().ok()?;
        let was = recorded.and_then(|it| it.get(index));
        let at = counterpart(was, items, index, rest.first())?;
        return follow(was, items.get(at)?, rest);
    }
    let was = recorded.and_then(|it| child(it, step));
    follow(was.as_ref(), &child(live, step)?, rest)
}

/// The index of the element that is most like the recorded one, apart from the member that is looked for; of equals, the nearest to
/// the recorded index.
fn counterpart(
    was: Option<&Value>,
    items: &[Value],
    index: usize,
    sought: Option<&String>,
) -> Option<usize> {
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

/// The steps of a path, with what is escaped in it read.
pub(super) fn steps(path: &str) -> Vec<String> {
    let steps = path.split('/').skip(1);
    steps
        .map(|it| it.replace("~2", "*").replace("~1", "/").replace("~0", "~"))
        .collect()
}
