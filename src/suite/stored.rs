//! Stored trajectories against what was accepted, without running anything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::addresses::Addresses;
use super::at_once::at_once;
use super::finished::{Files, Sides};
use super::outcome::Error;
use super::patience::Patience;
use super::settings::{Judging, REPORTS, RUNS};
use super::stored_judging::{Comparison, left_out, load_current};
use super::stored_run::StoredRun;
use super::{agents, source, stored_run};
use crate::git;
use crate::input;
use crate::model::{Called, NotRun, Redacted, Redaction, ScenarioResult, Selection, SuiteResult};
use crate::published::result::{self, ResultDocument, Side};
use crate::redact::{Redactor, Secrets};
use crate::report::document;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::Server;
use crate::store::{self, CURRENT, Runs, STATE};

/// Trajectories on disk, and what they are compared with.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The file or folder they were looked for in, for naming them.
    pub within: PathBuf,
    pub files: Vec<PathBuf>,
    /// The run that they are of, where that is known.
    pub run: Option<StoredRun>,
    /// A folder of baselines, the folder of one, a `baseline.json`, or the folder of a stored run.
    pub baselines: PathBuf,
    /// What that is called, where it is another run and not what was accepted.
    pub other_run: Option<String>,
    /// The scenarios whose rules and criteria apply; may be empty.
    pub scenarios: Vec<Scenario>,
    /// Whether there is no verdict on a scenario that is none of these.
    pub rules_wanted: bool,
    /// The ids of the scenarios whose runs are compared; `None` for all.
    pub only: Option<BTreeSet<String>>,
    /// What the result says of how it was called.
    pub called: Option<Called>,
}

/// What came of stored trajectories.
#[derive(Debug)]
pub struct Scored {
    /// Without the names of the files that it speaks of.
    pub result: ResultDocument,
    /// The run that this was.
    pub runs: Runs,
    /// Where the trajectories lie, for each scenario of the result.
    pub files: Vec<Files>,
}

/// What the result says that this was.
const COMMAND: &str = "compare";

/// Scores stored trajectories against the accepted ones.
///
/// # Errors
///
/// When the folder of this run cannot be made.
pub fn compare_stored(
    stored: &Stored,
    judging: &Judging,
    interrupt: &CancellationToken,
) -> Result<Scored, Error> {
    let (started_at, started) = (Timestamp::now(), Instant::now());
    let mut secrets = Secrets::default();
    let whole = stored.run.as_ref();
    let whole = whole.filter(|it| it.is_whole(&stored.within));
    let folder = match whole {
        Some(run) => Some(run.folder.as_path()),
        None => stored.files.first().and_then(|it| {
            let current = it.ancestors().find(|it| it.ends_with(CURRENT))?;
            current.parent()
        }),
    };
    let comparison = Comparison {
        found: (stored.run.iter().filter(|it| folder == Some(&it.folder)))
            .flat_map(|it| &it.scenarios)
            .map(|it| (it.id.clone(), stored_run::found(it)))
            .collect(),
        root: &stored.baselines,
        single: stored.files.len() == 1,
        scenarios: (stored.scenarios.iter())
            .map(|it| (it.id.as_str(), redacted(it, &mut secrets)))
            .collect(),
        rules_wanted: stored.rules_wanted,
        other: match &stored.other_run {
            Some(_) => StoredRun::of(&stored.baselines)?,
            None => None,
        },
        judging,
        patience: Patience::until(interrupt),
    };
    let is_wanted = |id: &str| stored.only.as_ref().is_none_or(|it| it.contains(id));
    let whole = whole.map(|it| (Runs::at(&it.folder), &it.scenarios));
    let planned = whole.iter().flat_map(|(runs, scenarios)| {
        let scenarios = scenarios.iter();
        scenarios.map(|it| (runs.path(&it.id), it))
    });
    let planned: Vec<(PathBuf, &result::Scenario)> = planned.collect();
    let listed: HashSet<&Path> = planned.iter().map(|(file, _)| file.as_path()).collect();
    let others = stored.files.iter().map(PathBuf::as_path);
    let others = others.filter(|it| !listed.contains(it));
    let wanted = planned.iter().filter(|(_, it)| is_wanted(&it.id));
    let all: Vec<(&Path, Option<&result::Scenario>)> = wanted
        .map(|(file, it)| (file.as_path(), Some(*it)))
        .chain(others.map(|it| (it, None)))
        .collect();
    let condensed = |mut result: ScenarioResult| {
        if let (Some(other), true) = (&stored.other_run, result.comparison.is_some()) {
            result.compared_with = Some(other.clone());
            result.notes.insert(0, format!("compared with {other}"));
        }
        let files = comparison.files(&result, whole.as_ref().map(|(runs, _)| runs));
        (document::condensed(&result, COMMAND), files)
    };
    let judged = at_once(all.len(), |number| {
        let (file, planned) = all[number];
        let result = match (planned, &whole) {
            _ if interrupt.is_cancelled() => left_out(file, &stored.within),
            (Some(planned), Some((runs, _))) => comparison.of_stored(runs, planned, file),
            _ => comparison.of(file, None),
        };
        // What cannot be read may be of any scenario.
        let is_meant = planned.is_some() || result.current.is_none() || is_wanted(&result.id);
        is_meant.then(|| condensed(result))
    });
    let mut judged: Vec<(ScenarioResult, Files)> = judged.into_iter().flatten().collect();
    if stored.other_run.is_some() {
        let known: HashSet<String> = judged.iter().map(|(it, _)| it.id.clone()).collect();
        let lacking = comparison.lacking(&stored.within).into_iter();
        let lacking = lacking.filter(|it| is_wanted(&it.id) && !known.contains(&it.id));
        judged.extend(lacking.map(condensed));
    }
    let interrupted = interrupt.is_cancelled();
    judged.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
    let (mut results, files): (Vec<ScenarioResult>, Vec<Files>) = judged.into_iter().unzip();
    number_repeated(&mut results);
    let runs = Runs::create(&RUNS, started_at)?;
    let is_disabled = |it: &&ScenarioResult| it.not_run == Some(NotRun::Disabled);
    let selected = results.len() - results.iter().filter(is_disabled).count();
    let called = stored.called.clone().map(|it| Called {
        selection: selection(stored, selected),
        ..it
    });
    let git = git::stamp(
        Path::new("."),
        &[&stored.baselines, Path::new(REPORTS), Path::new(STATE)],
    );
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        duration_ms: started.elapsed().as_secs_f64() * 1000.0,
        interrupted,
        called,
        selected,
        scenarios: results,
        ..SuiteResult::new(COMMAND, started_at, git)
    };
    // One after the other, because what shows a secret in one of them hides it in those after it.
    let suite = Redactor::new(&secrets, &Redaction::default()).suite(suite);
    Ok(Scored {
        result: document::of_condensed(suite),
        runs,
        files,
    })
}

