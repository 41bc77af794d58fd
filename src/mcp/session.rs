//! One session with one server: connect, list its tools, call them, close.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, PeerRequestOptions, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::{ServiceExt, service::ClientCacheConfig};
use serde_json::Value;

use crate::mcp::child::{Child, LONGEST_LINE};
use crate::mcp::http::WatchedHttp;
use crate::mcp::tools::{Launch, Target};
use crate::mcp::wire::{Reply, Wire};
use crate::model::Object;
use crate::model::catalogue::{ServerCatalogue, Tool};
use crate::model::trajectory::{Answer, Failure, FailureKind, Outcome};
use crate::run::{Called, SetupError};
use crate::text::shorten;

/// JSON-RPC's "method not found": a server without tools says so.
const METHOD_NOT_FOUND: i64 = -32601;

/// The most pages of `tools/list` that are read: a server that never ends its list is broken.
const MOST_PAGES: usize = 1000;

/// How long closing a session may take before its server is ended anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connected server.
pub(super) struct Session {
    name: String,
    service: RunningService<RoleClient, ClientConfig>,
    wire: Arc<Wire>,
    child: Option<tokio::sync::Mutex<Child>>,
    tool_timeout: Duration,
}

/// Why a request has no result.
enum Refused {
    /// A JSON-RPC error object.
    Error(Value),
    Invalid(String),
    Timeout,
    /// The connection is gone.
    Gone(String),
    /// This exchange failed; the next one may work.
    Exchange(String),
}

