//! An agent that is a program: what it prints, and what its command line takes.

use crate::model::agent::{CommandAgent, CommandFormat, PROMPT};

use super::decode::choice;
use super::expand;

choice! {
    /// What the agent prints: `generic`, its final answer; `claude`, `codex` and `gemini`, the events of Claude Code, Codex and Gemini CLI.
    FormatWord for CommandFormat {
        "generic" => CommandFormat::Generic,
        "claude" => CommandFormat::Claude,
        "codex" => CommandFormat::Codex,
        "gemini" => CommandFormat::Gemini,
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
