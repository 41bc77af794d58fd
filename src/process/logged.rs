//! Programs that are only watched and stopped, and those that read their input and end by themselves.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use super::output::{self, Output};
use super::{Child, ChildCommand, Stdin, describe};
use crate::text;

/// How long a process may take to leave when it is asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the last of its output may be on the way.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(300);

/// A running process whose output is kept. Dropping it kills everything it has started.
#[derive(Debug)]
pub struct Logged {
    child: Child,
    stdin: Option<Stdin>,
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

/// The most that is read of what a program prints, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// How long it is listened for what a program has printed once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What a program prints once it has ended well, or why it has not, in words that follow its name; and its stderr. It may
/// take so long, or what is said `late` is added, and is `cut` short.
pub async fn printed(
    command: &ChildCommand,
    input: &str,
    (limit, late): (Duration, &str),
    cut: impl Future<Output = ()>,
) -> (Result<Vec<u8>, String>, Vec<String>) {
    let (mut child, mut stdin, mut stdout) = match Child::start(command) {
        Ok(started) => started,
        Err(error) => return (Err(format!("cannot be started: {error}")), Vec::new()),
    };
    let running = async {
        let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
        let write_input = async {
            // A program need not read its input.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.shutdown().await;
            drop(stdin);
            Ok(())
        };
        let mut output = Vec::new();
        let read_output = async {
            let mut bounded = (&mut stdout).take(LONGEST + 1);
            let read = bounded.read_to_end(&mut output).await.map_err(unreadable)?;
            // It waits for somebody who reads the rest, and may never end.
            if read as u64 > LONGEST {
                return Err(format!("prints more than {LONGEST} bytes"));
            }
            Ok(())
        };
        let status = {
            let talking = async { tokio::try_join!(read_output, write_input) };
            let mut talking = std::pin::pin!(talking);
            tokio::select! {
                spoken = &mut talking => {
                    spoken?;
                    child.wait().await
                }
                status = child.wait() => {
                    // What it has started may hold its output open for ever.
                    child.kill();
                    if let Ok(spoken) = tokio::time::timeout(LAST_WORDS, talking).await {
                        spoken?;
                    }
                    status
                }
            }
        };
        match status.map_err(unreadable)? {
            status if status.success() => Ok(output),
            status => Err(describe(status)),
        }
    };
    let ran = tokio::select! {
        biased;
        () = cut => Err("was cut short by the interruption".to_owned()),
        ran = tokio::time::timeout(limit, running) => ran.unwrap_or_else(|_| {
            Err(format!("did not end within {limit:?}{late}"))
        }),
    };
    // Nothing that it has started stays behind.
    child.kill();
    child.await_stderr().await;
    (ran, child.stderr())
}
