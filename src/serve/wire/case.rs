//! What is to be run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{AgentConfig, JudgeConfig};
use super::server::ServerConfig;

/// Something an agent is asked to do, and the tools that it is expected to call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestCase {
    #[schemars(length(min = 1, max = 500))]
    pub name: String,
    /// What the user says.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// The tools that must be called, in any order, by their names or as `mcp__SERVER__TOOL`; others may be called, too.
    #[serde(default)]
    #[schemars(length(max = 1000), inner(length(min = 1, max = 500)))]
    pub expected_tools: Vec<String>,
    /// The servers of the agent; those of `--mcp-config` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub server_configs: Option<Vec<ServerConfig>>,
    /// Who makes the calls; who was named at the server's start unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// Who judges besides; the judge of `--judge`, if there is one, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JudgeConfig")]
    pub judge_config: Option<JudgeConfig>,
    /// How long the run may take, in milliseconds; no longer than the server allows, and that unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}

/// A test case by itself, within `testCase`, or a scenario: a served one, or the text of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunRequest {
    Case(CaseRequest),
    Scenario(ScenarioRequest),
    Yaml(YamlRequest),
    Bare(TestCase),
}

/// A test case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseRequest {
    pub test_case: TestCase,
}

/// A scenario of the folder that is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScenarioRequest {
    /// Its file below that folder, or its id; of a data set, the id of one row.
    #[schemars(length(min = 1, max = 4096))]
    pub scenario: String,
    /// Who makes the calls, in place of the scenario's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// How long the run may take, in milliseconds; the scenario's own bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}

/// The text of a scenario file that lies nowhere: files that it names are looked for in the folder that is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct YamlRequest {
    /// `${…}` in it stands for itself.
    #[schemars(length(min = 1))]
    pub yaml: String,
    /// Who makes the calls, in place of the scenario's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// How long the run may take, in milliseconds; the scenario's own bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}
