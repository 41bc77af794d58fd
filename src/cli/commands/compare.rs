//! `mcp-eval compare`: run scenarios again and score them against their baselines; or score stored trajectories.

use std::path::Path;

use crate::cli::args::{AgainstChoice, CompareArgs, ServersChoice};
use crate::cli::console::Console;
use crate::cli::exit::{Exit, Failure};
use crate::cli::finish::{self, ReportOptions};
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::select::Purpose;
use crate::cli::suite::{baselines, play_round, scoring, settings};
use crate::cli::to_run::{Planned, to_run};
use crate::cli::watch::{self, Watch};
use crate::cli::{called, dry_run, not_kept, offline, runs, stray, suite_file};
use crate::model::{Called, Servers};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::store::Baselines;
use crate::suite::ci::is_ci;
use crate::suite::{self, Against, Judging, Settings, replay};

pub(in crate::cli) fn run(args: &CompareArgs, console: Console) -> Result<Exit, Failure> {
    let (reporting, no_report) = args.execute.reported();
    dry_run::check(&args.plan, reporting, args.output.as_deref())?;
    let reports = Reports::new(reporting, no_report, args.output.as_deref())?;
    let baseline = match &args.against {
        Some(AgainstChoice::Baselines(folder)) => Some(folder),
        Some(AgainstChoice::Version(_)) | None => args.baseline.as_ref(),
    };
    let against = match &args.against {
        Some(AgainstChoice::Version(version)) => Some(version),
        Some(AgainstChoice::Baselines(_)) | None => None,
    };
    if matches!(against, Some(Against::Protocol(_))) && args.execute.protocol.is_some() {
        let message = "`--against protocol:…` says in which revisions both sides are spoken to";
        return Err(Failure::usage(message).hint("leave `--protocol` out"));
    }
    if let Some(run) = &args.run {
        let scored = runs::made(&run.to_string_lossy()).map_err(Failure::usage)?;
        let accepted = match against {
            None => baselines(baseline),
            Some(Against::Run(folder)) if *folder == scored => {
                return Err(Failure::usage(
                    "`--run` and `--against` name one and the same run",
                ));
            }
            Some(Against::Run(folder)) => folder.clone(),
            Some(other) => {
                let why =
                    format!("`--run` runs nothing, so there is nothing to compare with {other}");
                return Err(Failure::usage(why).hint("`--against run:ID` names another stored run"));
            }
        };
        return offline::compare(args, &scored, accepted, &reports, console);
    }
    let folder = baselines(baseline);
    let files = suite_file::files_of_all(&args.select, &args.execute, Some(&args.plan));
    let purpose = Purpose {
        baselines: Some(&folder),
        ..Purpose::running("compare", &args.execute, &files)
    };
    let one = |round: &Round| {
        let compared = (purpose, folder.as_path(), against);
        one(round, args, compared, &reports, console)
    };
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

/// Says what a replay plays, and what recorded servers answer from, where a scenario has several accepted runs.
fn tell_variants(
    scenarios: &[Scenario],
    folders: &[Baselines],
    answered_by: Servers,
    console: Console,
) {
    for (scenario, folder) in scenarios.iter().zip(folders) {
        let replays = matches!(scenario.agent, Agent::Replay { .. });
        let is_held = answered_by == Servers::Recorded;
        let variants = if scenario.enabled && (replays || is_held) {
            folder.variants(&scenario.id)
        } else {
            0
        };
        if variants > 1 {
            let path = folder.path(&scenario.id);
            let does = match (replays, is_held) {
                (true, true) => "the replay plays, and the servers answer from,",
                (true, false) => "the replay plays",
                (false, _) => "the servers answer from",
            };
            console.note(&format!(
                "note: {}: {does} {}, of {variants} variants",
                scenario.id,
                path.display()
            ));
        }
    }
}

/// One round of it.
fn one(
    round: &Round,
    args: &CompareArgs,
    (purpose, folder, against): (Purpose<'_>, &Path, Option<&Against>),
    reports: &Reports,
    console: Console,
) -> Result<Exit, Failure> {
    // What servers do to answers is judged as `run` does.
    let command = if args.direct { "run" } else { "compare" };
    let args_of_plan = (&args.select, &args.plan, &args.execute);
    let mut to_run = match to_run(round, args_of_plan, (purpose, command), console)? {
        Planned::ToRun(to_run) => to_run,
        Planned::Unchanged(sentence) => {
            return not_kept::unchanged("compare", &sentence, reports, console);
        }
    };
    if args.plan.dry_run {
        return dry_run::print("compare", &to_run, &args.execute, console);
    }
    let is_of_baselines = against.is_none() && !args.direct && args.servers == ServersChoice::Live;
    let keep_pending = args.pending || !is_ci();
    let called = Called {
        selection: to_run.selection,
        keeps_pending: keep_pending && is_of_baselines,
        ..called::compare(args)
    };
    to_run.tell_idle(&args.execute, &args.score, console);
    let settings = to_run.settle(Settings {
        judging: Judging {
            scoring: scoring(&args.score),
            allow_changed: args.allow_changed,
            strict_statistics: args.strict_statistics,
        },
        keep_pending,
        called: Some(called),
        answered_by: match args.servers {
            ServersChoice::Live => Servers::Live,
            ServersChoice::Recorded => Servers::Recorded,
        },
        baselines: folder.to_owned(),
        ..settings(&args.execute, &to_run.scenarios, console)?
    });
    let scenarios = std::mem::take(&mut to_run.scenarios);
    let ids: Vec<String> = scenarios.iter().map(|it| it.id.clone()).collect();
    let folders = scenarios
        .iter()
        .map(|it| replay::baselines(&settings.baselines, it, scenarios.len()));
    let folders: Vec<Baselines> = folders.collect();
    if is_of_baselines {
        stray::check_dialogues(&folders, &ids, console)?;
    }
    // With -v, each scenario says so itself.
    if against.is_none() && !args.direct && !console.is_verbose() {
        tell_variants(&scenarios, &folders, settings.answered_by, console);
    }
    reports.begin(round, command)?;
    let finished = play_round(
        round,
        (command, scenarios),
        &settings,
        console,
        |suite| async {
            match against {
                None if args.direct => suite::compare_direct(suite, &settings).await,
                None => suite::compare(suite, &settings).await,
                Some(version) => suite::compare_against("compare", suite, &settings, version).await,
            }
        },
    )?;
    let mut to_review = 0;
    if against.is_none() && !args.direct {
        let folder = Baselines::new(&settings.baselines);
        stray::warn(&args.select, &folder, &to_run.selected, console);
        if settings.keep_pending {
            // What waits since an earlier run is not what this one has reported.
            let is_of_this_run = |(folder, id): &(&Baselines, &String)| {
                let pending = folder.load_pending(id).ok().flatten();
                pending.is_some_and(|it| it.origin.run == finished.runs.id())
            };
            to_review = folders.iter().zip(&ids).filter(is_of_this_run).count();
        }
    }
    let options = ReportOptions {
        threshold: args.score.threshold,
        strict_statistics: args.strict_statistics,
        strict: args.score.strict,
        suite: to_run.suite_of(),
        shard: to_run.shard(),
        shuffle_seed: to_run.shuffle_seed,
        pending: to_review,
        ..ReportOptions::of(reports, args.execute.kept.keep.0, &settings.baselines)
    };
    finish::finish(&finished, &options, console)
}
