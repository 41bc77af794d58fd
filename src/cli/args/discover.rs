//! Where `mcp-eval discover` looks.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct DiscoverArgs {
    /// Look at this address alone
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) url: Option<String>,
}
