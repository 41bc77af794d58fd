//! Data sets: a scenario for each row, in which `{{row.column}}` stands for what the row holds.
//!
//! - `files`: which file is read how. `csv`, `json_lines`: rows in files of these kinds. `folders`: ids as names of folders.
//!
//! Nothing of what a file says is lost without a word: what does not follow the form, or could not be kept as it is written, is an error.

mod csv;
mod files;
pub(in crate::scenario_file) mod folders;
mod json_lines;

use std::collections::hash_map::Entry as Place;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::model::Object;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, NO_HINT};
use crate::scenario_file::file::dataset::{DatasetFields, DatasetSection};
use crate::scenario_file::yaml::filled::ROW;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Entry, Node};
use crate::scenario_file::yaml::rounded;
use crate::scenario_file::yaml::source::{Findings, Mark};
use crate::text::nearest::did_you_mean;

/// The longest id of a row, in bytes: it is the name of a folder.
const LONGEST_ID: usize = 100;
/// The column that gives the ids where no other is named.
const ID: &str = "id";

/// One row: what its scenario is called by, and what its columns hold.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Row {
    pub(in crate::scenario_file) id: String,
    pub(in crate::scenario_file) columns: Object,
    /// Where it stands.
    pub(in crate::scenario_file) at: Mark,
    /// Whether no other row stands before it.
    pub(in crate::scenario_file) is_first: bool,
}

/// Takes the rows of its data set out of a document: `None` where there is none, and no rows, after saying why, where it cannot be read.
pub(in crate::scenario_file) fn take(
    document: &mut Node,
    findings: &mut Findings,
) -> Option<Vec<Row>> {
    let Content::Map(entries) = &mut document.content else {
        return None;
    };
    let at = entries.iter().position(|it| it.key == "dataset")?;
    let Entry { value, .. } = entries.remove(at);
    Some(rows(&value, findings).unwrap_or_default())
}

fn rows(node: &Node, findings: &mut Findings) -> Option<Vec<Row>> {
    let errors = findings.errors();
    rounded::refuse(node, findings);
    let (rows, id) = match DatasetSection::decode(node, findings)? {
        DatasetSection::File(file) => (files::rows(&file, findings)?, None),
        DatasetSection::Rows(rows) => (rows, None),
        DatasetSection::Fields(fields) => {
            let DatasetFields { file, rows, id } = *fields;
            match (file, rows) {
                (Some(file), None) => (files::rows(&file, findings)?, id),
                (None, Some(rows)) => (rows, id),
                (Some(_), Some(_)) => {
                    return findings.refuse(
                        node.at,
                        "`file` and `rows` exclude each other",
                        NO_HINT,
                    );
                }
                (None, None) => {
                    let hint = "name a `file`, or list the `rows`";
                    return findings.refuse(node.at, "the data set has no rows", Some(hint));
                }
            }
        }
    };
    if rows.is_empty() {
        return findings.refuse(node.at, "the data set has no rows", NO_HINT);
    }
    let named = named(rows, id.as_ref(), findings)?;
    (findings.errors() == errors).then_some(named)
}

