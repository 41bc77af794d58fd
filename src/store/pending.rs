//! Runs that wait for review: `pending.json` beside the baseline they were compared with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::model::pending::PendingRun;
use crate::model::redacted::Redacted;
use crate::model::trajectory::Trajectory;
use crate::published::trajectory::{check_id, origin, pending_to_json, to_json};
use crate::store::files::{StoreError, write};
use crate::store::{Baselines, parse};

const FILE: &str = "pending.json";

/// What tells one accepted trajectory from another, however its file is laid out.
pub fn fingerprint(trajectory: &Redacted<Trajectory>) -> String {
    hex::encode(Sha256::digest(to_json(trajectory).as_bytes()))
}

const FOLDER: &str = "a folder";

/// What stands in the place of a file and is none; `None` for a file, and where nothing is.
fn special(path: &Path) -> Result<Option<&'static str>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(None),
        Ok(found) if found.is_symlink() => Ok(Some("a link")),
        Ok(found) if found.is_dir() => Ok(Some(FOLDER)),
        Ok(_) => Ok(Some("a pipe or a device")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

impl Baselines {
    /// The file of a scenario's pending run.
    pub fn pending_path(&self, scenario: &str) -> PathBuf {
        self.folder(scenario).join(FILE)
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
        if special(&path)?.is_some() {
            self.remove_pending(scenario)?;
        }
        write(&path, pending_to_json(run).as_bytes())?;
        Ok(path)
    }

    /// A scenario's pending run; `None` where there is none.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be read.
    pub fn load_pending(&self, scenario: &str) -> Result<Option<PendingRun>, StoreError> {
        let path = self.pending_path(scenario);
        if let Some(kind) = special(&path)? {
            let source = io::Error::other(format!("it is {kind}, not a regular file"));
            return Err(StoreError::Read { path, source });
        }
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        let trajectory = parse(&path, &text)?;
        let origin = origin(&text).map_err(|error| StoreError::Invalid {
            path,
            problem: error.to_string(),
        })?;
        Ok(Some(PendingRun { trajectory, origin }))
    }

    /// Removes a scenario's pending run, or what stands in its place: a link, but not what it leads to, and a folder with nothing in it.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be removed.
    pub fn remove_pending(&self, scenario: &str) -> Result<(), StoreError> {
        let path = self.pending_path(scenario);
        let is_folder = special(&path)? == Some(FOLDER);
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

    /// Removes a variant, the main one being 1, and moves those after it up, so that they stay numbered without a gap.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file cannot be removed or moved.
    pub fn remove_variant(&self, scenario: &str, variant: usize) -> Result<(), StoreError> {
        let failed = |path: PathBuf| move |source| StoreError::Write { path, source };
        let gone = self.variant_path(scenario, variant);
        fs::remove_file(&gone).map_err(failed(gone.clone()))?;
        for number in variant.. {
            let (from, to) = (
                self.variant_path(scenario, number + 1),
                self.variant_path(scenario, number),
            );
            if !from.exists() {
                break;
            }
            fs::rename(&from, &to).map_err(failed(to.clone()))?;
        }
        Ok(())
    }

    /// The ids of all scenarios of which a run is pending, in order. Folders that cannot be read are passed over.
    pub fn pending(&self) -> Vec<String> {
        let entries = WalkDir::new(self.root())
            .follow_links(true)
            .min_depth(2)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|it| {
                it.depth() == 0 || !it.file_name().as_encoded_bytes().starts_with(b".")
            })
            .flatten()
            .filter(|it| it.file_name() == FILE);
        let ids = entries.filter_map(|it| {
            let folder = it.path().parent()?.strip_prefix(self.root()).ok()?;
            folder.to_str().map(str::to_owned)
        });
        ids.collect()
    }
}
