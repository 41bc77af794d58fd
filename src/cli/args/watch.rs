//! Running again what changes.

use std::path::PathBuf;

use clap::Args;

/// Running again what changes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Watching")]
pub(in crate::cli) struct WatchArgs {
    /// Go on after the first run: whenever a scenario, its baseline, or a file that it or its servers are made from changes, run again the
    /// scenarios it concerns. What git ignores concerns none. On a terminal, Enter runs all, f those that failed, q quits
    #[arg(long, conflicts_with = "matrix")]
    pub(in crate::cli) watch: bool,
    /// Watch this file, or all in this folder, too, such as the source of the server: a change concerns all scenarios; may be given several
    /// times
    #[arg(long = "watch-path", value_name = "PATH", requires = "watch")]
    pub(in crate::cli) watch_paths: Vec<PathBuf>,
}
