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
use super::rebuild::{Rebuilt, add};
use super::time::rewritten;
use crate::store::marker::is_let_go;
use crate::store::read::load_result;

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
