//! The commands around it all: the first scenario, recordings of other tools, secrets on disk, what runs have left behind, schemas, help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use serde_json::Value;

use super::database::DatabaseArgs;
use super::output::FormatArgs;
use crate::model::{Object, RedactionPattern};

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// Which tool they come from
    #[arg(value_enum)]
    pub(in crate::cli) tool: ImportedTool,
    /// The folder of a recording, a folder of such folders, or a `detailed_log.json`. Each becomes the baseline of the scenario that it
    /// belongs to, by its folder, its name or what it asks
    pub(in crate::cli) path: PathBuf,
    /// Where baselines go [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Replace baselines that are there already, and write although CI is set in the environment
    #[arg(long)]
    pub(in crate::cli) force: bool,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ImportedTool {
    /// smart-mcp-proxy/mcp-eval, which wrote `detailed_log.json`
    Original,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing found · 1 something found · 2 wrong usage, or a path that does not exist ·\n\
                  3 something could not be read"
)]
pub(in crate::cli) struct ScanArgs {
    /// Files and folders, with all below [default: those of baselines, reports, .mcp-eval and scenarios that are here]
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Look at what is staged in git and differs from the last commit, as it would be committed; below PATHS, or all of it
    #[arg(long)]
    pub(in crate::cli) staged: bool,
    /// Also find what this regular expression matches; may be given several times. The scenarios' own `redact` and secret variables
    /// are looked for anyway
    #[arg(long, value_name = "REGEX", value_parser = RedactionPattern::new)]
    pub(in crate::cli) redact: Vec<RedactionPattern>,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CleanArgs {
    /// Only tell what would be removed
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Remove images, too, that were built of earlier states of a source: of each name, all but the one built or used last. `=NAME` means
    /// those of one name
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(in crate::cli) images: Option<String>,
    /// Where baselines lie, of which catalogues are removed that no baseline names
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub(in crate::cli) baseline: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SchemaArgs {
    #[arg(value_enum)]
    pub(in crate::cli) kind: SchemaKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SchemaKind {
    /// A scenario file
    Scenario,
    /// A suite file, `scenarios/_suites/NAME.yaml`
    Suite,
    /// A file that `mcp-eval mock` serves
    Mock,
    /// A baseline or a stored run
    Trajectory,
    /// A result.json
    Result,
    /// What `mcp-eval history --format json` prints
    History,
    /// What `mcp-eval scan --format json` prints
    Scan,
    /// What an evaluator of `type: command` gets on its stdin
    EvaluatorInput,
    /// What it writes to its stdout
    EvaluatorVerdict,
    /// What `mcp-eval judge check --format json` prints
    Judge,
    /// What a scanner says, for `mcp-eval security`: version 2
    Verdicts,
}

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
