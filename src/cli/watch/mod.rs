//! `--watch`: runs again what a change concerns, until somebody has seen enough.
//!
//! ```text
//! folders (watcher) ─┐
//! keys (keys)        ├─► Event ─► when it is quiet: which scenarios does it concern (concern)? ─► a round of these
//! signals            │
//! end of a round     ┘
//! ```
//!
//! A change that concerns somebody stops the round that goes on; what that has not finished is run again, too. What the program itself
//! writes concerns nobody.

mod concern;
mod watcher;

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Zoned;

use self::concern::{Concern, Look};
use self::watcher::Watcher;
use crate::cli::args::{Asked, Format, ReportingArgs, SelectArgs, WatchArgs};
use crate::cli::paths::from_here;
use crate::cli::round::Round;
use crate::cli::select::Purpose;
use crate::cli::{Console, Exit, Failure, not_kept, runtime};
use crate::scenario_file;
use crate::suite::ci::known_by;
use crate::text::plural;
use watcher::{Key, Keys};

/// How long nothing may happen before what has happened counts as one change: an editor writes in several steps.
const QUIET: Duration = Duration::from_millis(200);

/// How long a change may go on: who writes without a pause is not waited for.
const LONGEST: Duration = Duration::from_secs(2);

/// The most names that one line has.
const NAMED: usize = 5;

/// What is watched, and for whom.
pub(super) struct Watch<'a> {
    pub(super) select: &'a SelectArgs,
    pub(super) purpose: Purpose<'a>,
    pub(super) args: &'a WatchArgs,
    pub(super) reporting: &'a ReportingArgs,
    /// Where pages go, where the user says so.
    pub(super) output: Option<&'a Path>,
    pub(super) console: Console,
}

/// Something that happens while we watch.
enum Event {
    /// Something happened to files; these, and folders, are gone, or are others now.
    Touched {
        gone: Vec<PathBuf>,
    },
    Key(Key),
    /// A signal asks us to stop.
    Stop,
    /// The round has come to its end.
    Ended(Result<Exit, Failure>),
}

/// What is to be run, and why.
#[derive(Default)]
struct Due {
    /// Scenarios by id; `None` for those that the command line picks.
    ids: Option<BTreeSet<String>>,
    /// What has changed.
    files: BTreeSet<PathBuf>,
    /// The key that asked for it.
    key: Option<&'static str>,
}

/// Runs once, or, where that is asked for, in rounds.
///
/// # Errors
///
/// As the run, or as watching.
pub(super) fn rounds(
    watch: &Watch<'_>,
    run: impl Fn(&Round) -> Result<Exit, Failure> + Sync,
) -> Result<Exit, Failure> {
    if watch.args.watch {
        self::watch(watch, run)
    } else {
        run(&Round::default())
    }
}

/// Runs rounds, all scenarios first and then whatever a change concerns, until a signal or a key ends it.
///
/// # Errors
///
/// When it makes no sense, and when nothing can be watched. A round that fails is reported, and watching goes on.
fn watch(
    watch: &Watch<'_>,
    run: impl Fn(&Round) -> Result<Exit, Failure> + Sync,
) -> Result<Exit, Failure> {
    refuse(watch)?;
    let (send, events) = mpsc::channel();
    // Nobody hears it after the end.
    let tell = move |event| drop(send.send(event));
    // Lives as long as we do: between rounds, signals are handled here alone.
    let signals = runtime::beside(1)?;
    let stop = signals.block_on(async { runtime::interruption() });
    let stopped = tell.clone();
    signals.spawn(async move {
        stop.cancelled().await;
        stopped(Event::Stop);
    });
    let touched = tell.clone();
    let watcher = Watcher::new(move |gone| touched(Event::Touched { gone }))?;
    let mut session = Session::new(watch, watcher)?;
    let typed = tell.clone();
    session.keys = Keys::listen(move |key| typed(Event::Key(key)));
    let ended = thread::scope(|scope| {
        let start = |round: Arc<Round>| {
            let ended = tell.clone();
            let run = &run;
            scope.spawn(move || {
                let ran = panic::catch_unwind(AssertUnwindSafe(|| run(&round)));
                let bug = |_| Err(Failure::incomplete("a bug of mcp-eval has ended this run"));
                ended(Event::Ended(ran.unwrap_or_else(bug)));
            });
        };
        let ended = session.go(&events, start);
        // Where watching itself has failed.
        session.running.iter().for_each(|it| it.stop());
        ended
    });
    signals.shutdown_background();
    ended
}

/// Refuses what nobody can want.
fn refuse(watch: &Watch<'_>) -> Result<(), Failure> {
    let format = watch.reporting.format;
    if format != Format::Terminal {
        let name = format.name();
        let why = format!(
            "`--watch` prints one result after the other, and `--format {name}` is one document"
        );
        let way_out = format!("`--report {name}=FILE` overwrites a file after every run");
        return Err(Failure::usage(why).hint(way_out));
    }
    if let Some(variable) = known_by() {
        let why = format!(
            "{variable} is set in the environment, where nobody can change files or end `--watch`"
        );
        let way_out = format!("leave `--watch` out, or unset {variable}");
        return Err(Failure::usage(why).hint(way_out));
    }
    match watch.args.watch_paths.iter().find(|it| !it.exists()) {
        Some(path) => {
            let why = format!("`--watch-path`: there is no {}", path.display());
            Err(Failure::usage(why))
        }
        None => Ok(()),
    }
}

