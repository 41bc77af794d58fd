//! The preparation of a system under test: commands that make it, run again when what they depend on, or what they made,
//! has changed.
//!
//! What was done last in a folder is kept below `.mcp-eval/prepared/`, with a log of what the commands said. Only one run at a time prepares
//! in a folder, whichever process it is of.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;
use walkdir::WalkDir;

use crate::git;
use crate::input;
use crate::process::{ChildCommand, Logged};
use crate::redact::Redactor;
use crate::report::duration;
use crate::run::{Observer, Progress, SetupError};
use crate::scenario_file::servers::{Build, Prepare, Version};
use crate::store;

/// Where it is kept what was prepared.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| store::own("prepared"));

/// How the names of logs begin that are of versions of a source.
const VERSION: &str = "version-";

/// How many of them are kept.
const MOST_LOGS: usize = 50;

/// The most files that are remembered of those that commands made.
const MOST_FILES: usize = 20_000;

/// How often it is said how far something is that is being built.
const TICK: Duration = Duration::from_secs(1);

/// How often it is looked whether another process has let go of a folder.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// What was prepared by one run of the program.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    by_folder: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<Last>>>>,
    /// Held while something is built: what is built at the same time only waits for the same processors and caches, and runs out of time.
    pub(crate) building: tokio::sync::Mutex<()>,
}

/// What was done last in a folder, and what came of it.
type Last = Option<(String, Result<(), SetupError>)>;

/// Nobody else prepares anything in a folder while this is held.
#[derive(Debug)]
pub(crate) struct Held {
    last: OwnedMutexGuard<Last>,
    _file: Option<File>,
}

/// What is known of the things that commands depend on, and tells whether they have changed; without the files given, which they made.
pub(crate) type State<'a> =
    &'a (dyn Fn(&[PathBuf]) -> Result<Option<git::State>, SetupError> + Sync);

/// Something that is to be prepared, its `${…}` filled in.
pub(crate) struct Wanted<'a> {
    pub(crate) prepare: &'a Prepare,
    /// Where its commands run unless it says so itself.
    pub(crate) folder: &'a Path,
    /// `None` when it is not known, and it is always prepared anew.
    pub(crate) state: State<'a>,
    /// The files it depends on by name, which it does not make.
    pub(crate) inputs: &'a [PathBuf],
    /// The version, which is laid out anew for each run of the program, so that it is not kept for later ones what was prepared.
    pub(crate) version: Option<&'a Version>,
    pub(crate) supervisor: Option<&'a Path>,
    pub(crate) redactor: &'a Redactor,
}

/// What was prepared in a folder, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// The commands and their environment, as a hash.
    commands: String,
    tracked: String,
    untracked: String,
    made: Vec<Made>,
}

/// A file that commands made, as it was then.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    path: PathBuf,
    length: u64,
    /// In nanoseconds since 1970.
    modified: u64,
}

impl Prepared {
    /// Does what is wanted, one thing at a time, unless that was done last in its folder and nothing has changed since. What is returned
    /// keeps others from preparing something else there.
    ///
    /// # Errors
    ///
    /// When a command cannot be started, fails or takes too long, with the last lines it said.
    pub(crate) async fn prepare(
        &self,
        wanted: &Wanted<'_>,
        observer: &dyn Observer,
    ) -> Result<Held, SetupError> {
        let folder = input::real(wanted.folder);
        let mut held = self.hold(&folder, observer).await;
        let commands = hash(&format!("{:?}", wanted.prepare));
        let path = record_path(&folder, &commands, wanted.version);
        let record = read(&path).filter(|_| wanted.version.is_none());
        let made: Vec<PathBuf> = (record.iter().flat_map(|it| &it.made))
            .map(|it| it.path.clone())
            .collect();
        let before = (wanted.state)(&made)?;
        let key = hash(&format!("{commands} {before:?}"));
        if let Some((_, done)) = held.last.as_ref().filter(|it| it.0 == key) {
            return done.clone().map(|()| held);
        }
        let is_done = record.is_some_and(|it| it.holds(&commands, before.as_ref()));
        let done = if is_done {
            Ok(())
        } else {
            let _one_at_a_time = self.building.lock().await;
            make(wanted, &folder, &commands, before, &path, observer).await
        };
        *held.last = Some((key, done.clone()));
        done.map(|()| held)
    }

