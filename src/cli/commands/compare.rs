//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use crate::cli::args::{CompareArgs, OutputArgs, ServersChoice};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::offline;
use crate::cli::select;
use crate::cli::stray;
use crate::cli::suite::{baselines, choose, play, scoring, settings};
use crate::model::stamp::Servers;
use crate::store::Baselines;
use crate::suite::{self, Judging, Settings};

pub(in crate::cli) fn run(
    args: &CompareArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if let Some(run) = &args.run {
        return offline::compare(args, run, output, console);
    }
    let mut scenarios = select::select(&args.select, console)?;
    choose(&mut scenarios, &args.execute)?;
    let settings = Settings {
        judging: Judging {
            scoring: scoring(&args.score),
            allow_changed: args.allow_changed,
            strict_statistics: args.strict_statistics,
        },
        answered_by: match args.servers {
            ServersChoice::Live => Servers::Live,
            ServersChoice::Recorded => Servers::Recorded,
        },
        baselines: baselines(args.baseline.as_ref()),
        ..settings(&args.execute)?
    };
    let ids: Vec<String> = scenarios.iter().map(|it| it.id.clone()).collect();
    let finished = play(scenarios, &settings, (output, console), |suite| {
        suite::compare(suite, &settings)
    })?;
    let folder = Baselines::new(&settings.baselines);
    stray::warn(&args.select, &folder, &ids, console);
    let options = ReportOptions {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
        strict_statistics: args.strict_statistics,
    };
    finish::finish(&finished, &options, output, console)
}
