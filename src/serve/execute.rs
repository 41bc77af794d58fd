//! Runs the scenarios that a request asks for, beside what runs for others, and hands back what came of them.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use super::board::Seat;
use super::case::{Prepared, chosen, distinct, give_servers, id, of_case};
use super::folder::Folder;
use super::programs::{self, Permitted};
use super::queue::{Place, Share};
use super::reply::{Case, Cases};
use super::watching::Watching;
use super::wire::case::{AgentConfig, RunRequest, ScenarioRequest, YamlRequest};
use super::wire::reply::RunReply;
use super::{Options, Problem, Server};
use crate::model::Redacted;
use crate::published::result::ResultDocument;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::store::database::run_again;
use crate::suite::{self, Finished, Jobs, Settings, Suite};

/// How many go on beside each other, and whether the first that has not passed is the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) beside: usize,
    pub(super) fail_fast: bool,
}

/// Runs that have begun.
pub(super) struct Running {
    /// Replies, as they come.
    pub(super) replies: UnboundedReceiver<Redacted<RunReply>>,
    /// All of them, in the order of the request.
    pub(super) work: JoinHandle<Result<Vec<Redacted<RunReply>>, Problem>>,
    /// Held by whoever waits for them. When it is dropped before they are there, because the client has gone, they are interrupted: what
    /// was finished stays, servers end, and others get their turn.
    pub(super) client: DropGuard,
}

/// Runs that have a place, and wait for their turn.
pub(super) struct Admitted {
    place: Place,
    seat: Seat,
    scenarios: Vec<Scenario>,
    cases: Cases,
    /// The ids, in the order of the request.
    order: Vec<String>,
    secrets: Secrets,
    files: Vec<NamedTempFile>,
}

/// Gives runs a place.
///
/// # Errors
///
/// When there is no room for them, or the server is ending.
pub(super) fn admit(server: &Server, prepared: Vec<Prepared>) -> Result<Admitted, Problem> {
    let place = enter(server, prepared.len())?;
    let mut files = Vec::new();
    let (mut cases, mut order) = (Cases::new(), Vec::new());
    let (mut scenarios, mut secrets) = (Vec::new(), Secrets::default());
    let mut names = Vec::new();
    for it in prepared {
        let mut scenario = it.scenario;
        scenario.id = unused(&scenario.id, &cases);
        let name = Redactor::new(&it.secrets, &scenario.redaction).text(&scenario.name);
        names.push((scenario.id.clone(), name.into_inner()));
        order.push(scenario.id.clone());
        let case = Case {
            asked: it.asked,
            expected: it.expected,
        };
        cases.insert(scenario.id.clone(), case);
        secrets.extend(&it.secrets);
        files.extend(it.file);
        scenarios.push(scenario);
    }
    Ok(Admitted {
        place,
        seat: server.board.enter("run", names),
        scenarios,
        cases,
        order,
        secrets,
        files,
    })
}

/// Begins runs once it is their turn.
///
/// # Errors
///
/// When there is no room for them, or the server is ending.
pub(super) async fn begin(
    server: &Arc<Server>,
    prepared: Vec<Prepared>,
    how: How,
) -> Result<Running, Problem> {
    start(server, admit(server, prepared)?, how).await
}

/// Begins runs that have a place, once it is their turn.
///
/// # Errors
///
/// When the server is ending.
pub(super) async fn start(
    server: &Arc<Server>,
    admitted: Admitted,
    how: How,
) -> Result<Running, Problem> {
    let beside = how.beside.min(admitted.scenarios.len());
    let settings = &server.options.settings;
    let turn = turn(server, &admitted.scenarios, settings, beside).await?;
    let (sender, replies) = unbounded_channel();
    let server = Arc::clone(server);
    let working = server.begin();
    let interrupt = server.interrupt.child_token();
    let client = interrupt.clone().drop_guard();
    let work = tokio::spawn(async move {
        let _held = (admitted.place, turn, working);
        let settings = Settings {
            // As for several requests, nobody is asked whether what outlives runs bears several at once.
            jobs: Jobs::Sharing(u16::try_from(beside).unwrap_or(u16::MAX)),
            fail_fast: how.fail_fast,
            ..server.options.settings.clone()
        };
        let watching = Arc::new(Watching::new(
            &server,
            "run",
            admitted.seat,
            admitted.cases,
            admitted.secrets,
            Some(sender),
        ));
        let suite = Suite {
            scenarios: admitted.scenarios,
            observer: Arc::clone(&watching) as Arc<dyn suite::Observer>,
            interrupt,
        };
        let finished = suite::run(suite, &settings).await;
        drop(admitted.files);
        let finished = finished.map_err(|it| failed(&it))?;
        watching.close(&finished);
        let replies = replies_of(&finished, &watching, &admitted.order);
        server.keep_verdicts(&replies, &watching.cases).await;
        server.finish(&finished);
        Ok(replies)
    });
    Ok(Running {
        replies,
        work,
        client,
    })
}

