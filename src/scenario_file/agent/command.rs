//! An agent that is a program: the keys of its section, and what its command line takes.

use crate::model::agent::{CommandAgent, CommandFormat, PROMPT};

use super::model::PriceSection;
use crate::scenario_file::decode::secrets::{Given, given_pairs};
use crate::scenario_file::decode::template::{self, Template, command_line};
use crate::scenario_file::decode::values::{Timeout, Word};
use crate::scenario_file::decode::{At, NO_HINT, Named, choice, section};
use crate::scenario_file::expand::places::any_text;
use crate::scenario_file::yaml::source::{Findings, Mark};

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
    CommandKeys, checked by check {
        /// The program and its arguments. `${prompt}` is what the user wants, `${mcp_config}` for the path of the file that says where the servers are (for Codex, for what it says), `${model}` for the model, and other names for environment variables. Without `${prompt}`, the prompt comes on stdin. A relative path with a `/` belongs to this file's folder. May be left out for an agent whose `format` has a usual command line.
        command: Option<At<Vec<Template>>>,
        /// What the command prints; `generic` unless given.
        format: Option<FormatWord>,
        /// The folder the command works in, relative to this file; an empty one, made for the run, unless given. Gemini CLI takes no other.
        cwd: Option<Template<Word>>,
        /// Environment variables for the command, besides the few it inherits and those of its `format`'s vendor.
        env: Option<Named<Given>>,
        /// The value of `${model}`.
        model: Option<Template<Word>>,
        /// How long the command may take for all of its work.
        timeout: Option<Timeout>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout>,
        /// What the model costs. Claude Code reckons it in US dollars where this is left out.
        price: Option<At<PriceSection>>,
    }
}

/// Keys that have no effect.
fn check(agent: &CommandKeys, _: Mark, findings: &mut Findings) {
    let format = agent.format.map(|it| it.0).unwrap_or_default();
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

impl CommandKeys {
    /// Whether what it prints tells of tools of its own.
    pub(super) fn tells_of_own_tools(&self) -> bool {
        let format = self.format.map(|it| it.0).unwrap_or_default();
        format != CommandFormat::Generic
    }

    /// How the program is started; `None`, after saying so, where the scenario does not say which. `at` is the place of the section.
    pub(in crate::scenario_file) fn agent(
        &self,
        at: Mark,
        findings: &mut Findings,
    ) -> Option<CommandAgent> {
        let format = self.format.map(|it| it.0).unwrap_or_default();
        let command = match &self.command {
            Some(command) => command_line(command, findings)?,
            None if format.has_command() => Vec::new(),
            None => {
                let message = "missing key `command`, which this kind of agent needs";
                let hint = "list the program and its arguments: `[my-agent, --ask, \"${prompt}\"]`; or name a `format` that has a usual one";
                return findings.refuse(at, message, Some(hint));
            }
        };
        let cwd = self.cwd.as_ref();
        Some(CommandAgent {
            command,
            format,
            model: self.model.as_ref().map(|it| it.0.clone()),
            cwd: cwd.map(|it| findings.folder(it.at).join(&it.0)),
            env: given_pairs(self.env.as_ref()),
            timeout: self.timeout.map(|it| it.0),
            tool_timeout: self.tool_timeout.map(|it| it.0),
            price: self.price.as_ref().map(|it| it.price()),
        })
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
