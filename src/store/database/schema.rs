//! The schema, of which there is one version at a time; and tables that do not fit it.

use super::connection::{Connection, Fault, transaction};

/// What makes the tables and views.
const TABLES_TEXT: &str = include_str!("tables.sql");

/// The tables, those that others refer to first.
pub(super) const TABLES: [&str; 3] = ["runs", "scenarios", "results"];

/// Whatever is changed in the tables makes another version.
pub(super) const VERSION: u32 = 3;

/// What puts the tables of versions 1 and 2 beside. Names of indexes stay with their tables, and each is there once.
const BESIDE: &str = "\
    DROP VIEW IF EXISTS test_results; DROP VIEW IF EXISTS test_configurations; DROP VIEW IF EXISTS test_runs; \
    DROP INDEX IF EXISTS runs_by_time; DROP INDEX IF EXISTS results_by_run; DROP INDEX IF EXISTS results_by_scenario; \
    DROP INDEX IF EXISTS results_by_name; DROP INDEX IF EXISTS results_by_time; \
    ALTER TABLE tool_calls RENAME TO tool_calls_before_3; ALTER TABLE evaluations RENAME TO evaluations_before_3; \
    ALTER TABLE attempts RENAME TO attempts_before_3; ALTER TABLE results RENAME TO results_before_3; \
    ALTER TABLE scenarios RENAME TO scenarios_before_3; ALTER TABLE runs RENAME TO runs_before_3;";

/// What may be done about a file whose tables are not ours any more.
pub(super) const ANEW: &str =
    "`mcp-eval db rebuild` sets the file aside, and makes a new one from the files of the runs";

/// The first of our tables that is not among these.
pub(super) fn missing(tables: &[String]) -> Option<&'static str> {
    let mut ours = TABLES.into_iter();
    ours.find(|it| !tables.iter().any(|there| there == it))
}

/// Whether a database of this version has our tables: all of them, or, with none of our versions, none.
///
/// # Errors
///
/// Which one is missing, or is there.
pub(super) fn fits(version: u32, connection: &mut dyn Connection) -> Result<(), Fault> {
    let tables = connection.tables()?;
    let why = if version > 0 {
        // Those of an earlier version have gone by other names.
        let missing = missing(&tables).filter(|_| version == VERSION);
        missing.map(|it| format!("it lacks the table `{it}`"))
    } else {
        let ours = TABLES.into_iter();
        let mut there = ours.filter(|it| tables.iter().any(|there| there == it));
        let found = there.next();
        // Somebody may just have made them, all at once with their version.
        if found.is_some() && connection.version()? > 0 {
            return Ok(());
        }
        found.map(|it| {
            format!("a table `{it}` already exists there, and nothing says of which version it is")
        })
    };
    let Some(why) = why else {
        return Ok(());
    };
    // Whose tables they are on a server, nobody knows.
    let way = if connection.kind() == "sqlite" {
        ANEW
    } else {
        "name another database with `--db`"
    };
    Err(Fault::Misshapen { why, way })
}

/// Gives a database the tables of this version; those of an earlier one stay beside. Returns how many results are in these, where there were
/// some.
pub(super) fn migrate(connection: &mut dyn Connection) -> Result<Option<u64>, Fault> {
    let check = |version: u32| {
        if version > VERSION {
            return Err(Fault::Newer {
                found: version,
                known: VERSION,
            });
        }
        Ok(version)
    };
    let version = check(connection.version()?)?;
    fits(version, connection)?;
    if version == VERSION {
        return Ok(None);
    }
    transaction(connection, |connection| {
        connection.lock_schema()?;
        // Somebody else may have done it since.
        let version = check(connection.version()?)?;
        if version == VERSION {
            return Ok(None);
        }
        let beside = if version > 0 { BESIDE } else { "" };
        let done = connection.batch(&format!("{beside}{TABLES_TEXT}"));
        done.map_err(|fault| match fault {
            Fault::Doubtful(why) => Fault::Misshapen {
                why: format!("its schema cannot be brought to version {VERSION} ({why})"),
                way: ANEW,
            },
            fault => fault,
        })?;
        connection.set_version(VERSION)?;
        if version == 0 {
            return Ok(None);
        }
        let left = connection.query("SELECT COUNT(*) AS count FROM results_before_3", &[])?;
        Ok(left.first().and_then(|row| row.count("count")))
    })
}

/// Stands for what is no text in the names of columns.
const NO_TEXT: char = '\u{fffd}';

/// Whether the tables of the latest version have our columns. Those of a server are not looked at: it looks after its files itself.
///
/// # Errors
///
/// Which column is missing; where a name is no text, nobody but a damaged disk has written it.
pub(super) fn has_columns(connection: &mut dyn Connection) -> Result<(), Fault> {
    if connection.kind() != "sqlite" {
        return Ok(());
    }
    for table in TABLES {
        let there = connection.columns(table)?;
        if let Some(name) = there.iter().find(|it| it.contains(NO_TEXT)) {
            return Err(Fault::Damaged(format!(
                "a column of its table `{table}` is called `{name}`, which is not text"
            )));
        }
        if let Some(lacking) = columns_of(table).find(|it| !there.iter().any(|there| there == it)) {
            return Err(Fault::Misshapen {
                why: format!("its table `{table}` lacks the column `{lacking}`"),
                way: ANEW,
            });
        }
    }
    Ok(())
}

/// The names of a table's columns, as the schema declares them: each in a line of its own, its type behind it.
fn columns_of(table: &str) -> impl Iterator<Item = &'static str> {
    let head = format!("CREATE TABLE {table} (");
    let lines = TABLES_TEXT
        .lines()
        .skip_while(move |it| *it != head)
        .skip(1);
    let lines = lines.take_while(|it| it.starts_with("  "));
    let declared = lines.filter_map(|it| it.trim_start().split_once(' '));
    let columns = declared.filter(|(_, kind)| kind.starts_with(['B', 'D', 'T']));
    columns.map(|(name, _)| name)
}

/// What is wrong with a database that can be opened; empty where nothing is known to be.
pub(super) fn damage(connection: &mut dyn Connection) -> Result<Vec<String>, Fault> {
    match has_columns(connection) {
        Ok(()) => connection.check(),
        Err(Fault::Damaged(why) | Fault::Misshapen { why, .. }) => Ok(vec![why]),
        Err(other) => Err(other),
    }
}
