//! Options for running, scoring and judging scenarios, and for putting results together.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::database::DatabaseArgs;
use super::examples;
use super::output::{FormatArgs, KeepArgs, ReportingArgs};
use crate::suite::Jobs;

/// How to run them.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ExecuteArgs {
    /// Servers from a client configuration, {"mcpServers": {…}}; they win over the scenario's own of the same name
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) mcp_config: Option<PathBuf>,
    /// The revisions of MCP that servers are spoken to in [default: what the scenario says, else those of the baseline, else legacy]
    #[arg(long, value_enum)]
    pub(in crate::cli) protocol: Option<ProtocolChoice>,
    /// Who makes the calls, instead of the scenario's agent
    #[arg(long, value_enum)]
    pub(in crate::cli) agent: Option<AgentChoice>,
    /// With --agent command: the program and its arguments, split as a shell would. `${prompt}`, `${mcp_config}` and `${model}` are
    /// replaced as in scenarios
    #[arg(long, value_name = "COMMAND", value_parser = parse_program)]
    pub(in crate::cli) agent_command: Option<Program>,
    /// With --agent command: what the program prints [default: the scenario's, else generic]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(in crate::cli) agent_format: Option<FormatChoice>,
    /// The model to ask, instead of the scenario's; what that one costs is then unknown
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Option<String>,
    /// Run every scenario with each of several agents or models: `--matrix model=a,b --matrix agent=…`; given for both, with every combination.
    /// Each cell has baselines of its own, and the report shows the cells side by side
    #[arg(long, value_name = "KEY=VALUE,…", value_parser = parse_axis)]
    pub(in crate::cli) matrix: Vec<Axis>,
    /// What all requests to models may cost together, in the currency of the scenarios' prices
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = parse_budget)]
    pub(in crate::cli) budget: Option<f64>,
    #[command(flatten)]
    pub(in crate::cli) judging: JudgeArgs,
    /// How many scenarios run at once; `auto`: as many as there are processors, at least 2 and at most 8, but of those that use what others
    /// may be using (servers that are not started fresh for every run, a fixed port, what `before` and `after` reset) one at a time
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, default_value = "auto", value_parser = parse_jobs)]
    pub(in crate::cli) jobs: Jobs,
    /// How often each scenario is run, where runs vary: `--pass-threshold` gates on the share that passes
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(in crate::cli) repeat: Option<u16>,
    /// Start no further scenario once one has not passed; unless --jobs says how many, they then run one after another
    #[arg(short = 'x', long)]
    pub(in crate::cli) fail_fast: bool,
    /// Use the servers as they are, without starting or resetting any container
    #[arg(long)]
    pub(in crate::cli) no_docker: bool,
    #[command(flatten)]
    pub(in crate::cli) reporting: ReportingArgs,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    /// Write no pages; the result is kept, and `mcp-eval report --format html` makes them later
    #[arg(long)]
    pub(in crate::cli) no_report: bool,
    #[command(flatten)]
    pub(in crate::cli) database: DatabaseArgs,
}

impl ExecuteArgs {
    /// The forms of the result that are asked for, and whether pages are not.
    pub(in crate::cli) fn reported(&self) -> (&ReportingArgs, bool) {
        (&self.reporting, self.no_report)
    }

    /// Whether another agent than a script is chosen for some, so that scenarios need not tell what a script plays.
    pub(in crate::cli) fn gives_agent(&self) -> bool {
        let other = self.agent.map(|it| it != AgentChoice::Scripted);
        let is_program = self.agent_command.is_some() || self.agent_format.is_some();
        other.unwrap_or(is_program) || self.matrix.iter().any(|it| it.name == AxisName::Agent)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ProtocolChoice {
    /// Those that begin with `initialize`
    Legacy,
    /// 2026-07-28 where the server speaks it, else those before
    Auto,
    /// The one without sessions
    #[value(name = "2026-07-28")]
    Stateless,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum AgentChoice {
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
    /// A program of its own: the scenario's, or that of --agent-command
    Command,
}

/// What an agent that is a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FormatChoice {
    /// Its final answer
    Generic,
    /// The events of Claude Code
    Claude,
    /// The events of Codex
    Codex,
    /// The events of Gemini CLI
    Gemini,
}

/// A program and its arguments, as one text and split.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Program {
    pub(in crate::cli) text: String,
    pub(in crate::cli) words: Vec<String>,
}

/// How to score.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ScoreArgs {
    /// The lowest score that passes, 0 to 1 [default: the scenario's, else 0.8]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) threshold: Option<f64>,
    /// With --repeat, the lowest share of runs that passes, 0 to 1 [default: the scenario's, else 1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, requires = "repeat", value_parser = parse_threshold)]
    pub(in crate::cli) pass_threshold: Option<f64>,
    /// Whatever changed fails: an answer within tolerance, an addition, a reworded error, a tool described otherwise; without it such
    /// changes are shown, and pass. Slower calls and tokens have gates of their own (`scoring.slower`, `scoring.tokens`) [default: the
    /// scenario's `scoring.strict`]
    #[arg(long)]
    pub(in crate::cli) strict: bool,
    /// Which formulas to use [default: the scenario's, else standard]
    #[arg(long, value_enum)]
    pub(in crate::cli) preset: Option<Preset>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Preset {
    Standard,
    Classic,
}

pub(super) fn parse_jobs(text: &str) -> Result<Jobs, String> {
    if text == "auto" {
        return Ok(Jobs::Auto);
    }
    let number: i64 = text
        .parse()
        .map_err(|_| "write a number from 1 to 256, or auto".to_owned())?;
    match u16::try_from(number) {
        Ok(number @ 1..=256) => Ok(Jobs::AtMost(number)),
        _ => Err(format!("{number} is not in 1..=256")),
    }
}

/// One axis of a matrix.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Axis {
    pub(in crate::cli) name: AxisName,
    pub(in crate::cli) values: Vec<String>,
    /// As it was written.
    pub(in crate::cli) text: String,
}

