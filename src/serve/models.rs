//! The models that a request brings, or that stand in for those that it does not.

use super::folder::Folder;
use super::options::Options;
use super::problem::Problem;
use super::programs;
use super::wire::agent::{AgentConfig, JudgeConfig, Provider, SYSTEM};
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
    let heard = programs::heard(&scenario, system.into_iter());
    if let Some(name) = heard.filter(|_| brings_servers && !options.allowed.programs) {
        let message = format!(
            "`agent.system` of `_defaults.yaml` holds the secret variable `{name}`, which the servers of a request may hear only where the server was started with --allow-programs: give `agentConfig`"
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

/// The judge that a request brings.
pub(super) fn judge(config: &JudgeConfig, secrets: &mut Secrets) -> JudgeSettings {
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

/// A model that a request names.
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
