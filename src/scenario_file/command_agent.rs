//! An agent that is a program: the parts of the `agent` section that say how it is started.

use std::path::Path;

use crate::model::agent::{CommandAgent, CommandFormat, PROMPT};

use super::decode::{At, NO_HINT, choice};
use super::expand;
use super::script::AgentSection;
use super::source::{Findings, Mark};

choice! {
    /// What the agent prints: `generic`, its final answer; `claude`, `codex` and `gemini`, the events of Claude Code, Codex and Gemini CLI.
    FormatWord for CommandFormat {
        "generic" => CommandFormat::Generic,
        "claude" => CommandFormat::Claude,
        "codex" => CommandFormat::Codex,
        "gemini" => CommandFormat::Gemini,
    }
}

impl AgentSection {
    /// How the program is started; `None`, after saying so, where the scenario does not say which.
    pub(super) fn command_agent(&self, findings: &mut Findings) -> Option<CommandAgent> {
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

    /// The keys that only mean something for an agent that is a program.
    pub(super) fn command_keys(&self) -> [(&'static str, Option<Mark>); 4] {
        [
            ("command", self.command.as_ref().map(At::mark)),
            ("format", self.format.as_ref().map(At::mark)),
            ("cwd", self.cwd.as_ref().map(At::mark)),
            ("env", self.env.as_ref().map(At::mark)),
        ]
    }

    /// References that cannot be read, and keys that have no effect.
    pub(super) fn check_command(&self, findings: &mut Findings) {
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

/// Whether nothing on the command line brings the agent its prompt, so that it has to come on stdin.
pub fn reads_prompt(agent: &CommandAgent) -> bool {
    !agent.command.iter().any(|it| expand::mentions(it, PROMPT))
}

/// Whether it takes what this name stands for, and has nothing to put in its place.
pub fn needs(agent: &CommandAgent, name: &str) -> bool {
    let env = agent.env.iter().map(|(_, value)| value);
    let mut texts = agent.command.iter().chain(env);
    texts.any(|it| expand::needs(it, name))
}

/// Whether the command line or the environment of the agent takes what this name stands for. The usual command lines take everything.
pub fn takes(agent: &CommandAgent, name: &str) -> bool {
    if agent.command.is_empty() {
        return true;
    }
    let env = agent.env.iter().map(|(_, value)| value);
    let mut texts = agent.command.iter().chain(env);
    texts.any(|it| expand::mentions(it, name))
}
