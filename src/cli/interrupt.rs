//! Ctrl-C and its relatives.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that is cancelled when the program is asked to stop: SIGINT, SIGTERM or SIGHUP. Needs a running runtime.
pub(super) fn token() -> CancellationToken {
    let token = CancellationToken::new();
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        // Without a handler the signal ends the process at once, which is what it asks for.
        if let Ok(mut signals) = signal(kind) {
            let token = token.clone();
            tokio::spawn(async move {
                signals.recv().await;
                token.cancel();
            });
        }
    }
    token
}
