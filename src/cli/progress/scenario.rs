//! The activity of a scenario: shown in the bar, and in lines where it takes long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::suite::{SILENCE, SuiteProgress};
use crate::model::redacted::Redacted;
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::Outcome;
use crate::report::duration;
use crate::run::{Observer, Progress};
use crate::suite::ScenarioObserver;
use crate::text;

/// How often a line is printed about a wait that goes on.
const REMINDER: Duration = Duration::from_secs(5);

/// Progress of one scenario.
pub(in crate::cli) struct ScenarioProgress {
    suite: Arc<SuiteProgress>,
    name: String,
    /// How many calls the agent will make, where that is known.
    calls: Option<usize>,
    /// What was last said of what is prepared.
    doing: Mutex<String>,
    /// When a line about a wait was last printed.
    waited: Mutex<Option<Instant>>,
}

impl ScenarioProgress {
    pub(in crate::cli) fn new(suite: &Arc<SuiteProgress>, scenario: &Scenario) -> Self {
        Self {
            suite: Arc::clone(suite),
            name: text::line(&scenario.name).into_owned(),
            calls: match &scenario.agent {
                Agent::Scripted { calls } => Some(calls.len()),
                // A poll may be asked more often than it was recorded, and the others do as they like.
                Agent::Replay { .. } | Agent::Model { .. } | Agent::Command { .. } => None,
            },
            doing: Mutex::default(),
            waited: Mutex::default(),
        }
    }

    /// A call's number, and of how many where that is known.
    fn number(&self, number: usize) -> String {
        match self.calls.filter(|it| number <= *it) {
            Some(calls) => format!("{number}/{calls}"),
            None => number.to_string(),
        }
    }

    /// On a terminal the bar says it, with the time; elsewhere a line does, when asked for more or, now and then, when it takes so long
    /// that one may wonder.
    fn waiting(&self, what: &str, elapsed: Duration) {
        let what = format!("waiting for {}", text::line(what));
        let seconds = elapsed.as_secs();
        let timed = match seconds {
            0 => what.clone(),
            seconds => format!("{what} ({seconds} s)"),
        };
        self.suite.shows(format!("{}: {timed}", self.name));
        let mut last = self.doing.lock();
        let is_news = *last != what;
        let takes_long = elapsed >= SILENCE && !self.suite.is_silent();
        let mut waited = self.waited.lock();
        let is_due = waited.is_none_or(|it| it.elapsed() >= REMINDER);
        if (is_news && self.suite.is_verbose()) || (takes_long && is_due) {
            *last = what;
            *waited = Some(Instant::now());
            self.suite.note(&format!("{}: {timed}", self.name));
        }
    }

    /// On a terminal the bar says it; elsewhere a line does, of a milestone always, else when asked for more.
    fn preparing(&self, doing: &str, is_milestone: bool) {
        let line = format!("{}: {}", self.name, text::line(doing));
        let is_shown = self.suite.is_verbose() || (is_milestone && !self.suite.is_silent());
        let mut last = self.doing.lock();
        if is_shown && *last != line {
            self.suite.note(&line);
        }
        last.clone_from(&line);
        self.suite.shows(line);
    }
}

impl ScenarioObserver for ScenarioProgress {
    fn attempt(&self, number: u16, of: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self {
            suite: Arc::clone(&self.suite),
            name: format!("{} (attempt {number} of {of})", self.name),
            calls: self.calls,
            doing: Mutex::default(),
            waited: Mutex::default(),
        })
    }

    fn attempted(&self, number: u16, of: u16, status: Status) {
        if self.suite.is_time_for_note() {
            let (name, status) = (&self.name, status.name());
            let done = format!("{name}: attempt {number} of {of}: {status}");
            self.suite.note(&done);
        }
    }

    fn judged(&self, result: &Redacted<ScenarioResult>) {
        self.suite.judged(result);
    }
}

impl Observer for ScenarioProgress {
    fn progress(&self, progress: Progress<'_>) {
        let name = &self.name;
        let shows = |doing: String| self.suite.shows(format!("{name}: {doing}"));
        match progress {
            Progress::Preparing { doing } => self.preparing(doing, false),
            Progress::Waiting { what, elapsed } => self.waiting(what, elapsed),
            Progress::Milestone { doing } => self.preparing(doing, true),
            Progress::Still { doing } => shows(text::line(doing).into_owned()),
            Progress::Connecting => shows("starting servers".to_owned()),
            Progress::Asking { number } => shows(format!("request {number} to the model")),
            Progress::AskingAgain {
                number,
                pause,
                status,
                problem: _,
            } => {
                // What the API said may hold secrets.
                let why = status.map_or("no answer".to_owned(), |it| format!("HTTP {it}"));
                let mut again = format!("{name}: request {number} to the model: {why}, again");
                if !pause.is_zero() {
                    again += " in ";
                    again += &duration::words(pause.as_secs_f64() * 1000.0);
                }
                if self.suite.is_verbose() {
                    self.suite.note(&again);
                }
                self.suite.shows(again);
            }
            Progress::Calling { number, tool } => {
                let number = self.number(number);
                shows(format!("call {number} {}", text::line(tool)));
            }
            Progress::Called {
                number,
                tool,
                outcome,
                duration_ms,
            } if self.suite.is_verbose() => {
                let tool = text::line(tool);
                // What was said may hold secrets, and is stored without them; here the kind of outcome is enough.
                let how = match outcome {
                    Outcome::Answer(answer) if answer.is_error => "tool error",
                    Outcome::Answer(_) => "ok",
                    Outcome::Failure(failure) => failure.kind.words(),
                };
                self.suite.note(&format!(
                    "{name}: call {} {tool}: {how} ({})",
                    self.number(number),
                    duration::words(duration_ms)
                ));
            }
            Progress::Called { .. } => {}
        }
    }
}
