//! What asynchronous work runs on.

use tokio::runtime::{Builder, Runtime};

use super::failure::Failure;
use crate::suite::Jobs;

/// For a command whose work is done on this thread.
///
/// # Errors
///
/// When the system has no room for it.
pub(super) fn here() -> Result<Runtime, Failure> {
    built(&mut Builder::new_current_thread())
}

/// For work on so many threads besides this one.
///
/// # Errors
///
/// When the system has no room for them.
pub(super) fn beside(threads: usize) -> Result<Runtime, Failure> {
    built(Builder::new_multi_thread().worker_threads(threads))
}

/// For a command that runs so many scenarios.
///
/// # Errors
///
/// When the system has no room for it.
pub(super) fn running(jobs: Jobs, scenarios: usize) -> Result<Runtime, Failure> {
    // One more than can be busy with large answers, so that timers and signals are served.
    beside(jobs.most(scenarios).min(8) + 1)
}

fn built(builder: &mut Builder) -> Result<Runtime, Failure> {
    builder.enable_all().build().map_err(|error| {
        Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
    })
}
