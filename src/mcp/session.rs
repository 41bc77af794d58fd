//! Sessions with servers (connect, list tools, call them, close), and all of one run together as the port it calls tools through.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputResponses, ListToolsRequest,
    PaginatedRequestParams,
};
use serde_json::{Value, json};

use crate::digits;
use crate::mcp::answering::Connection;
use crate::mcp::era::{self, Opened};
use crate::mcp::link::{Link, Linking};
use crate::mcp::request::{Refused, excerpt, outcome, request_raw, too_busy};
use crate::mcp::target::{OnProgress, Target, no_answer, setup_error};
use crate::mcp::wire::{Reply, Wire};
use crate::model::{Catalogue, ClientAnswer, FailureKind, Object, Outcome, ServerCatalogue, Tool};
use crate::run::{Called, Listed, SetupError, Tools, Unlisted};

/// JSON-RPC's "method not found": a server without tools says so.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// The most pages of `tools/list` that are read: a server that never ends its list is broken.
const MOST_PAGES: usize = 1000;

/// How often a server may ask its client something before it answers one call.
const MOST_ROUNDS: usize = 10;

/// How often a session is opened anew: a server that ends it again and again is broken.
const MOST_REOPENED: usize = 3;

/// A connected server.
pub(super) struct Session {
    target: Target,
    link: tokio::sync::Mutex<Arc<Link>>,
    /// How many tool calls were begun.
    calls: AtomicUsize,
    reopened: AtomicUsize,
}

