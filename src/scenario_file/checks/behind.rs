//! What criteria say of the servers behind the ones under test: whether these are declared, and whether it can be otherwise.

use crate::model::scenario::{Server, Transport};

use crate::scenario_file::agent::criteria::{CriterionSection, UpstreamCalledSection};
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, NO_HINT};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::source::{Findings, Mark};
use crate::text::nearest::did_you_mean;

impl Document {
    /// Criteria name upstreams that are declared, tools that their mocks have, and headers that are sent.
    pub(in crate::scenario_file) fn check_upstream_criteria(
        &self,
        servers: &[Server],
        findings: &mut Findings,
    ) {
        if is_wrong(self.upstreams.as_ref()) {
            return;
        }
        let criteria = given(self.success_criteria.as_ref());
        for criterion in criteria.into_iter().flatten() {
            let called = criterion.upstream_called();
            let kept = criterion.never_forwarded();
            let at = called.map(At::mark).or(kept.map(At::mark));
            if let Some(at) = at
                && self.upstream_sections().is_empty()
            {
                without_upstreams(criterion, at, findings);
                continue;
            }
            if let Some(called) = called {
                self.check_called(called, findings);
            }
            if let Some(kept) = kept {
                check_kept(kept, servers, findings);
            }
        }
    }

    fn check_called(&self, called: &UpstreamCalledSection, findings: &mut Findings) {
        let (server, tool) = (&called.server, called.tool.0.as_str());
        let names = self.upstream_sections().iter();
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        if !names.contains(&server.0.as_str()) {
            let message = format!("no upstream is named {}", quoted(&server.0));
            let hint = did_you_mean(&server.0, names.iter().copied())
                .unwrap_or_else(|| format!("there is {}", names.join(", ")));
            findings.error(server.at, message, Some(hint));
            return;
        }
        let mocks = given(self.mcp_interactions.as_ref());
        let mut mocks = mocks.into_iter().flat_map(|it| &it.0);
        if let Some((name, mock)) = mocks.find(|(name, _)| name.value == server.0) {
            let prefix = format!("mcp__{}__", name.value);
            let bare = tool.strip_prefix(&prefix).unwrap_or(tool);
            if !mock.tool_names().any(|it| it == bare) {
                let message = format!("the mock {} has no tool {}", quoted(name), quoted(bare));
                let hint = did_you_mean(bare, mock.tool_names());
                findings.tool(called.tool.at, message, hint);
            }
        }
    }
}

/// Without servers behind the ones under test, nothing can be said of them.
fn without_upstreams(criterion: &CriterionSection, at: Mark, findings: &mut Findings) {
    let message = "the scenario has no `upstreams`, so calls to them are not recorded";
    let called = criterion.upstream_called();
    let name = called.map_or("NAME", |it| it.server.0.as_str());
    let hint = format!(
        "declare what the servers under test call: `upstreams: {{ {name}: {{ type: mock }} }}`"
    );
    findings.error(at, message, Some(hint));
}

/// A header that nobody sends arrives nowhere.
fn check_kept(kept: &At<Vec<At<Word>>>, servers: &[Server], findings: &mut Findings) {
    if kept.is_empty() {
        findings.error(kept.at, "names no header", NO_HINT);
    }
    // Without any here, the servers come from elsewhere: from `--mcp-config`.
    if servers.is_empty() {
        return;
    }
    for header in &kept.value {
        if !servers.iter().any(|it| may_be_sent(it, &header.0)) {
            let message = format!(
                "no server is sent a header {}, so none passes it on",
                quoted(&header.0)
            );
            let hint = "give it to a server under `headers`; a `bearer_token_env` is sent as `authorization`";
            findings.warning(header.at, message, Some(hint));
        }
    }
}

/// Whether this header may be among those that the server is sent.
fn may_be_sent(server: &Server, header: &str) -> bool {
    let Transport::Http {
        headers,
        bearer_token_env,
        headers_command,
        ..
    } = &server.transport
    else {
        return false;
    };
    let has_token = bearer_token_env.is_some();
    headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(header))
        || has_token && header.eq_ignore_ascii_case("authorization")
        || !headers_command.is_empty()
}
