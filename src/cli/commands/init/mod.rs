//! `mcp-eval init`: from nothing to a first scenario, and with a server, to a first verdict.

mod calls;
mod draft;
mod files;
mod secrets;
mod servers;
mod verdict;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use files::Place;

use self::draft::Drafts;
use crate::cli::args::{InitArgs, Workflow};
use crate::cli::paths::{SCENARIOS, file_of_scenario, scenario_name};
use crate::cli::{Console, Exit, Failure, ci, database};
use crate::report::command::quoted;
use crate::suite::BASELINES;
use crate::text::plural;
use crate::{scenario_file, store};

pub(in crate::cli) fn run(args: &InitArgs, console: Console) -> Result<Exit, Failure> {
    if let Some(name) = &args.name {
        scenario_name(name)?;
    }
    let ci = match args.workflow {
        Some(kind) => Some((kind, files::place()?)),
        None => None,
    };
    if args.servers.is_empty() && args.mcp_config.is_none() {
        return without_server(args, ci.as_ref(), console);
    }
    // What is asked of a server becomes a baseline.
    ci::refuse(false).map_err(|failure| Failure {
        hints: vec!["run this on a development machine, and commit what it writes".to_owned()],
        ..failure
    })?;
    let asked = servers::asked(args, console)?;
    if args.name.is_some() && asked.len() > 1 {
        let failure = "--name is for one scenario, and each server becomes one";
        return Err(Failure::usage(failure).hint("leave it away, or pick one with --server"));
    }
    let Drafts { drafts, exit } = draft::drafts(asked, args, console)?;
    let database = database::of(&args.database)?;
    let first = verdict::verdict(drafts, database, console)?;
    if let Some(compare) = first.compare {
        begin(ci.as_ref(), console)?;
        let commit = format!(
            "commit {SCENARIOS}/, {BASELINES}/, .gitignore and .gitattributes, and after each change of the server: `{compare}`"
        );
        console.note(&if first.to_reset.is_empty() {
            format!("next: {commit}")
        } else {
            let paths = first.to_reset.iter().map(|it| quoted(&it.to_string_lossy()));
            let paths = paths.collect::<Vec<_>>().join(" ");
            format!(
                "next: let what the calls leave behind be reset before every run, as said above, and `mcp-eval record {paths}`; then {commit}"
            )
        });
    }
    Ok(exit.and(first.exit))
}

/// Writes what every project has, and a workflow where one is wanted.
fn begin(ci: Option<&(Workflow, Place)>, console: Console) -> Result<(), Failure> {
    let added = files::ignore(Path::new(""))?;
    if !added.is_empty() {
        console.note(&format!("added to .gitignore: {}", added.join(", ")));
    }
    let added = files::fold_generated(Path::new(""))?;
    if !added.is_empty() {
        console.note(&format!("added to .gitattributes: {}", added.join(", ")));
    }
    let Some((kind, place)) = ci else {
        return Ok(());
    };
    let files = files::write(*kind, place)?;
    for it in &files {
        let what = if it.is_kept {
            "kept as it was:"
        } else {
            "wrote"
        };
        console.note(&format!("{what} {}", it.path.display()));
    }
    if !files.is_empty() {
        console.note(&files::next(*kind, &files));
        if let Some(why) = &place.no_repository {
            let names = match kind {
                Workflow::Github => "`working-directory`",
                Workflow::Gitlab => "`MCP_EVAL_FOLDER`",
            };
            console.note(&format!(
                "{why}: CI reads these files in the root of a repository, so run `git init` here, or move them there and let {names} name this folder"
            ));
        }
    }
    Ok(())
}

/// A first scenario with a mock server, where there is none yet.
fn without_server(
    args: &InitArgs,
    ci: Option<&(Workflow, Place)>,
    console: Console,
) -> Result<Exit, Failure> {
    if !args.calls.is_empty() || args.allow_effects {
        let failure = "--call and --allow-effects are about a server, and none is given";
        return Err(Failure::usage(failure).hint("add --server COMMAND, or --mcp-config FILE"));
    }
    let (found, _) = if Path::new(SCENARIOS).is_dir() {
        scenario_file::find(&[PathBuf::from(SCENARIOS)])
    } else {
        (Vec::new(), Vec::new())
    };
    let target = file_of_scenario(args.name.as_deref().unwrap_or("first"));
    let is_new = found.is_empty() || args.name.is_some();
    if is_new {
        if target.symlink_metadata().is_ok() {
            return Err(files::is_there(&target));
        }
        store::write(&target, files::EXAMPLE.as_bytes())?;
        console.result(&format!(
            "wrote {}, a scenario with a mock server",
            target.display()
        ));
    }
    begin(ci, console)?;
    if is_new {
        console.result(&format!(
            "next: `mcp-eval record {0}`, then `mcp-eval compare {0}`",
            target.display()
        ));
    } else {
        let there = plural(found.len(), "scenario");
        console.result(&format!(
            "there is nothing to begin: {SCENARIOS}/ has {there} (`mcp-eval list` shows them)"
        ));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let clients = servers::configured(home.as_deref());
    if clients.is_empty() {
        console.result(
            "a scenario of a server of yours: `mcp-eval init --server \"COMMAND WITH ARGUMENTS\"`, or its URL",
        );
        return Ok(Exit::Passed);
    }
    console.result("a scenario of a server that a client of yours knows:");
    for it in clients {
        let path = it.path.display().to_string();
        let path = shlex::try_quote(&path).map_or(path.clone(), Cow::into_owned);
        console.result(&format!(
            "  mcp-eval init --mcp-config {path}   # {}: {}",
            it.client,
            it.servers.join(", ")
        ));
    }
    Ok(Exit::Passed)
}
