//! The folder of a run, or of a report that came from elsewhere: its runs wait for review as pending ones do.

use std::collections::HashMap;
use std::path::Path;

use super::pending::is_to_decide;
use super::replay;
use super::review::{Broken, Refusal, Waiting, bound, clean};
use crate::input;
use crate::model::pending::{Origin, PendingRun};
use crate::model::redacted::Redacted;
use crate::model::repeated::Tally;
use crate::model::scenario::Scenario;
use crate::model::trajectory::Trajectory;
use crate::published::result::parse;
use crate::redact::Secrets;
use crate::score;
use crate::store::{self, Baselines, RESULT, Runs, fingerprint};

/// The folder of a run or of a report.
#[derive(Debug)]
pub struct RunFolder {
    /// The id of the run.
    id: String,
    runs: Runs,
    /// How many runs of a scenario passed, of those that the result says had several.
    tallies: HashMap<String, Tally>,
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
            tallies: tallies(folder).unwrap_or_default(),
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

    fn read(&self, scenario: &Scenario, baselines: &Baselines) -> Result<Option<Waiting>, Refusal> {
        let runs = &self.runs;
        let path = runs.path(&scenario.id);
        if !path.is_file() {
            return Ok(None);
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
        let compared_with = if compared_with.is_file() {
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
            tally: self.tallies.get(&scenario.id).copied(),
        };
        let waiting = Waiting {
            scenario: scenario.clone(),
            baselines: baselines.clone(),
            run: PendingRun {
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

/// How many runs of each scenario passed, where the result in a folder says that there were several.
fn tallies(folder: &Path) -> Option<HashMap<String, Tally>> {
    let text = input::read_to_string(&folder.join(RESULT)).ok()?;
    let scenarios = parse(&text).ok()?.scenarios.into_iter();
    let tallies = scenarios.filter_map(|it| {
        let repeated = it.repeated?;
        let tally = Tally {
            runs: repeated.passed + repeated.failed,
            passed: repeated.passed,
        };
        Some((it.id, tally))
    });
    Some(tallies.collect())
}
