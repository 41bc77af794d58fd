//! Whether a scenario expects what can come: tools that its own mocks have, and anything at all.

use crate::model::scenario::{Agent, Server, Transport};

use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::file::scoring::ScoringSection;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::source::{Findings, Mark};
use crate::text::nearest::nearest;

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
