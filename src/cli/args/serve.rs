//! Options of commands that serve: the test server and mock servers.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::database::DatabaseArgs;
use super::output::KeepArgs;
use crate::mock;

#[derive(Debug, Args)]
pub(in crate::cli) struct ServeArgs {
    /// The folder of the scenarios that are served; requests name no file outside of it
    #[arg(long, value_name = "DIR", default_value = "scenarios")]
    pub(in crate::cli) root: PathBuf,
    /// Servers of test cases and scenarios that name none, from a client configuration, {"mcpServers": {…}}; they win over a scenario's own of the same name
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) mcp_config: Option<PathBuf>,
    /// The agent of test cases that name none, with --model [default: that of `_defaults.yaml` in the folder that is served]
    #[arg(long, value_enum)]
    pub(in crate::cli) agent: Option<ServeAgent>,
    /// The model that it asks
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Option<String>,
    /// The judge of test cases that name none: a file with a section `judge`
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) judge: Option<PathBuf>,
    /// The folder of baselines
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub(in crate::cli) baseline: PathBuf,
    /// Use servers as they are, without starting or resetting any container
    #[arg(long)]
    pub(in crate::cli) no_docker: bool,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
    #[command(flatten)]
    pub(in crate::cli) listen: ServeListenArgs,
    #[command(flatten)]
    pub(in crate::cli) allow: ServeAllowArgs,
    #[command(flatten)]
    pub(in crate::cli) bounds: ServeBoundsArgs,
}

/// Where it listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it listens")]
pub(in crate::cli) struct ServeListenArgs {
    /// The port to listen on, 0 for a free one
    #[arg(long, value_name = "PORT", env = "TEST_PORT", default_value_t = 3002)]
    pub(in crate::cli) port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_address)]
    pub(in crate::cli) host: IpAddr,
    /// Let --host name an address that other machines reach, and clients name this one as they like
    #[arg(long)]
    pub(in crate::cli) allow_remote: bool,
}

/// What requests may do.
#[derive(Debug, Args)]
#[command(next_help_heading = "What requests may do")]
pub(in crate::cli) struct ServeAllowArgs {
    /// Want no token: everybody who has an account on this machine may ask, and no page of another site
    #[arg(long)]
    pub(in crate::cli) no_token: bool,
    /// Let requests start programs and containers, name files outside of --root, and name environment variables that hold keys
    #[arg(long)]
    pub(in crate::cli) allow_programs: bool,
    /// Let requests record, review, and write scenario files
    #[arg(long)]
    pub(in crate::cli) allow_write: bool,
    #[arg(
        long,
        help = "Let pages of this origin ask, such as http://localhost:5173; may be repeated",
        value_name = "ORIGIN",
        value_parser = parse_origin
    )]
    pub(in crate::cli) allow_origin: Vec<String>,
}

/// How much requests may take.
#[derive(Debug, Args)]
#[command(next_help_heading = "How much they may take")]
pub(in crate::cli) struct ServeBoundsArgs {
    /// How many runs go on at once
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(in crate::cli) max_concurrent: u16,
    /// How many more may wait; what comes then is refused with 429
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(in crate::cli) queue: u32,
    /// How long one run may take at most
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "300", value_parser = parse_seconds)]
    pub(in crate::cli) timeout: Duration,
    /// How long runs may continue when the server is stopped
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "10", value_parser = parse_grace)]
    pub(in crate::cli) grace: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ServeAgent {
    /// A model behind the Anthropic Messages API
    Anthropic,
    /// A model behind an API that speaks as OpenAI's does
    Openai,
    /// A model behind Ollama
    Ollama,
}

fn parse_origin(text: &str) -> Result<String, String> {
    let (scheme, host) = text.split_once("://").unwrap_or_default();
    let is_site = !host.is_empty() && !host.contains(['/', '?', '#', '*', '@']);
    if matches!(scheme, "http" | "https") && is_site {
        return Ok(text.to_owned());
    }
    Err(
        "write a scheme and a host, and a port where it has one, such as http://localhost:5173"
            .to_owned(),
    )
}

/// A day, in seconds.
const LONGEST: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "write a number of seconds".to_owned())?;
    if seconds > 0.0 && seconds <= LONGEST {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(format!(
        "write a number of seconds above 0, and at most {LONGEST}"
    ))
}

fn parse_grace(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    parse_seconds(text)
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DiscoverArgs {
    /// Look at this address alone
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) url: Option<String>,
}

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
