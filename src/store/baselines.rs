//! Accepted trajectories: `baselines/<scenario>/baseline.json`, and `variant-2.json` and on where several are accepted; and beside
//! them, `pending.json`, the run that waits for review.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

use crate::input;
use crate::model::{PendingRun, Redacted, Step, Trajectory};
use crate::published::trajectory::{CATALOGUES, check_id, duration_ms, pending_to_json, to_json};
use crate::store::dialogue::dialogue_with_values;
use crate::store::files::{Beside, cannot_read, cannot_write, in_the_way, left_behind};
use crate::store::read::parse_pending;
use crate::store::{Held, StoreError, check_links, dialogue, load, parse};

/// The file of the main accepted trajectory.
pub const BASELINE: &str = "baseline.json";

/// The file of a run that waits for review, beside it.
pub(super) const PENDING: &str = "pending.json";

/// The file of its dialogue.
const DIALOGUE: &str = "trajectory.txt";

/// A folder of baselines.
#[derive(Debug, Clone)]
pub struct Baselines {
    root: PathBuf,
    /// The root is itself the folder of the only scenario.
    pub(super) single: bool,
}

impl Baselines {
    /// The folder that holds one folder per scenario.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            single: false,
        }
    }

    /// The folder of a single scenario's baseline.
    pub fn of_one_scenario(folder: impl Into<PathBuf>) -> Self {
        Self {
            root: folder.into(),
            single: true,
        }
    }

    /// The folder of a scenario's baseline.
    pub fn folder(&self, scenario: &str) -> PathBuf {
        if self.single {
            self.root.clone()
        } else {
            self.root.join(scenario)
        }
    }

    /// The main accepted trajectory's file.
    pub fn path(&self, scenario: &str) -> PathBuf {
        self.folder(scenario).join(BASELINE)
    }

    /// The file of an accepted trajectory, the main one being 1.
    pub fn variant_path(&self, scenario: &str, variant: usize) -> PathBuf {
        match variant {
            0 | 1 => self.path(scenario),
            number => self.folder(scenario).join(format!("variant-{number}.json")),
        }
    }

    /// Whether a file in the folder of a baseline holds an accepted trajectory, by its name.
    pub fn is_accepted(file: &Path) -> bool {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let variant = name.strip_prefix("variant-");
        let variant = variant.and_then(|it| it.strip_suffix(".json"));
        name == BASELINE || variant.is_some_and(|it| it.parse::<usize>().is_ok())
    }

    /// Whether a file is called as one of those that this program writes into the folder of a baseline.
    pub fn is_theirs(file: &Path) -> bool {
        Self::is_accepted(file) || file.ends_with(PENDING) || file.ends_with(DIALOGUE)
    }

    /// The folder of a scenario's baseline where it lies under an old name: `X/X/` or `X_baseline/`, as the original tool called them;
    /// `None` where it lies in its place, or nowhere.
    pub fn elsewhere(&self, scenario: &str) -> Option<PathBuf> {
        if self.single || self.path(scenario).exists() {
            return None;
        }
        let mut old = self.old_folders(scenario).into_iter();
        old.find(|it| it.join(BASELINE).is_file())
    }

    /// Where the baseline of a scenario lies under an old name, if it does.
    pub fn old_folders(&self, scenario: &str) -> [PathBuf; 2] {
        let name = scenario.rsplit('/').next().unwrap_or(scenario);
        [
            self.root.join(scenario).join(name),
            self.root.join(format!("{scenario}_baseline")),
        ]
    }

    /// All accepted trajectories of a scenario, the main one first; empty when there is none.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file is there but cannot be read.
    pub fn load(&self, scenario: &str) -> Result<Vec<Redacted<Trajectory>>, StoreError> {
        let main = self.path(scenario);
        let mut accepted = Vec::new();
        if self.exists(&main)? {
            accepted.push(load(&main)?);
            for number in 2.. {
                let variant = self.variant_path(scenario, number);
                if !self.exists(&variant)? {
                    break;
                }
                accepted.push(load(&variant)?);
            }
        }
        Ok(accepted)
    }

    /// How many accepted trajectories a scenario has, whether they can be read or not.
    pub fn variants(&self, scenario: &str) -> usize {
        if !self.path(scenario).exists() {
            return 0;
        }
        let mut further = 2..;
        let first_gone = further.find(|it| !self.variant_path(scenario, *it).exists());
        first_gone.map_or(1, |it| it - 1)
    }

    /// How long the run took, in milliseconds, that the main accepted trajectory was recorded in; `None` where that is not known. Nothing
    /// else of the file is looked at: who compares with it says what is wrong with it.
    pub fn duration_ms(&self, scenario: &str) -> Option<f64> {
        let text = input::read(&self.path(scenario)).ok()?;
        duration_ms(&text)
    }

    /// Keeps a trajectory as the main accepted one, with its dialogue beside it, and returns the file's path.
    ///
    /// # Errors
    ///
    /// See [`Baselines::save_variant`].
    pub fn save(
        &self,
        scenario: &str,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<PathBuf, StoreError> {
        self.save_variant(scenario, 1, trajectory)
    }

    /// Keeps a trajectory as one of the accepted ones, the main one being 1, and returns the file's path. Beside the main one lies its
    /// dialogue.
    ///
    /// What its servers offer is stored beside all baselines, and named. It is read back before it replaces the old one, so that no baseline
    /// is kept which the next comparison could not read.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written or read again; the old baseline is unchanged then.
    pub fn save_variant(
        &self,
        scenario: &str,
        variant: usize,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<PathBuf, StoreError> {
        check_id(scenario).map_err(|problem| StoreError::Unreadable {
            path: self.variant_path(scenario, variant),
            problem,
        })?;
        // Without the lock, which another process may hold for too long, the files are still replaced whole; only leftovers are not removed.
        let held = Held::make(&self.folder(scenario), &self.root)?;
        self.save_under(held.as_ref(), scenario, variant, trajectory)
    }

    /// Lets nobody else who asks for it write what lies in the folder of a scenario, for as long as what is returned lives.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when there is no such folder and none can be made, or somebody else holds it for too long.
    pub fn hold(&self, scenario: &str) -> Result<Held, StoreError> {
        let folder = self.folder(scenario);
        let why = "another process is writing there: try again";
        let held = Held::make(&folder, &self.root)?;
        held.ok_or_else(|| cannot_write(&folder, io::Error::other(why)))
    }

    /// Writes the dialogue beside a scenario's main accepted trajectory as it is written now; `false` where it is so already.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub(super) fn renew_dialogue(
        &self,
        scenario: &str,
        main: &Trajectory,
    ) -> Result<bool, StoreError> {
        let (path, now) = (self.dialogue_path(scenario), dialogue(main));
        let is_new = fs::read_to_string(&path).is_ok_and(|it| reads_as(&it, &now));
        if !is_new {
            self.beside(&path, now.as_bytes())?.put()?;
        }
        Ok(!is_new)
    }

    /// A file in the folder of a scenario that is about to be written.
    pub(super) fn beside(&self, path: &Path, content: &[u8]) -> Result<Beside, StoreError> {
        check_links(path, &self.root)?;
        Beside::new(path, content)
    }

    /// [`Self::save_variant`] for somebody who holds the folder already.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn save_under(
        &self,
        held: Option<&Held>,
        scenario: &str,
        variant: usize,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<PathBuf, StoreError> {
        let path = self.variant_path(scenario, variant);
        let unreadable = |problem| StoreError::Unreadable {
            path: path.clone(),
            problem,
        };
        if let Some(held) = held {
            held.sweep();
        }
        let (text, _catalogues) = self.text_of(scenario, trajectory)?;
        let mut kept = self.beside(&path, text.as_bytes())?;
        let read = parse(&path, &kept.read_back()?).map_err(|error| unreadable(error.reason()))?;
        if read != as_stored(trajectory) {
            return Err(unreadable("what was written reads otherwise".to_owned()));
        }
        drop(read);
        kept.sync()?;
        if variant > 1 {
            kept.put()?;
            return Ok(path);
        }
        // Both are written before either is put in its place. A process that is killed between the two leaves the temporary file of the
        // dialogue, by which `mend` recognises that the dialogue may be of the previous recording.
        let dialogue = self.beside(
            &self.dialogue_path(scenario),
            dialogue(trajectory).as_bytes(),
        )?;
        kept.put()?;
        dialogue.put()?;
        Ok(path)
    }

    /// Keeps a document as what was accepted of a scenario that measures something. What was accepted of a trajectory before, in further files,
    /// tells of something else, and is removed.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file cannot be written or removed.
    pub fn save_measured(
        &self,
        scenario: &str,
        document: &Redacted<String>,
    ) -> Result<PathBuf, StoreError> {
        let held = self.hold(scenario)?;
        held.sweep();
        let path = self.path(scenario);
        let variants = (2..=self.variants(scenario)).map(|it| self.variant_path(scenario, it));
        let others: Vec<PathBuf> = variants.chain([self.dialogue_path(scenario)]).collect();
        self.beside(&path, document.as_bytes())?.put()?;
        for other in others {
            if self.exists(&other)? {
                let done = fs::remove_file(&other);
                done.map_err(|source| cannot_write(&other, source))?;
            }
        }
        Ok(path)
    }

    /// Repairs what a process that was killed while it kept a baseline has left: removes temporary files, and rewrites a dialogue of another
    /// recording than the one beside it.
    ///
    /// `main` is the main accepted trajectory, as it was loaded. It never changes accepted trajectories, nor files that
    /// another process is writing. A dialogue that another version of this program has worded differently stays as it is.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when the dialogue cannot be written.
    pub fn mend(&self, scenario: &str, main: Option<&Trajectory>) -> Result<(), StoreError> {
        let folder = self.folder(scenario);
        let was_cut_short = !left_behind(&folder).is_empty();
        let is_wrong =
            main.is_some_and(|it| self.right_dialogue(scenario, it, was_cut_short).is_some());
        if !was_cut_short && !is_wrong {
            return Ok(());
        }
        // Another process is writing to the folder.
        let Some(held) = Held::try_hold(&folder) else {
            return Ok(());
        };
        // Loaded again, because another process may have replaced it before the lock was taken.
        let (path, dialogue_path) = (self.path(scenario), self.dialogue_path(scenario));
        let main = if is_wrong { Some(load(&path)?) } else { None };
        let right = main.and_then(|it| self.right_dialogue(scenario, &it, was_cut_short));
        if let Some(right) = right {
            self.beside(&dialogue_path, right.as_bytes())?.put()?;
        }
        // Last, so that the leftovers still show that something is to repair if this process is killed before.
        held.sweep();
        Ok(())
    }

    /// Whether the dialogue that lies beside a scenario's main accepted trajectory, as it was loaded, is the one of another.
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherDialogue`] when it is.
    pub fn check_dialogue(&self, scenario: &str, main: &Trajectory) -> Result<(), StoreError> {
        let path = self.dialogue_path(scenario);
        let is_other = match self.exists(&path) {
            Ok(is_there) => is_there && self.right_dialogue(scenario, main, false).is_some(),
            // A folder, or a link that leads out: people read there whatever it is.
            Err(_) => true,
        };
        if is_other {
            return Err(StoreError::OtherDialogue { path });
        }
        Ok(())
    }

    /// The right text of the dialogue beside a scenario's main baseline; `None` where it has that already.
    fn right_dialogue(
        &self,
        scenario: &str,
        main: &Trajectory,
        was_cut_short: bool,
    ) -> Option<String> {
        let path = self.dialogue_path(scenario);
        let is_there = self.exists(&path);
        let found = is_there
            .as_ref()
            .is_ok_and(|it| *it)
            .then(|| fs::read(path).ok());
        let found = found.flatten();
        let is_missing = is_there.is_ok_and(|it| !it);
        let is_ours = main.stamp.mcp_eval == env!("CARGO_PKG_VERSION");
        if !was_cut_short && !is_missing && (found.is_none() || !is_ours) {
            return None;
        }
        let right = dialogue(main);
        let found = found.and_then(|it| String::from_utf8(it).ok());
        let is_right = found
            .is_some_and(|it| reads_as(&it, &right) || reads_as(&it, &dialogue_with_values(main)));
        (!is_right).then_some(right)
    }

    /// The path of a scenario's dialogue if a folder is there instead of the file.
    pub fn folder_for_dialogue(&self, scenario: &str) -> Option<PathBuf> {
        Some(self.dialogue_path(scenario)).filter(|it| it.is_dir())
    }

    /// The ids of all scenarios that have a main accepted trajectory, in order. Folders that cannot be read are passed over.
    pub fn scenarios(&self) -> Vec<String> {
        let accepted = self
            .named(BASELINE)
            .filter(|(_, it)| it.file_type().is_file());
        accepted.map(|(id, _)| id).collect()
    }

    /// What is called so in the folders of scenarios, each with the scenario's id, in order. Folders that cannot be read are passed over.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = (String, DirEntry)> {
        let entries = WalkDir::new(&self.root)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|it| {
                let name = it.file_name();
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                it.depth() == 0 || !is_hidden && name != CATALOGUES
            })
            .flatten();
        entries
            .filter(move |it| it.depth() > 1 && it.file_name() == name)
            .filter_map(|it| {
                let folder = it.path().parent()?.strip_prefix(&self.root).ok()?;
                Some((folder.to_str()?.to_owned(), it))
            })
    }

    /// Removes a variant, the main one being 1. The last one takes its place, in one step, so that there is never a gap, at which whoever
    /// reads them would stop.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file cannot be removed or moved.
    pub fn remove_variant(&self, scenario: &str, variant: usize) -> Result<(), StoreError> {
        let gone = self.variant_path(scenario, variant);
        check_links(&gone, &self.root)?;
        let later = (variant + 1..).map(|it| self.variant_path(scenario, it));
        let done = match later.take_while(|it| it.exists()).last() {
            Some(last) => fs::rename(last, &gone),
            None => fs::remove_file(&gone),
        };
        done.map_err(|source| cannot_write(&gone, source))
    }

    /// Whether a file is there; not being able to find out is an error, not an absence. So is what is no regular file, such as a device, which
    /// may have no end, and what a link out of the folder of all baselines leads to.
    fn exists(&self, path: &Path) -> Result<bool, StoreError> {
        let found = input::check_links(path, &self.root).map(|()| fs::metadata(path));
        let source = match found {
            Ok(Ok(found)) if found.is_file() => return Ok(true),
            Ok(Ok(found)) if found.is_dir() => {
                io::Error::new(io::ErrorKind::IsADirectory, "a folder is in its place")
            }
            Ok(Ok(_)) => io::Error::other("it is not a file"),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Ok(Err(error)) => in_the_way(path, error),
            Err(error) => error,
        };
        Err(cannot_read(path, source))
    }

    /// The dialogue beside a scenario's main accepted trajectory.
    pub fn dialogue_path(&self, scenario: &str) -> PathBuf {
        self.folder(scenario).join(DIALOGUE)
    }

    /// Where the baselines lie.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Whether a text says what another one does: Git may have checked it out with the line ends of Windows, and an editor may have cut white
/// space off.
fn reads_as(found: &str, text: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.trim_end().lines();
        lines.map(|it| it.trim_end().to_owned()).collect()
    };
    found == text || lines(found) == lines(text)
}

/// A trajectory as it is read back: without what is never stored. A copy only where there is any: answers may be long.
fn as_stored(trajectory: &Redacted<Trajectory>) -> Redacted<Trajectory> {
    let mut stored = trajectory.clone();
    if stored.as_said.is_some() || stored.calls().any(|it| !it.again.is_empty()) {
        stored.refine(|it| {
            it.as_said = None;
            for step in &mut it.steps {
                if let Step::ToolCall(call) = step {
                    call.again.clear();
                }
            }
        });
    }
    stored
}

/// What tells one accepted trajectory from another, however its file is laid out.
pub fn fingerprint(trajectory: &Redacted<Trajectory>) -> String {
    hex::encode(Sha256::digest(to_json(trajectory).as_bytes()))
}

const FOLDER: &str = "a folder";

impl Baselines {
    /// The file of a scenario's pending run.
    pub fn pending_path(&self, scenario: &str) -> PathBuf {
        self.folder(scenario).join(PENDING)
    }

    /// What stands in the place of a scenario's pending run and is no file; `None` for a file, and where nothing is.
    fn special(&self, path: &Path) -> Result<Option<&'static str>, StoreError> {
        // The link itself is looked at, and the folders above it are entered.
        let above = path.parent().unwrap_or(path);
        match input::check_links(above, self.root()).and_then(|()| fs::symlink_metadata(path)) {
            Ok(found) if found.is_file() => Ok(None),
            Ok(found) if found.is_symlink() => Ok(Some("a link")),
            Ok(found) if found.is_dir() => Ok(Some(FOLDER)),
            Ok(_) => Ok(Some("a pipe or a device")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(cannot_read(path, source)),
        }
    }

    /// Whether something is in the place of a scenario's pending run.
    pub fn has_pending(&self, scenario: &str) -> bool {
        self.pending_path(scenario).symlink_metadata().is_ok()
    }

    /// Keeps a run for review, in the place of an earlier one.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_pending(&self, scenario: &str, run: &PendingRun) -> Result<PathBuf, StoreError> {
        let path = self.pending_path(scenario);
        check_id(scenario).map_err(|problem| StoreError::Unreadable {
            path: path.clone(),
            problem,
        })?;
        if self.special(&path)?.is_some() {
            self.remove_pending(scenario)?;
        }
        self.beside(&path, pending_to_json(run).as_bytes())?.put()?;
        Ok(path)
    }

    /// A scenario's pending run; `None` where there is none.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be read.
    pub fn load_pending(&self, scenario: &str) -> Result<Option<PendingRun>, StoreError> {
        let path = self.pending_path(scenario);
        if let Some(kind) = self.special(&path)? {
            let source = io::Error::other(format!("it is {kind}, not a regular file"));
            return Err(StoreError::Read { path, source });
        }
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        parse_pending(&path, &text).map(Some)
    }

    /// Removes a scenario's pending run, or what stands in its place: a link, but not what it leads to, and a folder with nothing in it.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be removed.
    pub fn remove_pending(&self, scenario: &str) -> Result<(), StoreError> {
        let path = self.pending_path(scenario);
        let is_folder = self.special(&path)? == Some(FOLDER);
        let removed = if is_folder {
            fs::remove_dir(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(StoreError::Write { path, source }),
        }
    }

    /// The ids of all scenarios of which a run is pending, in order. Folders that cannot be read are passed over.
    pub fn pending(&self) -> Vec<String> {
        self.named(PENDING).map(|(id, _)| id).collect()
    }
}
