//! The messages to a server: each by a POST of its own.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::{mpsc, watch};

use super::error::LegacyError;
use crate::mcp::events::Events;
use crate::mcp::http::{EVENT_STREAM, Head, JSON, LONGEST_BODY, body, excerpt_of};
use crate::mcp::wire::{Message, Reply, read_bytes};

/// How much longer than its answer a message may take to be accepted, so that it is the answer that comes too late.
const LONGER: Duration = Duration::from_secs(1);

/// How long a message may take to be accepted: servers may keep a POST until they have the answer.
pub(in crate::mcp) fn taking(connect_timeout: Duration, tool_timeout: Duration) -> Duration {
    connect_timeout.max(tool_timeout) + LONGER
}

/// Sends messages to the endpoint of one session. Clones send to the same.
#[derive(Clone)]
pub(in crate::mcp) struct Outbox(Arc<Endpoint>);

struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
    /// Takes what answers a POST.
    aside: mpsc::UnboundedSender<Vec<u8>>,
    /// How many messages are on their way.
    under_way: watch::Sender<usize>,
}

/// A message on its way, from the moment it is about to be sent.
pub(in crate::mcp) struct Sending(Outbox);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.0.under_way.send_modify(|it| *it -= 1);
    }
}

impl Sending {
    /// Sends the message, and returns once the server has taken it.
    ///
    /// # Errors
    ///
    /// Why it has not.
    pub(in crate::mcp) async fn send(self, message: Vec<u8>) -> Result<(), LegacyError> {
        let endpoint = &self.0.0;
        let timeout = endpoint.timeout;
        let sent = tokio::time::timeout(timeout, endpoint.post(message)).await;
        sent.unwrap_or(Err(LegacyError::Late(timeout)))
    }
}

impl Outbox {
    pub(super) fn new(
        client: Client,
        url: Url,
        headers: HeaderMap,
        timeout: Duration,
        aside: mpsc::UnboundedSender<Vec<u8>>,
    ) -> Self {
        Self(Arc::new(Endpoint {
            client,
            url,
            headers,
            timeout,
            aside,
            under_way: watch::Sender::new(0),
        }))
    }

    /// Waits until it is known of each message on its way whether it was taken; returns whether there were any.
    pub(super) async fn wait_for_deliveries(&self) -> bool {
        let any = *self.0.under_way.borrow() > 0;
        // Cannot fail: the sender is a field of this.
        let _ = self.0.under_way.subscribe().wait_for(|it| *it == 0).await;
        any
    }

    /// Announces a message, which is waited for from now on.
    pub(in crate::mcp) fn begin(&self) -> Sending {
        self.0.under_way.send_modify(|it| *it += 1);
        Sending(self.clone())
    }
}

impl Endpoint {
    async fn post(&self, message: Vec<u8>) -> Result<(), LegacyError> {
        let post = self.client.post(self.url.clone());
        let response = post
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
            .body(message)
            .send()
            .await?;
        let head = Head::of(&response);
        let status = head.status;
        if status.is_success() && head.kind.starts_with(EVENT_STREAM) {
            return self.read_events(response).await;
        }
        if status.is_success() && head.is_json() {
            let body = body(response).await?.ok_or_else(too_long)?;
            if !matches!(read_bytes(&body), Message::Noise) {
                self.arrived(body);
            }
            return Ok(());
        }
        let body = excerpt_of(response).await;
        if status.is_success() {
            return Ok(());
        }
        let refusal = read_bytes(body.as_bytes());
        if let Message::Reply { reply, .. } = refusal
            && matches!(reply, Reply::Error(_))
            && !head.is_about_access()
        {
            self.arrived(body.into());
            return Ok(());
        }
        let why = head.describe(&body);
        Err(if status == StatusCode::NOT_FOUND {
            LegacyError::SessionLost(why)
        } else {
            LegacyError::Answer(why)
        })
    }

    async fn read_events(&self, mut response: Response) -> Result<(), LegacyError> {
        let mut events = Events::default();
        while let Some(piece) = response.chunk().await? {
            events.read(&piece, LONGEST_BODY, |_, data| self.arrived(data.to_vec()));
            if events.is_lost() {
                return Err(too_long());
            }
        }
        Ok(())
    }

    fn arrived(&self, message: Vec<u8>) {
        // Fails when the session has ended.
        let _ = self.aside.send(message);
    }
}

fn too_long() -> LegacyError {
    LegacyError::Answer(format!("an answer of more than {LONGEST_BODY} bytes"))
}
