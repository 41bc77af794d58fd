//! Whether a row from elsewhere holds what the schema can mean. A database takes more than that: any text for a status, a time or JSON.
//!
//! Which columns there are, of which types, and which hold something, `tables.sql` says.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::{TABLES, TABLES_TEXT};
use super::time::written;
use crate::json;
use crate::published::call::CallStatus;
use crate::published::result::{EvaluationStatus, Status};

/// A column as `tables.sql` declares it.
struct Column {
    name: &'static str,
    kind: Kind,
    must_hold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Integer,
    Real,
}

/// The columns of each table.
static COLUMNS: LazyLock<HashMap<&'static str, Vec<Column>>> = LazyLock::new(|| {
    let mut tables: HashMap<&'static str, Vec<Column>> = HashMap::new();
    let mut table = "";
    for line in TABLES_TEXT.lines() {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            table = rest.split(' ').next().unwrap_or_default();
            continue;
        }
        let Some(column) = line.strip_prefix("  ").and_then(column) else {
            continue;
        };
        tables.entry(table).or_default().push(column);
    }
    tables
});

/// The names of a table's columns.
pub(super) fn columns_of(table: &str) -> impl Iterator<Item = &'static str> {
    let columns = COLUMNS.get(table).map_or(&[][..], Vec::as_slice);
    columns.iter().map(|it| it.name)
}

/// A line that declares a column; `None` for one that declares something of several.
fn column(line: &'static str) -> Option<Column> {
    let (declared, comment) = line.split_once("--").unwrap_or((line, ""));
    let (name, rest) = declared.split_once(' ')?;
    let kind = if rest.starts_with("BIGINT") {
        Kind::Integer
    } else if rest.starts_with("DOUBLE") {
        Kind::Real
    } else if rest.starts_with("TEXT") && comment.trim_start().starts_with("JSON") {
        Kind::Json
    } else if rest.starts_with("TEXT") {
        Kind::Text
    } else {
        return None;
    };
    Some(Column {
        name,
        kind,
        must_hold: rest.contains("NOT NULL") || rest.contains("PRIMARY KEY"),
    })
}

/// What is known of the rows that came before.
#[derive(Debug, Default)]
pub(super) struct Checked {
    runs: HashSet<String>,
    results: HashSet<String>,
}

impl Checked {
    /// Checks a row by its table.
    ///
    /// # Errors
    ///
    /// What of it the schema cannot mean, with its table and column.
    pub(super) fn row(&mut self, row: &Value) -> Result<(), String> {
        let Some((table, members)) = of_one_table(row) else {
            return Err("a row is not of one table".to_owned());
        };
        if !TABLES.contains(&table.as_str()) {
            return Err(format!("there is no table `{table}`"));
        }
        let columns = COLUMNS.get(table.as_str()).map_or(&[][..], Vec::as_slice);
        for name in members.keys() {
            if !columns.iter().any(|it| it.name == name) {
                return Err(format!(
                    "`{table}` has no column `{name}`: a newer mcp-eval has written it"
                ));
            }
        }
        for column in columns {
            let value = members.get(column.name).unwrap_or(&Value::Null);
            if let Some(why) = misfit(table, column, value) {
                return Err(format!("`{table}.{}` {why}", column.name));
            }
        }
        self.belongs(table, members)
    }

