//! Places in JSON that its structure says to be secret: under a mask beside values, as Terraform writes it, in a column of a table, as the
//! second of a pair.

use serde_json::Value;

use super::keys::{self, MARKED, SecretKey};
use super::random;

/// Members that say with `true` which places are secret in another one.
const MASKS: [(&str, &str); 3] = [
    ("sensitive_values", "/values"),
    ("before_sensitive", "/before"),
    ("after_sensitive", "/after"),
];

/// The member that lists the paths of secret attributes.
const PATHS: &str = "sensitive_attributes";

/// Members that name the columns of a table, and those that hold its rows.
const HEADS: [&str; 4] = ["columns", "headers", "header", "fields"];
const ROWS: [&str; 3] = ["rows", "data", "values"];

/// A place below a value, as a JSON pointer, and the key that it stands under.
type Place = (String, SecretKey);

/// Whether an object with a member of this name may say which of its places are secret.
pub(super) fn may_tell(name: &str) -> bool {
    name == PATHS || HEADS.contains(&name) || MASKS.iter().any(|it| it.0 == name)
}

/// The secret places that an object or a list tells of.
pub(super) fn places(value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    if let Value::Array(rows) = value {
        rows_of(rows, &mut found);
    }
    for (mask, at) in MASKS {
        masked(&value[mask], at, &mut found);
    }
    for path in value[PATHS].as_array().into_iter().flatten() {
        let steps = path.as_array().into_iter().flatten();
        let steps = steps.map_while(|it| Some(format!("/{}", it["value"].as_str()?)));
        found.push((format!("/attributes{}", steps.collect::<String>()), MARKED));
    }
    let list = |name: &&str| value[*name].as_array();
    let rows = ROWS.iter().find_map(|it| Some((it, list(it)?)));
    if let (Some(head), Some((name, rows))) = (HEADS.iter().find_map(list), rows) {
        columns(head, rows, (&format!("/{name}"), 0), &mut found);
    }
    found
}

/// The places where a mask of the same shape says `true`.
fn masked(mask: &Value, at: &str, found: &mut Vec<Place>) {
    let items = mask.as_array().into_iter().flatten().enumerate();
    items.for_each(|(index, it)| masked(it, &format!("{at}/{index}"), found));
    let members = mask.as_object().into_iter().flatten();
    members.for_each(|(name, it)| masked(it, &format!("{at}/{name}"), found));
    found.extend((*mask == Value::Bool(true)).then(|| (at.to_owned(), MARKED)));
}

/// A list of pairs, or of rows of which the first one is the head.
fn rows_of(rows: &[Value], found: &mut Vec<Place>) {
    for (index, it) in rows.iter().enumerate() {
        let pair = it.as_array().filter(|it| it.len() == 2);
        let pair = pair.and_then(|it| Some((it[0].as_str()?, it[1].as_str()?)));
        let key = pair.filter(|it| random::is_random(it.1));
        let key = key.and_then(|it| keys::secret_key(it.0));
        found.extend(key.map(|it| (format!("/{index}/1"), it)));
    }
    if let Some((Value::Array(head), rows)) = rows.split_first() {
        columns(head, rows, ("", 1), found);
    }
}

/// The cells in columns that are headed by keys, where all rows are as long as the head; `first` is the index of the first row.
fn columns(head: &[Value], rows: &[Value], (at, first): (&str, usize), found: &mut Vec<Place>) {
    let name = |it: &'_ Value| it.as_str().or(it["name"].as_str()).map(str::to_owned);
    let names: Option<Vec<String>> = head.iter().map(name).collect();
    let is_name = |it: &String| !random::is_random(it) && !it.contains('<');
    let is_row = |it: &Value| it.as_array().is_some_and(|it| it.len() == head.len());
    let is_table = head.len() > 1 && rows.iter().all(is_row);
    let names = names.filter(|it| is_table && it.iter().all(is_name));
    let names = names.unwrap_or_default();
    for (column, name) in names.iter().enumerate() {
        if let Some(key) = keys::secret_key(name) {
            let rows = first..first + rows.len();
            found.extend(rows.map(|row| (format!("{at}/{row}/{column}"), key)));
        }
    }
}
