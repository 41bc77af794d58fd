//! `GET /`: what runs, what broke, what waits for somebody, what there is to run.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::bounded;
use super::latest::latest;
use super::reply::{frame, own_page};
use super::served::{Looked, look, undecidable};
use crate::redact;
use crate::report::html::dashboard::{self, Home, Running, Waits};
use crate::serve::server::Server;
use crate::serve::sessions::Visitor;

/// How many names of what waits are shown.
const NEXT: usize = 5;

pub(super) async fn get(State(server): State<Arc<Server>>, visitor: Visitor) -> Response {
    // First, so that nothing is missed that comes while the rest is looked for.
    let after = server.events.last_id().unwrap_or_default();
    let (running, waits) = under_way(&server);
    let looking = Arc::clone(&server);
    let looked = bounded::read(move || look(&looking));
    let (looked, latest) = tokio::join!(looked, latest(&server));
    let (looked, folder_problem) = match looked {
        Ok(looked) => (looked, None),
        Err(why) => (Looked::default(), Some(why)),
    };
    let mut scenarios = looked.scenarios;
    let (results, total) = match latest {
        Ok(latest) => {
            for it in &mut scenarios {
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
    let some_compare = scenarios.iter().any(|it| it.comparable);
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
        pending: looked.pending,
        more_pending: looked.more_pending,
        undecidable: undecidable(&server),
        scenarios,
        more_scenarios: looked.more_scenarios,
        folder_problem,
        incomparable,
        broken: looked.broken,
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
