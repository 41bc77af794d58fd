//! One session with one server: connect, list its tools, call them, close.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rmcp::{ServiceExt, service::ClientCacheConfig};
use serde_json::Value;

use crate::digits;
use crate::mcp::child::{self, LONGEST_LINE};
use crate::mcp::http::WatchedHttp;
use crate::mcp::noting::Noting;
use crate::mcp::request::{
    CLOSED, LOST_SESSION, Refused, excerpt, failure, is_broken_pipe, is_refused, is_unreachable,
    outcome, request_raw, root,
};
use crate::mcp::target::{Launch, OnProgress, Target};
use crate::mcp::wire::{Reply, Wire};
use crate::model::Object;
use crate::model::catalogue::{ServerCatalogue, Tool};
use crate::model::trajectory::{FailureKind, Outcome};
use crate::process::Child;
use crate::run::{Called, SetupError, Unlisted};

/// JSON-RPC's "method not found": a server without tools says so.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// The most pages of `tools/list` that are read: a server that never ends its list is broken.
const MOST_PAGES: usize = 1000;

/// How long to wait before a connection that was refused is tried again: hardly at all at first, then longer and longer.
const PAUSES_MS: [u64; 5] = [20, 50, 100, 200, 300];
const LONGEST_PAUSE_MS: u64 = 500;

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

