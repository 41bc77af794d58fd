//! The state of files right now, to find out which of them have changed. Whatever the system tells of changes is only taken as
//! a hint to look again: how editors and build tools write files differs too much.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::git::Worktree;
use crate::input::real;

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
