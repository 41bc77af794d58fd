//! Test cases become scenarios, ready to be run, with the models that a request brings.

use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::folder::Folder;
use super::wire::case::{
    AgentConfig, JudgeConfig, ModelConfig, Provider, SYSTEM, ServerConfig, TestCase,
};
use super::{Options, Problem, programs};
use crate::model::{Redacted, Redaction, Role};
use crate::redact::{Redactor, Secrets};
use crate::report::command;
use crate::scenario_file;
use crate::scenario_file::agent::{
    Agent, ApiKey, MAX_STEPS, ModelAgent, ModelApi, Replaying, Temperature,
};
use crate::scenario_file::evaluators::{
    CallPattern, Evaluator, EvaluatorKind, LlmJudge, THRESHOLD, ToolCalls, WantedCall,
};
use crate::scenario_file::judge::{JudgeSettings, MAX_INPUT_CHARS, VerdictForm};
use crate::scenario_file::servers::{HttpStyle, Server, Start, Transport};
use crate::scenario_file::{Scenario, Timeouts};
use crate::suite;

/// What the ids of test cases begin with, so that they are none of scenario files.
const TEST_CASES: &str = "@test-cases";

/// What stands for the file of a test case.
const NO_FILE: &str = command::TEST_CASE;

/// What the evaluators are called that a test case becomes.
pub(super) const EXPECTED_TOOLS: &str = "expectedTools";
pub(super) const JUDGE: &str = "judge";

/// The longest readable part of an id, in bytes.
const LONGEST_NAME: usize = 80;

/// A test case as the scenario that it is; `at` is where it stands in the request.
///
/// # Errors
///
/// What is wrong with it, or not allowed.
pub(super) fn of_case(
    case: TestCase,
    options: &Options,
    folder: &Folder<'_>,
    at: &str,
) -> Result<Prepared, Problem> {
    let mut secrets = Secrets::of_environment();
    let asked = without_keys(&case)?;
    let servers = match &case.server_configs {
        Some(configs) => servers(configs, options, &mut secrets, at)?,
        None if options.servers.is_empty() => {
            return Err(Problem::at(
                format!("{at}/serverConfigs"),
                "there are no servers: give `serverConfigs`, or start the server with --mcp-config",
            ));
        }
        None => options.servers.clone(),
    };
    let brought = (case.agent_config.as_ref(), case.server_configs.is_some());
    let agent = agent(brought, (options, folder), &mut secrets, at)?;
    let (timeout, said_by) = options.bounds.timeout(case.timeout);
    let expected = distinct(&case.expected_tools);
    let mut evaluators = Vec::new();
    if !expected.is_empty() {
        evaluators.push(all_called(&expected));
    }
    let mut redaction = Redaction::default();
    let judge = match (&case.judge_config, &options.judge) {
        (Some(config), _) => {
            evaluators.push(judged(&case.prompt, &config.criteria, config.threshold));
            Some(Box::new(judge(config, &mut secrets)))
        }
        (None, Some(loaded)) => {
            evaluators.push(judged(&case.prompt, &[], None));
            redaction.marked.extend(loaded.marked.clone());
            Some(Box::new(loaded.settings.clone()))
        }
        (None, None) => None,
    };
    let messages = [case.prompt.clone()];
    // It names files, and stands in all that is reported.
    let named = Redactor::new(&secrets, &redaction).text(&case.name);
    let scenario = Scenario {
        id: id(&named),
        path: PathBuf::from(NO_FILE),
        hash: scenario_file::scenario_hash(&messages, &redaction),
        name: case.name,
        enabled: true,
        user_intent: Some(case.prompt),
        servers,
        agent: Agent::Model {
            settings: Box::new(agent),
            calls: Vec::new(),
        },
        judge,
        replaying: Replaying::within(timeout),
        is_test_case: true,
        evaluators,
        redaction,
        timeouts: Timeouts {
            scenario: timeout,
            said_by,
            ..Timeouts::default()
        },
        ..Scenario::default()
    };
    let redactor = Redactor::new(&secrets, &scenario.redaction);
    Ok(Prepared {
        asked: redactor.value(asked),
        scenario,
        expected,
        secrets,
        file: None,
    })
}

/// A test case as its reply repeats it: keys stay here.
fn without_keys(case: &TestCase) -> Result<Value, Problem> {
    let mut shown = case.clone();
    if let Some(agent) = &mut shown.agent_config {
        agent.model.api_key = None;
    }
    if let Some(judge) = &mut shown.judge_config {
        judge.model.api_key = None;
    }
    serde_json::to_value(shown).map_err(|error| Problem::ours(error.to_string()))
}

