//! Runs that go, with all that belongs to them, and runs that were killed, of which the database would say for ever that they go on.
//!
//! Whoever runs holds the file in the folder of its run that says whose it is, and the system lets that go when the process ends, however it
//! ends. So a run is over when its folder lies here and nobody holds it: whichever machine or container ran it, and whatever process has its
//! number by now. Of a run whose folder does not lie here – of another project or another machine on the same server – nothing is known,
//! and it is left to those there. Eight processes may look at the same time: a run that is alive is held, and what one of them has ended the
//! others find ended. One that has just let its folder go, and has still to write how it ended, does so afterwards, which counts.

use std::path::Path;

use super::connection::{Connection, Fault, rewritten, transaction};
use super::rebuild::{Rebuilt, add};
use crate::store::read::load_result;
use crate::store::runs::is_let_go;

/// What went, or would go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub runs: u64,
    pub results: u64,
    /// How many runs stay.
    pub left: u64,
}

/// Removes all runs but so many of the latest; those that go on stay, too.
pub(super) fn prune(
    connection: &mut dyn Connection,
    keep: usize,
    dry_run: bool,
) -> Result<Pruned, Fault> {
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    let pruned = transaction(connection, |connection| {
        // The first of those that need not stay.
        let newest = connection.query(
            "SELECT started_at, id FROM runs WHERE status <> 'running' ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET $1",
            &[keep.into()],
        )?;
        let all = connection.query("SELECT COUNT(*) AS count FROM runs", &[])?;
        let all = all.first().and_then(|it| it.count("count")).unwrap_or(0);
        let Some(newest) = newest.first() else {
            return Ok(Pruned {
                left: all,
                ..Pruned::default()
            });
        };
        let bound = [
            newest.string("started_at").into(),
            newest.string("id").into(),
        ];
        let spare =
            "SELECT id FROM runs WHERE status <> 'running' AND (started_at, id) <= ($1, $2)";
        let counted = format!(
            "SELECT COUNT(DISTINCT runs.id) AS runs, COUNT(results.id) AS results FROM runs LEFT JOIN results ON results.run_id = runs.id \
             WHERE runs.id IN ({spare})"
        );
        let counted = connection.query(&counted, &bound)?;
        let count = |column| counted.first().and_then(|it| it.count(column)).unwrap_or(0);
        let (runs, results) = (count("runs"), count("results"));
        if !dry_run {
            connection.execute(&format!("DELETE FROM runs WHERE id IN ({spare})"), &bound)?;
            connection.execute(
                "DELETE FROM scenarios WHERE NOT EXISTS (SELECT 1 FROM results WHERE results.scenario_id = scenarios.id)",
                &[],
            )?;
        }
        Ok(Pruned {
            runs,
            results,
            left: all - runs.min(all),
        })
    })?;
    if !dry_run && pruned.runs > 0 {
        connection.shrink()?;
    }
    Ok(pruned)
}

/// Says of the runs that go on by the database, lie in this folder, and are held by nobody, that they were interrupted, and so was each of their
/// scenarios of which nothing has come.
///
/// # Errors
///
/// When there is such a run, and the database cannot be written.
pub(super) fn settle(connection: &mut dyn Connection, runs: &Path) -> Result<(), Fault> {
    let running = connection.query(
        "SELECT run, started_at FROM runs WHERE status = 'running'",
        &[],
    )?;
    for row in running {
        let run = row.string("run");
        // What stands there may be anything.
        let is_name = !run.is_empty() && !run.starts_with('.') && !run.contains('/');
        let folder = runs.join(&run);
        if !is_name || !is_let_go(&folder, &run) {
            continue;
        }
        let Ok(document) = load_result(&folder) else {
            continue;
        };
        // Another machine may have begun one in the same millisecond.
        if document.run_id != run || rewritten(&document.started_at) != row.string("started_at") {
            continue;
        }
        let added = add(connection, &document, &folder, &mut Rebuilt::default());
        added.map_err(|fault| match fault {
            Fault::Other(why) => Fault::Other(format!(
                "the run {run} was killed, and that cannot be written: {why}"
            )),
            fault => fault,
        })?;
    }
    Ok(())
}
