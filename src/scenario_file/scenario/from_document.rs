//! The scenario that a document becomes, and its agent.

use std::sync::Arc;
use std::time::Duration;

use super::hash::scenario_hash;
use crate::model::{Labels, Place, Places, Redaction};
use crate::scenario_file::agent::inputs::InputSection;
use crate::scenario_file::agent::section::{AgentKind, AgentSection, replaying};
use crate::scenario_file::agent::{Agent, ModelAgent, ModelApi, Replaying, ScriptedCall};
use crate::scenario_file::decode::{Decode as _, Field, NO_HINT, Plain as _, Timeout};
use crate::scenario_file::file::document::{Document, given, given_or_default, is_wrong};
use crate::scenario_file::load::config::{ConfigFile, Usual};
use crate::scenario_file::load::find::Found;
use crate::scenario_file::load::variables::Secrets;
use crate::scenario_file::measured::Kind;
use crate::scenario_file::servers::Server;
use crate::scenario_file::yaml::{Findings, Mark};
use crate::scenario_file::{SaidBy, Scenario, Timeouts};

impl Document {
    /// The scenario, with the servers of its configuration file, or the usual ones, after its own; `None`, after saying why, where it cannot run.
    pub(in crate::scenario_file) fn scenario(
        &self,
        found: &Found,
        (secrets, config, usual): (Secrets, Option<ConfigFile>, Option<Usual>),
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Scenario> {
        let declared = given(self.servers.as_ref())
            .into_iter()
            .flat_map(|it| &it.0);
        let mut servers: Vec<Server> = declared
            .map(|(name, it)| it.server(name, findings))
            .collect();
        for server in config.iter().flat_map(|it| &it.servers) {
            if !servers.iter().any(|it| it.name == server.name) {
                servers.push(server.clone());
            }
        }
        servers.extend(usual.iter().flat_map(|it| it.servers.clone()));
        let upstreams = self.upstream_sections().iter();
        let upstreams: Vec<Server> = upstreams
            .map(|(name, it)| it.server(name, findings))
            .collect();
        self.check_mocks(findings);
        self.check_upstreams(&servers, config.as_ref(), findings);
        self.check_upstream_criteria(&servers, findings);
        self.check_references(findings);
        self.check_earlier_answers(findings);
        self.check_container(&servers, config.is_some(), findings);
        self.check_ready(&servers, findings);
        if !is_wrong(self.servers.as_ref()) {
            self.check_tools(&servers, findings);
            self.check_mocked_tools(&servers, findings);
        }
        let is_measured = self.kind() != Kind::Trajectory;
        let measurement = self.measurement(start, findings);
        // Nobody holds a conversation there.
        let agent = if is_measured {
            Some(Agent::Scripted { calls: Vec::new() })
        } else {
            self.agent(start, findings)
        };
        let timeouts = Timeouts::default();
        let wait = |field: &Option<Field<Timeout>>, default| {
            given(field.as_ref()).map_or(default, |it| it.0)
        };
        let limits = given(self.limits.as_ref());
        if let Some(limits) = limits {
            limits.check(agent.as_ref(), findings);
        }
        let turns = self.turns(findings);
        let expected = given(self.expected_trajectory.as_ref());
        let criteria = given(self.success_criteria.as_ref());
        // A catalogue that is waited for is waited for besides.
        let waited = given(self.wait.as_ref()).map_or(Duration::ZERO, |it| it.0);
        let whole = wait(&self.timeout, timeouts.scenario + waited);
        let replaying = given(self.agent.as_ref()).map(|it| it.replaying(whole, findings));
        let replaying = replaying.unwrap_or_else(|| Replaying::within(whole));
        let evaluators = self.evaluators(start.source, agent.as_ref(), findings);
        let agent = agent?;
        self.check_evaluators(&agent, &servers, &evaluators, findings);
        let evaluators = evaluators.into_iter().map(|(_, it)| it).collect();
        if is_measured && measurement.is_none() {
            return None;
        }
        if !is_measured {
            self.check_expectations(&agent, start, findings);
        }
        let mut scenario = Scenario {
            id: found.id.clone(),
            hash: String::new(),
            path: found.path.clone(),
            text_at: None,
            read_from: Vec::new(),
            places: self.places(start.source),
            defaults_root: found.root.clone(),
            name: self.name.given()?.0.clone(),
            row_of: None,
            cell: None,
            description: given(self.description.as_ref()).plain(findings),
            enabled: given(self.enabled.as_ref()).copied().unwrap_or(true),
            left_out: None,
            tags: given_or_default(self.tags.as_ref(), findings),
            user_intent: given(self.user_intent.as_ref())
                .cloned()
                .or_else(|| (!turns.is_empty()).then(|| turns.join("\n\n"))),
            turns,
            config_file: config.map(|it| it.path),
            servers,
            usual_servers: usual.map(|it| it.path),
            upstreams,
            interactions: Arc::new(given_or_default(self.mcp_interactions.as_ref(), findings)),
            containers: (self.container_sections().into_iter())
                .filter_map(|(name, it)| it.container(name, findings))
                .collect(),
            ready: given(self.ready.as_ref()).plain(findings),
            before: given_or_default(self.before.as_ref(), findings),
            after: given_or_default(self.after.as_ref(), findings),
            agent,
            inputs: given(self.inputs.as_ref())
                .into_iter()
                .flatten()
                .filter_map(InputSection::input)
                .collect(),
            measurement,
            judge: given(self.judge.as_ref())
                .and_then(|it| it.settings(findings))
                .map(Box::new),
            replaying,
            expected_trajectory: expected
                .into_iter()
                .flat_map(|it| it.iter())
                .map(|it| it.expected(findings))
                .collect(),
            expects_no_call: expected.is_some_and(|it| it.forbid_calls()),
            is_test_case: false,
            success_criteria: criteria
                .into_iter()
                .flatten()
                .filter_map(|it| it.criterion())
                .collect(),
            evaluators,
            evaluation_threshold: given(self.evaluation_threshold.as_ref()).plain(findings),
            source: given_or_default(self.source.as_ref(), findings),
            redaction: self.redaction(secrets),
            scoring: given_or_default(self.scoring.as_ref(), findings),
            labels: Labels {
                own: given_or_default(self.label.as_ref(), findings),
            },
            timeouts: Timeouts {
                connect: wait(&self.connect_timeout, timeouts.connect),
                tool: wait(&self.tool_timeout, timeouts.tool),
                scenario: whole,
                said_by: SaidBy::Scenario,
            },
            limits: limits.plain(findings).unwrap_or_default(),
        };
        scenario.hash = scenario_hash(&scenario.messages(), &scenario.redaction);
        Some(scenario)
    }

    /// Where what stands that the scenario's own file says.
    fn places(&self, own: usize) -> Places {
        let place = |mark: Mark| {
            let Mark {
                source,
                line,
                column,
            } = mark;
            (source == own).then_some(Place { line, column })
        };
        let expected = given(self.expected_trajectory.as_ref());
        let expected: Vec<_> = (expected.into_iter().flat_map(|it| it.value.iter()))
            .map(|it| place(it.tool.at))
            .collect();
        let script = given(self.agent.as_ref()).and_then(|it| it.all.calls.as_ref());
        let script = script.map(|it| it.value.iter().map(|it| place(it.tool.at)).collect());
        let criteria = given(self.success_criteria.as_ref());
        Places {
            name: self.name.given().and_then(|it| place(it.at)),
            criteria: (criteria.into_iter().flatten())
                .filter(|it| it.evaluator().is_none())
                .map(|it| place(it.at))
                .collect(),
            script: script.unwrap_or_else(|| expected.clone()),
            search: given(self.search.as_ref()).and_then(|it| place(it.at)),
            expected,
        }
    }

    /// What is secret in all that the scenario is given.
    fn redaction(&self, secrets: Secrets) -> Redaction {
        let mut redaction = Redaction {
            secrets: secrets.values,
            unset: secrets.unset,
            ..Redaction::default()
        };
        if let Some(rules) = given(self.redact.as_ref()) {
            rules.add_to(&mut redaction);
        }
        self.marked(&mut |name| redaction.marked.push(name.to_owned()));
        redaction
    }

    /// What the user says, message by message.
    fn turns(&self, findings: &mut Findings) -> Vec<String> {
        let Some(turns) = given(self.turns.as_ref()) else {
            return Vec::new();
        };
        if given(self.user_intent.as_ref()).is_some() {
            let message = "`turns` and `user_intent` both say what the user wants";
            findings.error(turns.at, message, Some("keep one of the two"));
        }
        if turns.is_empty() {
            findings.error(turns.at, "lists no message", NO_HINT);
        }
        turns.plain(findings)
    }
}

impl Document {
    /// Who asks; `None`, after saying so where that was not said yet, when a scripted agent has nothing to play.
    pub(in crate::scenario_file) fn agent(
        &self,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Agent> {
        if is_wrong(self.agent.as_ref()) {
            return None;
        }
        let agent = given(self.agent.as_ref());
        let expected = given(self.expected_trajectory.as_ref());
        let (calls, at): (Vec<_>, _) = match agent.and_then(|it| it.all.calls.as_ref()) {
            Some(calls) => (calls.iter().map(|it| it.call(findings)).collect(), calls.at),
            None if is_wrong(self.expected_trajectory.as_ref()) => return None,
            None => {
                let calls = expected.into_iter().flat_map(|it| it.iter());
                let at = agent.map(|it| it.at).or(expected.map(|it| it.at));
                (
                    calls.map(|it| it.call(findings)).collect(),
                    at.unwrap_or(start),
                )
            }
        };
        // Said in as many words: nothing is called, and what the servers list is what counts.
        let lists_none = agent.is_none_or(|it| it.all.calls.is_none())
            && expected.is_some_and(|it| it.is_empty());
        let scripted = |findings: &mut Findings| {
            if calls.is_empty() && !lists_none && !findings.agent_given {
                let message = "the scripted agent has nothing to play";
                let hint = "list calls under `expected_trajectory` or `agent.calls` (`expected_trajectory: []` holds the list of tools alone), or \
                            name another agent, under `agent` or with `--agent`";
                return findings.refuse(at, message, Some(hint));
            }
            Some(Agent::Scripted {
                calls: calls.clone(),
            })
        };
        let Some(agent) = agent else {
            return scripted(findings);
        };
        match &agent.kind {
            AgentKind::Scripted(_) => scripted(findings),
            AgentKind::Replay(_) => Some(Agent::Replay { calls }),
            AgentKind::Anthropic((choice, model)) => {
                let settings = model.agent(ModelApi::Anthropic, Some(choice), findings);
                self.asking(settings, calls, start, findings)
            }
            AgentKind::OpenAi((apis, (choice, model))) => {
                let api = apis.api.map_or(ModelApi::OpenAiChat, |it| it.0);
                let settings = model.agent(api, Some(choice), findings);
                self.asking(settings, calls, start, findings)
            }
            AgentKind::Ollama(model) => {
                let settings = model.agent(ModelApi::Ollama, None, findings);
                self.asking(settings, calls, start, findings)
            }
            AgentKind::Command(command) => {
                let settings = Some(Box::new(command.plain(findings)));
                match given(self.turns.as_ref()) {
                    Some(turns) if turns.len() > 1 => {
                        let message = "an agent that is a command is given one message";
                        let hint = "say it all in `user_intent`";
                        findings.error(turns.at, message, Some(hint));
                    }
                    None if self.turns.is_none() && self.user_intent.is_none() => {
                        let hint = "say what the user wants with `user_intent`";
                        findings.error(start, "the agent has nothing to do", Some(hint));
                    }
                    _ => {}
                }
                settings.map(|settings| Agent::Command { settings, calls })
            }
        }
    }

    /// A model, which is told what the user wants.
    fn asking(
        &self,
        settings: Option<ModelAgent>,
        calls: Vec<ScriptedCall>,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Agent> {
        if self.turns.is_none() && self.user_intent.is_none() {
            let hint = "say what the user wants with `user_intent` or `turns`";
            findings.error(start, "the model has nothing to do", Some(hint));
        }
        let settings = settings.map(Box::new)?;
        Some(Agent::Model { settings, calls })
    }
}

impl AgentSection {
    /// How a baseline is replayed. `whole` is the timeout of the scenario.
    pub(in crate::scenario_file) fn replaying(
        &self,
        whole: Duration,
        findings: &mut Findings,
    ) -> Replaying {
        replaying(
            self.all.pace,
            self.all.poll_timeout.as_ref(),
            self.all.bindings.as_deref().unwrap_or_default(),
            whole,
            findings,
        )
    }
}
