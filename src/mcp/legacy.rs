//! The older transport over HTTP: a GET opens an event stream, whose first event names the endpoint that takes messages by POST; the answers
//! come on the stream.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, watch};

use crate::digits;
use crate::http_client::{self, shown};
use crate::mcp::events::Events;
use crate::mcp::http::{EVENT_STREAM, Head, JSON, LONGEST_BODY, body, excerpt_of};
use crate::mcp::transport_error::{LegacyError, root};
use crate::mcp::wire::{Message, Reply, Wire, read_bytes};

/// Opens a session with the server at this address. Never returns when the server names no endpoint: bound it. A message must be taken
/// within `post_timeout`.
pub(super) async fn open(
    url: &str,
    headers: &HeaderMap,
    connect_timeout: Duration,
    post_timeout: Duration,
) -> Result<(Outbox, Inbox), LegacyError> {
    let client = http_client::within_origin(url, connect_timeout).build()?;
    let asked = client.get(url).headers(headers.clone());
    let response = asked.header(ACCEPT, EVENT_STREAM).send().await?;
    let head = Head::of(&response);
    if !(head.status.is_success() && head.kind.starts_with(EVENT_STREAM)) {
        let body = excerpt_of(response).await;
        return Err(LegacyError::Answer(head.describe(&body)));
    }
    // After redirections, which stay on the same origin.
    let base = response.url().clone();
    let (aside, answers) = mpsc::unbounded_channel();
    let mut inbox = Inbox::new(response, answers);
    let named = inbox.endpoint().await.map_err(LegacyError::NoEndpoint)?;
    let endpoint = endpoint(&base, &named)?;
    let outbox = Outbox::new(client, endpoint, headers.clone(), post_timeout, aside);
    Ok((outbox, inbox))
}

/// The address that an event names. Messages, which carry the keys of the server, are sent to its own origin alone.
fn endpoint(base: &Url, named: &[u8]) -> Result<Url, LegacyError> {
    let named = std::str::from_utf8(named);
    let named = named.map_err(|_| LegacyError::NoEndpoint("the event is not text".to_owned()))?;
    let endpoint = base.join(named.trim());
    let endpoint = endpoint.map_err(|_| {
        let what = named.split(['?', '#']).next().unwrap_or_default();
        let what = crate::text::beginning(what.trim(), 100);
        LegacyError::NoEndpoint(format!("`{what}` is not an address"))
    })?;
    if endpoint.origin() == base.origin() {
        Ok(endpoint)
    } else {
        Err(LegacyError::Elsewhere(shown(&endpoint)))
    }
}

/// What arrives, in the order in which it does.
pub(super) struct Inbox {
    stream: Response,
    events: Events,
    /// Events that have arrived: their names and their data.
    arrived: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// What came in answer to a POST.
    aside: mpsc::UnboundedReceiver<Vec<u8>>,
}

impl Inbox {
    fn new(stream: Response, aside: mpsc::UnboundedReceiver<Vec<u8>>) -> Self {
        Self {
            stream,
            events: Events::default(),
            arrived: VecDeque::new(),
            aside,
        }
    }

    /// The data of the first event, which must be the one with the endpoint.
    ///
    /// # Errors
    ///
    /// What came in place of it, or why nothing did.
    async fn endpoint(&mut self) -> Result<Vec<u8>, String> {
        while self.arrived.is_empty() {
            read(&mut self.stream, &mut self.events, &mut self.arrived).await?;
        }
        match self.arrived.pop_front() {
            Some((name, data)) if name == b"endpoint" => Ok(data),
            other => {
                let name = other.map(|(name, _)| name).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).into_owned();
                Err(match name.as_str() {
                    "" => "its first event is a message".to_owned(),
                    name => format!("its first event is `{}`", crate::text::beginning(name, 40)),
                })
            }
        }
    }

    /// The next message. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// Why none will come any more, in words that follow the name of the server.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, String> {
        loop {
            while let Some((name, data)) = self.arrived.pop_front() {
                // Servers send events of other names to keep the stream open.
                if matches!(name.as_slice(), b"" | b"message") {
                    return Ok(data);
                }
            }
            tokio::select! {
                biased;
                Some(message) = self.aside.recv() => return Ok(message),
                read = read(&mut self.stream, &mut self.events, &mut self.arrived) => read?,
            }
        }
    }
}

