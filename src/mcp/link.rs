//! The connection of one session: made with a server of any kind, and ended.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};

use crate::mcp::answering::{Answering, Connection};
use crate::mcp::child::{self, LONGEST_LINE, Noting};
use crate::mcp::era;
use crate::mcp::http::WatchedHttp;
use crate::mcp::legacy::{self, LegacyTransport, StreamEnd};
use crate::mcp::request::{CLOSED, Refused, excerpt};
use crate::mcp::target::{Launch, OnProgress, Target, header_map, setup_error, with_token};
use crate::mcp::transport_error::{LegacyError, is_closed, is_refused, is_unreachable, root};
use crate::mcp::wire::{Reply, Wire};
use crate::process::{Child, ChildCommand};
use crate::protocol::STATELESS;
use crate::run::SetupError;
use crate::scenario_file::servers::{HttpStyle, Protocol};

/// How long to wait before a connection that was refused is tried again: hardly at all at first, then longer and longer.
const PAUSES_MS: [u64; 5] = [20, 50, 100, 200, 300];
const LONGEST_PAUSE_MS: u64 = 500;

/// How long closing a session may take before its server is ended anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server that did not take a message of Streamable HTTP may take to show that it speaks the older transport.
const SHOWING_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest that a server is waited for which is asked whether it speaks the newer revision; half of the time to connect at most.
pub(super) const LONGEST_PROBE: Duration = Duration::from_secs(15);

/// A connection over which a session goes.
pub(super) struct Link {
    pub(super) service: Connection,
    pub(super) wire: Arc<Wire>,
    /// Each request stands by itself.
    pub(super) is_stateless: bool,
    child: Option<tokio::sync::Mutex<Child>>,
    stream_end: StreamEnd,
}

impl Link {
    /// Whether the server has ended its event stream while nothing was asked.
    pub(super) fn was_dropped(&self) -> bool {
        self.stream_end.was_idle()
    }

    /// How many lines on stdout were no message, and the last of them; `None` where there were none.
    pub(super) fn noise(&self) -> Option<(usize, String)> {
        self.child.as_ref()?;
        self.wire.noise_so_far()
    }

    /// How a connection ended, to be added to a message that says that it did, and what the process of its server has said.
    pub(super) async fn end(&self) -> (String, Vec<String>) {
        match (&self.child, self.stream_end.why()) {
            (None, None) => (String::new(), Vec::new()),
            (None, Some(why)) => (format!(": it {why}"), Vec::new()),
            (Some(child), _) => {
                let mut child = child.lock().await;
                let end = child.describe_end().await;
                (format!(": it {end}"), child.stderr())
            }
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
}

/// A connection while it is made.
pub(super) struct Linking<'a> {
    target: &'a Target,
    on_progress: OnProgress<'a>,
    wire: Arc<Wire>,
    child: Option<Child>,
    stream_end: StreamEnd,
    /// Why the server last refused the connection.
    refused: Option<String>,
    /// The HTTP status with which it has refused to begin a session.
    refusal: Option<u16>,
    /// Each request stands by itself.
    is_stateless: bool,
    /// The server has refused `initialize`, because it speaks the newer revision alone.
    has_no_legacy: bool,
}

/// Why a session did not begin.
enum NotBegun {
    /// There is not even a connection: a description.
    Unasked(String),
    /// The older transport was not to be had.
    Unopened(LegacyError),
    Uninitialized(Box<ClientInitializeError>),
}

impl<'a> Linking<'a> {
    pub(super) fn new(target: &'a Target, on_progress: OnProgress<'a>) -> Self {
        Self {
            target,
            on_progress,
            wire: Arc::default(),
            child: None,
            stream_end: StreamEnd::default(),
            refused: None,
            refusal: None,
            is_stateless: false,
            has_no_legacy: false,
        }
    }

