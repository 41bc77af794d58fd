//! All rows as lines of JSON, out of a database and into another one.
//!
//! The first line says what it is: `{"format_version": 1, "kind": "mcp-eval results", …}`. Each further one is a row by its table:
//! `{"results": {"id": …, …}}`, with those first that others refer to.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use serde_json::{Map, Value, json};

use super::cell::{Cell, Record, Row};
use super::checked::Checked;
use super::connection::{Connection, Existing, put, transaction};
use super::error::Fault;
use super::ids::{id_in_files, result_id};
use super::schema::{TABLES, VERSION};
use super::shape::damage;
use super::write;
use crate::json;
use crate::model::redacted::Redacted;

/// The version of the form.
const FORMAT_VERSION: u64 = 1;

/// What a file of this form says of itself.
const KIND: &str = "mcp-eval results";

/// How many rows are read at once.
const PAGE: usize = 1000;

/// How many rows are written in one transaction.
const BATCH: usize = 500;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 256 * 1024 * 1024;

/// How many rows were copied, and how many were there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    pub runs: u64,
    pub results: u64,
    /// Of all tables.
    pub rows: u64,
    pub known: u64,
}

/// The columns that tell the rows of a table apart.
fn keys(table: &str) -> &'static [&'static str] {
    match table {
        "attempts" => &["result_id", "is_retried", "number"],
        "evaluations" => &["result_id", "number"],
        "tool_calls" => &["result_id", "attempt", "number"],
        _ => &["id"],
    }
}

/// Writes all rows, as they are at one moment.
pub(super) fn export(
    connection: &mut dyn Connection,
    out: &mut dyn Write,
) -> Result<Copied, Fault> {
    connection.begin_reading()?;
    let exported = rows_to(connection, out);
    connection.roll_back();
    exported
}

fn rows_to(connection: &mut dyn Connection, out: &mut dyn Write) -> Result<Copied, Fault> {
    let mut rows = 0;
    for table in TABLES {
        let sql = format!("SELECT COUNT(*) AS count FROM {table}");
        let counted = connection.query(&sql, &[])?;
        rows += counted
            .first()
            .and_then(|it| it.count("count"))
            .unwrap_or(0);
    }
    let mut line = |value: &Value| {
        let text = json::escaped(value.to_string());
        writeln!(out, "{text}")
            .map_err(|error| Fault::Undelivered(format!("the rows cannot be written: {error}")))
    };
    line(&json!({
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "mcp_eval": env!("CARGO_PKG_VERSION"),
        "schema": VERSION,
        "rows": rows,
    }))?;
    let mut copied = Copied::default();
    for table in TABLES {
        let keys = keys(table);
        let names = keys.join(", ");
        let places: Vec<String> = (1..=keys.len()).map(|it| format!("${it}")).collect();
        let mut last: Option<Vec<Cell>> = None;
        loop {
            let behind = if last.is_some() {
                format!(" WHERE ({names}) > ({})", places.join(", "))
            } else {
                String::new()
            };
            let sql = format!("SELECT * FROM {table}{behind} ORDER BY {names} LIMIT {PAGE}");
            let rows = connection.query(&sql, last.as_deref().unwrap_or_default())?;
            for row in &rows {
                line(&json!({ table: object(row) }))?;
            }
            copied.count(table, rows.len() as u64);
            match rows.last() {
                Some(row) if rows.len() == PAGE => {
                    last = Some(keys.iter().map(|it| row.cell(it).clone()).collect());
                }
                _ => break,
            }
        }
    }
    Ok(copied)
}

impl Copied {
    fn count(&mut self, table: &str, rows: u64) {
        self.rows += rows;
        match table {
            "runs" => self.runs += rows,
            "results" => self.results += rows,
            _ => {}
        }
    }
}

fn object(row: &Row) -> Value {
    let members = row
        .columns
        .iter()
        .cloned()
        .zip(row.cells.iter().cloned().map(Value::from));
    Value::Object(members.collect())
}

/// A line of such a file, read.
pub(super) struct Line {
    table: &'static str,
    members: Map<String, Value>,
}

