//! Who asks: the agent that a scenario's sections become.

use std::path::Path;
use std::time::Duration;

use crate::model::agent::{CommandAgent, ModelAgent, ModelApi};
use crate::model::scenario::{Agent, Replaying};

use super::agent::{AgentKind, AgentSection};
use super::decode::{At, NO_HINT};
use super::document::{Document, given, is_wrong};
use super::replaying::replaying;
use super::script::{CallSection, ExpectedSection};
use super::source::{Findings, Mark};
use super::values::Count;

impl Document {
    /// Who asks; `None`, after saying so where that was not said yet, when a scripted agent has nothing to play.
    pub(super) fn agent(&self, start: Mark, findings: &mut Findings) -> Option<Agent> {
        if is_wrong(self.agent.as_ref()) {
            return None;
        }
        let agent = given(self.agent.as_ref());
        let expected = given(self.expected_trajectory.as_ref());
        let (calls, at): (Vec<_>, _) = match agent.and_then(|it| it.calls.as_ref()) {
            Some(calls) => (calls.iter().map(CallSection::call).collect(), calls.at),
            None if is_wrong(self.expected_trajectory.as_ref()) => return None,
            None => {
                let calls = expected.into_iter().flat_map(|it| &it.value);
                let at = agent.map(|it| it.at).or(expected.map(|it| it.at));
                (
                    calls.map(ExpectedSection::call).collect(),
                    at.unwrap_or(start),
                )
            }
        };
        let kind = agent.and_then(|it| it.kind.as_ref()).map(|it| it.0);
        if let (Some(AgentKind::Model(api)), Some(agent)) = (kind, agent) {
            let settings = agent.model_agent(api, findings).map(Box::new);
            let has_turns = self.turns.is_some() || self.user_intent.is_some();
            if !has_turns {
                let hint = "say what the user wants with `user_intent` or `turns`";
                findings.error(start, "the model has nothing to do", Some(hint));
            }
            return settings.map(|settings| Agent::Model { settings, calls });
        }
        if let (Some(AgentKind::Command), Some(agent)) = (kind, agent) {
            let settings = agent.command_agent(findings).map(Box::new);
            match given(self.turns.as_ref()) {
                Some(turns) if turns.len() > 1 => {
                    let message = "an agent that is a command is given one message";
                    let hint = "say it all in `user_intent`";
                    findings.error(turns.at, message, Some(hint));
                }
                None if self.turns.is_none() && self.user_intent.is_none() => {
                    let hint = "say what the user wants with `user_intent`";
                    findings.error(start, "the agent has nothing to do", Some(hint));
                }
                _ => {}
            }
            return settings.map(|settings| Agent::Command { settings, calls });
        }
        if kind == Some(AgentKind::Replay) {
            return Some(Agent::Replay { calls });
        }
        if calls.is_empty() {
            let message = "the scripted agent has nothing to play";
            let hint = "list calls under `expected_trajectory` or `agent.calls`";
            findings.error(at, message, Some(hint));
            return None;
        }
        Some(Agent::Scripted { calls })
    }
}

impl AgentSection {
    /// How the model is asked; `None`, after saying so, where the scenario does not say which.
    fn model_agent(&self, api: ModelApi, findings: &mut Findings) -> Option<ModelAgent> {
        let Some(model) = &self.model else {
            let message = "missing key `model`, which this kind of agent needs";
            let at = self.kind.as_ref().map(At::mark)?;
            findings.error(at, message, Some("name it as the API does"));
            return None;
        };
        let defaults = ModelAgent::new(api, &model.0);
        let headers = self.extra_headers.iter().flat_map(|it| &it.0);
        let whole = |it: &At<Count>| usize::try_from(it.value.0).unwrap_or(usize::MAX);
        Some(ModelAgent {
            api: self.api.as_ref().map_or(api, |it| it.0),
            base_url: self.base_url.as_ref().map(|it| it.0.clone()),
            api_key_env: self.api_key_env.as_ref().map(|it| it.0.clone()),
            system: self.system.as_ref().map(|it| it.value.clone()),
            temperature: self
                .temperature
                .as_ref()
                .map_or(defaults.temperature, |it| it.0),
            max_tokens: self.max_tokens.as_ref().map(|it| it.0),
            max_steps: self
                .max_steps
                .as_ref()
                .map_or(defaults.max_steps, |it| it.0),
            tool_choice: self.tool_choice.as_ref().map(|it| it.0.clone()),
            timeout: self.timeout.as_ref().map_or(defaults.timeout, |it| it.0),
            tool_timeout: self.tool_timeout.as_ref().map(|it| it.0),
            max_result_chars: self.max_result_chars.as_ref().map(whole),
            extra_headers: headers
                .map(|(name, value)| (name.value.clone(), value.value.clone()))
                .collect(),
            extra_body: self
                .extra_body
                .as_ref()
                .map(|it| it.value.clone())
                .unwrap_or_default(),
            price: self.price.as_ref().map(|it| it.price()),
            ..defaults
        })
    }

    /// How the program is started; `None`, after saying so, where the scenario does not say which.
    fn command_agent(&self, findings: &mut Findings) -> Option<CommandAgent> {
        let format = self.format.as_ref().map(|it| it.0).unwrap_or_default();
        let command = match &self.command {
            Some(command) => command_line(command, findings)?,
            None if format.has_command() => Vec::new(),
            None => {
                let message = "missing key `command`, which this kind of agent needs";
                let hint = "list the program and its arguments: `[my-agent, --ask, \"${prompt}\"]`; or name a `format` that has a usual one";
                findings.error(self.kind.as_ref()?.at, message, Some(hint));
                return None;
            }
        };
        let env = self.env.iter().flat_map(|it| &it.0);
        Some(CommandAgent {
            command,
            format,
            model: self.model.as_ref().map(|it| it.0.clone()),
            cwd: self
                .cwd
                .as_ref()
                .map(|it| findings.folder(it.at).join(&it.0)),
            env: env
                .map(|(name, value)| (name.value.clone(), value.value.clone()))
                .collect(),
            timeout: self.timeout.as_ref().map(|it| it.0),
            tool_timeout: self.tool_timeout.as_ref().map(|it| it.0),
            price: self.price.as_ref().map(|it| it.price()),
        })
    }

    /// How a baseline is replayed. `whole` is the timeout of the scenario.
    pub(super) fn replaying(&self, whole: Duration, findings: &mut Findings) -> Replaying {
        let bindings = self.bindings.as_deref().unwrap_or_default();
        replaying(
            self.pace,
            self.poll_timeout.as_ref(),
            bindings,
            whole,
            findings,
        )
    }
}

/// The program and its arguments.
fn command_line(command: &At<Vec<At<String>>>, findings: &mut Findings) -> Option<Vec<String>> {
    let [program, args @ ..] = command.as_slice() else {
        findings.error(command.at, "names no program", NO_HINT);
        return None;
    };
    let program = program_from(program, &findings.folder(program.at));
    let args = args.iter().map(|it| it.value.clone());
    Some(std::iter::once(program).chain(args).collect())
}

/// A program named by a relative path belongs to the file that names it; a bare name is looked up in `PATH`.
fn program_from(program: &str, folder: &Path) -> String {
    if program.contains('/') {
        folder.join(program).to_string_lossy().into_owned()
    } else {
        program.to_owned()
    }
}
