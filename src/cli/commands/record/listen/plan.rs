//! The plan of a session: its servers, and the places of its scenario and its baseline.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use crate::cli::args::RecordArgs;
use crate::cli::paths::{file_of_scenario, scenario_name};
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::{Console, Failure};
use crate::scenario_file::agent::{Agent, Limits};
use crate::scenario_file::servers::Server;
use crate::scenario_file::{self, Found, Scenario, Session};
use crate::store::{Baselines, Runs, check_links, check_writable};
use crate::suite::{BASELINES, RUNS};

/// How long a session may last: long enough never to be reached.
const LONGEST_SESSION: Duration = Duration::from_secs(30 * 24 * 3600);

/// What the session is had with, and what becomes of it.
pub(super) struct Plan {
    /// The file the servers come from; `None` where they all come from a client's configuration.
    pub(super) base: Option<Found>,
    /// What the servers are taken from.
    pub(super) opened: Scenario,
    /// Of the client's configuration.
    pub(super) servers: Vec<Server>,
    pub(super) session: Session,
    pub(super) target: PathBuf,
    pub(super) baselines: Baselines,
    pub(super) started_at: Timestamp,
    pub(super) runs: Runs,
}

/// Checks everything that can be refused before the session begins.
pub(super) fn plan(args: &RecordArgs, console: Console) -> Result<Plan, Failure> {
    let started_at = Timestamp::now();
    let name = match &args.listen.name {
        None => started_at
            .strftime("session-%Y-%m-%dT%H-%M-%SZ")
            .to_string(),
        Some(name) => scenario_name(name)?,
    };
    if let Some(intent) = &args.listen.intent
        && intent.contains("{{")
    {
        return Err(Failure::usage(
            "--intent holds `{{`, which begins a variable in a scenario",
        ));
    }
    let servers = match &args.execute.mcp_config {
        None => Vec::new(),
        Some(path) => scenario_file::servers::client_config(path)
            .map_err(|problem| Failure::usage(problem.to_string()))?,
    };
    let target = file_of_scenario(&name);
    let baselines = Baselines::new(args.output.clone().unwrap_or_else(|| BASELINES.into()));
    let there = [target.clone(), baselines.path(&name)];
    if let Some(there) = there.iter().find(|it| it.exists() && !args.force) {
        let path = there.display();
        return Err(Failure::usage(format!("{path} is there already"))
            .hint("choose another --name, or replace it with --force"));
    }
    // What could not be kept is not recorded: nobody wants to have the session again.
    for file in [&target, &baselines.path(&name)] {
        check_links(file, baselines.root())?;
        check_writable(file)?;
    }
    let client_config = args.execute.mcp_config.clone().map(|path| {
        let names = servers.iter().map(|it| it.name.clone());
        (path, names.collect())
    });
    let mut session = Session {
        name: name.clone(),
        description: format!(
            "Recorded from a session on {}.",
            started_at.strftime("%Y-%m-%d at %H:%M UTC")
        ),
        user_intent: args.listen.intent.clone(),
        client_config,
        config_file: None,
        calls: Vec::new(),
    };
    let (base, mut opened) = if args.select.are_default() {
        if session.client_config.is_none() {
            return Err(Failure::usage("--listen needs servers")
                .hint("name a scenario file, or give --mcp-config FILE"));
        }
        (None, without_base(&session)?)
    } else {
        let (base, opened) = base(args, console)?;
        if let Some(measurement) = &opened.measurement {
            let message = format!(
                "{} is of `kind: {}`, and a session becomes a scenario of calls",
                opened.path.display(),
                measurement.kind()
            );
            return Err(Failure::usage(message)
                .hint("name a scenario of a conversation, or give --mcp-config FILE"));
        }
        session.config_file.clone_from(&opened.config_file);
        if session.client_config.is_some() && session.config_file.is_some() {
            let path = opened.path.display();
            return Err(Failure::usage(format!(
                "{path} has a `config_file`, and a scenario with a different one cannot be written"
            ))
            .hint("leave --mcp-config away, or the scenario"));
        }
        (Some(base), opened)
    };
    // What ends a run ends no session, and what an agent needs is not needed.
    opened.limits = Limits::default();
    opened.timeouts.scenario = LONGEST_SESSION;
    opened.agent = Agent::Replay { calls: Vec::new() };
    Ok(Plan {
        base,
        opened,
        servers,
        session,
        target,
        baselines,
        started_at,
        runs: Runs::create(&RUNS, started_at)?,
    })
}

/// The one scenario whose servers are used.
fn base(args: &RecordArgs, console: Console) -> Result<(Found, Scenario), Failure> {
    let (found, _) = scenario_file::find(&args.select.all_paths());
    let purpose = Purpose {
        mcp_config: args.execute.mcp_config.as_deref(),
        ..Purpose::default()
    };
    let Selected::Scenarios(chosen) = select::select(&args.select, purpose, console)? else {
        return Err(Failure::usage(
            "`--listen` and `--changed` exclude each other",
        ));
    };
    let mut scenarios = chosen.scenarios;
    match (found.into_iter().next(), scenarios.pop()) {
        (Some(found), Some(scenario)) if scenarios.is_empty() => Ok((found, scenario)),
        _ => Err(Failure::usage(
            "--listen uses the servers of one scenario, and several were named",
        )),
    }
}

/// A scenario with nothing but the servers of a client's configuration.
fn without_base(session: &Session) -> Result<Scenario, Failure> {
    let failed = |error: std::io::Error| {
        Failure::incomplete(format!("temporary files cannot be written: {error}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("session.yaml");
    let text = scenario_file::session_scenario(None, session, folder.path(), &str::to_owned);
    fs::write(&path, text.map_err(|it| Failure::invalid(&it))?).map_err(failed)?;
    load(&path, &[])
}

pub(super) fn load(path: &Path, variables: &[(String, String)]) -> Result<Scenario, Failure> {
    let (found, mut findings) = scenario_file::find(&[path.to_owned()]);
    let options = scenario_file::Options {
        variables: variables.to_vec(),
        ..scenario_file::Options::default()
    };
    let mut loaded = scenario_file::load(&found, &options);
    findings.append(&mut loaded.findings);
    loaded
        .scenarios
        .pop()
        .ok_or_else(|| Failure::invalid(&findings))
}
