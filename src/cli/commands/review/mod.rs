//! `mcp-eval review`: decide on runs that failed, or changed something.

mod ask;
mod shown;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use self::shown::{Question, Shown};
use crate::cli::args::ReviewArgs;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::{Console, Exit, Failure, ci, matrix};
use crate::published::result::Cause;
use crate::report::command::quoted;
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::Baselines;
use crate::suite::{self, Pending, RUNS, ReadAgain, RunFolder, Waiting, replay, scenario_of};
use crate::text::{self, plural};

pub(in crate::cli) fn run(args: &ReviewArgs, console: Console) -> Result<Exit, Failure> {
    let decides = args.accept_all
        || args.reject_all
        || args.retire.is_some()
        || !args.accept.is_empty()
        || !args.accept_cause.is_empty()
        || !args.reject.is_empty();
    let is_interactive = !decides && !args.list && !args.check;
    if decides || is_interactive {
        ci::refuse(args.force)?;
    }
    let accepts = args.accept_all || !args.accept.is_empty() || !args.accept_cause.is_empty();
    if args.variant && !accepts {
        return Err(Failure::usage("`--variant` says how something is accepted")
            .hint("`--accept NAME --variant`, or `v` on a terminal"));
    }
    let purpose = Purpose {
        baselines: Some(&args.baseline),
        agent_given: true,
        ..Purpose::default()
    };
    let scenarios = match select::select(&args.select, purpose, console)? {
        Selected::Scenarios(chosen) => {
            matrix::with_cells(chosen.scenarios, &Baselines::new(&args.baseline))
        }
        Selected::Unchanged(sentence) => {
            console.note(&sentence);
            return Ok(Exit::Passed);
        }
    };
    if let Some(runs) = args.retire {
        return retire(args, &scenarios, runs.into(), console);
    }
    let pending = pending(args, &scenarios)?;
    if args.list || args.check {
        return Ok(list(args, &scenarios, &pending, console));
    }
    if !args.accept_cause.is_empty() {
        let again = |it: &Scenario| select::again(&args.select, it);
        let accepted = accept_causes(args, &pending, &again, console);
        settle(args, &scenarios);
        return accepted;
    }
    let rejected = reject_orphans(args, &scenarios, console)?;
    if rejected.len() < args.reject.len() && rejected.is_empty() && args.accept.is_empty() {
        return Ok(Exit::Passed);
    }
    if pending.is_empty() && !args.accept.is_empty() | !rejected.is_empty() {
        let names = [args.accept.as_slice(), &rejected].concat();
        return Err(nothing_of(args, &names.join("`, `"), &pending));
    }
    if pending.is_empty() {
        console.note(&nothing(args));
        return Ok(Exit::Passed);
    }
    let again = |it: &Scenario| select::again(&args.select, it);
    if decides {
        let exit = decide(args, &rejected, &pending, &again, console);
        settle(args, &scenarios);
        exit
    } else {
        tell_broken(&pending, console);
        let (mut waiting, mut exit) = (Vec::new(), Exit::Passed);
        for it in pending {
            match it {
                Ok(it) => waiting.push(it),
                Err(_) => exit = Exit::Incomplete,
            }
        }
        if waiting.is_empty() {
            return Ok(exit);
        }
        let how = (args.despite(), args.from.as_deref());
        let asked = ask::ask(&mut waiting, &again, how, console);
        settle(args, &scenarios);
        Ok(exit.and(asked?))
    }
}

/// [`Baselines::settle`] where the baselines of these scenarios lie.
fn settle(args: &ReviewArgs, scenarios: &[Scenario]) {
    match scenarios {
        [only] => replay::baselines(&args.baseline, only, 1).settle(),
        _ => Baselines::new(&args.baseline).settle(),
    }
}

/// Does what the command line says.
fn decide(
    args: &ReviewArgs,
    rejected: &[String],
    pending: &[Pending],
    again: ReadAgain<'_>,
    console: Console,
) -> Result<Exit, Failure> {
    let all = |chosen: bool, names: &[String]| -> Result<BTreeSet<usize>, Failure> {
        if chosen {
            return Ok((0..pending.len()).collect());
        }
        names.iter().map(|it| named(args, it, pending)).collect()
    };
    let accepted = all(args.accept_all, &args.accept)?;
    let rejected = all(args.reject_all, rejected)?;
    if let Some(both) = accepted.intersection(&rejected).next() {
        let id = &scenario_of(&pending[*both]).id;
        return Err(Failure::usage(format!(
            "`{id}` is both accepted and rejected"
        )));
    }
    // Of those that are named, none is accepted unless all can be; of all, those that can be.
    let mut exit = Exit::Passed;
    let mut acceptable: Vec<&Waiting> = Vec::new();
    for at in &accepted {
        let waiting = pending[*at].as_ref();
        let waiting = waiting.map_err(|broken| Failure::from(&**broken));
        match waiting.and_then(|it| Ok(it.refuse(args.despite()).map(|()| it)?)) {
            Ok(it) => acceptable.push(it),
            Err(failure) if args.accept_all => {
                console.failure(&failure);
                exit = Exit::Incomplete;
            }
            Err(failure) => return Err(failure),
        }
    }
    if !args.reject_all {
        let is_decided = |at: &usize| accepted.contains(at) || rejected.contains(at);
        let others = (0..).zip(pending).filter(|(at, _)| !is_decided(at));
        tell_broken(others.map(|(_, it)| it), console);
    }
    for it in acceptable {
        let kept = accept(args, it, again)?;
        console.result(&shown::accepted(it, &kept, console));
    }
    for at in rejected {
        let rejected = match &pending[at] {
            Ok(waiting) => waiting.reject(again),
            Err(broken) => broken.reject(),
        };
        rejected.map_err(Failure::from)?;
        console.result(&shown::rejected(scenario_of(&pending[at])));
    }
    Ok(exit)
}

