//! What `mcp-eval help` explains, and the same for shells and for `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(in crate::cli) struct HelpArgs {
    /// A command, or a topic: scenario, mock, agents, judge, containers, serve [default: lists all commands]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(in crate::cli) about: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(in crate::cli) shell: Shell,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ManArgs {
    /// Write a page for each command to this folder [default: the page of mcp-eval itself, to stdout]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
}
