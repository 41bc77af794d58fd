//! The agent of a scenario, with what it needs from outside.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::outcome::Error;
use crate::agent::{Chat, Command, Prompt, Replay, Scripted, Workplace, passes};
use crate::llm::client::{Key, key_env};
use crate::model::placeholder;
use crate::model::{Object, Redacted, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::{self, SetupError};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::{
    Agent, ApiKey, CommandAgent, CommandFormat, MCP_CONFIG, MODEL, ModelAgent, ModelApi, PROMPT,
    ScriptedCall,
};
use crate::suite::secrets::{pairs, query};

/// An agent that may be chosen in place of a scenario's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentChoice {
    /// Plays the calls the scenario lists.
    Scripted,
    /// Plays the calls of the accepted baseline.
    Replay,
    /// A model behind one of these APIs.
    Anthropic,
    OpenAi,
    Ollama,
    /// A program of its own.
    Command,
}

/// Who makes the calls, in place of what scenarios say.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub agent: Option<AgentChoice>,
    /// The program that is the agent, and its arguments; that of the scenario, or the usual one of the format, unless given.
    pub program: Option<Vec<String>>,
    /// What that program prints.
    pub format: Option<CommandFormat>,
    /// The model to ask.
    pub model: Option<String>,
    /// What all requests to models may cost together; it can only be kept where prices are known.
    pub budget: Option<f64>,
}

/// Gives the scenarios the agent and the model that were chosen on the command line.
///
/// # Errors
///
/// When a scenario lacks what its agent needs, or an option does not apply to its agent.
pub fn choose(scenarios: &mut [Scenario], choice: &Choice) -> Result<(), Error> {
    let mut takers = 0;
    let mut priced_for_another: HashSet<String> = HashSet::new();
    // Who measures is no matter of choice.
    let measures = |it: &Scenario| it.measurement.is_some();
    for scenario in scenarios.iter_mut().filter(|it| !measures(it)) {
        let was_priced = scenario.agent.price().is_some();
        match choice.agent {
            None => {}
            Some(AgentChoice::Replay) => {
                scenario.agent = Agent::Replay {
                    calls: scenario.agent.calls().to_vec(),
                }
            }
            Some(AgentChoice::Scripted) => script(scenario)?,
            Some(AgentChoice::Anthropic) => ask(scenario, ModelApi::Anthropic, choice)?,
            Some(AgentChoice::OpenAi) => ask(scenario, ModelApi::OpenAiChat, choice)?,
            Some(AgentChoice::Ollama) => ask(scenario, ModelApi::Ollama, choice)?,
            Some(AgentChoice::Command) => start(scenario, choice)?,
        }
        if let Some(model) = &choice.model {
            takers += usize::from(take_model(&mut scenario.agent, model));
            if was_priced && scenario.agent.price().is_none() {
                priced_for_another.insert(scenario.id.clone());
            }
        }
    }
    if choice.model.is_some() && takers == 0 {
        return Err(Error::invalid("no scenario has an agent with a model")
            .hint("with --model goes --agent anthropic, openai or ollama, or `${model}` in the command of an agent"));
    }
    let unpriced = scenarios.iter().find(|it| {
        let is_unknown = match &it.agent {
            Agent::Model { settings, .. } => settings.price.is_none(),
            Agent::Command { settings, .. } => {
                let priced = settings.format.reports_usage() && settings.price.is_some();
                !priced && !settings.format.reports_cost()
            }
            Agent::Scripted { .. } | Agent::Replay { .. } => false,
        };
        it.enabled && is_unknown && (choice.budget.is_some() || it.limits.max_cost.is_some())
    });
    unpriced.map_or(Ok(()), |scenario| {
        let path = scenario.path.display();
        let what = if choice.budget.is_some() {
            "--budget"
        } else {
            "`limits.max_cost`"
        };
        let failure = Error::invalid(format!(
            "{path}: {what} cannot be kept, because the cost of the model is unknown"
        ));
        let command = scenario.agent.command();
        Err(if command.is_some_and(|it| !it.format.reports_usage()) {
            failure.hint("this agent does not tell what it uses")
        } else if priced_for_another.contains(&scenario.id) {
            let model = choice.model.as_deref().unwrap_or_default();
            failure.hint(&format!(
                "`agent.price` is that of the scenario's own model, and not of `{model}`: a scenario that names `{model}` itself can have its price"
            ))
        } else {
            failure.hint("give its price under `agent.price`")
        })
    })
}

