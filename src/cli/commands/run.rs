//! `mcp-eval run`: run scenarios against their own expectations.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use crate::cli::args::RunArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::select::Purpose;
use crate::cli::suite::{baselines, play_round, scoring, settings};
use crate::cli::to_run::{Planned, ToRun, to_run};
use crate::cli::watch::{self, Watch};
use crate::cli::{Console, Exit, Failure, called, dry_run, not_kept, runs, suite_file};
use crate::model::Called;
use crate::suite::{self, Judging, Settings, StoredRun};
use crate::text::plural;

pub(in crate::cli) fn run(args: &RunArgs, console: Console) -> Result<Exit, Failure> {
    let folder = baselines(args.baseline.as_ref());
    let files = suite_file::files_of_all(&args.select, &args.execute, Some(&args.plan));
    let purpose = Purpose {
        baselines: Some(&folder),
        ..Purpose::running("run", &args.execute, &files)
    };
    let (reporting, no_report) = args.execute.reported();
    dry_run::check(&args.plan, reporting, args.output.as_deref())?;
    let reports = Reports::new(reporting, no_report, args.output.as_deref())?;
    let judged = args.run.as_deref().map(|it| judged(it, args, console));
    let judged = judged.transpose()?;
    let args = &with_paths(args, judged.as_ref());
    let one = |round: &Round| one(round, args, judged.as_ref(), purpose, &reports, console);
    let watch = Watch {
        select: &args.select,
        purpose,
        args: &args.watch,
        reporting,
        output: args.output.as_deref(),
        console,
    };
    watch::rounds(&watch, one)
}

/// One round of it.
fn one(
    round: &Round,
    args: &RunArgs,
    judged: Option<&Judged>,
    purpose: Purpose<'_>,
    reports: &Reports,
    console: Console,
) -> Result<Exit, Failure> {
    let args_of_plan = (&args.select, &args.plan, &args.execute);
    let mut to_run = match to_run(round, args_of_plan, (purpose, "run"), console)? {
        Planned::ToRun(to_run) => to_run,
        Planned::Unchanged(sentence) => {
            return not_kept::unchanged("run", &sentence, reports, console);
        }
    };
    if let Some(stored) = judged {
        only_those_of(stored, &mut to_run, console)?;
    }
    if args.plan.dry_run {
        return dry_run::print("run", &to_run, &args.execute, console);
    }
    let all_of_run = judged.filter(|it| it.is_all);
    let called = Called {
        selection: all_of_run.map_or(to_run.selection, |it| it.run.selection),
        ..called::run(args)
    };
    to_run.tell_idle(&args.execute, &args.score, console);
    let settings = to_run.settle(Settings {
        judging: Judging {
            scoring: scoring(&args.score),
            ..Judging::default()
        },
        baselines: baselines(args.baseline.as_ref()),
        called: Some(called),
        judged: judged.map(|it| Arc::clone(&it.run)),
        ..settings(&args.execute, &to_run.scenarios, console)?
    });
    let settings = if judged.is_some() {
        settings.running_nothing()
    } else {
        settings
    };
    reports.begin(round, "run")?;
    let finished = play_round(
        round,
        ("run", std::mem::take(&mut to_run.scenarios)),
        &settings,
        console,
        |suite| suite::run(suite, &settings),
    )?;
    let options = ReportOptions {
        threshold: args.score.threshold,
        strict: args.score.strict,
        suite: to_run.suite_of(),
        shard: to_run.shard(),
        shuffle_seed: to_run.shuffle_seed,
        ..ReportOptions::of(reports, args.execute.kept.keep.0, &settings.baselines)
    };
    finish::finish(&finished, &options, console)
}

/// A stored run that is to be judged.
struct Judged {
    run: Arc<StoredRun>,
    /// Nobody has chosen scenarios of it.
    is_all: bool,
}

