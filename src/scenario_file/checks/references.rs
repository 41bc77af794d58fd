//! A check that each `${…}` is provided where it stands, and each `{{calls.…}}` before.

use crate::scenario_file::agent::section::AgentKind;
use crate::scenario_file::decode::template;
use crate::scenario_file::decode::{CONFIG_FILE, Decode, SOURCE_DIR, UPSTREAM};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::yaml::{Findings, Mark, quoted};
use crate::text::nearest::did_you_mean;

impl Document {
    /// What texts of the scenario refer to, besides environment variables, is there.
    pub(in crate::scenario_file) fn check_references(&self, findings: &mut Findings) {
        let wrong = is_wrong(self.docker.as_ref()) || is_wrong(self.containers.as_ref());
        if wrong || is_wrong(self.servers.as_ref()) {
            return;
        }
        self.check_servers_references(findings);
        self.check_references_in_containers(findings);
        self.check_references_in_upstreams(findings);
        let hooks = texts(&self.before).into_iter().chain(texts(&self.after));
        for (at, text) in hooks {
            if let Some(name) =
                template::names(text).find(|it| it.contains('.') && *it != SOURCE_DIR)
            {
                let message = format!("nothing provides {} here", quoted(name));
                let hint = "these commands run outside the container: `${NAME}` is replaced by an environment variable";
                findings.error(at, message, Some(hint));
            }
        }
    }

    /// Servers get the addresses of containers and upstreams, and what is filled into the configuration file.
    fn check_servers_references(&self, findings: &mut Findings) {
        let servers = texts(&self.servers);
        for (at, text) in servers.iter().copied().chain(texts(&self.ready)) {
            for name in template::names(text).filter(|it| it.contains('.')) {
                if name.starts_with(UPSTREAM) {
                    self.check_upstream(name, at, findings);
                } else {
                    self.check_container_name(name, at, findings);
                }
            }
        }
        for (at, text) in servers {
            if template::needs(text, CONFIG_FILE) && self.config_file.is_none() {
                let message = "the scenario has no `config_file`";
                let hint = "name the file: `config_file: proxy.json`";
                findings.error(at, message, Some(hint));
            }
        }
    }

    /// A container gets the addresses of upstreams; what its configuration file is called there, it says itself.
    fn check_references_in_containers(&self, findings: &mut Findings) {
        let containers = self.container_sections().into_iter();
        for (at, text) in containers.flat_map(|(_, it)| texts(it)) {
            for name in template::names(text).filter(|it| it.starts_with(UPSTREAM)) {
                self.check_upstream(name, at, findings);
            }
            if template::needs(text, CONFIG_FILE) {
                let message = format!("nothing provides {} here", quoted(CONFIG_FILE));
                let hint = "a container finds the file where `config_target` says";
                findings.error(at, message, Some(hint));
            }
        }
    }

    /// Upstreams are there before what calls them, and before its containers.
    fn check_references_in_upstreams(&self, findings: &mut Findings) {
        for (at, text) in texts(&self.upstreams) {
            let provided = |it: &str| it.contains('.') || it == CONFIG_FILE;
            for name in template::names(text).filter(|it| provided(it) && *it != SOURCE_DIR) {
                let message = format!("nothing provides {} here", quoted(name));
                let hint = "upstreams are started first: the others receive their addresses";
                findings.error(at, message, Some(hint));
            }
        }
    }

