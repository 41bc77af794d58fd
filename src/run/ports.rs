//! The traits a run needs implemented: tools or a gateway to call, and an observer of its progress.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

use crate::model::{Catalogue, FailureKind, Object, Outcome};
use crate::run::call_recorder::{CallRecorder, Endpoint};
use crate::run::limits::SetupError;

/// The connected servers of one run, for agents whose calls we make.
pub trait Tools: Send + Sync {
    /// What the servers offered when they were connected.
    fn catalogue(&self) -> &Catalogue;

    /// Calls a tool and waits for its outcome, at most for the tool timeout.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a Object,
    ) -> BoxFuture<'a, Called>;

    /// Lists the tools of all servers anew, within `limit`, where that can be done. What [`Tools::catalogue`] gives stays as it was.
    fn list_again(&self, _limit: Duration) -> BoxFuture<'_, Result<Catalogue, Unlisted>> {
        let catalogue = self.catalogue().clone();
        Box::pin(std::future::ready(Ok(catalogue)))
    }

    /// The names of all tools of servers that have said since they were connected that their lists are others now, or of `all`. A server
    /// that does not list them within `limit` is left out.
    fn listed_later(&self, _limit: Duration, _all: bool) -> BoxFuture<'_, Vec<Listed>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Ends the sessions, and the servers that were started for them.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// The servers of one run behind endpoints, for an agent with an MCP client of its own: its calls are recorded as they pass.
pub trait Gateway: Send + Sync {
    /// What the servers offered when they were connected.
    fn catalogue(&self) -> &Catalogue;

    /// Where the agent reaches the servers.
    fn endpoints(&self) -> &[Endpoint];

    /// The calls it makes.
    fn recorder(&self) -> &CallRecorder;

    /// Waits until the servers have answered all requests that recording has made again.
    fn wait_for_repeats(&self) -> BoxFuture<'_, ()>;

    /// The names of all tools that servers have listed to the agent.
    fn listed(&self) -> Vec<Listed>;

    /// Ends the sessions, and the servers that were started for them.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The tools of a server, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub server: String,
    pub tools: Vec<String>,
}

/// How the agent of a run reaches its servers.
pub enum Connection {
    /// We make its calls.
    Tools(Box<dyn Tools>),
    /// It makes its calls itself.
    Gateway(Box<dyn Gateway>),
}

impl Connection {
    /// What the servers offered when they were connected.
    pub fn catalogue(&self) -> &Catalogue {
        match self {
            Self::Tools(tools) => tools.catalogue(),
            Self::Gateway(gateway) => gateway.catalogue(),
        }
    }

    /// The servers, where we make the calls.
    pub fn tools(&self) -> Option<&dyn Tools> {
        match self {
            Self::Tools(tools) => Some(tools.as_ref()),
            Self::Gateway(_) => None,
        }
    }

    /// The endpoints, where the agent makes its calls itself.
    pub fn gateway(&self) -> Option<&dyn Gateway> {
        match self {
            Self::Tools(_) => None,
            Self::Gateway(gateway) => Some(gateway.as_ref()),
        }
    }

    /// What servers offered when they were connected, with the names of those tools that they list in the end, and that were not there
    /// then. A server that has not said that anything
    /// changed is asked only where a name is `wanted` that was not there.
    pub(super) async fn catalogue_in_the_end(&self, limit: Duration, wanted: &[&str]) -> Catalogue {
        let all = wanted.iter().any(|it| !self.catalogue().offers(it));
        let listed = match self {
            Self::Tools(tools) => tools.listed_later(limit, all).await,
            Self::Gateway(gateway) => gateway.listed(),
        };
        let mut catalogue = self.catalogue().clone();
        for server in &mut catalogue.servers {
            let of_server = listed.iter().filter(|it| it.server == server.server);
            let names = of_server.flat_map(|it| &it.tools);
            let new: BTreeSet<&String> = names.filter(|it| !server.lists(it)).collect();
            server.later = new.into_iter().cloned().collect();
        }
        catalogue
    }

    /// Ends the sessions, and the servers that were started for them.
    pub async fn close(self) {
        match self {
            Self::Tools(tools) => tools.close().await,
            Self::Gateway(gateway) => gateway.close().await,
        }
    }
}

