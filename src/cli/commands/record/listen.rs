//! `mcp-eval record --listen`: a session that somebody has with the servers becomes a scenario and its baseline.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;
use tokio_util::sync::CancellationToken;

use super::once::learned_words;
use crate::agent::{self, Listener, mcp_config};
use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::console::Console;
use crate::cli::containers::Place;
use crate::cli::execute::{Executor, Ran};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::{ScenarioProgress, SuiteProgress};
use crate::cli::select;
use crate::cli::suite::{BASELINES, RUNS};
use crate::docker::{self, Guard};
use crate::model::Object;
use crate::model::agent::Limits;
use crate::model::binding::{Binding, Source};
use crate::model::scenario::{Agent, Scenario, Server};
use crate::model::trajectory::{Ending, FailureKind, Outcome, Step, Trajectory};
use crate::scenario_file::{self, Found, Session, SessionCall};
use crate::score;
use crate::store::{Baselines, Runs, write};

/// Where scenarios go.
const SCENARIOS: &str = "scenarios";

/// How long a session may last: nobody means to wait for the end of it.
const LONGEST_SESSION: Duration = Duration::from_secs(30 * 24 * 3600);

/// What the session is had with, and what becomes of it.
struct Plan {
    /// The file the servers come from; `None` where they all come from a client's configuration.
    base: Option<Found>,
    /// What the servers are taken from.
    opened: Scenario,
    /// Of the client's configuration.
    servers: Vec<Server>,
    session: Session,
    target: PathBuf,
    baselines: Baselines,
    runs: Runs,
}

pub(super) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let plan = plan(args, console)?;
    let containers = (!args.execute.no_docker).then(|| {
        let variable = |name: &str| std::env::var(name).ok();
        Arc::new(docker::Session::new(variable))
    });
    let _guard = containers.clone().map(Guard);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let listened = runtime.block_on(async {
        let begun = CancellationToken::new();
        let endings = interrupt::endings(&begun);
        let mut ours: Vec<PathBuf> = [BASELINES, SCENARIOS, "reports", ".mcp-eval"]
            .map(PathBuf::from)
            .to_vec();
        ours.push(plan.baselines.root().to_owned());
        let servers = plan.servers.clone();
        let abort = endings.abort.clone();
        let executor = Executor::new(servers, ours, containers.clone(), None, endings.abort);
        let place = Place::default();
        // Whoever has the session wants to see what is heard of it.
        let output = OutputArgs {
            verbose: true,
            no_progress: true,
            ..output
        };
        let progress = Arc::new(SuiteProgress::new(1, output, console));
        let progress = ScenarioProgress::new(&progress, &plan.opened);
        let intent = plan.session.user_intent.clone();
        let done = endings.done.clone();
        let announce = Box::new(move |endpoints: &[_]| {
            begun.cancel();
            Console::document(&mcp_config(endpoints));
            console.note(
                "listening: give this to your MCP client, and end it here with Ctrl-C, or Enter on a terminal",
            );
            end_with_enter(done.clone());
        });
        let session = Listener::new(intent, announce, endings.done);
        let listened = if let Some(why) = executor.why_not(&plan.opened).await {
            Err(Failure::incomplete(why))
        } else {
            let port = args.listen.port;
            let ran = executor.listen(&plan.opened, session, port, &place, &progress);
            let ran = Box::pin(ran).await;
            let player = Player {
                executor: &executor,
                place: &place,
                progress: &progress,
                abort,
            };
            keep(plan, ran, &player, (args, console)).await
        };
        if let Some(note) = place.release(false).await {
            console.note(&note);
        }
        if let Some(containers) = &containers {
            containers.end().await;
        }
        listened
    });
    // A server that will not let go of its pipes must not hold us up.
    runtime.shutdown_background();
    listened
}

