//! What must fit together between the sections of a scenario.

use std::collections::{HashMap, HashSet};

use crate::model::scenario::{Server, Transport};

use crate::scenario_file::decode::At;
use crate::scenario_file::decode::template;
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::file::scoring::ScoringSection;
use crate::scenario_file::servers::server::ServerKind;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::source::{Findings, Mark};
use crate::text::nearest::did_you_mean;

impl Document {
    /// Every mock server has its interactions, and the reverse.
    pub(in crate::scenario_file) fn check_mocks(&self, findings: &mut Findings) {
        let wrong = is_wrong(self.servers.as_ref()) || is_wrong(self.upstreams.as_ref());
        if wrong || is_wrong(self.mcp_interactions.as_ref()) {
            return;
        }
        let servers = given(self.servers.as_ref()).map_or(&[][..], |it| &it.0);
        let servers = servers
            .iter()
            .map(|(name, it)| (name, matches!(it.kind, ServerKind::Mock(_))));
        let upstreams = self.upstream_sections().iter();
        let upstreams = upstreams.map(|(name, it)| (name, it.is_mock()));
        let servers: Vec<(&At<String>, bool)> = servers.chain(upstreams).collect();
        let interactions = given(self.mcp_interactions.as_ref()).map_or(&[][..], |it| &it.0);
        let answered: HashSet<&str> = interactions.iter().map(|(it, _)| it.as_str()).collect();
        let mocked: HashMap<&str, bool> = servers
            .iter()
            .map(|(name, is_mock)| (name.as_str(), *is_mock))
            .collect();
        for (name, is_mock) in servers {
            if is_mock && !answered.contains(name.as_str()) {
                let message = format!("`mcp_interactions` says nothing of {}", quoted(name));
                let hint = hint(name, name.at, answered.iter().copied(), findings);
                findings.error(name.at, message, hint);
            }
        }
        for (name, interaction) in interactions {
            interaction.check(findings);
            match mocked.get(name.as_str()) {
                Some(true) => {}
                Some(false) => {
                    let message = format!("the server {} is not a mock", quoted(name));
                    let hint = "only servers of `type: mock` are answered from here";
                    findings.error(name.at, message, Some(hint));
                }
                None => {
                    let message = format!("no server is named {}", quoted(name));
                    let hint = hint(name, name.at, mocked.keys().copied(), findings)
                        .unwrap_or_else(|| {
                            format!("add `{}: {{ type: mock }}` under `servers`", name.value)
                        });
                    findings.error(name.at, message, Some(hint));
                }
            }
        }
    }

    /// A container is asked through its address, and its address is that of a container.
    pub(in crate::scenario_file) fn check_container(
        &self,
        servers: &[Server],
        has_config: bool,
        findings: &mut Findings,
    ) {
        let wrong = is_wrong(self.docker.as_ref()) || is_wrong(self.containers.as_ref());
        if wrong || is_wrong(self.servers.as_ref()) {
            return;
        }
        let containers = self.container_sections();
        let reached = |it: &Server| match &it.transport {
            Transport::Http {
                url, start: None, ..
            } => containers.iter().any(|(name, container)| {
                template::mentions_container(url, *name) || container.host_port.is_some()
            }),
            Transport::Http { .. }
            | Transport::Stdio(_)
            | Transport::Mock
            | Transport::Recorded { .. } => false,
        };
        let Some((name, first)) = containers.first() else {
            return;
        };
        if !servers.is_empty() && !servers.iter().any(reached) {
            let message = match name {
                None => "no server of the scenario is reached through its container",
                Some(_) => "no server of the scenario is reached through one of its containers",
            };
            let hint = format!("give one `url: \"${{{}}}/mcp\"`", template::url_name(*name));
            findings.error(first.at, message, Some(hint));
        }
        for (name, container) in &containers {
            container.check_among(*name, findings);
            if let Some(target) = container.config_target.as_ref().filter(|_| !has_config)
                && self.config_file().is_none()
            {
                let message = "nothing is mounted here: the scenario has no `config_file`";
                findings.warning(target.at, message, None::<&str>);
            }
        }
        if let (Some(docker), Some(_)) =
            (given(self.docker.as_ref()), given(self.containers.as_ref()))
        {
            let message = "`docker` and `containers` exclude each other";
            let hint = "describe all of them under `containers`, or the only one under `docker`";
            findings.error(docker.at, message, Some(hint));
        }
    }

    /// Tools are addressed by servers that are there. Without any server, they come from elsewhere: from `--mcp-config`.
    pub(in crate::scenario_file) fn check_tools(
        &self,
        servers: &[Server],
        findings: &mut Findings,
    ) {
        if servers.is_empty() {
            return;
        }
        let names: HashSet<&str> = servers.iter().map(|it| it.name.as_str()).collect();
        let expected = given(self.expected_trajectory.as_ref());
        let expected = expected.into_iter().flat_map(|it| it.iter());
        let agent = given(self.agent.as_ref()).and_then(|it| it.all.calls.as_ref());
        let calls = agent.into_iter().flat_map(|it| &it.value);
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let scoring = given(self.scoring.as_ref()).into_iter();
        let tools = expected
            .map(|it| (it.tool.at, it.tool.0.as_str()))
            .chain(calls.map(|it| (it.tool.at, it.tool.0.as_str())))
            .chain(criteria.filter_map(|it| it.tool()))
            .chain(
                self.evaluator_sections()
                    .into_iter()
                    .flat_map(|(_, it)| it.tools()),
            )
            .chain(scoring.flat_map(ScoringSection::tools));
        for (at, tool) in tools {
            let Some(rest) = tool.strip_prefix("mcp__") else {
                continue;
            };
            // Names of servers may hold `__` themselves, and end with `_`.
            let mut starts = rest.char_indices().map(|(end, _)| rest.split_at(end));
            if starts.any(|(name, tail)| tail.starts_with("__") && names.contains(name)) {
                continue;
            }
            let server = rest.split("__").next().unwrap_or(rest);
            let message = format!("no server is named {}", quoted(server));
            let hint = hint(server, at, names.iter().copied(), findings);
            findings.warning(at, message, hint);
        }
    }
}

/// The closest of many names, looked for only while anybody will read of it.
fn hint<'a>(
    name: &str,
    at: Mark,
    known: impl Iterator<Item = &'a str>,
    findings: &Findings,
) -> Option<String> {
    if findings.is_full(at) {
        return None;
    }
    // In a fixed order, so that of two names equally close it is always the same one.
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    did_you_mean(name, known)
}
