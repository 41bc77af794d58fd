//! How the scenarios are run together, which part of them here, and which again.

use std::path::PathBuf;

use clap::Args;

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
