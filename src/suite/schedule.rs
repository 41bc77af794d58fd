//! The order of scenarios, and those that may not run at the same time.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Jobs, Settings, SuiteContext, addresses, give_servers, llm_judge};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Reset, Server, Transport};

/// The fewest and the most scenarios that run at once where nobody says how many.
const FEWEST: usize = 2;
const MOST: usize = 8;

impl Jobs {
    /// How many of so many scenarios run at once at most.
    pub fn most(self, scenarios: usize) -> usize {
        let most = match self {
            Self::AtMost(number) | Self::Sharing(number) => usize::from(number.max(1)),
            Self::Auto => {
                let processors = std::thread::available_parallelism();
                processors.map_or(FEWEST, usize::from).clamp(FEWEST, MOST)
            }
        };
        most.min(scenarios.max(1))
    }
}

/// The scenarios that have not begun, in their order.
pub(super) struct Schedule {
    waiting: VecDeque<Waiting>,
    /// One for each scenario that may run at once.
    jobs: Arc<Semaphore>,
    lends: bool,
    /// Held by the scenario with something shared that runs.
    shared: Arc<Semaphore>,
}

struct Waiting {
    index: usize,
    scenario: Arc<Scenario>,
    /// It uses something that another scenario may be using, too.
    shares: bool,
}

/// The next scenario.
pub(super) struct Turn {
    pub(super) index: usize,
    pub(super) scenario: Arc<Scenario>,
    /// To be kept until it has ended.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    pub(super) job: Arc<Job>,
}

/// The place that a scenario has among those that run at once, until this is dropped.
pub(crate) struct Job {
    jobs: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
    /// Others may have the place while the scenario waits.
    lends: bool,
}

impl Job {
    /// Lets time pass, in which another scenario may run; goes on when there is a place again.
    pub(crate) async fn pause(&self, time: Duration) {
        let lent = self.lends && self.held.lock().take().is_some();
        tokio::time::sleep(time).await;
        if lent {
            let place = Arc::clone(&self.jobs).acquire_owned().await;
            *self.held.lock() = place.ok();
        }
    }
}

impl Schedule {
    pub(super) fn new(
        scenarios: &[Arc<Scenario>],
        settings: &Settings,
        context: &SuiteContext,
    ) -> Self {
        let takes_turns = !matches!(settings.jobs, Jobs::AtMost(_));
        let waiting = scenarios.iter().enumerate().map(|(index, it)| Waiting {
            index,
            shares: takes_turns && it.enabled && shares(it, settings, context),
            scenario: Arc::clone(it),
        });
        let mut waiting: Vec<Waiting> = waiting.collect();
        let places: HashMap<&str, usize> = (settings.order.iter().enumerate())
            .map(|(place, id)| (id.as_str(), place))
            .collect();
        waiting.sort_by_key(|it| {
            let place = places.get(it.scenario.id.as_str());
            place.copied().unwrap_or(usize::MAX)
        });
        let most = match settings.jobs {
            // One that has not passed is the last one.
            Jobs::Auto if settings.fail_fast => 1,
            jobs => jobs.most(scenarios.len()),
        };
        Self {
            waiting: waiting.into(),
            jobs: Arc::new(Semaphore::new(most)),
            lends: !settings.fail_fast,
            shared: Arc::new(Semaphore::new(1)),
        }
    }

    /// The first scenario that can run beside those that do; `None` when all have to wait, or none is left.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let place = Arc::clone(&self.jobs).try_acquire_owned().ok()?;
        let mut permit = None;
        let at = self.waiting.iter().position(|it| {
            if it.shares {
                permit = Arc::clone(&self.shared).try_acquire_owned().ok();
            }
            !it.shares || permit.is_some()
        })?;
        let Waiting {
            index, scenario, ..
        } = self.waiting.remove(at)?;
        Some(Turn {
            index,
            scenario,
            permit,
            job: Arc::new(Job {
                jobs: Arc::clone(&self.jobs),
                held: Mutex::new(Some(place)),
                lends: self.lends,
            }),
        })
    }

    /// Waits until there is a place for a scenario that could have it; never, where there is none.
    pub(super) async fn has_place(&self) {
        let is_free = self.shared.available_permits() > 0;
        if !self.waiting.iter().any(|it| !it.shares || is_free) {
            std::future::pending::<()>().await;
        }
        drop(self.jobs.acquire().await);
    }

    /// Whether the scenario of this index has begun.
    pub(super) fn has_begun(&self, index: usize) -> bool {
        self.waiting.iter().all(|it| it.index != index)
    }
}

/// Whether a scenario uses something that is not its own: a server or a container that outlives its runs, a port of this machine that is
/// always the same, what its commands before and after reset, or a budget.
fn shares(scenario: &Scenario, settings: &Settings, context: &SuiteContext) -> bool {
    let judged = llm_judge::asks(scenario);
    let has_budget = settings.budget.is_some() && (scenario.agent.decides() || judged)
        || settings.judges.budget.is_some() && judged;
    uses_what_outlives(scenario, context) || has_budget
}

/// What a run of a scenario shares with others, in words that are the same for the same thing: a server that outlives its runs, a port of this
/// machine that is always the same, a container that is not its own, and whatever its commands before and after reset.
pub fn shared(scenario: &Scenario, settings: &Settings) -> BTreeSet<String> {
    things(scenario, &settings.servers, settings.containers)
}

/// Whether a run of a scenario uses something that another run may be using at the same time.
pub(super) fn uses_what_outlives(scenario: &Scenario, context: &SuiteContext) -> bool {
    !things(scenario, &context.servers, context.containers.is_some()).is_empty()
}

fn things(scenario: &Scenario, given: &[Server], containers: bool) -> BTreeSet<String> {
    let mut own = scenario.servers.clone();
    give_servers(&mut own, given);
    let servers = own.iter().chain(&scenario.upstreams);
    let mut things: BTreeSet<String> = servers
        .filter_map(|it| of_server(scenario, it, containers))
        .collect();
    for container in scenario.containers.iter().filter(|_| containers) {
        if let Some(port) = container.host_port {
            things.insert(address(&format!("127.0.0.1:{port}")));
        }
        if container.reset != Reset::Scenario {
            // Which one it is may depend on what its image is built from.
            things.insert("containers that stay".to_owned());
        }
    }
    if !(scenario.before.is_empty() && scenario.after.is_empty()) {
        things.insert("commands before and after".to_owned());
    }
    things
}

fn of_server(scenario: &Scenario, server: &Server, containers: bool) -> Option<String> {
    let Transport::Http { url, start, .. } = &server.transport else {
        return None;
    };
    let is_own = match start {
        Some(_) => scenario_file::mentions(url, scenario_file::PORT),
        None => addresses::is_fresh(scenario, server, containers),
    };
    (!is_own).then(|| address(authority(url)))
}

/// The host and the port of an address, or all of one that has a form of its own.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

fn address(authority: &str) -> String {
    let local = ["localhost:", "[::1]:", "0.0.0.0:"];
    let port = local.iter().find_map(|it| authority.strip_prefix(it));
    match port {
        Some(port) => format!("127.0.0.1:{port}"),
        None => authority.to_ascii_lowercase(),
    }
}
