//! The containers that scenarios run with: what they are asked, and what becomes of them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use crate::docker::{Probe, Reached, Session, Slot};
use crate::model::container::Container;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Ending, FailureKind, Outcome, Trajectory};
use crate::redact::Redactor;
use crate::run::ready::Asks;
use crate::run::{Observer, SetupError};
use crate::scenario_file;
use crate::suite::ready::{self, Asker, Asking};
use crate::suite::secrets::secret_values;
use crate::suite::suite_context::SuiteContext;

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

    /// Turns a run whose container has ended meanwhile into one that is no basis for a verdict, whatever was made of its silence.
    pub(crate) async fn examine(&self, trajectory: &mut Trajectory, redactor: &Redactor) {
        let Some(slot) = self
            .0
            .get()
            .filter(|_| trajectory.ending != Ending::Interrupted)
        else {
            return;
        };
        let found = match slot.post_mortem().await {
            Ok(None) => return,
            Ok(Some(mut found)) => {
                found.message.push_str(" during the run");
                found
            }
            // With an answer to every call, it must have been there.
            Err(_) if trajectory.ending.is_complete() && all_answered(trajectory) => return,
            Err(unknown) => unknown,
        };
        let before = match &trajectory.ending {
            Ending::Error { message, details } => {
                let details = details.iter().cloned();
                std::iter::once(message.clone()).chain(details).collect()
            }
            Ending::Blocked { message }
            | Ending::LimitReached { message }
            | Ending::TimedOut { message } => vec![message.clone()],
            Ending::Completed | Ending::Interrupted => Vec::new(),
        };
        let clean = |text: &String| redactor.text(text).into_owned();
        trajectory.ending = Ending::Error {
            message: clean(&found.message),
            details: before
                .into_iter()
                .chain(found.details.iter().map(clean))
                .collect(),
        };
    }

    /// What the container has said since the run began, without secrets.
    pub(crate) async fn log(&self, begun: Timestamp, redactor: &Redactor) -> Option<String> {
        let log = self.0.get()?.log(begun).await?;
        Some(redactor.text(&log).into_owned())
    }

    /// The scenario is done; somebody may want to `look` at the container of one that has not passed. Returns what a reader should know.
    pub(crate) async fn release(&self, look: bool) -> Option<String> {
        self.0.get()?.release(look).await
    }
}

/// Whether every call reached a server that said something.
fn all_answered(trajectory: &Trajectory) -> bool {
    trajectory.calls().all(|it| match &it.outcome {
        Outcome::Answer(_) => true,
        Outcome::Failure(failure) => match failure.kind {
            FailureKind::Rpc | FailureKind::InvalidResponse | FailureKind::NotSent => true,
            FailureKind::Timeout | FailureKind::Disconnected | FailureKind::Transport => false,
        },
    })
}

/// Asks the servers in a scenario's container.
pub(crate) struct ServersProbe<'a> {
    pub(crate) context: &'a SuiteContext,
    pub(crate) scenario: &'a Scenario,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) redactor: &'a Redactor,
}

impl Probe for ServersProbe<'_> {
    fn asks<'a>(&'a self, reached: &'a Reached) -> Box<dyn Asks + 'a> {
        let targets = self.context.targets_inside(self.scenario, reached);
        Box::new(Asker {
            asking: Asking {
                scenario: self.scenario,
                reached: Some(reached),
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
    secrets: &mut Vec<String>,
) -> Result<Container, SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (container, variables) = scenario_file::expand_container(container, lookup)
        .map_err(|missing| SetupError::new(missing.to_string()))?;
    let named = variables.iter().filter(|it| Redactor::is_secret_name(it));
    secrets.extend(named.filter_map(|name| std::env::var(name).ok()));
    secrets.extend(secret_values(&container.env));
    // Where it will be reached is not known yet, and no secret.
    let anywhere = Reached {
        host: "127.0.0.1".to_owned(),
        port: container.port,
    };
    ready::secrets(&container.ready, Some(&anywhere), secrets)?;
    Ok(container)
}

impl SuiteContext {
    /// Why a scenario that can do without its container's image is not run; `None` when it is.
    pub(crate) async fn why_not(&self, scenario: &Scenario) -> Option<String> {
        let container = scenario
            .container
            .as_ref()
            .filter(|it| it.optional.is_some())?;
        let container = expand(container, &mut Vec::new()).ok()?;
        self.containers.as_ref()?.why_not(&container).await
    }
}