/// Reads the lines of such a file, and checks what they hold.
pub struct Lines<R> {
    from: R,
    /// What errors call it.
    name: String,
    checked: Checked,
    number: usize,
    /// How many rows there are by what the first line says, and how many were read.
    promised: Option<u64>,
    read: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads the first line, which says what it is. Errors call it by this name.
    ///
    /// # Errors
    ///
    /// When it says something else.
    pub fn begin(from: R, name: impl Into<String>) -> Result<Self, String> {
        let mut lines = Self {
            from,
            name: name.into(),
            checked: Checked::default(),
            number: 0,
            promised: None,
            read: 0,
        };
        let head = lines.next_value()?.unwrap_or(Value::Null);
        let name = &lines.name;
        if head["kind"] != KIND {
            return Err(format!(
                "{name}: it is no export of a results database: its first line does not say so"
            ));
        }
        if let Some(newer) = head["schema"]
            .as_u64()
            .filter(|it| *it > u64::from(VERSION))
        {
            return Err(format!(
                "{name}, line 1: its schema is version {newer}, and this mcp-eval knows versions up to {VERSION}: a newer mcp-eval can read it"
            ));
        }
        match head["format_version"].as_u64() {
            Some(FORMAT_VERSION) => {
                lines.promised = head["rows"].as_u64();
                Ok(lines)
            }
            _ => Err(format!(
                "{name}: format version {} of exports is not known here: this mcp-eval reads version {FORMAT_VERSION}",
                head["format_version"]
            )),
        }
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line; that it is the end, and rows are missing.
    pub fn next_row(&mut self) -> Result<Option<Value>, String> {
        let row = self.next_value()?;
        if let Some(row) = &row {
            let checked = self.checked.row(row);
            checked.map_err(|why| format!("{}, line {}: {why}", self.name, self.number))?;
            self.read += 1;
        } else if let Some(promised) = self.promised.filter(|it| *it > self.read) {
            return Err(format!(
                "{}: it was cut off: its first line says {promised} rows, and there are {}",
                self.name, self.read
            ));
        }
        Ok(row)
    }

    /// Reads and checks all that is left.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it, with its line.
    pub fn check(mut self) -> Result<(), String> {
        while self.next_row()?.is_some() {}
        Ok(())
    }

    fn next_value(&mut self) -> Result<Option<Value>, String> {
        use std::io::Read as _;
        let mut line = Vec::new();
        loop {
            line.clear();
            self.number += 1;
            let at = |why: String| format!("{}, line {}: {why}", self.name, self.number);
            let mut limited = (&mut self.from).take(LONGEST);
            limited
                .read_until(b'\n', &mut line)
                .map_err(|error| at(error.to_string()))?;
            if line.is_empty() {
                return Ok(None);
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
                return Err(at("it is too long".to_owned()));
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return json::read(&line).map(Some).map_err(|error| {
                    let why = error.to_string();
                    // That is the line of the text alone which was read.
                    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
                    at(why.to_owned())
                });
            }
        }
    }
}

impl Line {
    /// A row by its table, and nothing else.
    fn of(value: Value) -> Result<Self, String> {
        let Value::Object(members) = value else {
            return Err("a row is no object".to_owned());
        };
        let mut members = members.into_iter();
        match (members.next(), members.next()) {
            (Some((name, Value::Object(members))), None) => {
                let table = TABLES.into_iter().find(|it| *it == name);
                let table = table.ok_or_else(|| format!("there is no table `{name}`"))?;
                Ok(Self { table, members })
            }
            _ => Err("a row is not of one table".to_owned()),
        }
    }
}

/// Adds rows that are not there yet. Ids of runs that are taken by others become new ones, with all that belongs to them.
pub(super) struct Import {
    /// The columns of each table.
    columns: HashMap<&'static str, Vec<String>>,
    /// The ids that runs and results have here, where these are others.
    runs: HashMap<String, String>,
    results: HashMap<String, String>,
    copied: Copied,
}

impl Import {
    pub(super) fn begin(connection: &mut dyn Connection) -> Result<Self, Fault> {
        let mut columns = HashMap::new();
        for table in TABLES {
            columns.insert(table, connection.columns(table)?);
        }
        Ok(Self {
            columns,
            runs: HashMap::new(),
            results: HashMap::new(),
            copied: Copied::default(),
        })
    }

