//! What is printed, and how.

use clap::{Args, ValueEnum};

/// Options about what is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct OutputArgs {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(in crate::cli) color: Color,
    /// Show no progress
    #[arg(long, global = true, help_heading = "Output")]
    pub(in crate::cli) no_progress: bool,
    /// Say more: every call as it happens, and the reasons behind passed scenarios
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    pub(in crate::cli) verbose: bool,
    /// Print the result alone
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(in crate::cli) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct FormatArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(in crate::cli) format: ResultFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ResultFormat {
    /// A table for people
    Terminal,
    /// The result document, version 1
    Json,
}
