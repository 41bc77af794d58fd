//! What somebody decides on runs that changed something.

use std::path::PathBuf;

use clap::Args;

use super::select::SelectArgs;
use crate::suite::Despite;

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