/// An id that no other scenario of the same run has.
fn unused(id: &str, used: &Cases) -> String {
    if !used.contains_key(id) {
        return id.to_owned();
    }
    let mut others = (2..).map(|number| run_again(id, number));
    let found = others.find(|it| !used.contains_key(it));
    found.unwrap_or_else(|| id.to_owned())
}

fn replies_of(
    finished: &Finished,
    watching: &Watching,
    order: &[String],
) -> Vec<Redacted<RunReply>> {
    let results = finished.results().map(|it| (it.id.clone(), it));
    let results: HashMap<String, _> = results.collect();
    let ordered = order.iter().filter_map(|id| results.get(id));
    ordered.filter_map(|it| watching.reply(it)).collect()
}

/// A place for so many runs.
///
/// # Errors
///
/// When there is no room for them, or the server is ending.
fn enter(server: &Server, runs: usize) -> Result<Place, Problem> {
    if server.done.is_cancelled() {
        return Err(Problem::ending());
    }
    let room = server.queue.room();
    if runs > room {
        let message = format!("a request may bring {room} runs at most, and these are {runs}");
        return Err(Problem::at("", message));
    }
    server.queue.enter(runs).map_err(|_| Problem::full())
}

/// What scenarios need to begin: all that they share with others, and then, so that nobody is kept from running by those who wait for that,
/// room for so many of them.
async fn turn(
    server: &Server,
    scenarios: &[Scenario],
    settings: &Settings,
    beside: usize,
) -> Result<(Share, Option<OwnedSemaphorePermit>), Problem> {
    let turn = async {
        let share = server.sharing.turn(scenarios, settings).await;
        (share, server.queue.turn(beside).await)
    };
    let turn = server.done.run_until_cancelled(turn).await;
    turn.ok_or_else(Problem::ending)
}

/// Why scenarios could not be run at all.
fn failed(error: &suite::Error) -> Problem {
    match error {
        suite::Error::Invalid { .. } => Problem::at("", error.to_string()),
        suite::Error::Incomplete { .. } | suite::Error::Store(_) => {
            Problem::ours(error.to_string())
        }
    }
}

/// One of the main commands that has a place, and waits for its turn.
pub(super) struct Waiting {
    place: Place,
    seat: Seat,
    name: &'static str,
    scenarios: Vec<Scenario>,
}

/// Gives one of the main commands a place.
///
/// # Errors
///
/// When there is no room for it, or the server is ending.
pub(super) fn admit_command(
    server: &Server,
    name: &'static str,
    scenarios: Vec<Scenario>,
) -> Result<Waiting, Problem> {
    let place = enter(server, scenarios.len().max(1))?;
    let names = scenarios.iter().map(|it| {
        let redactor = Redactor::new(&Secrets::of_environment(), &it.redaction);
        (it.id.clone(), redactor.text(&it.name).into_inner())
    });
    Ok(Waiting {
        place,
        seat: server.board.enter(name, names.collect()),
        name,
        scenarios,
    })
}

/// One of the main commands, to its end: its document, as the command line has it.
///
/// # Errors
///
/// When the server is ending, or it could not be run at all.
pub(super) async fn command<F>(
    server: &Arc<Server>,
    waiting: Waiting,
    settings: Settings,
    work: impl FnOnce(Suite, Settings) -> F,
) -> Result<ResultDocument, Problem>
where
    F: Future<Output = Result<Finished, suite::Error>> + Send + 'static,
{
    let Waiting {
        place,
        seat,
        name,
        scenarios,
    } = waiting;
    let beside = settings.jobs.most(scenarios.len());
    let turn = turn(server, &scenarios, &settings, beside).await?;
    let jobs = beside.min(server.queue.concurrent());
    let settings = Settings {
        jobs: match settings.jobs {
            // With `fail_fast`, that is one after another.
            Jobs::Auto if jobs == beside || settings.fail_fast => Jobs::Auto,
            Jobs::AtMost(_) => Jobs::AtMost(u16::try_from(jobs).unwrap_or(u16::MAX)),
            Jobs::Auto | Jobs::Sharing(_) => Jobs::Sharing(u16::try_from(jobs).unwrap_or(u16::MAX)),
        },
        ..settings
    };
    // A client that goes takes its work with it.
    let interrupt = server.interrupt.child_token();
    let _client = interrupt.clone().drop_guard();
    let watching = Arc::new(Watching::new(
        server,
        name,
        seat,
        Cases::new(),
        Secrets::of_environment(),
        None,
    ));
    let suite = Suite {
        scenarios,
        observer: Arc::clone(&watching) as Arc<dyn suite::Observer>,
        interrupt,
    };
    let working = work(suite, settings);
    let (server, guard) = (Arc::clone(server), server.begin());
    let work = tokio::spawn(async move {
        let _held = (place, turn, guard);
        let finished = working.await.map_err(|it| failed(&it))?;
        watching.close(&finished);
        Ok(server.finish(&finished))
    });
    work.await
        .unwrap_or_else(|_| Err(Problem::ours("the command itself failed: this is a bug")))
}

