//! Where results are kept, and what is done with that.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::output::FormatArgs;

/// Where results are kept besides their files.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results database")]
pub(in crate::cli) struct DatabaseArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    /// Keep results in their files alone, whatever --db or `MCP_EVAL_DB` says
    #[arg(long)]
    pub(in crate::cli) no_db: bool,
    /// Do not say in the database who ran it, and on which machine
    #[arg(long)]
    pub(in crate::cli) no_identity: bool,
}

/// Which database.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct DbPlaceArgs {
    /// The results database: the path of a file, or `postgres://USER:PASSWORD@HOST/NAME` [default: .mcp-eval/results.db]
    // Not parsed here: what is wrong with an argument is printed with the argument, and this one may hold a password.
    #[arg(
        long,
        value_name = "URL|PATH",
        env = "MCP_EVAL_DB",
        hide_env_values = true
    )]
    pub(in crate::cli) db: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DbCommand {
    /// Tell where it is, what is in it, and whether it can be read
    Info(DbInfoArgs),
    /// Print where it is, without what gives access to it
    Path(DbArgs),
    /// Add what the files of the runs hold and the database does not; nothing goes
    Rebuild(DbRebuildArgs),
    /// Remove all but the latest runs; their files stay
    Prune(DbPruneArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbInfoArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbRebuildArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    /// The folder of the runs [default: .mcp-eval/runs]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) runs: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbPruneArgs {
    /// How many of the latest runs stay
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) keep: u32,
    /// Only tell what would go
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
}