/// Gives each row its id.
fn named(
    rows: Vec<At<Object>>,
    column: Option<&At<Word>>,
    findings: &mut Findings,
) -> Option<Vec<Row>> {
    let errors = findings.errors();
    if let Some(column) = column
        && !rows.iter().any(|it| it.contains_key(column.0.as_str()))
    {
        let message = format!("no row has a column {}", quoted(&column.0));
        let columns = rows.iter().flat_map(|it| it.keys()).map(String::as_str);
        let known: HashSet<&str> = columns.collect();
        return findings.refuse(column.at, message, did_you_mean(&column.0, known));
    }
    let has_ids = rows.iter().any(|it| it.contains_key(ID));
    let column = match column {
        Some(column) => Some(column.0.as_str()),
        None => has_ids.then_some(ID),
    };
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut named: Vec<Row> = Vec::with_capacity(rows.len());
    for (number, row) in (1..).zip(rows) {
        let at = row.at;
        let id = match column {
            None => number.to_string(),
            Some(column) => match row.get(column) {
                Some(Value::String(id)) => id.trim().to_owned(),
                Some(it @ (Value::Number(_) | Value::Bool(_))) => it.to_string(),
                _ => {
                    let message = format!("row {number} has no id in {}", quoted(column));
                    findings.error(at, message, NO_HINT);
                    continue;
                }
            },
        };
        if let Some(why) = unfit(&id) {
            let message = format!("{} is not an id for row {number}: {why}", quoted(&id));
            findings.error(
                at,
                message,
                Some("it names the folder of the row's baseline"),
            );
            continue;
        }
        match taken.entry(folders::folded(&id)) {
            Place::Vacant(place) => {
                place.insert(named.len());
                named.push(Row {
                    id,
                    columns: row.value,
                    at,
                    is_first: number == 1,
                });
            }
            Place::Occupied(place) => {
                let earlier = &named[*place.get()].id;
                let (message, hint) = twice(number, &id, earlier);
                findings.error(at, message, hint);
            }
        }
    }
    if findings.thorough {
        doubt_names(&named, findings);
    }
    (findings.errors() == errors).then_some(named)
}

/// What is wrong with a row whose folder would be that of an earlier one, here or on another machine.
fn twice(number: usize, id: &str, earlier: &str) -> (String, Option<&'static str>) {
    if id == earlier {
        let message = format!("row {number} has the id {} of an earlier row", quoted(id));
        return (message, None);
    }
    let message = format!(
        "row {number} has the id {}, and an earlier row {}: some file systems take both for one folder",
        quoted(id),
        quoted(earlier)
    );
    let hint = "capitals, another way to write an accent, and dots at the end make no other id";
    (message, Some(hint))
}

/// Says which ids name folders that Windows cannot have: whoever clones the baselines there does not get them.
fn doubt_names(rows: &[Row], findings: &mut Findings) {
    let unfit = rows.iter();
    let mut unfit = unfit.filter_map(|it| Some((it, folders::not_on_windows(&it.id)?)));
    let Some((row, why)) = unfit.next() else {
        return;
    };
    let others = match unfit.count() {
        0 => String::new(),
        1 => ", nor of 1 other row".to_owned(),
        more => format!(", nor of {more} other rows"),
    };
    let message = format!(
        "Windows has no folder for the baseline of row {}: {why}{others}",
        quoted(&row.id)
    );
    findings.warning(row.at, message, NO_HINT);
}

/// Why no folder should be called so.
fn unfit(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        Some("it is empty")
    } else if id.len() > LONGEST_ID {
        Some("it is longer than 100 bytes")
    } else if id.starts_with(['.', '_']) {
        Some("it begins with `.` or `_`")
    } else if id.contains(['/', '\\']) || id.contains(char::is_control) {
        Some("a `/`, a `\\` or a control character is in it")
    } else {
        None
    }
}

/// The variables that a row gives: `row.column`.
pub(in crate::scenario_file) fn variables(row: &Row) -> impl Iterator<Item = (String, Content)> {
    let columns = row.columns.iter();
    columns.map(|(name, value)| (format!("{ROW}{name}"), content(value, row.at)))
}

fn content(value: &Value, at: Mark) -> Content {
    let node = |value: &Value| Node {
        at,
        content: content(value, at),
    };
    match value {
        Value::Null => Content::Null,
        Value::Bool(it) => Content::Bool(*it),
        Value::Number(it) => Content::Number(it.clone()),
        Value::String(it) => Content::Text(it.clone()),
        Value::Array(items) => Content::List(items.iter().map(node).collect()),
        Value::Object(members) => {
            let entries = members.iter().map(|(key, value)| Entry {
                key: key.clone(),
                key_at: at,
                value: node(value),
            });
            Content::Map(entries.collect())
        }
    }
}
