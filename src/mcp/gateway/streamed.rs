//! A session over the older HTTP with SSE: its event stream is read to its end, and each message to it is a POST.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call_tap::CallTap;
use super::piped::Piped;
use crate::mcp::legacy::{Inbox, LegacyError, Outbox};
use crate::mcp::request::{LOST_SESSION, is_unreachable, root};
use crate::mcp::wire::{Message, read as read_message};
use crate::model::trajectory::{FailureKind, Outcome};

/// Takes over a session that is open.
pub(super) fn over_stream(
    (outbox, inbox): (Outbox, Inbox),
    id: String,
    tap: Arc<CallTap>,
) -> Arc<Piped> {
    let (piped, to_post) = Piped::new(id, tap, None);
    tokio::spawn(post(outbox, to_post, Arc::clone(&piped)));
    tokio::spawn(read(inbox, Arc::clone(&piped)));
    piped
}

/// Sends messages until the session ends. Requests are sent beside each other, because a server may keep a POST until it has the answer;
/// what has no answer is taken before anything else is sent.
async fn post(outbox: Outbox, mut lines: mpsc::UnboundedReceiver<String>, piped: Arc<Piped>) {
    let closing = piped.closing.clone();
    let posting = async {
        while let Some(line) = lines.recv().await {
            let message = read_message(&line);
            let sending = send(outbox.clone(), line, piped.clone(), message.clone());
            if matches!(message, Message::Request { id: Some(_), .. }) {
                tokio::spawn(until(closing.clone(), sending));
            } else {
                sending.await;
            }
        }
    };
    until(closing.clone(), posting).await;
}

async fn until(closing: CancellationToken, what: impl Future<Output = ()>) {
    tokio::select! {
        () = what => {}
        () = closing.cancelled() => {}
    }
}

/// Sends one message. A request that cannot be sent is answered with the reason.
async fn send(outbox: Outbox, line: String, piped: Arc<Piped>, message: Message) {
    let Err(error) = outbox.begin().send(line.into_bytes()).await else {
        return;
    };
    let (kind, why) = match &error {
        LegacyError::SessionLost(_) => (FailureKind::Disconnected, LOST_SESSION.to_owned()),
        error if is_unreachable(error) => {
            let why = format!("cannot be reached: {}", root(error));
            (FailureKind::Disconnected, why)
        }
        error => (FailureKind::Transport, root(error)),
    };
    if kind == FailureKind::Disconnected {
        piped.tap.lost(piped.problem(&why, Vec::new()));
    }
    if let Message::Request { id: Some(id), .. } = &message {
        piped.unsent(id, &Outcome::failed(kind, why));
    } else {
        piped.wire.noise(&why);
    }
}

/// Reads the event stream until it, or the session, ends.
async fn read(mut inbox: Inbox, piped: Arc<Piped>) {
    let closing = piped.closing.clone();
    let why = loop {
        let next = tokio::select! {
            next = inbox.next() => next,
            () = closing.cancelled() => break None,
        };
        match next {
            Ok(message) => match std::str::from_utf8(&message) {
                Ok(text) => piped.arrived(text),
                Err(_) => piped.arrived_broken(&message),
            },
            Err(why) => break Some(why),
        }
    };
    drop(inbox);
    piped.gone(why).await;
}
