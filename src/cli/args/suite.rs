//! The commands that run scenarios.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::execute::{ExecuteArgs, ScoreArgs};
use super::select::SelectArgs;

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RecordArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) execute: ExecuteArgs,
    /// Where baselines go; for a single scenario file, the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// How often to play each scenario, to learn which places of the answers vary by nature [default: 2 where all servers are started
    /// anew for every run and no model is asked; else 1, with each call that only reads asked again right after its answer, which
    /// `--takes 1` leaves out]
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "repeat", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub(in crate::cli) takes: Option<u16>,
    /// Keep runs that failed, too
    #[arg(long)]
    pub(in crate::cli) allow_failing: bool,
    /// Write baselines although CI is set in the environment; with --listen, also over a scenario that is there
    #[arg(long)]
    pub(in crate::cli) force: bool,
    #[command(flatten)]
    pub(in crate::cli) listen: ListenArgs,
}

/// How somebody else's session is recorded.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Recording a session of your own")]
pub(in crate::cli) struct ListenArgs {
    /// Open a gateway to the servers of a scenario file or of --mcp-config, and make a scenario and its baseline of what your MCP client
    /// does there until Enter or Ctrl-C
    #[arg(long, conflicts_with_all = [
        "repeat", "agent", "model", "budget", "pace", "jobs", "fail_fast", "tags", "allow_failing", "no_report", "format",
    ])]
    pub(in crate::cli) listen: bool,
    /// The gateway's port on this machine [default: a free one]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "listen", value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) port: Option<u16>,
    /// What the scenario is called: it becomes scenarios/NAME.yaml [default: made from the time]
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(in crate::cli) name: Option<String>,
    /// What the session is about: the scenario's `user_intent`
    #[arg(long, value_name = "TEXT", requires = "listen")]
    pub(in crate::cli) intent: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CompareArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) execute: ExecuteArgs,
    #[command(flatten)]
    pub(in crate::cli) score: ScoreArgs,
    /// Where baselines lie; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Score this stored trajectory, or all of a folder, without running anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mcp_config", "agent", "model", "budget", "pace", "jobs", "repeat", "fail_fast"])]
    pub(in crate::cli) run: Option<PathBuf>,
    /// Who answers: the servers, or what the baseline has recorded of them, for changes of the prompt, the agent or the model
    #[arg(long, value_enum, default_value_t = ServersChoice::Live, conflicts_with_all = ["mcp_config", "run"])]
    pub(in crate::cli) servers: ServersChoice,
    /// Exit with 3 when a scenario is inconclusive: fewer runs passed than when its baseline was recorded, but too few were made to tell
    /// that from chance
    #[arg(long, requires = "repeat")]
    pub(in crate::cli) strict_statistics: bool,
    /// Gate also where the baseline is of another experiment: what is asked, the agent or the model has changed since
    #[arg(long)]
    pub(in crate::cli) allow_changed: bool,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ServersChoice {
    /// The servers of the scenario
    Live,
    /// Mocks made from the baseline: no server is started, and what was recorded is answered again
    Recorded,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) execute: ExecuteArgs,
    #[command(flatten)]
    pub(in crate::cli) score: ScoreArgs,
    /// Where the baselines lie that are replayed; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
}
