//! The scenario that a document becomes.

use std::path::PathBuf;

use crate::model::redaction::Redaction;
use crate::model::scenario::{Replaying, Scenario, Server, Timeouts};

use super::decode::{Field, NO_HINT};
use super::document::{Document, given, is_wrong};
use super::find::Found;
use super::hash::scenario_hash;
use super::ready::ReadySection;
use super::scoring::ScoringSection;
use super::script::{CriterionSection, ExpectedSection};
use super::source::{Findings, Mark};
use super::values::Timeout;
use super::variables::Secrets;

impl Document {
    /// The scenario, with the servers of its configuration file after its own; `None`, after saying why, where it cannot run.
    pub(super) fn scenario(
        &self,
        found: &Found,
        secrets: Secrets,
        config: Option<(PathBuf, Vec<Server>)>,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Scenario> {
        let declared = given(self.servers.as_ref())
            .into_iter()
            .flat_map(|it| &it.0);
        let mut servers: Vec<Server> = declared
            .filter_map(|(name, it)| it.server(name, findings))
            .collect();
        let (config_file, configured) = config.unzip();
        for server in configured.into_iter().flatten() {
            if !servers.iter().any(|it| it.name == server.name) {
                servers.push(server);
            }
        }
        self.check_mocks(findings);
        self.check_container(&servers, config_file.is_some(), findings);
        self.check_ready(&servers, findings);
        if !is_wrong(self.servers.as_ref()) {
            self.check_tools(&servers, findings);
            self.check_mocked_tools(&servers, findings);
        }
        let agent = self.agent(start, findings);
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
        let source = given(self.source.as_ref()).and_then(|it| it.repo.as_ref());
        let whole = wait(&self.timeout, timeouts.scenario);
        let replaying = given(self.agent.as_ref()).map(|it| it.replaying(whole, findings));
        let replaying = replaying.unwrap_or_else(|| Replaying::within(whole));
        let agent = agent?;
        self.check_expectations(&agent, start, findings);
        let mut scenario = Scenario {
            id: found.id.clone(),
            hash: String::new(),
            path: found.path.clone(),
            defaults_root: found.root.clone(),
            name: self.name.given()?.0.clone(),
            description: given(self.description.as_ref()).cloned(),
            enabled: given(self.enabled.as_ref()).copied().unwrap_or(true),
            tags: tags.map(|it| it.0.clone()).collect(),
            user_intent: given(self.user_intent.as_ref())
                .cloned()
                .or_else(|| (!turns.is_empty()).then(|| turns.join("\n\n"))),
            turns,
            config_file,
            servers,
            interactions: interactions
                .into_iter()
                .flat_map(|it| &it.0)
                .map(|(name, it)| (name.value.clone(), it.server()))
                .collect(),
            container: given(self.docker.as_ref()).and_then(|it| it.container(findings)),
            ready: given(self.ready.as_ref()).map(ReadySection::ready),
            agent,
            replaying,
            expected_trajectory: expected
                .into_iter()
                .flat_map(|it| &it.value)
                .map(ExpectedSection::expected)
                .collect(),
            expects_no_call: expected.is_some_and(|it| it.value.is_empty()),
            success_criteria: criteria
                .into_iter()
                .flatten()
                .map(CriterionSection::criterion)
                .collect(),
            source: source.map(|it| findings.folder(it.at).join(&it.0)),
            redaction: Redaction {
                patterns: given(self.redact.as_ref())
                    .into_iter()
                    .flatten()
                    .map(|it| it.0.clone())
                    .collect(),
                secrets: secrets.values.into_iter().map(|(_, value)| value).collect(),
                unset: secrets.unset,
            },
            scoring: given(self.scoring.as_ref())
                .map(ScoringSection::rules)
                .unwrap_or_default(),
            timeouts: Timeouts {
                connect: wait(&self.connect_timeout, timeouts.connect),
                tool: wait(&self.tool_timeout, timeouts.tool),
                scenario: whole,
            },
            limits: limits.unwrap_or_default(),
        };
        scenario.hash = scenario_hash(&scenario.messages(), &scenario.redaction.secrets);
        Some(scenario)
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