/// Lets an agent ask another model; says whether it can.
fn take_model(agent: &mut Agent, model: &str) -> bool {
    match agent {
        Agent::Model { settings, .. } => {
            if settings.model != model {
                settings.price = None;
            }
            model.clone_into(&mut settings.model);
            true
        }
        Agent::Command { settings, .. } if scenario_file::agent::takes(settings, MODEL) => {
            if settings.model.as_deref() != Some(model) {
                settings.price = None;
            }
            settings.model = Some(model.to_owned());
            true
        }
        _ => false,
    }
}

/// Makes the scenario's agent the one that plays the listed calls.
fn script(scenario: &mut Scenario) -> Result<(), Error> {
    let calls = scenario.agent.calls().to_vec();
    if calls.is_empty() && scenario.enabled {
        let path = scenario.path.display();
        return Err(
            Error::invalid(format!("{path} lists no calls for a scripted agent"))
                .hint("list calls under `expected_trajectory` or `agent.calls`"),
        );
    }
    scenario.agent = Agent::Scripted { calls };
    Ok(())
}

/// Makes the scenario's agent a model behind this API. Of the settings of one that was made for another API, those stay that every model
/// understands.
fn ask(scenario: &mut Scenario, api: ModelApi, choice: &Choice) -> Result<(), Error> {
    asks_for_something(scenario)?;
    let path = scenario.path.display();
    let own = scenario.agent.model();
    if own.is_some_and(|it| it.api.kind() == api.kind()) {
        return Ok(());
    }
    let Some(model) = &choice.model else {
        let message = format!("{path} names no model of {}", api.kind());
        return Err(Error::invalid(message).hint("add --model NAME"));
    };
    let mut settings = ModelAgent::new(api, model);
    if let Some(own) = own {
        settings = ModelAgent {
            system: own.system.clone(),
            temperature: own.temperature,
            max_tokens: own.max_tokens,
            max_steps: own.max_steps,
            tool_choice: own.tool_choice.clone(),
            timeout: own.timeout,
            tool_timeout: own.tool_timeout,
            max_result_chars: own.max_result_chars,
            ..settings
        };
    }
    scenario.agent = Agent::Model {
        settings: Box::new(settings),
        calls: scenario.agent.calls().to_vec(),
    };
    Ok(())
}

/// Makes the scenario's agent a program. Of one that the scenario has already, all stays that is not given.
fn start(scenario: &mut Scenario, choice: &Choice) -> Result<(), Error> {
    asks_for_something(scenario)?;
    let own = scenario.agent.command();
    let format = choice
        .format
        .or(own.map(|it| it.format))
        .unwrap_or_default();
    // The command line of one format is none of another.
    let same = own.filter(|it| it.format == format);
    let command = match (&choice.program, same) {
        (Some(program), _) => program.clone(),
        (None, Some(own)) => own.command.clone(),
        (None, None) if format.has_command() => Vec::new(),
        (None, None) => {
            let path = scenario.path.display();
            let message = format!("{path} names no program that could be the agent");
            return Err(Error::invalid(message).hint(
                "add --agent-command 'PROGRAM ARGUMENTS', or --agent-format claude, codex or gemini",
            ));
        }
    };
    let price = same.and_then(|it| it.price);
    let own = own.cloned().unwrap_or_default();
    let settings = CommandAgent {
        command,
        format,
        price,
        cwd: own.cwd.filter(|_| !format.is_configured_by_folder()),
        ..own
    };
    scenario.agent = Agent::Command {
        settings: Box::new(settings),
        calls: scenario.agent.calls().to_vec(),
    };
    Ok(())
}

/// An agent that decides for itself has to know what the user wants.
fn asks_for_something(scenario: &Scenario) -> Result<(), Error> {
    if scenario.messages().is_empty() && scenario.enabled {
        let path = scenario.path.display();
        return Err(
            Error::invalid(format!("{path} does not say what the user wants"))
                .hint("say it with `user_intent` or `turns`"),
        );
    }
    Ok(())
}

