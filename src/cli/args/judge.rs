//! The models that judge runs, and the command that judges one of them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::amounts::{parse_budget, parse_threshold};
use super::examples;
use super::output::FormatArgs;

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
