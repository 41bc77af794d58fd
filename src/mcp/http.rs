//! The HTTP side of Streamable HTTP: sends the requests of rmcp's worker with reqwest, and shows each answer to the wire.
//!
//! Format: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, SET_COOKIE, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::Value;
use serde_json::value::RawValue;
use sse_stream::{Sse, SseStream};

use crate::digits;
use crate::http_client;
use crate::mcp::mend::mended;
use crate::mcp::wire::{NOT_UTF8, Wire, key};
use crate::text::beginning;

pub(super) const JSON: &str = "application/json";
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The most one HTTP response may hold.
pub(super) const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// How much of an error body goes into a message.
const EXCERPT: usize = 300;

/// The most of such a body that is read, and for how long.
const LONGEST_EXCERPT: usize = 64 * 1024;
/// A server that asks to be asked again at once is left alone so long.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

const EXCERPT_TIMEOUT: Duration = Duration::from_secs(5);

type Error = StreamableHttpError<reqwest::Error>;

/// An HTTP client that shows the wire every answer before rmcp reads it.
#[derive(Clone)]
pub(super) struct WatchedHttp {
    client: reqwest::Client,
    wire: Arc<Wire>,
    /// The status with which the server has refused a message outside of any session.
    refusal: Arc<Mutex<Option<StatusCode>>>,
    /// Which notification it has refused, and how.
    refused: Arc<Mutex<Option<String>>>,
    /// What it wants to be sent back, as load balancers do to find the process that has the session: names with their values.
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
}

impl WatchedHttp {
    /// A client for one server. Servers on this machine are never asked for through a proxy.
    pub(super) fn new(
        url: &str,
        connect_timeout: Duration,
        wire: Arc<Wire>,
    ) -> Result<Self, reqwest::Error> {
        Ok(Self {
            client: http_client::within_origin(url, connect_timeout).build()?,
            wire,
            refusal: Arc::default(),
            refused: Arc::default(),
            cookies: Arc::default(),
        })
    }

    /// The status with which the server has refused to begin a session, if it has.
    pub(super) fn refusal(&self) -> Option<StatusCode> {
        *self.refusal.lock()
    }

    /// Which notification the server has refused, and how, if it has.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().clone()
    }

    /// The headers of a request, with the cookies that the server has set.
    fn with_cookies(
        &self,
        mut headers: HashMap<HeaderName, HeaderValue>,
    ) -> HashMap<HeaderName, HeaderValue> {
        let own = headers.get(&COOKIE).and_then(|it| it.to_str().ok());
        let set = self.cookies.lock();
        let set = set.iter().map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> = own.map(str::to_owned).into_iter().chain(set).collect();
        if let Ok(value) = HeaderValue::try_from(all.join("; "))
            && !all.is_empty()
        {
            headers.insert(COOKIE, value);
        }
        headers
    }

    fn keep_cookies(&self, response: &Response) {
        let mut cookies = self.cookies.lock();
        for it in response.headers().get_all(SET_COOKIE) {
            let Ok(said) = it.to_str() else { continue };
            let mut parts = said.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|it| it.split_once('=')) else {
                continue;
            };
            if parts.any(|it| it.eq_ignore_ascii_case("max-age=0")) {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// An error that was answered to a request under another id, as its answer; a result under one is lost. Over HTTP, an answer belongs to
    /// the request that it came for.
    fn of_request<'m>(&self, request: Option<&Value>, body: &'m [u8]) -> Cow<'m, [u8]> {
        let members = serde_json::from_slice::<BTreeMap<String, &RawValue>>(body);
        let (Some(request), Ok(mut members)) = (request, members) else {
            return Cow::Borrowed(body);
        };
        let id = members.get("id").map(|it| it.get());
        let id = id.and_then(|it| serde_json::from_str::<Value>(it).ok());
        if id.as_ref().is_some_and(|it| key(it) == key(request)) || members.contains_key("method") {
            return Cow::Borrowed(body);
        }
        let has = |name: &str| members.get(name).is_some_and(|it| it.get() != "null");
        if has("result") && !has("error") {
            let id = id.map_or_else(|| "none".to_owned(), |it| it.to_string());
            let why =
                format!("the answer has another id than its request: {id} in place of {request}");
            self.wire.spoil(request, &why);
            return Cow::Borrowed(body);
        }
        let own = RawValue::from_string(request.to_string());
        let (true, Ok(own)) = (has("error"), &own) else {
            return Cow::Borrowed(body);
        };
        members.insert("id".to_owned(), own);
        serde_json::to_vec(&members).map_or(Cow::Borrowed(body), Cow::Owned)
    }

    /// The events of a stream, shown to the wire. What cannot be read of one that brings the answer to a request is known to whoever
    /// waits for that.
    fn watched(
        &self,
        request: Option<Value>,
        stream: BoxStream<'static, Result<Sse, SseError>>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let wire = Arc::clone(&self.wire);
        stream
            .map(move |event| {
                if let (Err(SseError::Utf8Parse(_)), Some(request)) = (&event, &request) {
                    wire.spoil(request, NOT_UTF8);
                }
                event.map(|it| {
                    let data = it.data.filter(|it| !it.trim().is_empty());
                    // What is no message, such as what keeps a connection alive, is no event for rmcp.
                    let usable = data.and_then(|it| {
                        let usable = wire.observe_of(it.as_bytes(), &|| request.clone())?;
                        String::from_utf8(usable.into_owned()).ok()
                    });
                    Sse { data: usable, ..it }
                })
            })
            .boxed()
    }
}

