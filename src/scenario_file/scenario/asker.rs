//! Who asks: the agent that a scenario's sections become.

use std::time::Duration;

use crate::model::agent::{ModelAgent, ModelApi};
use crate::model::scenario::{Agent, Replaying, ScriptedCall};

use crate::scenario_file::agent::replaying::replaying;
use crate::scenario_file::agent::script::{CallSection, ExpectedSection};
use crate::scenario_file::agent::section::{AgentKind, AgentSection};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::yaml::source::{Findings, Mark};

impl Document {
    /// Who asks; `None`, after saying so where that was not said yet, when a scripted agent has nothing to play.
    pub(in crate::scenario_file) fn agent(
        &self,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Agent> {
        if is_wrong(self.agent.as_ref()) {
            return None;
        }
        let agent = given(self.agent.as_ref());
        let expected = given(self.expected_trajectory.as_ref());
        let (calls, at): (Vec<_>, _) = match agent.and_then(|it| it.all.calls.as_ref()) {
            Some(calls) => (calls.iter().map(CallSection::call).collect(), calls.at),
            None if is_wrong(self.expected_trajectory.as_ref()) => return None,
            None => {
                let calls = expected.into_iter().flat_map(|it| it.iter());
                let at = agent.map(|it| it.at).or(expected.map(|it| it.at));
                (
                    calls.map(ExpectedSection::call).collect(),
                    at.unwrap_or(start),
                )
            }
        };
        // Said in as many words: nothing is called, and what the servers list is what counts.
        let lists_none = agent.is_none_or(|it| it.all.calls.is_none())
            && expected.is_some_and(|it| it.is_empty());
        let scripted = |findings: &mut Findings| {
            if calls.is_empty() && !lists_none && !findings.agent_given {
                let message = "the scripted agent has nothing to play";
                let hint = "list calls under `expected_trajectory` or `agent.calls` (`expected_trajectory: []` holds the list of tools alone), or \
                            name another agent, under `agent` or with `--agent`";
                return findings.refuse(at, message, Some(hint));
            }
            Some(Agent::Scripted {
                calls: calls.clone(),
            })
        };
        let Some(agent) = agent else {
            return scripted(findings);
        };
        match &agent.kind {
            AgentKind::Scripted(_) => scripted(findings),
            AgentKind::Replay(_) => Some(Agent::Replay { calls }),
            AgentKind::Anthropic((choice, model)) => {
                let settings = model.agent(ModelApi::Anthropic, Some(choice));
                self.asking(settings, calls, start, findings)
            }
            AgentKind::OpenAi((apis, (choice, model))) => {
                let api = apis.api.map_or(ModelApi::OpenAiChat, |it| it.0);
                let settings = model.agent(api, Some(choice));
                self.asking(settings, calls, start, findings)
            }
            AgentKind::Ollama(model) => {
                let settings = model.agent(ModelApi::Ollama, None);
                self.asking(settings, calls, start, findings)
            }
            AgentKind::Command(command) => {
                let settings = command.agent(agent.at, findings).map(Box::new);
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
                settings.map(|settings| Agent::Command { settings, calls })
            }
        }
    }

    /// A model, which is told what the user wants.
    fn asking(
        &self,
        settings: Option<ModelAgent>,
        calls: Vec<ScriptedCall>,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Agent> {
        if self.turns.is_none() && self.user_intent.is_none() {
            let hint = "say what the user wants with `user_intent` or `turns`";
            findings.error(start, "the model has nothing to do", Some(hint));
        }
        let settings = settings.map(Box::new)?;
        Some(Agent::Model { settings, calls })
    }
}

impl AgentSection {
    /// How a baseline is replayed. `whole` is the timeout of the scenario.
    pub(in crate::scenario_file) fn replaying(
        &self,
        whole: Duration,
        findings: &mut Findings,
    ) -> Replaying {
        replaying(
            self.all.pace,
            self.all.poll_timeout.as_ref(),
            self.all.bindings.as_deref().unwrap_or_default(),
            whole,
            findings,
        )
    }
}