    /// Whether each request stands by itself.
    pub(super) fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    /// Whether the server has refused `initialize`, because it speaks the newer revision alone.
    pub(super) fn has_no_legacy(&self) -> bool {
        self.has_no_legacy
    }

    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Connects and initializes. Bound it: it waits for a server that may be starting.
    ///
    /// # Errors
    ///
    /// Why that fails, in words that follow the name of the server.
    pub(super) async fn begin(&mut self) -> Result<Connection, Refused> {
        let target = self.target;
        let what = target.launch.describe();
        let found = target.observed.protocol().or(target.protocol);
        let begun = match found.unwrap_or_default() {
            Protocol::Legacy => self.legacy_or_what_is_left(&what).await,
            Protocol::OnlyLegacy => self.open(false, &what).await,
            Protocol::Stateless => self.open(true, &what).await,
            Protocol::Auto => self.probe(&what).await,
        };
        let begun = begun.map_err(|it| it.refused(&what, self.method(), &self.wire));
        let service = begun?;
        let answered = service.peer().peer_info();
        let answered = answered.as_ref().map(|it| it.protocol_version.as_str());
        if let Some(why) = answered.filter(|_| !self.is_stateless).and_then(era::unfit) {
            return Err(Refused::Exchange(why));
        }
        // A cached catalogue would hide what the server says now.
        service
            .peer()
            .set_response_cache_config(ClientCacheConfig::disabled())
            .await;
        Ok(service)
    }

    pub(super) fn into_link(self, service: Connection) -> Link {
        Link {
            service,
            wire: self.wire,
            child: self.child.map(tokio::sync::Mutex::new),
            stream_end: self.stream_end,
            is_stateless: self.is_stateless,
        }
    }

    /// The time to connect has passed.
    pub(super) fn too_late(&self) -> Refused {
        let Target {
            connect_timeout: limit,
            if_late,
            ..
        } = self.target;
        let what = self.target.launch.describe();
        Refused::Exchange(match &self.refused {
            Some(why) => {
                format!("cannot be reached: {what}: {why}, tried for {limit:?} ({if_late})")
            }
            None => format!("did not get ready within {limit:?}: {what} ({if_late})"),
        })
    }

    /// The failure of this server, with what it has said.
    pub(super) async fn failed(mut self, why: Refused) -> SetupError {
        let is_closed = matches!(why, Refused::Gone(_));
        let mut problem = why.describe();
        let mut details = Vec::new();
        // A program that is not there does not come with another try.
        let cannot_start = self.child.is_none() && matches!(self.target.launch, Launch::Child(_));
        if let Some(child) = &mut self.child {
            if is_closed {
                problem = format!("{problem}: it {}", child.describe_end().await);
            }
            details = child.stderr();
            if self.wire.noise_so_far().is_some() {
                let hint = "servers must write only messages to standard output, and everything else to standard error";
                details.insert(0, hint.to_owned());
            }
        } else if let (true, Some(why)) = (is_closed, self.stream_end.why()) {
            problem = format!("{problem}: it {why}");
        }
        let failed = setup_error(&self.target.name, &problem, &self.wire, details);
        SetupError {
            trouble: failed.trouble.filter(|_| !cannot_start),
            ..failed
        }
    }

    /// What a session begins with.
    fn method(&self) -> &'static str {
        if self.is_stateless {
            "server/discover"
        } else {
            "initialize"
        }
    }

    /// With `initialize`; where the server refuses that because it speaks the newer revision alone, in that.
    async fn legacy_or_what_is_left(&mut self, what: &str) -> Result<Connection, NotBegun> {
        let begun = self.open(false, what).await;
        let Err(NotBegun::Uninitialized(error)) = &begun else {
            return begun;
        };
        if !era::names_only_newer(error) {
            return begun;
        }
        self.start_over().await;
        let service = self.open(true, what).await?;
        self.has_no_legacy = true;
        let Target { name, observed, .. } = self.target;
        observed.found_protocol(Protocol::Stateless);
        observed.note(format!(
            "server `{name}` refuses `initialize` and is spoken to in {STATELESS}: `protocol: {STATELESS}` says so at once"));
        Ok(service)
    }

