//! The commands that measure tool searches and scanners, and that look after their data sets.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::examples;
use super::output::FormatArgs;

/// Where the proxy is whose search is measured.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ProxyArgs {
    /// The proxy's address; also from a `.env` file here [default: http://127.0.0.1:8080]
    #[arg(
        long,
        value_name = "URL",
        env = "MCPPROXY_BASE_URL",
        hide_env_values = true
    )]
    pub(in crate::cli) base_url: Option<String>,
    /// The key that it is asked with, which no report shows; also from a `.env` file here
    #[arg(
        long,
        value_name = "KEY",
        env = "MCPPROXY_API_KEY",
        hide_env_values = true
    )]
    pub(in crate::cli) api_key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DatasetsCommand {
    /// Keep the tools that a proxy has now, as a corpus
    #[command(after_long_help = examples::DATASETS_SNAPSHOT)]
    Snapshot(SnapshotArgs),
    /// Check a corpus and the queries labelled on it, all findings at once
    #[command(after_long_help = examples::DATASETS_VALIDATE)]
    Validate(DatasetsValidateArgs),
    /// Collect what searches answered and nobody has graded, most valuable first
    #[command(after_long_help = examples::DATASETS_POOL)]
    Pool(PoolArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SnapshotArgs {
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: PathBuf,
    /// What the corpus is called
    #[arg(long, value_name = "NAME", default_value = "corpus_v1")]
    pub(in crate::cli) version: String,
    /// What is to be known about it
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(in crate::cli) note: String,
    #[command(flatten)]
    pub(in crate::cli) proxy: ProxyArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing wrong, or warnings alone · 2 wrong usage · 3 a file cannot be used"
)]
pub(in crate::cli) struct DatasetsValidateArgs {
    /// The tools
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// The labelled queries
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) golden: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct PoolArgs {
    /// Reports of `retrieval`, whose answers are looked through
    #[arg(value_name = "REPORT", required = true)]
    pub(in crate::cli) reports: Vec<PathBuf>,
    /// The tools
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// The labelled queries
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) golden: PathBuf,
    /// The file to write, whose `relevance` a person fills in
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: PathBuf,
}
