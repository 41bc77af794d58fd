//! Putting the results of several machines together.

use std::path::PathBuf;

use clap::Args;

use super::output::{KeepArgs, ReportingArgs};

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(in crate::cli) struct MergeArgs {
    /// Results of `--shard K/N`: files, or folders with all below, such as a report, a run, or what CI has kept of several
    #[arg(value_name = "RESULTS", required = true)]
    pub(in crate::cli) results: Vec<PathBuf>,
    /// Judge what is there where scenarios are in none of the results; those are reported as skipped
    #[arg(long)]
    pub(in crate::cli) allow_missing: bool,
    /// Where several results have a scenario, take it from the one that began last
    #[arg(long)]
    pub(in crate::cli) allow_overlap: bool,
    /// Put results together that are of other plans, commits, thresholds or versions of mcp-eval
    #[arg(long)]
    pub(in crate::cli) allow_different: bool,
    #[command(flatten)]
    pub(in crate::cli) reporting: ReportingArgs,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    /// Write no pages; the result is kept, and `mcp-eval report --format html` makes them later
    #[arg(long)]
    pub(in crate::cli) no_report: bool,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
}