    /// Adds these rows, all or none.
    pub(super) fn add(
        &mut self,
        connection: &mut dyn Connection,
        rows: &[Redacted<Value>],
    ) -> Result<(), Fault> {
        let before = self.copied;
        let done = transaction(connection, |connection| {
            rows.iter().try_for_each(|it| self.add_one(connection, it))
        });
        if done.is_err() {
            self.copied = before;
        }
        done
    }

    fn add_one(&mut self, connection: &mut dyn Connection, row: &Value) -> Result<(), Fault> {
        let Line { table, members } = Line::of(row.clone()).map_err(Fault::Unfit)?;
        let known = &self.columns[table];
        let mut record = Record::default();
        for (name, value) in members {
            let column = known.iter().find(|it| **it == name);
            let column = column.ok_or_else(|| {
                Fault::Other(format!(
                    "`{table}` has no column `{name}`: a newer mcp-eval has written it"
                ))
            })?;
            record.set(
                column.clone(),
                cell(value).map_err(|why| Fault::Other(format!("`{table}.{name}` {why}")))?,
            );
        }
        self.rename(connection, table, &mut record)?;
        let put = put(connection, table, keys(table), &record, Existing::Stays);
        let unfit = |why: &str| Fault::Unfit(format!("a row of `{table}` is not taken: {why}"));
        let is_new = put.map_err(|fault| match fault {
            // The database is as it should be: the row is nothing that it takes.
            Fault::Other(why) => unfit(&why),
            // Unless it is not.
            Fault::Doubtful(why) => match damage(connection) {
                Ok(damage) if damage.is_empty() => unfit(&why),
                Ok(damage) => Fault::Damaged(damage.join("; ")),
                Err(fault) => fault,
            },
            fault => fault,
        })?;
        if is_new {
            self.copied.count(table, 1);
        } else {
            self.copied.known += 1;
        }
        Ok(())
    }

    fn rename(
        &mut self,
        connection: &mut dyn Connection,
        table: &str,
        record: &mut Record,
    ) -> Result<(), Fault> {
        let text = |record: &Record, column: &str| match record.get(column) {
            Cell::Text(it) => it.clone(),
            _ => String::new(),
        };
        match table {
            "runs" => {
                let here = write::id_of(
                    connection,
                    &text(record, "run"),
                    &text(record, "started_at"),
                )?;
                let there = text(record, "id");
                if here != there {
                    record.set("id", here.as_str());
                    self.runs.insert(there, here);
                }
            }
            "results" => {
                let (there, own) = (text(record, "run_id"), text(record, "id"));
                if let Some(run) = self.runs.get(&there) {
                    let scenario = text(record, "scenario_id");
                    let id = result_id(run, &id_in_files(&there, &scenario, &own));
                    self.results.insert(own, id.clone());
                    record.set("run_id", run.as_str());
                    record.set("id", id);
                }
            }
            "attempts" | "evaluations" | "tool_calls" => {
                if let Some(id) = self.results.get(&text(record, "result_id")) {
                    record.set("result_id", id.as_str());
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn copied(&self) -> Copied {
        self.copied
    }
}

/// Reads rows until there are enough for one transaction.
///
/// # Errors
///
/// What is wrong with a line.
pub(super) fn batch<R: BufRead>(
    lines: &mut Lines<R>,
    redact: &dyn Fn(Value) -> Redacted<Value>,
) -> Result<Vec<Redacted<Value>>, String> {
    let mut rows = Vec::new();
    while rows.len() < BATCH {
        let Some(row) = lines.next_row()? else {
            break;
        };
        rows.push(redact(row));
    }
    Ok(rows)
}

fn cell(value: Value) -> Result<Cell, &'static str> {
    Ok(match value {
        Value::Null => Cell::Null,
        Value::String(it) => it.into(),
        Value::Number(it) => match (it.as_i64(), it.as_f64()) {
            (Some(it), _) => Cell::Integer(it),
            (None, Some(it)) => it.into(),
            (None, None) => return Err("is a number that no database has"),
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err("is neither text nor number");
        }
    })
}