/// The stored run that is to be judged.
fn judged(run: &Path, args: &RunArgs, console: Console) -> Result<Judged, Failure> {
    const STORED: &str = "`mcp-eval report --list` lists the runs that are stored";
    let folder = runs::made(&run.to_string_lossy()).map_err(Failure::usage)?;
    if !folder.exists() {
        let message = format!("there is no run or folder {}", folder.display());
        return Err(Failure::usage(message).hint(STORED));
    }
    let stored = StoredRun::of(&folder).map_err(|it| {
        Failure::from(it).hint("bring the whole folder of the run, or run the scenarios again")
    })?;
    let Some(stored) = stored.filter(|it| it.is_whole(&folder)) else {
        let message = format!("{} is not the folder of a stored run", folder.display());
        let hint = "`--run` takes a whole run, and PATHS say which scenarios of it are judged; `compare --run` takes a trajectory";
        return Err(Failure::usage(message).hint(hint));
    };
    if !stored.is_made() {
        let message = format!("nothing was run in {}", folder.display());
        return Err(Failure::usage(message).hint("name the run that was judged there"));
    }
    if stored.is_part && args.plan.suite.is_some() {
        let message = "this run is one part of a suite, whose gates are about all parts together";
        return Err(Failure::usage(message).hint("judge it without `--suite`"));
    }
    if args.score.pass_threshold.is_some() && !stored.is_repeated() {
        let message = "--pass-threshold is about several runs of a scenario, and this run was not made with `--repeat`";
        return Err(Failure::usage(message));
    }
    console.note(&format!(
        "note: nothing is run: {} is judged",
        folder.display()
    ));
    let select = &args.select;
    let is_picked = select.expression.is_some() || select.changed.is_some() || select.last_failed;
    Ok(Judged {
        run: Arc::new(stored),
        is_all: select.are_default()
            && select.tags.is_empty()
            && !is_picked
            && args.plan.suite.is_none(),
    })
}

/// The same arguments with the paths that a stored run was given, where there are none.
fn with_paths(args: &RunArgs, judged: Option<&Judged>) -> RunArgs {
    let mut args = args.clone();
    if let Some(judged) = judged.filter(|_| args.select.are_default()) {
        let given = judged.run.paths.iter().filter(|it| it.exists());
        args.select.paths = given.cloned().collect();
    }
    args
}

/// Leaves those scenarios that a stored run was about. Of those that were chosen, there must be one.
fn only_those_of(judged: &Judged, to_run: &mut ToRun, console: Console) -> Result<(), Failure> {
    let of_run: HashSet<&str> = judged
        .run
        .scenarios
        .iter()
        .map(|it| it.id.as_str())
        .collect();
    let chosen: HashSet<String> = to_run.scenarios.iter().map(|it| it.id.clone()).collect();
    let mut lost = of_run.iter().filter(|it| !chosen.contains(**it)).peekable();
    if judged.is_all && lost.peek().is_some() {
        let lost: Vec<String> = lost.map(|it| format!("`{it}`")).collect();
        let message = format!(
            "nobody knows what is expected of {} of this run: no scenario file here is {}",
            plural(lost.len(), "scenario"),
            lost.join(", ")
        );
        let hint = "give the file back its name, or name as PATHS those that are to be judged; what was run with `--matrix` is judged with it";
        return Err(Failure::incomplete(message).hint(hint));
    }
    let before = to_run.scenarios.len();
    to_run
        .scenarios
        .retain(|it| of_run.contains(it.id.as_str()));
    let left_out = before - to_run.scenarios.len();
    if to_run.scenarios.is_empty() {
        let message = "this run is about none of the scenarios that were chosen";
        return Err(Failure::incomplete(message));
    }
    if left_out > 0 {
        console.note(&format!(
            "note: {} not judged, because this run is not about {}",
            if left_out == 1 {
                "1 scenario is".to_owned()
            } else {
                format!("{left_out} scenarios are")
            },
            if left_out == 1 { "it" } else { "them" }
        ));
    }
    Ok(())
}
