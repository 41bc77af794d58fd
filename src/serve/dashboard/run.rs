//! `POST /run`: runs a scenario, or compares it with its baseline, while the browser goes on.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::reply::{elsewhere, refused};
use super::visitor::Sent;
use crate::serve::execute::{self, How};
use crate::serve::folder::{Folder, shown};
use crate::serve::problem::Problem;
use crate::serve::server::Server;
use crate::serve::wire::case::{RunRequest, ScenarioRequest};
use crate::serve::wire::commands::CompareRequest;
use crate::serve::{asked, commands};

pub(super) async fn post(State(server): State<Arc<Server>>, sent: Sent) -> Response {
    let scenario = sent.fields.scenario;
    let begun = tokio::task::block_in_place(|| match sent.fields.command.as_str() {
        "compare" => compare(&server, scenario),
        "run" => run(&server, scenario),
        _ => Err(Problem::at("", "The form does not say what to do.")),
    });
    match begun {
        Ok(()) => elsewhere("/", None),
        Err(problem) => refused(&server, &sent.visitor, problem),
    }
}

/// As `POST /api/test/run` does it.
fn run(server: &Arc<Server>, scenario: String) -> Result<(), Problem> {
    let name = shown(&scenario);
    let folder = Folder::new(&server.options.root);
    let request = RunRequest::Scenario(ScenarioRequest {
        scenario,
        agent_config: None,
        timeout: None,
    });
    let prepared = asked::only(asked::prepare(request, &server.options, &folder)?)?;
    let admitted = execute::admit(server, vec![prepared])?;
    let how = How {
        beside: 1,
        fail_fast: false,
    };
    go_on(server, name, async move |server| {
        let running = execute::start(&server, admitted, how).await?;
        let done = running.work.await;
        done.unwrap_or_else(|_| Err(Problem::ours("the run itself failed: this is a bug")))?;
        Ok(())
    });
    Ok(())
}

/// As `POST /api/test/compare` does it; what changed is kept for review where that is allowed.
fn compare(server: &Arc<Server>, scenario: String) -> Result<(), Problem> {
    let name = shown(&scenario);
    let request = CompareRequest {
        scenarios: vec![scenario],
        pending: server.options.allowed.write,
        ..CompareRequest::default()
    };
    let waiting = commands::comparison(server, &request)?;
    go_on(server, name, async move |server| {
        commands::compared(&server, waiting, &request).await?;
        Ok(())
    });
    Ok(())
}

/// Does something while nobody waits for it. Why it could not be done is shown on the board.
fn go_on<F>(server: &Arc<Server>, name: String, work: impl FnOnce(Arc<Server>) -> F)
where
    F: Future<Output = Result<(), Problem>> + Send + 'static,
{
    let work = work(Arc::clone(server));
    let server = Arc::clone(server);
    tokio::spawn(async move {
        if let Err(problem) = work.await {
            let why = problem.into_reply().error;
            server
                .board
                .trouble(format!("{name} could not be run: {why}"));
        }
    });
}
