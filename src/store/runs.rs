//! Every run, however it ended: its trajectory in `.mcp-eval/runs/<run>/current/<scenario>.json`, what it was compared with under
//! `baseline/`, and the output of its container under `logs/`. Each of several attempts has such folders at `attempts/<number>`; those of
//! the attempt that is shown are copied to the folder of the run. While the run goes on, `ended/<scenario>.json` has what came of those that
//! have ended, for whoever finds that the run was killed.
//!
//! An index of the runs lies in one small file beside them: a line of JSON for each, the oldest first. It holds nothing that the runs do not,
//! and is made anew from them where it is missing or broken.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::Held;
use crate::input;
use crate::json;
use crate::model::{Git, Redacted, Trajectory};
use crate::published::result::{self, Gate, ResultDocument, Scenario, Summary};
use crate::published::trajectory::to_json;
use crate::store::STATE;
use crate::store::files::{StoreError, cannot_write, check_links, make_unversioned, write};

/// Where a run has the trajectories that it made, in its folder.
pub const CURRENT: &str = "current";

/// The document of a run, beside the trajectories it speaks of.
pub const RESULT: &str = "result.json";

/// The folder of what came of single scenarios while the run goes on.
const ENDED: &str = "ended";

/// How many bytes a file's name may have on the file systems in use.
const LONGEST_NAME: usize = 255;

/// The folder of one run of the program.
#[derive(Debug, Clone)]
pub struct Runs {
    id: String,
    folder: PathBuf,
    /// Held while the run goes on, so that nobody removes its folder.
    held: Option<Arc<File>>,
}

