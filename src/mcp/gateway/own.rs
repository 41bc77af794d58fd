//! Requests of our own in the session that an agent has with a child process: to see whether it is ready, before the agent asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::piped::{NoReply, Piped};
use crate::mcp::problem::no_answer;
use crate::mcp::request::outcome;
use crate::mcp::session::{Listing, METHOD_NOT_FOUND};
use crate::mcp::wire::Reply;
use crate::model::Object;
use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::trajectory::{FailureKind, Outcome};
use crate::run::{Called, SetupError, Tools, Unlisted};

/// A session of an agent, as we use it.
pub(super) struct Own {
    piped: Arc<Piped>,
    catalogue: Catalogue,
    tool_timeout: Duration,
    number: AtomicU64,
}

impl Own {
    pub(super) fn new(piped: Arc<Piped>, server: &str, tool_timeout: Duration) -> Self {
        let server = ServerCatalogue {
            server: server.to_owned(),
            ..ServerCatalogue::default()
        };
        Self {
            piped,
            catalogue: Catalogue {
                servers: vec![server],
                ..Catalogue::default()
            },
            tool_timeout,
            number: AtomicU64::new(0),
        }
    }

    async fn ask(&self, method: &str, params: Value, limit: Duration) -> Result<Reply, NoReply> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        // An id that no client thinks of.
        let id = format!("mcp-eval-ready-{number}");
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.piped.ask(&request, limit).await
    }

    async fn tools(&self, limit: Duration) -> Result<Vec<Tool>, Unlisted> {
        let mut listing = Listing::default();
        let mut params = json!({});
        loop {
            let not_yet = |why: &str| Unlisted::NotYet(format!("did not list its tools: {why}"));
            let page = match self.ask("tools/list", params, limit).await {
                Ok(Reply::Result(page)) => page,
                Ok(Reply::Error(error)) if error["code"] == METHOD_NOT_FOUND => break,
                Ok(Reply::Error(error)) => {
                    return Err(not_yet(error["message"].as_str().unwrap_or_default()));
                }
                Ok(Reply::Invalid(why)) => return Err(not_yet(&why)),
                Err(NoReply::Late) => return Err(not_yet("no answer in time")),
                Err(NoReply::Unreadable) => return Err(not_yet("an answer that cannot be read")),
                Err(NoReply::Gone) => {
                    return Err(Unlisted::Lost(self.piped.end_of_process().await));
                }
            };
            match listing.page(page).map_err(Unlisted::NotYet)? {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(listing.into_tools())
    }
}

impl Tools for Own {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        tool: &'a str,
        arguments: &'a Object,
    ) -> BoxFuture<'a, Called> {
        Box::pin(async move {
            let params = json!({ "name": tool, "arguments": arguments });
            let (outcome, lost) = match self.ask("tools/call", params, self.tool_timeout).await {
                Ok(reply) => (outcome(reply), None),
                Err(NoReply::Late) => (no_answer(self.tool_timeout, &self.piped.wire), None),
                Err(NoReply::Unreadable) => {
                    let why = "an answer that cannot be read".to_owned();
                    (Outcome::failed(FailureKind::InvalidResponse, why), None)
                }
                Err(NoReply::Gone) => {
                    let problem = self.piped.end_of_process().await;
                    let message = problem.message.clone();
                    (
                        Outcome::failed(FailureKind::Disconnected, message),
                        Some(problem),
                    )
                }
            };
            Called { outcome, lost }
        })
    }

    fn list_again(&self, limit: Duration) -> BoxFuture<'_, Result<Catalogue, Unlisted>> {
        Box::pin(async move {
            let mut catalogue = self.catalogue.clone();
            let tools = self.tools(limit).await?;
            for server in &mut catalogue.servers {
                server.tools.clone_from(&tools);
            }
            Ok(catalogue)
        })
    }

    /// The session goes on.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Why a session was not begun with, for the run.
pub(super) fn not_ready(problem: SetupError) -> SetupError {
    SetupError {
        message: format!("{}, in the session of the agent", problem.message),
        ..problem
    }
}
