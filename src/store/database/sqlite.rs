//! A file of SQLite, which several processes may write at the same time.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection as Handle, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::connection::{Cell, Connection, Fault, Row};
use super::schema::{VERSION, has_columns, missing};
use crate::input;
use crate::store::files::folder_of;

/// How long another process may write until we give up for now.
const PATIENCE: Duration = Duration::from_secs(10);

/// Says in the file whose it is: `mcpe`.
const APPLICATION: i32 = 0x6d63_7065;

/// How many statements stay prepared: more than we have.
const STATEMENTS: usize = 64;

/// What any file of SQLite begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Where in a file of SQLite the number of its application stands.
const APPLICATION_AT: usize = 68;

/// Where it stands how it is written: in the usual way, or so that others read it meanwhile.
const FORM_AT: usize = 18;

/// An open file of SQLite.
pub(super) struct Sqlite {
    file: Handle,
    path: PathBuf,
    /// Device and number of the file.
    identity: (u64, u64),
    /// The folder it lies in, which is held by those who write, and by nobody else while a damaged file is set aside.
    folder: Option<File>,
}

/// Whether a file may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    Read,
    /// Where not even the files beside it can be made that readers share.
    Untouched,
}

impl Sqlite {
    /// Opens a file, and makes it where there is none. Where it cannot be written it is read.
    pub(super) fn open(path: &Path) -> Result<Self, Fault> {
        let links = input::check_links(path, path);
        links.map_err(|error| Fault::Other(error.to_string()))?;
        if let Some(folder) = path.parent().filter(|it| *it != Path::new("")) {
            fs::create_dir_all(folder).map_err(|error| Fault::Other(error.to_string()))?;
        }
        if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
            return Err(Fault::Other("it is not a file".to_owned()));
        }
        if !Self::has_known_form(path) {
            return Err(Fault::Damaged(
                "its first page names an unknown format".to_owned(),
            ));
        }
        let first = match Self::open_with(path, Access::Write) {
            Ok(opened) => return Ok(opened),
            Err(fault @ (Fault::Damaged(_) | Fault::Newer { .. } | Fault::Lost(_))) => {
                return Err(fault);
            }
            Err(other) => other,
        };
        if !path.is_file() {
            return Err(first);
        }
        let read = Self::open_with(path, Access::Read)
            .or_else(|_| Self::open_with(path, Access::Untouched));
        read.map_err(|_| first)
    }

    fn open_with(path: &Path, access: Access) -> Result<Self, Fault> {
        let folder = File::open(folder_of(path)).ok();
        let held = hold(folder.as_ref(), Hold::Shared)?;
        let flags = match access {
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Untouched => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = if access == Access::Untouched {
            Handle::open_with_flags(unchanging(path)?, flags)
        } else {
            Handle::open_with_flags(path, flags)
        };
        let file = file.map_err(fault)?;
        file.busy_timeout(PATIENCE).map_err(fault)?;
        file.set_prepared_statement_cache_capacity(STATEMENTS);
        file.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;")
            .map_err(fault)?;
        let tables: i64 = file
            .query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(fault)?;
        if tables > 0 {
            let application: i32 = file
                .query_row("PRAGMA application_id", [], |row| row.get(0))
                .map_err(fault)?;
            if application != APPLICATION {
                return Err(Fault::Other(
                    "it is a database of something else".to_owned(),
                ));
            }
        }
        if access == Access::Write {
            // Whether it can be written shows only when that is tried.
            file.execute_batch("BEGIN IMMEDIATE; ROLLBACK;")
                .map_err(fault)?;
        }
        let found = fs::metadata(path).map_err(|error| Fault::Lost(error.to_string()))?;
        drop(held);
        Ok(Self {
            file,
            path: path.to_owned(),
            identity: (found.dev(), found.ino()),
            folder,
        })
    }

    /// Whether the file at this path is, or was, one of ours, so that it may be moved away.
    pub(super) fn is_ours(path: &Path) -> bool {
        let Ok(content) = head(path) else {
            return false;
        };
        let application = content.get(APPLICATION_AT..APPLICATION_AT + 4);
        content.starts_with(MAGIC) && application == Some(&APPLICATION.to_be_bytes())
    }

    /// Moves a damaged file away, with what belongs to it, so that a new one can be made. `None` where somebody else has done so already.
    pub(super) fn set_aside(path: &Path, name: &str) -> Result<Option<PathBuf>, Fault> {
        let folder = File::open(folder_of(path)).ok();
        let held = hold(folder.as_ref(), Hold::Alone)?;
        if !path.exists() || Self::is_sound(path) {
            return Ok(None);
        }
        let aside = free(path, name);
        fs::rename(path, &aside)
            .map_err(|error| Fault::Other(format!("it cannot be moved away: {error}")))?;
        for end in ["-wal", "-shm"] {
            // Where there is none, nothing belongs to it.
            let _ = fs::rename(beside(path, end), beside(&aside, end));
        }
        drop(held);
        Ok(Some(aside))
    }

    /// Whether the form that a file names is one of those that there are. SQLite only reads files of others.
    fn has_known_form(path: &Path) -> bool {
        let head = head(path).unwrap_or_default();
        let form = head.get(FORM_AT).filter(|_| head.starts_with(MAGIC));
        form.is_none_or(|it| (1..=2).contains(it))
    }

    /// Whether a file can be read from beginning to end, and written.
    fn is_sound(path: &Path) -> bool {
        let checked = || -> Result<bool, Fault> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let file = Handle::open_with_flags(path, flags).map_err(fault)?;
            file.busy_timeout(PATIENCE).map_err(fault)?;
            let ours: i32 = file
                .query_row("PRAGMA application_id", [], |row| row.get(0))
                .map_err(fault)?;
            let mut file = Self {
                file,
                path: path.to_owned(),
                identity: (0, 0),
                // Whoever asks holds it.
                folder: None,
            };
            let tables = file.tables()?;
            // Somebody may just have made it.
            let is_empty = tables.is_empty();
            let is_whole = || ours == APPLICATION && missing(&tables).is_none();
            Ok(file.check()?.is_empty()
                && (is_empty
                    || is_whole() && file.version()? >= VERSION && has_columns(&mut file).is_ok()))
        };
        Self::has_known_form(path) && checked().unwrap_or(false)
    }
}

