//! The commands that show what is there: scenarios, and results of earlier runs.

use std::path::PathBuf;

use clap::Args;

use super::output::{FormatArgs, ReportingArgs};
use super::select::SelectArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct ReportArgs {
    /// The run: its id or the beginning of it, its folder, a result.json, or `latest` [default: the latest]
    pub(in crate::cli) run: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) reporting: ReportingArgs,
    /// Where the pages go, with --format html, which is short for --report html [default: reports/RUN/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Write the pages and show them in the browser
    #[arg(long)]
    pub(in crate::cli) open: bool,
    /// Write all pages into one file, to attach it to a ticket [default FILE: reports/RUN.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "output")]
    #[expect(clippy::option_option, reason = "it may be given without a file")]
    pub(in crate::cli) single_file: Option<Option<PathBuf>>,
    /// List the runs that are stored, the latest first
    #[arg(long, conflicts_with_all = ["run", "output", "open", "single_file", "format", "reports"])]
    pub(in crate::cli) list: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    /// A scenario of the latest run, by id or name; or a run: its id, its folder, a result.json, or `latest`
    #[arg(value_name = "NAME|RUN")]
    pub(in crate::cli) run: PathBuf,
    /// Number of a call, as the report counts them; all calls without it
    pub(in crate::cli) call: Option<usize>,
    /// Only this scenario, by id or name
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) scenario: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "What a scenario file can say: `mcp-eval help scenario`")]
pub(in crate::cli) struct ValidateArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// List the types of evaluators instead, each with a line on what it checks
    #[arg(long)]
    pub(in crate::cli) evaluators: bool,
    /// List the kinds of agents instead, each with a line on who asks
    #[arg(long)]
    pub(in crate::cli) agents: bool,
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    /// Where baselines lie
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub(in crate::cli) baseline: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}