    /// In the newer revision where the server speaks it. A program is started again for the older ones, because many end when they are
    /// asked anything before `initialize`.
    async fn probe(&mut self, what: &str) -> Result<Connection, NotBegun> {
        let observed = &self.target.observed;
        let limit = LONGEST_PROBE.min(self.target.connect_timeout / 2);
        let asked = tokio::time::timeout(limit, self.open(true, what)).await;
        let is_child = self.child.is_some();
        match asked {
            Ok(Ok(service)) => {
                observed.found_protocol(Protocol::Stateless);
                return Ok(service);
            }
            // A program that says nothing may wait for `initialize`; an address that says nothing tells nothing.
            Err(_) if !is_child => {
                return Err(NotBegun::Unasked(format!(
                    "did not answer `server/discover` within {limit:?}: {what}"
                )));
            }
            Ok(Err(error)) if !error.is_of_legacy(is_child, self.refusal) => return Err(error),
            Ok(Err(_)) | Err(_) => {}
        }
        self.start_over().await;
        observed.found_protocol(Protocol::Legacy);
        self.open(false, what).await
    }

    /// Ends what was begun, so that nothing of it is left for the next try.
    async fn start_over(&mut self) {
        if let Some(child) = self.child.take() {
            child.end().await;
        }
        self.wire = Arc::default();
    }

    async fn open(&mut self, is_stateless: bool, what: &str) -> Result<Connection, NotBegun> {
        self.is_stateless = is_stateless;
        match &self.target.launch {
            Launch::Child(command) => self.start(command, what).await,
            Launch::Http { .. } => self.over_http(what).await,
        }
    }

    async fn start(&mut self, command: &ChildCommand, what: &str) -> Result<Connection, NotBegun> {
        let (started, stdout, stdin) = child::start(command, Arc::clone(&self.wire))
            .map_err(|error| NotBegun::Unasked(format!("cannot be started: {what}: {error}")))?;
        self.child = Some(started);
        let transport = AsyncRwTransport::<RoleClient, _, _>::new(stdout, stdin)
            .with_max_line_length(LONGEST_LINE);
        self.serve(transport).await
    }

