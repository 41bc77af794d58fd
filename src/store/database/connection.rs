//! Values, faults and commands that both kinds of databases share.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::json;
use crate::model::Redacted;

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
    Stays,
    Replaced,
}

/// Writes a row, by its `id`; returns whether anything was written.
pub(super) fn put(
    connection: &mut dyn Connection,
    table: &str,
    record: &Record,
    existing: Existing,
) -> Result<bool, Fault> {
    let columns = record.columns.join(", ");
    let places: Vec<String> = (1..=record.columns.len())
        .map(|place| format!("${place}"))
        .collect();
    let conflict = match existing {
        Existing::Stays => "NOTHING".to_owned(),
        Existing::Replaced => {
            let sets = record.columns.iter();
            let sets: Vec<String> = sets
                .map(|column| format!("{column} = excluded.{column}"))
                .collect();
            format!("UPDATE SET {}", sets.join(", "))
        }
    };
    let sql = format!(
        "INSERT INTO {table} ({columns}) VALUES ({}) ON CONFLICT (id) DO {conflict}",
        places.join(", ")
    );
    Ok(connection.execute(&sql, &record.cells)? > 0)
}

/// The text of a document. Only what holds no secret has one.
pub(super) fn document<T: Serialize>(of: &Redacted<T>) -> Result<String, Fault> {
    let text = serde_json::to_string(&**of);
    let text = text.map_err(|error| Fault::Other(format!("it cannot be written: {error}")))?;
    Ok(json::escaped(text))
}

/// Why a database cannot be asked or written, in a sentence without what gives access to it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DatabaseError {
    message: String,
}

impl DatabaseError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// The same, as those see it who may do something about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Fault {
    /// The file cannot be what was written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// A later program has changed the schema.
    #[error(
        "its schema is version {found}, and this mcp-eval knows versions up to {known}: a newer mcp-eval can read it; to start again, move it away \
         or name another one with `--db`"
    )]
    Newer { found: u32, known: u32 },
    /// Its tables are not those of its version.
    #[error("{why}: {way}")]
    Misshapen { why: String, way: &'static str },
    /// Only a damaged file, or a mistake of ours, makes it so.
    #[error("{0}")]
    Doubtful(String),
    /// It does not answer: another try would wait as long again.
    #[error("{0}")]
    Silent(String),
    /// The connection has ended, or somebody else holds the database for too long: another try may go otherwise.
    #[error("{0}")]
    Lost(String),
    #[error("{0}")]
    Other(String),
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// One row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) columns: std::sync::Arc<[String]>,
    pub(super) cells: Vec<Cell>,
}

/// A row that is to be written: its columns with their values.
#[derive(Debug, Default)]
pub(super) struct Record {
    columns: Vec<&'static str>,
    cells: Vec<Cell>,
}

impl Record {
    /// The same with one more column.
    #[must_use]
    pub(super) fn with(mut self, column: &'static str, value: impl Into<Cell>) -> Self {
        self.columns.push(column);
        self.cells.push(value.into());
        self
    }
}

impl Row {
    pub(super) fn cell(&self, column: &str) -> &Cell {
        let at = self.columns.iter().position(|it| it == column);
        at.and_then(|at| self.cells.get(at)).unwrap_or(&Cell::Null)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.cell(column) {
            Cell::Text(it) => Some(it.clone()),
            _ => None,
        }
    }

    /// A text that is never null; empty where somebody else has made it so.
    pub(super) fn string(&self, column: &str) -> String {
        self.text(column).unwrap_or_default()
    }

    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Integer(it) => Some(*it),
            _ => None,
        }
    }

    /// A count; `None` where there is none, or somebody else has made it negative.
    pub(super) fn count(&self, column: &str) -> Option<u64> {
        self.integer(column).and_then(|it| it.try_into().ok())
    }

    pub(super) fn real(&self, column: &str) -> Option<f64> {
        match self.cell(column) {
            Cell::Real(it) => Some(*it),
            #[expect(
                clippy::cast_precision_loss,
                reason = "a number that was written without its point"
            )]
            Cell::Integer(it) => Some(*it as f64),
            _ => None,
        }
    }

    pub(super) fn flag(&self, column: &str) -> Option<bool> {
        self.integer(column).map(|it| it != 0)
    }

    /// What its document says.
    ///
    /// # Errors
    ///
    /// Whose document it is that says nothing of the kind.
    pub(super) fn document<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let text = self.string("document");
        json::read(text.as_bytes()).map_err(|error| {
            Fault::Other(format!(
                "the document of `{}` cannot be read ({error}): without its row, `mcp-eval db rebuild` rebuilds it from the files of its run",
                self.string("id")
            ))
        })
    }
}

impl From<i64> for Cell {
    fn from(it: i64) -> Self {
        Self::Integer(it)
    }
}

impl From<bool> for Cell {
    fn from(it: bool) -> Self {
        Self::Integer(it.into())
    }
}

/// What is too large for a database to count is not known.
impl From<usize> for Cell {
    fn from(it: usize) -> Self {
        i64::try_from(it).map_or(Self::Null, Self::Integer)
    }
}

/// What is no number is not known.
impl From<f64> for Cell {
    fn from(it: f64) -> Self {
        if it.is_finite() {
            Self::Real(it)
        } else {
            Self::Null
        }
    }
}

/// A character that ends texts in C is refused by PostgreSQL, and would end the text for others who read a file of SQLite.
impl From<String> for Cell {
    fn from(it: String) -> Self {
        if it.contains('\0') {
            return Self::Text(it.replace('\0', "\u{fffd}"));
        }
        Self::Text(it)
    }
}

impl From<&str> for Cell {
    fn from(it: &str) -> Self {
        it.to_owned().into()
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Null, Into::into)
    }
}

/// A time to the microsecond.
pub(super) fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// A time that a document tells; one that cannot be read stays as it is.
pub(super) fn rewritten(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), written)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn all_are_of_one_length_and_sort_as_they_are() {
        let in_order = [
            (
                "2026-11-22T09:59:59.9999999Z",
                "2026-11-22T09:59:59.999999Z",
            ),
            ("2026-11-22T11:00:00+01:00", "2026-11-22T10:00:00.000000Z"),
            ("2026-11-22T10:00:00.5Z", "2026-11-22T10:00:00.500000Z"),
        ];
        for (read, written) in in_order {
            assert_eq!(rewritten(read), written);
        }
        assert!(in_order.is_sorted_by_key(|it| rewritten(it.0)));
        assert_eq!(rewritten("some day"), "some day");
    }
}
