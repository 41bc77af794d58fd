//! The handle of a database: what it is asked and given is handed to its thread.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::connection::{Connection, Fault};
use super::prune::{self, settle};
use super::schema::damage;
use super::worker::{Task, Worker};
use super::{
    DatabaseError, FinishedScenario, Health, HistoryFilter, Info, Options, Page, Place, Pruned,
    Rebuilt, ResultFilter, RunHead, history, rebuild, results,
};
use crate::model::Redacted;
use crate::published::kept::{ResultDetail, ResultEntry, RunEntry, Statistics};

/// How long anything that is asked may take, with all that is still to be written before.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long what belongs together is given to be made from the files of all runs.
const LONG_PATIENCE: Duration = Duration::from_secs(60 * 60);

/// A results database. Clones share one thread, which opens it when the first thing is asked or written, so that making one costs nothing.
///
/// `suite::Settings::database` takes one: whatever `suite` runs is written to it as each scenario finishes.
#[derive(Clone)]
pub struct Database(Arc<Shared>);

struct Shared {
    place: Place,
    options: Options,
    thread: Mutex<Option<Running>>,
}

/// The thread, once it is needed.
struct Running {
    tasks: Sender<Task>,
    handle: JoinHandle<()>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(Running { tasks, handle }) = self.thread.get_mut().take() {
            drop(tasks);
            // So that the file is closed, and nothing lies beside it any more.
            let _ = handle.join();
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.0.place).finish()
    }
}

impl Database {
    /// Opens nothing yet.
    pub fn new(place: Place, options: Options) -> Self {
        Self(Arc::new(Shared {
            place,
            options,
            thread: Mutex::new(None),
        }))
    }

    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Hands something to the thread.
    fn hand(&self, task: Task) -> Result<(), DatabaseError> {
        let gone = || DatabaseError::new("the thread that writes results has ended");
        let mut thread = self.0.thread.lock();
        if let Some(running) = &*thread {
            return running.tasks.send(task).map_err(|_| gone());
        }
        let (tasks, received) = channel();
        let worker = Worker::new(self.0.place.clone(), self.0.options.clone());
        let handle = std::thread::Builder::new()
            .name("results".to_owned())
            .spawn(move || worker.work(&received))
            .map_err(|error| DatabaseError::new(format!("no thread can be started: {error}")))?;
        tasks.send(task).map_err(|_| gone())?;
        *thread = Some(Running { tasks, handle });
        Ok(())
    }

    /// Asks the thread for something, and waits for it.
    async fn wait<T: Send + 'static>(
        &self,
        patience: Duration,
        work: impl FnOnce(&mut Worker) -> T + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.hand(Box::new(move |worker| {
            // Nobody may be waiting any more.
            let _ = answer.send(work(worker));
        }))?;
        match tokio::time::timeout(patience, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(DatabaseError::new(
                "the thread that writes results has ended",
            )),
            Err(_) => Err(DatabaseError::new(format!(
                "the results database {} has not answered within {patience:?}",
                self.place()
            ))),
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        work: impl FnMut(&mut dyn Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.wait(patience, |worker| worker.ask(work)).await?
    }

    /// Writes what is known of a run as a whole: when it begins, and again whenever more is known. Does not wait for it.
    pub fn head(&self, head: Redacted<RunHead>) {
        // A thread that is gone tells so when it is asked to flush.
        let _ = self.hand(Box::new(move |worker| worker.head(head)));
    }

    /// Writes a result of a run that has begun. Does not wait for it.
    pub fn result(&self, finished: FinishedScenario) {
        let _ = self.hand(Box::new(move |worker| worker.result(&finished)));
    }

    /// Says of runs whose process was killed that they were interrupted, before anything else is asked. Does not wait for it. Whatever is
    /// written does so, too, at its first beginning; a server, which only answers at first, asks for it. Where there is no file, none is made.
    pub fn settle(&self) {
        let _ = self.hand(Box::new(Worker::settle));
    }

    /// Waits until all that was handed over is written; returns what there is to tell, for people: at most a few sentences, however many
    /// results are concerned.
    pub async fn flush(&self) -> Vec<String> {
        if self.0.thread.lock().is_none() {
            return Vec::new();
        }
        match self.wait(PATIENCE, Worker::flush).await {
            Ok(notes) => notes,
            Err(error) => vec![error.to_string()],
        }
    }

    /// Replaces the verdict of a result, as `{passed, confidence, reasoning, toolAccuracy, suggestions}`, and, where they are given, the tools
    /// that were expected; `false` where there is no such result. What was handed over before is written before.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn set_verdict(
        &self,
        result: &str,
        verdict: &Redacted<Value>,
        expected_tools: Option<&Redacted<Vec<String>>>,
    ) -> Result<bool, DatabaseError> {
        let (result, verdict) = (result.to_owned(), verdict.clone());
        let expected = expected_tools.cloned();
        self.wait(PATIENCE, move |worker| {
            worker.set_verdict(&result, &verdict, expected.as_ref())
        })
        .await?
    }

