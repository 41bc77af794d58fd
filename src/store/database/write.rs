//! The writing of runs and their results to the database.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::connection::{Cell, Connection, Existing, Fault, Record, put};
use super::finished::Rows;
use super::{RunHead, RunState, result_id};

/// Who runs it, and where.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) host: Option<String>,
    pub(super) who: Option<String>,
}

impl Identity {
    /// Of this process.
    pub(super) fn own() -> Self {
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        Self {
            host: Some(host).filter(|it| !it.is_empty()),
            who: variable("USER").or_else(|| variable("LOGNAME")),
        }
    }
}

/// The id of a run: the name of its folder, or, where a run of another machine that began in the same millisecond has it, that with more behind
/// it.
pub(super) fn id_of(
    connection: &mut dyn Connection,
    run: &str,
    began: &str,
) -> Result<String, Fault> {
    let known = connection.query(
        "SELECT id, started_at FROM runs WHERE run = $1",
        &[run.into()],
    )?;
    let same = known.iter().find(|it| it.string("started_at") == began);
    if let Some(same) = same {
        return Ok(same.string("id"));
    }
    if known.is_empty() {
        return Ok(run.to_owned());
    }
    let hash = hex::encode(Sha256::digest(began.as_bytes()));
    Ok(format!("{run}~{}", &hash[..8]))
}

/// Writes what is known of a run as a whole; returns its id.
pub(super) fn run(
    connection: &mut dyn Connection,
    head: &RunHead,
    identity: &Identity,
) -> Result<String, Fault> {
    let mut id = id_of(connection, &head.run, &head.began())?;
    let record = |id: &str| {
        let record = head.record(id).with("host", identity.host.as_deref());
        record.with("who", identity.who.as_deref())
    };
    // First as a row that nobody else can take, because somebody may be making one of the same id at this moment.
    if !put(connection, "runs", &["id"], &record(&id), Existing::Stays)? {
        id = id_of(connection, &head.run, &head.began())?;
        let existing = if head.state == RunState::Running {
            Existing::Stays
        } else {
            Existing::Learns
        };
        put(connection, "runs", &["id"], &record(&id), existing)?;
    }
    marks(connection, head, &id)?;
    Ok(id)
}

/// Writes what a run as a whole makes of its results.
pub(super) fn marks(
    connection: &mut dyn Connection,
    head: &RunHead,
    id: &str,
) -> Result<(), Fault> {
    for scenario in &head.quarantined {
        connection.execute(
            "UPDATE results SET quarantined = 1 WHERE id = $1",
            &[result_id(id, scenario).into()],
        )?;
    }
    if head.is_end_of_search {
        connection.execute(
            "UPDATE results SET is_final = 1 WHERE run_id = $1",
            &[id.into()],
        )?;
    }
    Ok(())
}

/// Writes a result with all that belongs to it, in the place of what was known of the same one.
pub(super) fn result(connection: &mut dyn Connection, run: &str, rows: &Rows) -> Result<(), Fault> {
    let mut rows = rows.clone();
    rows.place(run);
    scenario(connection, &rows.scenario)?;
    count(connection, run, &rows.result)?;
    put(
        connection,
        "results",
        &["id"],
        &rows.result,
        Existing::Replaced,
    )?;
    let id = rows.result.get("id").clone();
    for (table, keys, records) in [
        (
            "attempts",
            &["result_id", "is_retried", "number"][..],
            &rows.attempts,
        ),
        ("evaluations", &["result_id", "number"], &rows.evaluations),
        (
            "tool_calls",
            &["result_id", "attempt", "number"],
            &rows.tool_calls,
        ),
    ] {
        connection.execute(
            &format!("DELETE FROM {table} WHERE result_id = $1"),
            std::slice::from_ref(&id),
        )?;
        for record in records {
            put(connection, table, keys, record, Existing::Replaced)?;
        }
    }
    Ok(())
}

/// Counts a result that is about to be written among those of its run, while that goes on: nobody else does, should it be killed.
fn count(connection: &mut dyn Connection, run: &str, result: &Record) -> Result<(), Fault> {
    let known = connection.query(
        "SELECT status FROM results WHERE id = $1",
        std::slice::from_ref(result.get("id")),
    )?;
    let before = known.first().map(|it| it.string("status"));
    let Cell::Text(now) = result.get("status") else {
        return Ok(());
    };
    if before.as_ref() == Some(now) {
        return Ok(());
    }
    for (status, by) in [(Some(now), "+ 1"), (before.as_ref(), "- 1")] {
        if let Some(column) = status.and_then(|it| counter(it)) {
            connection.execute(
                &format!(
                    "UPDATE runs SET {column} = {column} {by} WHERE id = $1 AND status = 'running'"
                ),
                &[run.into()],
            )?;
        }
    }
    Ok(())
}

/// The columns of a run that count its results, and the statuses that they count.
const COUNTERS: [(&str, &str); 8] = [
    ("passed", "passed"),
    ("failed", "failed"),
    ("inconclusive", "inconclusive"),
    ("errors", "error"),
    ("timeouts", "timeout"),
    ("interrupted", "interrupted"),
    ("skipped", "skipped"),
    ("recorded", "recorded"),
];

fn counter(status: &str) -> Option<&'static str> {
    let counters = COUNTERS.iter();
    let mut found = counters.filter(|it| it.1 == status).map(|it| it.0);
    found.next()
}

/// Counts the results of a run that nobody will end any more.
pub(super) fn count_again(connection: &mut dyn Connection, run: &str) -> Result<(), Fault> {
    let counted = COUNTERS.map(|(column, status)| {
        format!(
            "{column} = (SELECT COUNT(*) FROM results WHERE run_id = $1 AND status = '{status}')"
        )
    });
    let sql = format!("UPDATE runs SET {} WHERE id = $1", counted.join(", "));
    connection.execute(&sql, &[run.into()])?;
    Ok(())
}

/// Writes what a scenario is; when it was first met stays.
fn scenario(connection: &mut dyn Connection, record: &Record) -> Result<(), Fault> {
    let known = connection.query(
        "SELECT created_at, updated_at FROM scenarios WHERE id = $1",
        std::slice::from_ref(record.get("id")),
    )?;
    let mut record = record.clone();
    if let Some(known) = known.first() {
        record.set("created_at", known.string("created_at"));
        // What is made anew from the files of an old run tells nothing new.
        if let Cell::Text(updated) = record.get("updated_at")
            && *updated < known.string("updated_at")
        {
            return Ok(());
        }
    }
    put(connection, "scenarios", &["id"], &record, Existing::Learns)?;
    Ok(())
}
