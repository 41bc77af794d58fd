//! What a program prints that is told something and then ends by itself.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Child, ChildCommand, describe};

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
        let unheard = |error: std::io::Error| format!("cannot be read: {error}");
        let tell = async {
            // A program need not read what it is told.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.shutdown().await;
            drop(stdin);
            Ok(())
        };
        let mut output = Vec::new();
        let hear = async {
            let mut bounded = (&mut stdout).take(LONGEST + 1);
            let read = bounded.read_to_end(&mut output).await.map_err(unheard)?;
            // It waits for somebody who reads the rest, and may never end.
            if read as u64 > LONGEST {
                return Err(format!("prints more than {LONGEST} bytes"));
            }
            Ok(())
        };
        let status = {
            let speaking = async { tokio::try_join!(hear, tell) };
            let mut speaking = std::pin::pin!(speaking);
            tokio::select! {
                spoken = &mut speaking => {
                    spoken?;
                    child.wait().await
                }
                status = child.wait() => {
                    // What it has started may hold its output open for ever.
                    child.kill();
                    if let Ok(spoken) = tokio::time::timeout(LAST_WORDS, speaking).await {
                        spoken?;
                    }
                    status
                }
            }
        };
        match status.map_err(unheard)? {
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
    child.stderr_settled().await;
    (ran, child.stderr())
}
