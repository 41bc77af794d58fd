//! The commands that show what is there: scenarios, and results of earlier runs, which `review` decides on.

use std::path::PathBuf;

use clap::Args;

use super::output::{FormatArgs, ReportingArgs};
use super::select::SelectArgs;
use crate::suite::Despite;

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

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(in crate::cli) struct ReviewArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    /// Where baselines lie, with what is pending beside them
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub(in crate::cli) baseline: PathBuf,
    /// Only list what is pending
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Exit with 1 while something is pending
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Accept the pending run of this scenario, by id, name or file; may be given several times, and takes several
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with_all = ["list", "check"])]
    pub(in crate::cli) accept: Vec<String>,
    /// Reject the pending run of this scenario, in the same way
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with_all = ["list", "check"])]
    pub(in crate::cli) reject: Vec<String>,
    /// Accept the pending runs that fail for this cause alone, by the id that `--list` shows; may be given several times, and takes several
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["accept", "reject", "accept_all", "reject_all", "list", "check"])]
    pub(in crate::cli) accept_cause: Vec<String>,
    /// Accept all that is pending
    #[arg(long, conflicts_with_all = ["reject_all", "accept", "reject", "list", "check"])]
    pub(in crate::cli) accept_all: bool,
    /// Reject all that is pending
    #[arg(long, conflicts_with_all = ["accept", "reject", "list", "check"])]
    pub(in crate::cli) reject_all: bool,
    /// Keep what is accepted beside the baseline, as a variant: either of them passes from now on
    #[arg(long)]
    pub(in crate::cli) variant: bool,
    /// Take the runs from the folder of a run or of a report, such as an artifact of CI, in place of those that are pending here
    #[arg(long, value_name = "DIR", conflicts_with_all = ["reject", "reject_all", "check"])]
    pub(in crate::cli) from: Option<PathBuf>,
    /// Remove variants that none of the last N stored comparisons came nearest to; the main baseline stays
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with_all = ["accept", "reject", "accept_all", "reject_all", "accept_cause", "from", "list", "check"])]
    pub(in crate::cli) retire: Option<u16>,
    /// Accept runs that failed, too: those that `record` would not keep
    #[arg(long)]
    pub(in crate::cli) allow_failing: bool,
    /// Accept also where baseline or scenario have changed since the run was compared, or CI is set in the environment
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

impl ReviewArgs {
    /// What runs are accepted in spite of.
    pub(in crate::cli) fn despite(&self) -> Despite {
        Despite {
            moved: self.force,
            failing: self.allow_failing,
        }
    }
}