/// Accepts the runs that fail for no other cause than these, and says of the others that have one of these why they are left.
fn accept_causes(
    args: &ReviewArgs,
    pending: &[Pending],
    again: ReadAgain<'_>,
    console: Console,
) -> Result<Exit, Failure> {
    let waiting = pending.iter().flatten();
    let shown: Vec<(&Waiting, Shown)> = waiting.map(|it| (it, Shown::of(it))).collect();
    let of_run = shown.iter().map(|(it, shown)| (*it, shown.questions()));
    let mut runs: Vec<(&Waiting, Vec<Question>)> = of_run.collect();
    shown::share(
        shown
            .iter()
            .map(|it| &it.1)
            .zip(runs.iter_mut().map(|it| &mut it.1)),
    );
    let causes = || runs.iter().flat_map(|it| &it.1).map(|it| &it.cause);
    let is_named = |it: &Cause| args.accept_cause.contains(&it.id);
    for id in &args.accept_cause {
        if causes().all(|it| it.id != *id) {
            let known: BTreeSet<&str> = causes().map(|it| it.id.as_str()).collect();
            let failure = Failure::usage(format!("no pending run has the cause `{id}`"));
            return Err(failure.hint(match known.len() {
                0 => nothing(args),
                _ => format!("pending are {}", Vec::from_iter(known).join(", ")),
            }));
        }
    }
    let (mut exit, mut accepted) = (Exit::Passed, 0);
    let mut left: Vec<String> = Vec::new();
    for (it, questions) in &runs {
        if !questions.iter().any(|it| is_named(&it.cause)) {
            continue;
        }
        let others = questions.iter().map(|it| &it.cause);
        let others = others.filter(|it| it.fails && !is_named(it));
        let others: Vec<String> = others.map(|it| format!("{}: {}", it.id, it.text)).collect();
        if !others.is_empty() {
            let (id, others) = (&it.scenario().id, others.join("; "));
            left.push(format!("{id} is left: it fails for {others}"));
            continue;
        }
        match accept(args, it, again) {
            Ok(kept) => {
                accepted += 1;
                console.result(&shown::accepted(it, &kept, console));
            }
            Err(failure) => {
                console.failure(&failure);
                exit = Exit::Incomplete;
            }
        }
    }
    for it in left {
        console.result(&(text::line(&it).into_owned() + "\n"));
    }
    tell_broken(pending, console);
    if pending.iter().any(Result::is_err) {
        exit = Exit::Incomplete;
    }
    // Whoever asked for it would else take nothing for something.
    Ok(match (accepted, exit) {
        (0, Exit::Passed) => Exit::Failed,
        _ => exit,
    })
}

/// Accepts a run in the way that was asked for; returns the file.
fn accept(args: &ReviewArgs, it: &Waiting, again: ReadAgain<'_>) -> Result<PathBuf, Failure> {
    let kept = if args.variant {
        it.accept_beside(args.despite(), again)
    } else {
        it.accept(args.despite(), again)
    };
    kept.map_err(Failure::from)
}

/// What is pending among the selected scenarios.
fn pending(args: &ReviewArgs, scenarios: &[Scenario]) -> Result<Vec<Pending>, Failure> {
    if let Some(folder) = args.from.as_ref().filter(|it| !it.is_dir()) {
        return Err(
            Failure::usage(format!("there is no folder {}", folder.display()))
                .hint("--from names the folder of a report, or of a run below .mcp-eval/runs"),
        );
    }
    let folder = args.from.as_deref().map(RunFolder::open);
    let found = scenarios.iter().map(|scenario| {
        let baselines = replay::baselines(&args.baseline, scenario, scenarios.len());
        match &folder {
            None => Waiting::of(scenario, &baselines),
            Some(folder) => folder.waiting(scenario, &baselines),
        }
    });
    Ok(found.filter_map(Result::transpose).collect())
}

