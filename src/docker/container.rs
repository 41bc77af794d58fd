//! Containers: made as the scenario describes them, started, removed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::models::{
    ContainerCreateBody, EndpointSettings, HealthConfig, HealthStatusEnum, HostConfig,
    Mount as EngineMount, MountType, NetworkingConfig, PortBinding,
};
use bollard::query_parameters::{
    CreateContainerOptions, InspectContainerOptions, RemoveContainerOptions,
};

use crate::docker::engine::{Engine, EngineError, USUAL_SOCKET};
use crate::docker::failure;
use crate::docker::leftovers::Labels;
use crate::docker::resources::Found;
use crate::run::SetupError;
use crate::run::ready::{Asks, Waiting, pauses, prove};
use crate::scenario_file::servers::{Container, Mount, MountSource, Ready};

/// How often the engine checks the health of a fresh container while it starts, in nanoseconds; older engines ignore it.
const START_INTERVAL: i64 = 250_000_000;

/// A container that has been started.
#[derive(Debug, Clone)]
pub(super) struct Started {
    pub(super) id: String,
    pub(super) name: String,
    /// `None` for one that has ended at once, and for one that publishes no port.
    pub(super) reached: Option<Reached>,
}

/// Where a container's port is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub host: String,
    pub port: u16,
}

impl Reached {
    /// The address without a path: `http://127.0.0.1:49153`.
    pub fn url(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }
}

/// What a container is made from.
pub(super) struct Plan<'a> {
    pub(super) container: &'a Container,
    /// The scenario's configuration file.
    pub(super) config: Option<&'a Path>,
    pub(super) image: &'a Found,
    pub(super) name: &'a str,
    pub(super) labels: Labels,
}

impl Engine {
    /// Makes a container and starts it.
    ///
    /// # Errors
    ///
    /// When the engine refuses; what was made by then is removed with everything else that carries our labels.
    pub(super) async fn start(&self, plan: &Plan<'_>) -> Result<Started, SetupError> {
        let options = CreateContainerOptions {
            name: Some(plan.name.to_owned()),
            ..CreateContainerOptions::default()
        };
        let socket = if plan.container.docker_socket {
            Some(self.own_socket().await)
        } else {
            None
        };
        let body = self.body(plan, socket.as_deref());
        let created = self
            .ask(self.api.create_container(Some(options), body))
            .await
            .map_err(|error| failure::not_created(plan.container, &error))?;
        let started = self.ask(self.api.start_container(&created.id, None));
        if let Err(error) = started.await {
            let failed = failure::not_started(plan.container, &error);
            // It never ran, so nothing of it is worth keeping.
            let _ = self.remove(&created.id).await;
            return Err(failed);
        }
        self.started(&created.id, plan.container).await
    }

    /// A container that has been started, with where its port is published.
    pub(super) async fn started(
        &self,
        id: &str,
        container: &Container,
    ) -> Result<Started, SetupError> {
        let inspected = self
            .ask(
                self.api
                    .inspect_container(id, None::<InspectContainerOptions>),
            )
            .await
            .map_err(|error| {
                SetupError::new(format!("the container cannot be looked at: {error}"))
            })?;
        let running = inspected.state.as_ref().and_then(|it| it.running);
        let name = inspected.name.unwrap_or_default();
        let name = name.trim_start_matches('/').to_owned();
        let host = self.address.remote_host().unwrap_or("127.0.0.1").to_owned();
        let ports = inspected.network_settings.and_then(|it| it.ports);
        let published = |of: u16| {
            ports
                .and_then(|mut it| it.remove(&format!("{of}/tcp"))?)
                .and_then(|it| it.into_iter().find_map(|it| it.host_port?.parse().ok()))
        };
        let port = match container.port {
            None => None,
            Some(of) => match published(of) {
                None if container.network.as_deref() == Some("host") => Some(of),
                None if running == Some(true) => {
                    return Err(SetupError::new(format!(
                        "the engine has not published port {of} of the container: a `network` that publishes no ports cannot be used here"
                    )));
                }
                published => published,
            },
        };
        Ok(Started {
            id: id.to_owned(),
            name,
            reached: port.map(|port| Reached { host, port }),
        })
    }

