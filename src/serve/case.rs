//! A test case becomes a scenario.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::folder::Folder;
use super::options::Options;
use super::prepared::Prepared;
use super::problem::Problem;
use super::programs;
use super::wire::agent::{AgentConfig, JudgeConfig, Provider, SYSTEM};
use super::wire::case::{RunRequest, ScenarioRequest, TestCase, YamlRequest};
use super::wire::server::ServerConfig;
use crate::model::agent::{ApiKey, Limits, MAX_STEPS, ModelAgent, ModelApi, Temperature};
use crate::model::evaluator::{CallPattern, Evaluator, EvaluatorKind, Role, ToolCalls, WantedCall};
use crate::model::judge::{JudgeSettings, LlmJudge, MAX_INPUT_CHARS, THRESHOLD, VerdictForm};
use crate::model::label::Labels;
use crate::model::redaction::Redaction;
use crate::model::rules::Rules;
use crate::model::scenario::{
    Agent, HttpStyle, Places, Replaying, Scenario, Server, Timeouts, Transport,
};
use crate::model::source::Source;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file;
use crate::suite;

/// What the ids of test cases begin with, so that they are none of scenario files.
const TEST_CASES: &str = "@test-cases";

/// What stands for the file of a test case.
const NO_FILE: &str = "test case";

/// What the evaluators are called that a test case becomes.
pub(super) const EXPECTED_TOOLS: &str = "expectedTools";
pub(super) const JUDGE: &str = "judge";

/// The longest readable part of an id, in bytes.
const LONGEST_NAME: usize = 80;

/// What a request wants to be run. A scenario with a data set is as many as it has rows.
///
/// # Errors
///
/// What is wrong with it, or not allowed.
pub(super) fn prepare(
    request: RunRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    match request {
        RunRequest::Bare(case) => Ok(vec![of_case(case, (options, folder), "")?]),
        RunRequest::Case(it) => Ok(vec![of_case(it.test_case, (options, folder), "/testCase")?]),
        RunRequest::Scenario(it) => of_scenario(&it, options, folder),
        RunRequest::Yaml(it) => of_yaml(&it, options, folder),
    }
}

fn of_case(
    case: TestCase,
    (options, folder): (&Options, &Folder<'_>),
    at: &str,
) -> Result<Prepared, Problem> {
    let mut secrets = Secrets::of_environment();
    let asked = told_back(&case)?;
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
    let agent = agent(
        case.agent_config.as_ref(),
        (options, folder),
        &mut secrets,
        at,
    )?;
    let timeout = timeout(case.timeout, options);
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
    // It names files, and stands in all that is told.
    let named = Redactor::new(&secrets, &redaction).text(&case.name);
    let scenario = Scenario {
        id: id(&named),
        path: PathBuf::from(NO_FILE),
        text_at: None,
        read_from: Vec::new(),
        places: Places::default(),
        defaults_root: PathBuf::new(),
        hash: scenario_file::scenario_hash(&messages, &redaction),
        name: case.name,
        row_of: None,
        cell: None,
        description: None,
        enabled: true,
        left_out: None,
        tags: Vec::new(),
        user_intent: Some(case.prompt),
        turns: Vec::new(),
        config_file: None,
        servers,
        usual_servers: None,
        upstreams: Vec::new(),
        interactions: Arc::default(),
        containers: Vec::new(),
        ready: None,
        before: Vec::new(),
        after: Vec::new(),
        agent: Agent::Model {
            settings: Box::new(agent),
            calls: Vec::new(),
        },
        judge,
        replaying: Replaying::within(timeout),
        expected_trajectory: Vec::new(),
        expects_no_call: false,
        is_test_case: true,
        success_criteria: Vec::new(),
        evaluators,
        evaluation_threshold: None,
        source: Source::default(),
        redaction,
        scoring: Rules::default(),
        labels: Labels::default(),
        timeouts: Timeouts {
            scenario: timeout,
            connect: Timeouts::default().connect.min(timeout),
            tool: Timeouts::default().tool.min(timeout),
        },
        limits: Limits::default(),
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
fn told_back(case: &TestCase) -> Result<Value, Problem> {
    let mut told = case.clone();
    if let Some(agent) = &mut told.agent_config {
        agent.api_key = None;
    }
    if let Some(judge) = &mut told.judge_config {
        judge.api_key = None;
    }
    serde_json::to_value(told).map_err(|error| Problem::ours(error.to_string()))
}

/// Each of these once.
fn distinct<'a>(tools: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for tool in tools {
        if !distinct.contains(tool) {
            distinct.push(tool.clone());
        }
    }
    distinct
}

/// The id of a test case: its name as far as that can be one, and what tells it from others that look like it.
fn id(name: &str) -> String {
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
            arguments: None,
            answer: None,
        },
        min: 1,
        max: None,
        first: false,
        last: false,
        before: None,
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
        let http = |url: &str, headers: Vec<(String, String)>, style| Transport::Http {
            style,
            url: url.to_owned(),
            headers,
            bearer_token_env: None,
            start: None,
            headers_command: Vec::new(),
        };
        let transport = match config {
            ServerConfig::Stdio {
                command, args, env, ..
            } => {
                if !options.allowed.programs {
                    return Err(Problem::forbidden(format!(
                        "the server `{name}` is a program, which a request may start only where the server was started with --allow-programs"
                    )));
                }
                let env = pairs(env);
                secrets.named("env", &name, borrowed(&env));
                Transport::Stdio {
                    command: command.clone(),
                    args: args.clone(),
                    env,
                    cwd: None,
                }
            }
            ServerConfig::Http { url, headers, .. } => {
                let headers = pairs(headers);
                secrets.named("header", &name, borrowed(&headers));
                http(url, headers, HttpStyle::Streamable)
            }
            ServerConfig::Sse { url, headers, .. } => {
                let headers = pairs(headers);
                secrets.named("header", &name, borrowed(&headers));
                http(url, headers, HttpStyle::Sse)
            }
        };
        servers.push(Server {
            name,
            transport,
            connect_timeout: None,
            tool_timeout: None,
            ready: None,
        });
    }
    scenario_file::literal(&mut servers);
    Ok(servers)
}

