//! The mock over standard streams: one JSON message a line.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use crate::mock::server::Mock;

/// Answers messages from `input` on `output` until the input ends.
///
/// # Errors
///
/// When the streams fail, other than by the client being gone.
pub async fn serve_stdio(
    mut mock: Mock,
    mut input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let reply = mock.answer(&text);
        if let Some(delay) = reply.delay {
            tokio::time::sleep(delay).await;
        }
        if let Some(message) = reply.message {
            let mut text = message.to_string();
            text.push('\n');
            let written = async {
                output.write_all(text.as_bytes()).await?;
                output.flush().await
            };
            match written.await {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                other => other?,
            }
        }
    }
}
