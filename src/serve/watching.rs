//! Tells those who listen how scenarios go on, and hands over what each has come to.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::reply::{self, Cases};
use super::server::Server;
use super::wire::reply::RunReply;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::status;
use crate::model::suite::ScenarioResult;
use crate::published::result::Status;
use crate::redact::{Redactor, Secrets};
use crate::run::{self, Progress};
use crate::store::database::result_id;
use crate::suite::{Observer, ScenarioObserver};

/// Where replies go as they come.
pub(super) type Replies = UnboundedSender<Redacted<RunReply>>;

/// The observer of one command.
pub(super) struct Watching {
    server: Arc<Server>,
    command: &'static str,
    run: Arc<OnceLock<String>>,
    pub(super) cases: Cases,
    /// What the request brought that is secret.
    secrets: Secrets,
    replies: Mutex<Option<Replies>>,
}

impl Watching {
    pub(super) fn new(
        server: &Arc<Server>,
        command: &'static str,
        (cases, secrets): (Cases, Secrets),
        replies: Option<Replies>,
    ) -> Self {
        Self {
            server: Arc::clone(server),
            command,
            run: Arc::default(),
            cases,
            secrets,
            replies: Mutex::new(replies),
        }
    }

    fn run(&self) -> &str {
        self.run.get().map_or("", String::as_str)
    }

    /// The reply that a result is; `None` for one that was not asked for as a test case.
    pub(super) fn reply(&self, result: &Redacted<ScenarioResult>) -> Option<Redacted<RunReply>> {
        let case = self.cases.get(&result.id)?;
        let id = result_id(self.run(), &result.id);
        Some(reply::of(result, case, (self.run(), id)))
    }
}

impl Observer for Watching {
    fn kept_as(&self, run: &str) {
        let _ = self.run.set(run.to_owned());
    }

    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        let redactor = Arc::new(Redactor::new(&self.secrets, &scenario.redaction));
        let one = One {
            server: Arc::clone(&self.server),
            what: Arc::new(json!({
                "runId": self.run(),
                "command": self.command,
                "scenario": redactor.text(&scenario.id).into_inner(),
                "name": redactor.text(&scenario.name).into_inner(),
            })),
            redactor,
            attempt: None,
        };
        one.tell("started", json!({}));
        Arc::new(one)
    }

    fn finished(&self, result: &Redacted<ScenarioResult>) {
        let reply = self.reply(result);
        let told = result.derive(|it| {
            json!({
                "runId": self.run(),
                "command": self.command,
                "scenario": it.id,
                "name": it.name,
                "status": Status::from(it.status),
                "success": it.status == status::Status::Passed,
                "duration": it.duration_ms,
                "resultId": result_id(self.run(), &it.id),
                "verdict": reply.as_ref().map(|it| &it.verdict),
            })
        });
        self.server.events.tell("verdict", &told);
        if let (Some(reply), Some(replies)) = (reply, &*self.replies.lock()) {
            // Where nobody listens any more, it is kept all the same.
            let _ = replies.send(reply);
        }
    }

    fn ended(&self) {
        self.replies.lock().take();
    }
}

/// The observer of one scenario, or of one of several attempts at it.
#[derive(Clone)]
struct One {
    server: Arc<Server>,
    /// What all its events say.
    what: Arc<Value>,
    redactor: Arc<Redactor>,
    attempt: Option<u16>,
}

impl One {
    fn tell(&self, kind: &str, more: Value) {
        let mut data = (*self.what).clone();
        if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
            data.extend(more);
            if let Some(attempt) = self.attempt {
                data.insert("attempt".to_owned(), attempt.into());
            }
        }
        // Names of scenarios are clean already, and stay so.
        self.server
            .events
            .tell(kind, &self.redactor.fresh().of_stored().value(data));
    }
}

impl run::Observer for One {
    fn progress(&self, progress: Progress<'_>) {
        let step = |doing: &str| self.tell("step", json!({ "doing": doing }));
        match progress {
            Progress::Preparing { doing } => step(doing),
            Progress::Connecting => step("connecting to the servers"),
            Progress::Waiting { what, .. } => step(&format!("waiting for {what}")),
            Progress::Asking { number } => step(&format!("asking the model: request {number}")),
            Progress::AskingAgain { number, .. } => {
                step(&format!("asking the model again: request {number}"));
            }
            Progress::Calling { number, tool } => {
                self.tell(
                    "tool_call",
                    json!({ "number": number, "tool": tool, "state": "calling" }),
                );
            }
            Progress::Called {
                number,
                tool,
                outcome,
                duration_ms,
            } => {
                let state = if outcome.is_failure() { "failed" } else { "ok" };
                self.tell(
                    "tool_call",
                    json!({ "number": number, "tool": tool, "state": state, "executionTimeMs": duration_ms }),
                );
            }
        }
    }
}

impl ScenarioObserver for One {
    fn attempt(&self, number: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self {
            attempt: Some(number),
            ..self.clone()
        })
    }

    fn attempted(&self, number: u16, of: u16, status: status::Status) {
        let status = Status::from(status);
        self.tell(
            "step",
            json!({ "doing": format!("attempt {number} of {of}"), "status": status }),
        );
    }

    fn judged(&self, _: &Redacted<ScenarioResult>) {}
}
