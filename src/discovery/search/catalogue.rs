//! The live catalogue, and how it differs from the corpus that queries were labelled on.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::answer::{Said, id, refuse_failure};
use super::items;
use super::spec::{Listing, Search};
use crate::discovery::golden::Corpus;
use crate::model::json_path::JsonPath;
use crate::published::measured::retrieval::Drift;

/// A tool as it is there now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveTool {
    pub id: String,
    pub description: Option<String>,
    pub schema: Option<Value>,
}

/// Reads a catalogue as it is declared.
///
/// # Errors
///
/// In a fragment, why this is no catalogue.
pub fn read_catalogue(
    listing: &Listing,
    search: &Search,
    said: &Said,
) -> Result<Vec<LiveTool>, String> {
    let one = |path: &str, item: &Value| {
        let path = JsonPath::parse(path).ok()?;
        path.find(item).first().map(|it| (*it).clone())
    };
    let tools = said.first(|documents| {
        let mut tools = None;
        for document in documents {
            refuse_failure(document)?;
            for items in listing.list.iter().filter_map(|path| items(document, path)) {
                let tools: &mut Vec<LiveTool> = tools.get_or_insert_default();
                for item in items {
                    let description = one(&listing.description, item);
                    tools.push(LiveTool {
                        id: id(&listing.id, search.split(), item)?,
                        description: description.and_then(|it| it.as_str().map(str::to_owned)),
                        schema: one(&listing.schema, item)
                            .map(parsed)
                            .filter(|it| !it.is_null()),
                    });
                }
            }
        }
        Ok(tools)
    })?;
    let Some(mut tools) = tools else {
        let paths: Vec<String> = listing.list.iter().map(|it| format!("`{it}`")).collect();
        return Err(format!("the catalogue has no {}", paths.join(" and no ")));
    };
    tools.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(tools)
}

/// Some servers write a schema as a text that holds it.
fn parsed(schema: Value) -> Value {
    match &schema {
        Value::String(text) => serde_json::from_str(text).unwrap_or(schema),
        _ => schema,
    }
}

/// What differs. A description or schema that either side does not tell is not compared.
pub fn drift(corpus: &Corpus, live: &[LiveTool]) -> Drift {
    let now: HashMap<&str, &LiveTool> = live.iter().map(|it| (it.id.as_str(), it)).collect();
    let then: BTreeMap<&str, _> = corpus.tools.iter().map(|it| (it.id.as_str(), it)).collect();
    let mut drift = Drift::default();
    for (id, tool) in &then {
        let Some(live) = now.get(id) else {
            drift.missing.push((*id).to_owned());
            continue;
        };
        let description = live.description.as_deref().unwrap_or_default();
        if !description.is_empty()
            && !tool.description.is_empty()
            && description.trim() != tool.description.trim()
        {
            drift.reworded.push((*id).to_owned());
        }
        if let (Some(schema), Some(before)) = (&live.schema, &tool.schema)
            && !is_same(schema, before)
        {
            drift.reshaped.push((*id).to_owned());
        }
    }
    let mut extra: Vec<&str> = now
        .keys()
        .copied()
        .filter(|it| !then.contains_key(it))
        .collect();
    extra.sort_unstable();
    drift.extra = extra.into_iter().map(str::to_owned).collect();
    drift
}

/// Whether two schemas are the same, whatever the order of their keys and of what they require.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| match (key.as_str(), b.get(key)) {
                        (_, None) => false,
                        ("required", Some(other)) => is_same_set(value, other),
                        (_, Some(other)) => is_same(value, other),
                    })
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        _ => a == b,
    }
}

fn is_same_set(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().all(|it| b.contains(it))
        }
        _ => a == b,
    }
}
