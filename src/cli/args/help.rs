//! What `mcp-eval help` explains.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct HelpArgs {
    /// A command, or a topic: scenario, mock, agents, containers [default: lists all commands]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(in crate::cli) about: Option<String>,
}