    /// Calls refer to answers of calls that a script makes before them. What an agent that decides for itself calls before, nobody knows.
    pub(in crate::scenario_file) fn check_earlier_answers(&self, findings: &mut Findings) {
        if is_wrong(self.agent.as_ref()) || is_wrong(self.expected_trajectory.as_ref()) {
            return;
        }
        let agent = given(self.agent.as_ref());
        let kind = agent.map(|it| &it.value.kind);
        let own = agent.and_then(|it| it.all.calls.as_ref());
        let expected = given(self.expected_trajectory.as_ref()).into_iter();
        let expected = expected.flat_map(|it| it.iter());
        let expected: Vec<_> = expected.map(|it| (&it.tool, &it.args)).collect();
        let script: Vec<_> = match (own, kind) {
            (Some(own), _) => own.iter().map(|it| (&it.tool, &it.args)).collect(),
            (None, None | Some(AgentKind::Scripted(_) | AgentKind::Replay(_))) => expected.clone(),
            (None, Some(_)) => return,
        };
        let count = script.len();
        let in_order = script.iter().enumerate();
        let in_order = in_order.map(|(index, (_, args))| (index, *args));
        // What is expected besides the script may refer to all of it.
        let is_besides = own.is_some() && matches!(kind, Some(AgentKind::Scripted(_)));
        let besides = expected.iter().filter(|_| is_besides);
        let besides = besides.map(|(_, args)| (count, *args));
        for (before, args) in in_order.chain(besides) {
            let references = args.iter().flat_map(|it| &it.references);
            for it in references.filter(|it| it.value >= before) {
                let number = it.value;
                let message = if number >= count {
                    format!("`calls.{number}` is not a call of the script, which has {count}")
                } else if number == before {
                    format!("`calls.{number}` is the call that contains the reference")
                } else {
                    format!("`calls.{number}` is made later than the call that refers to it")
                };
                let hint = before.checked_sub(1).map_or_else(
                    || "calls are counted from 0, and nothing is answered before this one".to_owned(),
                    |last| {
                        let tool = quoted(&script[last].0.0);
                        format!("calls are counted from 0: did you mean `calls.{last}`, the call of {tool}?")
                    },
                );
                findings.error(it.at, message, Some(hint));
            }
        }
    }

    /// Says so when a name is none that a container provides.
    fn check_container_name(&self, name: &str, at: Mark, findings: &mut Findings) {
        let containers = self.container_sections();
        // Where there is none, `docker` is what most scenarios have.
        let names = containers.iter().map(|(name, _)| *name);
        let names = names.chain(containers.is_empty().then_some(None));
        let provided: Vec<String> = names
            .flat_map(|it| [template::url_name(it), template::port_name(it)])
            .collect();
        let known = provided.iter().any(|it| it == name);
        // The environment may name the folder of the source, too.
        if known && !containers.is_empty() || name == SOURCE_DIR {
            return;
        }
        let hint = if known {
            Some("it is given by a container, which the section `docker` describes".into())
        } else {
            let upstreams = self.upstream_names();
            let provided = provided.iter().chain(&upstreams);
            did_you_mean(name, provided.map(String::as_str))
        };
        let message = format!("nothing in the scenario provides {}", quoted(name));
        findings.error(at, message, hint);
    }

    /// Says so when a name is none that an upstream provides.
    fn check_upstream(&self, name: &str, at: Mark, findings: &mut Findings) {
        if !findings.is_full(at)
            && let Some(hint) = self.unknown_upstream(name)
        {
            let message = format!("nothing in the scenario provides {}", quoted(name));
            findings.error(at, message, Some(hint));
        }
    }

    /// What to try where a name is none that an upstream provides; `None` where it is one, or that is not known.
    pub(super) fn unknown_upstream(&self, name: &str) -> Option<String> {
        let provided = self.upstream_names();
        if is_wrong(self.upstreams.as_ref()) || provided.iter().any(|it| it == name) {
            return None;
        }
        if provided.is_empty() {
            return Some("declare the server it belongs to under `upstreams`".to_owned());
        }
        let meant = did_you_mean(name, provided.iter().map(String::as_str));
        Some(meant.unwrap_or_else(|| {
            let names: Vec<String> = provided.iter().map(|it| quoted(it)).collect();
            format!("there is {}", names.join(", "))
        }))
    }

    /// The names that stand for the addresses of upstreams.
    fn upstream_names(&self) -> Vec<String> {
        let upstreams = self.upstream_sections().iter();
        upstreams
            .map(|(name, _)| template::upstream_url_name(name))
            .collect()
    }
}

/// The texts of a section that may hold `${…}`, with their places.
pub(super) fn texts(section: &impl Decode) -> Vec<(Mark, &str)> {
    let mut texts = Vec::new();
    section.templates(&mut |at, text| texts.push((at, text)));
    texts
}
