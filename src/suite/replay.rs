//! The needs of a replay beside the scenario: its baseline, and which of its arguments come from earlier answers.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use crate::model::{Object, Problem, RecordCommand, Redacted, Trajectory};
use crate::report::command::{SCENARIOS, expression_word};
use crate::report::record;
use crate::run::SetupError;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;
use crate::store::{BASELINE, Baselines, StoreError};
use crate::suite::{BASELINES, ci};

/// The baselines in a folder, which may be the folder of all or, when one scenario is meant, its own folder or file.
pub(crate) fn baselines(root: &Path, scenario: &Scenario, selected: usize) -> Baselines {
    let all = Baselines::new(root);
    if selected == 1 && root.is_file() && root.file_name() == Some(OsStr::new(BASELINE)) {
        return Baselines::of_one_scenario(root.parent().unwrap_or(Path::new("")));
    }
    if selected == 1 && !all.path(&scenario.id).exists() && root.join(BASELINE).exists() {
        return Baselines::of_one_scenario(root);
    }
    match all.elsewhere(&scenario.id) {
        Some(folder) => Baselines::of_one_scenario(folder),
        None => all,
    }
}

/// The accepted trajectories of a scenario, whose `learned` may have been written by hand; empty when there is none.
///
/// # Errors
///
/// A [`StoreError`] when one cannot be read, or its answers cannot vary as it says.
pub(crate) fn load(
    baselines: &Baselines,
    scenario: &str,
) -> Result<Vec<Redacted<Trajectory>>, StoreError> {
    let accepted = baselines.load(scenario)?;
    for (variant, it) in (1..).zip(&accepted) {
        check_learned(&baselines.variant_path(scenario, variant), it)?;
    }
    Ok(accepted)
}

/// Whether the answers of a trajectory, which lies in this file, can vary as it says.
///
/// # Errors
///
/// A [`StoreError`] where they cannot.
pub(crate) fn check_learned(path: &Path, trajectory: &Trajectory) -> Result<(), StoreError> {
    score::check_tokens(trajectory).map_err(|problem| StoreError::Invalid {
        path: path.to_owned(),
        problem,
    })
}

/// The accepted trajectories of a scenario, at least one, with their bindings.
///
/// # Errors
///
/// A [`Problem`] when there is none, or one cannot be read, or the scenario's rules do not fit it.
pub(crate) fn accepted(
    scenario: &Scenario,
    baselines: &Baselines,
) -> Result<Vec<Redacted<Trajectory>>, Problem> {
    let loaded = load(baselines, &scenario.id);
    let main = loaded.as_ref().ok().and_then(|it| it.first());
    ci::mend(baselines, &scenario.id, main.map(|it| &**it));
    let mut accepted = loaded.map_err(|it| Problem::from(&it))?;
    if accepted.is_empty() {
        return Err(no_baseline(scenario, baselines));
    }
    bind(&mut accepted, Some(scenario))?;
    Ok(accepted)
}

/// The command that records a scenario's baseline in its usual place, and no other: of a data set, the one of this row, and of a matrix, the
/// one of this cell.
pub(crate) fn record_command(scenario: &Scenario) -> String {
    record::command(&recording(scenario, scenario.row_of.is_some()))
}

/// What records a scenario, and where it is a row, that row alone or all of its file.
fn recording(scenario: &Scenario, is_row_alone: bool) -> RecordCommand {
    let cell = scenario.cell.as_deref();
    // Below the usual folder, an id is enough.
    let is_known = is_row_alone && scenario.path.starts_with(SCENARIOS);
    let row = cell.map_or(&scenario.id, |it| &it.scenario);
    let settings = cell.iter().flat_map(|it| &it.settings);
    let mut options: Vec<String> = Vec::new();
    for it in settings {
        options.extend(["--matrix".to_owned(), format!("{}={}", it.name, it.value)]);
    }
    // A scenario that lists calls is a replay only by `--agent replay`, and is recorded with its own agent.
    let replays = matches!(scenario.agent, Agent::Replay { .. }) && cell.is_none();
    if replays && !scenario.agent.calls().is_empty() {
        options.extend(["--agent", "scripted"].map(str::to_owned));
    }
    RecordCommand {
        file: (!is_known).then(|| scenario.path.to_string_lossy().into_owned()),
        row: is_row_alone.then(|| expression_word(row)),
        options,
    }
}