/// What a request wants to be run. A scenario with a data set is as many as it has rows.
///
/// # Errors
///
/// What is wrong with it, or not allowed.
pub(super) fn prepare(
    request: RunRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    match request {
        RunRequest::Bare(case) => Ok(vec![of_case(case, options, folder, "")?]),
        RunRequest::Case(it) => Ok(vec![of_case(it.test_case, options, folder, "/testCase")?]),
        RunRequest::Scenario(it) => of_scenario(&it, options, folder),
        RunRequest::Yaml(it) => of_yaml(&it, options, folder),
    }
}

/// A served scenario, as a request wants it to be run.
fn of_scenario(
    request: &ScenarioRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    let scenarios = folder.named(&request.scenario, "/scenario")?;
    let rest = (request.agent_config.as_ref(), request.timeout);
    finished(scenarios, rest, (options, folder), "/scenario")
}

/// The scenarios of a text.
fn of_yaml(
    request: &YamlRequest,
    options: &Options,
    folder: &Folder<'_>,
) -> Result<Vec<Prepared>, Problem> {
    let mut scenarios = folder.of_text(None, &request.yaml, options.allowed.programs, "/yaml")?;
    let rest = (request.agent_config.as_ref(), request.timeout);
    // Mock servers read it anew for each session.
    let file = written(&request.yaml)?;
    for scenario in &mut scenarios {
        // The name of a row names the row, too.
        scenario.row_of = None;
        let named = Redactor::new(&Secrets::of_environment(), &scenario.redaction);
        scenario.id = id(&named.text(&scenario.name));
        scenario.text_at = Some(file.path().to_owned());
    }
    let mut prepared = finished(scenarios, rest, (options, folder), "/yaml")?;
    if let Some(last) = prepared.last_mut() {
        last.file = Some(file);
    }
    Ok(prepared)
}

/// A file of this text, which is gone with what is returned.
fn written(text: &str) -> Result<NamedTempFile, Problem> {
    let write = || -> std::io::Result<NamedTempFile> {
        let mut file = NamedTempFile::with_prefix("mcp-eval-")?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(file)
    };
    write().map_err(|error| Problem::ours(format!("the scenario cannot be kept: {error}")))
}

/// Scenarios as a request wants them to be run.
fn finished(
    scenarios: Vec<Scenario>,
    (config, wanted): (Option<&AgentConfig>, Option<u64>),
    (options, folder): (&Options, &Folder<'_>),
    at: &str,
) -> Result<Vec<Prepared>, Problem> {
    let (bound, said_by) = options.bounds.timeout(wanted);
    let mut prepared = Vec::with_capacity(scenarios.len());
    for mut scenario in scenarios {
        let mut secrets = Secrets::of_environment();
        let programs = options.allowed.programs;
        let forbidden = |why: String| Problem::forbidden_at(at, why);
        if let Some(config) = config {
            // What a request brings knows its own secrets alone.
            if scenario.text_at.is_none() {
                programs::refuse_to_tell(&scenario, folder, programs).map_err(forbidden)?;
            }
            let calls = scenario.agent.calls().to_vec();
            scenario.agent = Agent::Model {
                settings: Box::new(chosen(config, &mut secrets)),
                calls,
            };
        }
        give_servers(&mut scenario.servers, &options.servers);
        let permitted = match scenario.text_at {
            None => Permitted::to_served(options),
            Some(_) => Permitted::to_brought(options),
        };
        programs::refuse(&scenario, &options.servers, folder, permitted).map_err(forbidden)?;
        if wanted.is_some() || bound < scenario.timeouts.scenario {
            scenario.timeouts.scenario = bound;
            scenario.timeouts.said_by = said_by;
        }
        let redactor = Redactor::new(&secrets, &scenario.redaction);
        prepared.push(Prepared {
            asked: redactor.value(as_test_case(&scenario, folder)),
            expected: distinct(scenario.expected_trajectory.iter().map(|it| &it.tool)),
            secrets,
            file: None,
            scenario,
        });
    }
    Ok(prepared)
}

/// A scenario in the words of a test case.
fn as_test_case(scenario: &Scenario, folder: &Folder<'_>) -> Value {
    let tools = scenario.expected_trajectory.iter().map(|it| &it.tool);
    json!({
        "name": scenario.name,
        "prompt": scenario.messages().join("\n\n"),
        "expectedTools": tools.collect::<Vec<_>>(),
        "scenario": match scenario.text_at {
            None => Some(folder.below(&scenario.path)),
            Some(_) => None,
        },
    })
}

/// The only one of what a request wants to be run.
///
/// # Errors
///
/// That there are several.
pub(super) fn only(mut prepared: Vec<Prepared>) -> Result<Prepared, Problem> {
    match (prepared.len(), prepared.pop()) {
        (1, Some(only)) => Ok(only),
        (rows, _) => {
            let message = format!(
                "the scenario is {rows} runs, one for each row of its data set: name a row by its id, or run them in a batch"
            );
            Err(Problem::new(StatusCode::BAD_REQUEST, message))
        }
    }
}