fn borrowed(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let pairs = pairs.iter();
    pairs.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Who makes the calls of a test case.
fn agent(
    config: Option<&AgentConfig>,
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
    match scenario.agent {
        Agent::Model { settings, .. } => Ok(ModelAgent {
            system: settings.system.clone().or_else(|| Some(SYSTEM.to_owned())),
            ..*settings
        }),
        _ => Err(none("")),
    }
}

/// The agent that a request brings.
fn chosen(config: &AgentConfig, secrets: &mut Secrets) -> ModelAgent {
    let mut agent = model(
        (config.provider, &config.model),
        config.base_url.as_ref(),
        config.api_key.as_ref(),
    );
    if let Some(key) = &config.api_key {
        secrets.declare("agent.apiKey", "", key);
    }
    agent.system = Some(config.system.clone().unwrap_or_else(|| SYSTEM.to_owned()));
    agent.max_steps = config.max_steps.unwrap_or(MAX_STEPS);
    agent.max_tokens = config.max_tokens;
    scenario_file::literal(&mut agent);
    agent
}

fn judge(config: &JudgeConfig, secrets: &mut Secrets) -> JudgeSettings {
    let mut asked = model(
        (config.provider, &config.model),
        config.base_url.as_ref(),
        config.api_key.as_ref(),
    );
    if let Some(key) = &config.api_key {
        secrets.declare("judge.apiKey", "", key);
    }
    asked.temperature = Temperature::Unset;
    scenario_file::literal(&mut asked);
    JudgeSettings {
        asked,
        // It can offer tools, and not force a call.
        form: match config.provider {
            Provider::Ollama => VerdictForm::JsonSchema,
            Provider::Anthropic | Provider::Openai => VerdictForm::ToolCall,
        },
        max_input_chars: MAX_INPUT_CHARS,
    }
}

fn model(
    (provider, model): (Provider, &str),
    base_url: Option<&String>,
    key: Option<&String>,
) -> ModelAgent {
    let api = match provider {
        Provider::Anthropic => ModelApi::Anthropic,
        Provider::Openai => ModelApi::OpenAiChat,
        Provider::Ollama => ModelApi::Ollama,
    };
    ModelAgent {
        base_url: base_url.cloned(),
        api_key: key.map(|it| ApiKey(it.trim().to_owned())),
        ..ModelAgent::new(api, model)
    }
}

/// How long a run may take: as long as is wanted, and no longer than it may here.
fn timeout(wanted: Option<u64>, options: &Options) -> Duration {
    let most = options.bounds.run_timeout;
    wanted.map_or(most, |it| Duration::from_millis(it).min(most))
}

fn of_scenario(
    request: &ScenarioRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    let scenarios = folder.named(&request.scenario, "/scenario")?;
    let rest = (request.agent_config.as_ref(), request.timeout);
    finished(scenarios, rest, (options, folder))
}

fn of_yaml(
    request: &YamlRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    let mut scenarios = folder.of_text(&request.yaml, options.allowed.programs, "/yaml")?;
    let rest = (request.agent_config.as_ref(), request.timeout);
    // Mock servers read it anew, each in a process of its own.
    let file = written(&request.yaml)?;
    for scenario in &mut scenarios {
        // The name of a row names the row, too.
        scenario.row_of = None;
        let named = Redactor::new(&Secrets::of_environment(), &scenario.redaction);
        scenario.id = id(&named.text(&scenario.name));
        scenario.text_at = Some(file.path().to_owned());
    }
    let mut prepared = finished(scenarios, rest, (options, folder))?;
    if let Some(last) = prepared.last_mut() {
        last.file = Some(file);
    }
    Ok(prepared)
}

fn written(text: &str) -> Result<tempfile::NamedTempFile, Problem> {
    let write = || -> std::io::Result<tempfile::NamedTempFile> {
        let mut file = tempfile::NamedTempFile::with_prefix("mcp-eval-")?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(file)
    };
    write().map_err(|error| Problem::ours(format!("the scenario cannot be kept: {error}")))
}

/// Scenarios as a request wants them to be run.
fn finished(
    scenarios: Vec<Scenario>,
    (config, wanted): (Option<&AgentConfig>, Option<u64>),
    (options, folder): (&Options, &Folder<'_>),
) -> Result<Vec<Prepared>, Problem> {
    let bound = timeout(wanted, options);
    let mut prepared = Vec::with_capacity(scenarios.len());
    for mut scenario in scenarios {
        let mut secrets = Secrets::of_environment();
        if let Some(config) = config {
            let calls = scenario.agent.calls().to_vec();
            scenario.agent = Agent::Model {
                settings: Box::new(chosen(config, &mut secrets)),
                calls,
            };
        }
        suite::give_servers(&mut scenario.servers, &options.servers);
        programs::refuse(
            &scenario,
            &options.servers,
            &options.root,
            options.allowed.programs,
        )?;
        scenario.timeouts.scenario = match wanted {
            Some(_) => bound,
            None => bound.min(scenario.timeouts.scenario),
        };
        let redactor = Redactor::new(&secrets, &scenario.redaction);
        prepared.push(Prepared {
            asked: redactor.value(told(&scenario, folder)),
            expected: distinct(scenario.expected_trajectory.iter().map(|it| &it.tool)),
            secrets,
            file: None,
            scenario,
        });
    }
    Ok(prepared)
}

/// A scenario in the words of a test case.
fn told(scenario: &Scenario, folder: &Folder<'_>) -> Value {
    let tools = scenario.expected_trajectory.iter().map(|it| &it.tool);
    json!({
        "name": scenario.name,
        "prompt": scenario.messages().join("\n\n"),
        "expectedTools": tools.collect::<Vec<_>>(),
        "scenario": match scenario.text_at {
            None => Some(folder.below(&scenario.path)),
            Some(_) => None,
        },
    })
}

/// The only one of what a request wants to be run.
///
/// # Errors
///
/// That there are several.
pub(super) fn only(mut prepared: Vec<Prepared>) -> Result<Prepared, Problem> {
    match (prepared.len(), prepared.pop()) {
        (1, Some(only)) => Ok(only),
        (rows, _) => {
            let message = format!(
                "the scenario is {rows} runs, one for each row of its data set: name a row by its id, or run them in a batch"
            );
            Err(Problem::new(StatusCode::BAD_REQUEST, message))
        }
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
