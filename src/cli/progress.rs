//! Progress, while it goes on: a bar on a terminal, lines elsewhere, and each failure as it happens.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use crate::cli::console::Console;
use crate::model::{Outcome, Redacted, ScenarioResult, Status};
use crate::published::result;
use crate::report::{document, duration, terminal};
use crate::run::{Observer, Progress};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::suite as scenarios;
use crate::suite::ScenarioObserver;
use crate::text::{self, counts, few};

/// Shows the progress of a suite.
pub(super) struct SuiteObserver(pub(super) Arc<SuiteProgress>);

impl scenarios::Observer for SuiteObserver {
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        self.0.begins(scenario);
        Arc::new(ScenarioProgress::new(&self.0, scenario))
    }

    fn finished(&self, result: &Redacted<ScenarioResult>) {
        self.0.finished(result);
    }

    fn ended(&self) {
        self.0.ended();
    }
}

/// How often a line is printed about a wait that goes on.
const REMINDER: Duration = Duration::from_secs(5);

/// Progress of one scenario.
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

/// Without a terminal, a suite says nothing before it has taken this long: its result is there in a moment.
const SILENCE: Duration = Duration::from_secs(2);

/// How often a log shows how far a suite is; later on, after a tenth of the time it has taken, so that a night of work is no wall of lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// A narrower terminal has no room for a bar.
const ROOM_FOR_BAR: u16 = 72;

/// How many of the running scenarios a line names.
const NAMED: usize = 3;

/// Progress of a suite.
pub(super) struct SuiteProgress {
    bar: ProgressBar,
    console: Console,
    /// The command that runs it, as results name it.
    command: &'static str,
    /// A bar is drawn, or nothing is to be said.
    silent: bool,
    started: Instant,
    /// When a line about an attempt was last printed.
    last_note: Mutex<Instant>,
    tally: Mutex<Tally>,
    total: usize,
}

/// What became of the scenarios so far.
#[derive(Debug, Default)]
struct Tally {
    /// The names of those that run, by id.
    running: BTreeMap<String, String>,
    /// Those whose failure was reported, by id.
    reported: HashSet<String>,
    finished: usize,
    passed: usize,
    recorded: usize,
    /// Passed or recorded, with changes.
    changed: usize,
    skipped: usize,
    failed: usize,
    /// Could not be run or judged.
    without_verdict: usize,
}

impl Tally {
    /// `1 failed, 11 passed, 2 with changes`.
    fn words(&self) -> String {
        let counts = counts(&[
            (self.failed, "failed"),
            (self.without_verdict, "without a verdict"),
            (self.passed, "passed"),
            (self.recorded, "recorded"),
            (self.changed, "with changes"),
            (self.skipped, "skipped"),
        ]);
        counts.join(", ")
    }

    /// The same for the bar, which has little room.
    fn short_words(&self) -> String {
        let counts = counts(&[
            (self.failed, "failed"),
            (self.without_verdict, "error"),
            (self.changed, "changed"),
        ]);
        let counts = counts.iter().map(|it| format!("{it} "));
        counts.collect()
    }

    /// `running: Search, Add a server and 2 more`; empty where nothing runs.
    fn running_words(&self) -> String {
        if self.running.is_empty() {
            return String::new();
        }
        format!("; running: {}", few(self.running.values(), NAMED))
    }
}

impl SuiteProgress {
    /// Within a runtime. `command` is the one that results name.
    pub(super) fn new((command, total): (&'static str, usize), console: Console) -> Arc<Self> {
        let draws = console.draws_progress();
        let bar = console.bar(Some(total));
        let template = if Console::stderr_width() < ROOM_FOR_BAR {
            "{pos}/{len} {prefix}{elapsed} {wide_msg}"
        } else {
            "{bar:24} {pos}/{len} {prefix}{elapsed} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if draws {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        let progress = Arc::new(Self {
            bar,
            console,
            command,
            silent: draws || console.no_progress(),
            started: Instant::now(),
            last_note: Mutex::new(Instant::now()),
            tally: Mutex::default(),
            total,
        });
        if !progress.silent && !console.is_quiet() {
            tokio::spawn(tell_now_and_then(Arc::downgrade(&progress)));
        }
        progress
    }