/// All that is known while we watch.
struct Session<'a> {
    watch: &'a Watch<'a>,
    concern: Concern<'a>,
    watcher: Watcher,
    /// Gives the terminal back when we are done.
    keys: Option<Keys>,
    running: Option<Arc<Round>>,
    due: Option<Due>,
    /// Why nothing can be run before something has changed.
    broken: Option<Failure>,
    /// Since when, and when last, something has happened that nobody has looked at yet.
    touched: Option<(Instant, Instant)>,
    /// What we wait for has been shown.
    rests: bool,
    /// The scenarios that did not pass when they were run last.
    failed: BTreeSet<String>,
    /// Those of them that were not run last.
    failed_before: BTreeSet<String>,
    /// What came of the last round.
    last: Exit,
    quits: bool,
    stopped: bool,
}

impl<'a> Session<'a> {
    fn new(watch: &'a Watch<'a>, watcher: Watcher) -> Result<Self, Failure> {
        let files = watch.reporting.reports.iter();
        let files = files.filter_map(|it| it.file.clone());
        let writes: Vec<PathBuf> = files.chain(watch.output.map(Path::to_owned)).collect();
        let whose = (watch.select, watch.purpose, watch.console);
        let mut session = Self {
            watch,
            concern: Concern::new(whose, &watch.args.watch_paths, &writes),
            watcher,
            keys: None,
            running: None,
            due: None,
            broken: None,
            touched: None,
            rests: false,
            failed: BTreeSet::new(),
            failed_before: BTreeSet::new(),
            last: Exit::Incomplete,
            quits: false,
            stopped: false,
        };
        session.look(false)?;
        session.due = Some(Due::default());
        // Who has mistyped a name would wait for ever.
        let (found, _) = scenario_file::find(&watch.select.all_paths());
        let is_nothing = |it: &mut Failure| found.is_empty() || it.exit != Exit::Usage;
        match session.broken.take_if(is_nothing) {
            Some(failure) => Err(failure),
            None => Ok(session),
        }
    }

    /// Has rounds started, one after the other, until there is an end.
    fn go(
        &mut self,
        events: &Receiver<Event>,
        start: impl Fn(Arc<Round>),
    ) -> Result<Exit, Failure> {
        loop {
            if self.running.is_none() {
                if self.stopped {
                    return Ok(Exit::Interrupted);
                }
                if self.quits {
                    return Ok(self.last);
                }
                if let Some(due) = self.due.take_if(|_| self.broken.is_none()) {
                    self.head(&due);
                    let round = Arc::new(Round::new(due.ids));
                    start(Arc::clone(&round));
                    self.running = Some(round);
                } else if !self.rests {
                    self.rest();
                }
            }
            match self.next(events) {
                None => self.look(self.running.is_some())?,
                Some(Event::Touched { gone }) => {
                    self.watcher.forget(&gone);
                    let now = Instant::now();
                    let first = self.touched.map_or(now, |(first, _)| first);
                    self.touched = Some((first, now));
                }
                Some(Event::Key(key)) => self.key(key),
                Some(Event::Stop) => {
                    self.stopped = true;
                    self.stop();
                }
                Some(Event::Ended(ran)) => {
                    if let Some(round) = self.running.take() {
                        self.end(&round, ran)?;
                    }
                }
            }
        }
    }

    /// What happens next; `None` where something has happened to files and it is quiet since.
    fn next(&mut self, events: &Receiver<Event>) -> Option<Event> {
        let event = match self.touched {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some((first, last)) => {
                let until = (last + QUIET).min(first + LONGEST);
                events.recv_timeout(until.saturating_duration_since(Instant::now()))
            }
        };
        match event {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => {
                self.touched = None;
                None
            }
            // Cannot be: our caller can still send.
            Err(RecvTimeoutError::Disconnected) => Some(Event::Stop),
        }
    }

    fn key(&mut self, key: Key) {
        match key {
            Key::RunAll => {
                // Perhaps it was mended where nobody looks.
                self.broken = None;
                self.owe(self.concern.all(), BTreeSet::new(), Some("Enter"));
            }
            Key::RunFailed if self.failed.is_empty() => self.note("Nothing has failed"),
            Key::RunFailed => self.owe(self.failed.clone(), BTreeSet::new(), Some("f")),
            Key::Quit => {
                self.quits = true;
                self.stop();
            }
        }
    }