    /// Waits until nobody else prepares anything in a folder.
    async fn hold(&self, folder: &Path, observer: &dyn Observer) -> Held {
        let own = Arc::clone(self.by_folder.lock().entry(folder.to_owned()).or_default());
        let last = own.lock_owned().await;
        // The folder itself is what is locked, so that nothing is left behind. Where it cannot be, processes do not wait for each other.
        let file = File::open(folder).ok();
        if let Some(file) = &file {
            let mut is_reported = false;
            while matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
                let doing = "waiting for another process that prepares the same folder";
                if !std::mem::replace(&mut is_reported, true) {
                    observer.progress(Progress::Preparing { doing });
                }
                tokio::time::sleep(LOCK_PAUSE).await;
            }
        }
        Held { last, _file: file }
    }
}

impl Record {
    /// Whether the same was done, of the same, and what was made then is still there.
    fn holds(&self, commands: &str, state: Option<&git::State>) -> bool {
        let is_same = state
            .is_some_and(|it| (&self.tracked, &self.untracked) == (&it.tracked, &it.untracked));
        let is_there = |it: &Made| made(&it.path).as_ref() == Some(it);
        self.commands == commands && is_same && self.made.iter().all(is_there)
    }
}

/// Runs all commands, and keeps what they were run on.
async fn make(
    wanted: &Wanted<'_>,
    folder: &Path,
    commands: &str,
    before: Option<git::State>,
    path: &Path,
    observer: &dyn Observer,
) -> Result<(), SetupError> {
    // Until all is done, nothing is.
    let _ = fs::remove_file(path);
    let log = path.with_extension("log");
    let _ = fs::remove_file(&log);
    let runs_in = wanted.prepare.cwd.as_deref().unwrap_or(folder);
    let begun = SystemTime::now();
    for command in &wanted.prepare.commands {
        run(command, runs_in, wanted, &log, observer).await?;
    }
    let Some(before) = before.filter(|_| wanted.version.is_none()) else {
        return Ok(());
    };
    let made = files_made(&[folder, runs_in], wanted.inputs, begun);
    let paths: Vec<PathBuf> = made.iter().map(|it| it.path.clone()).collect();
    // What was edited meanwhile may not be in what was made; what the commands made themselves is no edit.
    let state = match (wanted.state)(&paths)? {
        Some(after) if after.tracked == before.tracked => after,
        _ => before,
    };
    let record = Record {
        commands: commands.to_owned(),
        tracked: state.tracked,
        untracked: state.untracked,
        made,
    };
    // A record that is not kept only means that it is done again.
    let text = serde_json::to_string(&record).unwrap_or_default();
    let _ = store::write(path, text.as_bytes());
    Ok(())
}

/// Where it is kept what was prepared in a folder. Of versions that are laid out anew each time, only the logs are.
fn record_path(folder: &Path, commands: &str, version: Option<&Version>) -> PathBuf {
    let name = match version.map(|it| &it.commit) {
        None => hash(&folder.to_string_lossy()),
        Some(commit) => {
            forget_logs();
            let commit = commit.get(..12).unwrap_or(commit);
            format!("{VERSION}{commit}-{}", &commands[..6])
        }
    };
    FOLDER.join(format!("{name}.json"))
}

/// Where it is kept what the build of an image from a folder, or from this version of it, writes; nothing is there yet.
pub(crate) fn log_of_image(build: &Build, version: Option<&Version>) -> PathBuf {
    let parts = hash(&format!("{:?} {:?}", build.dockerfile, build.args));
    let log = record_path(&build.context, &parts, version).with_extension("image.log");
    let _ = fs::remove_file(&log);
    log
}

/// Waits for something that is being built, and tells all the while how far it is. Its output is added to a log.
///
/// # Errors
///
/// Those of the work, with where the log is.
pub(crate) async fn building(
    (what, version, log): (&str, Option<&Version>, &Path),
    (observer, redactor): (&dyn Observer, &Redactor),
    output: impl Fn() -> String,
    work: impl Future<Output = Result<(), SetupError>>,
) -> Result<(), SetupError> {
    let what = version.map_or_else(|| what.to_owned(), |it| format!("{what} at {}", it.name));
    let begun = Instant::now();
    let doing = &format!("building {what}");
    observer.progress(Progress::Milestone { doing });
    let mut work = std::pin::pin!(work);
    let done = loop {
        if let Ok(done) = tokio::time::timeout(TICK, &mut work).await {
            break done;
        }
        let last = redactor.text(output().lines().next_back().unwrap_or_default());
        let seconds = begun.elapsed().as_secs();
        let doing = &format!("building {what} ({seconds} s): {}", *last);
        observer.progress(Progress::Still { doing });
    };
    let before = fs::read_to_string(log).unwrap_or_default();
    // A log that cannot be written is no reason not to go on.
    let all = before + &redactor.text(&output());
    let _ = store::write(log, all.as_bytes());
    let how = done.as_ref().map_or("failed to build", |()| "built");
    let time = duration::words(begun.elapsed().as_secs_f64() * 1000.0);
    let doing = &format!("{how} {what} in {time}; log: {}", log.display());
    observer.progress(Progress::Milestone { doing });
    done.map_err(|mut why| {
        why.details.push(format!("all it said: {}", log.display()));
        why
    })
}

