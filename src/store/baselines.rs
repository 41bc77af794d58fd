//! Accepted trajectories: `baselines/<scenario>/baseline.json`, and `variant-2.json` and on where several are accepted.

use std::path::{Path, PathBuf};

use crate::model::trajectory::Trajectory;
use crate::store::dialogue::dialogue;
use crate::store::files::{StoreError, write, write_durably};
use crate::store::format::{load, to_json};

/// A folder of baselines.
#[derive(Debug, Clone)]
pub struct Baselines {
    root: PathBuf,
    /// The root is itself the folder of the one scenario in question.
    single: bool,
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
        self.folder(scenario).join("baseline.json")
    }

    /// The file of an accepted trajectory, the main one being 1.
    pub fn variant_path(&self, scenario: &str, variant: usize) -> PathBuf {
        match variant {
            0 | 1 => self.path(scenario),
            number => self.folder(scenario).join(format!("variant-{number}.json")),
        }
    }

    /// All accepted trajectories of a scenario, the main one first; empty when there is none.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file is there but cannot be read.
    pub fn load(&self, scenario: &str) -> Result<Vec<Trajectory>, StoreError> {
        let main = self.path(scenario);
        let mut accepted = Vec::new();
        if exists(&main)? {
            accepted.push(load(&main)?);
            for number in 2.. {
                let variant = self.variant_path(scenario, number);
                if !exists(&variant)? {
                    break;
                }
                accepted.push(load(&variant)?);
            }
        }
        Ok(accepted)
    }

    /// Keeps a trajectory as the main accepted one, with its dialogue beside it, and returns the file's path.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be written; the old baseline is whole then.
    pub fn save(&self, scenario: &str, trajectory: &Trajectory) -> Result<PathBuf, StoreError> {
        let path = self.path(scenario);
        write(
            &self.folder(scenario).join("trajectory.txt"),
            dialogue(trajectory).as_bytes(),
        )?;
        // Last, because this is the file that counts.
        write_durably(&path, to_json(trajectory).as_bytes())?;
        Ok(path)
    }

    /// Where the baselines lie.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Whether a file is there; that this cannot be told is an error, not an absence.
fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|source| StoreError::Read {
        path: path.to_owned(),
        source,
    })
}
