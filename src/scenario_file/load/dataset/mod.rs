//! Data sets: a scenario for each row, in which `{{row.column}}` stands for what the row holds.
//!
//! - `rows`: rows in files of CSV, and of JSON lines.
//!
//! Nothing of what a file says is lost without a word: what does not follow the form, or could not be kept as it is written, is an error.

mod rows;

use std::collections::hash_map::Entry as Place;
use std::collections::{HashMap, HashSet};

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::model::Object;
use crate::scenario_file::decode::{At, Decode, NO_HINT, Word};
use crate::scenario_file::file::document::{DatasetFields, DatasetSection};
use crate::scenario_file::yaml::{
    Content, Entry, Findings, Mark, Node, ROW, parse, quoted, refuse_rounded,
};
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
    refuse_rounded(node, findings);
    let (rows, id) = match DatasetSection::decode(node, findings)? {
        DatasetSection::File(file) => (rows_of_file(&file, findings)?, None),
        DatasetSection::Rows(rows) => (rows, None),
        DatasetSection::Fields(fields) => {
            let DatasetFields { file, rows, id } = *fields;
            match (file, rows) {
                (Some(file), None) => (rows_of_file(&file, findings)?, id),
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
        match taken.entry(folded(&id)) {
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
    let mut unfit = unfit.filter_map(|it| Some((it, not_on_windows(&it.id)?)));
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

/// The largest file of rows, in bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// The rows of a file; `None` after saying why there are none.
fn rows_of_file(file: &At<Word>, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    // Named as the file that names it, so that people know it again.
    let path = findings.path(file.at.source).with_file_name(&file.0);
    if !findings.may_name(file.at, &path) {
        return None;
    }
    let extension = path
        .extension()
        .map(|it| it.to_string_lossy().to_lowercase());
    let read = match extension.as_deref() {
        Some("csv") => rows::csv,
        Some("jsonl" | "ndjson") => rows::json_lines,
        Some("yaml" | "yml") => of_yaml,
        _ => {
            let message = format!("{} does not have the name of a data set", quoted(&file.0));
            let hint = "the name ends in `.csv`, `.jsonl` or `.yaml`";
            return findings.refuse(file.at, message, Some(hint));
        }
    };
    if !path.is_file() {
        findings.depends_on(&path);
        let message = format!("the data set {} is not there", quoted(&file.0));
        return findings.refuse(file.at, message, Some("it is looked for beside this file"));
    }
    let source = findings.read_up_to(&path, MAX_FILE)?;
    let rows = read(source, findings)?;
    if rows.is_empty() {
        return findings.refuse(file.at, "the data set has no rows", NO_HINT);
    }
    Some(rows)
}

fn of_yaml(source: usize, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let errors = findings.errors();
    let document = parse(source, findings)?;
    refuse_rounded(&document, findings);
    let rows = Vec::decode(&document, findings)?;
    (findings.errors() == errors).then_some(rows)
}

/// The characters that no name has on Windows; a `:` would begin the name of a part of the file.
const NOT_ON_WINDOWS: [char; 7] = ['<', '>', ':', '"', '|', '?', '*'];

/// A path in a form that is the same for all that lead to one folder somewhere.
pub fn folded(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let plain: String = part.nfd().collect();
        // Upper case first: `ß`, `ſ` and `ς` are no other letters then.
        let plain = plain.to_uppercase().to_lowercase();
        let plain: String = plain.nfd().collect();
        plain.trim_end_matches(['.', ' ']).to_owned()
    });
    parts.collect::<Vec<String>>().join("/")
}

/// Why Windows has no folder of this name.
fn not_on_windows(name: &str) -> Option<String> {
    if let Some(it) = name.chars().find(|it| NOT_ON_WINDOWS.contains(it)) {
        return Some(format!("a `{it}` is in it"));
    }
    if name.ends_with(['.', ' ']) {
        return Some("it ends with a dot".to_owned());
    }
    let device = name.split('.').next().unwrap_or_default().trim_end();
    let device = device.to_ascii_lowercase();
    let number = device
        .strip_prefix("com")
        .or_else(|| device.strip_prefix("lpt"));
    let is_numbered = number.is_some_and(|it| {
        let mut number = it.chars();
        let first = number.next();
        first.is_some_and(|it| it.is_ascii_digit() || "¹²³".contains(it)) && number.next().is_none()
    });
    let is_device = is_numbered || ["con", "prn", "aux", "nul"].contains(&device.as_str());
    is_device.then(|| "it is the name of a device".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{folded, not_on_windows};

    #[test]
    fn what_leads_to_one_folder_somewhere_is_folded_to_one_text() {
        for (one, other) in [
            ("a", "A"),
            ("Zürich", "ZU\u{308}RICH"),
            ("straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("Å", "\u{212b}"),
            ("a", "a. ."),
            ("cities/a.", "Cities/a"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} and {other}");
        }
        for (one, other) in [
            ("a", "b"),
            ("a.b", "ab"),
            ("é", "e"),
            ("a/b", "a.b"),
            ("½", "1⁄2"),
        ] {
            assert_ne!(folded(one), folded(other), "{one} and {other}");
        }
    }

    #[test]
    fn windows_has_no_folders_called_like_devices_or_with_some_signs() {
        for name in [
            "con", "NUL", "nul.txt", "Com1", "lpt².x", "a:b", "what?", "a.",
        ] {
            assert!(not_on_windows(name).is_some(), "{name}");
        }
        for name in [
            "console",
            "com",
            "com12",
            "a.b",
            "a'b",
            "München",
            "null",
            "x=1,2 (b)",
        ] {
            assert_eq!(not_on_windows(name), None, "{name}");
        }
    }
}
