//! `mcp-eval bisect`: the first commit of a server or proxy at which a scenario fails.

use crate::cli::args::{BisectArgs, Format};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::suite::base;
use crate::cli::{Console, Exit, Failure, database, not_kept, runtime};
use crate::published::result::{Bisected, SkippedCommit};
use crate::suite::{self, Judging, Range, ScoreSettings, Settings, Suite};

pub(in crate::cli) fn run(args: &BisectArgs, console: Console) -> Result<Exit, Failure> {
    let reports = Reports::new(&args.reporting, args.no_report, args.output.as_deref())?;
    let scenarios = match select::select(&args.select, Purpose::default(), console)? {
        Selected::Scenarios(chosen) => chosen.scenarios,
        Selected::Unchanged(sentence) => {
            return not_kept::unchanged("bisect", &sentence, &reports, console);
        }
    };
    let settings = Settings {
        jobs: args.jobs,
        containers: !args.no_docker,
        database: database::of(&args.database)?,
        judging: Judging {
            scoring: ScoreSettings {
                threshold: args.threshold,
                strict: args.strict,
                ..ScoreSettings::default()
            },
            ..Judging::default()
        },
        ..base()?
    };
    let range = Range {
        good: args.good.clone(),
        bad: args.bad.clone(),
        resume: args.resume,
    };
    let runtime = runtime::running(settings.jobs, scenarios.len())?;
    let (found, interrupt) = runtime.block_on(async {
        let suite = Suite {
            interrupt: runtime::interruption(),
            ..Suite::new(scenarios)
        };
        let interrupt = suite.interrupt.clone();
        let tell = |doing: &str| console.note(doing);
        (
            suite::bisect(suite, &settings, &range, &tell).await,
            interrupt,
        )
    });
    runtime.shutdown_background();
    let (bisected, shown) = found.map_err(|error| {
        let failure = Failure::from(error);
        if interrupt.is_cancelled() {
            Failure {
                exit: Exit::Interrupted,
                ..failure
            }
        } else {
            failure
        }
    })?;
    let Bisected {
        first_bad,
        reason,
        skipped,
    } = &bisected;
    let names = first_bad
        .iter()
        .map(|it| format!("{} {}", it.commit, it.subject));
    let names: Vec<String> = names.collect();
    let exit = if names.len() == 1 {
        Exit::Passed
    } else {
        Exit::Incomplete
    };
    if let Some(finished) = &shown {
        let options = ReportOptions {
            threshold: args.threshold,
            bisected: Some(bisected.clone()),
            ..ReportOptions::of(&reports, args.kept.keep.0, &settings.baselines)
        };
        // That it fails is what was looked for, and is reported below.
        finish::finish(finished, &options, console.terse())?;
    }
    for SkippedCommit { commit, why } in skipped {
        console.note(&format!(
            "skipped {} {}: {why}",
            commit.short, commit.subject
        ));
    }
    let sentence = match &names[..] {
        [only] => format!("first bad commit: {only}\n  {reason}"),
        several => format!(
            "the first bad commit is one of these, because those before the last could not be run:\n  {}",
            several.join("\n  ")
        ),
    };
    if args.reporting.format == Format::Terminal {
        Console::document(&sentence);
    } else {
        console.note(&sentence);
    }
    Ok(exit)
}
