//! Runs that wait for review: `pending.json` beside the baseline they were compared with.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

use crate::input;
use crate::model::pending::PendingRun;
use crate::model::redacted::Redacted;
use crate::model::trajectory::Trajectory;
use crate::published::trajectory::{check_id, pending_to_json, to_json};
use crate::store::Baselines;
use crate::store::baselines::PENDING;
use crate::store::files::{StoreError, cannot_read};
use crate::store::read::parse_pending;

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