    /// Looks at the files; `during` a round, or right after it.
    fn look(&mut self, during: bool) -> Result<(), Failure> {
        match self.concern.look(&mut self.watcher, during)? {
            Look::Nothing => {}
            Look::Broken(failure) => {
                self.broken = Some(failure);
                self.rests = false;
            }
            Look::Changed { ids, files, gone } => {
                if self.broken.take().is_some() {
                    self.rests = false;
                }
                for id in gone {
                    self.note(&format!("{id} is no longer there"));
                    self.failed.remove(&id);
                }
                if !ids.is_empty() {
                    self.owe(ids, files, None);
                }
            }
        }
        Ok(())
    }

    /// Has scenarios run as soon as that can be: what runs by now is stopped.
    fn owe(&mut self, ids: BTreeSet<String>, files: BTreeSet<PathBuf>, key: Option<&'static str>) {
        let due = self.due.get_or_insert_with(|| Due {
            ids: Some(BTreeSet::new()),
            ..Due::default()
        });
        if let Some(all) = &mut due.ids {
            all.extend(ids);
        }
        due.files.extend(files);
        due.key = due.key.or(key);
        self.stop();
    }

    /// Has what a round was about run again, besides what has changed meanwhile.
    fn owe_again(&mut self, round: &Round) {
        let ids = match round.only() {
            Some(ids) => ids.clone(),
            None if self.due.is_none() => {
                self.due = Some(Due::default());
                return;
            }
            None => self.concern.all(),
        };
        self.owe(ids, BTreeSet::new(), None);
    }

    fn stop(&self) {
        self.running.iter().for_each(|it| it.stop());
    }

    /// Takes over what came of a round.
    fn end(&mut self, round: &Round, ran: Result<Exit, Failure>) -> Result<(), Failure> {
        self.rests = false;
        self.look(true)?;
        for file in self.concern.end_round() {
            self.note(&format!(
                "{} changes with every run, and is not looked at any more while one goes on",
                shown(&file)
            ));
        }
        let outcome = round.outcome();
        let has_begun = outcome.is_some();
        if let Some(outcome) = outcome {
            self.failed.retain(|it| !outcome.passed.contains(it));
            self.failed_before = self.failed.difference(&outcome.failed).cloned().collect();
            self.failed.extend(outcome.failed);
            if !outcome.unfinished.is_empty() {
                self.owe(outcome.unfinished, BTreeSet::new(), None);
            }
        }
        self.last = match ran {
            Ok(exit) => exit,
            Err(failure) => {
                let exit = failure.exit;
                if has_begun {
                    self.watch.console.failure(&failure);
                } else {
                    // What has changed meanwhile may have mended it.
                    let may_be_mended = self.due.is_some();
                    self.owe_again(round);
                    if may_be_mended {
                        self.watch.console.failure(&failure);
                    } else {
                        self.broken = Some(failure);
                    }
                }
                exit
            }
        };
        Ok(())
    }

    /// The line that a round begins with: when, why, and how much is run.
    fn head(&mut self, due: &Due) {
        Console::clear();
        self.rests = false;
        let all = self.concern.all().len();
        let select = self.watch.select;
        let much = match &due.ids {
            Some(ids) if ids.len() < all => format!("{} of {}", ids.len(), plural(all, "scenario")),
            None if select.last_failed || select.changed.is_some() => {
                format!("some of {}", plural(all, "scenario"))
            }
            _ => plural(all, "scenario"),
        };
        let mut words = vec![Zoned::now().strftime("%H:%M:%S").to_string()];
        words.extend(due.key.map(str::to_owned));
        if !due.files.is_empty() {
            let files = due.files.iter().map(|it| shown(it));
            words.push(format!("{} changed", listed(&files.collect::<Vec<_>>())));
        }
        words.push(much);
        self.note(&words.join(" · "));
    }

    /// Tells what is broken, what we wait for, and what can be done.
    fn rest(&mut self) {
        self.rests = true;
        if let Some(failure) = &self.broken {
            self.last = failure.exit;
            Console::clear();
            self.watch.console.failure(failure);
            let asked = Asked {
                reporting: self.watch.reporting.clone(),
                no_report: false,
                output: self.watch.output.map(Path::to_owned),
            };
            let command = self.watch.purpose.command.unwrap_or("compare");
            not_kept::tell_files(command, &asked, failure, self.watch.console);
        } else if !self.failed_before.is_empty() {
            let names: Vec<String> = self.failed_before.iter().cloned().collect();
            self.note(&format!(
                "Not passed, and not run again: {}",
                listed(&names)
            ));
        }
        let paths = self.watch.select.all_paths();
        let baselines = self.watch.purpose.baselines.into_iter();
        let paths = paths.iter().map(PathBuf::as_path).chain(baselines);
        let mut names: Vec<String> = Vec::new();
        for path in paths.chain(self.concern.sources()) {
            let name = shown(path);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let keys = if self.keys.is_some() {
            "Enter runs all, f those that failed, q quits"
        } else {
            "Ctrl-C ends it"
        };
        self.note(&format!("Watching {}: {keys}", listed(&names)));
    }

    fn note(&self, text: &str) {
        self.watch.console.note(text);
    }
}

fn shown(path: &Path) -> String {
    from_here(path).display().to_string()
}

/// Names as people list them, the first of many.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut names: Vec<String> = names.iter().take(NAMED).cloned().collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