/// That nothing is accepted of a scenario, and how that is done.
pub(crate) fn no_baseline(scenario: &Scenario, baselines: &Baselines) -> Problem {
    let path = baselines.path(&scenario.id);
    let missing = Problem::new(format!("no baseline: {} does not exist", path.display()));
    let replays = matches!(scenario.agent, Agent::Replay { .. });
    if replays && scenario.agent.calls().is_empty() {
        return missing.hint(
            "there is nothing to replay, and the scenario lists no calls to record a baseline with",
        );
    }
    // Where nothing is recorded of a data set, all of it may be.
    let of_file = scenario.row_of.as_ref().map(|it| baselines.folder(it));
    let mut recording = recording(scenario, of_file.is_some_and(|it| it.exists()));
    let usual = Baselines::new(BASELINES).path(&scenario.id);
    // Of rows and cells, `record` is given the folder of all baselines; of a scenario, its own.
    let depth = if scenario.row_of.is_some() || scenario.cell.is_some() {
        scenario.id.split('/').count() + 1
    } else {
        1
    };
    let folder = path.ancestors().nth(depth);
    if let Some(folder) = folder.filter(|_| path != usual) {
        let folder = match folder.to_string_lossy() {
            here if here.is_empty() => ".".to_owned(),
            folder => folder.into_owned(),
        };
        recording.options.extend(["--output".to_owned(), folder]);
    }
    let hint = format!("record one with `{}`", record::command(&recording));
    Problem {
        record: Some(Box::new(recording)),
        ..missing.hint(hint)
    }
}

/// The baseline that a run needs, the main one of those accepted: a replay plays it, a script finds in it the server of a tool that is
/// gone, and for all it shows what servers answered that do not now.
pub(crate) fn main(accepted: &[Redacted<Trajectory>]) -> Option<Arc<Redacted<Trajectory>>> {
    accepted.first().map(|it| Arc::new(it.clone()))
}

/// The baseline that a replay plays, where nothing is compared with it; `None` for another agent.
///
/// # Errors
///
/// See [`accepted`].
pub(crate) fn to_play(
    scenario: &Scenario,
    baselines: &Baselines,
) -> Result<Option<Arc<Redacted<Trajectory>>>, Problem> {
    match &scenario.agent {
        Agent::Scripted { .. } | Agent::Model { .. } | Agent::Command { .. } => Ok(None),
        Agent::Replay { .. } => Ok(main(&accepted(scenario, baselines)?)),
    }
}

/// Whether a run has all servers that a baseline's calls go to.
///
/// # Errors
///
/// A [`SetupError`] that names those it lacks.
pub(crate) fn check_servers(baseline: &Trajectory, servers: &[&str]) -> Result<(), SetupError> {
    let called = baseline.calls().filter_map(|it| it.server.as_deref());
    let lacking: BTreeSet<&str> = called.filter(|it| !servers.contains(it)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let names = |servers: &mut dyn Iterator<Item = &str>| {
        let quoted: Vec<String> = servers.map(|it| format!("`{it}`")).collect();
        quoted.join(", ")
    };
    Err(SetupError {
        message: format!(
            "the baseline calls tools of {}, and this run has no such server; it has {}",
            names(&mut lacking.into_iter()),
            names(&mut servers.iter().copied())
        ),
        details: vec![
            "declare it under `servers`, give it with `--mcp-config FILE`, or record the baseline again"
                .to_owned(),
        ],
        trouble: None,
    })
}

/// Completes the bindings of accepted trajectories: bindings are looked for where it was kept without any, and the scenario's own rules
/// apply.
///
/// # Errors
///
/// A [`Problem`] when a rule of the scenario does not fit the main baseline.
pub(crate) fn bind(
    accepted: &mut [Redacted<Trajectory>],
    scenario: Option<&Scenario>,
) -> Result<(), Problem> {
    let rules = scenario.map_or(&[][..], |it| &it.replaying.bindings);
    let mut impossible = Vec::new();
    for (index, trajectory) in accepted.iter_mut().enumerate() {
        // Where takes were learned from, they showed that nothing is bound.
        if trajectory.bindings.is_empty() && trajectory.learned.is_empty() {
            trajectory.refine(|it| it.bindings = score::find_bindings(it));
        }
        if let Some(Agent::Scripted { calls }) = scenario.map(|it| &it.agent) {
            let calls: Vec<&Object> = calls.iter().map(|call| &call.arguments).collect();
            trajectory.refine(|it| score::leave_out_literals(&mut it.bindings, &calls));
        }
        match score::with_rules(trajectory, rules) {
            Ok(bindings) => trajectory.refine(|it| it.bindings = bindings),
            // Rules count the calls of the main baseline; variants may have others.
            Err(wrong) if index == 0 => impossible = wrong,
            Err(_) => {}
        }
    }
    if impossible.is_empty() {
        return Ok(());
    }
    Err(Problem {
        record: None,
        line: None,
        message: "`agent.bindings` does not fit the baseline".to_owned(),
        hint: Some("the baseline's trajectory.txt shows its calls with their numbers".to_owned()),
        details: impossible
            .into_iter()
            .map(|(rule, why)| format!("{}: {why}", rule.place))
            .collect(),
    })
}
