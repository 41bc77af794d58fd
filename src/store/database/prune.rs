//! Runs that go, with all that belongs to them.

use super::connection::{Connection, transaction};
use super::error::Fault;

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
