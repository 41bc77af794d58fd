//! What both kinds of databases can do.

use std::borrow::Cow;
use std::path::PathBuf;

use super::cell::{Cell, Record, Row};
use super::error::Fault;

/// An open connection. All statements write parameters as `$1`, `$2` and on, each first used in this order, which both kinds read alike.
pub(super) trait Connection: Send {
    /// `sqlite` or `postgresql`.
    fn kind(&self) -> &'static str;

    /// Runs one statement; returns how many rows it has changed.
    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, Fault>;

    /// Asks for rows.
    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, Fault>;

    /// Runs several statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), Fault>;

    /// Begins to write, as the only one.
    fn begin(&mut self) -> Result<(), Fault>;

    fn commit(&mut self) -> Result<(), Fault>;

    fn roll_back(&mut self);

    /// Waits until nobody else changes the schema, within a transaction.
    fn lock_schema(&mut self) -> Result<(), Fault>;

    /// The number of the last migration; 0 for a database that has nothing of ours.
    fn version(&mut self) -> Result<u32, Fault>;

    /// Sets it, within the transaction of the migration.
    fn set_version(&mut self, version: u32) -> Result<(), Fault>;

    /// The names of all tables that are there, whoever has made them.
    fn tables(&mut self) -> Result<Vec<String>, Fault>;

    /// The names of a table's columns.
    fn columns(&mut self, table: &str) -> Result<Vec<String>, Fault>;

    /// Keeps what there is before the migration to this version; returns the file in which it is, where it is one.
    fn back_up(&mut self, before: u32) -> Result<Option<PathBuf>, Fault>;

    /// Whether what it is connected with is still what stands in its place.
    fn is_current(&self) -> bool;

    /// How many bytes it takes; `None` where it does not tell.
    fn bytes(&mut self) -> Option<u64>;

    /// What is wrong with it; empty where nothing is known to be.
    fn check(&mut self) -> Result<Vec<String>, Fault>;

    /// Gives back what rows took that are gone.
    fn shrink(&mut self) -> Result<(), Fault>;
}

/// Does all of it, or nothing.
pub(super) fn transaction<T>(
    connection: &mut dyn Connection,
    work: impl FnOnce(&mut dyn Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    connection.begin()?;
    let done = work(connection).and_then(|done| {
        connection.commit()?;
        Ok(done)
    });
    if done.is_err() {
        connection.roll_back();
    }
    done
}

/// What becomes of a row that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// It stays.
    Stays,
    /// It is replaced, but for columns of which nothing is known now.
    Learns,
    /// It is replaced.
    Replaced,
}

/// Writes a row; returns whether anything was written.
pub(super) fn put(
    connection: &mut dyn Connection,
    table: &str,
    keys: &[&str],
    record: &Record,
    existing: Existing,
) -> Result<bool, Fault> {
    let columns = record.columns.join(", ");
    let places: Vec<String> = (1..=record.columns.len())
        .map(|it| format!("${it}"))
        .collect();
    let others = record
        .columns
        .iter()
        .filter(|it| !keys.contains(&it.as_ref()));
    let set = |it: &Cow<'static, str>| match existing {
        Existing::Learns => format!("{it} = COALESCE(excluded.{it}, {table}.{it})"),
        Existing::Stays | Existing::Replaced => format!("{it} = excluded.{it}"),
    };
    let sets: Vec<String> = others.map(set).collect();
    let conflict = if existing == Existing::Stays || sets.is_empty() {
        "NOTHING".to_owned()
    } else {
        format!("UPDATE SET {}", sets.join(", "))
    };
    let sql = format!(
        "INSERT INTO {table} ({columns}) VALUES ({}) ON CONFLICT ({}) DO {conflict}",
        places.join(", "),
        keys.join(", ")
    );
    Ok(connection.execute(&sql, &record.cells)? > 0)
}
