//! The `agent` section: its kinds, an agent that is a program, and the replay of a baseline.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::model::{
    ApiKeys, CommandFormat, ModelAgent, ModelKeys, PROMPT, PriceSection, ToolChoiceKeys,
};
use super::script::{CallSection, ScriptedCall};
use crate::model::usage::Price;
use crate::model::{BindingRule, Source};
use crate::scenario_file::decode::template;
use crate::scenario_file::decode::{
    At, CommandLine, Count, Decode, Given, NO_HINT, Named, Nothing, Plain, Template, Timeout,
    Unnamed, Variant, Word, any_text, choice, held, kinds, schema, section, shapes,
};
use crate::scenario_file::yaml::{Findings, Mark, Node, quoted};

/// Who asks.
pub(in crate::scenario_file) type AgentSection = Variant<AgentKeys, AgentKind>;

kinds! {
    /// Who asks.
    AgentKind, by "kind" of "agent", named "AgentSection", unnamed Unnamed::Default("scripted"); {
        /// Plays listed calls; what an agent is unless `kind` is given.
        "scripted" => Scripted(Nothing),
        /// Plays the calls of the accepted baseline.
        "replay" => Replay(Nothing),
        /// A model behind the API of Anthropic.
        "anthropic" => Anthropic((ToolChoiceKeys, ModelKeys)),
        /// A model behind one of OpenAI's APIs, which many other servers speak, too.
        "openai" => OpenAi((ApiKeys, (ToolChoiceKeys, ModelKeys))),
        /// A model behind the API of Ollama.
        "ollama" => Ollama(ModelKeys),
        /// A program with an MCP client of its own.
        "command" => Command(CommandKeys),
    }
}

section! {
    /// What is said of every agent: the command line may choose a scripted one or a replay in place of any other.
    AgentKeys {
        /// The calls a scripted agent plays; those of `expected_trajectory` unless given.
        calls: Option<At<Vec<CallSection>>>,
        /// When a replay makes the next call; `fast` unless given.
        pace: Option<PaceWord>,
        /// How long a replay asks again for the recorded final answer of a poll; 30s unless given, and no longer than half of the scenario's timeout.
        poll_timeout: Option<At<Timeout>>,
        /// What calls of the baseline take from earlier answers, in place of what was found when recording.
        bindings: Option<Vec<BindingSection>>,
    }
}

impl AgentKind {
    /// Whether it may have tools besides those of servers, and tells when it calls them.
    pub(in crate::scenario_file) fn may_have_own_tools(&self) -> bool {
        matches!(self, Self::Command(it) if it.tells_of_own_tools())
    }
}

choice! {
    /// What the agent prints: `generic`, its final answer; `claude`, `codex` and `gemini`, the events of Claude Code, Codex and Gemini CLI.
    FormatWord for CommandFormat {
        "generic" => CommandFormat::Generic,
        "claude" => CommandFormat::Claude,
        "codex" => CommandFormat::Codex,
        "gemini" => CommandFormat::Gemini,
    }
}

section! {
    /// What is said of an agent that is a program.
    CommandKeys => CommandAgent(Default), checked by check_command {
        /// The program and its arguments. `${prompt}` is what the user wants, `${mcp_config}` the path of the file that says where the servers are (for Codex, what that file says), `${model}` the model, and other names are environment variables. Without `${prompt}`, the prompt comes on stdin. A relative path with a `/` belongs to this file's folder. May be left out for an agent whose `format` has a usual command line.
        command: Option<CommandLine> as Vec<String> = Vec::new(),
        /// What the command prints; `generic` unless given.
        format: Option<FormatWord> as CommandFormat = CommandFormat::default(),
        /// The folder the command works in, relative to this file; an empty one, made for the run, unless given. Gemini CLI takes no other.
        cwd: Option<Template<Word>> as Option<PathBuf>,
        /// Environment variables for the command, besides the few it inherits and those of its `format`'s vendor.
        env: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// The value of `${model}`.
        model: Option<ModelName> as Option<String>,
        /// How long the command may take for all of its work.
        timeout: Option<Timeout> as Option<Duration>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout> as Option<Duration>,
        /// What the model costs. Claude Code reckons it in US dollars where this is left out.
        price: Option<At<PriceSection>> as Option<Price>,
    }
}

/// Keys that have no effect, and one that is needed.
fn check_command(agent: &CommandKeys, at: Mark, findings: &mut Findings) {
    let format = agent.format.map(|it| it.0).unwrap_or_default();
    if agent.command.is_none() && !format.has_command() {
        let message = "missing key `command`, which this kind of agent needs";
        let hint = "list the program and its arguments: `[my-agent, --ask, \"${prompt}\"]`; or name a `format` that has a usual one";
        findings.error(at, message, Some(hint));
    }
    if let Some(cwd) = &agent.cwd
        && format.is_configured_by_folder()
    {
        let message =
            "`cwd` cannot be given: this agent looks for its servers in the folder it works in";
        let hint = "let it see another folder with `--include-directories` in `command`";
        findings.error(cwd.at, message, Some(hint));
    }
    if let Some(price) = &agent.price
        && !format.reports_usage()
    {
        let message = "`price` means nothing here: how many tokens this agent uses is unknown";
        findings.error(price.at, message, NO_HINT);
    }
}

