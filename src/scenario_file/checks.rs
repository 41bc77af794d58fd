//! What must fit together between the sections of a scenario.

use crate::model::scenario::{ScriptedCall, Server};

use super::document::{Document, given, is_wrong};
use super::finding::quoted;
use super::nearest::did_you_mean;
use super::scoring::ScoringSection;
use super::script::{CallSection, CriterionSection, ExpectedSection};
use super::servers::Kind;
use super::source::{Findings, Mark};

impl Document {
    /// Every mock server has its interactions, and the reverse.
    pub(super) fn check_mocks(&self, findings: &mut Findings) {
        if is_wrong(self.servers.as_ref()) || is_wrong(self.mcp_interactions.as_ref()) {
            return;
        }
        let servers = given(self.servers.as_ref()).map_or(&[][..], |it| &it.0);
        let interactions = given(self.mcp_interactions.as_ref()).map_or(&[][..], |it| &it.0);
        for (name, server) in servers {
            let is_declared = interactions.iter().any(|(it, _)| it.value == name.value);
            if server.kind() == Some(Kind::Mock) && !is_declared {
                let message = format!("`mcp_interactions` says nothing of {}", quoted(name));
                let known = interactions.iter().map(|(it, _)| it.as_str());
                findings.error(name.at, message, did_you_mean(name, known));
            }
        }
        for (name, interaction) in interactions {
            interaction.check_names(findings);
            let kind = servers
                .iter()
                .find(|(it, _)| it.value == name.value)
                .map(|(_, it)| it.kind());
            match kind {
                Some(Some(Kind::Mock)) => {}
                Some(_) => {
                    let message = format!("the server {} is not a mock", quoted(name));
                    findings.error(
                        name.at,
                        message,
                        Some("only servers of `type: mock` are answered from here"),
                    );
                }
                None => {
                    let message = format!("no server is named {}", quoted(name));
                    let known = servers.iter().map(|(it, _)| it.as_str());
                    let hint = did_you_mean(name, known).unwrap_or_else(|| {
                        format!("add `{}: {{ type: mock }}` under `servers`", name.value)
                    });
                    findings.error(name.at, message, Some(hint));
                }
            }
        }
    }

    /// Tools are addressed by servers that are there. Without any server, they come from elsewhere: from `--mcp-config`.
    pub(super) fn check_tools(&self, servers: &[Server], findings: &mut Findings) {
        if servers.is_empty() {
            return;
        }
        let expected = given(self.expected_trajectory.as_ref());
        let expected = expected.into_iter().flat_map(|it| &it.value);
        let agent = given(self.agent.as_ref()).and_then(|it| it.calls.as_ref());
        let calls = agent.into_iter().flat_map(|it| &it.value);
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let scoring = given(self.scoring.as_ref()).into_iter();
        let tools = expected
            .map(|it| (it.tool.at, it.tool.0.as_str()))
            .chain(calls.map(|it| (it.tool.at, it.tool.0.as_str())))
            .chain(criteria.filter_map(CriterionSection::tool))
            .chain(scoring.flat_map(ScoringSection::tools));
        for (at, tool) in tools {
            let Some(rest) = tool.strip_prefix("mcp__") else {
                continue;
            };
            let is_known = servers.iter().any(|it| {
                rest.strip_prefix(it.name.as_str())
                    .is_some_and(|it| it.starts_with("__"))
            });
            if is_known {
                continue;
            }
            let server = rest.split("__").next().unwrap_or(rest);
            let message = format!("no server is named {}", quoted(server));
            let known = servers.iter().map(|it| it.name.as_str());
            findings.warning(at, message, did_you_mean(server, known));
        }
    }

    /// The calls a scripted agent plays; `None`, after saying so where that was not said yet, when there are none.
    pub(super) fn script(&self, start: Mark, findings: &mut Findings) -> Option<Vec<ScriptedCall>> {
        if is_wrong(self.agent.as_ref()) {
            return None;
        }
        let agent = given(self.agent.as_ref());
        let expected = given(self.expected_trajectory.as_ref());
        let (calls, at): (Vec<_>, _) = match agent.and_then(|it| it.calls.as_ref()) {
            Some(calls) => (calls.iter().map(CallSection::call).collect(), calls.at),
            None if is_wrong(self.expected_trajectory.as_ref()) => return None,
            None => {
                let calls = expected.into_iter().flat_map(|it| &it.value);
                let at = agent.map(|it| it.at).or(expected.map(|it| it.at));
                (
                    calls.map(ExpectedSection::call).collect(),
                    at.unwrap_or(start),
                )
            }
        };
        if calls.is_empty() {
            let message = "the scripted agent has nothing to play";
            let hint = "list calls under `expected_trajectory` or `agent.calls`";
            findings.error(at, message, Some(hint));
            return None;
        }
        Some(calls)
    }
}
