//! `run --run`: the stored run that is judged, and which scenarios it tells of.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::args::RunArgs;
use super::to_run::ToRun;
use super::{Console, Failure, runs};
use crate::suite::StoredRun;
use crate::text::plural;

/// A stored run that is to be judged.
pub(super) struct JudgedRun {
    pub(super) run: Arc<StoredRun>,
    /// Nobody has chosen scenarios of it.
    pub(super) is_all: bool,
}

impl JudgedRun {
    /// The stored run that the command line names.
    ///
    /// # Errors
    ///
    /// When there is none, or an option makes no sense for it.
    pub(super) fn of(run: &Path, args: &RunArgs, console: Console) -> Result<Self, Failure> {
        let folder = runs::made(&run.to_string_lossy()).map_err(Failure::usage)?;
        if !folder.exists() {
            let message = format!("there is no run or folder {}", folder.display());
            return Err(Failure::usage(message).hint(runs::STORED));
        }
        let stored = StoredRun::of(&folder).map_err(|it| {
            Failure::from(it).hint("bring the whole folder of the run, or run the scenarios again")
        })?;
        let Some(stored) = stored.filter(|it| it.is_whole(&folder)) else {
            let message = format!("{} is not the folder of a stored run", folder.display());
            let hint = "`--run` takes a whole run, and PATHS say which scenarios of it are judged; `compare --run` takes a trajectory";
            return Err(Failure::usage(message).hint(hint));
        };
        if !stored.is_made() {
            let message = format!("nothing was run in {}", folder.display());
            return Err(Failure::usage(message).hint("name the run that was judged there"));
        }
        if stored.is_part && args.plan.suite.is_some() {
            let message =
                "this run is one part of a suite, whose gates are about all parts together";
            return Err(Failure::usage(message).hint("judge it without `--suite`"));
        }
        if args.score.pass_threshold.is_some() && !stored.is_repeated() {
            let message = "--pass-threshold is about several runs of a scenario, and this run was not made with `--repeat`";
            return Err(Failure::usage(message));
        }
        console.note(&format!(
            "note: nothing is run: {} is judged",
            folder.display()
        ));
        let select = &args.select;
        let is_picked =
            select.expression.is_some() || select.changed.is_some() || select.last_failed;
        Ok(Self {
            run: Arc::new(stored),
            is_all: select.are_default()
                && select.tags.is_empty()
                && !is_picked
                && args.plan.suite.is_none(),
        })
    }

    /// The same arguments with the paths that the run was given, where there are none.
    pub(super) fn with_paths(&self, args: &RunArgs) -> RunArgs {
        let mut args = args.clone();
        if args.select.are_default() {
            let given = self.run.paths.iter().filter(|it| it.exists());
            args.select.paths = given.cloned().collect();
        }
        args
    }

    /// Leaves those scenarios that the run was about. Of those that were chosen, there must be one.
    ///
    /// # Errors
    ///
    /// When there is none, or nobody has chosen, and one that it was about has no file any more.
    pub(super) fn keep_its_own(&self, to_run: &mut ToRun, console: Console) -> Result<(), Failure> {
        let of_run = self.run.scenarios.iter().map(|it| it.id.as_str());
        let of_run: HashSet<&str> = of_run.collect();
        let chosen: HashSet<String> = to_run.scenarios.iter().map(|it| it.id.clone()).collect();
        let lost = self.run.scenarios.iter().map(|it| &it.id);
        let lost = lost.filter(|it| !chosen.contains(*it));
        let lost: Vec<String> = lost.map(|it| format!("`{it}`")).collect();
        if self.is_all && !lost.is_empty() {
            let message = format!(
                "nobody knows what is expected of {} of this run: no scenario file here is {}",
                plural(lost.len(), "scenario"),
                lost.join(", ")
            );
            let hint = "give the file back its name, or name as PATHS those that are to be judged; what was run with `--matrix` is judged with it";
            return Err(Failure::incomplete(message).hint(hint));
        }
        let before = to_run.scenarios.len();
        to_run
            .scenarios
            .retain(|it| of_run.contains(it.id.as_str()));
        let left_out = before - to_run.scenarios.len();
        if to_run.scenarios.is_empty() {
            let message = "this run is about none of the scenarios that were chosen";
            return Err(Failure::incomplete(message));
        }
        if left_out > 0 {
            let scenarios = plural(left_out, "scenario");
            console.note(&format!(
                "note: this run is not about all that were chosen: nothing judges {scenarios}"
            ));
        }
        Ok(())
    }
}
