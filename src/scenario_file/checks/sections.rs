//! Checks that the sections of a scenario fit together.

use std::collections::{HashMap, HashSet};

use crate::scenario_file::agent::Agent;
use crate::scenario_file::decode::{At, template};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::file::scoring::ScoringSection;
use crate::scenario_file::servers::server::ServerKind;
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::yaml::{Findings, Mark, quoted};
use crate::text::nearest::{did_you_mean, nearest};

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

impl Document {
    /// Tools of mocks are those that the file declares: it knows them all.
    pub(in crate::scenario_file) fn check_mocked_tools(
        &self,
        servers: &[Server],
        findings: &mut Findings,
    ) {
        if is_wrong(self.mcp_interactions.as_ref()) {
            return;
        }
        let interactions = given(self.mcp_interactions.as_ref());
        let offered: Vec<(&str, Vec<&str>)> = interactions
            .into_iter()
            .flat_map(|it| &it.0)
            .filter(|(name, _)| {
                let server = servers.iter().find(|it| it.name == name.value);
                server.is_some_and(|it| it.transport == Transport::Mock)
            })
            .map(|(name, it)| (name.as_str(), it.tool_names().collect()))
            .collect();
        let agent = given(self.agent.as_ref());
        let mocks = Mocks {
            offered: &offered,
            all: offered.len() == servers.len(),
            agent_has_own: agent.is_some_and(|it| it.value.kind.may_have_own_tools()),
        };
        let expected = given(self.expected_trajectory.as_ref());
        let expected = expected.into_iter().flat_map(|it| it.iter());
        // A tool that is not there may be what a call is meant to fail for.
        let expected = expected
            .filter(|it| it.is_error != Some(true))
            .map(|it| &it.tool);
        let script = agent.and_then(|it| it.all.calls.as_ref());
        let calls = script.into_iter().flat_map(|it| &it.value);
        let calls = calls
            .filter(|it| it.is_error != Some(true))
            .map(|it| &it.tool);
        for tool in expected.chain(calls) {
            mocks.check(tool.at, &tool.0, true, findings);
        }
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let scoring = given(self.scoring.as_ref()).into_iter();
        let named = criteria.filter_map(|it| it.tool());
        let evaluators = self.evaluator_sections().into_iter();
        let named = named.chain(evaluators.flat_map(|(_, it)| it.tools()));
        for (at, tool) in named.chain(scoring.flat_map(ScoringSection::tools)) {
            mocks.check(at, tool, false, findings);
        }
    }

    /// A scenario that expects nothing passes whatever happens.
    pub(in crate::scenario_file) fn check_expectations(
        &self,
        agent: &Agent,
        start: Mark,
        findings: &mut Findings,
    ) {
        let is_unclear = is_wrong(self.expected_trajectory.as_ref())
            || is_wrong(self.success_criteria.as_ref())
            || is_wrong(self.evaluators.as_ref());
        // What a replay plays is in its baseline, and is what is expected.
        if is_unclear || !findings.thorough || matches!(agent, Agent::Replay { .. }) {
            return;
        }
        let expected = given(self.expected_trajectory.as_ref());
        let calls = expected.filter(|_| agent.decides());
        for call in calls.into_iter().flat_map(|it| it.iter()) {
            if call.args.is_none() {
                let message = format!("any arguments of {} are accepted", quoted(&call.tool.0));
                let hint = "`args: {}` expects none";
                findings.warning(call.tool.at, &message, Some(hint));
            }
        }
        // A script without calls holds the list of tools.
        let expects_calls = if agent.decides() {
            expected.is_some_and(|it| !it.is_empty() || it.forbid_calls())
        } else {
            expected.is_some()
        };
        let criteria = given(self.success_criteria.as_ref());
        let criteria: Vec<_> = criteria.into_iter().flatten().collect();
        let evaluators = self.evaluator_sections();
        // A judge gates where nothing else does.
        let mut gating = evaluators.iter();
        let judged = gating.any(|(_, it)| it.gates() || it.leaves_role_open());
        // Of prose a configured judge thinks something, and where nothing else judges, that decides.
        let judged = judged || (self.judge.is_some() && !criteria.is_empty());
        if expects_calls || judged || criteria.iter().any(|it| it.is_checked()) {
            return;
        }
        let message = match (agent.decides(), criteria.is_empty()) {
            (true, true) => "nothing is expected: `run` passes whatever happens",
            (true, false) => {
                "nothing is expected that `run` checks: its criteria are prose, and it passes whatever happens"
            }
            (false, true) => {
                "nothing is expected: `run` passes whatever is answered, if only no call fails"
            }
            (false, false) => {
                "nothing is expected that `run` checks: its criteria are prose, and it passes if only no call fails"
            }
        };
        let hint = "list calls under `expected_trajectory` (`[]` says that a model calls nothing), or a text under `success_criteria`";
        let at = criteria
            .iter()
            .find_map(|it| it.text())
            .map_or(start, |it| it.at);
        findings.warning(at, message, Some(hint));
    }
}

/// The tools that the mocks of a file offer.
struct Mocks<'a> {
    offered: &'a [(&'a str, Vec<&'a str>)],
    /// Whether there are no other servers.
    all: bool,
    /// The agent may have tools of its own, which what is said of calls may name.
    agent_has_own: bool,
}

impl Mocks<'_> {
    /// Says so when a name stands for no tool, or a call for several.
    fn check(&self, at: Mark, tool: &str, is_call: bool, findings: &mut Findings) {
        if findings.is_full(at) {
            return;
        }
        if let Some(rest) = tool.strip_prefix("mcp__") {
            let fits = self.offered.iter().filter_map(|(server, tools)| {
                let bare = rest.strip_prefix(server)?.strip_prefix("__")?;
                Some((*server, bare, tools))
            });
            if let Some((server, bare, tools)) = fits.max_by_key(|(server, ..)| server.len())
                && !tools.contains(&bare)
            {
                let message = format!("the mock {} has no tool {}", quoted(server), quoted(bare));
                let near = nearest(bare, tools.iter().copied());
                let hint = near.map(|it| format!("did you mean `mcp__{server}__{it}`?"));
                findings.tool(at, message, hint);
            }
            return;
        }
        let having: Vec<&str> = self
            .offered
            .iter()
            .filter(|(_, tools)| tools.contains(&tool))
            .map(|(server, _)| *server)
            .collect();
        match having.as_slice() {
            [] if self.all && !self.offered.is_empty() => {
                let message = format!("no mock has a tool {}", quoted(tool));
                let known = self.offered.iter().flat_map(|(_, tools)| tools).copied();
                let near = nearest(tool, known);
                if near.is_none() && self.agent_has_own && !is_call {
                    return;
                }
                let hint = near.map(|it| format!("did you mean `{it}`?"));
                findings.tool(at, message, hint);
            }
            [_, _, ..] if is_call => {
                let choices = having.iter().map(|it| format!("`mcp__{it}__{tool}`"));
                let message = format!("the tool {} is ambiguous", quoted(tool));
                let hint = format!("write {}", choices.collect::<Vec<_>>().join(" or "));
                findings.tool(at, message, Some(hint));
            }
            _ => {}
        }
    }
}