    /// The results that a filter leaves, the latest first; only those that are final, of which each scenario has one in each run.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn results(&self, filter: &ResultFilter) -> Result<Page<ResultEntry>, DatabaseError> {
        let filter = filter.clone();
        self.ask(PATIENCE, move |it| results::page(it, &filter))
            .await
    }

    /// One result; `None` where there is none of this id.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn result_of(&self, id: &str) -> Result<Option<ResultDetail>, DatabaseError> {
        let id = id.to_owned();
        self.ask(PATIENCE, move |connection| results::detail(connection, &id))
            .await
    }

    /// The runs, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn runs(&self, limit: usize, offset: usize) -> Result<Page<RunEntry>, DatabaseError> {
        self.ask(PATIENCE, move |it| results::runs(it, limit, offset))
            .await
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn run(&self, id: &str) -> Result<Option<RunEntry>, DatabaseError> {
        let id = id.to_owned();
        self.ask(PATIENCE, move |connection| results::run(connection, &id))
            .await
    }

    /// All final results in numbers.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn stats(&self) -> Result<Statistics, DatabaseError> {
        self.ask(PATIENCE, results::stats).await
    }

    /// The results of scenarios over time: by scenario, agent, model and who answered, the oldest first. What a run that was killed had not
    /// finished is interrupted, whoever has killed it just now.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked, or a run was killed and that cannot be written.
    pub async fn history(
        &self,
        filter: &HistoryFilter,
    ) -> Result<Vec<ResultDetail>, DatabaseError> {
        let filter = filter.clone();
        let runs = self.0.options.runs.clone();
        self.ask(PATIENCE, move |connection| {
            if let Some(runs) = &runs {
                settle(connection, runs)?;
            }
            history::rows(connection, &filter)
        })
        .await
    }

    /// The ids and names of all scenarios that have results, in order.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn names(&self) -> Result<Vec<String>, DatabaseError> {
        self.ask(PATIENCE, history::names).await
    }

    /// Opens it, where that has not been done, and asks it for its version.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn health(&self) -> Result<Health, DatabaseError> {
        self.ask(PATIENCE, health).await
    }

    /// The same with its size, and whether what it holds can be read.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked.
    pub async fn info(&self) -> Result<Info, DatabaseError> {
        self.ask(LONG_PATIENCE, |connection| {
            Ok(Info {
                health: health(connection)?,
                bytes: connection.bytes(),
                damage: damage(connection)?,
                stats: results::stats(connection)?,
            })
        })
        .await
    }

    /// Adds what the files of the runs in a folder hold and the database does not.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn rebuild(&self, runs: &Path) -> Result<Rebuilt, DatabaseError> {
        let runs = runs.to_owned();
        // A file whose tables are not ours any more is made anew.
        self.wait(LONG_PATIENCE, Worker::mend).await??;
        self.ask(LONG_PATIENCE, move |it| rebuild::rebuild(it, &runs))
            .await
    }

    /// Removes all runs but so many of the latest, with all that belongs to them; with `dry_run`, only tells what would go.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn prune(&self, keep: usize, dry_run: bool) -> Result<Pruned, DatabaseError> {
        self.ask(LONG_PATIENCE, move |it| prune::prune(it, keep, dry_run))
            .await
    }
}

fn health(connection: &mut dyn Connection) -> Result<Health, Fault> {
    Ok(Health {
        kind: connection.kind(),
        schema: connection.version()?,
    })
}