impl Session {
    /// Connects and reads the server's whole catalogue, both within the connect timeout.
    pub(super) async fn connect(target: &Target) -> Result<(Self, ServerCatalogue), SetupError> {
        let wire = Arc::new(Wire::default());
        let mut child = None;
        let what = target.launch.describe();
        let connecting = async {
            let service = match &target.launch {
                Launch::Child(command) => {
                    let (started, stdout, stdin) = Child::start(command, Arc::clone(&wire))
                        .map_err(|error| format!("cannot be started: {what}: {error}"))?;
                    child = Some(started);
                    let transport = AsyncRwTransport::<RoleClient, _, _>::new(stdout, stdin)
                        .with_max_line_length(LONGEST_LINE);
                    client().serve(transport).await
                }
                Launch::Http {
                    url,
                    headers,
                    bearer_token,
                } => {
                    let http = WatchedHttp::new(url, target.connect_timeout, Arc::clone(&wire))
                        .map_err(|error| format!("has no HTTP client: {}", root(&error)))?;
                    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                        .custom_headers(header_map(headers)?)
                        .max_sse_event_size(LONGEST_LINE)
                        // A new session in the middle of a run would lose the server's state unseen.
                        .reinit_on_expired_session(false);
                    config.auth_header.clone_from(bearer_token);
                    client()
                        .serve(StreamableHttpClientTransport::with_client(http, config))
                        .await
                }
            };
            let service = service.map_err(|error| not_initialized(&error, &what))?;
            // A cached catalogue would hide what the server says now.
            service
                .peer()
                .set_response_cache_config(ClientCacheConfig::disabled())
                .await;
            let mut catalogue = ServerCatalogue {
                server: target.name.clone(),
                ..ServerCatalogue::default()
            };
            if let Some(Reply::Result(Value::Object(mut initialized))) = wire.take_any() {
                catalogue.info = initialized.remove("serverInfo");
                catalogue.protocol_version = text(initialized.remove("protocolVersion"));
                catalogue.instructions = text(initialized.remove("instructions"));
            }
            catalogue.tools = list_tools(&service, &wire, target.connect_timeout).await?;
            Ok((service, catalogue))
        };
        let connected: Result<_, String> = tokio::time::timeout(target.connect_timeout, connecting)
            .await
            .unwrap_or_else(|_| {
                Err(format!(
                    "did not get ready within {:?}: {what} (`connect_timeout` changes that)",
                    target.connect_timeout
                ))
            });
        match connected {
            Ok((service, catalogue)) => {
                let session = Self {
                    name: target.name.clone(),
                    service,
                    wire,
                    child: child.map(tokio::sync::Mutex::new),
                    tool_timeout: target.tool_timeout,
                };
                Ok((session, catalogue))
            }
            Err(mut problem) => {
                let mut details = Vec::new();
                if let Some(child) = &mut child {
                    if problem.ends_with(CLOSED) {
                        problem = format!("{problem}: it {}", child.describe_end().await);
                    }
                    details = child.stderr();
                }
                Err(setup_error(&target.name, &problem, &wire, details))
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Calls a tool; every way it can end is an outcome.
    pub(super) async fn call(&self, tool: &str, arguments: &Object) -> Called {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let refused = match request_raw(&self.service, &self.wire, request, self.tool_timeout).await
        {
            Ok(result) => match read_answer(result) {
                Ok(answer) => {
                    return Called {
                        outcome: Outcome::Answer(answer),
                        lost: None,
                    };
                }
                Err(problem) => Refused::Invalid(problem),
            },
            Err(refused) => refused,
        };
        let failure = |kind, message: String| Failure {
            kind,
            message,
            code: None,
            data: None,
        };
        let mut lost = None;
        let failure = match refused {
            Refused::Error(error) => read_error(&error),
            Refused::Invalid(problem) => failure(
                FailureKind::InvalidResponse,
                format!("no valid tool result: {problem}"),
            ),
            Refused::Timeout => {
                let noise = self.wire.noise_lines();
                let said = noise
                    .last()
                    .map(|it| format!("; it sent something that is no MCP message: `{it}`"));
                failure(
                    FailureKind::Timeout,
                    format!(
                        "no answer within {:?}{}",
                        self.tool_timeout,
                        said.unwrap_or_default()
                    ),
                )
            }
            Refused::Exchange(problem) => failure(FailureKind::Transport, problem),
            Refused::Gone(problem) => {
                let (end, details) = self.end_of_child().await;
                let message = format!("{problem}{end}");
                lost = Some(setup_error(&self.name, &message, &self.wire, details));
                failure(FailureKind::Disconnected, message)
            }
        };
        Called {
            outcome: Outcome::Failure(failure),
            lost,
        }
    }

    /// Ends the session and, where there is one, the server process.
    pub(super) async fn close(mut self) {
        // Ends rmcp's task, which drops the transport and with it the child's stdin.
        let _ = self.service.close_with_timeout(CLOSE_TIMEOUT).await;
        drop(self.service);
        if let Some(child) = self.child {
            child.into_inner().end().await;
        }
    }

    async fn end_of_child(&self) -> (String, Vec<String>) {
        match &self.child {
            None => (String::new(), Vec::new()),
            Some(child) => {
                let mut child = child.lock().await;
                let end = child.describe_end().await;
                (format!(": it {end}"), child.stderr())
            }
        }
    }
}

/// The end of messages about a connection that was closed: how the process ended is added behind it.
const CLOSED: &str = "closed the connection";

fn client() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("mcp-eval", env!("CARGO_PKG_VERSION")),
    )
    .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

fn setup_error(server: &str, problem: &str, wire: &Wire, stderr: Vec<String>) -> SetupError {
    let noise = wire.noise_lines();
    let mut details: Vec<String> = noise
        .iter()
        .map(|it| format!("it sent something that is no MCP message: {it}"))
        .collect();
    details.extend(stderr.into_iter().map(|it| format!("stderr: {it}")));
    SetupError {
        message: format!("server `{server}` {problem}"),
        details,
    }
}

fn not_initialized(error: &ClientInitializeError, what: &str) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => format!("({what}) {CLOSED}"),
        ClientInitializeError::TransportError { error, .. }
            if is_broken_pipe(error.error.as_ref()) =>
        {
            format!("({what}) {CLOSED}")
        }
        ClientInitializeError::TransportError { error, .. }
            if is_unreachable(error.error.as_ref()) =>
        {
            format!("cannot be reached: {what}: {}", root(error.error.as_ref()))
        }
        ClientInitializeError::TransportError { error, .. } => {
            format!(
                "did not answer `initialize` as MCP asks: {what}: {}",
                root(error.error.as_ref())
            )
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "refused `initialize`: {} (code {})",
                error.message, error.code.0
            )
        }
        other => format!("did not answer `initialize` as MCP asks: {other}"),
    }
}