/// Reads the next piece of the stream. May be dropped and called again.
async fn read(
    stream: &mut Response,
    events: &mut Events,
    arrived: &mut VecDeque<(Vec<u8>, Vec<u8>)>,
) -> Result<(), String> {
    match stream.chunk().await {
        Ok(Some(piece)) => {
            events.read(&piece, LONGEST_BODY, |name, data| {
                arrived.push_back((name.to_vec(), data.to_vec()));
            });
            if events.is_lost() {
                return Err(format!("sent an event of more than {LONGEST_BODY} bytes"));
            }
            Ok(())
        }
        Ok(None) => Err("ended its event stream".to_owned()),
        Err(error) => Err(format!("broke off its event stream: {}", root(&error))),
    }
}

/// How much longer than its answer a message may take to be accepted, so that it is the answer that comes too late.
const LONGER: Duration = Duration::from_secs(1);

/// How long a message may take to be accepted: servers may keep a POST until they have the answer.
pub(super) fn taking(connect_timeout: Duration, tool_timeout: Duration) -> Duration {
    connect_timeout.max(tool_timeout) + LONGER
}

/// Sends messages to the endpoint of one session. Clones send to the same.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Endpoint>);

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
pub(super) struct Sending(Outbox);

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
    pub(super) async fn send(self, message: Vec<u8>) -> Result<(), LegacyError> {
        let endpoint = &self.0.0;
        let timeout = endpoint.timeout;
        let sent = tokio::time::timeout(timeout, endpoint.post(message)).await;
        sent.unwrap_or(Err(LegacyError::Late(timeout)))
    }
}

impl Outbox {
    fn new(
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
    async fn wait_for_deliveries(&self) -> bool {
        let any = *self.0.under_way.borrow() > 0;
        // Cannot fail: the sender is a field of this.
        let _ = self.0.under_way.subscribe().wait_for(|it| *it == 0).await;
        any
    }

    /// Announces a message, which is waited for from now on.
    pub(super) fn begin(&self) -> Sending {
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

/// How long messages on their way are waited for once the stream has ended.
const SETTLING: Duration = Duration::from_secs(1);
const TELLING: Duration = Duration::from_millis(100);

/// How an event stream ended, once it has.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamEnd(Arc<OnceLock<Ended>>);

#[derive(Debug)]
struct Ended {
    why: String,
    while_waiting: bool,
}

impl StreamEnd {
    /// Why nothing comes any more, in words that follow the name of the server.
    pub(super) fn why(&self) -> Option<&str> {
        self.0.get().map(|it| it.why.as_str())
    }

    /// Whether it ended while no request waited for its answer: nothing is lost but the session.
    pub(super) fn was_idle(&self) -> bool {
        self.0.get().is_some_and(|it| !it.while_waiting)
    }
}

/// A connection that shows the wire every message before rmcp reads it.
pub(super) struct LegacyTransport {
    outbox: Outbox,
    /// `None` once the stream has ended, or is closed.
    inbox: Option<Inbox>,
    /// Why the stream has ended, until that is reported.
    ending: Option<String>,
    wire: Arc<Wire>,
    end: StreamEnd,
}

impl LegacyTransport {
    pub(super) fn new((outbox, inbox): (Outbox, Inbox), wire: Arc<Wire>, end: StreamEnd) -> Self {
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

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use crate::mcp::legacy::endpoint;

    #[test]
    fn messages_go_to_the_same_origin_alone() {
        let base = Url::parse("https://mcp.example:8443/a/sse?key=1").unwrap();
        let leads = |named: &str| match endpoint(&base, named.as_bytes()) {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        };
        let origin = "https://mcp.example:8443";
        assert_eq!(leads("/messages?s=1"), format!("{origin}/messages?s=1"));
        assert_eq!(leads("messages"), format!("{origin}/a/messages"));
        assert_eq!(leads("?s=1"), format!("{origin}/a/sse?s=1"));
        assert_eq!(
            leads(&format!(" {origin}/x\n")),
            "https://mcp.example:8443/x"
        );
        for (named, shown) in [
            ("https://evil.example/m?s=1", "https://evil.example/m"),
            ("//u:p@evil.example/m", "https://evil.example/m"),
            ("http://mcp.example:8443/m", "http://mcp.example:8443/m"),
            ("https://mcp.example/m", "https://mcp.example/m"),
            ("data:text/plain,x", "data:text/plain,x"),
        ] {
            let expected = format!("it wants messages at {shown}, which is another server");
            assert_eq!(leads(named), expected);
        }
        assert_eq!(
            leads("http://[?s=1"),
            "its event stream names no endpoint: `http://[` is not an address"
        );
    }
}
