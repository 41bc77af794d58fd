//! The thread that has the connection: what is handed to it is written in order, and what is asked is answered in between.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use super::connection::{Connection, DatabaseError, Fault, transaction};
use super::finished::{FinishedScenario, Ready};
use super::head::Identity;
use super::head::{RunHead, RunState, result_id};
use super::place::{DEFAULT, Options, Place};
use super::postgres::Postgres;
use super::prune::settle;
use super::rebuild::{Beside, rebuild};
use super::results;
use super::schema::{VERSION, damage, fits, has_columns, migrate};
use super::sqlite::Sqlite;
use super::write;
use crate::model::Redacted;
use crate::text::{plural, several};

/// How long nothing is tried again after it has gone wrong, at first; twice as long each time after that.
const PAUSE: Duration = Duration::from_millis(500);

/// The same where it has not answered: most commands do not last so long, and have waited for it once.
const SILENCE: Duration = Duration::from_secs(60);

/// How many runs are remembered that have ended: more than end while somebody puts another file in the place of the one they were written to.
const REMEMBERED: usize = 16;

/// What the thread is to do.
pub(super) type Task = Box<dyn FnOnce(&mut Worker) + Send>;

/// What is written of a run.
enum Entry {
    Head(Redacted<RunHead>),
    Result(Box<Ready>),
}

/// A run that is being written, or was not long ago.
struct Journal {
    run: String,
    /// When it began, as the database has it.
    began: String,
    has_ended: bool,
    entries: Vec<Entry>,
    /// How many of the entries are in the database.
    written: usize,
    /// What no file of the run holds, and the run's folder, once a result names it.
    beside: Beside,
    folder: Option<PathBuf>,
}

/// What the thread knows.
pub(super) struct Worker {
    place: Place,
    options: Options,
    identity: Identity,
    connection: Option<Box<dyn Connection>>,
    /// Of each run, all that is to be in the database, in case that another file takes its place.
    journals: VecDeque<Journal>,
    /// Until when nothing is tried, and how long it is the next time.
    pause: Option<(Instant, Duration)>,
    /// Until when it counts as silent, and why.
    silent: Option<(Instant, String)>,
    /// Runs that were killed have been closed.
    has_closed_killed: bool,
    /// What went wrong last.
    problem: Option<String>,
    /// That something could not be written has been reported.
    is_reported: bool,
    /// What there is to tell.
    notes: Vec<String>,
}

impl Worker {
    pub(super) fn new(place: Place, options: Options) -> Self {
        let identity = if options.anonymous {
            Identity::default()
        } else {
            Identity::own()
        };
        Self {
            place,
            options,
            identity,
            connection: None,
            journals: VecDeque::new(),
            pause: None,
            silent: None,
            has_closed_killed: false,
            problem: None,
            is_reported: false,
            notes: Vec::new(),
        }
    }

    /// Does what comes, until nobody is left to hand anything over.
    pub(super) fn work(mut self, tasks: &Receiver<Task>) {
        while let Ok(task) = tasks.recv() {
            task(&mut self);
        }
    }

    /// Writes what is known of a run as a whole.
    pub(super) fn head(&mut self, mut head: Redacted<RunHead>) {
        head.refine(|it| it.identity.clone_from(&self.identity));
        let has_ended = head.state != RunState::Running;
        let began = head.began();
        let journal = self
            .journals
            .iter()
            .position(|it| it.run == head.run && it.began == began);
        let journal = journal.unwrap_or_else(|| {
            self.journals.push_back(Journal {
                run: head.run.clone(),
                began,
                has_ended: false,
                entries: Vec::new(),
                written: 0,
                beside: Beside {
                    identity: self.identity.clone(),
                    ..Beside::default()
                },
                folder: None,
            });
            self.journals.len() - 1
        });
        let journal = &mut self.journals[journal];
        journal.has_ended |= has_ended;
        journal.entries.push(Entry::Head(head));
        if let Some(folder) = journal.folder.as_ref().filter(|_| has_ended) {
            journal.beside.keep(folder);
        }
        self.write();
        self.forget();
    }

    /// Writes a result.
    pub(super) fn result(&mut self, finished: &FinishedScenario) {
        let ready = Ready::of(finished);
        let Some(journal) = self
            .journals
            .iter_mut()
            .rev()
            .find(|it| it.run == ready.run)
        else {
            // Nobody has said that this run has begun.
            return;
        };
        let id = result_id(&journal.run, &finished.scenario.id);
        let beside = journal.beside.results.entry(id).or_default();
        beside.declared = finished.declared.as_deref().map(|it| (**it).clone());
        journal.folder = Some(finished.folder.clone());
        journal.entries.push(Entry::Result(Box::new(ready)));
        self.write();
    }