fn is_broken_pipe(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Reads all pages of the server's tools.
async fn list_tools(
    service: &RunningService<RoleClient, ClientConfig>,
    wire: &Wire,
    timeout: Duration,
) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let mut request = ListToolsRequest::default();
        if let Some(cursor) = cursor {
            request.params = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
        }
        let request = ClientRequest::ListToolsRequest(request);
        let result = match request_raw(service, wire, request, timeout).await {
            Ok(result) => result,
            Err(Refused::Error(error))
                if error.get("code").and_then(Value::as_i64) == Some(METHOD_NOT_FOUND) =>
            {
                return Ok(tools);
            }
            Err(refused) => return Err(format!("did not list its tools: {}", refused.describe())),
        };
        let Value::Object(mut page) = result else {
            return Err("answered `tools/list` with something that is no object".to_owned());
        };
        let Some(Value::Array(served)) = page.remove("tools") else {
            return Err("answered `tools/list` without a list of tools".to_owned());
        };
        for tool in served {
            match tool {
                Value::Object(served) if served.get("name").is_some_and(Value::is_string) => {
                    tools.push(Tool { served });
                }
                other => {
                    return Err(format!(
                        "lists a tool without a name: {}",
                        excerpt(&other.to_string())
                    ));
                }
            }
        }
        match page.remove("nextCursor") {
            None | Some(Value::Null) => return Ok(tools),
            Some(Value::String(next)) if cursors.insert(next.clone()) => cursor = Some(next),
            Some(Value::String(next)) => {
                return Err(format!(
                    "lists its tools in a circle: cursor `{}` came twice",
                    excerpt(&next)
                ));
            }
            Some(other) => {
                return Err(format!(
                    "sent a cursor that is no text: {}",
                    excerpt(&other.to_string())
                ));
            }
        }
    }
    Err(format!(
        "did not end its list of tools after {MOST_PAGES} pages"
    ))
}

/// Sends a request and returns the result exactly as it came over the wire.
async fn request_raw(
    service: &RunningService<RoleClient, ClientConfig>,
    wire: &Wire,
    request: ClientRequest,
    timeout: Duration,
) -> Result<Value, Refused> {
    let options = PeerRequestOptions::with_timeout(timeout);
    let sent = tokio::time::timeout(
        timeout,
        service.peer().send_cancellable_request(request, options),
    )
    .await;
    let handle = match sent {
        Ok(Ok(handle)) => handle,
        Ok(Err(error)) => return Err(refused(error)),
        Err(_) => return Err(Refused::Timeout),
    };
    let id = serde_json::to_value(&handle.id).unwrap_or(Value::Null);
    // The wire first: it has the answer before rmcp has interpreted it, and also the answers rmcp cannot make sense of and would
    // silently wait past.
    let reply = tokio::select! {
        biased;
        reply = wire.answer(&id) => reply,
        response = handle.await_response() => match response {
            Err(error) => return Err(refused(error)),
            // Not seen on the wire, so there is nothing to record but this.
            Ok(result) => Reply::Result(serde_json::to_value(result).unwrap_or(Value::Null)),
        },
    };
    match reply {
        Reply::Result(result) => Ok(result),
        Reply::Error(error) => Err(Refused::Error(error)),
        Reply::Invalid(problem) => Err(Refused::Invalid(problem)),
    }
}

