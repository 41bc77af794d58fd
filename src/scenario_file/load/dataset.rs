//! Data sets: a scenario for each row, in which `{{row.column}}` stands for what the row holds.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use crate::model::Object;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, NO_HINT};
use crate::scenario_file::file::dataset::{DatasetFields, DatasetSection};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::nearest::did_you_mean;
use crate::scenario_file::yaml::node::{Content, Entry, Node};
use crate::scenario_file::yaml::parse::parse;
use crate::scenario_file::yaml::source::{Findings, Mark};

/// The largest file of rows, in bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;
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
    let (rows, id) = match DatasetSection::decode(node, findings)? {
        DatasetSection::File(file) => (of_file(&file, findings)?, None),
        DatasetSection::Rows(rows) => (rows, None),
        DatasetSection::Fields(fields) => {
            let DatasetFields { file, rows, id } = *fields;
            match (file, rows) {
                (Some(file), None) => (of_file(&file, findings)?, id),
                (None, Some(rows)) => (rows, id),
                (Some(_), Some(_)) => {
                    findings.error(node.at, "`file` and `rows` exclude each other", NO_HINT);
                    return None;
                }
                (None, None) => {
                    let hint = "name a `file`, or list the `rows`";
                    findings.error(node.at, "the data set has no rows", Some(hint));
                    return None;
                }
            }
        }
    };
    if rows.is_empty() {
        findings.error(node.at, "the data set has no rows", NO_HINT);
        return None;
    }
    named(rows, id.as_ref(), findings)
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
        findings.error(column.at, message, did_you_mean(&column.0, known));
        return None;
    }
    let has_ids = rows.iter().any(|it| it.contains_key(ID));
    let column = match column {
        Some(column) => Some(column.0.as_str()),
        None => has_ids.then_some(ID),
    };
    let mut taken = HashSet::new();
    let mut named = Vec::with_capacity(rows.len());
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
            let message = format!("{} is no id for row {number}: {why}", quoted(&id));
            findings.error(
                at,
                message,
                Some("it names the folder of the row's baseline"),
            );
        } else if taken.insert(id.to_lowercase()) {
            named.push(Row {
                id,
                columns: row.value,
                at,
            });
        } else {
            let message = format!("row {number} has the id {} of an earlier row", quoted(&id));
            findings.error(at, message, Some("capitals make no other id"));
        }
    }
    (findings.errors() == errors).then_some(named)
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

fn of_file(file: &At<Word>, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let path = findings.folder(file.at).join(&file.0);
    let extension = path
        .extension()
        .map(|it| it.to_string_lossy().to_lowercase());
    let read = match extension.as_deref() {
        Some("csv") => of_csv,
        Some("jsonl" | "ndjson") => of_json_lines,
        Some("yaml" | "yml") => of_yaml,
        _ => {
            let message = format!("{} is no data set by its name", quoted(&file.0));
            let hint = "the name ends in `.csv`, `.jsonl` or `.yaml`";
            findings.error(file.at, message, Some(hint));
            return None;
        }
    };
    if !path.is_file() {
        findings.depends_on(&path);
        let message = format!("the data set {} is not there", quoted(&file.0));
        findings.error(file.at, message, Some("it is looked for beside this file"));
        return None;
    }
    let source = findings.read_up_to(&path, MAX_FILE)?;
    let rows = read(source, &path, findings)?;
    if rows.is_empty() {
        findings.error(file.at, "the data set has no rows", NO_HINT);
        return None;
    }
    Some(rows)
}

fn line(source: usize, line: usize) -> Mark {
    Mark {
        source,
        line,
        column: 1,
    }
}

/// RFC 4180, with the names of the columns in the first line.
fn of_csv(source: usize, _: &Path, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let text = findings.text(source);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let wrong = |error: &csv::Error, findings: &mut Findings| {
        let at = error.position().map_or(1, csv::Position::line);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        findings.error(line(source, at), wrong_line(error), NO_HINT);
    };
    let columns: Vec<String> = match reader.headers() {
        Ok(names) => names.iter().map(|it| it.trim().to_owned()).collect(),
        Err(error) => {
            wrong(&error, findings);
            return None;
        }
    };
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|it| !seen.insert(it.as_str())) {
        let message = format!("two columns are called {}", quoted(twice));
        findings.error(line(source, 1), message, NO_HINT);
        return None;
    }
    let mut rows = Vec::new();
    let mut is_right = true;
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong(&error, findings);
                is_right = false;
                continue;
            }
        };
        let at = record.position().map_or(1, csv::Position::line);
        let cells = record.iter().map(cell);
        rows.push(At {
            at: line(source, usize::try_from(at).unwrap_or(usize::MAX)),
            value: columns.iter().cloned().zip(cells).collect(),
        });
    }
    is_right.then_some(rows)
}

/// What is wrong with a line, without its place, which stands before it.
fn wrong_line(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("has {len} cells, and the first line names {expected_len} columns"),
        _ => error.to_string(),
    }
}

/// A cell: a number as JSON writes one, a truth value, or else text, so that `007` stays what it is.
fn cell(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

fn of_json_lines(source: usize, _: &Path, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let text = findings.text(source);
    let errors = findings.errors();
    let mut rows = Vec::new();
    for (number, content) in (1..).zip(text.lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let at = line(source, number);
        match serde_json::from_str(content) {
            Ok(Value::Object(value)) => rows.push(At { at, value }),
            Ok(_) => findings.error(at, "a row is an object, and this is none", NO_HINT),
            Err(error) => findings.error(at, format!("is not JSON: {error}"), NO_HINT),
        }
    }
    (findings.errors() == errors).then_some(rows)
}

fn of_yaml(source: usize, _: &Path, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let document = parse(source, findings)?;
    Vec::decode(&document, findings)
}

/// The variables that a row gives: `row.column`.
pub(in crate::scenario_file) fn variables(row: &Row) -> impl Iterator<Item = (String, Content)> {
    let columns = row.columns.iter();
    columns.map(|(name, value)| (format!("row.{name}"), content(value, row.at)))
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
