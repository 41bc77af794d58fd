//! The state that all requests share.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::events::Events;
use super::options::Options;
use super::queue::{Queue, Sharing};
use super::reply::Cases;
use super::sessions::Sessions;
use super::wire::reply::RunReply;
use crate::model::Redacted;
use crate::published::result::ResultDocument;
use crate::redact;
use crate::store::database::RunHead;
use crate::suite::Finished;

/// How long the database may take to say that it is there.
const HEALTH: Duration = Duration::from_millis(1500);

/// What all requests share.
pub(super) struct Server {
    pub(super) options: Options,
    /// The `OpenAPI` document.
    pub(super) open_api: Value,
    pub(super) queue: Queue,
    pub(super) sharing: Sharing,
    pub(super) events: Events,
    pub(super) board: Board,
    pub(super) sessions: Sessions,
    /// Nothing is begun any more.
    pub(super) done: CancellationToken,
    /// What runs is to stop.
    pub(super) interrupt: CancellationToken,
    pub(super) started: Instant,
    /// Held by whoever writes scenarios or baselines.
    pub(super) writing: tokio::sync::Mutex<()>,
    /// How many commands are at work.
    working: watch::Sender<usize>,
}

/// A command that is at work, until it is dropped.
pub(super) struct Working(watch::Sender<usize>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.send_modify(|it| *it -= 1);
    }
}

impl Server {
    pub(super) fn new(
        options: Options,
        (open_api, sessions): (Value, Sessions),
        done: CancellationToken,
    ) -> Self {
        Self {
            open_api,
            queue: Queue::new(options.bounds.concurrent, options.bounds.queue),
            sharing: Sharing::default(),
            events: Events::default(),
            board: Board::default(),
            sessions,
            done,
            interrupt: CancellationToken::new(),
            started: Instant::now(),
            writing: tokio::sync::Mutex::default(),
            working: watch::channel(0).0,
            options,
        }
    }

    /// Notes that a command is at work.
    pub(super) fn begin(&self) -> Working {
        self.working.send_modify(|it| *it += 1);
        Working(self.working.clone())
    }

    /// Completes and keeps the document of a command, and tells whoever started the server what there is to tell.
    pub(super) fn finish(&self, finished: &Finished) -> ResultDocument {
        for note in &finished.notes {
            (self.options.note)(note);
        }
        let document = tokio::task::block_in_place(|| (self.options.finish)(finished));
        if let Some(database) = &finished.database {
            // What became of the whole is known by now.
            database.head(finished.suite.derive(|_| RunHead::ended(&document)));
        }
        document
    }

    /// Whether results are kept in a database that can be opened.
    pub(super) async fn has_database(&self) -> bool {
        let Some(database) = &self.options.settings.database else {
            return false;
        };
        let health = tokio::time::timeout(HEALTH, database.health()).await;
        matches!(health, Ok(Ok(_)))
    }

    /// Keeps the verdicts of replies beside their results.
    pub(super) async fn keep_verdicts(&self, replies: &[Redacted<RunReply>], cases: &Cases) {
        let Some(database) = &self.options.settings.database else {
            return;
        };
        for reply in replies {
            let verdict = reply.derive(|it| json!(it.verdict));
            let case = cases.get(&reply.scenario);
            let expected = case.map(|it| it.asked.derive(|_| it.expected.clone()));
            let kept = database.set_verdict(&reply.result_id, &verdict, expected.as_ref());
            if let Err(error) = kept.await {
                (self.options.note)(&redact::environment().text(&error.to_string()));
                return;
            }
        }
    }

    /// Waits until no command is at work.
    pub(super) async fn idle(&self) {
        let mut working = self.working.subscribe();
        // The sender is here, so there always is a value.
        let _ = working.wait_for(|it| *it == 0).await;
    }
}