    /// Replaces the verdict of a result, and the tools that were expected, where they are given. It is kept beside the run when that is reported
    /// to have ended.
    pub(super) fn set_verdict(
        &mut self,
        result: &str,
        verdict: &Redacted<Value>,
        expected_tools: Option<&Redacted<Vec<String>>>,
    ) -> Result<bool, DatabaseError> {
        let mut journals = self.journals.iter_mut().rev();
        let beside = journals.find_map(|it| it.beside.results.get_mut(result));
        if let Some(beside) = beside {
            beside.verdict = Some((**verdict).clone());
            if let (Some(tools), Some(declared)) = (expected_tools, &mut beside.declared) {
                declared.expected_tools = tools.to_vec();
            }
        }
        self.ask(|connection| results::set_verdict(connection, result, verdict, expected_tools))
    }

    /// Forgets runs that ended long ago.
    fn forget(&mut self) {
        let ended = self.journals.iter().filter(|it| it.has_ended).count();
        let mut spare = ended.saturating_sub(REMEMBERED);
        self.journals.retain(|it| {
            let goes = spare > 0 && it.has_ended;
            spare -= usize::from(goes);
            !goes
        });
    }

    /// Writes what is not written yet, unless that went wrong a moment ago.
    fn write(&mut self) {
        if self.journals.is_empty() {
            return;
        }
        if self.pause.is_some_and(|(until, _)| Instant::now() < until) {
            return;
        }
        self.write_now();
    }

    /// Writes what is not written yet.
    fn write_now(&mut self) {
        if let Err(fault) = self.with(Self::catch_up) {
            let pause = self
                .pause
                .map_or(PAUSE, |(_, last)| last * 2)
                .min(Duration::from_secs(30));
            self.pause = Some((Instant::now() + pause, pause));
            self.problem = Some(fault.to_string());
        } else {
            self.pause = None;
        }
    }

    /// Writes what is not written yet, and what went wrong; and says what is lost, and what else there is to tell.
    pub(super) fn flush(&mut self) -> Vec<String> {
        if !self.journals.is_empty() {
            self.write_now();
        }
        let mut lost = 0_usize;
        for journal in &mut self.journals {
            let left = &journal.entries[journal.written..];
            lost += left
                .iter()
                .filter(|it| matches!(it, Entry::Result(_)))
                .count();
        }
        let is_behind = self.journals.iter().any(|it| it.written < it.entries.len());
        let mut notes = std::mem::take(&mut self.notes);
        let why = self
            .problem
            .take()
            .filter(|_| is_behind && !self.is_reported);
        self.is_reported = is_behind;
        if let Some(why) = why {
            let what = match lost {
                0 => "the end of the run is".to_owned(),
                _ => several(lost, "result is", "results are"),
            };
            notes.push(format!(
                "{what} not in the results database {}: {why} (once that is mended, {} adds what the files of the runs hold)",
                self.place,
                self.place.rebuilding()
            ));
        }
        notes
    }