/// The outcome of a call, and whether the server can still be used.
#[derive(Debug)]
pub struct Called {
    pub outcome: Outcome,
    /// Set when the server cannot be used any more: the run cannot go on.
    pub lost: Option<SetupError>,
}

impl Called {
    /// A call that nobody could be asked to answer, for there is no such server.
    pub fn nowhere(server: &str) -> Self {
        let message = format!("there is no server `{server}`");
        Self {
            outcome: Outcome::failed(FailureKind::Transport, message),
            lost: None,
        }
    }
}

/// Why servers do not list their tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlisted {
    /// They may do so later. Holds why they do not now, in a fragment that can stand in brackets.
    NotYet(String),
    /// A server cannot be used any more.
    Lost(SetupError),
}

/// Receives the progress of a run.
pub trait Observer: Send + Sync {
    fn progress(&self, progress: Progress<'_>);
}

/// What a run is doing.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// Getting a server ready, or the container that it runs in; `doing` says what is going on.
    Preparing { doing: &'a str },
    /// Something that takes long begins or ends; `doing` says what.
    Milestone { doing: &'a str },
    /// It still goes on; `doing` says how far it is, once a second.
    Still { doing: &'a str },
    /// Starting servers and reading their catalogues.
    Connecting,
    /// Servers have not proven yet that they are ready.
    Waiting { what: &'a str, elapsed: Duration },
    /// The model is asked; requests are numbered from 1.
    Asking { number: usize },
    /// The model gave no answer and will be asked the same again.
    AskingAgain {
        number: usize,
        pause: Duration,
        /// The HTTP status, where a response came.
        status: Option<u16>,
        /// May hold secrets.
        problem: &'a str,
    },
    /// A call is under way; calls are numbered from 1.
    Calling { number: usize, tool: &'a str },
    /// A call has ended.
    Called {
        number: usize,
        tool: &'a str,
        outcome: &'a Outcome,
        duration_ms: f64,
    },
}

/// Some of the servers.
pub enum Part {
    /// They are closed with [`Together`].
    Own(Box<dyn Tools>),
    /// They stay open when [`Together`] is closed.
    Lent(Arc<Box<dyn Tools>>),
}

/// Servers of several parts.
pub struct Together {
    parts: Vec<Part>,
    catalogue: Catalogue,
}

impl Together {
    /// The servers of all parts, with their current catalogues in the order of these names; a server that is not named is left out.
    pub fn new(
        parts: Vec<Part>,
        offered: impl IntoIterator<Item = Catalogue>,
        order: &[String],
    ) -> Self {
        let all: Vec<_> = offered.into_iter().flat_map(|it| it.servers).collect();
        let servers = order.iter();
        let servers = servers.filter_map(|name| all.iter().find(|it| it.server == *name));
        Self {
            catalogue: Catalogue {
                servers: servers.cloned().collect(),
                ..Catalogue::default()
            },
            parts,
        }
    }

    fn having(&self, server: &str) -> Option<&dyn Tools> {
        let mut parts = self.parts.iter().map(Part::tools);
        parts.find(|it| it.catalogue().servers.iter().any(|it| it.server == server))
    }
}

impl Part {
    fn tools(&self) -> &dyn Tools {
        match self {
            Self::Own(tools) => tools.as_ref(),
            Self::Lent(tools) => tools.as_ref().as_ref(),
        }
    }
}

impl Tools for Together {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a Object,
    ) -> BoxFuture<'a, Called> {
        match self.having(server) {
            Some(part) => part.call(server, tool, arguments),
            None => Box::pin(std::future::ready(Called::nowhere(server))),
        }
    }

    fn listed_later(&self, limit: Duration, all: bool) -> BoxFuture<'_, Vec<Listed>> {
        let parts = self.parts.iter();
        let listing = parts.map(move |it| it.tools().listed_later(limit, all));
        let listing: Vec<_> = listing.collect();
        Box::pin(async move { join_all(listing).await.into_iter().flatten().collect() })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        let own = self.parts.into_iter().filter_map(|it| match it {
            Part::Own(tools) => Some(tools),
            Part::Lent(_) => None,
        });
        let closing: Vec<_> = own.map(Tools::close).collect();
        Box::pin(async move {
            join_all(closing).await;
        })
    }
}