/// The id of a test case: its name as far as that can be one, and what tells it from others that look like it.
pub(super) fn id(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|it| {
            let is_plain = it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
            if is_plain { it } else { '-' }
        })
        .take(LONGEST_NAME)
        .collect();
    if plain == name && !name.starts_with('.') {
        return format!("{TEST_CASES}/{name}");
    }
    let hash = hex::encode(Sha256::digest(name));
    let plain = plain.trim_matches(['.', '-']);
    format!("{TEST_CASES}/{plain}~{}", &hash[..8])
}

/// All of these are called, in any order; others may be, too.
fn all_called(tools: &[String]) -> Evaluator {
    let required = tools.iter().map(|it| WantedCall {
        call: CallPattern {
            tool: it.clone(),
            ..CallPattern::default()
        },
        min: 1,
        ..WantedCall::default()
    });
    gating(
        EXPECTED_TOOLS,
        EvaluatorKind::ToolCalls(Box::new(ToolCalls {
            required: required.collect(),
            ..ToolCalls::default()
        })),
    )
}

fn judged(prompt: &str, criteria: &[String], threshold: Option<f64>) -> Evaluator {
    let criteria = if criteria.is_empty() {
        vec![format!("The agent did what it was asked for: {prompt}")]
    } else {
        criteria.to_vec()
    };
    let asked = LlmJudge {
        threshold: threshold.unwrap_or(THRESHOLD),
        ..LlmJudge::of_criteria(criteria)
    };
    gating(JUDGE, EvaluatorKind::LlmJudge(Box::new(asked)))
}

fn gating(name: &str, kind: EvaluatorKind) -> Evaluator {
    Evaluator {
        name: Some(name.to_owned()),
        role: Role::Gating,
        weight: 1.0,
        line: None,
        said_in: None,
        kind,
    }
}

/// The servers of a test case.
fn servers(
    configs: &[ServerConfig],
    options: &Options,
    secrets: &mut Secrets,
    at: &str,
) -> Result<Vec<Server>, Problem> {
    let mut servers: Vec<Server> = Vec::new();
    for (number, config) in configs.iter().enumerate() {
        let unnamed = match configs.len() {
            1 => "server".to_owned(),
            _ => format!("server-{}", number + 1),
        };
        let name = config.name().map_or(unnamed, str::to_owned);
        let at = format!("{at}/serverConfigs/{number}");
        if servers.iter().any(|it| it.name == name) {
            let message = format!("there is another server `{name}`");
            return Err(Problem::at(format!("{at}/name"), message));
        }
        let pairs = |it: &std::collections::BTreeMap<String, String>| -> Vec<(String, String)> {
            it.iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let transport = match config {
            ServerConfig::Stdio {
                command, args, env, ..
            } => {
                if !options.allowed.programs {
                    let message = format!(
                        "the server `{name}` is a program, which a request may start only if the server was started with --allow-programs"
                    );
                    return Err(Problem::forbidden_at(at, message));
                }
                let env = pairs(env);
                secrets.named("env", &name, borrowed(&env));
                Transport::Stdio(Start {
                    command: command.clone(),
                    args: args.clone(),
                    env,
                    cwd: None,
                })
            }
            ServerConfig::Http { url, headers, .. } => {
                let headers = pairs(headers);
                secrets.named("header", &name, borrowed(&headers));
                Transport::http(HttpStyle::Streamable, url, headers)
            }
            ServerConfig::Sse { url, headers, .. } => {
                let headers = pairs(headers);
                secrets.named("header", &name, borrowed(&headers));
                Transport::http(HttpStyle::Sse, url, headers)
            }
        };
        servers.push(Server::new(name, transport));
    }
    scenario_file::literal(&mut servers);
    Ok(servers)
}

fn borrowed(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let pairs = pairs.iter();
    pairs.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// A scenario that is to be run, and what its reply needs to know.
pub(super) struct Prepared {
    pub(super) scenario: Scenario,
    /// What was asked for, without secrets.
    pub(super) asked: Redacted<Value>,
    /// The tools that must be called, where a test case says so.
    pub(super) expected: Vec<String>,
    /// What the request brought that is secret.
    pub(super) secrets: Secrets,
    /// The file that its text lies in until it has run.
    pub(super) file: Option<tempfile::NamedTempFile>,
}

/// Gives a scenario the servers that whoever started the server has named: in place of its own of the same names, and all of them where it has
/// none.
pub(super) fn give_servers(own: &mut Vec<Server>, given: &[Server]) {
    let is_bare = own.is_empty();
    let names: Vec<String> = own.iter().map(|it| it.name.clone()).collect();
    let fit = given
        .iter()
        .filter(|it| is_bare || names.contains(&it.name));
    let fit: Vec<Server> = fit.cloned().collect();
    suite::give_servers(own, &fit);
}

/// Each of these once, in their order.
pub(super) fn distinct<'a>(tools: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for tool in tools {
        if !distinct.contains(tool) {
            distinct.push(tool.clone());
        }
    }
    distinct
}

