//! Tells those who listen how scenarios go on, and hands over what each has come to.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::board::Seat;
use super::reply::{self, Cases};
use super::server::Server;
use super::wire::reply::RunReply;
use crate::model::{Redacted, ScenarioResult, Status};
use crate::redact::{Redactor, Secrets};
use crate::run::{self, Progress};
use crate::scenario_file::Scenario;
use crate::store::database::{result_id, scenario_of};
use crate::suite::{Finished, Observer, ScenarioObserver};

/// Where replies go as they come.
pub(super) type Replies = UnboundedSender<Redacted<RunReply>>;

/// The observer of one command.
pub(super) struct Watching {
    server: Arc<Server>,
    command: &'static str,
    seat: Arc<Seat>,
    run: Arc<OnceLock<String>>,
    pub(super) cases: Cases,
    /// What the request brought that is secret.
    secrets: Secrets,
    replies: Mutex<Option<Replies>>,
    /// The ids of the scenarios whose results were reported.
    reported: Mutex<BTreeSet<String>>,
}

impl Watching {
    pub(super) fn new(
        server: &Arc<Server>,
        command: &'static str,
        seat: Seat,
        cases: Cases,
        secrets: Secrets,
        replies: Option<Replies>,
    ) -> Self {
        Self {
            server: Arc::clone(server),
            command,
            seat: Arc::new(seat),
            run: Arc::default(),
            cases,
            secrets,
            replies: Mutex::new(replies),
            reported: Mutex::default(),
        }
    }

    /// Tells of the results that a command has only at its end, because somebody has stopped it, and that no more are to come.
    pub(super) fn close(&self, finished: &Finished) {
        for (index, result) in finished.suite.scenarios.iter().enumerate() {
            if !self.reported.lock().contains(&result.id) {
                let [baseline, current] = finished.sides(index);
                self.finished(&finished.suite.derive(|it| {
                    it.scenarios[index].clone().with(|it| {
                        it.baseline = baseline;
                        it.current = current;
                    })
                }));
            }
        }
        self.replies.lock().take();
    }

    fn run(&self) -> &str {
        self.run.get().map_or("", String::as_str)
    }

    /// The reply that a result is; `None` for one that was not asked for as a test case.
    pub(super) fn reply(&self, result: &Redacted<ScenarioResult>) -> Option<Redacted<RunReply>> {
        let case = self.cases.get(&result.id)?;
        let id = result_id(self.run(), &result.id);
        Some(reply::of(result, case, self.run(), id))
    }
}

impl Observer for Watching {
    fn kept_as(&self, run: &str) {
        let _ = self.run.set(run.to_owned());
    }

    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        let redactor = Arc::new(Redactor::new(&self.secrets, &scenario.redaction));
        self.seat.begins(&scenario.id);
        let one = One {
            server: Arc::clone(&self.server),
            seat: Arc::clone(&self.seat),
            id: scenario.id.as_str().into(),
            what: Arc::new(json!({
                "runId": self.run(),
                "command": self.command,
                "scenario": redactor.text(scenario_of(&scenario.id)).into_inner(),
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
        let event = result.derive(|it| {
            json!({
                "runId": self.run(),
                "command": self.command,
                "scenario": scenario_of(&it.id),
                "name": it.name,
                "status": it.status,
                "success": it.status == Status::Passed,
                "duration": it.duration_ms,
                "score": it.comparison.as_ref().map(|it| it.scores.overall),
                "reason": reply::first_against(it),
                "resultId": result_id(self.run(), &it.id),
                "verdict": reply.as_ref().map(|it| &it.verdict),
            })
        });
        self.seat.ends(&result.id);
        self.reported.lock().insert(result.id.clone());
        self.server.events.tell("verdict", &event);
        if let (Some(reply), Some(replies)) = (reply, &*self.replies.lock()) {
            // Where nobody listens any more, it is kept all the same.
            let _ = replies.send(reply);
        }
    }

    fn ended(&self) {}
}

/// The observer of one scenario, or of one of several attempts at it.
#[derive(Clone)]
struct One {
    server: Arc<Server>,
    seat: Arc<Seat>,
    /// That of its scenario.
    id: Arc<str>,
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
        let event = self.redactor.fresh().of_stored().value(data);
        if let Some(doing) = doing(&event) {
            self.seat.does(&self.id, doing);
        }
        self.server.events.tell(kind, &event);
    }
}

/// What an event says of what a scenario is doing, in a few words.
fn doing(event: &Value) -> Option<String> {
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let words = match (text("tool"), text("doing")) {
        (Some(tool), _) => {
            let number = event.get("number").and_then(Value::as_u64).unwrap_or(0);
            match text("state") {
                Some("calling") | None => format!("call {number}: {tool}"),
                Some(state) => format!("call {number}: {tool} – {state}"),
            }
        }
        (None, Some(doing)) => doing.to_owned(),
        (None, None) => return None,
    };
    Some(match event.get("attempt").and_then(Value::as_u64) {
        Some(attempt) => format!("attempt {attempt}, {words}"),
        None => words,
    })
}

impl run::Observer for One {
    fn progress(&self, progress: Progress<'_>) {
        let step = |doing: &str| self.tell("step", json!({ "doing": doing }));
        match progress {
            Progress::Preparing { doing } | Progress::Milestone { doing } => step(doing),
            Progress::Still { .. } => {}
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

    fn attempted(&self, number: u16, of: u16, status: Status) {
        self.tell(
            "step",
            json!({ "doing": format!("attempt {number} of {of}"), "status": status }),
        );
    }

    fn judged(&self, _: &Redacted<ScenarioResult>) {}
}
