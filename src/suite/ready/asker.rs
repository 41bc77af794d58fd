//! Proofs that servers are ready: they are asked in the sessions that the run will use or in fresh ones.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};

use crate::mcp::{self, Launch, Target};
use crate::model::Object;
use crate::model::catalogue::{Catalogue, Tool};
use crate::model::comparison::Row;
use crate::model::redacted::Redacted;
use crate::model::stamp::Stamp;
use crate::model::trajectory::{Outcome, Step, ToolCall, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::ready::{Asks, PageAnswer};
use crate::run::{Observer, Part, Progress, SetupError, Together, Tools, Unlisted};
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{HealthPage, PageAddress, Ready, Transport};
use crate::suite::addresses::Addresses;
use crate::suite::secrets::{pairs, query};
use crate::suite::suite_context::SuiteContext;
use crate::{http_client, scenario_file, score};

/// What all askers of one run have in common.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) scenario: &'a Scenario,
    /// The last of its containers is that whose servers are asked, when it is a container that is to be ready.
    pub(crate) addresses: &'a Addresses,
    pub(crate) redactor: &'a Redactor,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) accepted: Option<&'a Arc<Redacted<Trajectory>>>,
}

/// Asks some servers.
pub(crate) struct Asker<'a> {
    pub(crate) asking: Asking<'a>,
    /// The servers that are waited for, as a message begins with them before a colon; empty where they need not be named.
    pub(crate) who: String,
    /// In the order of the scenario, or why they cannot be asked.
    pub(crate) targets: Result<Vec<Target>, String>,
    /// The servers whose sessions the run will use, because a child process has only one session.
    pub(crate) kept: Vec<Arc<Box<dyn Tools>>>,
    /// The stamp of the trajectories that answers are compared as.
    pub(crate) stamp: Stamp,
}

impl Asks for Asker<'_> {
    fn open(&self, limit: Duration) -> BoxFuture<'_, Result<Box<dyn Tools>, Unlisted>> {
        async move {
            let targets = match &self.targets {
                Ok(targets) => targets,
                Err(why) => return Err(Unlisted::NotYet(why.clone())),
            };
            let name = |it: &Target| it.name.clone();
            let kept = self.kept.iter().flat_map(|it| &it.catalogue().servers);
            let kept: Vec<&str> = kept.map(|it| it.server.as_str()).collect();
            let mut fresh = targets.clone();
            fresh.retain(|it| !kept.contains(&it.name.as_str()));
            for target in &mut fresh {
                // A server that is still starting is not waited for here, because the next round tries again.
                target.may_be_starting = false;
                target.connect_timeout = target.connect_timeout.min(limit);
            }
            let listing = self.kept.iter().map(|it| it.list_again(limit));
            let mut offered = try_join_all(listing).await?;
            let lent = self.kept.iter().map(|it| Part::Lent(Arc::clone(it)));
            let mut parts: Vec<Part> = lent.collect();
            if !fresh.is_empty() {
                let connected = mcp::connect(&fresh, &|_| ()).await;
                let connected = connected.map_err(|it| Unlisted::NotYet(it.message))?;
                offered.push(connected.catalogue().clone());
                parts.push(Part::Own(connected));
            }
            let order: Vec<String> = targets.iter().map(name).collect();
            Ok(Box::new(Together::new(parts, offered, &order)) as Box<dyn Tools>)
        }
        .boxed()
    }

    fn page<'a>(
        &'a self,
        page: &'a HealthPage,
        limit: Duration,
    ) -> BoxFuture<'a, Result<PageAnswer, String>> {
        async move {
            let names = self.targets.iter().flatten().map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            let of = (self.asking.addresses, only(&names));
            let expanded = expanded(std::slice::from_ref(page), of);
            let (pages, _) = expanded.map_err(|it| it.message)?;
            let page = pages.first().ok_or("there is no page")?;
            let url = match &page.at {
                PageAddress::Url(url) => url.clone(),
                PageAddress::Path { server, path } => {
                    let address = self.address(server.as_deref())?;
                    http_client::on_same_server(&address, path)
                        .ok_or_else(|| format!("`{address}` is not an address"))?
                }
            };
            // The parameters are left out, because they may hold keys.
            let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
            let (status, body) = http_client::page(&url, &page.headers, limit)
                .await
                .map_err(|why| format!("{shown}: {why}"))?;
            Ok(PageAnswer {
                url: shown,
                status,
                body,
            })
        }
        .boxed()
    }

    fn is_same(&self, before: &Outcome, after: &Outcome) -> bool {
        if before == after {
            return true;
        }
        let (before, after) = (self.alone(before), self.alone(after));
        let compared = score::compare(&before, &after, &self.asking.scenario.scoring);
        compared.rows.iter().all(|row| match row {
            Row::Pair(pair) => {
                let response = &pair.response;
                response.similarity >= 1.0 - 1e-9 && !response.is_broken()
            }
            Row::Missing { .. } | Row::Extra { .. } => false,
        })
    }

    fn is_renamed(&self, tool: &str, listed: &Catalogue) -> bool {
        let accepted = self.asking.accepted;
        accepted.is_some_and(|it| score::is_renamed(tool, &it.catalogue, listed))
    }

    fn nearest(&self, tool: &str, listed: &Catalogue) -> Option<String> {
        let tools = listed.servers.iter().flat_map(|it| &it.tools);
        score::nearest_name(tool, tools.map(Tool::name)).map(str::to_owned)
    }

    fn clean(&self, text: &str) -> String {
        self.asking.redactor.text(text).into_inner()
    }

    fn waiting(&self, what: &str, elapsed: Duration) {
        let what = match self.who.as_str() {
            "" => what.to_owned(),
            who => format!("{who}: {what}"),
        };
        let progress = Progress::Waiting {
            what: &what,
            elapsed,
        };
        self.asking.observer.progress(progress);
    }
}

