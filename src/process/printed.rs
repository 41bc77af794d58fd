//! The output of a program that reads its input and then ends by itself.

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
