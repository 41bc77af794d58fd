//! Where the servers of a scenario are reached: in its container, or where one was started by hand.

use crate::docker::Reached;
use crate::model::scenario::{Scenario, Server, Transport};
use crate::scenario_file;

/// The value of a `${NAME}` in the description of a server or its pages: of the container where one is reached, else of the environment.
pub(crate) fn lookup(name: &str, reached: Option<&Reached>) -> Option<String> {
    match (name, reached) {
        (scenario_file::CONTAINER_URL, Some(reached)) => Some(reached.url()),
        (scenario_file::CONTAINER_PORT, Some(reached)) => Some(reached.port.to_string()),
        _ => std::env::var(name).ok(),
    }
}

/// Whether a server of a scenario runs in its container: its address says so, or leads to the fixed port.
pub(crate) fn holds(scenario: &Scenario, server: &Server) -> bool {
    let (Some(container), Transport::Http { url, .. }) = (&scenario.container, &server.transport)
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
