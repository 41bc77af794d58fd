//! The arguments of the command line, as typed words; nothing below `cli` sees clap.

mod database;
mod discovery;
mod examples;
mod execute;
mod look;
mod output;
mod select;
mod serve;
mod short;
mod suite;
mod upkeep;

use clap::{Parser, Subcommand};

pub(super) use database::{
    DatabaseArgs, DbCommand, DbInfoArgs, DbPlaceArgs, DbPruneArgs, DbRebuildArgs, HistoryArgs,
    HistoryFormat,
};
pub(super) use discovery::{
    DatasetsCommand, DatasetsValidateArgs, GenQueriesArgs, PoolArgs, Provider, ProxyArgs,
    RetrievalArgs, SecurityArgs, SnapshotArgs, VerdictForm,
};
pub(super) use execute::{
    AgentChoice, Axis, AxisName, ExecuteArgs, FormatChoice, JudgeBudget, JudgeCheckArgs,
    JudgeCommand, MergeArgs, Preset, ProtocolChoice, ScoreArgs,
};
pub(super) use look::{ExplainArgs, ListArgs, ReportArgs, ReviewArgs, ValidateArgs};
pub(super) use output::{
    Asked, Color, Format, OutputArgs, ReportChoice, ReportingArgs, ResultFormat,
};
pub(super) use select::{PlanArgs, SelectArgs, WatchArgs};
pub(super) use serve::{DiscoverArgs, MockArgs, MockTransport, ServeAgent, ServeArgs};
pub(super) use suite::{
    AgainstChoice, BisectArgs, CompareArgs, RecordArgs, RunArgs, ServersChoice,
};
pub(super) use upkeep::{
    AddedCall, CleanArgs, CompletionsArgs, HelpArgs, ImportArgs, ImportedTool, InitArgs, ManArgs,
    ScanArgs, SchemaArgs, SchemaKind, Workflow,
};

/// Find out whether a change breaks how AI agents use your tools.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-eval",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Topics, each explained by `mcp-eval help TOPIC`:\n  \
                  start · scenario · baselines · comparison · changes · versions · agents · scoring · repeat ·\n  \
                  evaluators · judge · datasets · mock · protocol · containers · upstreams · ci · suites ·\n  \
                  pull-requests · results · secrets · measure · serve · migrate\n\n\
                  Exit codes: 0 all passed, or chance may explain what failed · 1 a scenario or a gate failed ·\n\
                  2 wrong usage or an invalid file · 3 something could not be run, nothing judged it, its servers\n\
                  are unsteady, or nothing ran · 130 interrupted\n\n\
                  A first look: `mcp-eval init --server \"COMMAND\"` makes a scenario and a baseline of a server of\n\
                  yours, and `mcp-eval compare` runs it again."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make a first scenario; with --server, of your server, recorded and compared
    Init(InitArgs),
    /// Run scenarios and keep their trajectories as baselines
    #[command(after_long_help = examples::RECORD, mut_args = short::record)]
    Record(RecordArgs),
    /// Run scenarios again, score them against their baselines, write a report, gate
    #[command(after_long_help = examples::COMPARE, mut_args = short::compare)]
    Compare(CompareArgs),
    /// Run scenarios against their own expectations; no baseline needed
    #[command(after_long_help = examples::RUN, mut_args = short::run)]
    Run(RunArgs),
    /// Find the first commit of a server or proxy at which a scenario fails
    #[command(after_long_help = examples::BISECT)]
    Bisect(BisectArgs),
    /// Review failures and changes: accept, keep as variant, ignore, reject
    #[command(after_long_help = examples::REVIEW)]
    Review(ReviewArgs),
    /// Render a stored result again
    #[command(after_long_help = examples::REPORT)]
    Report(ReportArgs),
    /// Show scores, durations and verdicts over time, and since when something fails
    #[command(after_long_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Put the results of several machines together: one report, one exit code
    #[command(after_long_help = examples::MERGE)]
    Merge(MergeArgs),
    /// Show every number and rule that led to a score
    #[command(after_long_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Check scenario files, all findings at once
    #[command(after_long_help = examples::VALIDATE)]
    Validate(ValidateArgs),
    /// List scenarios with their tags, servers and baselines
    #[command(after_long_help = examples::LIST)]
    List(ListArgs),
    /// Serve a mock MCP server, over stdio or HTTP
    #[command(after_long_help = examples::MOCK)]
    Mock(MockArgs),
    /// Run test cases and scenarios for others, over HTTP
    #[command(after_long_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Find a running test server
    #[command(after_long_help = examples::DISCOVER)]
    Discover(DiscoverArgs),
    /// Turn recordings of another tool into baselines
    #[command(after_long_help = examples::IMPORT)]
    Import(ImportArgs),
    /// Look for secrets in files that are already on disk
    #[command(after_long_help = examples::SCAN)]
    Scan(ScanArgs),
    /// Look after the results database: rebuild, copy, shorten it
    #[command(subcommand, after_long_help = examples::DB)]
    Db(DbCommand),
    /// Measure the model that judges runs
    #[command(subcommand, after_long_help = examples::JUDGE)]
    Judge(JudgeCommand),
    /// Measure whether a tool search finds the right tools
    #[command(after_long_help = examples::RETRIEVAL)]
    Retrieval(Box<RetrievalArgs>),
    /// Measure whether scanners of tool descriptions catch what they should
    #[command(after_long_help = examples::SECURITY)]
    Security(SecurityArgs),
    /// Make and check the data sets by which tool searches are measured
    #[command(subcommand, after_long_help = examples::DATASETS)]
    Datasets(DatasetsCommand),
    /// Remove unnamed catalogues, and what runs left in Docker
    #[command(after_long_help = examples::CLEAN)]
    Clean(CleanArgs),
    /// Print the JSON Schema of a kind of file
    #[command(after_long_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// Explain a command, or one of the topics below
    #[command(after_long_help = examples::HELP)]
    Help(HelpArgs),
    /// Print what a shell completes
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print or write manual pages
    #[command(after_long_help = examples::MAN)]
    Man(ManArgs),
}

impl Command {
    /// What a command that makes reports is called, and where its result is asked for.
    pub(super) fn asked(&self) -> Option<(&'static str, Asked)> {
        let (name, (reporting, no_report), output) = match self {
            Self::Record(args) => ("record", args.execute.reported(), &None),
            Self::Compare(args) => ("compare", args.execute.reported(), &args.output),
            Self::Run(args) => ("run", args.execute.reported(), &args.output),
            Self::Merge(args) => ("merge", (&args.reporting, args.no_report), &args.output),
            Self::Bisect(args) => ("bisect", (&args.reporting, args.no_report), &args.output),
            Self::Report(args) => ("report", (&args.reporting, false), &None),
            _ => return None,
        };
        let asked = Asked {
            reporting: reporting.clone(),
            no_report,
            output: output.clone(),
        };
        Some((name, asked))
    }
}
