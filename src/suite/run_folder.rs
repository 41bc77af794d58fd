//! The folder of a run, or of a report that came from elsewhere: its runs wait for review as pending ones do.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::pending::is_to_decide;
use super::replay;
use super::review::{Broken, Refusal, Waiting, bound, clean};
use crate::input;
use crate::model::repeated::Tally;
use crate::model::{Found, Origin, PendingRun, Redacted, Status, Trajectory};
use crate::published::result::parse;
use crate::redact::Secrets;
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::{self, Baselines, RESULT, Runs, fingerprint};

/// The folder of a run or of a report.
#[derive(Debug)]
pub struct RunFolder {
    /// The id of the run.
    id: String,
    runs: Runs,
    /// Where it is, whatever way leads there.
    place: PathBuf,
    /// What the result in it says of each scenario.
    results: HashMap<String, StoredResult>,
}

/// What a result says of a scenario.
#[derive(Debug, Clone)]
struct StoredResult {
    /// Somebody has to decide on its run, so that must be there.
    is_to_decide: bool,
    /// How many of its runs passed, where there were several.
    tally: Option<Tally>,
    /// What its evaluators found, for those that cannot look at the run again.
    found: Vec<Found>,
}

impl RunFolder {
    /// Looks at a folder; what it holds of a scenario is read when that is asked for.
    pub fn open(folder: &Path) -> Self {
        let trajectories = folder.join("trajectories");
        let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Self {
            id: own
                .file_name()
                .map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            runs: Runs::at(if trajectories.is_dir() {
                &trajectories
            } else {
                folder
            }),
            place: own.clone(),
            results: results(folder).unwrap_or_default(),
        }
    }

    /// The run of a scenario; `None` where the folder has none, and where nobody has to decide on it, because it passed and changed nothing
    /// of substance.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or the run cannot become a baseline.
    pub fn waiting(
        &self,
        scenario: &Scenario,
        baselines: &Baselines,
    ) -> Result<Option<Waiting>, Box<Broken>> {
        self.read(scenario, baselines)
            .map_err(|why| Box::new(Broken::new(scenario, baselines, why)))
    }

    /// Whether a file is there.
    ///
    /// # Errors
    ///
    /// When it is no file, or lies elsewhere: what comes from somebody else may lead anywhere.
    fn has(&self, path: &Path) -> Result<bool, Refusal> {
        let Ok(found) = path.symlink_metadata() else {
            return Ok(false);
        };
        if found.is_file() && input::is_within(path, &self.place) {
            return Ok(true);
        }
        Err(Refusal::Other {
            message: format!("{} is not a file of this folder", path.display()),
            hint: "only plain files are read there, because it may come from elsewhere".to_owned(),
        })
    }

    fn read(&self, scenario: &Scenario, baselines: &Baselines) -> Result<Option<Waiting>, Refusal> {
        if scenario.measurement.is_some() {
            // What is measured is accepted by measuring it again: `record`.
            return Ok(None);
        }
        let runs = &self.runs;
        let path = runs.path(&scenario.id);
        let result = self.results.get(&scenario.id);
        if !self.has(&path)? {
            return match result.filter(|it| it.is_to_decide) {
                None => Ok(None),
                Some(_) => Err(Refusal::Other {
                    message: format!(
                        "the result tells of a run of `{}`, and {} is not there",
                        scenario.id,
                        path.display()
                    ),
                    hint: "take the whole folder, with all that is in `trajectories/`".to_owned(),
                }),
            };
        }
        let mut trajectory = store::load(&path)?;
        if !trajectory.ending.is_complete() {
            return Err(Refusal::Other {
                message: format!("the run in {} did not complete", path.display()),
                hint: "only a run that went to its end can become a baseline".to_owned(),
            });
        }
        let accepted = replay::load(baselines, &scenario.id)?;
        let compared_with = runs.baseline_path(&scenario.id);
        let compared_with = if self.has(&compared_with)? {
            Some(store::load(&compared_with)?)
        } else {
            None
        };
        let variant = compared_with.as_ref().and_then(|with| {
            let is_it = |it: &Redacted<Trajectory>| bound(it, scenario) == **with;
            accepted.iter().position(is_it)
        });
        if let Some(before) = variant.and_then(|at| accepted.get(at)) {
            let compared = score::compare(&bound(before, scenario), &trajectory, &scenario.scoring);
            trajectory.refine(|it| score::carry_over(before, it, &compared));
        }
        let known = variant.and_then(|at| accepted.get(at));
        let origin = Origin {
            run: self.id.clone(),
            variant: variant.map_or(1, |at| at + 1),
            fingerprint: known
                .or(compared_with.as_ref())
                .map_or_else(String::new, fingerprint),
            tally: result.and_then(|it| it.tally),
        };
        let found = result.map_or_else(Vec::new, |it| it.found.clone());
        let waiting = Waiting {
            scenario: scenario.clone(),
            baselines: baselines.clone(),
            run: PendingRun {
                // A result holds no secrets, either.
                found: trajectory.derive(|_| found),
                trajectory: clean(&trajectory, scenario),
                origin,
            },
            accepted,
            found: None,
        };
        let before = compared_with.as_ref().or_else(|| waiting.compared_with());
        let judged = waiting.judged_against(before, &mut Secrets::default());
        Ok((before.is_none() || is_to_decide(&judged)).then_some(waiting))
    }
}

/// What the result in a folder says of each scenario.
fn results(folder: &Path) -> Option<HashMap<String, StoredResult>> {
    let text = input::read_to_string(&folder.join(RESULT)).ok()?;
    let scenarios = parse(&text).ok()?.scenarios.into_iter();
    let results = scenarios.map(|it| {
        let has_ended = matches!(it.status, Status::Passed | Status::Failed);
        let result = StoredResult {
            is_to_decide: has_ended
                && it.comparison.is_some()
                && (it.status == Status::Failed || it.is_changed()),
            tally: it.repeated.as_ref().map(|it| Tally {
                runs: it.passed + it.failed,
                passed: it.passed,
            }),
            found: it.evaluators.into_iter().map(Found::from).collect(),
        };
        (it.id, result)
    });
    Some(results.collect())
}
