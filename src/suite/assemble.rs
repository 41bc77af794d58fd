//! Brings together who asks and who answers in a run: containers that are ready, servers with their addresses and headers, the agent.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::agent::Listener;
use crate::discovery::search;
use crate::docker::Probe as _;
use crate::mcp::{GatewayPlace, Target};
use crate::model::placeholder::placeholders;
use crate::model::{ImageStamp, Redacted, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::{self, Observer, Progress, SetupError};
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::servers::Protocol;
use crate::suite::addresses::{self, Addresses, Places};
use crate::suite::agents::{self, Reached};
use crate::suite::behind::{self, Behind};
use crate::suite::containers::{self, ContainerSlot, ServersProbe};
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::measuring::{Measuring, place_of};
use crate::suite::ready::{self, Proof};
use crate::suite::started::{Port, Program};
use crate::suite::{SuiteContext, recorded};

/// Who makes the calls of a run.
pub(super) enum Who<'a> {
    /// The scenario's agent, with the baseline to play where it replays one.
    Scenario(Option<&'a Arc<Redacted<Trajectory>>>),
    /// An agent of ours that measures something.
    Measures(&'a Measuring),
    /// Somebody else, whom we listen to at this port or a free one.
    Else(Listener, Option<u16>),
}

/// Containers that are ready to be asked.
#[derive(Default)]
pub(super) struct Standing {
    pub(super) places: Places,
    pub(super) image: Option<ImageStamp>,
}

/// Where containers stand, what listens behind their servers, and what was accepted of these.
type Place<'a> = (
    &'a ContainerSlot,
    Option<&'a Behind>,
    Option<&'a Arc<Redacted<Trajectory>>>,
);

/// Who asks and who answers in a run that can begin.
pub(super) struct Assembled {
    pub(super) agent: Box<dyn run::Agent>,
    pub(super) targets: Vec<Target>,
    /// What must hold of the servers first.
    pub(super) proofs: Vec<Proof>,
    pub(super) addresses: Addresses,
    /// The servers that are started for the run.
    pub(super) programs: Vec<Program>,
    pub(super) way: Way,
}

/// How calls come to the servers.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// From us.
    Direct,
    /// Through a gateway.
    Gateway(GatewayPlace),
}

/// What takes secrets out of a run.
pub(super) fn redactor(secrets: &Secrets, scenario: &Scenario) -> Redactor {
    let redactor = Redactor::new(secrets, &scenario.redaction);
    match recorded::recording(scenario) {
        None => redactor,
        Some(recording) => redactor.of_recorded_servers(&recording),
    }
}

