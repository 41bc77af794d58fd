//! A server that is a child process as a connection for rmcp, and the wrapper that registers each request with the wire before it is sent.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream};

use crate::digits;
use crate::lines::{Line, Lines};
use crate::mcp::wire::Wire;
use crate::process::{Child, ChildCommand, Stdin};

/// The longest line a server may write to stdout: one message.
pub(super) const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Starts the server and returns the two ends to speak MCP over: its stdout, with everything that is no message left out and every
/// answer shown to `wire`, and its stdin.
pub(super) fn start(
    command: &ChildCommand,
    wire: Arc<Wire>,
) -> io::Result<(Child, DuplexStream, Written)> {
    let (child, stdin, stdout) = Child::start(command)?;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(pass_messages(stdout, theirs, wire));
    let stdin = Written {
        stdin,
        left: Vec::new(),
    };
    Ok((child, ours, stdin))
}

/// The stdin of a server, to which whole messages are written, long integers as [`digits`] marks them.
pub(super) struct Written {
    stdin: Stdin,
    /// What is still to be written of messages that held some.
    left: Vec<u8>,
}

impl Written {
    fn poll_left(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.left.is_empty() {
            let written = ready!(Pin::new(&mut self.stdin).poll_write(context, &self.left))?;
            self.left.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Written {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        messages: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_left(context))?;
        match std::str::from_utf8(messages).map(digits::written) {
            Ok(Cow::Owned(written)) => {
                self.left = written.into_bytes();
                Poll::Ready(Ok(messages.len()))
            }
            _ => Pin::new(&mut self.stdin).poll_write(context, messages),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_left(context))?;
        Pin::new(&mut self.stdin).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_left(context))?;
        Pin::new(&mut self.stdin).poll_shutdown(context)
    }
}

/// What is said of a line that is longer.
pub(super) fn too_long() -> String {
    format!("a line of more than {LONGEST_LINE} bytes")
}

/// Reads lines from the server and passes on those that are messages.
async fn pass_messages(stdout: impl AsyncRead + Unpin, mut to: DuplexStream, wire: Arc<Wire>) {
    let mut lines = Lines::new(stdout, LONGEST_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let Line::Whole(line) = line else {
            wire.too_long(&too_long());
            continue;
        };
        if let Some(line) = wire.observe(&line)
            && (to.write_all(&line).await.is_err() || to.write_all(b"\n").await.is_err())
        {
            return;
        }
    }
}

/// A transport whose requests the wire knows of, so that it keeps their answers.
pub(super) struct Noting<T> {
    transport: T,
    wire: Arc<Wire>,
}

impl<T> Noting<T> {
    pub(super) fn new(transport: T, wire: Arc<Wire>) -> Self {
        Self { transport, wire }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Noting<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let Ok(id) = serde_json::to_value(&request.id)
        {
            self.wire.expect(&id);
        }
        self.transport.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.transport.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}