fn refused(error: ServiceError) -> Refused {
    match error {
        ServiceError::McpError(error) => {
            Refused::Error(serde_json::to_value(error).unwrap_or(Value::Null))
        }
        ServiceError::TransportClosed => Refused::Gone(CLOSED.to_owned()),
        ServiceError::TransportSend(error) if is_broken_pipe(error.error.as_ref()) => {
            Refused::Gone(CLOSED.to_owned())
        }
        ServiceError::TransportSend(error) => {
            let unreachable = is_unreachable(error.error.as_ref());
            let problem = root(error.error.as_ref());
            if unreachable {
                Refused::Gone(format!("cannot be reached: {problem}"))
            } else {
                Refused::Exchange(problem)
            }
        }
        ServiceError::Timeout { .. } => Refused::Timeout,
        other => Refused::Exchange(other.to_string()),
    }
}

/// Whether the server did not even take the connection.
fn is_unreachable(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|it| {
        it.downcast_ref::<reqwest::Error>()
            .is_some_and(reqwest::Error::is_connect)
    })
}

impl Refused {
    fn describe(&self) -> String {
        match self {
            Self::Error(error) => read_error(error).message,
            Self::Invalid(problem) | Self::Exchange(problem) | Self::Gone(problem) => {
                problem.clone()
            }
            Self::Timeout => "no answer in time".to_owned(),
        }
    }
}

fn read_error(error: &Value) -> Failure {
    let message = error
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("without a message");
    Failure {
        kind: FailureKind::Rpc,
        message: message.to_owned(),
        code: error.get("code").and_then(Value::as_i64),
        data: error.get("data").filter(|it| !it.is_null()).cloned(),
    }
}

/// Reads a `CallToolResult`, keeping what it does not know.
fn read_answer(result: Value) -> Result<Answer, String> {
    let Value::Object(mut other) = result else {
        return Err(format!(
            "the result is no object: {}",
            excerpt(&result.to_string())
        ));
    };
    let is_error = match other.remove("isError") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_error)) => is_error,
        Some(wrong) => {
            return Err(format!(
                "`isError` is no boolean: {}",
                excerpt(&wrong.to_string())
            ));
        }
    };
    let structured_content = other.remove("structuredContent").filter(|it| !it.is_null());
    let content = match other.remove("content") {
        Some(Value::Array(content)) => content,
        // Structured answers without text were common before the specification asked for both.
        None if structured_content.is_some() => Vec::new(),
        None => {
            return Err(format!(
                "`content` is missing: {}",
                excerpt(&Value::Object(other).to_string())
            ));
        }
        Some(wrong) => {
            return Err(format!(
                "`content` is no list: {}",
                excerpt(&wrong.to_string())
            ));
        }
    };
    if let Some(wrong) = content
        .iter()
        .find(|it| !it.get("type").is_some_and(Value::is_string))
    {
        return Err(format!(
            "a content block has no type: {}",
            excerpt(&wrong.to_string())
        ));
    }
    Ok(Answer {
        is_error,
        content,
        structured_content,
        other,
        breach: None,
    })
}

fn header_map(headers: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .iter()
        .map(|(name, value)| {
            let parsed = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            parsed.ok_or_else(|| format!("cannot be asked with the header `{name}`: its name or value has a character HTTP does not allow"))
        })
        .collect()
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn excerpt(text: &str) -> Cow<'_, str> {
    shorten(text, 200)
}

/// What went wrong, without the layers it went through: of an HTTP client's error the cause at its root.
fn root(error: &(dyn Error + 'static)) -> String {
    let is_http = causes(error).any(<dyn Error>::is::<reqwest::Error>);
    let told = if is_http { causes(error).last() } else { None };
    told.unwrap_or(error).to_string()
}

/// An error and its causes, outermost first.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

/// rmcp wraps the HTTP client's error without naming it as its source.
fn cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(client)) => Some(client),
        _ => error.source(),
    }
}