/// The name of a model. What it refers to is filled in before the texts that refer to it.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub(in crate::scenario_file) struct ModelName(Template<Word>);

impl Decode for ModelName {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        Decode::decode(node, findings).map(Self)
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.0.templates(visit);
    }
}

impl Plain<String> for ModelName {
    fn plain(&self, findings: &Findings) -> String {
        self.0.plain(findings)
    }
}

impl CommandKeys {
    /// Whether what it prints tells of tools of its own.
    pub(super) fn tells_of_own_tools(&self) -> bool {
        let format = self.format.map(|it| it.0).unwrap_or_default();
        format != CommandFormat::Generic
    }
}

/// Whether nothing on the command line brings the agent its prompt, so that it has to come on stdin.
pub fn reads_prompt(agent: &CommandAgent) -> bool {
    !agent
        .command
        .iter()
        .any(|it| template::mentions(it, PROMPT))
}

/// Whether it takes what this name stands for, and has nothing to put in its place.
pub fn needs(agent: &CommandAgent, name: &str) -> bool {
    any_text(agent, |it| template::needs(it, name))
}

/// Whether the command line or the environment of the agent takes what this name stands for. The usual command lines take everything.
pub fn takes(agent: &CommandAgent, name: &str) -> bool {
    agent.command.is_empty() || any_text(agent, |it| template::mentions(it, name))
}

choice! {
    /// When a replay makes the next call: `fast`, as soon as the last one is answered, or `recorded`, after the gap that was recorded.
    PaceWord for Pace {
        "fast" => Pace::Fast,
        "recorded" => Pace::Recorded,
    }
}

section! {
    /// Where one argument of a call comes from.
    BindingSection, checked by check_binding {
        /// The number of the call in the baseline, counted from 1.
        call: At<Count>,
        /// JSON pointer to the argument: `/id`.
        path: At<Pointer>,
        /// The place in an earlier answer, or `recorded` to use the value of the baseline.
        from: From,
        /// The part of the argument that is bound; the value recorded at that place unless given.
        value: Option<Value>,
    }
}

section! {
    /// A place in an earlier answer.
    SourceSection for Source {
        /// The number of the call that was answered.
        call: At<Count> as usize,
        /// JSON pointer into its structured content or its text as JSON: `/id`; or a path into the answer, as reports have it: `/content/0/text`.
        path: At<Pointer> as String,
    }
}

/// A JSON pointer (RFC 6901).
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Pointer(String);

impl Decode for Pointer {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Word(path) = Word::decode(node, findings)?;
        if !path.starts_with('/') {
            let message = format!("{} is not a JSON pointer", quoted(&path));
            let hint = format!(
                "write `/{}`",
                path.trim_start_matches(['$', '.']).replace('.', "/")
            );
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(path))
    }
}

held!(Pointer as String);

schema!(Pointer, {"type": "string", "pattern": "^/"});

shapes! {
    /// A place in an answer, or the word `recorded`.
    From, "`recorded` or a map with `call` and `path`" {
        Text => Recorded(RecordedWord),
        Map => Answer(SourceSection),
    }
}

choice! {
    /// The value of the baseline.
    RecordedWord for () {
        "recorded" => (),
    }
}

/// An answer must be there before it can be used.
fn check_binding(binding: &BindingSection, _: Mark, findings: &mut Findings) {
    if let From::Answer(source) = &binding.from
        && source.call.value.0 >= binding.call.value.0
    {
        let message = format!(
            "call {} cannot use the answer to call {}, which comes later",
            binding.call.value.0, source.call.value.0
        );
        findings.error(source.call.at, message, Some("name an earlier call"));
    }
    match &binding.value {
        None | Some(Value::String(_) | Value::Number(_)) => {}
        Some(_) => findings.error(binding.path.at, "`value` must be text or a number", NO_HINT),
    }
}

