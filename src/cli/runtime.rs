//! Runtimes for asynchronous work, and the signals that interrupt it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::Failure;
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

/// The signals that ask a program to stop.
const KINDS: [fn() -> SignalKind; 3] = [
    SignalKind::interrupt,
    SignalKind::terminate,
    SignalKind::hangup,
];

/// Programs that pass a signal on let it come twice: once from them and once to the whole group.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// What ends a command that waits for somebody to be done with their work.
pub(super) struct Endings {
    /// They are done: the first signal.
    pub(super) done: CancellationToken,
    /// Everything is to stop: the second signal, or the first before they could begin.
    pub(super) abort: CancellationToken,
}

/// The endings of a command; signals mean [`Endings::abort`] until `begun` is cancelled. Needs a running runtime.
pub(super) fn endings(begun: &CancellationToken) -> Endings {
    let endings = Endings {
        done: CancellationToken::new(),
        abort: CancellationToken::new(),
    };
    let first = Arc::new(OnceLock::new());
    for kind in KINDS {
        if let Ok(mut signals) = signal(kind()) {
            let (begun, done) = (begun.clone(), endings.done.clone());
            let (abort, first) = (endings.abort.clone(), Arc::clone(&first));
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    let is_same = first.get_or_init(Instant::now).elapsed() < SAME_SIGNAL;
                    if begun.is_cancelled() && !done.is_cancelled() {
                        done.cancel();
                    } else if !(done.is_cancelled() && is_same) {
                        abort.cancel();
                    }
                }
            });
        }
    }
    endings
}

/// A token that is cancelled when the program is asked to stop: SIGINT, SIGTERM or SIGHUP. Needs a running runtime.
pub(super) fn interruption() -> CancellationToken {
    let token = CancellationToken::new();
    for kind in KINDS {
        // Without a handler the signal ends the process at once, which is what it asks for.
        if let Ok(mut signals) = signal(kind()) {
            let token = token.clone();
            tokio::spawn(async move {
                signals.recv().await;
                token.cancel();
            });
        }
    }
    token
}
