//! A session of the older transport as a connection for rmcp.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::error::LegacyError;
use super::inbox::Inbox;
use super::outbox::Outbox;
use crate::digits;
use crate::mcp::wire::Wire;

/// How long messages on their way are waited for once the stream has ended.
const SETTLING: Duration = Duration::from_secs(1);
const TELLING: Duration = Duration::from_millis(100);

/// How an event stream ended, once it has.
#[derive(Debug, Clone, Default)]
pub(in crate::mcp) struct StreamEnd(Arc<OnceLock<Ended>>);

#[derive(Debug)]
struct Ended {
    why: String,
    while_waiting: bool,
}

impl StreamEnd {
    /// Why nothing comes any more, in words that follow the name of the server.
    pub(in crate::mcp) fn why(&self) -> Option<&str> {
        self.0.get().map(|it| it.why.as_str())
    }

    /// Whether it ended while no request waited for its answer: nothing is lost but the session.
    pub(in crate::mcp) fn was_idle(&self) -> bool {
        self.0.get().is_some_and(|it| !it.while_waiting)
    }
}

/// A connection that shows the wire every message before rmcp reads it.
pub(in crate::mcp) struct LegacyTransport {
    outbox: Outbox,
    /// `None` once the stream has ended, or is closed.
    inbox: Option<Inbox>,
    /// Why the stream has ended, until that is reported.
    ending: Option<String>,
    wire: Arc<Wire>,
    end: StreamEnd,
}

impl LegacyTransport {
    pub(in crate::mcp) fn new(
        (outbox, inbox): (Outbox, Inbox),
        wire: Arc<Wire>,
        end: StreamEnd,
    ) -> Self {
        Self {
            outbox,
            inbox: Some(inbox),
            ending: None,
            wire,
            end,
        }
    }

    /// Lets messages on their way be refused first: a request that was not taken is not lost with the session.
    async fn settle(&self) {
        let settling = async {
            if self.outbox.wait_for_deliveries().await {
                // Whoever waits learns of it before the connection is gone.
                tokio::time::sleep(TELLING).await;
            }
        };
        let _ = tokio::time::timeout(SETTLING, settling).await;
    }
}

impl Transport<RoleClient> for LegacyTransport {
    type Error = LegacyError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), LegacyError>> + Send + 'static {
        // Noted before anything is awaited: the stream may end before the message begins to move.
        if let JsonRpcMessage::Request(request) = &message
            && let Ok(id) = serde_json::to_value(&request.id)
        {
            self.wire.sent(&id);
        }
        let sending = self.outbox.begin();
        async move {
            let message = serde_json::to_string(&message).map_err(LegacyError::Unwritable)?;
            let message = digits::written(&message).into_owned();
            sending.send(message.into_bytes()).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(why) = self.ending.clone() {
                self.settle().await;
                let while_waiting = self.wire.is_waiting();
                // It ends once.
                let _ = self.end.0.set(Ended { why, while_waiting });
                self.ending = None;
                return None;
            }
            match self.inbox.as_mut()?.next().await {
                Ok(message) => {
                    let usable = self.wire.observe(&message);
                    let message = usable.and_then(|it| serde_json::from_slice(&it).ok());
                    // What rmcp cannot make sense of is known to whoever waits for it.
                    if let Some(message) = message {
                        return Some(message);
                    }
                }
                Err(why) => {
                    self.inbox = None;
                    self.ending = Some(why);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), LegacyError> {
        self.inbox = None;
        Ok(())
    }
}