impl SuiteContext {
    /// Brings together who asks and who answers; the secrets that they are given are added to `secrets`.
    pub(super) fn assemble(
        &self,
        scenario: &Scenario,
        (who, reachable): (Who<'_>, Reached),
        (standing, behind, printed): (Option<Standing>, Option<&Behind>, &PrintedHeaders),
        secrets: &mut Secrets,
    ) -> Result<Assembled, SetupError> {
        let containers = standing.map(|it| it.places);
        let servers = self.servers(scenario).into_iter();
        let ports = servers.filter(addresses::is_started);
        let ports = ports.map(|it| Ok((it.name, Port::free()?)));
        let ports = ports.collect::<Result<Vec<_>, SetupError>>()?;
        let numbers = ports
            .iter()
            .map(|(name, port)| (name.clone(), port.number()));
        let addresses = Addresses {
            containers: containers.unwrap_or_else(|| addresses::as_they_stand(scenario)),
            ports: numbers.collect(),
            ..behind::addresses(scenario, behind)
        };
        let proofs = ready::proofs(self, scenario);
        for proof in &proofs {
            proof.secrets(&addresses, secrets)?;
        }
        // A search over HTTP, or a scanner, needs no server.
        let needs_none = scenario.measurement.is_some() && self.servers(scenario).is_empty();
        let mut targets = if needs_none {
            Vec::new()
        } else {
            self.targets(scenario, &addresses, printed, secrets)?
        };
        if let Who::Scenario(Some(baseline)) = &who {
            for server in &baseline.catalogue.servers {
                let same = targets.iter_mut().find(|it| it.name == server.server);
                let Some(target) = same else { continue };
                let before = server.protocol_version.as_deref();
                let before = before.map(Protocol::of_version);
                // A program chooses by itself, and has its reasons.
                let before = before.filter(|_| scenario.agent.command().is_none());
                target.protocol = target.protocol.or(before);
                if !server.client.can_nothing() {
                    let mut client = server.client.clone();
                    // A secret that is not known any more cannot be given again.
                    client.answers.retain(|it| {
                        let said = it.result.as_ref().map(Value::to_string);
                        placeholders(&said.unwrap_or_default()).next().is_none()
                    });
                    target.observed.answers_are_of(&client);
                }
            }
        }
        if let Some(behind) = behind {
            behind.sent.are_those_of(&targets);
        }
        let programs = if needs_none {
            Vec::new()
        } else {
            self.programs(&self.servers(scenario), &addresses, ports)?
        };
        let way = match &who {
            Who::Scenario(_) if scenario.agent.command().is_none() => Way::Direct,
            Who::Scenario(_) => Way::Gateway(GatewayPlace::new(None)?),
            Who::Measures(_) => Way::Direct,
            Who::Else(_, port) => Way::Gateway(GatewayPlace::new(*port)?),
        };
        let of_agent = redactor(secrets, scenario);
        let mut known = secrets.clone();
        known.of_scenario(&scenario.redaction);
        let agent: Box<dyn run::Agent> = match who {
            Who::Scenario(baseline) => agents::agent(
                scenario,
                reachable,
                baseline,
                of_agent,
                known,
                self.program.as_deref(),
            )?,
            Who::Measures(measuring) => {
                let place = match &scenario.measurement {
                    Some(Measurement::Retrieval(it)) => {
                        place_of(it, &targets, &addresses, secrets)?
                    }
                    _ => search::Place::default(),
                };
                measuring.agent(place, scenario)
            }
            Who::Else(listener, _) => Box::new(listener),
        };
        Ok(Assembled {
            agent,
            targets,
            proofs,
            addresses,
            programs,
            way,
        })
    }

    /// The same as [`Self::stand`], with the headers of its servers printed before, or after it where they depend on
    /// where its containers are reached.
    pub(super) async fn stand_with_headers(
        &self,
        scenario: &Scenario,
        place: Place<'_>,
        observer: &dyn Observer,
        (printed, secrets): (&mut PrintedHeaders, &mut Secrets),
    ) -> Result<Option<Standing>, SetupError> {
        self.print_headers(scenario, None, printed, secrets).await?;
        let standing = self.stand(scenario, place, observer, printed, secrets);
        let standing = Box::pin(standing).await?;
        if !scenario.containers.is_empty() {
            let places = standing.as_ref().map(|it| it.places.clone());
            let places = places.unwrap_or_else(|| addresses::as_they_stand(scenario));
            self.print_headers(scenario, Some(&places), printed, secrets)
                .await?;
        }
        Ok(standing)
    }

    /// Puts containers that are ready in their place, each before the next; `None` when the scenario has none, or none is to be used.
    async fn stand(
        &self,
        scenario: &Scenario,
        (place, behind, accepted): Place<'_>,
        observer: &dyn Observer,
        printed: &PrintedHeaders,
        secrets: &mut Secrets,
    ) -> Result<Option<Standing>, SetupError> {
        let Some(session) = (self.containers.as_ref()).filter(|_| !scenario.containers.is_empty())
        else {
            return Ok(None);
        };
        let tell = |doing: &str| observer.progress(Progress::Preparing { doing });
        let behind = behind::addresses(scenario, behind);
        let mut containers = Vec::new();
        for container in &scenario.containers {
            let mut container = containers::expand(container, &behind, secrets)?;
            let image = self.prepare_image(session, &container.image, scenario, secrets, observer);
            container.image = Box::pin(image).await?;
            containers.push(container);
        }
        let config = behind.config_file.as_ref();
        let slots = place.slots(session, containers, &scenario.id, config);
        let mut known = secrets.clone();
        // What cannot be resolved holds no secret.
        let addresses = Addresses::anywhere(scenario, &self.servers(scenario));
        let _ = self.targets(scenario, &addresses, printed, &mut known);
        let redactor = Redactor::new(&known, &scenario.redaction);
        let start = async {
            let mut standing = Standing::default();
            let slots = slots.all().await?.iter();
            for (container, (name, slot)) in scenario.containers.iter().zip(slots) {
                let probe = ServersProbe {
                    container,
                    before: &standing.places,
                    context: self,
                    scenario,
                    observer,
                    redactor: &redactor,
                    addresses: OnceLock::new(),
                    printed,
                    accepted,
                };
                let ready = slot.reset(&probe, &tell).await;
                let ready = ready.map_err(|it| containers::of(name.as_ref(), it))?;
                // Of several, the image of the first that holds a server is named.
                if standing.image.is_none() && probe.is_asked() {
                    standing.image = Some(ready.image);
                }
                if let Some(reached) = &ready.reached {
                    standing.places = standing.places.and(name.as_ref(), reached);
                }
            }
            Ok(standing)
        };
        // The run notices for itself that it is interrupted.
        let standing = Box::pin(self.interrupt.run_until_cancelled(start));
        standing.await.transpose()
    }
}