    /// Removes a container with its anonymous volumes. That it is gone already, or being removed, is fine.
    pub(super) async fn remove(&self, id: &str) -> Result<(), EngineError> {
        let options = RemoveContainerOptions {
            force: true,
            v: true,
            link: false,
        };
        match self.ask(self.api.remove_container(id, Some(options))).await {
            Ok(()) | Err(EngineError::NotFound(_) | EngineError::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn body(&self, plan: &Plan<'_>, socket: Option<&Path>) -> ContainerCreateBody {
        let container = plan.container;
        let port = container.port.map(|it| format!("{it}/tcp"));
        let env = container.env.iter();
        ContainerCreateBody {
            image: Some(plan.image.stamp.id.clone()),
            env: Some(env.map(|(name, value)| format!("{name}={value}")).collect()),
            cmd: container.command.clone(),
            user: container.user.clone(),
            labels: Some(plan.labels.clone()),
            exposed_ports: Some(port.iter().cloned().collect()),
            networking_config: aliased(container),
            healthcheck: plan.image.has_health_check.then(|| HealthConfig {
                start_interval: Some(START_INTERVAL),
                ..HealthConfig::default()
            }),
            host_config: Some(self.host_config(plan, port, socket)),
            ..ContainerCreateBody::default()
        }
    }

    fn host_config(
        &self,
        plan: &Plan<'_>,
        port: Option<String>,
        socket: Option<&Path>,
    ) -> HostConfig {
        let container = plan.container;
        // On another machine, ports must be published on all addresses to be reachable from here.
        let listen = match self.address.remote_host() {
            Some(_) => "0.0.0.0",
            None => "127.0.0.1",
        };
        let binding = PortBinding {
            host_ip: Some(listen.to_owned()),
            host_port: Some(container.host_port.unwrap_or(0).to_string()),
        };
        let mut mounts: Vec<EngineMount> = container.mounts.iter().map(mount).collect();
        if let (Some(target), Some(config)) = (&container.config_target, plan.config) {
            mounts.push(bind(config, target, true));
        }
        if let Some(socket) = socket {
            mounts.push(bind(socket, USUAL_SOCKET, false));
        }
        HostConfig {
            port_bindings: port.map(|it| HashMap::from([(it, Some(vec![binding]))])),
            mounts: Some(mounts),
            network_mode: container.network.clone(),
            memory: container.memory.and_then(|it| i64::try_from(it).ok()),
            // By default, a container may use as much swap again as its memory limit.
            memory_swap: container.memory.and_then(|it| i64::try_from(it).ok()),
            nano_cpus: container.cpus.map(nano),
            pids_limit: container.pids.map(i64::from),
            readonly_rootfs: Some(container.read_only),
            ..HostConfig::default()
        }
    }

    /// The engine's socket as the engine itself sees it.
    async fn own_socket(&self) -> PathBuf {
        // An engine that does not tell is taken for one elsewhere.
        let info = self.ask(self.api.info()).await.unwrap_or_default();
        let ours = rustix::system::uname();
        let is_here = info.name.as_deref() == ours.nodename().to_str().ok()
            && info.kernel_version.as_deref() == ours.release().to_str().ok();
        self.address.socket_of_engine(is_here)
    }
}

/// The name by which others on its network reach a container.
fn aliased(container: &Container) -> Option<NetworkingConfig> {
    let (network, name) = (container.network.as_ref()?, container.name.as_ref()?);
    let endpoint = EndpointSettings {
        aliases: Some(vec![name.clone()]),
        ..EndpointSettings::default()
    };
    Some(NetworkingConfig {
        endpoints_config: Some(HashMap::from([(network.clone(), endpoint)])),
    })
}

fn mount(mount: &Mount) -> EngineMount {
    match &mount.source {
        MountSource::Path(path) => bind(path, &mount.target, mount.read_only),
        MountSource::Volume(name) => EngineMount {
            source: Some(name.clone()),
            ..mounted(MountType::VOLUME, &mount.target, mount.read_only)
        },
        MountSource::Memory => mounted(MountType::TMPFS, &mount.target, mount.read_only),
    }
}

fn bind(source: &Path, target: &str, read_only: bool) -> EngineMount {
    let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
    EngineMount {
        source: Some(source.to_string_lossy().into_owned()),
        ..mounted(MountType::BIND, target, read_only)
    }
}

fn mounted(kind: MountType, target: &str, read_only: bool) -> EngineMount {
    EngineMount {
        target: Some(target.to_owned()),
        typ: Some(kind),
        read_only: Some(read_only),
        ..EngineMount::default()
    }
}

/// Processors in the engine's unit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no machine has so many processors"
)]
fn nano(cpus: f64) -> i64 {
    (cpus * 1e9).round() as i64
}

/// How often to check whether the container still runs, and whether it is healthy.
const WATCH: Duration = Duration::from_millis(200);

/// Knows how the servers in a container are asked.
pub trait Probe: Send + Sync {
    /// Whether there are servers in the container that can be asked.
    fn is_asked(&self) -> bool;

