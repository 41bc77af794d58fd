//! The commands that run scenarios.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::database::DatabaseArgs;
use super::execute::{ExecuteArgs, ScoreArgs, parse_jobs, parse_threshold};
use super::output::{KeepArgs, ReportingArgs};
use super::select::{PlanArgs, SelectArgs, WatchArgs};
use crate::cli::runs;
use crate::model::STATELESS;
use crate::scenario_file::servers::Protocol;
use crate::suite::{Against, Jobs};

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
    /// again for every run and no model is asked; else 1, with each call that only reads made again, which `--takes 1` leaves
    /// out]
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "repeat", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub(in crate::cli) takes: Option<u16>,
    /// Keep runs that failed, too
    #[arg(long)]
    pub(in crate::cli) allow_failing: bool,
    /// Write baselines although CI is set in the environment; with --listen, also over a scenario that is there
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Run nothing: write baselines that are in an earlier form as they are written now, which share their catalogues
    #[arg(long, conflicts_with = "listen")]
    pub(in crate::cli) upgrade: bool,
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
        "repeat", "agent", "model", "matrix", "budget", "judge", "judge_budget", "no_cache", "jobs", "fail_fast", "tags", "expression", "changed", "last_failed", "allow_failing",
        "no_report", "format", "reports",
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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(in crate::cli) struct CompareArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) plan: PlanArgs,
    #[command(flatten)]
    pub(in crate::cli) execute: ExecuteArgs,
    #[command(flatten)]
    pub(in crate::cli) score: ScoreArgs,
    /// Where baselines lie; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Run the scenarios on another version, too, and compare with that in place of baselines: `git:REF` (of `source.repo`),
    /// `image:NAME`, `config:FILE`, `url:URL`, `protocol:legacy` or `protocol:2026-07-28` (of MCP), `run:ID` (a stored run, or the beginning of its id, or `latest`) or
    /// `baseline:DIR`
    #[arg(long, value_name = "WHAT", value_parser = parse_against, conflicts_with_all = ["baseline", "repeat", "matrix"])]
    pub(in crate::cli) against: Option<AgainstChoice>,
    /// Tell what became of each answer from behind the servers (`upstreams`) on its way, and make the calls that arrive there once more,
    /// straight, for what they cost without the servers in between; gates on the scenario's own expectations alone, and needs no baseline
    #[arg(long, conflicts_with_all = ["baseline", "against", "run", "servers", "repeat", "strict_statistics", "allow_changed"])]
    pub(in crate::cli) direct: bool,
    /// Score this stored trajectory, or all of a folder or of the run of this id, without running anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "shard", "suite", "shuffle", "dry_run", "mcp_config", "agent", "model", "matrix", "budget", "judge", "judge_budget", "no_cache", "jobs", "repeat", "fail_fast", "expression", "changed", "last_failed"])]
    pub(in crate::cli) run: Option<PathBuf>,
    /// Who answers: the servers, or what the baseline has recorded of them, for changes of the prompt, the agent or the model
    #[arg(long, value_enum, default_value_t = ServersChoice::Live, conflicts_with_all = ["mcp_config", "run", "against"])]
    pub(in crate::cli) servers: ServersChoice,
    /// Exit with 3 when a scenario is inconclusive: fewer runs passed than when its baseline was recorded, but too few were made to tell
    /// that from chance
    #[arg(long, requires = "repeat")]
    pub(in crate::cli) strict_statistics: bool,
    /// Keep what failed or changed for `mcp-eval review` although CI is set in the environment
    #[arg(long, conflicts_with_all = ["run", "against", "direct"])]
    pub(in crate::cli) pending: bool,
    /// Gate also where the baseline is of another experiment: what is asked, the agent or the model has changed since
    #[arg(long)]
    pub(in crate::cli) allow_changed: bool,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) watch: WatchArgs,
}

/// What scenarios are compared with.
#[derive(Debug, Clone)]
pub(in crate::cli) enum AgainstChoice {
    /// Something else that is run, or was.
    Version(Against),
    /// A folder of baselines.
    Baselines(PathBuf),
}

pub(super) fn parse_against(text: &str) -> Result<AgainstChoice, String> {
    let (kind, what) = text
        .split_once(':')
        .filter(|(_, what)| !what.is_empty())
        .ok_or("write git:REF, image:NAME, config:FILE, url:URL, protocol:REVISION, run:ID or baseline:DIR")?;
    Ok(AgainstChoice::Version(match kind {
        "git" => Against::Git(what.to_owned()),
        "image" => Against::Image(what.to_owned()),
        "config" => Against::Config(what.into()),
        "url" => Against::Url(what.to_owned()),
        "protocol" => Against::Protocol(match what {
            "legacy" => Protocol::OnlyLegacy,
            STATELESS => Protocol::Stateless,
            _ => return Err("write protocol:legacy or protocol:2026-07-28".to_owned()),
        }),
        "run" => Against::Run(runs::made(what)?),
        "baseline" => return Ok(AgainstChoice::Baselines(what.into())),
        "http" | "https" => return Err(format!("write url:{text}")),
        _ => {
            return Err(format!(
                "`{kind}` is none of git, image, config, url, protocol, run and baseline"
            ));
        }
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ServersChoice {
    /// The servers of the scenario
    Live,
    /// Mocks made from the baseline: no server is started, and what was recorded is answered again
    Recorded,
}

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(in crate::cli) struct BisectArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    /// A commit of `source.repo` at which the scenarios pass
    #[arg(long, value_name = "REF")]
    pub(in crate::cli) good: String,
    /// A later one at which one of them fails
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    pub(in crate::cli) bad: String,
    /// Go on with a search that was interrupted
    #[arg(long)]
    pub(in crate::cli) resume: bool,
    /// The lowest score that is good, 0 to 1 [default: the scenario's, else 0.8]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) threshold: Option<f64>,
    /// Whatever changed is bad
    #[arg(long)]
    pub(in crate::cli) strict: bool,
    /// How many scenarios run at once; `auto`: as many as there are processors, at least 2 and at most 8, but of those that use what others
    /// may be using (servers that are not started fresh for every run, a fixed port, what `before` and `after` reset) one at a time
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, default_value = "auto", value_parser = parse_jobs)]
    pub(in crate::cli) jobs: Jobs,
    /// Use the servers as they are, without starting or resetting any container
    #[arg(long)]
    pub(in crate::cli) no_docker: bool,
    #[command(flatten)]
    pub(in crate::cli) reporting: ReportingArgs,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    /// Write no pages
    #[arg(long)]
    pub(in crate::cli) no_report: bool,
    /// Where the report of the first bad commit goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunArgs {
    #[command(flatten)]
    pub(in crate::cli) select: SelectArgs,
    #[command(flatten)]
    pub(in crate::cli) plan: PlanArgs,
    #[command(flatten)]
    pub(in crate::cli) execute: ExecuteArgs,
    #[command(flatten)]
    pub(in crate::cli) score: ScoreArgs,
    /// Where the baselines lie that are replayed; for a single scenario, also the folder of its baseline [default: baselines/]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Run nothing, and judge a stored run by what its scenarios expect now: its id, the beginning of it, `latest` or a folder
    #[arg(long, value_name = "ID", conflicts_with_all = ["watch", "shard", "shuffle", "dry_run", "mcp_config", "repeat", "no_docker"])]
    pub(in crate::cli) run: Option<PathBuf>,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) watch: WatchArgs,
}
