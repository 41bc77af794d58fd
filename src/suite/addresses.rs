//! Where the servers of a scenario are reached: in its container, where one was started by hand, or at the ports of those that are
//! started for a run.

use std::collections::BTreeMap;

use crate::docker::Reached;
use crate::model::scenario::{Scenario, Server, Transport};
use crate::scenario_file;

/// Where the servers of a run are reached, as far as no file says it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    pub(crate) container: Option<Reached>,
    /// The ports of the servers that are started for the run, by server.
    pub(crate) ports: BTreeMap<String, u16>,
}

impl Addresses {
    /// Those of a run that is not made, for whoever looks for secrets alone: an address is none.
    pub(crate) fn anywhere(scenario: &Scenario, servers: &[Server]) -> Self {
        let started = servers.iter().filter(|it| is_started(it));
        Self {
            container: as_it_stands(scenario),
            ports: started.map(|it| (it.name.clone(), 0)).collect(),
        }
    }

    /// The value of a `${NAME}` in what is said of a server or its pages: of the container or of the server's own port, else of the
    /// environment. Where no server is named, the port is that of the only one that is started.
    pub(crate) fn lookup(&self, name: &str, server: Option<&str>) -> Option<String> {
        match (name, &self.container) {
            (scenario_file::CONTAINER_URL, Some(reached)) => return Some(reached.url()),
            (scenario_file::CONTAINER_PORT, Some(reached)) => {
                return Some(reached.port.to_string());
            }
            _ => {}
        }
        let port = match server {
            _ if name != scenario_file::PORT => None,
            Some(server) => self.ports.get(server),
            None => self.ports.values().next().filter(|_| self.ports.len() == 1),
        };
        port.map(u16::to_string)
            .or_else(|| std::env::var(name).ok())
    }
}

/// Whether a server is started for each run.
pub(crate) fn is_started(server: &Server) -> bool {
    matches!(&server.transport, Transport::Http { start: Some(_), .. })
}

/// Whether a server of a scenario runs in its container: its address says so, or leads to the fixed port.
pub(crate) fn holds(scenario: &Scenario, server: &Server) -> bool {
    let Transport::Http {
        url, start: None, ..
    } = &server.transport
    else {
        return false;
    };
    let Some(container) = &scenario.container else {
        return false;
    };
    let fixed = |port: u16| {
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.split_once(':').is_some_and(|(host, of)| {
            matches!(host, "localhost" | "127.0.0.1") && of == port.to_string()
        })
    };
    scenario_file::mentions_container(url) || container.host_port.is_some_and(fixed)
}

/// Where the server of a scenario's container is expected when it was started by hand instead.
pub(crate) fn as_it_stands(scenario: &Scenario) -> Option<Reached> {
    let container = scenario.container.as_ref()?;
    Some(Reached {
        host: "127.0.0.1".to_owned(),
        port: container.host_port.unwrap_or(container.port),
    })
}
