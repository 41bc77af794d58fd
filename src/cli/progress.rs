//! What is going on, while it goes on: a bar on a terminal, lines elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

use crate::cli::args::OutputArgs;
use crate::cli::console::Console;
use crate::model::scenario::{Agent, Scenario};
use crate::model::suite::{ScenarioResult, Status};
use crate::model::trajectory::Outcome;
use crate::report::duration;
use crate::run::{Observer, Progress};
use crate::suite::{self, ScenarioObserver};
use crate::text;

/// Without a terminal, a suite says nothing before it has taken this long: its result is there in a moment.
const SILENCE: Duration = Duration::from_secs(2);

/// How often a line is printed about a wait that goes on.
const REMINDER: Duration = Duration::from_secs(5);

/// Progress of a suite.
pub(super) struct SuiteProgress {
    bar: ProgressBar,
    console: Console,
    verbose: bool,
    silent: bool,
    started: Instant,
    /// When a line about an attempt was last printed.
    last_note: Mutex<Instant>,
    finished: Mutex<usize>,
    total: usize,
}

/// Shows the progress of a suite.
pub(super) struct SuiteObserver(pub(super) Arc<SuiteProgress>);

impl suite::Observer for SuiteObserver {
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        Arc::new(ScenarioProgress::new(&self.0, scenario))
    }

    fn finished(&self, result: &ScenarioResult) {
        self.0.finished(result);
    }

    fn ended(&self) {
        self.0.bar.finish_and_clear();
    }
}

/// Progress of one scenario of it.
pub(super) struct ScenarioProgress {
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
    pub(super) fn new(suite: &Arc<SuiteProgress>, scenario: &Scenario) -> Self {
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
        self.suite
            .bar
            .set_message(format!("{}: {timed}", self.name));
        let mut last = self.doing.lock();
        let is_news = *last != what;
        let takes_long = elapsed >= SILENCE && !self.suite.silent;
        let mut waited = self.waited.lock();
        let is_due = waited.is_none_or(|it| it.elapsed() >= REMINDER);
        if (is_news && self.suite.verbose) || (takes_long && is_due) {
            *last = what;
            *waited = Some(Instant::now());
            self.suite.note(&format!("{}: {timed}", self.name));
        }
    }

    /// On a terminal the bar says it; elsewhere a line does, when asked for more or when it takes so long that one may wonder.
    fn preparing(&self, doing: &str) {
        let doing = text::line(doing);
        self.suite
            .bar
            .set_message(format!("{}: {doing}", self.name));
        let mut last = self.doing.lock();
        if *last == doing {
            return;
        }
        let takes_long = doing.starts_with("building") && last.is_empty();
        doing.as_ref().clone_into(&mut last);
        if self.suite.verbose || (takes_long && !self.suite.silent) {
            self.suite.note(&format!("{}: {doing}", self.name));
        }
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
}

impl SuiteProgress {
    pub(super) fn new(total: usize, output: OutputArgs, console: Console) -> Self {
        let draws = console.can_draw() && !output.no_progress;
        let target = if draws {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        if draws {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self {
            bar,
            console,
            verbose: output.verbose,
            silent: draws || output.no_progress,
            started: Instant::now(),
            last_note: Mutex::new(Instant::now()),
            finished: Mutex::new(0),
            total,
        }
    }

    /// One scenario is done.
    fn finished(&self, result: &ScenarioResult) {
        self.bar.inc(1);
        let number = {
            let mut finished = self.finished.lock();
            *finished += 1;
            *finished
        };
        if self.writes_notes() {
            let name = text::line(&result.name);
            // Without a list, the number shows that not everything is as it was; the report has the list.
            let differing = match (&result.comparison, result.status) {
                (Some(it), Status::Passed | Status::Recorded) if !it.changes.is_empty() => {
                    format!(", {} differing", it.changes.len())
                }
                _ => String::new(),
            };
            self.console.note(&format!(
                "[{number}/{}] {name}: {}{differing}",
                self.total,
                result.status.name()
            ));
        }
    }

    /// Whether progress is printed in lines.
    fn writes_notes(&self) -> bool {
        !self.silent && (self.verbose || self.started.elapsed() > SILENCE)
    }

    /// The same for attempts, of which there may be many: a line now and then is enough, unless more was asked for.
    fn is_time_for_note(&self) -> bool {
        let mut last_note = self.last_note.lock();
        let writes_notes = self.writes_notes() && (self.verbose || last_note.elapsed() > SILENCE);
        if writes_notes {
            *last_note = Instant::now();
        }
        writes_notes
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| self.console.note(text));
    }
}

impl Observer for ScenarioProgress {
    fn progress(&self, progress: Progress<'_>) {
        let name = &self.name;
        match progress {
            Progress::Preparing { doing } => self.preparing(doing),
            Progress::Waiting { what, elapsed } => self.waiting(what, elapsed),
            Progress::Connecting => self
                .suite
                .bar
                .set_message(format!("{name}: starting servers")),
            Progress::Asking { number } => {
                self.suite
                    .bar
                    .set_message(format!("{name}: request {number} to the model"));
            }
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
                if self.suite.verbose {
                    self.suite.note(&again);
                }
                self.suite.bar.set_message(again);
            }
            Progress::Calling { number, tool } => {
                self.suite.bar.set_message(format!(
                    "{name}: call {} {}",
                    self.number(number),
                    text::line(tool)
                ));
            }
            Progress::Called {
                number,
                tool,
                outcome,
                duration_ms,
            } if self.suite.verbose => {
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