    fn begins(&self, scenario: &Scenario) {
        let name = text::line(&scenario.name).into_owned();
        let mut tally = self.tally.lock();
        tally.running.insert(scenario.id.clone(), name);
    }

    /// What came of a scenario is known, but it is run once more, which may take long.
    fn judged(&self, result: &Redacted<ScenarioResult>) {
        // The result reports what comes right away.
        if self.total > 1 || self.started.elapsed() > SILENCE {
            self.tell(&document::of_scenario(result, self.command));
        }
    }

    /// Tells a failure, once.
    fn tell(&self, scenario: &result::Scenario) {
        if self.console.no_progress() || !self.tally.lock().reported.insert(scenario.id.clone()) {
            return;
        }
        let style = self.console.style_of_progress();
        let failure = terminal::failure(scenario, self.command, style);
        self.bar.suspend(|| self.console.report(&failure));
    }

    /// One scenario is done: a failure is reported at once.
    fn finished(&self, result: &Redacted<ScenarioResult>) {
        let scenario = document::of_scenario(result, self.command);
        let number = {
            let mut tally = self.tally.lock();
            tally.running.remove(&scenario.id);
            tally.finished += 1;
            match scenario.status {
                Status::Passed | Status::Recorded if scenario.is_changed() => tally.changed += 1,
                Status::Passed => tally.passed += 1,
                Status::Recorded => tally.recorded += 1,
                Status::Skipped => tally.skipped += 1,
                Status::Failed => tally.failed += 1,
                _ => tally.without_verdict += 1,
            }
            self.bar.set_prefix(tally.short_words());
            tally.finished
        };
        self.bar.inc(1);
        let has_failed = !scenario.status.is_fine() && scenario.status != Status::Skipped;
        // The only one of its suite is reported by the result, which comes right away.
        if has_failed && self.total > 1 {
            self.tell(&scenario);
        } else if self.is_verbose() && !self.silent {
            let status = scenario.status_words(self.command);
            let time = scenario.duration_ms.map(duration::words);
            let time = time.map_or_else(String::new, |it| format!(" ({it})"));
            let name = text::line(&scenario.name);
            let line = format!("[{number}/{}] {name}: {status}{time}", self.total);
            self.console.note(&line);
        }
    }

    fn ended(&self) {
        self.bar.finish_and_clear();
    }

    fn is_verbose(&self) -> bool {
        self.console.is_verbose()
    }

    fn is_silent(&self) -> bool {
        self.silent
    }

    /// Shows in the bar what is going on.
    fn shows(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Whether a line about an attempt, of which there may be many, is to be printed: now and then, unless more was asked for.
    fn is_time_for_note(&self) -> bool {
        let mut last_note = self.last_note.lock();
        let is_due = self.started.elapsed() > SILENCE && last_note.elapsed() > SILENCE;
        let writes_notes = !self.silent && (self.is_verbose() || is_due);
        if writes_notes {
            *last_note = Instant::now();
        }
        writes_notes
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| self.console.note(text));
    }

    /// `[12/300] 40 s: 1 failed, 11 passed; running: Search`.
    fn state(&self) -> String {
        let tally = self.tally.lock();
        let seconds = self.started.elapsed().as_secs();
        #[expect(clippy::cast_precision_loss, reason = "no suite runs for that long")]
        let time = match seconds {
            0..60 => format!("{seconds} s"),
            _ => duration::words(seconds as f64 * 1000.0),
        };
        let (counts, running) = (tally.words(), tally.running_words());
        let counts = if counts.is_empty() {
            "nothing has finished yet".to_owned()
        } else {
            counts
        };
        let finished = tally.finished;
        format!("[{finished}/{}] {time}: {counts}{running}", self.total)
    }
}

/// Tells a log how far a suite is, for as long as it runs.
async fn tell_now_and_then(progress: Weak<SuiteProgress>) {
    loop {
        let Some(taken) = progress.upgrade().map(|it| it.started.elapsed()) else {
            return;
        };
        tokio::time::sleep(INTERVAL.max(taken / 10)).await;
        match progress.upgrade() {
            Some(it) if !it.bar.is_finished() => it.note(&it.state()),
            _ => return,
        }
    }
}