/// Removes the oldest logs of versions.
fn forget_logs() {
    let logs = fs::read_dir(&*FOLDER).into_iter().flatten().flatten();
    let logs = logs.filter(|it| it.file_name().to_string_lossy().starts_with(VERSION));
    let mut logs: Vec<(SystemTime, PathBuf)> = logs
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
        .collect();
    logs.sort_unstable_by(|a, b| b.cmp(a));
    for (_, old) in logs.into_iter().skip(MOST_LOGS) {
        let _ = fs::remove_file(old);
    }
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))[..16].to_owned()
}

/// The files in some folders that were written since a moment, but for those that git knows and those that are named as inputs.
fn files_made(folders: &[&Path], inputs: &[PathBuf], begun: SystemTime) -> Vec<Made> {
    let known: HashSet<PathBuf> = folders.iter().flat_map(|it| git::tracked(it)).collect();
    // As exact as file systems tell the time.
    let begun = begun - Duration::from_millis(20);
    let mut all: Vec<Made> = Vec::new();
    for folder in folders {
        let files = WalkDir::new(folder).sort_by_file_name().into_iter();
        let files = files.filter_entry(|it| it.file_name() != ".git").flatten();
        for file in files.filter(|it| it.file_type().is_file()) {
            let path = file.path();
            let is_new = file
                .metadata()
                .is_ok_and(|it| it.modified().is_ok_and(|it| it >= begun));
            let is_source = || known.contains(path) || inputs.iter().any(|it| it.as_path() == path);
            if is_new && all.len() < MOST_FILES && !is_source() {
                all.extend(made(path));
            }
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all.dedup();
    all
}

/// A file as it is now; `None` where there is none.
fn made(path: &Path) -> Option<Made> {
    let about = fs::metadata(path).ok()?;
    let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Made {
        path: path.to_owned(),
        length: about.len(),
        modified: u64::try_from(modified.as_nanos()).ok()?,
    })
}

/// Runs one command to its end; what it says goes to the log.
async fn run(
    command: &[String],
    folder: &Path,
    wanted: &Wanted<'_>,
    log: &Path,
    observer: &dyn Observer,
) -> Result<(), SetupError> {
    let (prepare, redactor) = (wanted.prepare, wanted.redactor);
    let name = redactor.text(&command.join(" ")).into_inner();
    let is_set = |name: &str| prepare.env.iter().any(|it| it.0 == *name);
    // Compilers and package managers need what the user's own shell gives them.
    let inherited = std::env::vars().filter(|(name, _)| !is_set(name));
    let child = ChildCommand {
        env: inherited.chain(prepare.env.iter().cloned()).collect(),
        cwd: Some(folder.to_owned()),
        ..ChildCommand::of(command, wanted.supervisor)
    };
    let started = Logged::start(&child);
    let mut process =
        started.map_err(|error| SetupError::new(format!("`{name}` cannot be started: {error}")))?;
    process.close_stdin();
    let said = process.teller();
    let output = || format!("$ {name}\n{}", said());
    let work = async {
        let ended = process.wait_for(prepare.timeout).await;
        process.stop().await;
        let why = match ended {
            Some(Ok(())) => return Ok(()),
            Some(Err(how)) => how,
            None => format!(
                "did not end within {:?} (`timeout` changes that)",
                prepare.timeout
            ),
        };
        Err(SetupError {
            message: format!("`{name}` {why}"),
            details: process.last_words(),
            trouble: None,
        })
    };
    let what = format!("`{name}`");
    let what = (what.as_str(), wanted.version, log);
    building(what, (observer, redactor), output, work).await
}
