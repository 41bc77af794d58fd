//! `mcp-eval record`: run scenarios and keep their trajectories as baselines.

mod listen;

use crate::cli::args::RecordArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::suite::{baselines, choose, play, settings};
use crate::cli::{Console, Exit, Failure, called, ci, matrix, not_kept, suite_file};
use crate::model::Called;
use crate::store::Baselines;
use crate::suite::{self, Recording, Settings};
use crate::text::plural;

pub(in crate::cli) fn run(args: &RecordArgs, console: Console) -> Result<Exit, Failure> {
    ci::refuse(args.force)?;
    if args.listen.listen {
        return listen::run(args, console);
    }
    if args.upgrade {
        return upgrade(args, console);
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
    let finished = play(("record", scenarios), &settings, console, |suite| {
        suite::record(suite, &settings)
    })?;
    let options = ReportOptions::of(&reports, args.execute.kept.keep.0, &settings.baselines);
    finish::finish(&finished, &options, console)
}

/// Writes baselines as they are written now: those of the chosen scenarios, or all that are there.
fn upgrade(args: &RecordArgs, console: Console) -> Result<Exit, Failure> {
    let all = Baselines::new(baselines(args.output.as_ref()));
    let mut ids = all.scenarios();
    if !args.select.are_default() || args.select.picks() {
        let purpose = Purpose {
            agent_given: true,
            ..Purpose::default()
        };
        let chosen = match select::select(&args.select, purpose, console)? {
            Selected::Scenarios(chosen) => matrix::with_cells(chosen.scenarios, &all),
            Selected::Unchanged(sentence) => {
                console.note(&sentence);
                return Ok(Exit::Passed);
            }
        };
        ids.retain(|id| chosen.iter().any(|it| it.id == *id));
    }
    let accepted = ids
        .iter()
        .flat_map(|id| (1..=all.variants(id)).map(move |variant| (id, variant)));
    let (mut rewritten, mut exit) = ([0, 0], Exit::Passed);
    for (id, variant) in accepted {
        match all.upgrade(id, variant) {
            Ok(is_rewritten) => rewritten[usize::from(is_rewritten)] += 1,
            Err(error) => {
                console.failure(&Failure::from(error));
                exit = Exit::Incomplete;
            }
        }
    }
    all.settle();
    let [left, rewritten] = rewritten;
    console.result(&format!(
        "{} rewritten; {left} in the new form already\n",
        plural(rewritten, "baseline")
    ));
    Ok(exit)
}

/// With a single scenario file, `--output` is the folder of its baseline, else the folder of all baselines, as it is for the rows of a data
/// set.
fn is_of_one_scenario(args: &RecordArgs) -> bool {
    let files = args.select.all_paths();
    let is_file = files.len() == 1 && files[0].is_file();
    args.output.is_some() && is_file && args.execute.matrix.is_empty()
}
