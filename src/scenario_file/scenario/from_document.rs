//! The scenario that a document becomes.

use std::sync::Arc;
use std::time::Duration;

use crate::model::hook::Hook;
use crate::model::label::Labels;
use crate::model::redaction::Redaction;
use crate::model::scenario::{Agent, Place, Places, Replaying, SaidBy, Scenario, Server, Timeouts};

use super::hash::scenario_hash;
use crate::scenario_file::agent::script::ExpectedSection;
use crate::scenario_file::decode::values::Timeout;
use crate::scenario_file::decode::{Field, NO_HINT};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::file::scoring::ScoringSection;
use crate::scenario_file::judge::section::JudgeSection;
use crate::scenario_file::load::config::ConfigFile;
use crate::scenario_file::load::find::Found;
use crate::scenario_file::load::usual::Usual;
use crate::scenario_file::load::variables::Secrets;
use crate::scenario_file::measured::kind::Kind;
use crate::scenario_file::servers::hook::HookSection;
use crate::scenario_file::servers::ready::ReadySection;
use crate::scenario_file::servers::server::ServerSection;
use crate::scenario_file::yaml::source::{Findings, Mark};

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
        let mut hooks = |field: &Option<Field<Vec<HookSection>>>| -> Vec<Hook> {
            let given = given(field.as_ref()).into_iter().flatten();
            given.filter_map(|it| it.hook(findings)).collect()
        };
        let (before, after) = (hooks(&self.before), hooks(&self.after));
        let timeouts = Timeouts::default();
        let wait = |field: &Option<Field<Timeout>>, default| {
            given(field.as_ref()).map_or(default, |it| it.0)
        };
        let limits = given(self.limits.as_ref());
        let limits = limits.map(|it| it.limits(agent.as_ref(), findings));
        let turns = self.turns(findings);
        let interactions = given(self.mcp_interactions.as_ref());
        let tags = given(self.tags.as_ref()).into_iter().flatten();
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
            description: given(self.description.as_ref()).cloned(),
            enabled: given(self.enabled.as_ref()).copied().unwrap_or(true),
            left_out: None,
            tags: tags.map(|it| it.0.clone()).collect(),
            user_intent: given(self.user_intent.as_ref())
                .cloned()
                .or_else(|| (!turns.is_empty()).then(|| turns.join("\n\n"))),
            turns,
            config_file: config.map(|it| it.path),
            servers,
            usual_servers: usual.map(|it| it.path),
            upstreams,
            interactions: Arc::new(
                interactions
                    .into_iter()
                    .flat_map(|it| &it.0)
                    .map(|(name, it)| (name.value.clone(), it.server()))
                    .collect(),
            ),
            containers: (self.container_sections().into_iter())
                .filter_map(|(name, it)| it.container(name, findings))
                .collect(),
            ready: given(self.ready.as_ref()).map(ReadySection::ready),
            before,
            after,
            agent,
            measurement,
            judge: given(self.judge.as_ref())
                .and_then(JudgeSection::settings)
                .map(Box::new),
            replaying,
            expected_trajectory: expected
                .into_iter()
                .flat_map(|it| it.iter())
                .map(ExpectedSection::expected)
                .collect(),
            expects_no_call: expected.is_some_and(|it| it.forbid_calls()),
            is_test_case: false,
            success_criteria: criteria
                .into_iter()
                .flatten()
                .filter_map(|it| it.criterion())
                .collect(),
            evaluators,
            evaluation_threshold: given(self.evaluation_threshold.as_ref()).map(|it| it.0),
            source: given(self.source.as_ref())
                .map(|it| it.source(findings))
                .unwrap_or_default(),
            redaction: self.redaction(secrets),
            scoring: given(self.scoring.as_ref())
                .map(ScoringSection::rules)
                .unwrap_or_default(),
            labels: Labels {
                own: given(self.label.as_ref())
                    .into_iter()
                    .flat_map(|it| &it.0)
                    .map(|(tool, way)| (tool.value.clone(), way.0.clone()))
                    .collect(),
            },
            timeouts: Timeouts {
                connect: wait(&self.connect_timeout, timeouts.connect),
                tool: wait(&self.tool_timeout, timeouts.tool),
                scenario: whole,
                said_by: SaidBy::Scenario,
            },
            limits: limits.unwrap_or_default(),
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
        let servers = given(self.servers.as_ref()).into_iter();
        let servers = servers.flat_map(|it| &it.0).map(|(_, it)| it);
        redaction.marked = servers.flat_map(ServerSection::marked).collect();
        let upstreams = self.upstream_sections().iter();
        redaction
            .marked
            .extend(upstreams.flat_map(|(_, it)| it.marked()));
        let ready = given(self.ready.as_ref()).into_iter();
        redaction
            .marked
            .extend(ready.flat_map(ReadySection::marked));
        let evaluators = self.evaluator_sections();
        redaction
            .marked
            .extend(evaluators.into_iter().flat_map(|(_, it)| it.marked()));
        let hooks = [&self.before, &self.after].into_iter();
        let hooks = hooks.filter_map(|it| given(it.as_ref())).flatten();
        redaction.marked.extend(hooks.flat_map(HookSection::marked));
        let containers = self.container_sections();
        redaction
            .marked
            .extend(containers.iter().flat_map(|(_, it)| it.value.marked()));
        let source = given(self.source.as_ref());
        redaction
            .marked
            .extend(source.iter().flat_map(|it| it.marked()));
        let judge = given(self.judge.as_ref());
        redaction
            .marked
            .extend(judge.iter().flat_map(|it| it.marked()));
        let agent = given(self.agent.as_ref());
        redaction
            .marked
            .extend(agent.iter().flat_map(|it| it.value.kind.marked()));
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
        turns.iter().map(|it| it.0.clone()).collect()
    }
}
