//! A suite that has finished, with the trajectories that its results speak of.
//!
//! Those of many scenarios together may be more than memory holds. So each lies in its file once its scenario has finished, and is read
//! when somebody asks for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::model::{Redacted, ScenarioResult, SuiteResult, Trajectory};
use crate::published::result::ResultDocument;
use crate::published::trajectory::to_json;
use crate::report::document;
use crate::store::database::Database;
use crate::store::{self, Runs};

/// The two trajectories that a result speaks of, the baseline's first, as far as there are any.
pub type Sides = [Option<Arc<Redacted<Trajectory>>>; 2];

/// A finished suite and where its runs are kept.
#[derive(Debug)]
pub struct Finished {
    /// What came of each scenario. Most of the trajectories are not in it: [`Self::sides`] has them, and [`Self::results`] the results with
    /// them.
    pub suite: Redacted<SuiteResult>,
    pub runs: Arc<Runs>,
    /// Where the trajectories lie, for each scenario of the suite.
    pub files: Vec<Files>,
    /// What a reader should know that is of no scenario alone.
    pub notes: Vec<Redacted<String>>,
    /// Where its results were written besides, so that what becomes of them can be, too.
    pub database: Option<Database>,
}

/// Where the trajectories of one scenario lie.
#[derive(Debug, Clone, Default)]
pub struct Files {
    pub current: Option<PathBuf>,
    pub baseline: Option<PathBuf>,
    pub container_log: Option<PathBuf>,
    /// Of each attempt, where there were several.
    pub attempts: Vec<Option<PathBuf>>,
    /// What of both the result does not hold itself.
    pub(super) laid_down: LaidDown,
}

/// Which of the trajectories that a result speaks of are in their files alone.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LaidDown {
    baseline: bool,
    current: bool,
}

impl LaidDown {
    /// Sees to it that the trajectories of a result lie in their files, as the result has them. What cannot be written there is none of them.
    pub(super) fn of(result: &ScenarioResult, runs: &Runs) -> Self {
        let lies = |side: &Option<Arc<Redacted<Trajectory>>>, path: PathBuf| {
            side.as_ref().is_some_and(|it| lies_at(&path, it))
        };
        Self {
            baseline: lies(&result.baseline, runs.baseline_path(&result.id)),
            current: lies(&result.current, runs.path(&result.id)),
        }
    }

    /// Takes them out of the result.
    pub(super) fn take_from(self, result: &mut ScenarioResult) {
        if self.baseline {
            result.baseline = None;
        }
        if self.current {
            result.current = None;
        }
    }
}

fn lies_at(path: &Path, trajectory: &Redacted<Trajectory>) -> bool {
    let text = to_json(trajectory);
    let is_there = fs::read(path).is_ok_and(|it| it == text.as_bytes());
    // What waits for review lies there with what was learned of it, which accepting it from there needs.
    let knows_more = || {
        trajectory.learned.is_empty() && store::load(path).is_ok_and(|it| !it.learned.is_empty())
    };
    is_there || knows_more() || store::write(path, text.as_bytes()).is_ok()
}

impl Finished {
    /// A run whose results have all their trajectories in them; those of the current side lie among the runs, too.
    pub(crate) fn at_hand(
        suite: Redacted<SuiteResult>,
        runs: Arc<Runs>,
        database: Option<Database>,
    ) -> Self {
        let files = suite.scenarios.iter().map(|it| Files {
            current: Some(runs.path(&it.id)),
            ..Files::default()
        });
        Self {
            files: files.collect(),
            suite,
            runs,
            notes: Vec::new(),
            database,
        }
    }

    /// The trajectories that the result at this place speaks of. What is gone from its file is there no more.
    pub fn sides(&self, index: usize) -> Sides {
        let (Some(result), Some(files)) = (self.suite.scenarios.get(index), self.files.get(index))
        else {
            return Sides::default();
        };
        let laid_down = files.laid_down;
        let side =
            |held: &Option<Arc<Redacted<Trajectory>>>, is_laid_down, file: &Option<PathBuf>| {
                if is_laid_down {
                    let loaded = store::load(file.as_deref()?).ok()?;
                    Some(Arc::new(loaded))
                } else {
                    held.clone()
                }
            };
        [
            side(&result.baseline, laid_down.baseline, &files.baseline),
            side(&result.current, laid_down.current, &files.current),
        ]
    }

    /// What came of each scenario, with the trajectories that the result speaks of, one after the other.
    pub fn results(&self) -> impl Iterator<Item = Redacted<ScenarioResult>> {
        (0..self.suite.scenarios.len()).map(|index| {
            let [baseline, current] = self.sides(index);
            self.suite.derive(|suite| {
                suite.scenarios[index].clone().with(|it| {
                    it.baseline = baseline;
                    it.current = current;
                })
            })
        })
    }

    /// The same suite with all trajectories in its results, where it has few scenarios.
    #[must_use]
    pub fn taken_up(mut self) -> Self {
        let sides: Vec<Sides> = (0..self.suite.scenarios.len())
            .map(|it| self.sides(it))
            .collect();
        self.suite.refine(|suite| {
            for (result, [baseline, current]) in suite.scenarios.iter_mut().zip(sides) {
                (result.baseline, result.current) = (baseline, current);
            }
        });
        for files in &mut self.files {
            files.laid_down = LaidDown::default();
        }
        self
    }
}

impl From<&Finished> for ResultDocument {
    fn from(finished: &Finished) -> Self {
        document::of_suite(&finished.suite, finished.results())
    }
}
