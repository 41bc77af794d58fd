//! Paths as documents name them: as seen from where the document lies.

use std::path::{Component, Path, PathBuf};

/// Paths as seen from a folder.
pub(super) struct SeenFrom {
    working_dir: PathBuf,
    folder: PathBuf,
}

impl SeenFrom {
    /// The folder may be relative to the working directory.
    pub(super) fn new(folder: &Path) -> Self {
        let working_dir = std::env::current_dir().unwrap_or_default();
        Self {
            folder: plain(&working_dir.join(folder)),
            working_dir,
        }
    }

    /// A path, which may be relative to the working directory, with `/`.
    pub(super) fn path(&self, to: &Path) -> String {
        let to = plain(&self.working_dir.join(to));
        let shared = self
            .folder
            .components()
            .zip(to.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = self
            .folder
            .components()
            .skip(shared)
            .map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(to.components().skip(shared)).collect();
        path.to_string_lossy().into_owned()
    }
}

/// The path without steps that lead nowhere (`.`) or back (`..`).
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            step => plain.push(step),
        }
    }
    plain
}
