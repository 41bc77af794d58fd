//! A run that was stored, as its document tells it: what was to run, and what came of it then.

use std::iter;
use std::path::{Component, Path, PathBuf};

use super::outcome::Error;
use crate::input;
use crate::model::repeated::{Attempt, Repeated};
use crate::model::{Called, Found, NotRun, Problem, ScenarioResult, Selection, Status};
use crate::published::result::{self, Scenario, earlier};
use crate::store::{self, CURRENT, RESULT};

/// Where it has those of each of several runs of a scenario.
const ATTEMPTS: &str = "attempts";

/// Why nothing is said of what was measured.
pub(super) const MEASURED: &str =
    "what was measured is not scored again: `mcp-eval report` shows it";

/// A run that was stored.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// Its folder.
    pub folder: PathBuf,
    /// What its document says of each scenario that was to run, but for its comparison, which is long, and is made again.
    pub scenarios: Vec<Scenario>,
    /// What part of all scenarios it was about; `None` for all.
    pub selection: Option<Selection>,
    /// The paths of scenarios that it was given; empty for the usual folder.
    pub paths: Vec<PathBuf>,
    /// How long it took as a whole, where that is known.
    pub duration_ms: Option<f64>,
    /// It ran one of several parts of a suite.
    pub is_part: bool,
    /// It ran nothing, and judged another stored run.
    judges_another: bool,
}

impl StoredRun {
    /// The run that a folder is, or that a file or folder belongs to; `None` where it is of no run that has a document.
    ///
    /// # Errors
    ///
    /// When it is a run, and nobody knows what was to run in it, because its document is gone or cannot be read.
    pub fn of(selected: &Path) -> Result<Option<Self>, Error> {
        let Some(folder) = folder_of(selected) else {
            return Ok(None);
        };
        let path = folder.join(RESULT);
        let read = || {
            if !path.is_file() {
                return Err("it is not there".to_owned());
            }
            let text = input::read_to_string(&path).map_err(|it| it.to_string())?;
            let said = result::parse(&text).map_err(|it| it.to_string())?;
            match said.scenarios.iter().find(|it| !is_below(&it.id)) {
                None => Ok(said),
                Some(it) => Err(format!("the id {:?} is not a relative path", it.id)),
            }
        };
        let mut run = Self {
            folder: folder.to_owned(),
            scenarios: Vec::new(),
            selection: None,
            paths: Vec::new(),
            duration_ms: None,
            is_part: false,
            judges_another: false,
        };
        match read() {
            Ok(said) => {
                run.duration_ms = said.duration_ms;
                run.is_part = said.shard.is_some();
                run.judges_another = said.called.as_ref().is_some_and(Called::is_of_stored);
                let paths = said.called.into_iter().flat_map(|it| it.paths);
                run.paths = paths.map(PathBuf::from).collect();
                (run.scenarios, run.selection) = (said.scenarios, said.selection);
                for it in &mut run.scenarios {
                    it.comparison = None;
                }
                Ok(Some(run))
            }
            // One of its trajectories can be scored all the same.
            Err(_) if !run.is_whole(selected) => Ok(None),
            Err(why) => {
                let message = format!(
                    "the plan of the run is in {}, which cannot be read: {why}",
                    path.display()
                );
                let hint = "bring the whole folder of the run, run the scenarios again, or name one trajectory: `--run FILE`";
                Err(Error::incomplete(message).hint(hint))
            }
        }
    }

    /// Whether it is the run as a whole that was named, and not some of its trajectories.
    pub fn is_whole(&self, selected: &Path) -> bool {
        selected == self.folder || selected == self.trajectories()
    }

    /// The folder that its trajectories are in.
    pub fn trajectories(&self) -> PathBuf {
        self.folder.join(CURRENT)
    }

    /// Whether scenarios were run in it, or were to be: it is none that scored other runs, or only measured.
    pub fn is_made(&self) -> bool {
        let is_to_score = |it: &Scenario| it.measured.is_none() && it.status != Status::Skipped;
        !self.judges_another
            && self.scenarios.iter().any(is_to_score)
            && !self.scenarios.iter().any(|it| elsewhere(it).is_some())
    }

    /// Whether a scenario was run several times in it.
    pub fn is_repeated(&self) -> bool {
        self.scenarios.iter().any(|it| repeated(it).is_some())
    }

    /// How many scenarios were to run in it, without disabled ones.
    pub(super) fn selected(&self) -> usize {
        let is_enabled = |it: &&Scenario| it.not_run != Some(NotRun::Disabled);
        self.scenarios.iter().filter(is_enabled).count()
    }

    pub(super) fn of_scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|it| it.id == id)
    }

    /// Why the trajectory that this run has of a scenario does not stand for it; `None` where it does.
    pub(super) fn why_unusable(&self, id: &str) -> Option<String> {
        use Status::{Error, Interrupted, Timeout};
        let scenario = self.of_scenario(id)?;
        let attempts = &repeated(scenario)?.attempts;
        let is_open = |it: Status| matches!(it, Error | Timeout | Interrupted);
        let open = attempts.iter().filter(|it| is_open(it.status)).count();
        (open > 0 && is_open(scenario.status)).then(|| {
            format!(
                "{open} of {} runs of `{id}` in {} could not be run or judged",
                attempts.len(),
                self.folder.display()
            )
        })
    }
}