    /// Tries again while the server refuses connections, where it may be starting.
    async fn over_http(&mut self, what: &str) -> Result<Connection, NotBegun> {
        let mut pauses = PAUSES_MS.into_iter();
        loop {
            self.refused = None;
            let begun = self.over_http_once().await;
            let why = begun.as_ref().err().and_then(NotBegun::why_refused);
            let Some(why) = why.filter(|_| self.target.may_be_starting) else {
                return begun;
            };
            (self.on_progress)(&format!(
                "waiting for server `{}` at {what}: {why}",
                self.target.name
            ));
            self.refused = Some(why);
            let pause = pauses.next().unwrap_or(LONGEST_PAUSE_MS);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    async fn over_http_once(&mut self) -> Result<Connection, NotBegun> {
        let Target {
            name,
            launch,
            observed,
            connect_timeout,
            ..
        } = self.target;
        let Launch::Http {
            style,
            url,
            headers,
            bearer_token,
        } = launch
        else {
            return Err(NotBegun::Unasked("has no address".to_owned()));
        };
        if self.is_stateless && *style == HttpStyle::Sse {
            return Err(NotBegun::Unasked(format!(
                "cannot be spoken to in {STATELESS}, which has no HTTP with SSE: `type: http`, or `protocol: legacy`"
            )));
        }
        if *style == HttpStyle::Sse || observed.is_legacy() {
            return self
                .legacy(url, headers, bearer_token.as_deref(), None)
                .await;
        }
        let http = WatchedHttp::new(url, *connect_timeout, Arc::clone(&self.wire));
        let http = http
            .map_err(|error| NotBegun::Unasked(format!("has no HTTP client: {}", root(&error))))?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .custom_headers(header_map(headers).map_err(NotBegun::Unasked)?)
            .max_sse_event_size(LONGEST_LINE)
            // A new session in the middle of a run loses the server's state: we open it, and say so.
            .reinit_on_expired_session(false);
        config.auth_header.clone_from(bearer_token);
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        let begun = self.serve(transport).await;
        if let (Err(NotBegun::Uninitialized(_)), Some(refused)) = (&begun, http.refused()) {
            return Err(NotBegun::Unasked(refused));
        }
        self.refusal = http.refusal().map(|it| it.as_u16());
        let status = match (&begun, http.refusal()) {
            _ if self.is_stateless => return begun,
            (Err(NotBegun::Uninitialized(error)), _) if era::names_only_newer(error) => {
                return begun;
            }
            (Err(_), Some(status)) if may_be_legacy(url, status.as_u16()) => status,
            _ => return begun,
        };
        // What was said so far was said to another client, as it were.
        let streamable = std::mem::take(&mut self.wire);
        let token = bearer_token.as_deref();
        let showing = SHOWING_TIMEOUT.min(*connect_timeout / 2);
        match self.legacy(url, headers, token, Some(showing)).await {
            Err(NotBegun::Unopened(_) | NotBegun::Unasked(_)) => {
                self.wire = streamable;
                begun
            }
            legacy => {
                observed.found_legacy();
                observed.note(format!(
                    "server `{name}` answered POST with HTTP {status} and is spoken to over the older HTTP with SSE: `type: sse` says so at once"
                ));
                legacy
            }
        }
    }

    /// Over the older transport; `showing` bounds how long it may take until there is one.
    async fn legacy(
        &mut self,
        url: &str,
        headers: &[(String, String)],
        bearer_token: Option<&str>,
        showing: Option<Duration>,
    ) -> Result<Connection, NotBegun> {
        let headers = with_token(headers, bearer_token).map_err(NotBegun::Unasked)?;
        let (connect, tool) = (self.target.connect_timeout, self.target.tool_timeout);
        let opening = legacy::open(url, &headers, connect, legacy::taking(connect, tool));
        let opened = match showing {
            None => opening.await,
            Some(showing) => {
                let opened = tokio::time::timeout(showing, opening).await;
                opened.unwrap_or_else(|_| Err(LegacyError::NoEndpoint("it is silent".to_owned())))
            }
        };
        let ends = opened.map_err(NotBegun::Unopened)?;
        let end = StreamEnd::default();
        self.stream_end = end.clone();
        let transport = LegacyTransport::new(ends, Arc::clone(&self.wire), end);
        self.serve(transport).await
    }

    async fn serve(
        &self,
        transport: impl Transport<RoleClient> + 'static,
    ) -> Result<Connection, NotBegun> {
        let transport = Noting::new(transport, Arc::clone(&self.wire));
        let client = Answering::new(client(), self.target);
        let method = self.method();
        let unasked = |why: String| otherwise(&self.target.launch.describe(), method, &why);
        let lifecycle = if self.is_stateless {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            ClientLifecycleMode::Discover { preferred_versions }
        } else {
            ClientLifecycleMode::Initialize
        };
        tokio::select! {
            biased;
            served = client.serve_with_lifecycle(transport, lifecycle) => served.map_err(|it| NotBegun::Uninitialized(Box::new(it))),
            why = self.wire.spoiled() => Err(NotBegun::Unasked(unasked(why))),
        }
    }
}

/// Whether a server that has refused a message with this status may speak the older transport.
///
/// Protocol: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility>
fn may_be_legacy(url: &str, status: u16) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    matches!(status, 400 | 404 | 405) || path.ends_with("/sse")
}

fn client() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("mcp-eval", env!("CARGO_PKG_VERSION")),
    )
    .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

