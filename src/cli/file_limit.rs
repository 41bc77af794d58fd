//! The limit on the size of files (`ulimit -f`).

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

/// Lets a write beyond the limit fail, so that it is reported like every other one that fails: unless somebody listens to it, the signal
/// `SIGXFSZ` ends the program without a word. Programs that we start do not inherit this, and have the signal as usual.
pub(super) fn report_file_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    if let Ok(runtime) = runtime {
        // It is caught from here on, also when the runtime is gone.
        let _ = runtime.block_on(async {
            let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
            signal(kind).map(drop)
        });
    }
}
