//! Servers that were connected one after another, or for more than one purpose, as those of one run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

use crate::model::Object;
use crate::model::catalogue::Catalogue;
use crate::run::ports::{Called, Listed, Tools};

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
