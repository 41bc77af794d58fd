//! What `mcp-eval mock` serves, and how.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::mock;

#[derive(Debug, Args)]
#[command(
    after_help = "What a file can declare: `mcp-eval help mock`; for --llm, `mcp-eval help agents`"
)]
pub(in crate::cli) struct MockArgs {
    /// A scenario with `mcp_interactions`, or a file that declares mock servers alone [default: a server with one tool that echoes]
    pub(in crate::cli) file: Option<PathBuf>,
    /// Which of its mock servers; may be left out when there is one
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) server: Option<String>,
    /// Serve what a recorded trajectory holds: a baseline's file, its folder, or the id of its scenario
    #[arg(long, value_name = "BASELINE", conflicts_with = "file")]
    pub(in crate::cli) from: Option<PathBuf>,
    /// Stand in for the API of a language model: follow the `llm_interactions` of this file over HTTP, as Anthropic, OpenAI and Ollama do
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "from", "server", "transport", "validate", "legacy_sse", "admin"])]
    pub(in crate::cli) llm: Option<PathBuf>,
    /// How clients reach it
    #[arg(long, value_enum, default_value_t = MockTransport::Stdio)]
    pub(in crate::cli) transport: MockTransport,
    /// Check arguments against the input schema
    #[arg(long)]
    pub(in crate::cli) validate: bool,
    /// Write a line of JSON for each tool call, or each request to a model
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) call_log: Option<PathBuf>,
    /// The longest message taken, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = mock::MAX_BODY, value_parser = parse_bytes)]
    pub(in crate::cli) max_body: usize,
    #[command(flatten)]
    pub(in crate::cli) http: MockHttpArgs,
    /// The topmost folder whose `_defaults.yaml` reaches the file, for a run that has loaded it from there
    #[arg(long, value_name = "DIR", hide = true)]
    pub(in crate::cli) defaults_from: Option<PathBuf>,
    /// Where the text of the file is, for a run whose scenario is not in its file
    #[arg(long, value_name = "FILE", requires = "defaults_from", hide = true)]
    pub(in crate::cli) text_from: Option<PathBuf>,
}

/// How a mock server listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --transport http")]
pub(in crate::cli) struct MockHttpArgs {
    /// The port to listen on, 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(in crate::cli) port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_address)]
    pub(in crate::cli) host: IpAddr,
    /// Let --host name an address that other machines reach, and clients name this one as they like
    #[arg(long)]
    pub(in crate::cli) allow_remote: bool,
    /// Also serve the older transport of two endpoints, at /sse and /messages
    #[arg(long)]
    pub(in crate::cli) legacy_sse: bool,
    /// Let clients add, replace and remove tools, see calls and reset, at /__mock/
    #[arg(long)]
    pub(in crate::cli) admin: bool,
    /// With --allow-remote, a host besides the loopback ones that requests to /__mock/ may name; may be repeated. They also need the token
    /// that is printed
    #[arg(long, value_name = "HOST", requires_all = ["admin", "allow_remote"])]
    pub(in crate::cli) allow_host: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MockTransport {
    /// A message a line on stdin and stdout
    Stdio,
    /// Streamable HTTP at /mcp and /
    Http,
}

pub(super) fn parse_address(text: &str) -> Result<IpAddr, String> {
    let text = if text == "localhost" {
        "127.0.0.1"
    } else {
        text
    };
    text.parse()
        .map_err(|_| "write an IP address, such as 0.0.0.0 for all of this machine".to_owned())
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|it| *it > 0)
        .ok_or_else(|| "write a number of bytes above 0".to_owned())
}
