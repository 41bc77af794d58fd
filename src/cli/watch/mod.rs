//! `--watch`: runs again what a change concerns, until somebody has seen enough.
//!
//! ```text
//! files (watched) ─┐
//! keys (keys)      ├─► Event ─► batch, when it has gone quiet ─► concern: which scenarios? ─► run them
//! signals          ┘
//! ```
//!
//! A run that has begun goes on to its end, so that no server is left half started; what changed meanwhile is run right after it. What
//! the program itself writes concerns nothing.

mod concern;
mod keys;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use jiff::Zoned;

use self::concern::Concern;
use self::keys::Keys;
use self::watched::Watched;
use crate::cli::args::{SelectArgs, WatchArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::select::{self, Purpose, plural};

/// How long nothing may happen before what has happened counts as one change: an editor writes in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// How long a change may go on: who writes without a pause is not waited for.
const LONGEST: Duration = Duration::from_secs(2);

/// How many runs in a row a file may change in before it is taken for something that the runs themselves write.
const MOST_WRITTEN: u32 = 3;

/// The most files that one line names.
const NAMED: usize = 3;

/// Something that happens while we watch.
enum Event {
    /// Files, or folders, that may have changed.
    Changed(Vec<PathBuf>),
    /// So much has changed that nobody knows what.
    Lost,
    RunAll,
    Quit,
    /// A signal asks us to stop.
    Stop,
}

/// What is watched, and for whom.
pub(super) struct Watch<'a> {
    pub(super) select: &'a SelectArgs,
    pub(super) purpose: Purpose<'a>,
    pub(super) watch: &'a WatchArgs,
    /// Files and folders that the command writes by itself.
    pub(super) writes: Vec<PathBuf>,
    pub(super) console: Console,
}

/// What has happened since it was last looked.
#[derive(Default)]
struct Happened {
    files: BTreeSet<PathBuf>,
    all: bool,
    quit: bool,
    stop: bool,
}

/// Runs all, and then whatever a change concerns, until a signal or a key ends it. `run` runs these of the selected scenarios, or all.
///
/// # Errors
///
/// When nothing can be watched. A run that fails is told, and watching goes on.
pub(super) fn watch(
    watch: &Watch<'_>,
    run: impl Fn(Option<&BTreeSet<String>>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let (send, events) = mpsc::channel();
    // Lives as long as we do: between runs, signals are handled here alone.
    let signals = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let stopped = signals.block_on(async { interrupt::token() });
    signals.spawn({
        let (stopped, send) = (stopped.clone(), send.clone());
        async move {
            stopped.cancelled().await;
            let _ = send.send(Event::Stop);
        }
    });
    let is_running = Arc::new(AtomicBool::new(false));
    let keys = Keys::listen(send.clone(), Arc::clone(&is_running));
    let mut session = Session {
        concern: Concern::new(watch.select, watch.purpose, &watch.watch.paths, &watch.writes)?,
        watched: watched(send)?,
        written: BTreeMap::new(),
        is_running,
        has_keys: keys.is_some(),
        watch,
        last: Exit::Passed,
    };
    session.look()?;
    let ended = session.run_until_end(&events, run);
    drop(keys);
    signals.shutdown_background();
    ended
}

fn watched(send: Sender<Event>) -> Result<Watched, Failure> {
    Watched::new(move |happened| {
        let _ = send.send(match happened {
            Some(files) => Event::Changed(files),
            None => Event::Lost,
        });
    })
}

struct Session<'a> {
    watch: &'a Watch<'a>,
    concern: Concern<'a>,
    watched: Watched,
    /// In how many runs in a row a file has changed.
    written: BTreeMap<PathBuf, u32>,
    is_running: Arc<AtomicBool>,
    has_keys: bool,
    /// What came of the last run.
    last: Exit,
}

