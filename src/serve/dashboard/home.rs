//! `GET /`: what runs, what broke, what waits for somebody, what there is to run; `GET /live`, the same whenever it changes; and `POST /run`, the form that runs it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::reply::{self, elsewhere, frame, own_page, refused};
use super::runs::latest;
use super::served::{look, undecidable};
use super::visitor::Sent;
use crate::http_server::stream_response;
use crate::json;
use crate::redact;
use crate::report::html::dashboard::{self, Home, Running, Served, Waits};
use crate::serve::execute::{self, How};
use crate::serve::folder::{Folder, shown};
use crate::serve::listen::{Since, event_stream, idle, last_event_id};
use crate::serve::sessions::Visitor;
use crate::serve::wire::case::{RunRequest, ScenarioRequest};
use crate::serve::wire::commands::CompareRequest;
use crate::serve::{Problem, Server, commands};

/// How many names of what waits are shown.
const NEXT: usize = 5;

pub(super) async fn get(State(server): State<Arc<Server>>, visitor: Visitor) -> Response {
    // First, so that nothing is missed that comes while the rest is looked for.
    let after = server.events.last_id().unwrap_or_default();
    let (running, waits) = under_way(&server);
    let looking = Arc::clone(&server);
    let looked = reply::read(move || look(&looking));
    let (looked, latest) = tokio::join!(looked, latest(&server));
    let (mut looked, folder_problem) = match looked {
        Ok(looked) => (looked, None),
        Err(why) => (Served::default(), Some(why)),
    };
    let (results, total) = match latest {
        Ok(latest) => {
            for it in &mut looked.scenarios {
                it.latest = latest.of.get(&it.id).cloned();
            }
            (Ok(latest.results), latest.total)
        }
        Err(why) => (Err(why), 0),
    };
    let said = server.sessions.said(&visitor);
    let options = &server.options;
    let root = redact::environment().text(&options.root.display().to_string());
    let may_write = options.allowed.write;
    let some_compare = looked.scenarios.iter().any(|it| it.comparable);
    let incomparable = (some_compare && !may_write).then(|| {
        "Results are kept for review only if the server was started with `--allow-write`; they are shown here anyway."
            .to_owned()
    });
    let home = Home {
        frame: frame(&visitor, said.as_deref()),
        root: root.into_inner(),
        running,
        waits,
        after,
        troubles: server.board.troubles(),
        results,
        total,
        served: looked,
        undecidable: undecidable(&server),
        folder_problem,
        incomparable,
    };
    own_page(StatusCode::OK, dashboard::home(&home))
}

/// What runs now, and what waits for its turn.
pub(super) fn under_way(server: &Server) -> (Vec<Running>, Waits) {
    let (mut running, mut waits) = (Vec::new(), Waits::default());
    for line in server.board.lines() {
        if let Some((doing, for_ms)) = line.begun {
            running.push(Running {
                key: line.key,
                name: line.name,
                command: line.command.to_owned(),
                doing,
                for_ms,
            });
        } else {
            waits.count += 1;
            if waits.next.len() < NEXT {
                waits.next.push(line.name);
            }
        }
    }
    (running, waits)
}

/// How long changes are gathered.
const GATHER: Duration = Duration::from_millis(150);

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// The id of the last event that the page is not behind.
    after: String,
}

pub(super) async fn live(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let since = match last_event_id(&headers) {
        Some(id) => Since::Event(id),
        None if asked.after.is_empty() => Since::Ever,
        None => Since::Event(&asked.after),
    };
    let events = event_stream(&server, since);
    let both = stream::select(events, changes(&server));
    // Who has signed out sees nothing more.
    let both = both.take_until(Box::pin(server.sessions.over(&visitor)));
    let pieces = both.map(|it| Ok::<_, Infallible>(Bytes::from(it)));
    stream_response(Body::from_stream(pieces))
}

/// What runs now, whenever that changes.
fn changes(server: &Arc<Server>) -> impl Stream<Item = String> + use<> {
    let mut news = server.board.changes();
    news.mark_changed();
    let watched = Arc::clone(server);
    let changes = stream::unfold((watched, news), async |(server, mut news)| {
        news.changed().await.ok()?;
        tokio::time::sleep(GATHER).await;
        news.borrow_and_update();
        let data = json::escaped(now(&server).to_string());
        Some((format!("event: now\ndata: {data}\n\n"), (server, news)))
    });
    changes.take_until(Box::pin(idle(server)))
}

fn now(server: &Server) -> Value {
    let (running, waits) = under_way(server);
    let lines = running.iter().map(|it| {
        json!({ "key": it.key, "name": it.name, "command": it.command, "doing": it.doing, "forMs": it.for_ms })
    });
    json!({
        "state": waits.state(running.len()),
        "running": lines.collect::<Vec<_>>(),
        "waiting": waits.words(),
    })
}

pub(super) async fn post_run(State(server): State<Arc<Server>>, sent: Sent) -> Response {
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
    let prepared = execute::only(execute::prepare(request, &server.options, &folder)?)?;
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