/// An agent that can be reached, with all that the environment gives.
pub(crate) enum Reached {
    Model(ModelAgent, Option<Key>),
    Command(CommandAgent, Prompt, Workplace),
    /// It needs nothing from outside.
    Here,
}

impl Reached {
    /// The model's name, where it is known.
    pub(crate) fn model(&self) -> Option<&str> {
        match self {
            Self::Model(settings, _) => Some(&settings.model),
            Self::Command(settings, ..) => settings.model.as_deref(),
            Self::Here => None,
        }
    }
}

/// The section of a scenario that describes the model which judges its runs.
pub(super) const JUDGE: &str = "judge";

/// Fills in what the environment gives an agent; the secrets among it, and those of the scenario's judge, are added to `secrets`.
///
/// # Errors
///
/// What is missing.
pub(crate) fn reach(scenario: &Scenario, secrets: &mut Secrets) -> Result<Reached, SetupError> {
    if let Some(judge) = &scenario.judge {
        // Whether it can be asked shows when it is.
        let _ = reach_model(&judge.asked, JUDGE, secrets);
    }
    match &scenario.agent {
        Agent::Model { settings, .. } => {
            let (settings, key) = reach_model(settings, "agent", secrets)?;
            Ok(Reached::Model(settings, key))
        }
        Agent::Command { settings, .. } => {
            reach_command(settings, scenario.messages().join("\n\n"), secrets)
        }
        Agent::Scripted { .. } | Agent::Replay { .. } => Ok(Reached::Here),
    }
}

fn reach_command(
    settings: &CommandAgent,
    prompt: String,
    secrets: &mut Secrets,
) -> Result<Reached, SetupError> {
    let workplace = Workplace::new(settings.format)
        .map_err(|error| SetupError::new(format!("the agent has no folder to work in: {error}")))?;
    let config = workplace.mcp_config().to_string_lossy().into_owned();
    if settings.model.is_none() && scenario_file::agent::needs(settings, MODEL) {
        return Err(SetupError::new(
            "`${model}` has no value: give `agent.model`, or `--model NAME`",
        ));
    }
    let lookup = |name: &str| match name {
        PROMPT => Some(prompt.clone()),
        MCP_CONFIG => Some(config.clone()),
        _ => std::env::var(name).ok(),
    };
    let (mut filled, variables) = scenario_file::expand_command(settings, lookup)?;
    let mut env = vendors_own(settings.format);
    env.append(&mut filled.env);
    filled.env = env;
    secrets.environment("agent", &variables);
    secrets.named("env", "agent", pairs(&filled.env));
    secrets.named("env", "agent", packed(&filled.env));
    let on_stdin = scenario_file::agent::reads_prompt(settings);
    let prompt = Prompt {
        text: prompt,
        on_stdin,
    };
    Ok(Reached::Command(filled, prompt, workplace))
}

/// The named values inside of variables: headers, one per line, and the parameters of addresses.
fn packed(env: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let headers = env.iter().flat_map(|(_, value)| value.lines());
    let headers = headers.filter_map(|it| it.split_once(':'));
    let headers = headers.map(|(name, value)| (name, value.trim()));
    headers.chain(env.iter().flat_map(|(_, value)| query(value)))
}

/// The variables of our environment that a command of this format reads.
fn vendors_own(format: CommandFormat) -> Vec<(String, String)> {
    let ours = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let value = value.into_string().ok()?;
        passes(format, &name).then_some((name, value))
    });
    ours.collect()
}

/// Fills in what the environment gives a model that this section of the scenario describes; the secrets among it are added to `secrets`.
///
/// # Errors
///
/// What is missing.
pub(super) fn reach_model(
    settings: &ModelAgent,
    section: &str,
    secrets: &mut Secrets,
) -> Result<(ModelAgent, Option<Key>), SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (settings, variables) = scenario_file::expand(settings, lookup)?;
    secrets.environment(section, &variables);
    secrets.named("header", section, pairs(&settings.extra_headers));
    secret_members(&settings.extra_body, section, secrets);
    if let Some(url) = &settings.base_url {
        secrets.named("query", section, query(url));
    }
    if let Some(ApiKey(value)) = &settings.api_key {
        let name = format!("{section}.apiKey");
        secrets.declare(&name, "", value);
        let key = Key {
            env: name,
            value: value.clone(),
        };
        return Ok((settings, Some(key)));
    }
    let key = match key_env(&settings)? {
        None => None,
        Some(env) => {
            let value = lookup(&env).map(|it| it.trim().to_owned());
            let value = value.filter(|it| !it.is_empty()).ok_or_else(|| {
                SetupError::new(format!(
                    "no key for the model: set the environment variable `{env}`, or name a different one with `{section}.api_key_env`"
                ))
            })?;
            secrets.declare(&format!("env.{env}"), "", &value);
            Some(Key { env, value })
        }
    };
    Ok((settings, key))
}

