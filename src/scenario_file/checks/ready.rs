//! Checks of a `ready` section against the rest of its scenario.

use serde_json::Value;

use crate::model::rules::Rules;
use crate::scenario_file::decode::{At, Plain as _, Word};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::mock::DeclaredServer;
use crate::scenario_file::servers::ready::{ReadyCallSection, ReadySection};
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::yaml::{Findings, quoted};
use crate::text::nearest::did_you_mean;

/// What must be known of the rest of a scenario to judge one of its `ready` sections.
struct Around<'a> {
    servers: &'a [Server],
    mocks: Vec<(&'a str, DeclaredServer)>,
    rules: Rules,
}

impl Document {
    /// Servers and tools that a `ready` section names are there, and asking them changes nothing.
    pub(in crate::scenario_file) fn check_ready(
        &self,
        servers: &[Server],
        findings: &mut Findings,
    ) {
        if is_wrong(self.servers.as_ref()) || is_wrong(self.mcp_interactions.as_ref()) {
            return;
        }
        let mocks = given(self.mcp_interactions.as_ref());
        let mocks = mocks.into_iter().flat_map(|it| &it.0);
        let around = Around {
            servers,
            mocks: mocks
                .map(|(name, it)| (name.as_str(), it.plain(findings)))
                .collect(),
            rules: given(self.scoring.as_ref())
                .map(|it| it.plain(findings))
                .unwrap_or_default(),
        };
        if let Some(ready) = given(self.ready.as_ref()) {
            around.check(ready, None, findings);
        }
        let containers = self.container_sections();
        for ready in containers.iter().filter_map(|(_, it)| it.ready.as_ref()) {
            around.check_calls(ready, None, findings);
        }
        let declared = given(self.servers.as_ref());
        for (name, server) in declared.into_iter().flat_map(|it| &it.0) {
            if let Some(ready) = &server.all.ready {
                around.check(ready, Some(name), findings);
            }
        }
    }
}

impl Around<'_> {
    /// Judges the section of one server, or of all.
    fn check(&self, ready: &ReadySection, of: Option<&str>, findings: &mut Findings) {
        self.check_calls(ready, of, findings);
        for page in ready.pages() {
            if let Some(server) = &page.server {
                self.check_server(server, of, findings);
            }
            let Some(path) = page.path.as_ref().filter(|_| !self.servers.is_empty()) else {
                continue;
            };
            let wanted = page.server.as_ref().map(|it| it.0.as_str()).or(of);
            let has_address = |it: &&Server| matches!(it.transport, Transport::Http { .. });
            let mut with_address = self.servers.iter().filter(has_address);
            match wanted {
                Some(wanted) => {
                    let known = self.servers.iter().any(|it| it.name == wanted);
                    if known && !with_address.any(|it| it.name == wanted) {
                        let message = format!("the server {} has no address", quoted(wanted));
                        findings.error(path.at, message, Some("give `url` in place of `path`"));
                    }
                }
                None => match with_address.count() {
                    0 => {
                        let message = "no server has an address that this path could belong to";
                        findings.error(path.at, message, Some("give `url` in place of `path`"));
                    }
                    1 => {}
                    _ => {
                        let message = "several servers have an address";
                        let hint = "say whose path it is with `server`, or give `url`";
                        findings.error(path.at, message, Some(hint));
                    }
                },
            }
        }
    }

    fn check_calls(&self, ready: &ReadySection, of: Option<&str>, findings: &mut Findings) {
        for call in ready.calls() {
            if let Some(server) = &call.server {
                self.check_server(server, of, findings);
            }
            let (server, tool) = self.routed(call, of, findings);
            let mock = self.mocks.iter().find(|(name, _)| Some(*name) == server);
            let mut hint = None;
            if let Some((name, mock)) = mock {
                let declared = mock.tools.iter().find(|it| it.name == tool);
                let names = mock.tools.iter().map(|it| it.name.as_str());
                if let Some(declared) = declared {
                    let annotations = declared.served.get("annotations");
                    let read_only = annotations.and_then(|it| it.get("readOnlyHint"));
                    hint = read_only.and_then(Value::as_bool);
                } else {
                    let message = format!("the mock {} has no tool {}", quoted(name), quoted(tool));
                    findings.warning(call.tool.at, message, did_you_mean(tool, names));
                    continue;
                }
            }
            if call.plain(findings).changes(hint, &self.rules) == Some(true) {
                let message = format!(
                    "{} changes something, and would be called before every run",
                    quoted(tool)
                );
                let hint = "ask a tool that only reads; `scoring.reads` says of one that it does";
                findings.warning(call.tool.at, message, Some(hint));
            }
        }
    }

    /// Which server a call goes to, as far as that is known, and the bare name of its tool.
    fn routed<'t>(
        &'t self,
        call: &'t ReadyCallSection,
        of: Option<&'t str>,
        findings: &mut Findings,
    ) -> (Option<&'t str>, &'t str) {
        let written = call.tool.0.as_str();
        let named = call.server.as_ref().map(|it| it.0.as_str()).or(of);
        let Some(rest) = written.strip_prefix("mcp__") else {
            let only = match self.servers {
                [only] => Some(only.name.as_str()),
                _ => None,
            };
            return (named.or(only), written);
        };
        let of_server = |it: &&Server| {
            let tail = rest.strip_prefix(it.name.as_str());
            tail.is_some_and(|it| it.starts_with("__"))
        };
        // Names of servers may hold `__` themselves: the longest that fits wins.
        let server = self.servers.iter().filter(of_server);
        if let Some(server) = server.max_by_key(|it| it.name.len()) {
            if named.is_some_and(|it| it != server.name) {
                let message = format!("the tool is one of {}", quoted(&server.name));
                findings.error(call.tool.at, message, Some("write its bare name"));
            }
            return (Some(&server.name), &rest[server.name.len() + 2..]);
        }
        let (name, tool) = rest.split_once("__").unwrap_or((rest, ""));
        if !self.servers.is_empty() {
            let servers = self.servers.iter().map(|it| it.name.as_str());
            let message = format!("no server is named {}", quoted(name));
            findings.warning(call.tool.at, message, did_you_mean(name, servers));
        }
        (Some(name), tool)
    }

    fn check_server(&self, server: &At<Word>, of: Option<&str>, findings: &mut Findings) {
        let name = server.0.as_str();
        if let Some(of) = of.filter(|it| *it != name) {
            let message = format!("this section is about {} alone", quoted(of));
            let hint = "settings for several servers belong in `ready` of the scenario";
            findings.error(server.at, message, Some(hint));
        } else if !self.servers.is_empty() && !self.servers.iter().any(|it| it.name == name) {
            let names = self.servers.iter().map(|it| it.name.as_str());
            let message = format!("no server is named {}", quoted(name));
            findings.warning(server.at, message, did_you_mean(name, names));
        }
    }
}
