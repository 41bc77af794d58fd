//! Ctrl-C and its relatives.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The signals that ask a program to stop.
const KINDS: [fn() -> SignalKind; 3] = [
    SignalKind::interrupt,
    SignalKind::terminate,
    SignalKind::hangup,
];

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
    for kind in KINDS {
        if let Ok(mut signals) = signal(kind()) {
            let (begun, done) = (begun.clone(), endings.done.clone());
            let abort = endings.abort.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    if begun.is_cancelled() && !done.is_cancelled() {
                        done.cancel();
                    } else {
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