/// Adds the texts of a body whose names say that they are secret, at any depth.
fn secret_members(body: &Object, section: &str, secrets: &mut Secrets) {
    for (name, value) in body {
        match value {
            Value::String(text) => secrets.named("body", section, [(name.as_str(), text.as_str())]),
            Value::Object(inner) => secret_members(inner, section, secrets),
            _ => {}
        }
    }
}

/// The agent that makes the calls. The caller of a replay has loaded its baseline; without one, a replay plays no calls.
///
/// # Errors
///
/// What cannot be used of the settings of a model.
pub(crate) fn agent(
    scenario: &Scenario,
    reached: Reached,
    baseline: Option<&Arc<Redacted<Trajectory>>>,
    redactor: Redactor,
    secrets: Secrets,
    supervisor: Option<&Path>,
) -> Result<Box<dyn run::Agent>, SetupError> {
    Ok(match (&scenario.agent, baseline, reached) {
        (Agent::Replay { .. }, Some(baseline), _) => Box::new(Replay::new(
            Arc::clone(baseline),
            scenario.replaying.clone(),
            scenario.scoring.clone(),
            redactor,
            secrets,
        )),
        (_, _, Reached::Model(settings, key)) => {
            Box::new(Chat::new(settings, key.as_ref(), scenario.messages())?)
        }
        (_, _, Reached::Command(settings, prompt, workplace)) => {
            let supervisor = supervisor.map(Path::to_owned);
            Box::new(Command::new(settings, prompt, workplace, supervisor))
        }
        (other, baseline, _) => Box::new(
            Scripted::new(
                scenario.messages(),
                calls_to_send(scenario, other.calls(), &secrets)?,
            )
            .with_rules(scenario.scoring.clone())
            .after(baseline.cloned()),
        ),
    })
}

/// The server that a tool's full name, `mcp__<server>__<tool>`, begins with; empty where it is a bare name.
fn addressed(tool: &str) -> &str {
    let named = tool
        .strip_prefix("mcp__")
        .and_then(|it| it.split_once("__"));
    named.map_or("", |(server, _)| server)
}

/// The calls of a script with secrets in the place of placeholders, as a script has them that was made of a session.
///
/// # Errors
///
/// When nobody knows what stood there: a placeholder is never sent.
fn calls_to_send(
    scenario: &Scenario,
    calls: &[ScriptedCall],
    secrets: &Secrets,
) -> Result<Vec<ScriptedCall>, SetupError> {
    let mut calls = calls.to_vec();
    for (number, call) in (1..).zip(&mut calls) {
        let mut arguments = call.arguments.iter();
        let holds =
            arguments.any(|(key, it)| placeholder::holds(key) || placeholder::holds_any(it));
        if !holds && !placeholder::holds(&call.tool) {
            continue;
        }
        let mut servers = scenario.servers.iter().map(|it| it.name.as_str());
        let server = match (servers.len(), servers.next()) {
            (1, Some(only)) => only.to_owned(),
            _ => addressed(&call.tool).to_owned(),
        };
        let restored = secrets.restore(&mut call.arguments, &server);
        let restored = restored.and_then(|()| secrets.restore_text(&call.tool, &server));
        call.tool = restored.map_err(|unknown| SetupError {
            message: format!(
                "call {number} of the script holds `{}`, a secret whose value is now unknown",
                unknown.placeholder
            ),
            details: vec![
                unknown.hint,
                "a text that only looks like that is written with a second colon: `<secret::…>`"
                    .to_owned(),
            ],
            trouble: None,
        })?;
        // In texts of another length, nobody knows any more where variables were filled in.
        call.filled.clear();
    }
    Ok(calls)
}
