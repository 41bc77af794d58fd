//! `mcp-eval run`: run scenarios against their own expectations.

use crate::cli::args::{OutputArgs, RunArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::select;
use crate::cli::suite::{baselines, choose, play, scoring, settings};
use crate::suite::{self, Judging, Settings};

pub(in crate::cli) fn run(
    args: &RunArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let (reporting, no_report) = (&args.execute.reporting, args.execute.no_report);
    let reports = Reports::new(reporting, no_report, args.output.as_deref())?;
    let mut scenarios = select::select(&args.select, console)?;
    choose(&mut scenarios, &args.execute)?;
    let settings = Settings {
        judging: Judging {
            scoring: scoring(&args.score),
            ..Judging::default()
        },
        baselines: baselines(args.baseline.as_ref()),
        ..settings(&args.execute, &scenarios, console)?
    };
    let finished = play(("run", scenarios), &settings, (output, console), |suite| {
        suite::run(suite, &settings)
    })?;
    let options = ReportOptions {
        reports: &reports,
        threshold: args.score.threshold,
        strict_statistics: false,
        bisected: None,
    };
    finish::finish(&finished, &options, output, console)
}
