//! What the user typed, as typed words; nothing below `cli` sees clap.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::mock;
use crate::model::redaction::Pattern;

/// Tells whether a change broke the way AI agents use your tools.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-eval",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 all passed · 1 something failed its gate · 2 wrong usage or an invalid file ·\n\
                  3 something could not be run or judged, or nothing ran · 130 interrupted\n\n\
                  A first look: run `mcp-eval compare` in a folder with `scenarios/` and `baselines/`."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Options about what is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct OutputArgs {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(super) color: Color,
    /// Show no progress
    #[arg(long, global = true, help_heading = "Output")]
    pub(super) no_progress: bool,
    /// Say more: every call as it happens, and the reasons behind passed scenarios
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    pub(super) verbose: bool,
    /// Print the result alone
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(super) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run scenarios and keep their trajectories as baselines
    Record(RecordArgs),
    /// Run scenarios again, score them against their baselines, write a report, gate
    Compare(CompareArgs),
    /// Run scenarios against their own expectations; no baseline needed
    Run(RunArgs),
    /// Render a stored result again
    Report(ReportArgs),
    /// Show every number and rule that led to a score
    Explain(ExplainArgs),
    /// Check scenario files, all findings at once
    Validate(ValidateArgs),
    /// List scenarios with their tags, servers and baselines
    List(ListArgs),
    /// Serve a mock MCP server, over stdio or HTTP
    Mock(MockArgs),
    /// Turn recordings of another tool into baselines
    Import(ImportArgs),
    /// Look for secrets in files that are already on disk
    Scan(ScanArgs),
    /// Remove containers, networks and volumes that earlier runs have left in the Docker engine
    Clean(CleanArgs),
    /// Print the JSON Schema of a kind of file
    Schema(SchemaArgs),
}

impl Command {
    /// The command's name, when it was asked for its result as a document.
    pub(super) fn wants_json(&self) -> Option<&'static str> {
        let (name, format) = match self {
            Self::Record(args) => ("record", args.execute.format),
            Self::Compare(args) => ("compare", args.execute.format),
            Self::Run(args) => ("run", args.execute.format),
            _ => return None,
        };
        (format == ResultFormat::Json).then_some(name)
    }
}

/// Which scenarios.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SelectArgs {
    /// Scenario files, folders (with all below) or globs [default: scenarios/]
    #[arg(value_name = "PATHS")]
    pub(super) paths: Vec<PathBuf>,
    /// A scenario file; may be given several times
    #[arg(long = "scenario", value_name = "FILE")]
    pub(super) scenarios: Vec<PathBuf>,
    /// Only scenarios with this tag; with several, any of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Set a {{variable}} of the scenarios
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(super) variables: Vec<(String, String)>,
}

