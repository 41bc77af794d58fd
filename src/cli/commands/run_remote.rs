//! `mcp-eval run --remote`: a test server runs the scenarios, and what comes of it is reported here.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::remote_answer::settled;
use crate::cli::args::{OutputArgs, RunArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

use crate::cli::not_kept;
use crate::cli::reports::Reports;
use crate::cli::round::Round;
use crate::cli::runtime;
use crate::cli::select::{Purpose, plural};
use crate::cli::suite::settings;
use crate::cli::to_run::{Planned, to_run};
use crate::client::{ClientError, TestClient};
use crate::model::scenario::Scenario;
use crate::serve::wire::{BatchReply, CaseList};
use crate::suite::{self, Jobs, Sameness};

/// What stands for whichever server is found.
const AUTO: &str = "auto";

pub(super) fn run(
    args: &RunArgs,
    remote: &str,
    purpose: Purpose<'_>,
    reports: &Reports,
    (output, console): (OutputArgs, Console),
) -> Result<Exit, Failure> {
    let database = &args.execute.database;
    // What stands in the environment is meant for whatever runs here.
    let by_variable = std::env::var("MCP_EVAL_DB").ok();
    if database.place.db.is_some() && database.place.db != by_variable {
        return Err(Failure::usage(
            "`--db` goes with what runs here, and `--remote` lets a server run it",
        )
        .hint("the server writes to the database that it was started with"));
    }
    let args_of_plan = (&args.select, &args.plan, &args.execute);
    let planned = to_run(&Round::default(), args_of_plan, (purpose, "run"), console)?;
    let to_run = match planned {
        Planned::ToRun(to_run) => to_run,
        Planned::Unchanged(sentence) => {
            return not_kept::unchanged("run", &sentence, reports, console);
        }
    };
    let mut scenarios = to_run.scenarios;
    let given = settings(&args.execute, &scenarios, console)?.servers;
    scenarios.retain(|it| it.enabled);
    if scenarios.is_empty() {
        return Err(Failure::incomplete("there is nothing to run"));
    }
    for scenario in &mut scenarios {
        suite::give_servers(&mut scenario.servers, &given);
    }
    let runtime = runtime::here()?;
    let result = runtime.block_on(async {
        let url = (remote != AUTO).then_some(remote);
        let client = TestClient::find(url).await.map_err(|it| failed(&it))?;
        are_there(&client, &scenarios).await?;
        console.note(&format!(
            "Running {} at {}",
            plural(scenarios.len(), "scenario"),
            client.url()
        ));
        let cases = scenarios.iter().map(|it| json!({ "scenario": it.id }));
        let batch = json!({
            "testCases": cases.collect::<Vec<Value>>(),
            "parallel": match args.execute.jobs {
                Jobs::Auto if args.execute.fail_fast => json!(false),
                Jobs::Auto => json!(true),
                Jobs::AtMost(most) | Jobs::Sharing(most) => json!(most),
            },
            "failFast": args.execute.fail_fast,
        });
        let batch = run_batch(&client, &batch, console).await?;
        let run = batch.results.first().map(|it| it.run_id.as_str());
        let run = run.ok_or_else(|| Failure::incomplete("the server has run nothing"))?;
        let document = client.document(run).await;
        let document = document.map_err(|it| match it {
            ClientError::Status { status: 404, .. } => Failure::incomplete(format!(
                "the server has no result of the run {run}, which it has just run: {it}"
            )),
            it => failed(&it),
        })?;
        settled(&scenarios, &batch, document)
    })?;
    not_kept::elsewhere(result, reports, output, console)
}

/// How long a server that is full is asked again.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server has these scenarios as they are here.
async fn are_there(client: &TestClient, scenarios: &[Scenario]) -> Result<(), Failure> {
    let list: CaseList = client.cases().await.map_err(|it| failed(&it))?;
    let cases = list.cases.into_iter();
    let there: HashMap<String, String> = cases.map(|it| (it.id, it.fingerprint)).collect();
    let mut sameness = Sameness::default();
    for scenario in scenarios {
        let id = &scenario.id;
        let why = match there.get(id) {
            None => format!("the server at {} has no scenario `{id}`", client.url()),
            Some(other) if *other == sameness.of(scenario) => continue,
            Some(_) => format!(
                "the scenario `{id}` of the server at {} is another one than here: its file, what that is read with, its servers, or a program or file that they, its hooks or its evaluators name differ",
                client.url()
            ),
        };
        return Err(Failure::usage(why).hint(
            "start the server with the same folder: `mcp-eval serve --root`, and the same --mcp-config",
        ));
    }
    Ok(())
}

/// Lets the server run them; one that is full is asked again for a while.
async fn run_batch(
    client: &TestClient,
    batch: &Value,
    console: Console,
) -> Result<BatchReply, Failure> {
    let mut left = PATIENCE;
    loop {
        let answer = client.run_batch(batch).await;
        let Err(ClientError::Status {
            status: 429,
            retry_after,
            ..
        }) = &answer
        else {
            return answer.map_err(|it| failed(&it));
        };
        let pause = Duration::from_secs(retry_after.unwrap_or(1).max(1));
        if pause > left {
            return answer.map_err(|it| failed(&it));
        }
        if left == PATIENCE {
            console.note(&format!(
                "The server is full: it is asked again for {} seconds",
                PATIENCE.as_secs()
            ));
        }
        left -= pause;
        tokio::time::sleep(pause).await;
    }
}

fn failed(error: &ClientError) -> Failure {
    let message = error.to_string();
    match error {
        ClientError::Status { status: 401, .. } => Failure::usage(message).hint(
            "set MCP_EVAL_TOKEN to the token that the server has printed; where it was started in this folder, .mcp-eval/serve.json has it",
        ),
        ClientError::Status { status: 429, .. } => {
            Failure::incomplete(message).hint("let it finish what it runs, and run this again")
        }
        // What is not there, or did not come in time, nobody has asked for in a wrong way.
        ClientError::Status {
            status: 404 | 408, ..
        } => Failure::incomplete(message),
        ClientError::Status {
            status: 400..=499, ..
        } => Failure::usage(message),
        _ => Failure::incomplete(message),
    }
}
