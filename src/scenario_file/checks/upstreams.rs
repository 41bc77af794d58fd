//! Servers behind the ones under test: their names, who is given their addresses, and what criteria say of them.

use std::collections::HashSet;

use super::references::texts;
use crate::scenario_file::agent::criteria::{CriterionSection, UpstreamCalledSection};
use crate::scenario_file::decode::template;
use crate::scenario_file::decode::{At, NO_HINT, UPSTREAM, Word};
use crate::scenario_file::expand::filling::{misspelt_references, upstream_references};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::load::config::ConfigFile;
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::yaml::{Findings, Mark, quoted};
use crate::text::nearest::did_you_mean;

impl Document {
    /// Upstreams have names of their own, and somebody is given their addresses.
    pub(in crate::scenario_file) fn check_upstreams(
        &self,
        servers: &[Server],
        config: Option<&ConfigFile>,
        findings: &mut Findings,
    ) {
        if is_wrong(self.upstreams.as_ref()) {
            return;
        }
        self.check_upstream_names(servers, findings);
        let in_config = self.check_config(config, findings);
        self.check_mentions(&in_config, config, findings);
    }

    fn check_upstream_names(&self, servers: &[Server], findings: &mut Findings) {
        for (name, _) in self.upstream_sections() {
            if servers.iter().any(|it| it.name == name.value) {
                let message = format!("a server is named {}, too", quoted(name));
                let hint = "upstreams need names that no server has";
                findings.error(name.at, message, Some(hint));
            }
            if !is_plain(name) {
                let message = "is not a name that `${upstream.NAME.url}` could hold";
                let hint = "use letters, digits, `-` and `_`";
                findings.error(name.at, message, Some(hint));
            }
        }
    }

    /// Says which references in the configuration file cannot be filled in; the names they hold.
    fn check_config(
        &self,
        config: Option<&ConfigFile>,
        findings: &mut Findings,
    ) -> HashSet<String> {
        let source = config.and_then(|it| it.source);
        let Some((source, file)) = source.zip(self.config_file()) else {
            return HashSet::new();
        };
        let text = findings.text(source);
        let found: Vec<_> = upstream_references(&text).collect();
        if self.config_is_passed_on() {
            for (place, name) in &found {
                if let Some(hint) = self.unknown_upstream(name) {
                    let place = findings.place(findings.mark_of_offset(source, place.start));
                    let message = format!(
                        "nothing in the scenario provides {}, used at {place}",
                        quoted(name)
                    );
                    findings.error(file.at, message, Some(hint));
                }
            }
            self.check_spelling(&text, (source, file.at), findings);
        } else if let (Some((_, name)), [_, ..]) = (found.first(), self.upstream_sections()) {
            let message = format!("`{{{{{name}}}}}` is filled in there, but the file is not read");
            let hint = "say with `docker.config_target` where a container finds it, or hand it to a server with `${config_file}`";
            findings.error(file.at, message, Some(hint));
        }
        let misspelt = misspelt_references(&text).map(|(_, _, meant)| meant);
        let names = found.iter().map(|(_, name)| (*name).to_owned());
        // Of an upstream that a misspelt name is meant for, that is said already.
        names.chain(misspelt).collect()
    }

    /// A reference with a misspelt first word would reach the proxy as it stands. Without upstreams, it is not meant for us.
    fn check_spelling(&self, text: &str, (source, at): (usize, Mark), findings: &mut Findings) {
        if self.upstream_sections().is_empty() {
            return;
        }
        for (place, name, meant) in misspelt_references(text) {
            let place = findings.place(findings.mark_of_offset(source, place.start));
            let message = format!("{} at {place} is not filled in", quoted(name));
            let hint = match self.unknown_upstream(&meant) {
                None => format!("did you mean `{meant}`?"),
                Some(hint) => hint,
            };
            findings.error(at, message, Some(hint));
        }
    }

    /// Who is not given the address of an upstream cannot call it.
    fn check_mentions(
        &self,
        in_config: &HashSet<String>,
        config: Option<&ConfigFile>,
        findings: &mut Findings,
    ) {
        let is_unclear = is_wrong(self.servers.as_ref())
            || is_wrong(self.docker.as_ref())
            || is_wrong(self.containers.as_ref())
            || self.config_file.is_some() && config.is_none();
        if is_unclear {
            return;
        }
        let containers = self.container_sections().into_iter();
        let all = texts(&self.servers).into_iter();
        let all = all.chain(containers.flat_map(|(_, it)| texts(it)));
        let names = all.flat_map(|(_, text)| template::names(text));
        let mentioned: HashSet<&str> = names.filter(|it| it.starts_with(UPSTREAM)).collect();
        let upstreams = self.upstream_sections().iter().map(|(name, _)| name);
        for name in upstreams.filter(|it| is_plain(it)) {
            let url = template::upstream_url_name(name);
            if !mentioned.contains(url.as_str()) && !in_config.contains(&url) {
                let message = format!(
                    "nothing refers to the address of {}, so nothing can call it",
                    quoted(name)
                );
                let hint = format!(
                    "write `{{{{{url}}}}}` in the `config_file`, or `${{{url}}}` where a server or its container is started"
                );
                findings.warning(name.at, message, Some(hint));
            }
        }
    }
}

/// Whether a reference can hold this name.
fn is_plain(name: &str) -> bool {
    let fits = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
    !name.is_empty() && name.chars().all(fits)
}

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
