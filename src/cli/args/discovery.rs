//! The commands that measure tool searches and scanners, and that look after their data sets.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::database::DatabaseArgs;
use super::examples;
use super::execute::{parse_budget, parse_threshold};
use super::output::{FormatArgs, KeepArgs};
use super::suite::{AgainstChoice, parse_against};
use crate::suite::Against;

/// Where the proxy is whose search is measured.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ProxyArgs {
    #[arg(
        help = "The proxy's address; also from a `.env` file here [default: http://127.0.0.1:8080]",
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
    /// Have a model write questions for each tool of a corpus, that do not name it, for a person to go through
    #[command(after_long_help = examples::DATASETS_GEN_QUERIES)]
    GenQueries(GenQueriesArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the file is written · 2 wrong usage, or the file is there already · 3 the model gave nothing to write ·\n\
                  130 interrupted; nothing is written then"
)]
pub(in crate::cli) struct GenQueriesArgs {
    /// The tools
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: PathBuf,
    /// How many questions for each tool
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(in crate::cli) per_tool: u16,
    /// The model that is asked
    #[arg(long, value_name = "NAME", default_value = "claude-haiku-4-5")]
    pub(in crate::cli) model: String,
    /// Whose API it is behind; its key comes from the vendor's usual environment variable
    #[arg(long, value_enum, default_value_t = Provider::Anthropic)]
    pub(in crate::cli) provider: Provider,
    /// How the model is asked, in place of both: a YAML file with what a `judge` section holds, such as `base_url` and `price`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "provider"])]
    pub(in crate::cli) model_file: Option<PathBuf>,
    /// What all requests may cost together, in the currency of the model's price
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = parse_budget)]
    pub(in crate::cli) budget: Option<f64>,
    /// Replace the file where it is there already
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// Whose API a model is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Provider {
    /// Anthropic's Messages
    Anthropic,
    /// `OpenAI`'s Chat Completions
    Openai,
    /// Ollama
    Ollama,
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

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all gates passed, or there are none · 1 a gate failed · 2 wrong usage · 3 something could not\n\
                  be measured: no answer to a query, a file that cannot be used, another catalogue · 130 interrupted"
)]
pub(in crate::cli) struct RetrievalArgs {
    /// The tools
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// The labelled queries
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) golden: PathBuf,
    /// The figures that gate: an earlier report.json, or the figures of one
    #[arg(long, value_name = "FILE", group = "held_against")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// How much lower than the baseline's recall@5 may be [default: what the baseline says, else 0.05]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) tolerance: Option<f64>,
    /// How often every query is asked; the figures are means, and the report says whether all runs answer alike
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(in crate::cli) runs: u16,
    /// Where the reports go
    #[arg(long, value_name = "DIR", default_value = "reports/retrieval")]
    pub(in crate::cli) out_dir: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) proxy: ProxyArgs,
    /// Measure although the live catalogue differs from the corpus
    #[arg(long)]
    pub(in crate::cli) allow_drift: bool,
    /// Fail if recall@5 is lower than this, 0 to 1, whatever it was before
    #[arg(long, value_name = "RECALL", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) recall_floor: Option<f64>,
    /// Wait so long at most until the catalogue has all tools of the corpus and stays so: `5m`, `30s`
    #[arg(long, value_name = "DURATION", value_parser = parse_wait)]
    pub(in crate::cli) wait: Option<Duration>,
    /// Fail if more queries have a lower recall@5 than in the baseline, which must be a report.json; without one, than the first `--search`
    #[arg(long, value_name = "N")]
    pub(in crate::cli) max_lost: Option<usize>,
    /// A list of queries that may be lost, each with `id`, `reason` and `until`, the last day
    #[arg(long, value_name = "FILE", requires = "max_lost")]
    pub(in crate::cli) allow_lost: Option<PathBuf>,
    /// How the search is asked: a file, or mcpproxy-rest, mcpproxy, toolhive, docker-find, fastmcp; may be given several times, and each is
    /// compared with the first [default: mcpproxy-rest]
    #[arg(long = "search", value_name = "FILE|NAME")]
    pub(in crate::cli) searches: Vec<String>,
    /// The scenario file with the system under test, whose servers and containers are started as for any other run: for a search that is a
    /// tool of one, or is behind the address of one
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// Measure another version of the system under test first, which takes the part of the baseline: `git:REF` (of `source.repo`),
    /// `image:NAME`, `config:FILE` or `url:URL`
    #[arg(long, value_name = "WHAT", value_parser = parse_other, requires = "scenario", group = "held_against")]
    pub(in crate::cli) against: Option<Against>,
    /// Use the servers as they are, without starting or resetting any container
    #[arg(long)]
    pub(in crate::cli) no_docker: bool,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the gate passed · 1 it failed · 2 wrong usage · 3 something could not be measured: an entry\n\
                  without a verdict, a file that cannot be used"
)]
pub(in crate::cli) struct SecurityArgs {
    /// What scanners said; each file is one run
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(in crate::cli) verdicts: Vec<PathBuf>,
    /// The labelled entries; without them, the labels in the verdicts count
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: Option<PathBuf>,
    /// The most of what is benign that may be flagged, 0 to 1
    #[arg(long, value_name = "RATE", default_value = "0.10", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) fpr_ceiling: f64,
    /// The least of what is malicious that must be flagged, 0 to 1
    #[arg(long, value_name = "RATE", default_value = "0.80", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) recall_floor: f64,
    /// Where the reports go
    #[arg(long, value_name = "DIR", default_value = "reports/security")]
    pub(in crate::cli) out_dir: PathBuf,
    /// How many scans of a detector may end without a verdict
    #[arg(long, value_name = "N", default_value = "0")]
    pub(in crate::cli) allow_errors: usize,
    /// The form of the verdicts, where it is not recognised
    #[arg(long, value_enum)]
    pub(in crate::cli) format: Option<VerdictForm>,
    /// Also tell the precision where this share of all tools is malicious, 0 to 1; needs scores
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) prevalence: Option<f64>,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
}

/// A form in which scanners say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum VerdictForm {
    /// The verdicts of the original tool
    V1,
    /// The same with more: a status, scores
    V2,
    /// The raw output of Cisco's MCP scanner
    Cisco,
    /// The JSON of mcp-scan
    McpScan,
    /// SARIF, of any scanner
    Sarif,
}

fn parse_other(text: &str) -> Result<Against, String> {
    match parse_against(text)? {
        AgainstChoice::Version(Against::Run(_) | Against::Protocol(_))
        | AgainstChoice::Baselines(_) => {
            Err("write git:REF, image:NAME, config:FILE or url:URL; `--baseline FILE` takes earlier figures".to_owned())
        }
        AgainstChoice::Version(version) => Ok(version),
    }
}

fn parse_wait(text: &str) -> Result<Duration, String> {
    let read: Option<jiff::SignedDuration> = text.parse().ok();
    let read = read.and_then(|it| Duration::try_from(it).ok());
    read.filter(|it| !it.is_zero())
        .ok_or_else(|| "write a duration such as 30s or 5m".to_owned())
}
