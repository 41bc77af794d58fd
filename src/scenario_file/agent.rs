//! The `agent` section: who asks, and which of its keys go together.

use crate::model::Object;
use crate::model::agent::ModelApi;

use super::command_agent::FormatWord;
use super::decode::{At, NO_HINT, choice, section};
use super::expand;
use super::model_agent::{ApiWord, Headers, PriceSection, TemperatureSection, ToolChoiceSection};
use super::replaying::{BindingSection, PaceWord};
use super::script::CallSection;
use super::source::{Findings, Mark};
use super::values::{Count, Timeout, Word};

choice! {
    /// Who asks: `scripted` plays listed calls, `replay` those of the accepted baseline; `anthropic`, `openai` and `ollama` are models
    /// behind the APIs of these names; `command` is a program with an MCP client of its own.
    AgentWord for AgentKind {
        "scripted" => AgentKind::Scripted,
        "replay" => AgentKind::Replay,
        "anthropic" => AgentKind::Model(ModelApi::Anthropic),
        "openai" => AgentKind::Model(ModelApi::OpenAiChat),
        "ollama" => AgentKind::Model(ModelApi::Ollama),
        "command" => AgentKind::Command,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentKind {
    Scripted,
    Replay,
    /// `openai` stands for its first API.
    Model(ModelApi),
    Command,
}

section! {
    /// Who asks.
    AgentSection, checked by check {
        /// The kind of agent; `scripted` unless given.
        kind: Option<At<AgentWord>>,
        /// The calls a scripted agent plays; those of `expected_trajectory` unless given.
        calls: Option<At<Vec<CallSection>>>,
        /// When a replay makes the next call; `fast` unless given.
        pace: Option<PaceWord>,
        /// How long a replay asks again for the recorded final answer of a poll; 30s unless given, and no longer than half of the scenario's timeout.
        poll_timeout: Option<At<Timeout>>,
        /// What calls of the baseline take from earlier answers, in place of what was found when recording.
        bindings: Option<Vec<BindingSection>>,
        /// The model, as its API names it; for a command, what `${model}` stands for. `${NAME}` stands for an environment variable, here and in `base_url` and `extra_headers`.
        model: Option<At<Word>>,
        /// Which of OpenAI's APIs is spoken; `chat` unless given.
        api: Option<At<ApiWord>>,
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<At<Word>>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<At<Word>>,
        /// The system prompt.
        system: Option<At<String>>,
        /// How much chance the model is allowed; 0 unless given. With `null` none is sent, for models that take none.
        temperature: Option<At<TemperatureSection>>,
        /// How many tokens one answer of the model may have.
        max_tokens: Option<At<Count>>,
        /// How many requests to the model there may be; 50 unless given.
        max_steps: Option<At<Count>>,
        /// Whether the model has to call tools.
        tool_choice: Option<At<ToolChoiceSection>>,
        /// How long the model may take for one answer; 120s unless given. For a command, how long it may take for all of its work.
        timeout: Option<At<Timeout>>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<At<Timeout>>,
        /// How many characters of a tool's answer the model is shown; all unless given.
        max_result_chars: Option<At<Count>>,
        /// Headers sent with every request to the model.
        extra_headers: Option<Headers>,
        /// Members added to the body of every request to the model, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>>,
        /// What the model costs. Claude Code reckons it in US dollars where this is left out.
        price: Option<At<PriceSection>>,
        /// The program of an agent that is a command, and its arguments. `${prompt}` stands for what the user wants, `${mcp_config}` for the path of the file that says where the servers are (for Codex, for what it says), `${model}` for the model, and other names for environment variables. Without `${prompt}`, the prompt comes on stdin. A relative path with a `/` belongs to this file's folder. May be left out for an agent whose `format` has a usual command line.
        command: Option<At<Vec<At<String>>>>,
        /// What the command prints; `generic` unless given.
        format: Option<At<FormatWord>>,
        /// The folder the command works in, relative to this file; an empty one, made for the run, unless given. Gemini CLI takes no other.
        cwd: Option<At<Word>>,
        /// Environment variables for the command, besides the few it inherits and those of its `format`'s vendor.
        env: Option<Headers>,
    }
}

/// Keys of a model that a program takes, too.
const OF_BOTH: [&str; 4] = ["model", "timeout", "tool_timeout", "price"];

/// Keys that do not go with the kind of agent, and references that cannot be read. Keys from a file of defaults may be meant for
/// another scenario.
fn check(agent: &AgentSection, at: Mark, findings: &mut Findings) {
    let kind = agent.kind.as_ref().map(|it| it.0);
    let mut refuse = |key: &str, given: Option<Mark>, hint: Option<&str>| {
        if let Some(given) = given.filter(|it| it.source == at.source) {
            let message = format!("`{key}` means nothing for this kind of agent");
            findings.error(given, message, hint);
        }
    };
    let is_command = kind == Some(AgentKind::Command);
    if !matches!(kind, Some(AgentKind::Model(_))) {
        let hint = "it takes `kind: anthropic`, `openai` or `ollama`";
        for (key, given) in agent.model_keys() {
            if !(is_command && OF_BOTH.contains(&key)) {
                refuse(key, given, Some(hint));
            }
        }
    }
    if !is_command {
        for (key, given) in agent.command_keys() {
            refuse(key, given, Some("it takes `kind: command`"));
        }
    }
    if kind != Some(AgentKind::Model(ModelApi::OpenAiChat)) {
        let given = agent.api.as_ref().map(At::mark);
        refuse("api", given, Some("it takes `kind: openai`"));
    }
    if kind == Some(AgentKind::Model(ModelApi::Ollama)) {
        let given = agent.tool_choice.as_ref().map(At::mark);
        refuse("tool_choice", given, NO_HINT);
    }
    if is_command {
        agent.check_command(findings);
    }
    if let Some(body) = &agent.extra_body
        && body.get("stream") == Some(&serde_json::Value::Bool(true))
    {
        let message = "`stream` cannot be asked for: answers are taken as a whole";
        findings.error(body.at, message, NO_HINT);
    }
    let headers = agent.extra_headers.iter().flat_map(|it| &it.0);
    let headers = headers.map(|(_, it)| (it.at, it.as_str()));
    let words = [&agent.base_url, &agent.model].into_iter().flatten();
    let words = words.map(|it| (it.at, it.0.as_str()));
    for (at, text) in words.chain(headers) {
        if let Err(problem) = expand::check(text) {
            findings.error(at, problem.message, problem.hint);
        }
    }
}

impl AgentSection {
    /// The keys that only mean something for an agent with a model.
    fn model_keys(&self) -> [(&'static str, Option<Mark>); 14] {
        [
            ("model", self.model.as_ref().map(At::mark)),
            ("base_url", self.base_url.as_ref().map(At::mark)),
            ("api_key_env", self.api_key_env.as_ref().map(At::mark)),
            ("system", self.system.as_ref().map(At::mark)),
            ("temperature", self.temperature.as_ref().map(At::mark)),
            ("max_tokens", self.max_tokens.as_ref().map(At::mark)),
            ("max_steps", self.max_steps.as_ref().map(At::mark)),
            ("timeout", self.timeout.as_ref().map(At::mark)),
            ("tool_timeout", self.tool_timeout.as_ref().map(At::mark)),
            (
                "max_result_chars",
                self.max_result_chars.as_ref().map(At::mark),
            ),
            ("extra_headers", self.extra_headers.as_ref().map(At::mark)),
            ("extra_body", self.extra_body.as_ref().map(At::mark)),
            ("price", self.price.as_ref().map(At::mark)),
            ("tool_choice", self.tool_choice.as_ref().map(At::mark)),
        ]
    }

    /// The keys that only mean something for an agent that is a program.
    fn command_keys(&self) -> [(&'static str, Option<Mark>); 4] {
        [
            ("command", self.command.as_ref().map(At::mark)),
            ("format", self.format.as_ref().map(At::mark)),
            ("cwd", self.cwd.as_ref().map(At::mark)),
            ("env", self.env.as_ref().map(At::mark)),
        ]
    }

    /// References that cannot be read, and keys that have no effect.
    fn check_command(&self, findings: &mut Findings) {
        let words = self.command.iter().flat_map(|it| &it.value);
        let words = words.map(|it| (it.at, it.as_str()));
        let env = self.env.iter().flat_map(|it| &it.0);
        let env = env.map(|(_, it)| (it.at, it.as_str()));
        let cwd = self.cwd.iter().map(|it| (it.at, it.0.as_str()));
        for (at, text) in words.chain(env).chain(cwd) {
            if let Err(problem) = expand::check(text) {
                findings.error(at, problem.message, problem.hint);
            }
        }
        let format = self.format.as_ref().map(|it| it.0).unwrap_or_default();
        if let Some(cwd) = &self.cwd
            && format.is_configured_by_folder()
        {
            let message =
                "`cwd` cannot be given: this agent looks for its servers in the folder it works in";
            let hint = "let it see another folder with `--include-directories` in `command`";
            findings.error(cwd.at, message, Some(hint));
        }
        if let Some(price) = &self.price
            && !format.tells_usage()
        {
            let message = "`price` means nothing here: how many tokens this agent uses is unknown";
            findings.error(price.at, message, NO_HINT);
        }
    }
}