impl NotBegun {
    /// Why a connection was refused; `None` of any other failure.
    fn why_refused(&self) -> Option<String> {
        let error: &(dyn std::error::Error + 'static) = match self {
            Self::Unasked(_) => return None,
            Self::Unopened(error) => error,
            Self::Uninitialized(error) => match error.as_ref() {
                ClientInitializeError::TransportError { error, .. } => error.error.as_ref(),
                _ => return None,
            },
        };
        is_refused(error).then(|| root(error))
    }

    /// In words that follow the name of the server.
    fn refused(&self, what: &str, method: &str, wire: &Wire) -> Refused {
        Refused::Exchange(match self {
            Self::Unasked(why) => why.clone(),
            Self::Unopened(error) if is_unreachable(error) => {
                format!("cannot be reached: {what}: {}", root(error))
            }
            Self::Unopened(error) => {
                format!(
                    "opens no session over HTTP with SSE: {what}: {}",
                    root(error)
                )
            }
            Self::Uninitialized(error) => return not_initialized(error, what, method, wire),
        })
    }

    /// Whether this answer to `server/discover` shows that a server speaks the older revisions: a program that has ended or has answered
    /// with an error, an address that answers so or has nothing there. Any other answer shows nothing.
    fn is_of_legacy(&self, is_child: bool, refusal: Option<u16>) -> bool {
        let Self::Uninitialized(error) = self else {
            return is_child;
        };
        match error.as_ref() {
            ClientInitializeError::NoCompatibleProtocolVersion {
                server_supported, ..
            } => era::has_older(server_supported),
            // It speaks the newer revision, if badly.
            ClientInitializeError::ExpectedInitResult(Some(ServerResult::CustomResult(it)))
                if it.0.get("supportedVersions").is_some() =>
            {
                false
            }
            ClientInitializeError::JsonRpcError(error) => !era::is_code(error.code.0.into()),
            _ => is_child || matches!(refusal, Some(400 | 404 | 405)),
        }
    }
}

/// It has not answered as it should.
fn otherwise(what: &str, method: &str, why: &str) -> String {
    format!("did not answer `{method}` as MCP asks: {what}: {why}")
}

fn not_initialized(
    error: &ClientInitializeError,
    what: &str,
    method: &str,
    wire: &Wire,
) -> Refused {
    let closed = || Refused::Gone(format!("({what}) {CLOSED}"));
    Refused::Exchange(match error {
        ClientInitializeError::ConnectionClosed(_) => return closed(),
        ClientInitializeError::TransportError { error, .. } => {
            let error = error.error.as_ref();
            if is_closed(error) {
                return closed();
            } else if is_unreachable(error) {
                format!("cannot be reached: {what}: {}", root(error))
            } else {
                otherwise(what, method, &root(error))
            }
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "refused `{method}`: {} (code {}){}",
                error.message,
                error.code.0,
                era::advice(method, error.code.0.into())
            )
        }
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => era::no_common(server_supported),
        _ => {
            let said = match wire.take_any() {
                Some(Reply::Result(it))
                    if method != "initialize" && !era::lacking(&it).is_empty() =>
                {
                    format!("it lacks `{}`", era::lacking(&it).join("`, `"))
                }
                Some(Reply::Result(it) | Reply::Error(it)) => {
                    format!("it answered `{}`", excerpt(&it.to_string()))
                }
                Some(Reply::Invalid(why)) => why,
                None => "it answered a request that it was not asked".to_owned(),
            };
            let members = if method == "initialize" {
                "`protocolVersion`, `capabilities` and `serverInfo`"
            } else {
                "`supportedVersions`, `capabilities`, `ttlMs` and `cacheScope`"
            };
            format!("did not answer `{method}` as MCP asks, with {members}: {said}")
        }
    })
}
