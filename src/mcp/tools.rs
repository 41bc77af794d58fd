//! All servers of one run together, as the port the run calls tools through.

use futures_util::future::{BoxFuture, join_all};
use std::time::Duration;

use crate::mcp::session::Session;
use crate::mcp::target::{OnProgress, Target};
use crate::model::Object;
use crate::model::catalogue::Catalogue;
use crate::run::{Called, Listed, SetupError, Tools, Unlisted};

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
