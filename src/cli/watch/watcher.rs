//! Events while we watch: keys, folders in which something happens, and the files that have changed there. Whatever the system tells of changes is only taken as
//! a hint to look again: how editors and build tools write files differs too much.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use walkdir::WalkDir;

use crate::cli::exit::Failure;
use crate::cli::keywise::Keywise;
use crate::git::Worktree;
use crate::input::real;

/// Folders that are watched, without what lies in folders in there.
pub(super) struct Watcher {
    system: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl Watcher {
    /// Watches nothing yet. `tell` is called when something has happened, and given what is gone, or is another one now.
    ///
    /// # Errors
    ///
    /// When this system lets nobody watch.
    pub(super) fn new(tell: impl Fn(Vec<PathBuf>) + Send + 'static) -> Result<Self, Failure> {
        let system = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            match event {
                // That somebody reads is no change.
                Ok(event) if !is_change(event.kind) => {}
                Ok(event) if is_end(event.kind) => tell(event.paths),
                _ => tell(Vec::new()),
            }
        });
        Ok(Self {
            system: system.map_err(|error| failure(Path::new("files"), &error))?,
            folders: BTreeSet::new(),
        })
    }

    /// Watches these folders and no others; whether that are others than before.
    ///
    /// # Errors
    ///
    /// When one of them cannot be watched.
    pub(super) fn follow(&mut self, folders: &BTreeSet<PathBuf>) -> Result<bool, Failure> {
        for gone in self.folders.difference(folders) {
            let _ = self.system.unwatch(gone);
        }
        self.folders.retain(|it| folders.contains(it));
        let mut is_new = false;
        for folder in folders {
            if self.folders.contains(folder) {
                continue;
            }
            match self.system.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => is_new |= self.folders.insert(folder.clone()),
                // It has just gone, or is none of ours.
                Err(error) if matches!(error.kind, ErrorKind::PathNotFound | ErrorKind::Io(_)) => {}
                Err(error) => return Err(failure(folder, &error)),
            }
        }
        Ok(is_new)
    }

    /// Forgets folders that have gone: what is there by that name now is another one.
    pub(super) fn forget(&mut self, paths: &[PathBuf]) {
        let is_gone = |it: &PathBuf| paths.iter().any(|path| it.starts_with(path));
        for gone in self.folders.iter().filter(|it| is_gone(it)) {
            let _ = self.system.unwatch(gone);
        }
        self.folders.retain(|it| !is_gone(it));
    }
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

fn is_end(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}

fn failure(path: &Path, error: &notify::Error) -> Failure {
    let failure = Failure::incomplete(format!("cannot watch {}: {error}", path.display()));
    match error.kind {
        ErrorKind::MaxFilesWatch => failure.hint(
            "this system watches no more folders: raise `fs.inotify.max_user_watches`, or name a smaller folder",
        ),
        _ => failure,
    }
}

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    RunAll,
    RunFailed,
    Quit,
}

/// A terminal that hands out every key as it is typed, until this is dropped.
pub(super) struct Keys {
    _mode: Keywise,
}

impl Keys {
    /// Listens to keys; `None` where nobody can type any.
    pub(super) fn listen(tell: impl Fn(Key) + Send + 'static) -> Option<Self> {
        let stdin = io::stdin();
        // A job in the background would be stopped for touching the terminal.
        if !stdin.is_terminal() || tcgetpgrp(&stdin).ok() != Some(getpgrp()) {
            return None;
        }
        let mode = Keywise::enter().ok()?;
        std::thread::spawn(move || {
            let mut typed = [0];
            while let Ok(1) = io::stdin().read(&mut typed) {
                match typed[0] {
                    b'\n' | b'\r' => tell(Key::RunAll),
                    // No capitals: other keys send them within a sequence.
                    b'f' => tell(Key::RunFailed),
                    b'q' => tell(Key::Quit),
                    _ => {}
                }
            }
        });
        Some(Self { _mode: mode })
    }
}

/// Folders in which nothing is anybody's source, whatever git says.
const NO_SOURCE: [&str; 5] = [".git", ".mcp-eval", "__pycache__", "node_modules", "target"];

/// Files as they are right now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Files {
    stamps: BTreeMap<PathBuf, Stamp>,
    /// The folders in which something happens when one of them changes, comes or goes.
    pub(super) folders: BTreeSet<PathBuf>,
}