    /// Asks as a client would, in sessions of its own.
    fn asks<'a>(&'a self, reached: Option<&'a Reached>) -> Box<dyn Asks + 'a>;
}

/// Waits until the container has proven that it is ready: healthy where its image declares a health check, and then, where they are
/// asked, by what its servers list and answer.
///
/// # Errors
///
/// When it has ended, is unhealthy, or `ready.timeout` has passed; with its state, its last lines and what was waited for.
pub(super) async fn wait(
    engine: &Engine,
    id: &str,
    (ready, has_health_check): (&Ready, bool),
    (probe, reached): (&dyn Probe, Option<&Reached>),
) -> Result<(), SetupError> {
    let asks = probe.asks(reached);
    let waiting = Waiting::new(ready, asks.as_ref());
    let proof = async {
        if has_health_check {
            healthy(engine, id, &waiting).await?;
        }
        if !probe.is_asked() {
            return still_runs(engine, id).await;
        }
        prove(ready, &waiting).await
    };
    tokio::select! {
        proof = proof => proof,
        () = end(engine, id) => {
            let mut ended = failure::ended(engine, id).await;
            ended.message = format!("{}, while waiting for {}", ended.message, waiting.what());
            Err(ended)
        }
        () = tokio::time::sleep_until(waiting.deadline()) => {
            if waiting.is_for_renamed() {
                return still_runs(engine, id).await;
            }
            let message = format!(
                "the container is not ready after {:?}: still waiting for {} (`ready.timeout` changes how long)",
                ready.timeout,
                waiting.what()
            );
            let mut not_ready = failure::not_ready(engine, id, message).await;
            not_ready.details = waiting.observed().into_iter().chain(not_ready.details).collect();
            Err(not_ready)
        }
    }
}

/// Whether a container runs of which nobody asks anything.
async fn still_runs(engine: &Engine, id: &str) -> Result<(), SetupError> {
    failure::ended_by_now(engine, id).await?.map_or(Ok(()), Err)
}

/// Waits for the container's end.
async fn end(engine: &Engine, id: &str) {
    loop {
        let state = failure::state(engine, id).await.ok().flatten();
        if state.is_none_or(|it| it.running != Some(true)) {
            return;
        }
        tokio::time::sleep(WATCH).await;
    }
}

async fn healthy(engine: &Engine, id: &str, waiting: &Waiting<'_>) -> Result<(), SetupError> {
    waiting.for_("its health check");
    let mut pauses = pauses(None);
    while let Ok(Some(state)) = failure::state(engine, id).await {
        match state.health.as_ref().and_then(|it| it.status) {
            Some(HealthStatusEnum::STARTING) => {}
            Some(HealthStatusEnum::UNHEALTHY) => {
                let words = failure::health_words(&state).unwrap_or_default();
                let message = format!("the container is {words}");
                return Err(failure::not_ready(engine, id, message).await);
            }
            _ => break,
        }
        if let Some(words) = failure::health_words(&state) {
            waiting.for_(&format!("its health check ({words})"));
        }
        tokio::time::sleep(pauses.next().unwrap_or(WATCH)).await;
    }
    Ok(())
}