impl StreamableHttpClient for WatchedHttp {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let in_session = session_id.is_some();
        let request_id = match &message {
            JsonRpcMessage::Request(request) => serde_json::to_value(&request.id).ok(),
            _ => None,
        };
        let expects_answer = request_id.is_some();
        let mut request = self
            .client
            .post(uri.as_ref())
            .header(ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
            .header(CONTENT_TYPE, JSON)
            .body(digits::written(&serde_json::to_string(&message)?).into_owned());
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        if let Some(session_id) = session_id {
            request = request.header("Mcp-Session-Id", session_id.as_ref());
        }
        let headers = self.with_cookies(custom_headers);
        let response = with_headers(request, headers).send().await?;

        self.keep_cookies(&response);
        let status = response.status();
        if status == StatusCode::ACCEPTED || status == StatusCode::NO_CONTENT {
            if expects_answer {
                // It may still come over another stream.
                let what = format!("it took the request with HTTP {status} and no answer");
                self.wire.came_instead(what);
            }
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !in_session && (status.is_client_error() || status.is_server_error()) {
            *self.refusal.lock() = Some(status);
        }
        let is_call = matches!(&message, JsonRpcMessage::Request(it) if matches!(it.request, ClientRequest::CallToolRequest(_)));
        if is_call && let Some((status, pause)) = busy(&response) {
            let pause = Some(pause.as_secs_f64().to_string());
            return Err(HttpStatusError::new(status, pause).into());
        }
        let head = Head::of(&response);
        let session_id = response
            .headers()
            .get("Mcp-Session-Id")
            .and_then(|it| it.to_str().ok())
            .map(str::to_owned);
        if status.is_success() && head.kind.starts_with(EVENT_STREAM) {
            let events = self.watched(request_id, events(response));
            return Ok(StreamableHttpPostResponse::Sse(events, session_id));
        }

        let max_size = LONGEST_BODY;
        let body = body(response).await?;
        let body = body.ok_or(StreamableHttpError::ResponseBodyTooLarge { max_size })?;
        let text = String::from_utf8_lossy(&body);
        if head.is_json() {
            let body = self.of_request(request_id.as_ref(), &body);
            // The wire wakes the caller when the id is ours; where nothing can be read, rmcp only learns that this exchange led nowhere.
            let message = if status.is_success() {
                let usable = self.wire.observe_of(&body, &|| request_id.clone());
                usable.and_then(|it| serde_json::from_slice(&it).ok())
            } else {
                let text = String::from_utf8_lossy(&body);
                let message = serde_json::from_str(&mended(&text, &|| None).text).ok();
                let error = message.filter(|it| matches!(it, JsonRpcMessage::Error(_)));
                error.inspect(|_| _ = self.wire.observe_of(&body, &|| request_id.clone()))
            };
            if let Some(message) = message {
                return Ok(StreamableHttpPostResponse::Json(message, session_id));
            }
        }
        if status.is_success() && !expects_answer {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !expects_answer {
            let described = head.describe(&text);
            let method = serde_json::to_value(&message).ok();
            let method = method.as_ref().and_then(|it| it["method"].as_str());
            let method = method.unwrap_or("a message");
            *self.refused.lock() = Some(format!("refused `{method}`: {described}"));
        }
        Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(
            head.describe(&text),
        )))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let events = self
            .client
            .get_stream(
                uri,
                session_id,
                last_event_id,
                auth_header,
                self.with_cookies(custom_headers),
            )
            .await?;
        Ok(self.watched(None, events))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        self.client
            .delete_session(
                uri,
                session_id,
                auth_header,
                self.with_cookies(custom_headers),
            )
            .await
    }
}