/// The trajectories that a result of stored runs speaks of, read again from their files. What is gone from there is there no more.
pub fn scored_sides(files: &Files) -> Sides {
    let baseline = files.baseline.as_deref().map(store::load);
    let current = files.current.as_deref().map(load_current);
    [baseline, current].map(|it| it?.ok().map(Arc::new))
}

/// What part of all scenarios was compared; `None` for all, and where that is not known.
fn selection(stored: &Stored, chosen: usize) -> Option<Selection> {
    let run = stored.run.as_ref();
    let before = run.and_then(|it| it.selection);
    let there = match run {
        Some(run) => run.selected(),
        None => stored.only.as_ref().map(|_| stored.files.len())?,
    };
    let of = before.map_or(there, |it| it.of.max(there));
    let others = run.iter().flat_map(|it| &it.scenarios);
    let is_other = |it: &&result::Scenario| {
        stored
            .only
            .as_ref()
            .is_some_and(|only| !only.contains(&it.id))
    };
    let others = others
        .filter(|it| is_other(it) && !it.status.is_fine())
        .count();
    (chosen < of).then(|| Selection {
        chosen,
        of,
        not_passed: others + before.map_or(0, |it| it.not_passed),
    })
}

/// Numbers the results where several runs are of one scenario.
fn number_repeated(results: &mut [ScenarioResult]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for result in results {
        let number = seen
            .entry(result.id.clone())
            .and_modify(|it| *it += 1)
            .or_insert(1);
        if *number > 1 {
            result.id = format!("{} {number}", result.id);
        }
    }
}

/// The trajectories that the page of a scenario is made from; the result lies in this folder. Why others are not there is added to `gone`.
pub fn stored_sides(folder: &Path, scenario: &result::Scenario, gone: &mut Vec<String>) -> Sides {
    // Of a report that came from elsewhere, both sides lie beside the pages.
    let beside = Runs::at(&folder.join("trajectories"));
    let mut load = |side: &Option<Side>, copy: PathBuf| {
        let file = folder.join(side.as_ref()?.file.as_ref()?);
        let file = if !file.exists() && copy.is_file() {
            copy
        } else {
            file
        };
        let links = input::check_links(&file, &file).map_err(|error| error.to_string());
        let loaded = links.and_then(|()| store::load(&file).map_err(|error| error.to_string()));
        let loaded = loaded.map_err(|error| gone.push(error));
        loaded.ok().map(Arc::new)
    };
    let id = &scenario.id;
    [
        load(&scenario.baseline, beside.baseline_path(id)),
        load(&scenario.current, beside.path(id)),
    ]
}

/// Takes what a scenario declares to be secret out of texts.
pub fn redactor_of(scenario: &Scenario) -> Redactor {
    let mut secrets = Secrets::default();
    let _ = redacted(scenario, &mut secrets);
    Redactor::new(&secrets, &scenario.redaction)
}

/// A scenario that is not run, without the secrets that it declares, or that its servers and its agent are given, which
/// are added to `all`.
pub(super) fn redacted(scenario: &Scenario, all: &mut Secrets) -> Redacted<Scenario> {
    let mut secrets = Secrets::given_to(&scenario.redaction);
    let scenario = &*source::resolved(scenario);
    let addresses = Addresses::anywhere(scenario, &scenario.servers);
    let lookup = |server: &Server, name: &str| addresses.lookup(name, Some(&server.name));
    // A name that cannot be resolved has no value, so no secret.
    let expanded = scenario_file::expand_servers(&scenario.servers, lookup);
    for (_, variables) in expanded.into_iter().flatten() {
        secrets.environment("", &variables);
    }
    let _ = agents::reach(scenario, &mut secrets);
    all.extend(&secrets);
    all.of_scenario(&scenario.redaction);
    Redactor::new(&secrets, &scenario.redaction).shown(scenario)
}
