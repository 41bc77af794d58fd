//! Options of the results database, and of what is asked of it.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::output::FormatArgs;

/// Where results are kept besides their files.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results database")]
pub(in crate::cli) struct DatabaseArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    /// Keep results in their files alone, whatever --db or `MCP_EVAL_DB` says
    #[arg(long)]
    pub(in crate::cli) no_db: bool,
    /// Do not say in the database who ran it, and on which machine
    #[arg(long)]
    pub(in crate::cli) no_identity: bool,
}

/// Which database.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct DbPlaceArgs {
    /// The results database: the path of a file, or `postgres://USER:PASSWORD@HOST/NAME` [default: .mcp-eval/results.db]
    // Not parsed here: what is wrong with an argument is printed with the argument, and this one may hold a password.
    #[arg(
        long,
        value_name = "URL|PATH",
        env = "MCP_EVAL_DB",
        hide_env_values = true
    )]
    pub(in crate::cli) db: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DbCommand {
    /// Tell where it is, what is in it, and whether it can be read
    Info(DbInfoArgs),
    /// Print where it is, without what gives access to it
    Path(DbArgs),
    /// Add what the files of the runs hold and the database does not; nothing goes
    Rebuild(DbRebuildArgs),
    /// Remove all but the latest runs; their files stay
    Prune(DbPruneArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbInfoArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    #[command(flatten)]
    pub(in crate::cli) printed: FormatArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbRebuildArgs {
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    /// The folder of the runs [default: .mcp-eval/runs]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) runs: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DbPruneArgs {
    /// How many of the latest runs stay
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) keep: u32,
    /// Only tell what would go
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 shown · 1 something has become too slow (`--max-slowdown`), or with `--format e2e` something\n\
                  does not pass · 2 wrong usage · 3 there are no results, they cannot be read, nothing could be measured\n\
                  (`--max-slowdown`), or with `--format e2e` something was never judged"
)]
pub(in crate::cli) struct HistoryArgs {
    /// A scenario, by id or name: all that was looked at of it; without, a line for each
    pub(in crate::cli) name: Option<String>,
    /// No result that is older: a day (`2026-11-01`), a time (RFC 3339), or how long ago (`7d`, `12h`)
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    pub(in crate::cli) since: Option<Timestamp>,
    /// Only scenarios with this tag, or one of these; may be given several times
    #[arg(long, value_name = "TAG")]
    pub(in crate::cli) tag: Vec<String>,
    /// How many of the latest results of each scenario with each agent and model to look at
    #[arg(long, value_name = "N", default_value = "50", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(in crate::cli) last: u32,
    /// Fail where the latest result, however it came out, took more than so many times the median of those before that passed, at least three
    /// of them, of the same agent and model: `1.5`, or `50%` more
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, value_parser = parse_factor)]
    pub(in crate::cli) max_slowdown: Option<f64>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = HistoryFormat::Terminal)]
    pub(in crate::cli) format: HistoryFormat,
    /// Write it to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) place: DbPlaceArgs,
    /// Print the names of all scenarios that have results, a line each, for shells to complete
    #[arg(long, hide = true)]
    pub(in crate::cli) names: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum HistoryFormat {
    /// A table with its course for people
    Terminal,
    /// The history document, version 1
    Json,
    /// Comma-separated values, a line per result
    Csv,
    /// A page with small charts
    Html,
    /// The latest results as the lines that end-to-end tests look for: `Test PASSED`, `Verdict: …`
    E2e,
}

fn parse_since(text: &str) -> Result<Timestamp, String> {
    since(text, Timestamp::now())
}

/// A day, a time, or a span before now.
fn since(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>() {
        return day
            .to_zoned(TimeZone::UTC)
            .map(|it| it.timestamp())
            .map_err(|error| error.to_string());
    }
    let wrong = || "write a day such as 2026-11-01, or how long ago, such as 7d or 12h".to_owned();
    let span: Span = text.parse().map_err(|_| wrong())?;
    let then = now.to_zoned(TimeZone::UTC).checked_sub(span.abs());
    then.map(|it| it.timestamp()).map_err(|_| wrong())
}

fn parse_factor(text: &str) -> Result<f64, String> {
    let wrong =
        || "write a factor of at least 1 such as 1.5, or how much more, such as 50%".to_owned();
    let factor = match text.strip_suffix('%') {
        Some(more) => more.trim().parse::<f64>().map(|it| 1.0 + it / 100.0),
        None => text.parse(),
    };
    factor
        .ok()
        .filter(|it| it.is_finite() && *it >= 1.0)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{parse_factor, since};

    #[test]
    fn times_are_read_as_people_write_them() {
        let now = "2026-11-22T10:00:00Z".parse().expect("a time");
        for (text, time) in [
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T10:00:00+01:00", "2026-11-01T09:00:00Z"),
            ("7d", "2026-11-15T10:00:00Z"),
            ("2w", "2026-11-08T10:00:00Z"),
            ("12h", "2026-11-21T22:00:00Z"),
        ] {
            assert_eq!(since(text, now).expect(text).to_string(), time, "{text}");
        }
        for text in ["", "soon", "2026-13-01", "9999999999y"] {
            assert!(since(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn factors_are_at_least_one() {
        for (text, factor) in [("1", 1.0), ("1.5", 1.5), ("50%", 1.5), ("0 %", 1.0)] {
            assert!(
                (parse_factor(text).expect(text) - factor).abs() < 1e-12,
                "{text}"
            );
        }
        for text in ["0.5", "-50%", "nan", "inf", "much", "%"] {
            assert!(parse_factor(text).is_err(), "{text}");
        }
    }
}
