//! Servers behind the ones under test: what they are called, and who is given their addresses.

use std::collections::HashSet;

use crate::model::scenario::Server;

use super::references::texts;
use crate::scenario_file::decode::template::{self, UPSTREAM};
use crate::scenario_file::expand::config::{misspelt_references, upstream_references};
use crate::scenario_file::file::document::{Document, is_wrong};
use crate::scenario_file::load::config::ConfigFile;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::source::{Findings, Mark};

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
