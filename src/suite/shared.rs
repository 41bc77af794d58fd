//! What a run uses that another run may be using at the same time.

use std::collections::BTreeSet;

use super::addresses;
use super::servers::give_servers;
use super::settings::Settings;
use super::suite_context::SuiteContext;
use crate::model::container::Reset;
use crate::model::scenario::{Scenario, Server, Transport};
use crate::scenario_file;

/// What a run of a scenario shares with others, in words that are the same for the same thing: a server that outlives its runs, a port of this
/// machine that is always the same, a container that is not its own, and whatever its commands before and after reset.
pub fn shared(scenario: &Scenario, settings: &Settings) -> BTreeSet<String> {
    things(scenario, (&settings.servers, settings.containers))
}

/// Whether a run of a scenario uses something that another run may be using at the same time.
pub(super) fn uses_what_outlives(scenario: &Scenario, context: &SuiteContext) -> bool {
    !things(scenario, (&context.servers, context.containers.is_some())).is_empty()
}

fn things(scenario: &Scenario, (given, containers): (&[Server], bool)) -> BTreeSet<String> {
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