/// What a folder is held for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// To write, beside others.
    Shared,
    /// To put another file in the place of one.
    Alone,
}

/// A folder that is held; let go when this is dropped.
struct Held<'a>(Option<&'a File>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The system lets it go with the file at the latest.
        let _ = self.0.map(File::unlock);
    }
}

/// Holds a folder. On a file system without locks nobody is held up.
fn hold(folder: Option<&File>, how: Hold) -> Result<Held<'_>, Fault> {
    let Some(file) = folder else {
        return Ok(Held(None));
    };
    let started = Instant::now();
    loop {
        let tried = match how {
            Hold::Shared => file.try_lock_shared(),
            Hold::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(Held(Some(file))),
            Err(TryLockError::Error(_)) => return Ok(Held(None)),
            Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => {
                return Err(Fault::Lost("another process holds its folder".to_owned()));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// The path with an end behind its name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// A path of this name beside another one, at which nothing is yet.
fn free(path: &Path, name: &str) -> PathBuf {
    let first = beside(path, &format!(".{name}"));
    let mut others = (2..).map(|it| beside(path, &format!(".{name}-{it}")));
    if first.exists() {
        others.find(|it| !it.exists()).unwrap_or(first)
    } else {
        first
    }
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut head = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut head)?;
    Ok(head)
}

/// A file as one that nobody changes, in the form of a URI.
fn unchanging(path: &Path) -> Result<String, Fault> {
    let path = path
        .to_str()
        .ok_or_else(|| Fault::Other("its name is not UTF-8".to_owned()))?;
    let escaped = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    Ok(format!("file:{escaped}?immutable=1"))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what it is handed by `map_err`"
)]
fn fault(error: rusqlite::Error) -> Fault {
    let why = match &error {
        // Without the statement, which may be long.
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    };
    let code = match &error {
        // A failure of SQLite, too, but `sqlite_error_code` does not report it.
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        error => error.sqlite_error_code(),
    };
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Fault::Damaged(why),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed,
        ) => Fault::Lost("another process has been writing to it for too long".to_owned()),
        Some(
            ErrorCode::ConstraintViolation | ErrorCode::InternalMalfunction | ErrorCode::Unknown,
        ) => Fault::Doubtful(why),
        _ => Fault::Other(why),
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(it) => ValueRef::Integer(*it),
            Self::Real(it) => ValueRef::Real(*it),
            Self::Text(it) => ValueRef::Text(it.as_bytes()),
        }))
    }
}

