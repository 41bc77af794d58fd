//! The containers that scenarios run with: how their servers are asked, and what happens to them after a run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::docker::{Probe, Reached, Session, Slot};
use crate::model::{Ending, Redacted, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::ready::Asks;
use crate::run::{Observer, Progress, SetupError};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Container, ONLY_CONTAINER};
use crate::suite::addresses::{self, Addresses, Places};
use crate::suite::behind::BehindPlace;
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::post_mortem::{all_answered, end_as, lost_connection};
use crate::suite::ready::{self, Asker, Asking};
use crate::suite::secrets::pairs;
use crate::suite::stack::{Log, Running};
use crate::suite::{SuiteContext, source};

/// How often, and how far apart, it is looked again whether a container has ended when a call found nobody there.
const LOOKS: u32 = 10;
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// Where the containers of one scenario are, once there are some, and where the servers behind them are.
#[derive(Default)]
pub(crate) struct ContainerSlot {
    slots: OnceLock<Slots>,
    pub(crate) behind: BehindPlace,
}

/// The slots of a scenario's containers, in the order they are started.
pub(crate) struct Slots {
    named: Vec<(Option<String>, Slot)>,
    session: Arc<Session>,
    /// The network that several of them share.
    network: Option<String>,
}

impl Slots {
    /// Each container's slot with its name. Where there are several, those of the last run are removed first.
    pub(crate) async fn all(&self) -> Result<&[(Option<String>, Slot)], SetupError> {
        if self.network.is_some() {
            for (_, slot) in self.named.iter().rev() {
                slot.clear().await?;
            }
        }
        Ok(&self.named)
    }

    /// Why one of the containers is no longer running; `None` while all are.
    async fn post_mortem(&self) -> Result<Option<SetupError>, SetupError> {
        for (name, slot) in &self.named {
            if let Some(found) = slot.post_mortem().await? {
                return Ok(Some(of(name.as_ref(), found)));
            }
        }
        Ok(None)
    }
}

/// What is wrong with a container, with its name where there are several.
pub(crate) fn of(name: Option<&String>, mut problem: SetupError) -> SetupError {
    if let Some(name) = name {
        problem.message = format!("container `{name}`: {}", problem.message);
    }
    problem
}

impl ContainerSlot {
    pub(crate) fn slots(
        &self,
        session: &Arc<Session>,
        containers: Vec<Container>,
        scenario: &str,
        config: Option<&PathBuf>,
    ) -> &Slots {
        self.slots.get_or_init(|| {
            let several = containers.iter().any(|it| it.name.is_some());
            let network = several.then(|| session.network());
            let slots = containers.into_iter().map(|it| {
                let network = network.clone().or_else(|| it.network.clone());
                let container = Container { network, ..it };
                let name = container.name.clone();
                let of = (scenario, config.cloned());
                (name, Slot::new(Arc::clone(session), container, of))
            });
            Slots {
                named: slots.collect(),
                session: Arc::clone(session),
                network,
            }
        })
    }

    /// Gives a run whose container has ended meanwhile the ending [`Ending::Error`], because what came of its calls is no basis for a
    /// verdict. Returns whether it is known that it has ended.
    pub(crate) async fn examine(
        &self,
        trajectory: &mut Redacted<Trajectory>,
        redactor: &Redactor,
    ) -> bool {
        let Some(slots) = self
            .slots
            .get()
            .filter(|_| trajectory.ending != Ending::Interrupted)
        else {
            return false;
        };
        let mut found = slots.post_mortem().await;
        // An engine learns a moment after the server's clients do that a container has ended.
        for _ in 0..LOOKS {
            if !matches!(found, Ok(None)) || !lost_connection(trajectory) {
                break;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
            found = slots.post_mortem().await;
        }
        let has_ended = found.is_ok();
        let found = match found {
            Ok(None) => return false,
            Ok(Some(mut found)) => {
                found.message.push_str(" during the run");
                found
            }
            // The engine does not say whether the container still runs, but every call was answered, so it did.
            Err(_) if trajectory.ending.is_complete() && all_answered(trajectory) => return false,
            Err(unknown) => unknown,
        };
        let died = redactor.ending(found.into());
        // The run's own ending is kept in the details, before the last lines of the container.
        trajectory.refine(|it| end_as(it, &died));
        has_ended
    }

    /// Whether any was started.
    pub(crate) fn has_any(&self) -> bool {
        self.slots.get().is_some()
    }

    /// The bytes of a file in one of the containers, at most so many; `None` where there is none.
    ///
    /// # Errors
    ///
    /// In words that follow the file's name.
    pub(crate) async fn file(
        &self,
        container: &str,
        path: &Path,
        most: u64,
    ) -> Result<Option<Vec<u8>>, String> {
        let mut slots = self.slots.get().into_iter().flat_map(|it| &it.named);
        let is_it = |name: &Option<String>| name.as_deref().unwrap_or(ONLY_CONTAINER) == container;
        let found = slots.find(|(name, _)| is_it(name));
        let (_, slot) = found.ok_or("is in a container that was not started")?;
        slot.file(path, most).await
    }

    /// Lets go of the containers once the scenario is done. With `look`, which is for scenarios that have not passed, they may be kept
    /// for inspection. Returns notes for the reader.
    pub(crate) async fn release(&self, look: bool) -> Vec<String> {
        let Some(slots) = self.slots.get() else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        for (_, slot) in slots.named.iter().rev() {
            notes.extend(slot.release(look).await);
        }
        if let Some(network) = &slots.network {
            slots.session.remove_network(network).await;
        }
        notes
    }
}

/// They stand until the next run resets them, or the scenario is done: see [`ContainerSlot::release`].
impl Running for ContainerSlot {
    fn name(&self) -> &'static str {
        "the containers"
    }

