//! A server that is a child process, as a connection for rmcp: what it says that is no message is left out.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWriteExt, DuplexStream};
use tokio::process::ChildStdin;

use crate::lines::{Line, Lines};
use crate::mcp::wire::Wire;
use crate::process::{Child, ChildCommand};

/// The longest line a server may write to stdout: one message.
pub(super) const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Starts the server and returns the two ends to speak MCP over: its stdout, with everything that is no message left out and every
/// answer shown to `wire`, and its stdin.
pub(super) fn start(
    command: &ChildCommand,
    wire: Arc<Wire>,
) -> std::io::Result<(Child, DuplexStream, ChildStdin)> {
    let (child, stdin, stdout) = Child::start(command)?;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(pass_messages(stdout, theirs, wire));
    Ok((child, ours, stdin))
}

/// Reads lines from the server and passes on those that are messages.
async fn pass_messages(stdout: impl AsyncRead + Unpin, mut to: DuplexStream, wire: Arc<Wire>) {
    let mut lines = Lines::new(stdout, LONGEST_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let Line::Whole(line) = line else {
            wire.noise(&format!("a line of more than {LONGEST_LINE} bytes"));
            return;
        };
        let passes = wire.observe(&line);
        if passes && (to.write_all(&line).await.is_err() || to.write_all(b"\n").await.is_err()) {
            return;
        }
    }
}
