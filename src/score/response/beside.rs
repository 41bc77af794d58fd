//! What stands beside the content of answers: `_meta` of the whole, and `_meta` and `annotations` of its blocks. It is for clients and not for
//! models, so what differs there is shown, and fails nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::comparison::Difference;
use crate::model::learned::Learned;
use crate::model::trajectory::Answer;
use crate::score::text::excerpt;
use crate::score::values::path::escape;
use crate::score::values::same::DEPTH;

/// The most places of one answer that are told.
const PLACES: usize = 20;
/// The most of one answer that is looked at.
const LEAVES: usize = 1000;

/// The places that varied between several answers to one request; `None` where none of them has anything beside its content.
pub(in crate::score) fn varying(answers: &[&Answer]) -> Option<Vec<String>> {
    let all: Vec<BTreeMap<String, &Value>> = answers.iter().map(|it| leaves(it)).collect();
    let places: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let (first, others) = all.split_first()?;
    let varies = |it: &&&String| {
        others
            .iter()
            .any(|other| other.get(**it) != first.get(**it))
    };
    // Of what is not there each time, the name may be made up.
    let whole = |it: &&String| {
        let is_always = all.iter().all(|take| take.contains_key(*it));
        let above = it.rsplit_once('/').filter(|_| !is_always);
        above.map_or((*it).clone(), |it| it.0.to_owned())
    };
    let varying: BTreeSet<String> = places.iter().filter(varies).map(whole).collect();
    (!places.is_empty()).then(|| varying.into_iter().collect())
}

/// Where a run's answer has other things beside its content than the recorded one, as far as recording has learned what of it varies.
pub(in crate::score) fn differences(b: &Answer, c: &Answer, learned: &Learned) -> Vec<Difference> {
    let (was, is) = (leaves(b), leaves(c));
    let varying = match &learned.beside {
        Some(varying) => varying.as_slice(),
        // What has come to an answer that had nothing.
        None if was.is_empty() => &[],
        None => return Vec::new(),
    };
    let places: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let varies = |it: &str| {
        let rests = varying
            .iter()
            .filter_map(|above| it.strip_prefix(above.as_str()));
        rests
            .into_iter()
            .any(|it| it.is_empty() || it.starts_with('/'))
    };
    let differs = |it: &&String| was.get(*it) != is.get(*it) && !varies(it);
    let shown = |value: Option<&&Value>| value.map(|it| excerpt::of(it));
    let differing = places.into_iter().filter(differs).take(PLACES);
    let differing = differing.map(|it| Difference {
        path: it.clone(),
        expected: shown(was.get(it)),
        got: shown(is.get(it)),
        similarity: 1.0,
        rule: "is another one beside the content".into(),
        loss: 0.0,
    });
    differing.collect()
}

/// Values and lists by their places.
fn leaves(answer: &Answer) -> BTreeMap<String, &Value> {
    let mut leaves = BTreeMap::new();
    if let Some(meta) = answer.other.get("_meta") {
        add(meta, "/_meta".to_owned(), DEPTH, &mut leaves);
    }
    for (index, block) in answer.content.iter().enumerate() {
        for key in ["annotations", "_meta"] {
            // Other kinds of blocks are compared as they are.
            if let Some(value) = block.get(key).filter(|_| block.get("text").is_some()) {
                add(value, format!("/content/{index}/{key}"), DEPTH, &mut leaves);
            }
        }
    }
    leaves
}

fn add<'a>(value: &'a Value, at: String, depth: usize, leaves: &mut BTreeMap<String, &'a Value>) {
    match value {
        Value::Object(members) if depth > 0 && !members.is_empty() => {
            for (key, it) in members {
                add(it, format!("{at}/{}", escape(key)), depth - 1, leaves);
            }
        }
        _ if leaves.len() < LEAVES => {
            leaves.insert(at, value);
        }
        _ => {}
    }
}