impl Asker<'_> {
    /// The address of a server, or of the only one that has one.
    fn address(&self, server: Option<&str>) -> Result<String, String> {
        let targets = self.targets.as_ref().map_err(Clone::clone)?;
        if let (None, "", Some(container)) = (
            server,
            self.who.as_str(),
            self.asking.addresses.containers.last(),
        ) {
            return Ok(container.url());
        }
        let addresses = targets.iter().filter_map(|it| match &it.launch {
            Launch::Http { url, .. } => Some((it.name.as_str(), url)),
            Launch::Child(_) => None,
        });
        let mut addresses = addresses.filter(|(name, _)| server.is_none_or(|it| it == *name));
        match (addresses.next(), addresses.next()) {
            (Some((_, url)), None) => Ok(url.clone()),
            (None, _) => Err(match server {
                Some(server) => format!("the server `{server}` has no address: give `url`"),
                None => "no server has an address: give `url`".to_owned(),
            }),
            (Some(_), Some(_)) => Err(
                "several servers have an address: say whose page it is with `server`".to_owned(),
            ),
        }
    }

    /// A run that made one call.
    fn alone(&self, outcome: &Outcome) -> Trajectory {
        let call = ToolCall::new(
            Some("asked".to_owned()),
            "ready".to_owned(),
            Object::new(),
            outcome.clone(),
        );
        Trajectory::new(self.stamp.clone(), vec![Step::ToolCall(Box::new(call))])
    }
}

/// Something that must hold of some servers before a run begins.
#[derive(Clone)]
pub(crate) struct Proof {
    pub(super) ready: Ready,
    /// The names of the servers that it must hold of at the same time.
    pub(super) servers: Vec<String>,
}

impl Proof {
    /// Adds the secrets that its pages are asked with to `secrets`.
    pub(crate) fn secrets(
        &self,
        addresses: &Addresses,
        secrets: &mut Secrets,
    ) -> Result<(), SetupError> {
        page_secrets(&self.ready, (addresses, only(&self.servers)), secrets)
    }
}

/// What is to be proven of the servers of a scenario, besides what is said of its container.
pub(crate) fn proofs(context: &SuiteContext, scenario: &Scenario) -> Vec<Proof> {
    let servers = context.servers(scenario);
    // Recorded servers are always ready.
    let live = |it: &Transport| !matches!(it, Transport::Recorded { .. });
    let all: Vec<String> = (servers.iter())
        .filter(|it| live(&it.transport))
        .map(|it| it.name.clone())
        .collect();
    let together = scenario.ready.iter().filter(|_| !all.is_empty());
    let together = together.map(|ready| Proof {
        ready: ready.clone(),
        servers: all.clone(),
    });
    let single = servers.iter().filter(|it| live(&it.transport));
    let single = single.filter_map(|it| {
        Some(Proof {
            ready: it.ready.clone()?,
            servers: vec![it.name.clone()],
        })
    });
    together.chain(single).collect()
}

/// Whether calls of ours prove that the servers of a scenario, or its containers, are ready.
pub(crate) fn asks_calls(context: &SuiteContext, scenario: &Scenario) -> bool {
    let containers = scenario.containers.iter();
    let mut inside = containers.map(|it| &it.ready);
    inside.any(|it| !it.calls.is_empty())
        || (proofs(context, scenario).iter()).any(|it| !it.ready.calls.is_empty())
}

/// The only one of several servers.
pub(super) fn only<T: AsRef<str>>(servers: &[T]) -> Option<&str> {
    match servers {
        [only] => Some(only.as_ref()),
        _ => None,
    }
}

/// Adds the secrets that pages, of this server or of any, are asked with to `secrets`.
pub(crate) fn page_secrets(
    ready: &Ready,
    of: (&Addresses, Option<&str>),
    secrets: &mut Secrets,
) -> Result<(), SetupError> {
    let (pages, variables) = expanded(&ready.http, of)?;
    secrets.environment("ready", &variables);
    for page in pages {
        secrets.named("header", "ready", pairs(&page.headers));
        let (PageAddress::Url(address) | PageAddress::Path { path: address, .. }) = &page.at;
        secrets.named("query", "ready", query(address));
    }
    Ok(())
}

/// The pages with their placeholders filled in, and the names of the environment variables that stand in them.
pub(super) fn expanded(
    pages: &[HealthPage],
    (addresses, server): (&Addresses, Option<&str>),
) -> Result<(Vec<HealthPage>, Vec<String>), SetupError> {
    let mut filled = Vec::new();
    let mut variables = Vec::new();
    for page in pages {
        let named = match &page.at {
            PageAddress::Path { server, .. } => server.as_deref(),
            PageAddress::Url(_) => None,
        };
        let lookup = |name: &str| addresses.lookup(name, named.or(server));
        let (page, used) = scenario_file::expand(page, lookup)
            .map_err(|missing| SetupError::new(missing.to_string()))?;
        filled.push(page);
        variables.extend(used);
    }
    Ok((filled, variables))
}
