//! The folders that are watched, and which of their files count.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, EventKind, MetadataKind, ModifyKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use walkdir::WalkDir;

use crate::cli::failure::Failure;
use crate::git::Ignored;

/// Folders in which nothing is anybody's source, whatever git says.
const NO_SOURCE: [&str; 4] = [".git", ".mcp-eval", "node_modules", "target"];

/// What is watched.
pub(super) struct Watched {
    watcher: RecommendedWatcher,
    folders: HashSet<PathBuf>,
    trees: Vec<Tree>,
}

/// A folder that is watched with all below it, but for what is no source.
struct Tree {
    root: PathBuf,
    ignored: Ignored,
}

impl Watched {
    /// Watches nothing yet. `tell` is given the files that have changed, or `None` where some were missed.
    ///
    /// # Errors
    ///
    /// When this system lets nobody watch.
    pub(super) fn new(
        tell: impl Fn(Option<Vec<PathBuf>>) + Send + 'static,
    ) -> Result<Self, Failure> {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            match event {
                Ok(event) if event.need_rescan() => tell(None),
                Ok(event) if is_change(event.kind) => tell(Some(event.paths)),
                Ok(_) => {}
                Err(_) => tell(None),
            }
        });
        Ok(Self {
            watcher: watcher.map_err(|error| failure(Path::new("files"), &error))?,
            folders: HashSet::new(),
            trees: Vec::new(),
        })
    }

    /// Watches the files that lie directly in a folder; one that is not there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be watched.
    pub(super) fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        if self.folders.contains(folder) || !folder.is_dir() {
            return Ok(());
        }
        match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.folders.insert(folder.to_owned());
                Ok(())
            }
            // It went away, or is none of ours.
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound | ErrorKind::Io(_)) => Ok(()),
            Err(error) => Err(failure(folder, &error)),
        }
    }

    /// Watches a folder with all below it that may be source.
    ///
    /// # Errors
    ///
    /// When it cannot be watched.
    pub(super) fn tree(&mut self, root: &Path) -> Result<(), Failure> {
        if self.trees.iter().any(|it| it.root == root) || !root.is_dir() {
            return Ok(());
        }
        self.trees.push(Tree {
            root: root.to_owned(),
            ignored: Ignored::around(root),
        });
        self.below(root).map(|_| ())
    }

    /// Watches a folder of a tree with all below it, and returns the files there.
    fn below(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        let mut folders = Vec::new();
        let entries = WalkDir::new(folder).into_iter();
        let entries = entries.filter_entry(|it| {
            it.depth() == 0 || !it.file_type().is_dir() || self.is_source(it.path())
        });
        for entry in entries.flatten() {
            if entry.file_type().is_dir() {
                folders.push(entry.into_path());
            } else {
                files.push(entry.into_path());
            }
        }
        for folder in folders {
            self.folder(&folder)?;
        }
        Ok(files)
    }

    /// Follows folders that came or went, and returns the files in those that came.
    pub(super) fn follow(&mut self, changed: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let mut appeared = Vec::new();
        for path in changed {
            if !path.exists() {
                // What is made there anew is another folder.
                self.folders.retain(|it| !it.starts_with(path));
            } else if path.is_dir() && self.is_in_tree(path) && self.is_source(path) {
                // More than can be watched was told when the others were.
                appeared.extend(self.below(path).unwrap_or_default());
            }
        }
        appeared
    }

    /// Those of the files that are not left out of all trees that they lie in, or are named by somebody.
    pub(super) fn counting(
        &self,
        files: BTreeSet<PathBuf>,
        is_named: impl Fn(&Path) -> bool,
    ) -> BTreeSet<PathBuf> {
        let counts = |it: &PathBuf| is_named(it) || !self.is_in_tree(it) || self.is_source(it);
        files.into_iter().filter(counts).collect()
    }

    fn is_in_tree(&self, path: &Path) -> bool {
        self.trees.iter().any(|it| path.starts_with(&it.root))
    }

    /// Whether a path may be source in one of the trees that it lies in.
    fn is_source(&self, path: &Path) -> bool {
        self.trees.iter().any(|it| it.has_source(path))
    }
}

impl Tree {
    fn has_source(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else {
            return false;
        };
        let mut names = below.components();
        !names.any(|it| NO_SOURCE.iter().any(|no| it.as_os_str() == *no))
            && !self.ignored.holds(path)
    }
}

/// Whether something may have another content now. That a file was opened, or read, is no change.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any => true,
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(it)) => it == MetadataKind::WriteTime,
        EventKind::Modify(_) => true,
        EventKind::Other => false,
    }
}

fn failure(path: &Path, error: &notify::Error) -> Failure {
    let failure = Failure::incomplete(format!("cannot watch {}: {error}", path.display()));
    match error.kind {
        ErrorKind::MaxFilesWatch => failure.hint(
            "this system watches no more folders: raise `fs.inotify.max_user_watches`, or name a smaller folder with --watch-path",
        ),
        _ => failure,
    }
}