impl Runs {
    /// Makes a folder for a new run below `root`. Its name is the time it starts, so that runs sort by it; one that starts in the same
    /// millisecond as another takes the next.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`] when the folder cannot be made.
    pub fn create(root: &Path, started_at: Timestamp) -> Result<Self, StoreError> {
        check_links(root, root)?;
        let above = root.parent().filter(|it| it.ends_with(STATE));
        let made = above.map_or(Ok(()), make_unversioned);
        made.and_then(|()| fs::create_dir_all(root))
            .map_err(|source| cannot_write(root, source))?;
        for later in 0_u32.. {
            // Cannot overflow: the current time is far from the greatest timestamp.
            let time = started_at + Duration::from_millis(later.into());
            let id = id(time);
            let folder = root.join(&id);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let held = mark_and_hold(&folder, &id);
                    let held = held.map_err(|source| cannot_write(&folder, source))?;
                    return Ok(Self {
                        id,
                        folder,
                        held: Some(Arc::new(held)),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(cannot_write(&folder, source)),
            }
        }
        unreachable!("there are more milliseconds than folders")
    }

    /// The ids of the runs below `root`, the latest first; not of what is being removed.
    pub fn ids(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let folders = entries.filter(|it| is_folder(&it.path()));
        let names = folders.filter_map(|it| it.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter(|it| !it.starts_with('.')).collect();
        ids.sort_by_cached_key(|it| Reverse(Self::order(it)));
        ids
    }

    /// The key that runs are sorted by. Ids sort as they are, except those of earlier versions, which counted the runs of a second
    /// (`…T10-00-00Z-9`, `…T10-00-00Z-38`).
    pub fn order(id: &str) -> impl Ord + use<> {
        let (time, number) = match id.rsplit_once('-') {
            Some((time, number)) if time.ends_with('Z') => (time, number.parse().unwrap_or(0)),
            _ => (id, 1_u64),
        };
        let time = time.strip_suffix('Z').unwrap_or(time);
        (time.to_owned(), number)
    }

    /// Whether a run began later than this.
    pub fn is_after(run: &str, time: Timestamp) -> bool {
        Self::order(run) > Self::order(&id(time))
    }

    /// The text of the document of a run below `root`; `None` where there is none, and of what is only called like a run.
    pub fn document(root: &Path, id: &str) -> Option<String> {
        let ids = Self::ids(root);
        let id = ids.iter().find(|it| *it == id)?;
        let path = root.join(id).join(RESULT);
        input::check_links(&path, root).ok()?;
        input::read_to_string(&path).ok()
    }

    /// The folder of a run that has been kept, wherever it lies.
    pub fn at(folder: &Path) -> Self {
        let id = folder.file_name().unwrap_or_default();
        Self {
            id: id.to_string_lossy().into_owned(),
            folder: folder.to_owned(),
            held: None,
        }
    }

    /// The folder of one of several attempts at each scenario, laid out like that of a run. Attempts are counted from 1.
    #[must_use]
    pub fn attempt(&self, number: usize) -> Self {
        Self {
            id: self.id.clone(),
            folder: self.folder.join("attempts").join(number.to_string()),
            held: self.held.clone(),
        }
    }

    /// Copies a scenario's trajectory and log of an attempt to the folder of the run, where they exist.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when they cannot be copied.
    pub fn show(&self, scenario: &str, attempt: usize) -> Result<(), StoreError> {
        let attempt = self.attempt(attempt);
        for (from, to) in [
            (attempt.path(scenario), self.path(scenario)),
            (attempt.log_path(scenario), self.log_path(scenario)),
        ] {
            match fs::read(&from) {
                Ok(content) => write(&to, &content)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Read { path: from, source }),
            }
        }
        Ok(())
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file a scenario's trajectory is kept in.
    pub fn path(&self, scenario: &str) -> PathBuf {
        below(&self.folder.join(CURRENT), scenario)
    }

    /// The file that keeps what a scenario's trajectory was compared with.
    pub fn baseline_path(&self, scenario: &str) -> PathBuf {
        below(&self.folder.join("baseline"), scenario)
    }

    /// The file that keeps what a scenario's container, and the servers that were started for it, said.
    pub fn log_path(&self, scenario: &str) -> PathBuf {
        with_extension(&self.folder.join("logs"), scenario, ".log")
    }

    /// Keeps what a scenario's container and servers said, which must be free of secrets.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_log(&self, scenario: &str, log: &Redacted<String>) -> Result<PathBuf, StoreError> {
        kept(self.log_path(scenario), log.as_bytes())
    }

    /// Keeps what came of a scenario, until the document of the run has it.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_ended(&self, ended: &Redacted<Scenario>) -> Result<(), StoreError> {
        let text = json::escaped(serde_json::to_string(&**ended).unwrap_or_default());
        write(&self.ended_path(&ended.id), text.as_bytes())
    }

    /// The file that keeps what came of a scenario while the run goes on.
    pub(super) fn ended_path(&self, scenario: &str) -> PathBuf {
        below(&self.folder.join(ENDED), scenario)
    }

    /// Removes what was kept of scenarios one by one, once the document of the run has it.
    pub fn remove_ended(&self) {
        // What stays tells nothing else.
        let _ = fs::remove_dir_all(self.folder.join(ENDED));
    }

    /// Keeps a run's trajectory and returns the file's path.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save(
        &self,
        scenario: &str,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<PathBuf, StoreError> {
        kept(self.path(scenario), to_json(trajectory).as_bytes())
    }

    /// Keeps what a run was compared with, so that its report can be rendered again after the baseline has moved on.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_baseline(
        &self,
        scenario: &str,
        baseline: &Redacted<Trajectory>,
    ) -> Result<PathBuf, StoreError> {
        kept(self.baseline_path(scenario), to_json(baseline).as_bytes())
    }
}

/// Writes a file; returns where it is.
fn kept(path: PathBuf, content: &[u8]) -> Result<PathBuf, StoreError> {
    write(&path, content)?;
    Ok(path)
}

/// The name of a run that begins now.
fn id(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H-%M-%S%.3fZ").to_string()
}

/// The file of a scenario in a folder.
fn below(folder: &Path, scenario: &str) -> PathBuf {
    with_extension(folder, scenario, ".json")
}