impl Session<'_> {
    fn run_until_end(
        &mut self,
        events: &Receiver<Event>,
        run: impl Fn(Option<&BTreeSet<String>>) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let mut next = Some((None, "all scenarios run".to_owned()));
        loop {
            let during_run = if let Some((ids, why)) = next.take() {
                self.begin(&why);
                self.is_running.store(true, Ordering::SeqCst);
                let ran = run(ids.as_ref());
                self.is_running.store(false, Ordering::SeqCst);
                self.end(ran);
                true
            } else {
                false
            };
            // After a run, only what has happened meanwhile; else, whatever comes.
            let happened = gather(events, !during_run);
            if happened.quit {
                return Ok(self.last);
            }
            if happened.stop || self.last == Exit::Interrupted {
                return Ok(Exit::Interrupted);
            }
            next = self.decide(happened, during_run)?;
        }
    }

    /// What is to be run next, and why; `None` where nothing is concerned.
    fn decide(
        &mut self,
        mut happened: Happened,
        during_run: bool,
    ) -> Result<Option<(Option<BTreeSet<String>>, String)>, Failure> {
        let appeared = self.watched.follow(&happened.files);
        happened.files.extend(appeared);
        if during_run {
            self.leave_out_what_runs_write(&mut happened.files);
        }
        if happened.all {
            self.look()?;
            return Ok(Some((None, "all scenarios run".to_owned())));
        }
        let files = self.watched.counting(happened.files, |it| self.concern.names(it));
        if files.is_empty() {
            return Ok(None);
        }
        let concerned = self.concern.of(&files);
        self.look()?;
        match concerned {
            concern::Concerned::Nothing => Ok(None),
            concern::Concerned::Broken(failure) => {
                self.begin(&named(&files));
                self.watch.console.failure(&failure);
                self.say_that_it_goes_on();
                Ok(None)
            }
            concern::Concerned::Scenarios { ids, files, of } => {
                let which = if ids.len() == of {
                    "all scenarios run".to_owned()
                } else {
                    let verb = if ids.len() == 1 { "runs" } else { "run" };
                    format!("{} of {} {verb}", ids.len(), plural(of, "scenario"))
                };
                let why = format!("{}: {which}", named(&files));
                Ok(Some((Some(ids), why)))
            }
        }
    }

    /// Watches all that the scenarios depend on by now.
    fn look(&mut self) -> Result<(), Failure> {
        self.concern.watch(&mut self.watched)
    }

    /// A file that changes in every run is written by what is run: it would run for ever.
    fn leave_out_what_runs_write(&mut self, files: &mut BTreeSet<PathBuf>) {
        self.written.retain(|it, times| files.contains(it) || *times >= MOST_WRITTEN);
        for file in files.iter() {
            let times = self.written.entry(file.clone()).or_default();
            *times += 1;
            if *times == MOST_WRITTEN {
                self.watch.console.note(&format!(
                    "{} changes with every run, and is left out from now on",
                    select::from_here(file).display()
                ));
            }
        }
        files.retain(|it| self.written.get(it).is_none_or(|times| *times < MOST_WRITTEN));
    }

    fn begin(&self, why: &str) {
        self.watch.console.clear();
        let time = Zoned::now().strftime("%H:%M:%S").to_string();
        self.watch.console.note(&format!("{time} {why}"));
    }

    fn end(&mut self, ran: Result<Exit, Failure>) {
        self.last = match ran {
            Ok(exit) => exit,
            Err(failure) => {
                self.watch.console.failure(&failure);
                failure.exit
            }
        };
        if self.last != Exit::Interrupted {
            self.say_that_it_goes_on();
        }
    }

    fn say_that_it_goes_on(&self) {
        self.watch.console.note(if self.has_keys {
            "Watching for changes: Enter runs all, q quits"
        } else {
            "Watching for changes: Ctrl-C ends it"
        });
    }
}

/// Gathers what happens until it has gone quiet; where nobody waits, what has happened already.
fn gather(events: &Receiver<Event>, waits: bool) -> Happened {
    let mut happened = Happened::default();
    let mut take = |event| match event {
        Event::Changed(files) => happened.files.extend(files),
        Event::Lost | Event::RunAll => happened.all = true,
        Event::Quit => happened.quit = true,
        Event::Stop => happened.stop = true,
    };
    if waits {
        match events.recv() {
            Ok(event) => take(event),
            // Cannot be: we hold a sender ourselves.
            Err(_) => take(Event::Stop),
        }
    }
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        match events.recv_timeout(QUIET) {
            Ok(event) => take(event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    happened
}

/// What has changed, as people read it.
fn named(files: &BTreeSet<PathBuf>) -> String {
    let names = files.iter().take(NAMED);
    let mut names: Vec<String> = names.map(|it| shown(it)).collect();
    if files.len() > NAMED {
        names.push(format!("{} more", files.len() - NAMED));
    }
    let all = match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    };
    format!("{all} changed")
}

fn shown(path: &Path) -> String {
    select::from_here(path).display().to_string()
}