    /// Whether what a row belongs to came before it.
    fn belongs(&mut self, table: &str, members: &Map<String, Value>) -> Result<(), String> {
        let text = |column: &str| {
            let value = members.get(column).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let (column, known, what) = match table {
            "runs" => {
                self.runs.insert(text("id"));
                return Ok(());
            }
            "results" => {
                self.results.insert(text("id"));
                ("run_id", &self.runs, "run")
            }
            "attempts" | "evaluations" | "tool_calls" => ("result_id", &self.results, "result"),
            _ => return Ok(()),
        };
        if known.contains(&text(column)) {
            return Ok(());
        }
        Err(format!(
            "`{table}.{column}` is of no {what} that stands before it"
        ))
    }
}

fn of_one_table(row: &Value) -> Option<(&String, &Map<String, Value>)> {
    let members = row.as_object().filter(|it| it.len() == 1)?;
    let (table, members) = members.iter().next()?;
    Some((table, members.as_object()?))
}

/// What a value is that its column cannot mean.
fn misfit(table: &str, column: &Column, value: &Value) -> Option<String> {
    let said = match (column.kind, value) {
        (_, Value::Null) => return column.must_hold.then(|| "is missing".to_owned()),
        (_, Value::Bool(_) | Value::Array(_) | Value::Object(_)) => "is neither text nor number",
        (Kind::Integer, value) => return integer(table, column.name, value),
        (Kind::Real, Value::Number(it)) => {
            let is_amount = it.as_f64().is_some_and(|it| it >= 0.0);
            (!is_amount).then_some("is below 0")?
        }
        (Kind::Real, _) => "is no number",
        (_, Value::Number(_)) => "is no text",
        (Kind::Json, Value::String(text)) => return no_json(column.name, text),
        (Kind::Text, Value::String(text)) => return no_text(table, column.name, text),
    };
    Some(said.to_owned())
}

fn integer(table: &str, name: &str, value: &Value) -> Option<String> {
    let Some(number) = value.as_i64() else {
        return Some("is no whole number".to_owned());
    };
    let is_flag = match name {
        "is_final" | "is_retried" | "flaky" | "gating" | "git_dirty" | "source_dirty"
        | "scenarios_dirty" => true,
        "quarantined" => table == "results",
        _ => false,
    };
    if is_flag {
        return (!(0..=1).contains(&number)).then(|| format!("is {number}, and may be 0 or 1"));
    }
    (number < 0).then(|| format!("is {number}, and counts something"))
}

fn no_json(name: &str, text: &str) -> Option<String> {
    let Ok(value) = json::read::<Value>(text.as_bytes()) else {
        return Some("is no JSON".to_owned());
    };
    let is_list = || {
        let items = value.as_array();
        items.is_some_and(|it| it.iter().all(Value::is_string))
    };
    match name {
        "tags" | "expected_tools" | "actual_tools" => {
            (!is_list()).then(|| "is no JSON list of texts".to_owned())
        }
        "verdict" => (!value.is_object()).then(|| "is no JSON object".to_owned()),
        _ => None,
    }
}

fn no_text(table: &str, name: &str, text: &str) -> Option<String> {
    let is_time = matches!(
        name,
        "started_at" | "completed_at" | "created_at" | "updated_at"
    );
    if is_time {
        let time: Option<Timestamp> = text.parse().ok();
        let is_ours = time.is_some_and(|it| written(it) == text);
        return (!is_ours).then(|| "is no time of the form 2026-01-31T12:00:00.000000Z".to_owned());
    }
    if name != "status" {
        return None;
    }
    let is_one = match table {
        "runs" => matches!(text, "running" | "completed" | "interrupted"),
        "evaluations" => is_a::<EvaluationStatus>(text),
        "tool_calls" => is_a::<CallStatus>(text),
        _ => is_a::<Status>(text),
    };
    (!is_one).then(|| "is no status that there is".to_owned())
}

/// Whether a text is the name of one of these.
fn is_a<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_value::<T>(text.into()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, Kind};
    use crate::store::database::schema::TABLES;

    #[test]
    fn all_columns_are_known() {
        let kinds = |table: &str| -> Vec<(&str, Kind, bool)> {
            let columns = COLUMNS[table].iter();
            columns.map(|it| (it.name, it.kind, it.must_hold)).collect()
        };
        assert_eq!(TABLES.map(|it| kinds(it).len()), [31, 8, 60, 15, 11, 12]);
        let runs = kinds("runs");
        assert_eq!(runs[0], ("id", Kind::Text, true));
        assert!(runs.contains(&("called", Kind::Json, false)));
        assert!(kinds("results").contains(&("run_id", Kind::Text, true)));
        assert!(kinds("results").contains(&("score", Kind::Real, false)));
        assert!(kinds("tool_calls").contains(&("arguments", Kind::Json, false)));
    }
}