/// The path of a scenario's file. A name that is too long is cut, and made unique by a hash of the whole.
fn with_extension(folder: &Path, scenario: &str, extension: &str) -> PathBuf {
    let (above, name) = scenario.rsplit_once('/').unwrap_or(("", scenario));
    let name = if name.len() + extension.len() > LONGEST_NAME {
        let hash = &hex::encode(Sha256::digest(name.as_bytes()))[..16];
        let mut room = LONGEST_NAME - extension.len() - hash.len() - 1;
        while !name.is_char_boundary(room) {
            room -= 1;
        }
        format!("{}~{hash}{extension}", &name[..room])
    } else {
        format!("{name}{extension}")
    };
    folder.join(above).join(name)
}

/// The file, in the folder of the runs.
const INDEX: &str = "index.jsonl";

/// One run: what its result says of it as a whole. The rest may be large, and is not kept in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// The run's id, which is the name of its folder.
    #[serde(alias = "run_id")]
    pub run: String,
    pub command: String,
    pub started_at: String,
    /// Wall time in milliseconds; `null` where it is not known.
    pub duration_ms: Option<f64>,
    /// `null` where the result was written before it was known.
    pub gate: Option<Gate>,
    pub interrupted: bool,
    /// How many scenarios came out in which way.
    pub summary: Summary,
    /// The repository the command was started in.
    pub git: Git,
}

impl From<&ResultDocument> for RunLine {
    fn from(it: &ResultDocument) -> Self {
        Self {
            run: it.run_id.clone(),
            command: it.command.clone(),
            started_at: it.started_at.clone(),
            duration_ms: it.duration_ms,
            gate: it.gate.clone(),
            interrupted: it.interrupted,
            summary: it.summary,
            git: it.git.clone(),
        }
    }
}

/// The runs that are there, the oldest first: from the index, and from the folders of those that it lacks. Writes nothing.
pub fn lines(runs: &Path) -> Vec<RunLine> {
    lines_with(runs, None)
}

/// Brings the index up to date with the runs that are there. What it says of a run that was just kept is this line. Where another process
/// holds the folder of the runs for long, that one or the next does it.
///
/// # Errors
///
/// When the index cannot be written.
pub fn index(runs: &Path, kept: RunLine) -> Result<(), StoreError> {
    let Some(_held) = Held::make(runs, runs)? else {
        return Ok(());
    };
    let mut updated = String::new();
    for line in lines_with(runs, Some(kept)) {
        // Plain values can always be written.
        updated += &serde_json::to_string(&line).unwrap_or_default();
        updated.push('\n');
    }
    if updated != indexed(runs) {
        write(&runs.join(INDEX), updated.as_bytes())?;
    }
    Ok(())
}

/// The text of the index; empty where there is none.
fn indexed(runs: &Path) -> String {
    fs::read_to_string(runs.join(INDEX)).unwrap_or_default()
}

/// As [`lines`], with this line, whatever the index says of that run.
fn lines_with(runs: &Path, kept: Option<RunLine>) -> Vec<RunLine> {
    let text = indexed(runs);
    // A line that cannot be read is made anew, too.
    let known = text.lines().filter_map(|it| {
        let line: RunLine = serde_json::from_str(it).ok()?;
        Some((line.run.clone(), line))
    });
    let mut known: BTreeMap<String, RunLine> = known.collect();
    let is_kept = |it: &RunLine| runs.join(&it.run).join(RESULT).is_file();
    if let Some(line) = kept.filter(is_kept) {
        known.insert(line.run.clone(), line);
    }
    let ids = Runs::ids(runs).into_iter().rev();
    let lines = ids.filter_map(|id| {
        known.remove(&id).or_else(|| {
            let text = fs::read_to_string(runs.join(&id).join(RESULT)).ok()?;
            let line = result::part::<RunLine>(&text).ok()?;
            (line.run == id).then_some(line)
        })
    });
    lines.collect()
}

/// The file that says of a folder that this program made it. It holds the id of the run, so that a copy under another name is nobody's.
const MARKER: &str = ".mcp-eval-run";