/// What others may have written into a text that is none is read as far as it is one.
fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(it) => Cell::Integer(it),
        ValueRef::Real(it) => it.into(),
        ValueRef::Text(it) | ValueRef::Blob(it) => {
            Cell::Text(String::from_utf8_lossy(it).into_owned())
        }
    }
}

impl Connection for Sqlite {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, Fault> {
        let mut prepared = self.file.prepare_cached(sql).map_err(fault)?;
        let changed = prepared.execute(params_from_iter(cells)).map_err(fault)?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, Fault> {
        let mut prepared = self.file.prepare_cached(sql).map_err(fault)?;
        let columns: Arc<[String]> = prepared.column_names().map(str::to_owned).collect();
        let mut found = prepared.query(params_from_iter(cells)).map_err(fault)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(fault)? {
            let cells = (0..columns.len()).map(|at| row.get_ref(at).map(cell));
            rows.push(Row {
                columns: Arc::clone(&columns),
                cells: cells.collect::<Result<_, _>>().map_err(fault)?,
            });
        }
        Ok(rows)
    }

    fn batch(&mut self, sql: &str) -> Result<(), Fault> {
        self.file.execute_batch(sql).map_err(fault)
    }

    fn begin(&mut self) -> Result<(), Fault> {
        // Not let go before the end of the transaction: whoever sets a damaged file aside waits for that.
        std::mem::forget(hold(self.folder.as_ref(), Hold::Shared)?);
        if !self.is_current() {
            self.let_go();
            return Err(Fault::Lost(
                "another file has been put in its place".to_owned(),
            ));
        }
        let begun = self.file.execute_batch("BEGIN IMMEDIATE").map_err(fault);
        if begun.is_err() {
            self.let_go();
        }
        begun
    }

    fn commit(&mut self) -> Result<(), Fault> {
        let committed = self.file.execute_batch("COMMIT").map_err(fault);
        if committed.is_ok() {
            self.let_go();
        }
        committed
    }

    fn roll_back(&mut self) {
        // It may have been rolled back already, by what went wrong.
        let _ = self.file.execute_batch("ROLLBACK");
        self.let_go();
    }

    fn lock_schema(&mut self) -> Result<(), Fault> {
        // Whoever writes is alone.
        Ok(())
    }

    fn version(&mut self) -> Result<u32, Fault> {
        let version: i64 = self
            .file
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(fault)?;
        Ok(version.try_into().unwrap_or(u32::MAX))
    }

    fn set_version(&mut self, version: u32) -> Result<(), Fault> {
        let text =
            format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {version};");
        self.batch(&text)
    }

    fn tables(&mut self) -> Result<Vec<String>, Fault> {
        let rows = self.query("SELECT name FROM sqlite_master WHERE type = 'table'", &[])?;
        Ok(rows.iter().map(|it| it.string("name")).collect())
    }

    fn columns(&mut self, table: &str) -> Result<Vec<String>, Fault> {
        let rows = self.query("SELECT name FROM pragma_table_info($1)", &[table.into()])?;
        Ok(rows.iter().map(|it| it.string("name")).collect())
    }

    fn is_current(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|it| (it.dev(), it.ino()) == self.identity)
    }

    fn bytes(&mut self) -> Option<u64> {
        let of = |path: &Path| fs::metadata(path).map(|it| it.len());
        Some(of(&self.path).ok()? + of(&beside(&self.path, "-wal")).unwrap_or(0))
    }

    fn check(&mut self) -> Result<Vec<String>, Fault> {
        let rows = self.query("PRAGMA integrity_check(10)", &[])?;
        let said: Vec<String> = rows.iter().map(|it| it.string("integrity_check")).collect();
        let lines = said.iter().flat_map(|it| it.lines());
        // A headline stands before what is wrong with pages.
        let wrong = lines.filter(|it| *it != "ok" && !it.starts_with("***"));
        Ok(wrong.map(str::to_owned).collect())
    }

    fn shrink(&mut self) -> Result<(), Fault> {
        self.batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
    }
}

impl Sqlite {
    fn let_go(&self) {
        let _ = self.folder.as_ref().map(File::unlock);
    }

    /// Lets others read while somebody writes from then on, which is kept in the file. A file system that cannot do that keeps the old way.
    pub(super) fn share(&mut self) -> Result<(), Fault> {
        let started = Instant::now();
        loop {
            let shared = self
                .file
                .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
                .map_err(fault);
            match shared {
                // Here, nobody waits for the others by itself.
                Err(Fault::Lost(_)) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }
}