/// Who makes the calls of a test case: the agent that it brings, or that of the server, on servers that it brings or not.
pub(super) fn agent(
    (config, brings_servers): (Option<&AgentConfig>, bool),
    (options, folder): (&Options, &Folder<'_>),
    secrets: &mut Secrets,
    at: &str,
) -> Result<ModelAgent, Problem> {
    if let Some(config) = config {
        return Ok(chosen(config, secrets));
    }
    let none = |why: &str| {
        let message = format!(
            "there is no agent: give `agentConfig`, start the server with --agent and --model, or name a model under `agent` in `_defaults.yaml` of the folder that is served{why}"
        );
        Problem::at(format!("{at}/agentConfig"), message)
    };
    let mut scenario = [folder
        .of_defaults()
        .ok_or_else(|| none(", which is broken"))?];
    if options.agent.agent.is_some() || options.agent.model.is_some() {
        suite::choose(&mut scenario, &options.agent)
            .map_err(|error| none(&format!(": {error}")))?;
    }
    let [scenario] = scenario;
    let system = scenario.agent.model().and_then(|it| it.system.as_deref());
    let secret = programs::first_secret_in(&scenario, system.into_iter());
    if let Some(name) = secret.filter(|_| brings_servers && !options.allowed.programs) {
        let message = format!(
            "`agent.system` of `_defaults.yaml` holds the secret variable `{name}`, which the servers of a request may receive only if the server was started with --allow-programs: give `agentConfig`"
        );
        return Err(Problem::forbidden_at(format!("{at}/agentConfig"), message));
    }
    match scenario.agent {
        Agent::Model { settings, .. } => Ok(ModelAgent {
            system: settings.system.clone().or_else(|| Some(SYSTEM.to_owned())),
            ..*settings
        }),
        _ => Err(none("")),
    }
}

/// The agent that a request brings.
pub(super) fn chosen(config: &AgentConfig, secrets: &mut Secrets) -> ModelAgent {
    let mut agent = model(&config.model, "agent.apiKey", secrets);
    agent.system.get_or_insert_with(|| SYSTEM.to_owned());
    agent.max_steps = config.max_steps.unwrap_or(MAX_STEPS);
    agent.tool_choice.clone_from(&config.tool_choice);
    scenario_file::literal(&mut agent);
    agent
}

/// The judge that a request brings.
pub(super) fn judge(config: &JudgeConfig, secrets: &mut Secrets) -> JudgeSettings {
    let mut asked = model(&config.model, "judge.apiKey", secrets);
    asked.temperature = config.model.temperature.unwrap_or(Temperature::Unset);
    scenario_file::literal(&mut asked);
    JudgeSettings {
        // It can offer tools, and not force a call.
        form: match asked.api {
            ModelApi::Ollama => VerdictForm::JsonSchema,
            _ => VerdictForm::ToolCall,
        },
        asked,
        max_input_chars: MAX_INPUT_CHARS,
    }
}

/// A model that a request names, whose key is a secret of this name.
fn model(config: &ModelConfig, key_name: &str, secrets: &mut Secrets) -> ModelAgent {
    let api = match config.provider {
        Provider::Anthropic => ModelApi::Anthropic,
        Provider::Openai | Provider::Custom => ModelApi::OpenAiChat,
        Provider::Ollama => ModelApi::Ollama,
    };
    let key = config.api_key.as_ref().map(|it| it.0.as_str());
    if let Some(key) = key {
        secrets.declare(key_name, "", key);
    }
    ModelAgent {
        base_url: config.base_url.clone(),
        api_key: key.map(|it| ApiKey(it.trim().to_owned())),
        system: config.system.clone(),
        temperature: config.temperature.unwrap_or_default(),
        max_tokens: config.max_tokens,
        ..ModelAgent::new(api, &config.model)
    }
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn ids_are_names_as_far_as_those_can_be() {
        assert_eq!(id("List_files-2.0"), "@test-cases/List_files-2.0");
        let odd = [
            "List files",
            "List/files",
            "../../etc/passwd",
            "a\0b",
            ".hidden",
            "",
            "ä",
            "ö",
            &"x".repeat(500),
            &"x".repeat(499),
        ];
        let ids: Vec<String> = odd.iter().map(|it| id(it)).collect();
        for (id, name) in ids.iter().zip(odd) {
            let own = id.strip_prefix("@test-cases/").unwrap_or_default();
            let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.~".contains(it);
            assert!(own.chars().all(is_plain) && own.len() < 100, "{name}: {id}");
            assert!(!own.starts_with('.'), "{name}: {id}");
        }
        let different: std::collections::HashSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
    }
}