/// Says of a folder that this program made it for a run of this id, and holds it for as long as the file is open, or the process lives.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) fn mark_and_hold(folder: &Path, id: &str) -> io::Result<File> {
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .open(folder.join(MARKER))?;
    // A file system without locks holds nothing; there, what goes on is among the newest.
    let _ = file.try_lock();
    // Written only now: whoever finds the file empty leaves the folder alone.
    file.write_all(id.as_bytes())?;
    Ok(file)
}

/// The same of the folder of a report, which nobody holds.
///
/// # Errors
///
/// When the file cannot be written.
pub fn mark(folder: &Path, id: &str) -> Result<(), StoreError> {
    write(&folder.join(MARKER), id.as_bytes())
}

/// A folder itself, and not a link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

/// Whether a folder below `root` was made for the run of this id.
pub(super) fn is_marked(root: &Path, name: &str, id: &str) -> bool {
    let marker = root.join(name).join(MARKER);
    let is_file = fs::symlink_metadata(&marker).is_ok_and(|it| it.is_file() && it.len() < 256);
    is_folder(&root.join(name))
        && is_file
        && fs::read_to_string(&marker).is_ok_and(|it| it.trim_end() == id)
}

/// Whether the run of this folder goes on.
pub(super) fn is_held(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(MARKER)) else {
        return false;
    };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether whoever made this folder for a run of this id, and held it, is gone. Where that cannot be known, as on a file system without
/// locks, it is not.
pub(super) fn is_let_go(folder: &Path, id: &str) -> bool {
    let marker = folder.join(MARKER);
    fs::read_to_string(&marker).is_ok_and(|it| it.trim_end() == id)
        && File::open(marker).is_ok_and(|it| it.try_lock().is_ok())
}

/// Whether a folder says of itself, truly or not, who made it.
pub fn has_marker(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(MARKER)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;

    use super::{LONGEST_NAME, Runs, with_extension};

    #[test]
    fn runs_sort_by_name_however_many_start_at_once() {
        let root = tempfile::tempdir().unwrap();
        let started: Timestamp = "2026-11-22T09:59:59.990Z".parse().unwrap();
        let made: Vec<String> = (0..120)
            .map(|_| Runs::create(root.path(), started).unwrap().id().to_owned())
            .collect();
        assert_eq!(made[0], "2026-11-22T09-59-59.990Z");
        assert_eq!(made[119], "2026-11-22T10-00-00.109Z");
        assert!(made.is_sorted() && made.is_sorted_by_key(|it| Runs::order(it)));
    }

    #[test]
    fn ids_of_earlier_versions_sort_by_their_numbers() {
        let in_order = [
            "2026-11-22T09-59-59Z-100",
            "2026-11-22T10-00-00Z",
            "2026-11-22T10-00-00Z-2",
            "2026-11-22T10-00-00Z-9",
            "2026-11-22T10-00-00Z-38",
            "2026-11-22T10-00-00.001Z",
            "2026-11-22T10-00-00.010Z",
            "2026-11-22T10-00-01Z",
        ];
        assert!(in_order.is_sorted_by_key(|it| Runs::order(it)));
        let later =
            in_order.map(|it| Runs::is_after(it, "2026-11-22T10:00:00.001Z".parse().unwrap()));
        assert_eq!(
            later,
            [false, false, false, false, false, false, true, true]
        );
    }

    #[test]
    fn a_name_fits_into_a_directory_and_stays_its_own() {
        let name = |id: &str| with_extension(Path::new("f"), id, ".json");
        assert_eq!(name("a/b"), Path::new("f/a/b.json"));
        let (long, other) = ("ä".repeat(127) + "x", "ä".repeat(127) + "y");
        for id in [&long, &format!("a/{long}")] {
            let path = name(id);
            assert!(path.file_name().unwrap().len() <= LONGEST_NAME, "{path:?}");
        }
        assert_ne!(name(&long), name(&other));
    }
}
