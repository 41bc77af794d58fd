//! What git ignores, and what it knows.

use std::path::{Path, PathBuf};

use git2::Repository;

use super::{open, real};

/// The work tree around a folder, as git looks at its files.
pub struct Worktree {
    repository: Repository,
    root: PathBuf,
}

impl Worktree {
    /// `None` where there is no repository.
    pub fn around(folder: &Path) -> Option<Self> {
        let repository = open(folder).ok()?;
        let root = real(repository.workdir()?);
        Some(Self { repository, root })
    }

    /// Whether a path is ignored, and is not there all the same because somebody has added it. It must be without links.
    pub fn ignores(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root);
        below.is_ok_and(|it| {
            let is_ignored = self.repository.is_path_ignored(it).unwrap_or(false);
            is_ignored && !self.tracks(path)
        })
    }

    /// Whether a file is one of those that are committed, or about to be. Its path must be without links.
    pub fn tracks(&self, path: &Path) -> bool {
        let index = self.repository.index();
        let entry = path.strip_prefix(&self.root).ok().zip(index.ok());
        entry.is_some_and(|(below, index)| index.get_path(below, 0).is_some())
    }
}
