//! Options of `mcp-eval init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::database::DatabaseArgs;
use crate::model::Object;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    mcp-eval init --server \"npx -y @modelcontextprotocol/server-everything\"\n  \
    mcp-eval init --server http://localhost:8080/mcp --header \"Authorization: Bearer $TOKEN\" --workflow github\n  \
    mcp-eval init --server \"uvx mcp-server-time\" --call 'get_current_time={\"timezone\": \"UTC\"}'\n  \
    mcp-eval init --mcp-config .mcp.json --server github")]
pub(in crate::cli) struct InitArgs {
    /// Ask this MCP server for its tools, and make a first scenario and its baseline of them: a command line, or the URL of a server over
    /// HTTP; with --mcp-config, the name of one there. May be given several times
    #[arg(long = "server", value_name = "COMMAND|URL")]
    pub(in crate::cli) servers: Vec<String>,
    /// The same for the servers of a client configuration, {"mcpServers": {…}}: a scenario for each
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) mcp_config: Option<PathBuf>,
    /// A header for servers that are given by URL; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "servers", conflicts_with = "mcp_config", value_parser = parse_header)]
    pub(in crate::cli) headers: Vec<(String, String)>,
    /// What the scenario is called: it becomes scenarios/NAME.yaml [default: made from the server's name]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) name: Option<String>,
    /// Call this tool, too, whatever its server says of it, with these arguments as a JSON object; may be given several times
    #[arg(long = "call", value_name = "TOOL[=JSON]", value_parser = parse_call)]
    pub(in crate::cli) calls: Vec<AddedCall>,
    /// Also call tools that are not marked as read-only
    #[arg(long)]
    pub(in crate::cli) allow_effects: bool,
    /// Write what runs the scenarios in CI, too: for GitHub an action and a workflow, for GitLab a job
    #[arg(long, value_enum, value_name = "KIND")]
    pub(in crate::cli) workflow: Option<Workflow>,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
}

/// Whose CI a workflow is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Workflow {
    Github,
    Gitlab,
}

/// A call that the user wants.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct AddedCall {
    pub(in crate::cli) tool: String,
    /// `None` for those that can be guessed.
    pub(in crate::cli) arguments: Option<Object>,
}

fn parse_call(text: &str) -> Result<AddedCall, String> {
    let (tool, arguments) = match text.split_once('=') {
        None => (text, None),
        Some((tool, json)) => match serde_json::from_str(json) {
            Ok(Value::Object(arguments)) => (tool, Some(arguments)),
            Ok(_) => {
                return Err("the arguments are no JSON object: write TOOL={\"name\": …}".to_owned());
            }
            Err(error) => return Err(format!("the arguments are no JSON: {error}")),
        },
    };
    if tool.trim().is_empty() {
        return Err("names no tool".to_owned());
    }
    Ok(AddedCall {
        tool: tool.trim().to_owned(),
        arguments,
    })
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME: VALUE".to_owned()),
    }
}
