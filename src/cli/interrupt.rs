//! Ctrl-C and its relatives.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

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
pub(super) fn token() -> CancellationToken {
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
