//! The models that a request brings, or that stand in for those that it does not.

use super::folder::Folder;
use super::options::Options;
use super::problem::Problem;
use super::programs;
use super::wire::agent::{AgentConfig, JudgeConfig, ModelConfig, Provider, SYSTEM};
use crate::model::agent::{ApiKey, MAX_STEPS, ModelAgent, ModelApi, Temperature};
use crate::model::judge::{JudgeSettings, MAX_INPUT_CHARS, VerdictForm};
use crate::model::scenario::Agent;
use crate::redact::Secrets;
use crate::scenario_file;
use crate::suite;

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
