//! `mcp-eval review`: decide on runs that failed, or changed something.

mod ask;
mod shown;

use std::path::{Path, PathBuf};

use crate::cli::args::{OutputArgs, ReviewArgs};
use crate::cli::ci;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::{self, Purpose, Selected, plural};
use crate::model::scenario::Scenario;
use crate::score;
use crate::store::Baselines;
use crate::suite::replay;
use crate::suite::{self, RUNS, Refusal, Waiting};

use self::shown::Shown;

pub(in crate::cli) fn run(
    args: &ReviewArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let decides = args.accept_all
        || args.reject_all
        || args.retire.is_some()
        || !args.accept.is_empty()
        || !args.reject.is_empty();
    let is_interactive = !decides && !args.list && !args.check;
    if decides || is_interactive {
        ci::refuse(args.force)?;
    }
    if args.variant && args.accept.is_empty() && !args.accept_all {
        return Err(Failure::usage("`--variant` says how something is accepted")
            .hint("`--accept NAME --variant`, or `v` on a terminal"));
    }
    let purpose = Purpose {
        baselines: Some(&args.baseline),
        ..Purpose::default()
    };
    let scenarios = match select::select(&args.select, purpose, console)? {
        Selected::Scenarios(scenarios) => scenarios,
        Selected::Unchanged(sentence) => {
            console.note(&sentence);
            return Ok(Exit::Passed);
        }
    };
    if let Some(runs) = args.retire {
        return retire(args, &scenarios, runs.into(), console);
    }
    let mut waiting = waiting(args, &scenarios)?;
    if args.list || args.check {
        list(args, &waiting, console);
        let is_open = args.check && !waiting.is_empty();
        return Ok(if is_open { Exit::Failed } else { Exit::Passed });
    }
    if waiting.is_empty() && !args.accept.is_empty() | !args.reject.is_empty() {
        let names = [args.accept.as_slice(), &args.reject].concat();
        return Err(nothing_of(args, &names.join("`, `"), &waiting));
    }
    if waiting.is_empty() {
        console.note(&nothing(args));
        return Ok(Exit::Passed);
    }
    if !decides {
        return ask::ask(&mut waiting, args.force, output, console);
    }
    let all = |chosen: bool, names: &[String]| -> Result<Vec<usize>, Failure> {
        if chosen {
            return Ok((0..waiting.len()).collect());
        }
        names.iter().map(|it| named(args, it, &waiting)).collect()
    };
    let accepted = all(args.accept_all, &args.accept)?;
    let rejected = all(args.reject_all, &args.reject)?;
    if let Some(both) = accepted.iter().find(|it| rejected.contains(it)) {
        let id = &waiting[*both].scenario().id;
        return Err(Failure::usage(format!(
            "`{id}` is both accepted and rejected"
        )));
    }
    // Nothing is written unless all of it can be.
    for it in accepted
        .iter()
        .map(|at| &waiting[*at])
        .filter(|_| !args.force)
    {
        if let Some(why) = it.moved() {
            return Err(
                Failure::usage(format!("`{}` is not accepted: {why}", it.scenario().id)).hint(
                    "`mcp-eval compare` makes another run to review; `--force` accepts this one",
                ),
            );
        }
    }
    for at in accepted {
        let it = &waiting[at];
        let kept = if args.variant {
            it.accept_beside(args.force)
        } else {
            it.accept(args.force)
        };
        let kept = kept.map_err(Failure::from)?;
        console.result(&shown::accepted(it, &kept));
    }
    for at in rejected {
        waiting[at].reject().map_err(Failure::from)?;
        console.result(&shown::rejected(&waiting[at]));
    }
    Ok(Exit::Passed)
}

