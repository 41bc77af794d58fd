//! Tells when something happens in some folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::cli::failure::Failure;

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
