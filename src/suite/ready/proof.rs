//! What must hold of which servers before a run begins.

use crate::model::ready::{HealthPage, PageAddress, Ready};
use crate::model::scenario::{Scenario, Transport};
use crate::redact::Secrets;
use crate::run::SetupError;
use crate::scenario_file;
use crate::suite::addresses::Addresses;
use crate::suite::secrets::{pairs, query};
use crate::suite::suite_context::SuiteContext;

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