/// What a matrix can vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum AxisName {
    Agent,
    Model,
}

fn parse_axis(text: &str) -> Result<Axis, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or("write KEY=VALUE,VALUE, such as model=a,b")?;
    let name = match name.trim() {
        "agent" => AxisName::Agent,
        "model" => AxisName::Model,
        other => {
            return Err(format!(
                "a matrix varies `agent` or `model`, and not `{other}`"
            ));
        }
    };
    let values: Vec<String> = values.split(',').map(|it| it.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err("a value is empty".to_owned());
    }
    Ok(Axis {
        name,
        values,
        text: text.to_owned(),
    })
}

fn parse_program(text: &str) -> Result<Program, String> {
    let words = shlex::split(text).ok_or("a quote is not closed")?;
    if words.is_empty() {
        return Err("name a program".to_owned());
    }
    Ok(Program {
        text: text.to_owned(),
        words,
    })
}

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(in crate::cli) struct MergeArgs {
    /// Results of `--shard K/N`: files, or folders with all below, such as a report, a run, or what CI has kept of several
    #[arg(value_name = "RESULTS", required = true)]
    pub(in crate::cli) results: Vec<PathBuf>,
    /// Judge what is there where scenarios are in none of the results; those are reported as skipped
    #[arg(long)]
    pub(in crate::cli) allow_missing: bool,
    /// Where several results have a scenario, take it from the one that began last
    #[arg(long)]
    pub(in crate::cli) allow_overlap: bool,
    /// Put results together that are of other plans, commits, thresholds or versions of mcp-eval
    #[arg(long)]
    pub(in crate::cli) allow_different: bool,
    #[command(flatten)]
    pub(in crate::cli) reporting: ReportingArgs,
    #[command(flatten)]
    pub(in crate::cli) kept: KeepArgs,
    /// Write no pages; the result is kept, and `mcp-eval report --format html` makes them later
    #[arg(long)]
    pub(in crate::cli) no_report: bool,
    /// Where the report goes [default: reports/RUN/]
    #[arg(long, value_name = "DIR", conflicts_with = "no_report")]
    pub(in crate::cli) output: Option<PathBuf>,
}

/// Which model judges runs, and what it may cost.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct JudgeArgs {
    /// The model that judges runs, instead of the scenarios' own: a YAML file with what a `judge` section holds
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) judge: Option<PathBuf>,
    /// What judges may cost together: an amount in the currency of their prices, or a share of --budget such as `20%`, which counts it in any
    /// case
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = parse_share)]
    pub(in crate::cli) judge_budget: Option<JudgeBudget>,
    /// Ask judges again and keep no answer, instead of using answers in .mcp-eval/cache to the same questions
    #[arg(long)]
    pub(in crate::cli) no_cache: bool,
}

/// What judges may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cli) enum JudgeBudget {
    Amount(f64),
    /// A share of the whole budget, from 0 to 1.
    Share(f64),
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum JudgeCommand {
    /// Measure a judge by labelled examples: how often it agrees, and how often its verdicts hang on order and length
    #[command(after_long_help = examples::JUDGE_CHECK)]
    Check(JudgeCheckArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct JudgeCheckArgs {
    /// A YAML file with `criteria` or a `rubric`, and `examples`, each with its calls, the agent's last words and whether it should pass
    pub(in crate::cli) file: PathBuf,
    /// The judge, instead of the file's own: a YAML file with what a `judge` section holds
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) judge: Option<PathBuf>,
    /// What all requests may cost together, in the currency of the judge's price
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = parse_budget)]
    pub(in crate::cli) budget: Option<f64>,
    /// Ask again, and keep no answer
    #[arg(long)]
    pub(in crate::cli) no_cache: bool,
    /// Fail if a lower share of the verdicts is that of the label, 0 to 1
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) min_agreement: Option<f64>,
    /// Fail if Cohen's kappa is lower, 0 to 1, or cannot be determined because all verdicts are alike
    #[arg(long, value_name = "KAPPA", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) min_kappa: Option<f64>,
    /// Fail if a higher share of the verdicts flips with the order, or with the length, 0 to 1
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = parse_threshold)]
    pub(in crate::cli) max_flips: Option<f64>,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

fn parse_share(text: &str) -> Result<JudgeBudget, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return parse_budget(text).map(JudgeBudget::Amount).map_err(|_| {
            "write an amount above 0, or a share of the budget such as 20%".to_owned()
        });
    };
    let share = percent.trim().parse().ok().map(|it: f64| it / 100.0);
    share
        .filter(|it| *it > 0.0 && *it <= 1.0)
        .map(JudgeBudget::Share)
        .ok_or_else(|| "write a share above 0% and at most 100%".to_owned())
}

pub(super) fn parse_threshold(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it| (0.0..=1.0).contains(it))
        .ok_or_else(|| "write a number from 0 to 1".to_owned())
}

pub(super) fn parse_budget(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it: &f64| it.is_finite() && *it > 0.0)
        .ok_or_else(|| "write an amount above 0".to_owned())
}
