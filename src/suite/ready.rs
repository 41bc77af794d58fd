//! Connects to the servers of a run once they have proven that they are ready, and proves the same of those that are started for a session of the agent.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all, try_join_all};

use super::asker::{Asker, Asking, Proof};
use crate::mcp::{self, GatewayPlace, Launch, Target};
use crate::model::catalogue::{Catalogue, Tool};
use crate::model::ready::Ready;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::stamp::Stamp;
use crate::model::trajectory::Trajectory;
use crate::redact::{Redactor, Secrets};
use crate::run::ready::{SessionCheck, wait};
use crate::run::{AskAgain, Connection, Observer, Part, Progress, SetupError, Together, Tools};
use crate::suite::addresses::Addresses;

/// The connected servers of a run, and what a reader should know of how they were asked.
pub(crate) struct Proven {
    pub(crate) servers: Connection,
    pub(crate) notes: Vec<String>,
}

/// Connects to the servers of a run once they have proven that they are ready: to those over HTTP in new sessions, to child processes in
/// the sessions of the proof. With `gateway`, they are put behind a gateway at this place, which asks reads again where
/// it is given an [`AskAgain`].
///
/// # Errors
///
/// What does not hold in time, or what a server failed with. None is left running.
pub(crate) async fn connect(
    proofs: &[Proof],
    targets: &[Target],
    gateway: Option<(GatewayPlace, Option<AskAgain>)>,
    asking: Asking<'_>,
    stamp: &Stamp,
    secrets: &Secrets,
) -> Result<Proven, SetupError> {
    let report = |doing: &str| (asking.observer).progress(Progress::Preparing { doing });
    let is_covered = |it: &&Target| proofs.iter().any(|proof| proof.servers.contains(&it.name));
    let is_child = |it: &&Target| matches!(it.launch, Launch::Child(_));
    let children = targets.iter().filter(is_child).filter(is_covered);
    let started = children.map(|it| start(it.clone(), proofs));
    let mut kept = Vec::new();
    let mut failed = None;
    for started in join_all(started).await {
        match started {
            Ok(tools) => kept.push(Arc::new(tools)),
            Err(problem) => failed = failed.or(Some(problem)),
        }
    }
    let proven = match failed {
        None => prove_all(proofs, targets, &kept, asking, stamp).await,
        Some(problem) => Err(problem),
    };
    let mut offered = Vec::new();
    let mut notes = Vec::new();
    let mut connected = Ok(());
    match proven {
        Ok(()) => {
            for tools in &kept {
                let listed = tools.list_again(asking.scenario.timeouts.connect).await;
                offered.push(listed.unwrap_or_else(|_| tools.catalogue().clone()));
            }
        }
        Err(problem) => connected = Err(problem),
    }
    let kept = kept.into_iter().filter_map(Arc::into_inner);
    let mut parts: Vec<Part> = kept.map(Part::Own).collect();
    let order: Vec<String> = targets.iter().map(|it| it.name.clone()).collect();
    if connected.is_ok() {
        let has = |name: &String| {
            let mut servers = offered.iter().flat_map(|it: &Catalogue| &it.servers);
            servers.any(|it| it.server == *name)
        };
        let rest = targets.iter().filter(|it| !has(&it.name));
        let rest: Vec<Target> = rest.cloned().collect();
        if !rest.is_empty() {
            match mcp::connect(&rest, &report).await {
                Ok(tools) => {
                    offered.push(tools.catalogue().clone());
                    parts.push(Part::Own(tools));
                }
                Err(problem) => connected = Err(problem),
            }
        }
    }
    let together = Box::new(Together::new(parts, offered, &order));
    if let Err(problem) = connected {
        together.close().await;
        return Err(problem);
    }
    notes.extend(not_only_reads(
        proofs,
        together.catalogue(),
        asking.scenario,
    ));
    let servers = match gateway {
        None => Connection::Tools(together),
        Some((place, ask_again)) => {
            let check = Arc::new(AgentSessionCheck::new(
                proofs,
                targets,
                asking,
                secrets,
                together.catalogue().clone(),
                stamp.clone(),
            ));
            let known = Some((together as Box<dyn Tools>, check as Arc<dyn SessionCheck>));
            let opened = mcp::open_gateway(targets, known, place, ask_again, &report).await?;
            Connection::Gateway(opened)
        }
    };
    Ok(Proven { servers, notes })
}

/// Starts a child process, within the time that it has to get ready.
async fn start(mut target: Target, proofs: &[Proof]) -> Result<Box<dyn Tools>, SetupError> {
    let own = (proofs.iter()).filter(|proof| proof.servers.contains(&target.name));
    let longest = own.map(|it| it.ready.timeout).max();
    target.connect_timeout = longest.unwrap_or(target.connect_timeout);
    target.if_late = "`ready.timeout` changes that";
    mcp::connect(&[target], &|_| ()).await
}

async fn prove_all(
    proofs: &[Proof],
    targets: &[Target],
    kept: &[Arc<Box<dyn Tools>>],
    asking: Asking<'_>,
    stamp: &Stamp,
) -> Result<(), SetupError> {
    let proving = proofs.iter().map(|proof| async move {
        let is_meant = |name: &String| proof.servers.contains(name);
        let own = kept.iter().filter(|it| {
            let servers = it.catalogue().servers.iter();
            servers.map(|it| &it.server).any(is_meant)
        });
        let asker = Asker {
            asking,
            who: proof.servers.join(", "),
            targets: Ok(targets
                .iter()
                .filter(|it| is_meant(&it.name))
                .cloned()
                .collect()),
            kept: own.cloned().collect(),
            stamp: stamp.clone(),
        };
        let who = match proof.servers.as_slice() {
            [server] => format!("server `{server}`"),
            servers => format!("servers `{}`", servers.join("`, `")),
        };
        wait(&proof.ready, &who, &asker).await
    });
    try_join_all(proving).await.map(drop)
}

/// Notes on calls of the proof that may have changed something, although such calls should only read.
fn not_only_reads(proofs: &[Proof], catalogue: &Catalogue, scenario: &Scenario) -> Vec<String> {
    let mut notes = Vec::new();
    for proof in proofs {
        for call in &proof.ready.calls {
            let bare = call.tool.rsplit("__").next().unwrap_or(&call.tool);
            let servers = catalogue.servers.iter();
            let servers = servers.filter(|it| proof.servers.contains(&it.server));
            let mut tools = servers.flat_map(|it| &it.tools);
            let tool = tools.find(|it| it.name() == call.tool || it.name() == bare);
            let hint = tool.and_then(Tool::read_only_hint);
            let why = match call.changes(hint, &scenario.scoring) {
                Some(false) => continue,
                Some(true) => "changes something",
                None => "may change something, for all that is known",
            };
            notes.push(format!(
                "`{}` under `ready.calls` {why}: each run begins with what it left behind; `scoring.reads` says of a tool that it only reads",
                call.tool
            ));
        }
    }
    notes
}

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
        proofs: &[Proof],
        targets: &[Target],
        asking: Asking<'_>,
        secrets: &Secrets,
        catalogue: Catalogue,
        stamp: Stamp,
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
