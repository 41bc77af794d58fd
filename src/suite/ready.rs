//! Proof that the servers of a run are ready: what must hold of which of them, and how they are asked, in which sessions; the connection to those
//! that have proven it, and the same proof for each process of an agent's own session.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all, try_join_all};

use crate::http_client;
use crate::mcp::{self, GatewayPlace, Launch, Target};
use crate::model::{
    Catalogue, Object, Outcome, Redacted, Row, Stamp, Step, Tool, ToolCall, Trajectory,
};
use crate::redact::{Redactor, Secrets};
use crate::run::ready::{Asks, PageAnswer, SessionCheck, wait};
use crate::run::{
    AskAgain, Connection, Observer, Part, Progress, SetupError, Together, Tools, Unlisted,
};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{HealthPage, PageAddress, Ready, Transport};
use crate::score;
use crate::suite::addresses::Addresses;
use crate::suite::secrets::{pairs, query};
use crate::suite::suite_context::SuiteContext;

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
struct AgentSessionCheck {
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
    fn new(
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
    ready: Ready,
    /// The names of the servers that it must hold of at the same time.
    servers: Vec<String>,
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
fn only<T: AsRef<str>>(servers: &[T]) -> Option<&str> {
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
fn expanded(
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
        let (page, used) = scenario_file::expand(page, lookup)?;
        filled.push(page);
        variables.extend(used);
    }
    Ok((filled, variables))
}