/// With which status a server says that it is too busy, and after how long it asks to be asked again; `None` where it does not.
pub(super) fn busy(response: &Response) -> Option<(u16, Duration)> {
    let status = response.status();
    let is_busy =
        status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE;
    let pause = http_client::retry_after(response.headers()).filter(|_| is_busy)?;
    Some((status.as_u16(), pause.max(SHORTEST_PAUSE)))
}

fn with_headers(
    request: RequestBuilder,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    headers.into_iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    })
}

/// What a response is, before its body.
pub(super) struct Head {
    pub(super) status: StatusCode,
    /// The type of its body.
    pub(super) kind: String,
    /// What it asks of those whom it does not let in.
    challenge: Option<String>,
}

impl Head {
    pub(super) fn of(response: &Response) -> Self {
        let header = |name| response.headers().get(name);
        let text = |name| header(name).map(|it| String::from_utf8_lossy(it.as_bytes()));
        Self {
            status: response.status(),
            kind: text(CONTENT_TYPE)
                .map(|it| it.trim().to_lowercase())
                .unwrap_or_default(),
            challenge: text(WWW_AUTHENTICATE).map(Cow::into_owned),
        }
    }

    /// A 401 or 403, which is reported by its status, whatever the body says.
    pub(super) fn is_about_access(&self) -> bool {
        matches!(
            self.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        )
    }

    /// Whether its body is to be read as a message.
    pub(super) fn is_json(&self) -> bool {
        self.kind.starts_with(JSON) && !self.is_about_access()
    }

    /// A response that is no answer.
    pub(super) fn describe(&self, body: &str) -> String {
        let excerpt = beginning(body.trim(), EXCERPT);
        let kind = if self.kind.is_empty() {
            "no content type"
        } else {
            &self.kind
        };
        let what = if excerpt.is_empty() {
            "an empty body".to_owned()
        } else {
            format!("`{excerpt}`")
        };
        let described = format!("HTTP {}, {kind}: {what}", self.status);
        if !self.is_about_access() {
            return described;
        }
        let quoted = |it: &String| format!("`{}`", beginning(it, EXCERPT));
        let asked = (self.challenge.as_ref()).map_or_else(|| "a key".to_owned(), quoted);
        let keys = "`headers: { Authorization: \"Bearer ${TOKEN}\" }` or `bearer_token_env: TOKEN`";
        format!("{described}; the server asks for {asked}, which {keys} gives it")
    }
}

/// The beginning of a body, for a message; what of it comes in time.
pub(super) async fn excerpt_of(mut response: Response) -> String {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(piece)) = response.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() > LONGEST_EXCERPT {
                body.truncate(LONGEST_EXCERPT);
                return;
            }
        }
    };
    let _ = tokio::time::timeout(EXCERPT_TIMEOUT, reading).await;
    String::from_utf8_lossy(&body).into_owned()
}

/// The whole body; `None` of one that is beyond the limit.
pub(super) async fn body(mut response: Response) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST_BODY {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// The events of a body as they come; ends with an error at the limit.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut length = 0;
    let bounded = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        length += chunk.len();
        if length > LONGEST_BODY {
            return Err(std::io::Error::other(format!(
                "an event stream of more than {LONGEST_BODY} bytes"
            )));
        }
        Ok(chunk)
    });
    SseStream::from_bytes_stream(Box::pin(bounded)).boxed()
}
