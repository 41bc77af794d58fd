//! Runs that were killed, and of which the database says for ever that they go on.
//!
//! Whoever runs holds the file in the folder of its run that says whose it is, and the system lets that go when the process ends, however it
//! ends. So a run is over when its folder lies here and nobody holds it: whichever machine or container ran it, and whatever process has its
//! number by now. Of a run whose folder does not lie here – of another project or another machine on the same server – nothing is known,
//! and it is left to those there. Eight processes may look at the same time: a run that is alive is held, and what one of them has ended the
//! others find ended. One that has just let its folder go, and has still to write how it ended, does so afterwards, which counts.

use std::path::Path;

use super::connection::Connection;
use super::error::Fault;
use super::time::rewritten;
use super::write::count_again;
use crate::store::marker::is_let_go;
use crate::store::read::load_result;

/// Says of the runs that go on by the database, lie in this folder, and are held by nobody, that they were interrupted.
pub(super) fn settle(connection: &mut dyn Connection, runs: &Path) -> Result<(), Fault> {
    let running = connection.query(
        "SELECT id, run, started_at FROM runs WHERE status = 'running'",
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
        // Another machine may have begun one in the same millisecond.
        let began = load_result(&folder).map(|it| rewritten(&it.started_at));
        if began.is_ok_and(|it| it == row.string("started_at")) {
            connection.execute(
                "UPDATE runs SET status = 'interrupted' WHERE id = $1 AND status = 'running'",
                &[row.string("id").into()],
            )?;
            count_again(connection, &row.string("id"))?;
        }
    }
    Ok(())
}