impl Session {
    /// Connects and reads the server's whole catalogue, both within the connect timeout.
    pub(super) async fn connect(
        target: &Target,
        on_progress: OnProgress<'_>,
    ) -> Result<(Self, ServerCatalogue), SetupError> {
        let mut linking = Linking::new(target, on_progress);
        let connecting = async {
            let service = linking.begin().await?;
            let mut catalogue = ServerCatalogue {
                server: target.name.clone(),
                ..ServerCatalogue::default()
            };
            if let Some(Reply::Result(Value::Object(mut initialized))) = linking.wire().take_any() {
                digits::take_from(&mut initialized);
                if linking.is_stateless() {
                    era::introduce(initialized, &mut catalogue);
                } else {
                    catalogue.info = initialized.remove("serverInfo");
                    catalogue.protocol_version = text(initialized.remove("protocolVersion"));
                    catalogue.capabilities = initialized.remove("capabilities");
                    catalogue.instructions = text(initialized.remove("instructions"));
                }
            }
            catalogue.has_no_legacy = linking.has_no_legacy();
            catalogue.client = target.observed.client().unwrap_or_default();
            let is_stateless = linking.is_stateless();
            let (wire, limit) = (linking.wire(), target.connect_timeout);
            catalogue.tools = list_tools(&service, wire, is_stateless, limit).await?;
            Ok((service, catalogue))
        };
        let connected = tokio::time::timeout(target.connect_timeout, connecting).await;
        match connected.unwrap_or_else(|_| Err(linking.too_late())) {
            Ok((service, catalogue)) => {
                let session = Self {
                    target: target.clone(),
                    link: tokio::sync::Mutex::new(Arc::new(linking.into_link(service))),
                    calls: AtomicUsize::new(0),
                    reopened: AtomicUsize::new(0),
                };
                Ok((session, catalogue))
            }
            Err(problem) => Err(linking.failed(problem).await),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.target.name
    }

    /// Calls a tool; every way it can end is an outcome. Where the server has ended the session before the call, the session is opened
    /// anew.
    pub(super) async fn call(&self, tool: &str, arguments: &Object) -> Called {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let mut link = self.link.lock().await.clone();
        let mut unopened = None;
        let mut is_new = false;
        if link.was_dropped() {
            let what = format!("dropped its event stream before its call {number}");
            match self.reopen(&link, &what).await {
                Ok(new) => (link, is_new) = (new, true),
                Err(problem) => unopened = problem,
            }
        }
        // What it asked before is part of no call.
        link.wire.take_asked();
        let mut replied = self.ask(&link, tool, arguments).await;
        let did = match &replied {
            // The server did not know the session, so it has not executed the call.
            Err(Refused::LostSession) => Some("ended the session"),
            // The stream ended before the call was sent.
            Err(Refused::Gone(_) | Refused::Unreachable(_)) if link.was_dropped() => {
                Some("dropped its event stream")
            }
            _ => None,
        };
        if let Some(did) = did.filter(|_| !is_new) {
            let what = format!("{did} before its call {number}");
            match self.reopen(&link, &what).await {
                Ok(new) => {
                    link = new;
                    replied = self.ask(&link, tool, arguments).await;
                }
                Err(problem) => unopened = problem,
            }
        }
        let mut lost = None;
        let outcome = match replied {
            Ok(result) => outcome(Reply::Result(result)),
            Err(Refused::Error(error)) => outcome(Reply::Error(error)),
            Err(Refused::Invalid(problem)) => outcome(Reply::Invalid(problem)),
            Err(Refused::Unanswered(why)) => Outcome::failed(FailureKind::InvalidResponse, why),
            Err(Refused::Timeout) => no_answer(self.target.tool_timeout, &link.wire),
            Err(Refused::Busy(status, seconds)) => too_busy(status, seconds),
            Err(Refused::Exchange(problem)) => Outcome::failed(FailureKind::Transport, problem),
            Err(gone @ (Refused::Gone(_) | Refused::Unreachable(_) | Refused::LostSession)) => {
                let (end, mut details) = link.end().await;
                let message = format!("{}{end}", gone.describe());
                if let Some(problem) = unopened {
                    details.push(format!("it was not opened again: {}", problem.message));
                    details.extend(problem.details);
                }
                lost = Some(setup_error(self.name(), &message, &link.wire, details));
                let kind = match gone {
                    Refused::Gone(_) => FailureKind::Disconnected,
                    _ => FailureKind::Transport,
                };
                Outcome::failed(kind, message)
            }
        };
        let asked = link.wire.take_asked();
        if self.target.capabilities().is_none() && !link.is_stateless {
            for it in &asked {
                self.target.observed.declined(self.name(), &it.method);
            }
        }
        let outcome = outcome.having_asked(asked);
        if let Some(asked) = self.target.observed.take_unanswered() {
            let why = format!(
                "asked `{asked}`, and nobody knows the answer: it was not asked when the call was recorded, or the answer was secret; `inputs` of the scenario can give it"
            );
            lost = Some(setup_error(self.name(), &why, &link.wire, Vec::new()));
        }
        Called { outcome, lost }
    }

    /// Calls a tool, and answers what the server wants to know before it answers the call.
    async fn ask(&self, link: &Link, tool: &str, arguments: &Object) -> Result<Value, Refused> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        let mut round = params.clone();
        let mut has_declined = false;
        for _ in 0..=MOST_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(round));
            let timeout = self.target.tool_timeout;
            let result = request_raw(&link.service, &link.wire, request, timeout).await?;
            if !link.is_stateless {
                return Ok(result);
            }
            if result.get("resultType").is_none() {
                link.wire.remark("an answer without `resultType`");
            }
            let (requests, state) = match era::opened(result) {
                Opened::Complete(result) => return Ok(result),
                Opened::Unusable(why) => return Err(Refused::Invalid(why)),
                Opened::Asks { requests, state } => (requests, state),
            };
            let answers = self.answers(&link.wire, requests, &mut has_declined)?;
            round = params.clone().with_input_responses(answers);
            round.request_state = state;
        }
        Err(Refused::Unanswered(format!(
            "asked its client again after {MOST_ROUNDS} rounds of answers"
        )))
    }

    /// What a client answers to what a server wants to know before it answers a call. A question to the user that nobody has an answer to is
    /// declined, once in a call.
    fn answers(
        &self,
        wire: &Wire,
        requests: Object,
        has_declined: &mut bool,
    ) -> Result<InputResponses, Refused> {
        let mut answers = InputResponses::new();
        let declines = *has_declined;
        for (key, mut request) in requests {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let params = request.get_mut("params").map(Value::take);
            let params = params.unwrap_or_default();
            let known = self.target.answer(&method, Some(&key), &params);
            wire.ask_client(&method, params);
            let kind = method.split('/').next().unwrap_or_default();
            if !["elicitation", "sampling", "roots"].contains(&kind) {
                let why = "asked for something that no client answers".to_owned();
                return Err(Refused::Unanswered(why));
            }
            let answer = match known {
                Some(Ok(ClientAnswer {
                    result: Some(result),
                    ..
                })) => result,
                Some(_) => {
                    let why = format!("asked for {kind}, which is not answered");
                    return Err(Refused::Unanswered(why));
                }
                None if method != "elicitation/create" => {
                    let why = format!("asked for {kind}; no input given");
                    return Err(Refused::Unanswered(why));
                }
                None if declines => {
                    let why = "asked for elicitation again after it was declined".to_owned();
                    return Err(Refused::Unanswered(why));
                }
                None => {
                    *has_declined = true;
                    self.target.observed.declined(self.name(), &method);
                    json!({ "action": "decline" })
                }
            };
            answers.insert(key, answer);
        }
        Ok(answers)
    }

    /// Opens the session anew that went over this link, unless another call has done so already; `what` says what the server did.
    ///
    /// # Errors
    ///
    /// Why it cannot be opened; `None` where that was tried often enough.
    async fn reopen(&self, lost: &Arc<Link>, what: &str) -> Result<Arc<Link>, Option<SetupError>> {
        let mut link = self.link.lock().await;
        if !Arc::ptr_eq(&link, lost) {
            return Ok(link.clone());
        }
        if self.reopened.fetch_add(1, Ordering::Relaxed) >= MOST_REOPENED {
            return Err(None);
        }
        let target = &self.target;
        let mut linking = Linking::new(target, &|_| ());
        let opening = tokio::time::timeout(target.connect_timeout, linking.begin()).await;
        match opening.unwrap_or_else(|_| Err(linking.too_late())) {
            Ok(service) => {
                linking.wire().take_any();
                *link = Arc::new(linking.into_link(service));
                let name = &target.name;
                let note = format!("server `{name}` {what}; it was opened again");
                target.observed.note(note);
                Ok(link.clone())
            }
            Err(problem) => Err(Some(linking.failed(problem).await)),
        }
    }

    /// Reads the server's list of tools anew.
    pub(super) async fn list_again(&self, limit: Duration) -> Result<Vec<Tool>, Unlisted> {
        let link = self.link.lock().await.clone();
        let listing = list_tools(&link.service, &link.wire, link.is_stateless, limit);
        let listed = tokio::time::timeout(limit, listing).await;
        let late = || Err(Refused::Exchange("did not list its tools".to_owned()));
        let why = match listed.unwrap_or_else(|_| late()) {
            Ok(tools) => return Ok(tools),
            Err(why) => why,
        };
        let problem = why.describe();
        if matches!(why, Refused::Gone(_)) {
            let (end, details) = link.end().await;
            let problem = format!("{problem}{end}");
            let lost = setup_error(self.name(), &problem, &link.wire, details);
            return Err(Unlisted::Lost(lost));
        }
        Err(Unlisted::NotYet(format!("`{}` {problem}", self.name())))
    }

    /// The names of the server's tools, where it has said that its list is another one now, or `anyway`; `None` where it does not list
    /// them.
    pub(super) async fn listed_later(&self, limit: Duration, anyway: bool) -> Option<Listed> {
        if !anyway && !self.link.lock().await.wire.has_other_tools() {
            return None;
        }
        let tools = self.list_again(limit).await.ok()?;
        Some(Listed {
            server: self.name().to_owned(),
            tools: tools.iter().map(|it| it.name().to_owned()).collect(),
        })
    }

    /// Ends the session and, where there is one, the server process.
    pub(super) async fn close(self) {
        if let Some(link) = Arc::into_inner(self.link.into_inner()) {
            let name = &self.target.name;
            for remark in link.wire.remarks() {
                self.target.observed.note(format!(
                    "server `{name}` sent {remark}; strict clients refuse that"
                ));
            }
            if let Some((count, line)) = link.noise() {
                let noun = if count == 1 {
                    "line that is"
                } else {
                    "lines that are"
                };
                self.target.observed.note(format!(
                    "server `{name}` wrote {count} {noun} no MCP message to its stdout: `{line}`"
                ));
            }
            link.close().await;
        }
    }
}

