//! The commands around it all: recordings of other tools, secrets on disk, what runs have left behind, schemas, help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::output::FormatArgs;
use crate::model::redaction::Pattern;

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
    #[arg(long, value_name = "REGEX", value_parser = Pattern::new)]
    pub(in crate::cli) redact: Vec<Pattern>,
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