/// How it is replayed, and what is wrong with that. `whole` is the timeout of the scenario.
pub(in crate::scenario_file) fn replaying(
    pace: Option<PaceWord>,
    poll_timeout: Option<&At<Timeout>>,
    bindings: &[BindingSection],
    whole: Duration,
    findings: &mut Findings,
) -> Replaying {
    let defaults = Replaying::within(whole);
    if let Some(timeout) = poll_timeout.filter(|it| it.value.0 >= whole) {
        let message = format!("the scenario's timeout of {whole:?} passes before this does");
        findings.warning(
            timeout.at,
            message,
            Some("give the scenario a longer `timeout`"),
        );
    }
    let mut seen = HashSet::new();
    let mut rules = Vec::new();
    for binding in bindings {
        let rule = binding.rule(findings);
        if !seen.insert((
            rule.call,
            rule.path.clone(),
            rule.value.as_ref().map(Value::to_string),
        )) {
            let message = format!(
                "argument {} of call {} is bound twice",
                rule.path, rule.call
            );
            findings.error(binding.path.at, message, Some("keep one of the two"));
        }
        rules.push(rule);
    }
    Replaying {
        pace: pace.map_or(defaults.pace, |it| it.0),
        poll_timeout: poll_timeout.map_or(defaults.poll_timeout, |it| it.value.0),
        bindings: rules,
    }
}

impl BindingSection {
    fn rule(&self, findings: &Findings) -> BindingRule {
        BindingRule {
            call: self.call.plain(findings),
            path: self.path.plain(findings),
            from: match &self.from {
                From::Recorded(_) => None,
                From::Answer(source) => Some(source.plain(findings)),
            },
            value: self.value.clone(),
            place: findings.place(self.call.at),
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Agent {
    /// Plays the listed calls.
    Scripted { calls: Vec<ScriptedCall> },
    /// Plays the calls of the accepted baseline.
    Replay {
        /// What a scripted agent would play, to record the baseline with.
        calls: Vec<ScriptedCall>,
    },
    /// A language model, which decides for itself.
    Model {
        settings: Box<ModelAgent>,
        /// What a scripted agent would play in its place.
        calls: Vec<ScriptedCall>,
    },
    /// A program with an MCP client of its own.
    Command {
        settings: Box<CommandAgent>,
        /// What a scripted agent would play in its place.
        calls: Vec<ScriptedCall>,
    },
}

impl Default for Agent {
    /// A script without a call.
    fn default() -> Self {
        Self::Scripted { calls: Vec::new() }
    }
}

/// How a baseline is replayed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replaying {
    pub pace: Pace,
    /// How long a poll is asked again before its recorded final answer is given up.
    pub poll_timeout: Duration,
    /// Bindings in place of those that were found when recording.
    pub bindings: Vec<BindingRule>,
}

impl Replaying {
    /// How it is done unless the scenario, whose whole timeout this is, says otherwise: a poll is given up while there is time left to
    /// ask what comes after it.
    pub fn within(timeout: Duration) -> Self {
        Self {
            pace: Pace::Fast,
            poll_timeout: Duration::from_secs(30).min(timeout / 2),
            bindings: Vec::new(),
        }
    }
}

/// When a replay makes the next call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As soon as the last one is answered.
    #[default]
    Fast,
    /// After the gap that was recorded.
    Recorded,
}

impl Agent {
    /// The kind, as scenario files spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scripted { .. } => "scripted",
            Self::Replay { .. } => "replay",
            Self::Model { settings, .. } => settings.api.kind(),
            Self::Command { .. } => "command",
        }
    }

    /// The listed calls; empty where the scenario lists none.
    pub fn calls(&self) -> &[ScriptedCall] {
        match self {
            Self::Scripted { calls }
            | Self::Replay { calls }
            | Self::Model { calls, .. }
            | Self::Command { calls, .. } => calls,
        }
    }

    /// How the model is asked; `None` for an agent that asks none, or does so by itself.
    pub fn model(&self) -> Option<&ModelAgent> {
        match self {
            Self::Model { settings, .. } => Some(settings),
            Self::Scripted { .. } | Self::Replay { .. } | Self::Command { .. } => None,
        }
    }

    /// How the program is started; `None` for an agent that is none.
    pub fn command(&self) -> Option<&CommandAgent> {
        match self {
            Self::Command { settings, .. } => Some(settings),
            Self::Scripted { .. } | Self::Replay { .. } | Self::Model { .. } => None,
        }
    }

    /// Whether it decides for itself what to call, which may cost something and come out another way each time.
    pub fn decides(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Command { .. })
    }

    /// The model it is to ask, where that is said.
    pub fn model_name(&self) -> Option<&str> {
        match self {
            Self::Model { settings, .. } => Some(&settings.model),
            Self::Command { settings, .. } => settings.model.as_deref(),
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }

    /// What its model costs, where that is said.
    pub fn price(&self) -> Option<&Price> {
        match self {
            Self::Model { settings, .. } => settings.price.as_ref(),
            Self::Command { settings, .. } => settings.price.as_ref(),
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }

    /// For the answer to one tool call, in place of the scenario's.
    pub fn tool_timeout(&self) -> Option<Duration> {
        match self {
            Self::Model { settings, .. } => settings.tool_timeout,
            Self::Command { settings, .. } => settings.tool_timeout,
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }
}