/// Everything that can be refused before anybody begins.
fn plan(args: &RecordArgs, console: Console) -> Result<Plan, Failure> {
    let started_at = Timestamp::now();
    let name = match &args.listen.name {
        None => started_at
            .strftime("session-%Y-%m-%dT%H-%M-%SZ")
            .to_string(),
        Some(name) => named(name)?,
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
        Some(path) => scenario_file::client_config(path)
            .map_err(|problem| Failure::usage(problem.to_string()))?,
    };
    let target = Path::new(SCENARIOS).join(format!("{name}.yaml"));
    let baselines = Baselines::new(args.output.clone().unwrap_or_else(|| BASELINES.into()));
    let there = [target.clone(), baselines.path(&name)];
    if let Some(there) = there.iter().find(|it| it.exists() && !args.force) {
        let path = there.display();
        return Err(Failure::usage(format!("{path} is there already"))
            .hint("choose another --name, or replace it with --force"));
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
        session.config_file.clone_from(&opened.config_file);
        if session.client_config.is_some() && session.config_file.is_some() {
            let path = opened.path.display();
            return Err(Failure::usage(format!(
                "{path} has a `config_file`, and a scenario with another one beside it cannot be written"
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
        runs: Runs::create(Path::new(RUNS), started_at)?,
    })
}

/// A name that is a path below the folder of scenarios, without extension.
fn named(name: &str) -> Result<String, Failure> {
    let is_plain = |part: &str| {
        let allowed = |it: char| it.is_alphanumeric() || "-_.".contains(it);
        !part.is_empty() && !part.starts_with(['.', '_']) && part.chars().all(allowed)
    };
    if name.split('/').all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(
        Failure::usage(format!("`{name}` cannot be the name of a scenario"))
            .hint("use letters, digits, `-`, `_` and `.`, and `/` between folders"),
    )
}

/// The one scenario whose servers are used.
fn base(args: &RecordArgs, console: Console) -> Result<(Found, Scenario), Failure> {
    let (found, _) = scenario_file::find(&args.select.all_paths());
    let mut scenarios = select::select(&args.select, console)?;
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
        Failure::incomplete(format!("there is no place for temporary files: {error}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("session.yaml");
    let text = scenario_file::session_scenario(None, session, folder.path(), &str::to_owned);
    fs::write(&path, text.map_err(|it| told(&it))?).map_err(failed)?;
    load(&path, &[])
}

fn load(path: &Path, variables: &[(String, String)]) -> Result<Scenario, Failure> {
    let (found, mut findings) = scenario_file::find(&[path.to_owned()]);
    let options = scenario_file::Options {
        variables: variables.to_vec(),
        ..scenario_file::Options::default()
    };
    let mut loaded = scenario_file::load(&found, &options);
    findings.append(&mut loaded.findings);
    loaded.scenarios.pop().ok_or_else(|| told(&findings))
}

fn told(findings: &[scenario_file::Finding]) -> Failure {
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Failure::usage(findings.join("\n\n"))
}

/// Ends the session when somebody presses Enter; where nobody can, nothing.
fn end_with_enter(done: CancellationToken) {
    if std::io::stdin().is_terminal() {
        tokio::spawn(async move {
            let mut line = String::new();
            let mut stdin = tokio::io::BufReader::new(tokio::io::stdin());
            if stdin.read_line(&mut line).await.is_ok() {
                done.cancel();
            }
        });
    }
}

/// Makes a scenario and its baseline of what was heard.
async fn keep(
    plan: Plan,
    ran: Ran,
    player: &Player<'_>,
    (args, console): (&RecordArgs, Console),
) -> Result<Exit, Failure> {
    let Ran {
        mut trajectory,
        redactor,
        notes,
        log: _,
    } = ran;
    for note in notes {
        console.note(&redactor.text(&note));
    }
    player.check()?;
    if let Ending::Error { message, details } = &trajectory.ending {
        let failure = Failure::incomplete(message.clone());
        return Err(details.iter().fold(failure, Failure::hint));
    }
    score::mark_breaches(&mut trajectory);
    for left_out in leave_out_unanswered(&mut trajectory) {
        console.note(&left_out);
    }
    if trajectory.calls().next().is_none() {
        return Err(Failure::incomplete(
            "no tool was called and answered, so nothing was written",
        ));
    }
    let Plan {
        base,
        mut session,
        target,
        baselines,
        runs,
        ..
    } = plan;
    let folder = target.parent().unwrap_or(Path::new(""));
    let clean = |text: &str| redactor.text(text).into_owned();
    let write_scenario = |session: &Session| {
        let text = scenario_file::session_scenario(base.as_ref(), session, folder, &clean);
        write(&target, text.map_err(|it| told(&it))?.as_bytes())?;
        load(&target, &[])
    };
    let before = fs::read(&target).ok();
    let kept = async {
        // First without its calls: they are written with what is learned by playing it.
        let scenario = write_scenario(&session)?;
        trajectory.scenario.clone_from(&scenario.id);
        trajectory.name.clone_from(&scenario.name);
        trajectory.scenario_hash = Some(scenario.hash.clone());
        "listen".clone_into(&mut trajectory.stamp.agent);
        trajectory.stamp.agent_hash = None;
        for note in player.learn(&scenario, &mut trajectory).await {
            console.note(&note);
        }
        player.check()?;
        session.calls = calls(&trajectory);
        write_scenario(&session)?;
        runs.save(&scenario.id, &trajectory)?;
        Ok(baselines.save(&scenario.id, &trajectory)?)
    };
    let kept: Result<PathBuf, Failure> = kept.await;
    let path = match kept {
        Ok(path) => path,
        Err(failure) => {
            // Both or none.
            let _ = match before {
                Some(before) => write(&target, &before).is_ok(),
                None => fs::remove_file(&target).is_ok(),
            };
            return Err(failure);
        }
    };
    let target = target.display();
    console.note(&format!("kept as {target} and {}", path.display()));
    let mut compare = format!("mcp-eval compare {target}");
    if let Some(folder) = &args.output {
        compare = format!("{compare} --baseline {}", folder.display());
    }
    console.note(&format!("compare with it: `{compare}`"));
    Ok(Exit::Passed)
}

/// The calls that a run is expected to make: what was taken from an earlier answer is taken from there again.
fn calls(trajectory: &Trajectory) -> Vec<SessionCall> {
    let calls = trajectory.calls().enumerate();
    let calls = calls.map(|(index, call)| {
        let bindings = trajectory.bindings.iter();
        let bindings = bindings.filter(|it| it.call == index + 1);
        SessionCall {
            tool: call.full_name(),
            arguments: bindings.fold(call.arguments.clone(), |arguments, binding| {
                with_reference(&arguments, binding, trajectory).unwrap_or(arguments)
            }),
            is_error: call.outcome.is_failure(),
        }
    });
    calls.collect()
}

/// The arguments with a reference in place of what is bound; `None` where a reference cannot say that.
fn with_reference(
    arguments: &Object,
    binding: &Binding,
    trajectory: &Trajectory,
) -> Option<Object> {
    let Source { call, path } = &binding.from;
    let reference = format!("{{{{calls.{}.json:{path}}}}}", call - 1);
    let mut referring = Value::Object(arguments.clone());
    let argument = referring.pointer_mut(&binding.path)?;
    *argument = match (&*argument, &binding.value) {
        (it, bound) if it == bound => json!(reference),
        (Value::String(text), Value::String(part)) => json!(text.replacen(part, &reference, 1)),
        _ => return None,
    };
    let Value::Object(referring) = referring else {
        return None;
    };
    let filled = |arguments: &Object| {
        let mut filled = arguments.clone();
        agent::fill_references(&mut filled, trajectory);
        filled
    };
    (filled(&referring) == filled(arguments)).then_some(referring)
}

/// Takes out calls that the server did not answer: asked again, they would hold up everybody. Says which.
fn leave_out_unanswered(trajectory: &mut Trajectory) -> Vec<String> {
    let mut left_out = Vec::new();
    trajectory.steps.retain(|step| {
        let Step::ToolCall(call) = step else {
            return true;
        };
        let Outcome::Failure(failure) = &call.outcome else {
            return true;
        };
        if failure.kind == FailureKind::Rpc {
            return true;
        }
        left_out.push(format!(
            "left out, because it was not answered: `{}`: {}",
            call.full_name(),
            failure.message
        ));
        false
    });
    left_out
}

/// What it takes to play a session again.
struct Player<'a> {
    executor: &'a Executor,
    place: &'a Place,
    progress: &'a ScenarioProgress,
    abort: CancellationToken,
}

impl Player<'_> {
    /// Says so when everything is to stop.
    fn check(&self) -> Result<(), Failure> {
        if !self.abort.is_cancelled() {
            return Ok(());
        }
        Err(Failure {
            exit: Exit::Interrupted,
            ..Failure::incomplete("interrupted: nothing was kept")
        })
    }

    /// Plays the session again where that harms nobody, and learns what varies and what is bound. Returns what a reader should know of
    /// it.
    async fn learn(&self, scenario: &Scenario, trajectory: &mut Trajectory) -> Vec<String> {
        let rules = &scenario.scoring;
        let mut takes = vec![trajectory.clone()];
        let mut notes = Vec::new();
        if self.executor.outliving_servers(scenario).is_empty() {
            trajectory.bindings = score::learn(&takes, rules).bindings;
            let played = Arc::new(trajectory.clone());
            let again = self
                .executor
                .execute(scenario, Some(&played), self.place, self.progress);
            let mut again = Box::pin(again).await.trajectory;
            score::mark_breaches(&mut again);
            if again.ending == Ending::Completed {
                takes.push(again);
            } else {
                notes.push("it could not be played again, so nothing was learned of what varies");
            }
        }
        let learned = score::learn(&takes, rules);
        trajectory.volatile = learned.volatile;
        trajectory.bindings = learned.bindings;
        if let Some(again) = takes.get(1)
            && !score::compare(trajectory, again, rules).verdict.passed
        {
            notes.push("played again, in one session, it was answered differently: a comparison will say how");
        }
        let notes = notes.into_iter().map(str::to_owned);
        notes
            .chain(learned_words(trajectory, takes.len()))
            .collect()
    }
}