/// What waits among the selected scenarios.
fn waiting(args: &ReviewArgs, scenarios: &[Scenario]) -> Result<Vec<Waiting>, Failure> {
    if let Some(folder) = args.from.as_ref().filter(|it| !it.is_dir()) {
        return Err(
            Failure::usage(format!("there is no folder {}", folder.display()))
                .hint("--from names the folder of a report, or of a run below .mcp-eval/runs"),
        );
    }
    let mut waiting = Vec::new();
    for scenario in scenarios {
        let baselines = replay::baselines(&args.baseline, scenario, scenarios.len());
        let found = match &args.from {
            None => Waiting::of(scenario, &baselines).map_err(Refusal::from),
            Some(folder) => Waiting::in_folder(scenario, &baselines, folder),
        };
        waiting.extend(found.map_err(Failure::from)?);
    }
    Ok(waiting)
}

fn nothing(args: &ReviewArgs) -> String {
    match &args.from {
        None => "Nothing is pending: `mcp-eval compare` keeps what failed or changed for review."
            .to_owned(),
        Some(folder) => format!("{} has no run of these scenarios.", folder.display()),
    }
}

/// Which of those that wait a name means.
fn named(args: &ReviewArgs, name: &str, waiting: &[Waiting]) -> Result<usize, Failure> {
    let is_it = |it: &Waiting| {
        let scenario = it.scenario();
        scenario.id == name || scenario.name == name || scenario.path == Path::new(name)
    };
    let found: Vec<usize> = (0..waiting.len())
        .filter(|at| is_it(&waiting[*at]))
        .collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(nothing_of(args, name, waiting)),
        _ => Err(
            Failure::usage(format!("several scenarios are called `{name}`"))
                .hint("name it by its id, as `mcp-eval review --list` shows it"),
        ),
    }
}

fn nothing_of(args: &ReviewArgs, name: &str, waiting: &[Waiting]) -> Failure {
    let failure = Failure::usage(format!("nothing of `{name}` is pending"));
    let ids: Vec<&str> = waiting.iter().map(|it| it.scenario().id.as_str()).collect();
    match score::nearest_name(name, ids.iter().copied()) {
        Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
        None if ids.is_empty() => failure.hint(nothing(args)),
        None => failure.hint(format!("pending are {}", ids.join(", "))),
    }
}

/// Prints what is pending, a line each; with nothing pending, says so on stderr.
fn list(args: &ReviewArgs, waiting: &[Waiting], console: Console) {
    let lines: Vec<String> = waiting.iter().map(|it| Shown::of(it).line()).collect();
    if lines.is_empty() {
        console.note(&nothing(args));
    } else {
        console.result(&(lines.join("\n") + "\n"));
    }
    let pending = Baselines::new(&args.baseline).pending();
    let known: Vec<&str> = waiting.iter().map(|it| it.scenario().id.as_str()).collect();
    if args.select.are_default() && args.select.tags.is_empty() && args.from.is_none() {
        for id in pending.iter().filter(|it| !known.contains(&it.as_str())) {
            let path = Baselines::new(&args.baseline).pending_path(id);
            console.note(&format!(
                "{} is of no scenario any more: remove it",
                path.display()
            ));
        }
    }
}

fn retire(
    args: &ReviewArgs,
    scenarios: &[Scenario],
    runs: usize,
    console: Console,
) -> Result<Exit, Failure> {
    let mut gone: Vec<PathBuf> = Vec::new();
    for scenario in scenarios {
        let baselines = replay::baselines(&args.baseline, scenario, scenarios.len());
        gone.extend(suite::retire(scenario, &baselines, Path::new(RUNS), runs)?);
    }
    for path in &gone {
        console.result(&format!(
            "retired {}: none of the last {} came nearest to it\n",
            path.display(),
            plural(runs, "comparison"),
        ));
    }
    if gone.is_empty() {
        console.note(&format!(
            "Nothing is retired: each variant was nearest to one of the last {}, or fewer are stored in {RUNS}/.",
            plural(runs, "comparison"),
        ));
    }
    Ok(Exit::Passed)
}