    /// Does something with the connection. Where that is lost, or the file is damaged, another one is made, once.
    fn with<T>(&mut self, mut work: impl FnMut(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if let Some((until, why)) = &self.silent
            && Instant::now() < *until
        {
            return Err(Fault::Silent(why.clone()));
        }
        let mut tried = false;
        loop {
            let makes = !self.options.existing;
            let done = self.connect(makes).and_then(|()| work(self));
            match done.map_err(|fault| self.judged(fault)) {
                Err(Fault::Damaged(why)) if !tried => {
                    self.connection = None;
                    self.set_aside(&why)?;
                }
                Err(Fault::Lost(_))
                    if !tried && self.connection.as_ref().is_some_and(|it| !it.is_current()) =>
                {
                    self.connection = None;
                }
                done => {
                    if let Err(Fault::Silent(why)) = &done {
                        self.silent = Some((Instant::now() + SILENCE, why.clone()));
                    }
                    if done.is_err() && self.connection.as_ref().is_some_and(|it| !it.is_current())
                    {
                        self.connection = None;
                    }
                    return done;
                }
            }
            tried = true;
        }
    }

    /// A fault that may come of damage, as what it is.
    fn judged(&mut self, fault: Fault) -> Fault {
        let Fault::Doubtful(why) = fault else {
            return fault;
        };
        match self.connection.as_mut().map(|it| damage(&mut **it)) {
            Some(Ok(damage)) if !damage.is_empty() => Fault::Damaged(damage.join("; ")),
            Some(Err(fault @ Fault::Damaged(_))) => fault,
            _ => Fault::Other(why),
        }
    }

    /// Opens the database, where it is not open, or another file has been put in its place. `makes` says whether one is made where there is
    /// none.
    fn connect(&mut self, makes: bool) -> Result<(), Fault> {
        if self.connection.as_ref().is_some_and(|it| it.is_current()) {
            return Ok(());
        }
        self.connection = None;
        let mut connection: Box<dyn Connection> = match (self.place.path(), self.place.url()) {
            (Some(path), _) => {
                let mut opened = Sqlite::open(path)?;
                let version = opened.version()?;
                if version < VERSION && (makes || version > 0) {
                    opened.share()?;
                }
                Box::new(opened)
            }
            (None, url) => Box::new(Postgres::open(url.unwrap_or_default())?),
        };
        if !makes && connection.version()? == 0 {
            if self.place.path().is_some() {
                fits(0, &mut *connection)?;
            }
            return Err(Fault::Other(
                "there is no mcp-eval database there".to_owned(),
            ));
        }
        let left = migrate(&mut *connection)?;
        has_columns(&mut *connection)?;
        self.connection = Some(connection);
        // Whether all of it is there is not known of another file, nor of a server that was gone.
        for journal in &mut self.journals {
            journal.written = 0;
        }
        let Some(left) = left else {
            return Ok(());
        };
        let added = self.fill();
        self.notes.push(format!(
            "the results database {} was of an earlier version, and was rebuilt with {} from the files of the runs: what it held before, {}, is \
             kept in its tables `results_before_3` and so on",
            self.place,
            plural(*added.as_ref().unwrap_or(&0), "result"),
            plural(left, "result"),
        ));
        added.map(|_| ())
    }

    /// Adds what the files of the runs hold; returns how many results these are.
    fn fill(&mut self) -> Result<u64, Fault> {
        match (&self.options.runs, &mut self.connection) {
            (Some(runs), Some(connection)) => Ok(rebuild(&mut **connection, runs)?.results),
            _ => Ok(0),
        }
    }

    /// Writes what is not in the database yet: each result in a transaction of its own, with what is known of its run.
    fn catch_up(&mut self) -> Result<(), Fault> {
        let Some(connection) = &mut self.connection else {
            return Ok(());
        };
        if !self.has_closed_killed {
            self.has_closed_killed = true;
            if let Some(runs) = &self.options.runs {
                // What stands in the way of that stands in the way of what is written, too, which tells it.
                let _ = settle(&mut **connection, runs);
            }
        }
        for journal in &mut self.journals {
            while let Some(entry) = journal.entries.get(journal.written) {
                transaction(&mut **connection, |connection| match entry {
                    Entry::Head(head) => write::run(connection, head),
                    Entry::Result(ready) => {
                        let run = write::id_of(connection, &journal.run, &journal.began)?;
                        write::result(connection, &run, ready)
                    }
                })?;
                journal.written += 1;
            }
        }
        Ok(())
    }

    /// Ends runs that were killed, before anything is written.
    pub(super) fn settle(&mut self) {
        if self.place.path().is_some_and(|it| !it.exists()) {
            return;
        }
        // Whoever writes gets to know what is wrong with it.
        let _ = self.with(Self::catch_up);
    }

    /// Sets a file aside that is damaged, or whose tables are not those of its version; others stay as they are.
    pub(super) fn mend(&mut self) -> Result<(), DatabaseError> {
        let found = self.with(|worker| match &mut worker.connection {
            Some(connection) => damage(&mut **connection),
            None => Ok(Vec::new()),
        });
        let why = match found {
            Ok(damage) => (!damage.is_empty()).then(|| damage.join("; ")),
            Err(Fault::Misshapen { why, .. }) => Some(why),
            // Whatever else is wrong is reported by the next request.
            Err(_) => None,
        };
        let Some(why) = why.filter(|_| self.place.path().is_some()) else {
            return Ok(());
        };
        self.connection = None;
        let done = self.set_aside(&why);
        done.map_err(|fault| self.unusable(&fault))
    }

    /// Moves a damaged file away, and makes a new one from the files of the runs.
    fn set_aside(&mut self, why: &str) -> Result<(), Fault> {
        let Some(path) = self.place.path().map(PathBuf::from) else {
            return Err(Fault::Damaged(why.to_owned()));
        };
        if path != *DEFAULT && !Sqlite::is_ours(&path) {
            return Err(Fault::Other(format!(
                "it is not a results database, or one of which nothing can be read ({why}): move it away, or name another one with `--db`"
            )));
        }
        let now = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
        let Some(aside) = Sqlite::set_aside(&path, &format!("damaged-{now}"))? else {
            return Ok(());
        };
        self.connect(true)?;
        let added = self.fill()?;
        self.notes.push(format!(
            "the results database {} was damaged ({why}): it is kept as {}, and a new one was made with {added} results from the files of the runs",
            path.display(),
            aside.display()
        ));
        Ok(())
    }

    /// Asks for something, after what is to be written has been.
    pub(super) fn ask<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Connection) -> Result<T, Fault>,
    ) -> Result<T, DatabaseError> {
        self.write();
        let answer = self.with(|worker| match &mut worker.connection {
            Some(connection) => work(&mut **connection),
            None => Err(Fault::Lost("it is not open".to_owned())),
        });
        answer.map_err(|fault| self.unusable(&fault))
    }

    fn unusable(&self, fault: &Fault) -> DatabaseError {
        DatabaseError::new(format!(
            "the results database {} cannot be used: {fault}",
            self.place
        ))
    }
}
