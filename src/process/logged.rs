//! A process that we only start, watch and stop: it speaks with others, and what it writes is its log.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::process::ChildStdin;
use tokio::task::JoinHandle;

use super::output::{self, Output};
use super::{Child, ChildCommand, describe};
use crate::text;

/// How long a process may take to leave when it is asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the last of its output may be on the way.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(300);

/// A running process whose output is kept. Dropping it kills everything it has started.
#[derive(Debug)]
pub struct Logged {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Arc<Mutex<Output>>,
    readers: [JoinHandle<()>; 2],
}

impl Logged {
    /// Starts the process. Its stdin stays open, and says nothing. Needs a running runtime.
    ///
    /// # Errors
    ///
    /// Why it cannot be started.
    pub fn start(command: &ChildCommand) -> std::io::Result<Self> {
        let (child, stdin, stdout, stderr) = Child::start_raw(command)?;
        let output = Arc::<Mutex<Output>>::default();
        let readers = [
            tokio::spawn(output::keep(stdout, Arc::clone(&output))),
            tokio::spawn(output::keep(stderr, Arc::clone(&output))),
        ];
        Ok(Self {
            child,
            stdin: Some(stdin),
            output,
            readers,
        })
    }

    /// Closes its stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// How it ended, in words that follow its name, unless it has succeeded.
    pub async fn wait(&mut self) -> Result<(), String> {
        let ended = self.child.wait().await;
        self.settle().await;
        how(ended)
    }

    /// The same, at most for this long; `None` while it runs.
    pub async fn wait_for(&mut self, patience: Duration) -> Option<Result<(), String>> {
        let ended = tokio::time::timeout(patience, self.child.wait()).await;
        let ended = ended.ok()?;
        self.settle().await;
        Some(how(ended))
    }

    /// What it has written, the newest 4 MiB of it.
    pub fn output(&self) -> String {
        self.teller()()
    }

    /// Tells the same, also while it is waited for.
    pub fn teller(&self) -> impl Fn() -> String + use<> {
        let output = Arc::clone(&self.output);
        move || output.lock().text()
    }

    /// The last lines of what it has written, under a heading.
    pub fn last_words(&self) -> Vec<String> {
        text::last_words(&self.output())
    }

    /// Asks it to end, then forces it. Nothing it has started stays behind.
    pub async fn stop(&mut self) {
        self.close_stdin();
        self.child.terminate(STOP_TIMEOUT).await;
        self.settle().await;
    }

    /// Waits a moment for what it wrote last. Something it has started may keep its streams open for longer.
    async fn settle(&mut self) {
        for reader in &mut self.readers {
            if !reader.is_finished() {
                let _ = tokio::time::timeout(SETTLE_TIMEOUT, reader).await;
            }
        }
    }
}

fn how(ended: std::io::Result<ExitStatus>) -> Result<(), String> {
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(describe(status)),
        Err(error) => Err(format!("cannot be waited for: {error}")),
    }
}
