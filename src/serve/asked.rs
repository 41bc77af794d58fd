//! The scenarios that a request asks to be run.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::case::{Prepared, chosen, distinct, give_servers, id, of_case};
use super::folder::Folder;
use super::programs::{self, Permitted};
use super::wire::case::{AgentConfig, RunRequest, ScenarioRequest, YamlRequest};
use super::{Options, Problem};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;

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
    // Mock servers read it anew, each in a process of its own.
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
fn written(text: &str) -> Result<tempfile::NamedTempFile, Problem> {
    let write = || -> std::io::Result<tempfile::NamedTempFile> {
        let mut file = tempfile::NamedTempFile::with_prefix("mcp-eval-")?;
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