/// What evaluators found in the run of a scenario.
pub(super) fn found(stored: &Scenario) -> Vec<Found> {
    let found = stored.evaluators.iter().cloned();
    found.map(Found::from).collect()
}

/// Several runs of which each counts; what was recorded is one of them.
pub(super) fn repeated(stored: &Scenario) -> Option<&Repeated> {
    let several = stored.repeated.as_deref();
    several.filter(|it| stored.status != Status::Recorded && !it.attempts.is_empty())
}

/// The trajectory of another run that was scored.
fn elsewhere(stored: &Scenario) -> Option<&str> {
    let file = stored.current.as_ref()?.file.as_deref()?;
    let is_within = is_below(file);
    (!is_within).then_some(file)
}

/// What was measured, which stays what it was: nothing is measured again, and what did not pass has not passed. `None` where it is a
/// scenario like others.
pub(super) fn measured(stored: &Scenario) -> Option<ScenarioResult> {
    stored.measured.as_ref()?;
    let (status, why) = match stored.status {
        Status::Passed | Status::Recorded => (Status::Skipped, None),
        other => (other, Some(other.name())),
    };
    let why = why.map_or_else(
        || Problem::new(MEASURED),
        |it| Problem::new(format!("it was {it} when it was measured; {MEASURED}")),
    );
    Some(result(stored, status).with(|it| {
        it.not_run = (status == Status::Skipped).then_some(NotRun::Unavailable);
        it.problem = Some(why);
    }))
}

/// What there is to say of it where its trajectory is not at hand: as it was, where nothing was known of it then either.
pub(super) fn without(stored: &Scenario, file: &Path, attempt: Option<&Attempt>) -> ScenarioResult {
    use Status::{Error, Failed, Inconclusive, Interrupted, Passed};
    use Status::{Recorded, Skipped, Timeout};
    let (status, then) = match attempt {
        None => (stored.status, stored.problem.clone()),
        Some(it) => (it.status, it.reason.as_deref().map(Problem::new)),
    };
    let (status, why) = match status {
        Error | Timeout | Interrupted | Skipped => {
            let words = format!("nothing is known of it but that it was: {}", status.name());
            (status, then.unwrap_or_else(|| Problem::new(words)))
        }
        Passed | Failed | Inconclusive | Recorded => (Error, gone(stored, file)),
    };
    result(stored, status).with(|it| {
        it.not_run = earlier::why_not_run(stored.not_run, status, Some(&why));
        it.problem = Some(why);
    })
}

/// Why nothing is known of a run that had a verdict.
fn gone(stored: &Scenario, file: &Path) -> Problem {
    let (message, hint) = match elsewhere(stored) {
        Some(other) => (
            format!("its trajectory is not in this folder: it is {other}"),
            "`--run` takes the folder of the run that has it; `mcp-eval report --list` lists all",
        ),
        None => (
            format!(
                "its trajectory is gone: {} is not there, although the run's {RESULT} tells of it",
                file.display()
            ),
            "bring the whole folder of the run, or run the scenario again",
        ),
    };
    Problem::new(message).hint(hint)
}

/// A result of which nothing but this is known.
pub(super) fn result(stored: &Scenario, status: Status) -> ScenarioResult {
    ScenarioResult::new(&stored.id, &stored.name, &stored.path, status)
        .with(|it| it.tags.clone_from(&stored.tags))
}

/// A result that seems to pass, as what evaluators found in it then lets it be: they cannot look at it again.
pub(super) fn keep(then: &Attempt, result: ScenarioResult) -> ScenarioResult {
    let reason = then.reason.as_deref();
    let reason = reason.unwrap_or("nothing more is known of what evaluators found in it");
    result.with(|it| {
        it.status = then.status;
        it.problem = Some(Problem::new(format!("as it was judged then: {reason}")));
    })
}

/// Whether a path leads to something within a folder.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|it| matches!(it, Component::Normal(_)))
}

/// The folder of the run that something is, or belongs to.
fn folder_of(selected: &Path) -> Option<&Path> {
    let above = selected.ancestors().filter(|it| it.ends_with(CURRENT));
    let folders = iter::once(selected).chain(above.filter_map(Path::parent));
    let mut candidates = folders.flat_map(|it| {
        let above = it.parent();
        let all = it.ends_with(ATTEMPTS).then_some(above).flatten();
        let one = above.filter(|it| it.ends_with(ATTEMPTS));
        [Some(it), all, one.and_then(Path::parent)]
    });
    let is_run = |it: &&Path| it.is_dir() && (it.join(RESULT).is_file() || store::has_marker(it));
    candidates.find_map(|it| {
        let here = Path::new(".");
        let it = it.map(|it| if it == Path::new("") { here } else { it });
        it.filter(is_run)
    })
}