/// What tells that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Files {
    /// Adds a file, which may not be there yet.
    pub(super) fn file(&mut self, path: &Path) {
        // A link changes where it lies, and where it leads.
        for place in [path.to_owned(), real(path)] {
            let folder = place.ancestors().skip(1).find(|it| it.is_dir());
            self.folders.extend(folder.map(Path::to_owned));
        }
        if let Ok(metadata) = fs::metadata(path)
            && metadata.is_file()
        {
            let stamp = Stamp {
                modified: metadata.modified().ok(),
                length: metadata.len(),
                inode: metadata.ino(),
            };
            self.stamps.insert(path.to_owned(), stamp);
        }
    }

    /// Adds all files below a folder without links in its path, but for those that git ignores and what lies in some folders. Who names a
    /// folder that is ignored itself means what is in there.
    pub(super) fn tree(&mut self, root: &Path, but_for: &[PathBuf]) {
        if !root.is_dir() {
            self.file(root);
            return;
        }
        let worktree = Worktree::around(root).filter(|it| !it.ignores(root));
        let is_source = |path: &Path| {
            let is_ignored = || worktree.as_ref().is_some_and(|it| it.ignores(path));
            !is_no_source(path) && !but_for.iter().any(|it| it == path) && !is_ignored()
        };
        let entries = WalkDir::new(root).into_iter();
        let entries = entries.filter_entry(|it| it.depth() == 0 || is_source(it.path()));
        for entry in entries.flatten() {
            if entry.file_type().is_dir() {
                self.folders.insert(entry.into_path());
            } else {
                self.file(entry.path());
            }
        }
    }

    /// Adds a scenario file, or those of a folder with all below it, whatever git says of them.
    pub(super) fn scenarios(&mut self, root: &Path) {
        if !root.is_dir() {
            self.file(root);
            return;
        }
        let entries = WalkDir::new(root).follow_links(true).into_iter();
        let entries = entries.filter_entry(|it| it.depth() == 0 || !is_no_source(it.path()));
        for entry in entries.flatten() {
            let extension = entry.path().extension().map(OsStr::to_ascii_lowercase);
            if entry.file_type().is_dir() {
                self.folders.insert(entry.into_path());
            } else if extension.is_some_and(|it| it == "yaml" || it == "yml") {
                self.file(entry.path());
            }
        }
    }

    pub(super) fn holds(&self, path: &Path) -> bool {
        self.stamps.contains_key(path)
    }

    /// The files that are not as they were then, came or went.
    pub(super) fn changed_since(&self, then: &Self) -> BTreeSet<PathBuf> {
        let all = self.stamps.keys().chain(then.stamps.keys());
        all.filter(|it| self.stamps.get(*it) != then.stamps.get(*it))
            .cloned()
            .collect()
    }
}

fn is_no_source(path: &Path) -> bool {
    NO_SOURCE.iter().any(|it| path.ends_with(it))
}

/// How many runs in a row a file may change in before it is taken for something that runs write.
const MOST: u32 = 3;

/// What runs write.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// In how many rounds in a row a file has changed.
    rounds: BTreeMap<PathBuf, u32>,
    /// What has changed in this round.
    in_round: BTreeSet<PathBuf>,
    /// What was taken for its work in this round.
    by_round: BTreeSet<PathBuf>,
}

impl Written {
    /// Takes note of a file that has changed while a round goes on, and says whether the round has written it: it looks like that at once
    /// (`is_likely`), or it was the same in the rounds before.
    pub(super) fn takes(&mut self, file: &Path, is_likely: bool) -> bool {
        if self.in_round.insert(file.to_owned()) {
            *self.rounds.entry(file.to_owned()).or_default() += 1;
        }
        if is_likely || self.rounds[file] >= MOST {
            self.by_round.insert(file.to_owned());
        }
        self.by_round.contains(file)
    }

    /// Ends a round; the files that are from now on taken for the work of runs.
    pub(super) fn end_round(&mut self) -> Vec<PathBuf> {
        self.rounds.retain(|it, _| self.in_round.contains(it));
        self.by_round.clear();
        let changed = std::mem::take(&mut self.in_round).into_iter();
        changed.filter(|it| self.rounds[it] == MOST).collect()
    }
}