    fn limit(&self) -> Option<Duration> {
        None
    }

    fn logs(&self, begun: Timestamp) -> BoxFuture<'_, Vec<Log>> {
        async move {
            let mut logs = Vec::new();
            for (name, slot) in self.slots.get().iter().flat_map(|it| &it.named) {
                let name = name.as_deref().unwrap_or("container");
                let log = slot.log(begun).await;
                logs.extend(log.map(|log| (name.to_owned(), log)));
            }
            logs
        }
        .boxed()
    }
}

/// Asks the servers in a scenario's container.
pub(crate) struct ServersProbe<'a> {
    pub(crate) container: &'a Container,
    /// Those that were started before it.
    pub(crate) before: &'a Places,
    pub(crate) context: &'a SuiteContext,
    pub(crate) scenario: &'a Scenario,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) redactor: &'a Redactor,
    /// Once the container has been started: those, and this one.
    pub(crate) addresses: OnceLock<Addresses>,
    pub(crate) printed: &'a PrintedHeaders,
    pub(crate) accepted: Option<&'a Arc<Redacted<Trajectory>>>,
}

impl Probe for ServersProbe<'_> {
    fn is_asked(&self) -> bool {
        let servers = self.context.servers(self.scenario);
        let held = servers
            .iter()
            .any(|it| addresses::is_within(self.container, it));
        // Of several, some only serve the others.
        held || self.container.name.is_none()
    }

    fn asks<'a>(&'a self, reached: Option<&'a Reached>) -> Box<dyn Asks + 'a> {
        let addresses = self.addresses.get_or_init(|| Addresses {
            containers: match reached {
                Some(reached) => self.before.and(self.container.name.as_ref(), reached),
                None => self.before.clone(),
            },
            ..Addresses::anywhere(self.scenario, &self.context.servers(self.scenario))
        });
        let targets =
            (self.context).targets_inside(self.scenario, self.container, addresses, self.printed);
        Box::new(Asker {
            asking: Asking {
                scenario: self.scenario,
                addresses,
                redactor: self.redactor,
                observer: self.observer,
                accepted: self.accepted,
            },
            who: String::new(),
            targets: targets.map_err(|error| error.message),
            kept: Vec::new(),
            stamp: self.context.stamp(self.scenario),
        })
    }
}

/// A container with its `${…}` filled in, with those of the servers `behind` it; the secrets it is given are added to `secrets`.
pub(crate) fn expand(
    container: &Container,
    behind: &Addresses,
    secrets: &mut Secrets,
) -> Result<Container, SetupError> {
    let lookup = |name: &str| behind.lookup(name, None);
    let (container, variables) = scenario_file::expand(container, lookup)?;
    secrets.environment("docker", &variables);
    secrets.named("env", "docker", pairs(&container.env));
    // Only secrets are collected here, and the address, which is not known yet, is none.
    let anywhere = Reached {
        host: "127.0.0.1".to_owned(),
        port: container.port.unwrap_or_default(),
    };
    let anywhere = Addresses {
        containers: Places::default().and(container.name.as_ref(), &anywhere),
        ..Addresses::default()
    };
    ready::page_secrets(&container.ready, (&anywhere, None), secrets)?;
    Ok(container)
}

/// The same for one that is not started, and whose servers behind are nowhere yet.
pub(crate) fn expand_anywhere(
    scenario: &Scenario,
    container: &Container,
) -> Result<Container, SetupError> {
    let behind = Addresses::without_listeners(scenario);
    expand(container, &behind, &mut Secrets::default())
}

impl SuiteContext {
    /// Why a scenario that can do without its container's image is not run; `None` when it is. Where it has a container, the engine is
    /// connected.
    pub(crate) async fn why_not(
        &self,
        scenario: &Scenario,
        observer: &dyn Observer,
    ) -> Option<String> {
        let scenario = source::resolved(scenario);
        let session = self.containers.as_ref()?;
        if !scenario.containers.is_empty() {
            let on_wait = |what: &str, elapsed| {
                observer.progress(Progress::Waiting { what, elapsed });
                true
            };
            let _ = session.connected(&on_wait).await;
        }
        let containers = scenario.containers.iter();
        for container in containers.filter(|it| it.optional.is_some()) {
            let container = expand_anywhere(&scenario, container).ok()?;
            let why = session.why_not(&container).await;
            if why.is_some() {
                return why;
            }
        }
        None
    }
}
