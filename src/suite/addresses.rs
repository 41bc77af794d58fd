//! The addresses of the servers of a scenario: in its containers, where they were started by hand, or at the ports of those that are
//! started for a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::docker::Reached;
use crate::run::SetupError;
use crate::scenario_file::servers::{Container, Reset, Server, Transport};
use crate::scenario_file::{self, MissingVariables, Scenario};

/// Where containers are reached, in the order they were started, each by its name; without one for the only container.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Vec<(Option<String>, Reached)>);

impl Places {
    /// These, and another one that was started last.
    pub(crate) fn and(&self, name: Option<&String>, reached: &Reached) -> Self {
        let mut places = self.clone();
        places.0.push((name.cloned(), reached.clone()));
        places
    }

    /// Where the container is reached that was started last.
    pub(crate) fn last(&self) -> Option<&Reached> {
        self.0.last().map(|(_, reached)| reached)
    }

    /// The value of a `${NAME}` that a container gives.
    fn lookup(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|(container, reached)| {
            if name == scenario_file::url_name(container.as_deref()) {
                Some(reached.url())
            } else {
                let is_port = name == scenario_file::port_name(container.as_deref());
                is_port.then(|| reached.port.to_string())
            }
        })
    }
}

/// Where the servers of a run are reached, as far as no file says it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    pub(crate) containers: Places,
    /// The ports of the servers that are started for the run, by server.
    pub(crate) ports: BTreeMap<String, u16>,
    /// Where the servers behind those are reached, by server.
    pub(crate) upstreams: BTreeMap<String, String>,
    /// The scenario's configuration file.
    pub(crate) config_file: Option<PathBuf>,
}

impl Addresses {
    /// Those of a run that is not made, for whoever looks for secrets alone: an address is none.
    pub(crate) fn anywhere(scenario: &Scenario, servers: &[Server]) -> Self {
        let started = servers.iter().filter(|it| is_started(it));
        Self {
            containers: as_they_stand(scenario),
            ports: started.map(|it| (it.name.clone(), 0)).collect(),
            ..Self::without_listeners(scenario)
        }
    }

    /// The addresses of a scenario behind whose servers nobody listens.
    pub(crate) fn without_listeners(scenario: &Scenario) -> Self {
        let upstreams = scenario.upstreams.iter();
        Self {
            upstreams: upstreams
                .map(|it| (it.name.clone(), String::new()))
                .collect(),
            config_file: scenario.config_file.clone(),
            ..Self::default()
        }
    }

    /// The value of a `${NAME}` in what is said of a server or its pages: of a container or of the server's own port, else of the
    /// environment. Where no server is named, the port is that of the only one that is started.
    pub(crate) fn lookup(&self, name: &str, server: Option<&str>) -> Option<String> {
        let port = match server {
            _ if name != scenario_file::PORT => None,
            Some(server) => self.ports.get(server),
            None => self.ports.values().next().filter(|_| self.ports.len() == 1),
        };
        (self.containers.lookup(name))
            .or_else(|| port.map(u16::to_string))
            .or_else(|| self.behind_lookup(name))
            .or_else(|| std::env::var(name).ok())
    }

    fn behind_lookup(&self, name: &str) -> Option<String> {
        let mut upstreams = self.upstreams.iter();
        let upstream = upstreams.find(|(it, _)| name == scenario_file::upstream_url_name(it));
        let upstream = upstream.map(|(_, url)| url.clone());
        let config = self
            .config_file
            .as_deref()
            .filter(|_| name == scenario_file::CONFIG_FILE);
        let config = config.map(|it| std::path::absolute(it).unwrap_or_else(|_| it.to_owned()));
        upstream.or_else(|| config.map(|it| it.to_string_lossy().into_owned()))
    }
}

/// Whether a server is started for each run.
pub(crate) fn is_started(server: &Server) -> bool {
    matches!(&server.transport, Transport::Http { start: Some(_), .. })
}

/// Whether a server of a scenario runs in one of its containers.
pub(crate) fn holds(scenario: &Scenario, server: &Server) -> bool {
    holder(scenario, server).is_some()
}

/// The container that a server of a scenario runs in.
pub(crate) fn holder<'a>(scenario: &'a Scenario, server: &Server) -> Option<&'a Container> {
    let mut containers = scenario.containers.iter();
    containers.find(|it| is_within(it, server))
}

/// Whether a server runs in a container that is replaced before every run.
pub(crate) fn is_fresh(scenario: &Scenario, server: &Server, containers: bool) -> bool {
    let holder = holder(scenario, server);
    containers && holder.is_some_and(|it| it.reset == Reset::Scenario)
}

/// Whether a server runs in a container: its address says so, or leads to the fixed port.
pub(crate) fn is_within(container: &Container, server: &Server) -> bool {
    let Transport::Http {
        url, start: None, ..
    } = &server.transport
    else {
        return false;
    };
    let fixed = |port: u16| {
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.split_once(':').is_some_and(|(host, of)| {
            matches!(host, "localhost" | "127.0.0.1") && of == port.to_string()
        })
    };
    scenario_file::mentions_container(url, container.name.as_deref())
        || container.host_port.is_some_and(fixed)
}

/// Where the servers of a scenario's containers are expected when they were started by hand instead.
pub(crate) fn as_they_stand(scenario: &Scenario) -> Places {
    let containers = scenario.containers.iter();
    let places = containers.filter_map(|it| {
        let reached = Reached {
            host: "127.0.0.1".to_owned(),
            port: it.host_port.or(it.port)?,
        };
        Some((it.name.clone(), reached))
    });
    Places(places.collect())
}

/// A run cannot begin while something is missing that its scenario refers to.
impl From<MissingVariables> for SetupError {
    fn from(missing: MissingVariables) -> Self {
        Self::new(missing.to_string())
    }
}
