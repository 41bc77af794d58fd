//! Whether tables are as ours are made, and whether what they hold can be read.

use super::connection::Connection;
use super::error::Fault;
use super::schema::{ANEW, TABLES, TABLES_TEXT};

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