/// The pages of a list of tools, as they come.
#[derive(Default)]
pub(super) struct Listing {
    tools: Vec<Tool>,
    cursors: HashSet<String>,
    /// The page before.
    last: Vec<Value>,
}

impl Listing {
    /// Takes a page; returns the cursor of the next one, and `None` after the last.
    pub(super) fn page(&mut self, result: Value) -> Result<Option<String>, String> {
        let Value::Object(mut page) = result else {
            return Err("answered `tools/list` with something that is not an object".to_owned());
        };
        digits::take_from(&mut page);
        let Some(Value::Array(served)) = page.remove("tools") else {
            return Err("answered `tools/list` without a list of tools".to_owned());
        };
        // Many servers end with an empty cursor, which others have for a page: whoever follows it gets the same again.
        if !served.is_empty() && served == self.last {
            return Ok(None);
        }
        self.last.clone_from(&served);
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
            Some(Value::String(next)) if next.is_empty() => Ok(None),
            Some(Value::String(next)) => Err(format!(
                "lists its tools in a circle: cursor `{}` came twice",
                excerpt(&next)
            )),
            Some(other) => Err(format!(
                "sent a cursor that is not text: {}",
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
    service: &Connection,
    wire: &Wire,
    is_stateless: bool,
    timeout: Duration,
) -> Result<Vec<Tool>, Refused> {
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
            Err(refused) => {
                let why = format!("did not list its tools: {}", refused.describe());
                return Err(match refused {
                    Refused::Gone(_) | Refused::LostSession => Refused::Gone(why),
                    _ => Refused::Exchange(why),
                });
            }
        };
        if is_stateless {
            check_list(&result, wire)?;
        }
        cursor = listing.page(result).map_err(Refused::Exchange)?;
        if cursor.is_none() {
            return Ok(listing.into_tools());
        }
    }
}

/// Looks at what 2026-07-28 says of each list besides what is in it.
fn check_list(page: &Value, wire: &Wire) -> Result<(), Refused> {
    match page.get("resultType").map(Value::as_str) {
        Some(Some("complete")) => {}
        None => wire.remark("a list without `resultType`"),
        Some(_) => {
            let kind = page["resultType"].to_string();
            let kind = excerpt(&kind);
            let why = format!("answered `tools/list` with a `resultType` of {kind}");
            return Err(Refused::Exchange(why));
        }
    }
    if page.get("ttlMs").is_none() || page.get("cacheScope").is_none() {
        wire.remark("a list without `ttlMs` or `cacheScope`");
    }
    Ok(())
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The connected servers of one run.
struct Connected {
    sessions: Vec<Session>,
    catalogue: Catalogue,
}

/// Connects to all servers at once and reads their catalogues; `on_progress` is called with what is being waited for.
///
/// # Errors
///
/// What the first of them (in the order given) failed with, the others' failures among its details. None is left running.
pub async fn connect(
    targets: &[Target],
    on_progress: OnProgress<'_>,
) -> Result<Box<dyn Tools>, SetupError> {
    let outcomes = join_all(targets.iter().map(|it| Session::connect(it, on_progress))).await;
    let mut connected = Connected {
        sessions: Vec::new(),
        catalogue: Catalogue::default(),
    };
    let mut failed: Option<SetupError> = None;
    for outcome in outcomes {
        match outcome {
            Ok((session, catalogue)) => {
                connected.sessions.push(session);
                connected.catalogue.servers.push(catalogue);
            }
            Err(error) => match &mut failed {
                None => failed = Some(error),
                Some(first) => {
                    first.details.push(error.message);
                    first.details.extend(error.details);
                }
            },
        }
    }
    match failed {
        None => Ok(Box::new(connected)),
        Some(error) => {
            Box::new(connected).close().await;
            Err(error)
        }
    }
}

impl Tools for Connected {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a Object,
    ) -> BoxFuture<'a, Called> {
        Box::pin(async move {
            match self.sessions.iter().find(|it| it.name() == server) {
                Some(session) => session.call(tool, arguments).await,
                None => Called::nowhere(server),
            }
        })
    }

    fn list_again(&self, limit: Duration) -> BoxFuture<'_, Result<Catalogue, Unlisted>> {
        Box::pin(async move {
            let listing = self.sessions.iter().map(|it| it.list_again(limit));
            let mut catalogue = self.catalogue.clone();
            for (server, tools) in catalogue.servers.iter_mut().zip(join_all(listing).await) {
                server.tools = tools?;
            }
            Ok(catalogue)
        })
    }

    fn listed_later(&self, limit: Duration, all: bool) -> BoxFuture<'_, Vec<Listed>> {
        Box::pin(async move {
            let listing = self.sessions.iter().map(|it| it.listed_later(limit, all));
            join_all(listing).await.into_iter().flatten().collect()
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            join_all(self.sessions.into_iter().map(Session::close)).await;
        })
    }
}