/// Says which files cannot be read.
fn tell_broken<'a>(pending: impl IntoIterator<Item = &'a Pending>, console: Console) {
    for broken in pending.into_iter().filter_map(|it| it.as_ref().err()) {
        console.failure(&Failure::from(&**broken));
    }
}

fn nothing(args: &ReviewArgs) -> String {
    match &args.from {
        None => "Nothing is pending: `mcp-eval compare` keeps what failed or changed for review."
            .to_owned(),
        Some(folder) => format!(
            "{} has no run of these scenarios that failed or changed.",
            folder.display()
        ),
    }
}

/// Which of those that wait a name means.
fn named(args: &ReviewArgs, name: &str, pending: &[Pending]) -> Result<usize, Failure> {
    let file = Path::new(name).canonicalize().ok();
    let is_it = |it: &Pending| {
        let Scenario {
            id,
            name: own,
            path,
            ..
        } = scenario_of(it);
        // `get.yaml` is enough of a path where no other file ends in it.
        let ends_so = !name.is_empty() && path.ends_with(name);
        let is_file = ends_so || file.is_some() && path.canonicalize().ok() == file;
        id == name || own == name || is_file
    };
    let found: Vec<usize> = (0..pending.len())
        .filter(|at| is_it(&pending[*at]))
        .collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(nothing_of(args, name, pending)),
        _ => Err(
            Failure::usage(format!("several scenarios are called `{name}`"))
                .hint("name it by its id, as `mcp-eval review --list` shows it"),
        ),
    }
}

fn nothing_of(args: &ReviewArgs, name: &str, pending: &[Pending]) -> Failure {
    let failure = Failure::usage(format!("nothing of `{name}` is pending"));
    let ids: Vec<&str> = pending
        .iter()
        .map(|it| scenario_of(it).id.as_str())
        .collect();
    match score::nearest_name(name, ids.iter().copied()) {
        Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
        None if ids.is_empty() => failure.hint(nothing(args)),
        None => failure.hint(format!("pending are {}", ids.join(", "))),
    }
}

/// What is pending of scenarios that are gone, by id, where all there are were asked for.
fn orphans(args: &ReviewArgs, scenarios: &[Scenario]) -> Vec<String> {
    if !args.select.are_default() || args.select.picks() || args.from.is_some() {
        return Vec::new();
    }
    let all = Baselines::new(&args.baseline);
    let known = scenarios
        .iter()
        .map(|it| replay::baselines(&args.baseline, it, scenarios.len()).pending_path(&it.id));
    let known: HashSet<PathBuf> = known.collect();
    let mut pending = all.pending();
    pending.retain(|it| !known.contains(&all.pending_path(it)));
    pending
}

/// Removes what is pending of scenarios that are gone, as far as it is rejected by name, and returns the other names.
fn reject_orphans(
    args: &ReviewArgs,
    scenarios: &[Scenario],
    console: Console,
) -> Result<Vec<String>, Failure> {
    let orphans = orphans(args, scenarios);
    let (gone, others): (Vec<String>, Vec<String>) = args
        .reject
        .iter()
        .cloned()
        .partition(|it| orphans.contains(it));
    let all = Baselines::new(&args.baseline);
    for id in gone {
        let _held = all.hold(&id)?;
        all.remove_pending(&id)?;
        console.result(&format!("removed {}\n", all.pending_path(&id).display()));
    }
    Ok(others)
}

/// Prints what is pending, a line for each cause; with nothing pending, says so on stderr.
fn list(args: &ReviewArgs, scenarios: &[Scenario], found: &[Pending], console: Console) -> Exit {
    let waiting = found.iter().flatten();
    let runs: Vec<Shown> = waiting.map(Shown::of).collect();
    let lines = shown::list(&runs);
    let orphans = orphans(args, scenarios);
    for id in &orphans {
        console.note(&format!(
            "{} is of no scenario any more: `mcp-eval review --reject {}` removes it",
            Baselines::new(&args.baseline).pending_path(id).display(),
            quoted(id)
        ));
    }
    if found.is_empty() && orphans.is_empty() {
        console.note(&nothing(args));
    } else if !lines.is_empty() {
        console.result(&(lines.join("\n") + "\n"));
    }
    tell_broken(found, console);
    if runs.len() < found.len() {
        Exit::Incomplete
    } else if args.check && !(found.is_empty() && orphans.is_empty()) {
        Exit::Failed
    } else {
        Exit::Passed
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
        gone.extend(suite::retire(scenario, &baselines, &RUNS, runs)?);
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
            "Nothing is retired: each variant was nearest to one of the last {}, or fewer are stored in {}/ since it was recorded.",
            plural(runs, "comparison"),
            RUNS.display(),
        ));
    }
    Ok(Exit::Passed)
}
