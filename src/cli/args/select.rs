//! Options that select scenarios, and plan their run.

use std::path::PathBuf;

use clap::Args;

use crate::cli::select::expression::Expression;

/// Which scenarios.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct SelectArgs {
    /// Scenario files, folders (with all below) or globs [default: scenarios/]
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// A scenario file; may be given several times
    #[arg(long = "scenario", value_name = "FILE")]
    pub(in crate::cli) scenarios: Vec<PathBuf>,
    /// Only scenarios with this tag; with several, any of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Only scenarios that match: words with `and`, `or`, `not` and parentheses. A word matches a part of a name or path, or a whole tag,
    /// whatever its case; quotes hold several together
    #[arg(short = 'k', value_name = "EXPRESSION", value_parser = Expression::parse)]
    pub(in crate::cli) expression: Option<Expression>,
    /// Only scenarios that have changed, or files that they depend on, since the last commit, or since the last commit in common with REF
    #[arg(long, value_name = "REF", num_args = 0..=1, require_equals = true, value_parser = parse_reference)]
    #[expect(
        clippy::option_option,
        reason = "the option may be given without a value"
    )]
    pub(in crate::cli) changed: Option<Option<String>>,
    /// Only scenarios that did not pass when this command ran them last; all where there are none
    #[arg(long, visible_alias = "lf")]
    pub(in crate::cli) last_failed: bool,
    /// Take the values that the scenarios, or their `_defaults.yaml`, have for variables in this one of their `environments`; `--var` goes before
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) environment: Option<String>,
    /// Set a {{variable}} of the scenarios
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(in crate::cli) variables: Vec<(String, String)>,
}

impl SelectArgs {
    /// All paths the user gave, or the default folder.
    pub(in crate::cli) fn all_paths(&self) -> Vec<PathBuf> {
        if self.are_default() {
            vec![PathBuf::from("scenarios")]
        } else {
            self.paths.iter().chain(&self.scenarios).cloned().collect()
        }
    }

    /// Whether scenarios are picked from those that the paths name.
    pub(in crate::cli) fn picks(&self) -> bool {
        !self.tags.is_empty()
            || self.expression.is_some()
            || self.changed.is_some()
            || self.last_failed
    }

    /// The same, with what has changed or failed and what has not.
    pub(in crate::cli) fn whatever_came_of_them(&self) -> Self {
        Self {
            changed: None,
            last_failed: false,
            ..self.clone()
        }
    }

    /// Whether the user left the choice of scenarios to us.
    pub(in crate::cli) fn are_default(&self) -> bool {
        self.paths.is_empty() && self.scenarios.is_empty()
    }
}

fn parse_reference(text: &str) -> Result<String, String> {
    // A variable of CI that is not set would make it mean something else.
    if text.is_empty() {
        return Err("names no commit: write `--changed=main`, or `--changed` alone for what is not committed".to_owned());
    }
    Ok(text.to_owned())
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// How the scenarios are run together, and which part of them here.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct PlanArgs {
    /// Follow the suite file `scenarios/_suites/NAME.yaml`: which scenarios run, in what order, what is run around them and again, which of
    /// them decide nothing, and what all of them must come to. `mcp-eval validate` checks it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) suite: Option<String>,
    /// Begin the scenarios in a random order; the number that makes it is printed, and gives the same order again
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "it may be given without a number")]
    pub(in crate::cli) shuffle: Option<Option<u32>>,
    /// Print what would be run – agents, servers, calls, what it may cost – and run nothing
    #[arg(long, conflicts_with = "watch")]
    pub(in crate::cli) dry_run: bool,
    /// Run the K-th of N parts of the scenarios, which take about as long each, as their baselines tell; the same command on N machines
    /// runs all, and `mcp-eval merge` puts the results together. A part without scenarios exits with 0
    #[arg(long, value_name = "K/N", value_parser = parse_shard, conflicts_with = "watch")]
    pub(in crate::cli) shard: Option<ShardChoice>,
}

/// Running again what changes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Watching")]
pub(in crate::cli) struct WatchArgs {
    /// Go on after the first run: whenever a scenario, its baseline, or a file that it or its servers are made from changes, run again the
    /// scenarios it concerns. What git ignores concerns none. On a terminal, Enter runs all, f those that failed, q quits
    #[arg(long, conflicts_with = "matrix")]
    pub(in crate::cli) watch: bool,
    /// Watch this file, or all in this folder, too, such as the source of the server: a change concerns all scenarios; may be given several
    /// times
    #[arg(long = "watch-path", value_name = "PATH", requires = "watch")]
    pub(in crate::cli) watch_paths: Vec<PathBuf>,
}

/// One of several parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct ShardChoice {
    /// Counted from 1.
    pub(in crate::cli) index: u32,
    pub(in crate::cli) count: u32,
}

/// More parts than that are a mistake: a plan names each of them.
const MOST: u32 = 10_000;

fn parse_shard(text: &str) -> Result<ShardChoice, String> {
    let example = "write K/N, such as 2/7 for the second of seven parts";
    let (index, count) = text.split_once('/').ok_or(example)?;
    let number = |it: &str| it.trim().parse::<u32>().map_err(|_| example.to_owned());
    let (index, count) = (number(index)?, number(count)?);
    match (index, count) {
        (0, _) => Err("parts are counted from 1".to_owned()),
        (_, count) if count > MOST => Err(format!("there are at most {MOST} parts")),
        (index, count) if index > count => Err(format!("there is no part {index} of {count}")),
        (index, count) => Ok(ShardChoice { index, count }),
    }
}
