//! The scenario file as a whole.

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::model::redaction::Redaction;
use crate::model::scenario::{Replaying, Scenario, Server, Timeouts};

use super::container::ContainerSection;
use super::decode::{At, Decode, Field, NO_HINT, Named, section, wrong_kind};
use super::find::Found;
use super::hash::scenario_hash;
use super::interactions::MockSection;
use super::llm::InteractionSection;
use super::model_agent::LimitsSection;
use super::node::{Content, Node};
use super::ready::ReadySection;
use super::scoring::ScoringSection;
use super::script::{AgentSection, CriterionSection, ExpectedSection};
use super::servers::ServerSection;
use super::source::{Findings, Mark};
use super::values::{SecretPattern, Timeout, Word};
use super::variables::Secrets;

section! {
    /// A scenario: what a user wants from MCP servers, who asks, what is expected, and how it is scored.
    Document {
        /// What the scenario is called.
        name: Field<Word>,
        /// What the scenario is about.
        description: Option<Field<String>>,
        /// Whether the scenario runs; one that does not is reported as skipped.
        enabled: Option<Field<bool>>,
        /// Words to pick scenarios by.
        tags: Option<Field<Vec<Word>>>,
        /// A configuration file, looked for beside this file, above it and in the working directory; one of an MCP client gives servers.
        config_file: Option<Field<At<Word>>>,
        /// What the user asks for. `{{name}}` stands for a variable.
        user_intent: Option<Field<String>>,
        /// What the user says, message by message, each after the agent is done with the one before; instead of `user_intent`.
        turns: Option<Field<At<Vec<Word>>>>,
        /// The calls that are expected, in order. An empty list says that an agent that decides for itself calls nothing.
        expected_trajectory: Option<Field<At<Vec<ExpectedSection>>>>,
        /// What must hold for a run to pass: text that appears in it, or a condition on its calls.
        success_criteria: Option<Field<Vec<CriterionSection>>>,
        /// Values for `{{name}}` in the user's intent, the expectations and the script. One without a value must be given with `--var`.
        #[expect(dead_code, reason = "read for its types; the values are filled in before")]
        variables: Option<Field<Named<VariableValue>>>,
        /// Regular expressions for texts that are secret: what matches is replaced before anything is stored or shown.
        redact: Option<Field<Vec<SecretPattern>>>,
        /// The servers, by the name their tools are addressed with.
        servers: Option<Field<Named<ServerSection>>>,
        /// What the mock servers offer and answer, by the server's name.
        mcp_interactions: Option<Field<Named<MockSection>>>,
        /// What a stand-in for a model expects and answers, request by request: `mcp-eval mock --llm FILE` serves it.
        #[expect(dead_code, reason = "checked with the scenario, and served without it")]
        llm_interactions: Option<Field<Vec<InteractionSection>>>,
        /// The container a server under test runs in.
        docker: Option<Field<At<ContainerSection>>>,
        /// What proves that the servers can be asked, before a run begins: all of them together. Each may have a section of its own, too.
        ready: Option<Field<ReadySection>>,
        /// Who asks; a scripted agent that plays `expected_trajectory` unless given.
        agent: Option<Field<At<AgentSection>>>,
        /// The system under test.
        source: Option<Field<SourceSection>>,
        /// How long the whole run may take; 300s unless given.
        timeout: Option<Field<Timeout>>,
        /// How long a server may take from its start to its list of tools; 30s unless given.
        connect_timeout: Option<Field<Timeout>>,
        /// How long one tool call may take; 60s unless given.
        tool_timeout: Option<Field<Timeout>>,
        /// What ends a run as failed.
        limits: Option<Field<LimitsSection>>,
        /// How the scenario is scored.
        scoring: Option<Field<ScoringSection>>,
    }
}

section! {
    /// The system under test.
    SourceSection {
        /// The folder of its git repository, relative to this file.
        repo: Option<At<Word>>,
    }
}

section! {
    /// A variable whose value is secret, or not.
    VariableSection {
        #[expect(dead_code, reason = "read for its type; the value is filled in before")]
        /// The value; a secret one may refer to environment variables: `${NAME}` or `${NAME:-default}`.
        value: VariableLeaf,
        #[expect(dead_code, reason = "read for its type; secrets are noted before")]
        /// Whether the value is taken out of everything stored or shown; false unless given.
        secret: Option<bool>,
    }
}

/// A value by itself, or `{ value: …, secret: true }`.
///
/// Values are filled in before sections are read, so that only the type is of interest here.
#[derive(Debug, Clone)]
pub(super) struct VariableValue;

impl Decode for VariableValue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(node.content, Content::Map(_)) {
            VariableSection::decode(node, findings)?;
        } else {
            VariableLeaf::decode(node, findings)?;
        }
        Some(Self)
    }
}

/// Text, a number, true or false; nothing, when `--var` must give the value.
#[derive(Debug, Clone)]
pub(super) struct VariableLeaf;

impl Decode for VariableLeaf {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(node.content, Content::List(_) | Content::Map(_)) {
            wrong_kind(node, "text, a number, true or false", findings);
            return None;
        }
        Some(Self)
    }
}

impl JsonSchema for VariableLeaf {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "VariableLeaf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": ["string", "number", "boolean", "null"]})
    }
}

impl JsonSchema for VariableValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "VariableValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (leaf, section) = (
            generator.subschema_for::<VariableLeaf>(),
            generator.subschema_for::<VariableSection>(),
        );
        schemars::json_schema!({"anyOf": [leaf, section]})
    }
}

/// The value of an optional key, where it is given and right.
pub(super) fn given<T>(field: Option<&Field<T>>) -> Option<&T> {
    field.and_then(Field::given)
}

/// Whether a key is given but wrong, so that nothing can be said of what it should hold.
pub(super) fn is_wrong<T>(field: Option<&Field<T>>) -> bool {
    matches!(field, Some(Field::Wrong))
}

impl Document {
    pub(super) fn config_file(&self) -> Option<&At<Word>> {
        given(self.config_file.as_ref())
    }

    /// Whether the configuration file is for the container, and says nothing of the servers we talk to.
    pub(super) fn config_is_mounted(&self) -> bool {
        given(self.docker.as_ref()).is_some_and(|it| it.config_target.is_some())
    }

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