/// How to run them.
#[derive(Debug, Clone, Args)]
pub(super) struct ExecuteArgs {
    /// Servers from a client configuration, {"mcpServers": {…}}; they win over the scenario's own of the same name
    #[arg(long, value_name = "FILE")]
    pub(super) mcp_config: Option<PathBuf>,
    /// Who makes the calls, instead of the scenario's agent
    #[arg(long, value_enum)]
    pub(super) agent: Option<AgentChoice>,
    /// The model to ask, instead of the scenario's; what that one costs is then unknown
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// What all requests to models may cost together, in the currency of the scenarios' prices
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget)]
    pub(super) budget: Option<f64>,
    /// When a replay makes the next call [default: the scenario's, else fast]
    #[arg(long, value_enum)]
    pub(super) pace: Option<PaceChoice>,
    /// How many scenarios run at once
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
    /// Start no further scenario once one has not passed
    #[arg(short = 'x', long)]
    pub(super) fail_fast: bool,
    /// Use the servers as they stand, without starting or resetting any container
    #[arg(long)]
    pub(super) no_docker: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
    /// Write no pages; the result is kept, and `mcp-eval report --format html` makes them later
    #[arg(long)]
    pub(super) no_report: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AgentChoice {
    /// Plays the calls the scenario lists
    Scripted,
    /// Plays the calls of the accepted baseline, with the ids the live server gives
    Replay,
    /// A model behind the Anthropic Messages API
    Anthropic,
    /// A model behind an API that speaks as OpenAI's does
    Openai,
    /// A model behind Ollama
    Ollama,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PaceChoice {
    /// As soon as the last one is answered
    Fast,
    /// After the gap that was recorded, for servers that work in the background
    Recorded,
}

/// How to score.
#[derive(Debug, Clone, Args)]
pub(super) struct ScoreArgs {
    /// The lowest score that passes, 0 to 1 [default: the scenario's, else 0.8]
    #[arg(long, value_name = "SCORE", value_parser = parse_threshold)]
    pub(super) threshold: Option<f64>,
    /// Which formulas to use [default: the scenario's, else standard]
    #[arg(long, value_enum)]
    pub(super) preset: Option<Preset>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Preset {
    Standard,
    Classic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ResultFormat {
    /// A table for people
    Terminal,
    /// The result document, version 1
    Json,
}

#[derive(Debug, Clone, Args)]
pub(super) struct RecordArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    #[command(flatten)]
    pub(super) execute: ExecuteArgs,
    /// Where baselines go; for a single scenario file, the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// How often to play each scenario, to learn which places of the answers vary by nature [default: 2 where all servers are started
    /// anew for every run and no model is asked, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub(super) takes: Option<u16>,
    /// Keep runs that failed, too
    #[arg(long)]
    pub(super) allow_failing: bool,
    /// Write baselines although CI is set in the environment
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    #[command(flatten)]
    pub(super) execute: ExecuteArgs,
    #[command(flatten)]
    pub(super) score: ScoreArgs,
    /// Where baselines lie; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(super) baseline: Option<PathBuf>,
    /// Score this stored trajectory, or all of a folder, without running anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mcp_config", "agent", "model", "budget", "pace", "jobs", "fail_fast"])]
    pub(super) run: Option<PathBuf>,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    #[command(flatten)]
    pub(super) execute: ExecuteArgs,
    #[command(flatten)]
    pub(super) score: ScoreArgs,
    /// Where the baselines lie that are replayed; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(super) baseline: Option<PathBuf>,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The run: its id, its folder, or a result.json [default: the latest]
    pub(super) run: Option<PathBuf>,
    /// What to render
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal)]
    pub(super) format: ReportFormat,
    /// Where the pages go, with --format html [default: reports/RUN/]
    #[arg(long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// A table for people, to stdout
    Terminal,
    /// The result document, to stdout
    Json,
    /// The pages, to a folder
    Html,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The run: its id, its folder, or a result.json; `latest` for the latest
    pub(super) run: PathBuf,
    /// Number of a call, as the report counts them; all calls without it
    pub(super) call: Option<usize>,
    /// Only this scenario, by id or name
    #[arg(long, value_name = "ID")]
    pub(super) scenario: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// Where baselines lie
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub(super) baseline: PathBuf,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Which tool they come from
    #[arg(value_enum)]
    pub(super) tool: ImportedTool,
    /// The folder of a recording, a folder of such folders, or a `detailed_log.json`
    pub(super) path: PathBuf,
    /// Where baselines go [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Replace baselines that are there already, and write although CI is set in the environment
    #[arg(long)]
    pub(super) force: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ImportedTool {
    /// smart-mcp-proxy/mcp-eval, which wrote `detailed_log.json`
    Original,
}

#[derive(Debug, Args)]
pub(super) struct MockArgs {
    /// A scenario with `mcp_interactions`, or a file that declares mock servers alone [default: a server with one tool that echoes]
    pub(super) file: Option<PathBuf>,
    /// Which of its mock servers; may be left out when there is one
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// Serve what a recorded trajectory holds: a baseline's file, its folder, or the id of its scenario
    #[arg(long, value_name = "BASELINE", conflicts_with = "file")]
    pub(super) from: Option<PathBuf>,
    /// Stand in for the API of a language model: follow the `llm_interactions` of this file over HTTP, as Anthropic, OpenAI and Ollama do
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "from", "server", "transport", "validate", "legacy_sse", "admin"])]
    pub(super) llm: Option<PathBuf>,
    /// How clients reach it
    #[arg(long, value_enum, default_value_t = MockTransport::Stdio)]
    pub(super) transport: MockTransport,
    /// Check arguments against the input schema
    #[arg(long)]
    pub(super) validate: bool,
    /// Write a line of JSON for each tool call, or each request to a model
    #[arg(long, value_name = "FILE")]
    pub(super) call_log: Option<PathBuf>,
    /// The longest message taken, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = mock::MAX_BODY, value_parser = parse_bytes)]
    pub(super) max_body: usize,
    #[command(flatten)]
    pub(super) http: MockHttpArgs,
    /// The topmost folder whose `_defaults.yaml` reaches the file, for a run that has loaded it from there
    #[arg(long, value_name = "DIR", hide = true)]
    pub(super) defaults_from: Option<PathBuf>,
}

/// How a mock server listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --transport http")]
pub(super) struct MockHttpArgs {
    /// The port to listen on, 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(super) port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_address)]
    pub(super) host: IpAddr,
    /// Let --host name an address that other machines reach, and clients name this one as they like
    #[arg(long)]
    pub(super) allow_remote: bool,
    /// Also serve the older transport of two endpoints, at /sse and /messages
    #[arg(long)]
    pub(super) legacy_sse: bool,
    /// Let clients add, replace and remove tools, see calls and reset, at /__mock/
    #[arg(long)]
    pub(super) admin: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MockTransport {
    /// A message a line on stdin and stdout
    Stdio,
    /// Streamable HTTP at /mcp and /
    Http,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing found · 1 something found · 2 wrong usage, or a path that does not exist ·\n\
                  3 something could not be read"
)]
pub(super) struct ScanArgs {
    /// Files and folders, with all below [default: those of baselines, reports, .mcp-eval and scenarios that are here]
    #[arg(value_name = "PATHS")]
    pub(super) paths: Vec<PathBuf>,
    /// Also find what this regular expression matches; may be given several times. The scenarios' own `redact` and secret variables
    /// are looked for anyway
    #[arg(long, value_name = "REGEX", value_parser = Pattern::new)]
    pub(super) redact: Vec<Pattern>,
    /// How findings are printed; secrets themselves never are
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
}

#[derive(Debug, Args)]
pub(super) struct CleanArgs {
    /// Only tell what would be removed
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How it is told
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(super) format: ResultFormat,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    #[arg(value_enum)]
    pub(super) kind: SchemaKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaKind {
    /// A scenario file
    Scenario,
    /// A baseline or a stored run
    Trajectory,
    /// A result.json
    Result,
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
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

fn parse_threshold(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it| (0.0..=1.0).contains(it))
        .ok_or_else(|| "write a number from 0 to 1".to_owned())
}

fn parse_budget(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it: &f64| it.is_finite() && *it > 0.0)
        .ok_or_else(|| "write an amount above 0".to_owned())
}

impl SelectArgs {
    /// All paths the user gave, or the default folder.
    pub(super) fn all_paths(&self) -> Vec<PathBuf> {
        if self.are_default() {
            vec![PathBuf::from("scenarios")]
        } else {
            self.paths.iter().chain(&self.scenarios).cloned().collect()
        }
    }

    /// Whether the user left the choice of scenarios to us.
    pub(super) fn are_default(&self) -> bool {
        self.paths.is_empty() && self.scenarios.is_empty()
    }
}