impl Session {
    /// Connects and reads the server's whole catalogue, both within the connect timeout.
    pub(super) async fn connect(
        target: &Target,
        on_progress: OnProgress<'_>,
    ) -> Result<(Self, ServerCatalogue), SetupError> {
        let wire = Arc::new(Wire::default());
        let mut child = None;
        let mut refused = None;
        let what = target.launch.describe();
        let connecting = async {
            let service = match &target.launch {
                Launch::Child(command) => {
                    let (started, stdout, stdin) = child::start(command, Arc::clone(&wire))
                        .map_err(|error| format!("cannot be started: {what}: {error}"))?;
                    child = Some(started);
                    let transport = AsyncRwTransport::<RoleClient, _, _>::new(stdout, stdin)
                        .with_max_line_length(LONGEST_LINE);
                    let transport = Noting::new(transport, Arc::clone(&wire));
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
                    let mut pauses = PAUSES_MS.into_iter();
                    loop {
                        let (http, config) = (http.clone(), config.clone());
                        let transport = StreamableHttpClientTransport::with_client(http, config);
                        let transport = Noting::new(transport, Arc::clone(&wire));
                        let served = client().serve(transport).await;
                        let why = served.as_ref().err().and_then(why_refused);
                        let Some(why) = why.filter(|_| target.may_be_starting) else {
                            break served;
                        };
                        on_progress(&format!(
                            "waiting for server `{}` at {what}: {why}",
                            target.name
                        ));
                        refused = Some(why);
                        let pause = pauses.next().unwrap_or(LONGEST_PAUSE_MS);
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                    }
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
                digits::take_from(&mut initialized);
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
                let limit = target.connect_timeout;
                Err(match &refused {
                    Some(why) => format!(
                        "cannot be reached: {what}: {why}, tried for {limit:?} (`connect_timeout` changes how long)"
                    ),
                    None => format!(
                        "did not get ready within {limit:?}: {what} (`connect_timeout` changes that)"
                    ),
                })
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
        let mut lost = None;
        let replied = request_raw(&self.service, &self.wire, request, self.tool_timeout).await;
        let outcome = match replied {
            Ok(result) => outcome(Reply::Result(result)),
            Err(Refused::Error(error)) => outcome(Reply::Error(error)),
            Err(Refused::Invalid(problem)) => outcome(Reply::Invalid(problem)),
            Err(Refused::Timeout) => no_answer(self.tool_timeout, &self.wire),
            Err(Refused::Exchange(problem)) => failure(FailureKind::Transport, problem),
            Err(Refused::Gone(problem)) => {
                let (end, details) = self.end_of_child().await;
                let message = format!("{problem}{end}");
                lost = Some(setup_error(&self.name, &message, &self.wire, details));
                failure(FailureKind::Disconnected, message)
            }
        };
        Called { outcome, lost }
    }

    /// Reads the server's list of tools anew.
    pub(super) async fn list_again(&self, limit: Duration) -> Result<Vec<Tool>, Unlisted> {
        let listing = list_tools(&self.service, &self.wire, limit);
        let listed = tokio::time::timeout(limit, listing).await;
        let problem = match listed.unwrap_or_else(|_| Err("did not list its tools".to_owned())) {
            Ok(tools) => return Ok(tools),
            Err(problem) => problem,
        };
        if problem.ends_with(CLOSED) || problem.ends_with(LOST_SESSION) {
            let (end, details) = self.end_of_child().await;
            let problem = format!("{problem}{end}");
            let lost = setup_error(&self.name, &problem, &self.wire, details);
            return Err(Unlisted::Lost(lost));
        }
        Err(Unlisted::NotYet(format!("`{}` {problem}", self.name)))
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

fn client() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("mcp-eval", env!("CARGO_PKG_VERSION")),
    )
    .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// A call that was not answered in time.
pub(super) fn no_answer(tool_timeout: Duration, wire: &Wire) -> Outcome {
    let noise = wire.noise_lines();
    let said = noise
        .last()
        .map(|it| format!("; it sent something that is no MCP message: `{it}`"));
    let message = format!(
        "no answer within {tool_timeout:?}{}",
        said.unwrap_or_default()
    );
    failure(FailureKind::Timeout, message)
}

pub(super) fn setup_error(
    server: &str,
    problem: &str,
    wire: &Wire,
    stderr: Vec<String>,
) -> SetupError {
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

/// Why a connection was refused; `None` of any other failure.
fn why_refused(error: &ClientInitializeError) -> Option<String> {
    let ClientInitializeError::TransportError { error, .. } = error else {
        return None;
    };
    let error: &(dyn std::error::Error + 'static) = error.error.as_ref();
    is_refused(error).then(|| root(error))
}

/// The pages of a list of tools, as they come.
#[derive(Default)]
pub(super) struct Listing {
    tools: Vec<Tool>,
    cursors: HashSet<String>,
}

impl Listing {
    /// Takes a page; returns the cursor of the next one, and `None` after the last.
    pub(super) fn page(&mut self, result: Value) -> Result<Option<String>, String> {
        let Value::Object(mut page) = result else {
            return Err("answered `tools/list` with something that is no object".to_owned());
        };
        digits::take_from(&mut page);
        let Some(Value::Array(served)) = page.remove("tools") else {
            return Err("answered `tools/list` without a list of tools".to_owned());
        };
        for tool in served {
            match tool {
                Value::Object(served) if served.get("name").is_some_and(Value::is_string) => {
                    self.tools.push(Tool { served });
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
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(_)) if self.cursors.len() + 1 == MOST_PAGES => Err(format!(
                "did not end its list of tools after {MOST_PAGES} pages"
            )),
            Some(Value::String(next)) if self.cursors.insert(next.clone()) => Ok(Some(next)),
            Some(Value::String(next)) => Err(format!(
                "lists its tools in a circle: cursor `{}` came twice",
                excerpt(&next)
            )),
            Some(other) => Err(format!(
                "sent a cursor that is no text: {}",
                excerpt(&other.to_string())
            )),
        }
    }

    pub(super) fn into_tools(self) -> Vec<Tool> {
        self.tools
    }
}

/// Reads all pages of the server's tools.
async fn list_tools(
    service: &RunningService<RoleClient, ClientConfig>,
    wire: &Wire,
    timeout: Duration,
) -> Result<Vec<Tool>, String> {
    let mut listing = Listing::default();
    let mut cursor: Option<String> = None;
    loop {
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
                return Ok(listing.into_tools());
            }
            Err(refused) => return Err(format!("did not list its tools: {}", refused.describe())),
        };
        cursor = listing.page(result)?;
        if cursor.is_none() {
            return Ok(listing.into_tools());
        }
    }
}

pub(super) fn header_map(
    headers: &[(String, String)],
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
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
