//! The proof that a server process is ready which is started for a session of the agent itself.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::asker::{Asker, Asking};
use super::proof::Proof;
use crate::mcp::Target;
use crate::model::catalogue::Catalogue;
use crate::model::ready::Ready;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::stamp::Stamp;
use crate::model::trajectory::Trajectory;
use crate::redact::{Redactor, Secrets};
use crate::run::ready::{SessionCheck, wait};
use crate::run::{Observer, Progress, SetupError, Tools};
use crate::suite::addresses::Addresses;

/// Checks each server process that is started for a session of the agent itself, which then makes its calls without us.
#[derive(Clone)]
pub(super) struct AgentSessionCheck {
    scenario: Arc<Scenario>,
    redactor: Arc<Redactor>,
    addresses: Addresses,
    proofs: Vec<Proof>,
    targets: Vec<Target>,
    /// What all servers offered when they were ready.
    catalogue: Catalogue,
    stamp: Stamp,
    accepted: Option<Arc<Redacted<Trajectory>>>,
}

/// Reports no progress, because meanwhile the progress of the agent itself is shown.
struct NoProgress;

impl Observer for NoProgress {
    fn progress(&self, _: Progress<'_>) {}
}

impl AgentSessionCheck {
    pub(super) fn new(
        (proofs, targets): (&[Proof], &[Target]),
        asking: Asking<'_>,
        secrets: &Secrets,
        (catalogue, stamp): (Catalogue, Stamp),
    ) -> Self {
        Self {
            scenario: Arc::new(asking.scenario.clone()),
            redactor: Arc::new(Redactor::new(secrets, &asking.scenario.redaction)),
            addresses: asking.addresses.clone(),
            proofs: proofs.to_vec(),
            targets: targets.to_vec(),
            catalogue,
            stamp,
            accepted: asking.accepted.cloned(),
        }
    }

    /// What is to be proven of one server alone. What concerns several servers, or is read from a page, was proven before the agent started.
    fn of(&self, server: &str) -> Vec<Ready> {
        let prefix = format!("mcp__{server}__");
        let is_own = |tool: &String| {
            let listed = self.catalogue.tool(server, tool);
            tool.starts_with(&prefix) || listed.is_some()
        };
        let proofs = self.proofs.iter();
        let proofs = proofs.filter(|it| it.servers.iter().any(|it| it == server));
        let alone = proofs.map(|proof| {
            let mut ready = proof.ready.clone();
            ready.http.clear();
            if proof.servers.len() > 1 {
                ready.tools.retain(is_own);
                ready.min_tools = 0;
                ready.calls.retain(|it| match &it.server {
                    Some(named) => named == server,
                    None => is_own(&it.tool),
                });
            }
            ready
        });
        alone.collect()
    }
}

impl SessionCheck for AgentSessionCheck {
    fn check(
        &self,
        server: &str,
        tools: Box<dyn Tools>,
    ) -> BoxFuture<'static, Result<(), SetupError>> {
        let (check, server) = (self.clone(), server.to_owned());
        let tools = Arc::new(tools);
        async move {
            let targets = check.targets.iter().filter(|it| it.name == server);
            let asker = Asker {
                asking: Asking {
                    scenario: &check.scenario,
                    addresses: &check.addresses,
                    redactor: &check.redactor,
                    observer: &NoProgress,
                    accepted: check.accepted.as_ref(),
                },
                who: server.clone(),
                targets: Ok(targets.cloned().collect()),
                kept: vec![tools],
                stamp: check.stamp.clone(),
            };
            for ready in check.of(&server) {
                wait(&ready, &format!("server `{server}`"), &asker).await?;
            }
            Ok(())
        }
        .boxed()
    }
}
