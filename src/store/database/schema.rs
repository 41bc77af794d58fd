//! The schema, as migrations by number that only go forward.

use super::connection::{Connection, transaction};
use super::error::Fault;

/// What is done to come from each version to the next. What has been published here never changes: a change is one more.
const MIGRATIONS: &[&str] = &[include_str!("tables.sql"), include_str!("views.sql")];

/// The tables, those that others refer to first.
pub(super) const TABLES: [&str; 6] = [
    "runs",
    "scenarios",
    "results",
    "attempts",
    "evaluations",
    "tool_calls",
];

/// The number of the latest migration.
#[expect(clippy::cast_possible_truncation, reason = "there are a few")]
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings a database to the latest version. Where there is something in it already, that is kept beside first.
pub(super) fn migrate(connection: &mut dyn Connection) -> Result<(), Fault> {
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
    if version == VERSION {
        return Ok(());
    }
    if version > 0 && connection.kind() == "sqlite" {
        // A file is copied, which cannot be done within a transaction.
        connection.back_up(version + 1)?;
    }
    transaction(connection, |connection| {
        connection.lock_schema()?;
        // Somebody else may have done it since.
        let version = check(connection.version()?)?;
        if version > 0 && version < VERSION && connection.kind() != "sqlite" {
            connection.back_up(version + 1)?;
        }
        for (number, migration) in (1..).zip(MIGRATIONS).skip(version as usize) {
            connection.batch(migration)?;
            connection.set_version(number)?;
        }
        Ok(())
    })
}
