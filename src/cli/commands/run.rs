//! `mcp-eval run`: run scenarios against their own expectations.

use std::sync::Arc;

use crate::cli::args::RunArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::judged_run::JudgedRun;
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::select::Purpose;
use crate::cli::suite::{baselines, play_round, scoring, settings};
use crate::cli::to_run::{Planned, to_run};
use crate::cli::watch::{self, Watch};
use crate::cli::{Console, Exit, Failure, called, dry_run, not_kept, suite_file};
use crate::model::Called;
use crate::suite::{self, Judging, Settings};

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
    let judged = args
        .run
        .as_deref()
        .map(|it| JudgedRun::of(it, args, console));
    let judged = judged.transpose()?;
    let args = &judged
        .as_ref()
        .map_or_else(|| args.clone(), |it| it.with_paths(args));
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
    judged: Option<&JudgedRun>,
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
    if let Some(judged) = judged {
        judged.keep_its_own(&mut to_run, console)?;
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
