//! Who asks: the agent of a scenario, with what it needs from outside.

use std::sync::Arc;

use serde_json::Value;

use crate::agent::{Chat, Key, Replay, Scripted, key_env};
use crate::cli::args::{AgentChoice, ExecuteArgs, PaceChoice};
use crate::cli::failure::Failure;
use crate::cli::servers::{query, secret_values};
use crate::model::Object;
use crate::model::agent::{ModelAgent, ModelApi};
use crate::model::scenario::{Agent, Pace, Scenario};
use crate::model::trajectory::Trajectory;
use crate::redact::Redactor;
use crate::run::{self, SetupError};
use crate::scenario_file;

/// Gives the scenarios the agent, the model and the pace that the command line names.
///
/// # Errors
///
/// When a scenario lacks what its agent needs, or nothing can be made of an option.
pub(super) fn choose(scenarios: &mut [Scenario], args: &ExecuteArgs) -> Result<(), Failure> {
    for scenario in scenarios.iter_mut() {
        match args.agent {
            None => {}
            Some(AgentChoice::Replay) => {
                scenario.agent = Agent::Replay {
                    calls: scenario.agent.calls().to_vec(),
                }
            }
            Some(AgentChoice::Scripted) => script(scenario)?,
            Some(AgentChoice::Anthropic) => ask(scenario, ModelApi::Anthropic, args)?,
            Some(AgentChoice::Openai) => ask(scenario, ModelApi::OpenAiChat, args)?,
            Some(AgentChoice::Ollama) => ask(scenario, ModelApi::Ollama, args)?,
        }
        if let (Agent::Model { settings, .. }, Some(model)) = (&mut scenario.agent, &args.model) {
            if settings.model != *model {
                settings.price = None;
            }
            settings.model.clone_from(model);
        }
        match args.pace {
            None => {}
            Some(PaceChoice::Fast) => scenario.replaying.pace = Pace::Fast,
            Some(PaceChoice::Recorded) => scenario.replaying.pace = Pace::Recorded,
        }
    }
    let models = || scenarios.iter().filter(|it| it.agent.model().is_some());
    if args.model.is_some() && models().next().is_none() {
        return Err(Failure::usage("no scenario has an agent with a model")
            .hint("with --model goes --agent anthropic, openai or ollama"));
    }
    let unpriced = models().find(|it| {
        let has_price = it.agent.model().is_some_and(|it| it.price.is_some());
        it.enabled && !has_price && (args.budget.is_some() || it.limits.max_cost.is_some())
    });
    unpriced.map_or(Ok(()), |scenario| {
        let path = scenario.path.display();
        let what = if args.budget.is_some() {
            "--budget"
        } else {
            "`limits.max_cost`"
        };
        Err(Failure::usage(format!(
            "{path}: {what} cannot be kept, because nobody knows what the model costs"
        ))
        .hint("give its price under `agent.price`"))
    })
}

/// Lets the scenario's calls be played.
fn script(scenario: &mut Scenario) -> Result<(), Failure> {
    let calls = scenario.agent.calls().to_vec();
    if calls.is_empty() && scenario.enabled {
        let path = scenario.path.display();
        return Err(
            Failure::usage(format!("{path} lists no calls for a scripted agent"))
                .hint("list calls under `expected_trajectory` or `agent.calls`"),
        );
    }
    scenario.agent = Agent::Scripted { calls };
    Ok(())
}

/// Lets a model be asked. Of a scenario that is made for another API, what has a meaning for every model stays.
fn ask(scenario: &mut Scenario, api: ModelApi, args: &ExecuteArgs) -> Result<(), Failure> {
    let path = scenario.path.display();
    if scenario.messages().is_empty() && scenario.enabled {
        return Err(
            Failure::usage(format!("{path} does not say what the user wants"))
                .hint("say it with `user_intent` or `turns`"),
        );
    }
    let own = scenario.agent.model();
    if own.is_some_and(|it| it.api.kind() == api.kind()) {
        return Ok(());
    }
    let Some(model) = &args.model else {
        let message = format!("{path} names no model of {}", api.kind());
        return Err(Failure::usage(message).hint("add --model NAME"));
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

/// How a model is reached, with all that the environment gives.
#[derive(Clone)]
pub(super) struct Reached {
    settings: ModelAgent,
    key: Option<Key>,
}

impl Reached {
    /// The model's name.
    pub(super) fn model(&self) -> &str {
        &self.settings.model
    }
}

/// Fills in what the environment gives an agent with a model; the secrets among it are added to `secrets`.
///
/// # Errors
///
/// What is missing.
pub(super) fn reach(
    scenario: &Scenario,
    secrets: &mut Vec<String>,
) -> Result<Option<Reached>, SetupError> {
    let Some(settings) = scenario.agent.model() else {
        return Ok(None);
    };
    let lookup = |name: &str| std::env::var(name).ok();
    let (settings, variables) = scenario_file::expand_agent(settings, lookup)
        .map_err(|missing| SetupError::new(missing.to_string()))?;
    let named = variables.iter().filter(|it| Redactor::is_secret_name(it));
    secrets.extend(named.filter_map(|it| lookup(it)));
    secrets.extend(secret_values(&settings.extra_headers));
    secrets.extend(secret_members(&settings.extra_body));
    if let Some(url) = &settings.base_url {
        secrets.extend(secret_values(&query(url)));
    }
    let key = match key_env(&settings)? {
        None => None,
        Some(env) => {
            let value = lookup(&env).map(|it| it.trim().to_owned());
            let value = value.filter(|it| !it.is_empty()).ok_or_else(|| {
                SetupError::new(format!(
                    "no key for the model: set the environment variable `{env}`, or name another one with `agent.api_key_env`"
                ))
            })?;
            secrets.push(value.clone());
            Some(Key { env, value })
        }
    };
    Ok(Some(Reached { settings, key }))
}

/// The texts of a body whose names say that they are secret, at any depth.
fn secret_members(body: &Object) -> Vec<String> {
    let members = body.iter().flat_map(|(name, value)| match value {
        Value::String(text) if Redactor::is_secret_name(name) => vec![text.clone()],
        Value::Object(inner) => secret_members(inner),
        _ => Vec::new(),
    });
    members.collect()
}

/// An agent that asks nothing.
pub(super) fn nobody() -> Box<dyn run::Agent> {
    Box::new(Scripted::new(Vec::new(), Vec::new()))
}

/// Who asks. Whoever runs a replay has made sure of its baseline; without one there is nothing to ask.
///
/// # Errors
///
/// What cannot be used of the settings of a model.
pub(super) fn agent(
    scenario: &Scenario,
    reached: Option<Reached>,
    baseline: Option<&Arc<Trajectory>>,
    redactor: Redactor,
) -> Result<Box<dyn run::Agent>, SetupError> {
    Ok(match (&scenario.agent, baseline, reached) {
        (Agent::Replay { .. }, Some(baseline), _) => Box::new(Replay::new(
            Arc::clone(baseline),
            scenario.replaying.clone(),
            scenario.scoring.clone(),
            redactor,
        )),
        (Agent::Model { .. }, _, Some(reached)) => Box::new(Chat::new(
            reached.settings,
            reached.key.as_ref(),
            scenario.messages(),
        )?),
        (other, _, _) => Box::new(Scripted::new(scenario.messages(), other.calls().to_vec())),
    })
}
