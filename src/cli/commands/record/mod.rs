//! `mcp-eval record`: run scenarios and keep their trajectories as baselines.

mod listen;

use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::suite::{baselines, choose, play, settings};
use crate::cli::{Console, Exit, Failure, called, ci, not_kept, suite_file};
use crate::model::called::Called;
use crate::suite::{self, Recording, Settings};

pub(in crate::cli) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    ci::refuse(args.force)?;
    if args.listen.listen {
        return listen::run(args, output, console);
    }
    let reports = Reports::new(&args.execute.reporting, args.execute.no_report, None)?;
    let files = suite_file::files_of_all(&args.select, &args.execute, None);
    let purpose = Purpose::running("record", &args.execute, &files);
    let chosen = match select::select(&args.select, purpose, console)? {
        Selected::Scenarios(chosen) => chosen,
        Selected::Unchanged(sentence) => {
            return not_kept::unchanged("record", &sentence, &reports, console);
        }
    };
    let called = Called {
        selection: chosen.selection("record"),
        ..called::record(args)
    };
    let mut scenarios = chosen.scenarios;
    choose(&mut scenarios, &args.execute)?;
    let settings = settings(&args.execute, &scenarios, console)?;
    let settings = Settings {
        recording: Recording {
            takes: args.takes,
            allow_failing: args.allow_failing,
            of_one_scenario: is_of_one_scenario(args)
                && scenarios.iter().all(|it| it.row_of.is_none()),
            ..settings.recording
        },
        baselines: baselines(args.output.as_ref()),
        called: Some(called),
        ..settings
    };
    reports.begin(&Round::default(), "record")?;
    let finished = play(
        ("record", scenarios),
        &settings,
        (output, console),
        |suite| suite::record(suite, &settings),
    )?;
    let options = ReportOptions::of(&reports, args.execute.kept.keep.0, &settings.baselines);
    finish::finish(&finished, &options, output, console)
}

/// With a single scenario file, `--output` is the folder of its baseline, else the folder of all baselines, as it is for the rows of a data
/// set.
fn is_of_one_scenario(args: &RecordArgs) -> bool {
    let files = args.select.all_paths();
    let is_file = files.len() == 1 && files[0].is_file();
    args.output.is_some() && is_file && args.execute.matrix.is_empty()
}
