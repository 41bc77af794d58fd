//! A file of SQLite, that a server under test may be writing right now.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use serde_json::{Number, Value};

use super::query::{Gathered, Query, Rows, bytes, unbound, wrong_count};
use super::statement;

pub(super) async fn ask(path: PathBuf, query: &Query) -> Result<Rows, String> {
    let parameters = query.parameters.iter().map(cell);
    let parameters: Vec<Cell> = parameters.collect::<Result<_, _>>()?;
    let text = statement::bare(&query.text).to_owned();
    let timeout = query.timeout;
    let (found, interrupt) = tokio::sync::oneshot::channel();
    let asking = tokio::task::spawn_blocking(move || {
        let connection = open(&path, timeout)?;
        // Nobody may be there to hear of it any more.
        let _ = found.send(connection.get_interrupt_handle());
        rows(&connection, &text, &parameters)
    });
    // A query that is given up ends at once, and does not keep its thread.
    let _ending = interrupt.await.ok().map(Interrupting);
    match asking.await {
        Ok(answered) => answered,
        Err(error) => Err(error.to_string()),
    }
}

/// Ends what is asked when it is dropped.
struct Interrupting(rusqlite::InterruptHandle);

impl Drop for Interrupting {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

fn open(path: &Path, timeout: Duration) -> Result<Connection, String> {
    if path.is_dir() {
        return Err(format!("{} is a folder", path.display()));
    }
    if !path.is_file() {
        return Err(format!("there is no file {}", path.display()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let cannot = |error: rusqlite::Error| format!("{} cannot be read: {error}", path.display());
    let connection = if is_closed_log(path) {
        Connection::open_with_flags(as_it_is(path), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(path, flags)
    }
    .map_err(cannot)?;
    connection.busy_timeout(timeout).map_err(cannot)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(cannot)?;
    Ok(connection)
}

/// Whether a database keeps a write-ahead log that nobody has open. Whoever reads it in the usual way makes one beside it, and leaves that there.
/// Bytes 18 and 19 of the file say what it keeps: <https://sqlite.org/fileformat.html#file_format_version_numbers>.
fn is_closed_log(path: &Path) -> bool {
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut header));
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    read.is_ok() && header[18..] == [2, 2] && !Path::new(&log).exists()
}

/// The address of a file that is read without looking for changes: <https://sqlite.org/uri.html#uriimmutable>.
fn as_it_is(path: &Path) -> OsString {
    let mut address = OsString::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'?' | b'#' | b'%' => address.push(format!("%{byte:02x}")),
            _ => address.push(OsStr::from_bytes(std::slice::from_ref(byte))),
        }
    }
    address.push("?immutable=1");
    address
}

fn rows(connection: &Connection, text: &str, parameters: &[Cell]) -> Result<Rows, String> {
    let said = |error: rusqlite::Error| error.to_string();
    let mut prepared = connection.prepare(text).map_err(said)?;
    if !prepared.readonly() {
        return Err("only queries are asked, and this one would write".to_owned());
    }
    let wanted = prepared.parameter_count();
    if wanted != parameters.len() {
        return Err(wrong_count(wanted, parameters.len()));
    }
    let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut gathered = Gathered::new(columns);
    let mut rows = prepared.query(params_from_iter(parameters)).map_err(said)?;
    while let Some(row) = rows.next().map_err(said)? {
        let values = (0..width).map(|it| row.get_ref(it).map(value));
        if !gathered.take(values.collect::<Result<_, _>>().map_err(said)?) {
            break;
        }
    }
    Ok(gathered.rows)
}

fn cell(value: &Value) -> Result<Cell, String> {
    Ok(match value {
        Value::Null => Cell::Null,
        Value::Bool(it) => Cell::Integer(i64::from(*it)),
        Value::Number(it) => match (it.as_i64(), it.as_f64()) {
            (Some(it), _) => Cell::Integer(it),
            (None, Some(it)) => Cell::Real(it),
            (None, None) => return Err(unbound(value)),
        },
        Value::String(it) => Cell::Text(it.clone()),
        Value::Array(_) | Value::Object(_) => return Err(unbound(value)),
    })
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(it) => it.into(),
        // JSON has no number for what is none.
        ValueRef::Real(it) => {
            Number::from_f64(it).map_or_else(|| it.to_string().into(), Value::Number)
        }
        ValueRef::Text(it) | ValueRef::Blob(it) => bytes(it),
    }
}
