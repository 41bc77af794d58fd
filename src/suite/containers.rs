//! The containers that scenarios run with: how their servers are asked, and what happens to them after a run.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;

use crate::docker::{Probe, Reached, Session, Slot};
use crate::model::container::Container;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Ending, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::ready::Asks;
use crate::run::{Observer, SetupError};
use crate::scenario_file;
use crate::suite::addresses::Addresses;
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::post_mortem::{all_answered, end_as, lost_connection};
use crate::suite::ready::{self, Asker, Asking};
use crate::suite::secrets::pairs;
use crate::suite::source;
use crate::suite::suite_context::SuiteContext;

/// How often, and how far apart, it is looked again whether a container has ended when a call found nobody there.
const LOOKS: u32 = 10;
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// Where the container of one scenario is, once there is one.
#[derive(Default)]
pub(crate) struct ContainerSlot(OnceLock<Slot>);

impl ContainerSlot {
    pub(crate) fn slot(
        &self,
        session: &Arc<Session>,
        container: Container,
        config: Option<PathBuf>,
    ) -> &Slot {
        self.0
            .get_or_init(|| Slot::new(Arc::clone(session), container, config))
    }

    /// Gives a run whose container has ended meanwhile the ending [`Ending::Error`], because what came of its calls is no basis for a
    /// verdict.
    pub(crate) async fn examine(&self, trajectory: &mut Redacted<Trajectory>, redactor: &Redactor) {
        let Some(slot) = self
            .0
            .get()
            .filter(|_| trajectory.ending != Ending::Interrupted)
        else {
            return;
        };
        let mut found = slot.post_mortem().await;
        // An engine learns a moment after the server's clients do that a container has ended.
        for _ in 0..LOOKS {
            if !matches!(found, Ok(None)) || !lost_connection(trajectory) {
                break;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
            found = slot.post_mortem().await;
        }
        let found = match found {
            Ok(None) => return,
            Ok(Some(mut found)) => {
                found.message.push_str(" during the run");
                found
            }
            // The engine does not say whether the container still runs, but every call was answered, so it did.
            Err(_) if trajectory.ending.is_complete() && all_answered(trajectory) => return,
            Err(unknown) => unknown,
        };
        let died = redactor.ending(Ending::Error {
            message: found.message,
            details: found.details,
        });
        // The run's own ending is kept in the details, before the last lines of the container.
        trajectory.refine(|it| end_as(it, &died));
    }

    /// What the container has said since the run began.
    pub(crate) async fn log(&self, begun: Timestamp) -> Option<String> {
        self.0.get()?.log(begun).await
    }

    /// Lets go of the container once the scenario is done. With `look`, which is for scenarios that have not passed, it may be kept for
    /// inspection. Returns a note for the reader.
    pub(crate) async fn release(&self, look: bool) -> Option<String> {
        self.0.get()?.release(look).await
    }
}

/// Asks the servers in a scenario's container.
pub(crate) struct ServersProbe<'a> {
    pub(crate) context: &'a SuiteContext,
    pub(crate) scenario: &'a Scenario,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) redactor: &'a Redactor,
    /// Once the container has been started.
    pub(crate) addresses: OnceLock<Addresses>,
    pub(crate) printed: &'a PrintedHeaders,
}

impl Probe for ServersProbe<'_> {
    fn asks<'a>(&'a self, reached: &'a Reached) -> Box<dyn Asks + 'a> {
        let addresses = self.addresses.get_or_init(|| Addresses {
            container: Some(reached.clone()),
            ..Addresses::anywhere(self.scenario, &self.context.servers(self.scenario))
        });
        let targets = (self.context).targets_inside(self.scenario, addresses, self.printed);
        Box::new(Asker {
            asking: Asking {
                scenario: self.scenario,
                addresses,
                redactor: self.redactor,
                observer: self.observer,
            },
            who: String::new(),
            targets: targets.map_err(|error| error.message),
            kept: Vec::new(),
            stamp: self.context.stamp(self.scenario),
        })
    }
}

/// A container with its `${…}` filled in; the secrets it is given are added to `secrets`.
pub(crate) fn expand(
    container: &Container,
    secrets: &mut Secrets,
) -> Result<Container, SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (container, variables) = scenario_file::expand(container, lookup)
        .map_err(|missing| SetupError::new(missing.to_string()))?;
    secrets.environment("docker", &variables);
    secrets.named("env", "docker", pairs(&container.env));
    // Only secrets are collected here, and the address, which is not known yet, is none.
    let anywhere = Addresses {
        container: Some(Reached {
            host: "127.0.0.1".to_owned(),
            port: container.port,
        }),
        ..Addresses::default()
    };
    ready::page_secrets(&container.ready, (&anywhere, None), secrets)?;
    Ok(container)
}

impl SuiteContext {
    /// Why a scenario that can do without its container's image is not run; `None` when it is.
    pub(crate) async fn why_not(&self, scenario: &Scenario) -> Option<String> {
        let scenario = source::settled(scenario);
        let container = scenario
            .container
            .as_ref()
            .filter(|it| it.optional.is_some())?;
        let container = expand(container, &mut Secrets::default()).ok()?;
        self.containers.as_ref()?.why_not(&container).await
    }
}
