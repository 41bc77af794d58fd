//! Every run, whatever came of it: `.mcp-eval/runs/<run>/current/<scenario>.json`, and what it was compared with under `baseline/`, what its
//! container said under `logs/`. Of several attempts, each has such a folder at `attempts/<number>`, and the one that is shown is kept twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::model::trajectory::Trajectory;
use crate::store::files::{StoreError, write};
use crate::store::format::to_json;

/// The folder of one run of the program.
#[derive(Debug, Clone)]
pub struct Runs {
    id: String,
    folder: PathBuf,
}

impl Runs {
    /// Makes a folder for a new run below `root`. Its name is the time it starts, so that runs sort by it; a number is added when two
    /// start within the same second.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`] when the folder cannot be made.
    pub fn create(root: &Path, started_at: Timestamp) -> Result<Self, StoreError> {
        let failed = |path: &Path, source| StoreError::Write {
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(root).map_err(|source| failed(root, source))?;
        let time = started_at.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        for number in 1_u32.. {
            let id = if number == 1 {
                time.clone()
            } else {
                format!("{time}-{number}")
            };
            let folder = root.join(&id);
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { id, folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(failed(&folder, source)),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// The folder of a run that has been kept.
    pub fn open(root: &Path, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            folder: root.join(id),
        }
    }

    /// The folder of one of several attempts at each scenario, laid out like that of a run. Attempts are counted from 1.
    #[must_use]
    pub fn attempt(&self, number: usize) -> Self {
        Self {
            id: self.id.clone(),
            folder: self.folder.join("attempts").join(number.to_string()),
        }
    }

    /// Keeps a scenario's trajectory and log of an attempt as those of the whole, as far as there are such.
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
        below(&self.folder.join("current"), scenario)
    }

    /// The file that keeps what a scenario's trajectory was compared with.
    pub fn baseline_path(&self, scenario: &str) -> PathBuf {
        below(&self.folder.join("baseline"), scenario)
    }

    /// The file that keeps what a scenario's container said.
    pub fn log_path(&self, scenario: &str) -> PathBuf {
        with_extension(&self.folder.join("logs"), scenario, ".log")
    }

    /// Keeps what a scenario's container said, which must be free of secrets.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_log(&self, scenario: &str, log: &str) -> Result<PathBuf, StoreError> {
        let path = self.log_path(scenario);
        write(&path, log.as_bytes())?;
        Ok(path)
    }

    /// Keeps a run's trajectory and returns the file's path.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save(&self, scenario: &str, trajectory: &Trajectory) -> Result<PathBuf, StoreError> {
        let path = self.path(scenario);
        write(&path, to_json(trajectory).as_bytes())?;
        Ok(path)
    }

    /// Keeps what a run was compared with, so that its report can be rendered again after the baseline has moved on.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written.
    pub fn save_baseline(
        &self,
        scenario: &str,
        baseline: &Trajectory,
    ) -> Result<PathBuf, StoreError> {
        let path = self.baseline_path(scenario);
        write(&path, to_json(baseline).as_bytes())?;
        Ok(path)
    }
}

/// The file of a scenario in a folder.
fn below(folder: &Path, scenario: &str) -> PathBuf {
    with_extension(folder, scenario, ".json")
}

fn with_extension(folder: &Path, scenario: &str, extension: &str) -> PathBuf {
    let mut path = folder.join(scenario).into_os_string();
    path.push(extension);
    path.into()
}
