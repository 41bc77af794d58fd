//! Two versions of a system under test in one go: neither needs a baseline.
//!
//! The other version takes the part of the baseline.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::measuring::{Doing, Others};
use super::play::play;
use super::side_by_side::{Comparison, Kept, OtherVersion};
use super::versions::{LaidOut, States, Versions, is_what_stands_there};
use super::{Against, Error, Finished, RUNS, Settings, StoredRun, Suite, replay};
use crate::http_client;
use crate::model::Problem;
use crate::scenario_file::Scenario;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::servers::Protocol;
use crate::store::{self, Runs};
use crate::suite::servers::give_servers;

/// How long an address may refuse connections that somebody else's server is said to be at: nobody starts it for this comparison.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why no commit is looked for at which a measurement fails.
const NO_BISECT: &str = "`bisect` compares the answers of servers, and this is a measurement";

/// Runs scenarios against their system under test and another version of it, and scores the former by the latter. Needs a runtime with
/// several threads. No baseline is read, but by an agent that replays one, and none is written.
///
/// # Errors
///
/// When there is no such version for a scenario, or runs cannot be kept at all. What went wrong with a scenario is in its result.
pub async fn compare_against(
    command: &str,
    suite: Suite,
    settings: &Settings,
    against: &Against,
) -> Result<Finished, Error> {
    let versions = Versions::new();
    if let Against::Protocol(protocol) = against {
        let (suite, settings) = in_revisions(protocol.other(), suite, settings);
        let others = live_others(&versions, &suite.scenarios, against).await?;
        return compare_with(command, suite, &settings, others).await;
    }
    let others = live_others(&versions, &suite.scenarios, against).await?;
    compare_with(command, suite, settings, others).await
}

/// The same suite whose servers, wherever they come from, are spoken to in these revisions of MCP.
fn in_revisions(protocol: Protocol, mut suite: Suite, settings: &Settings) -> (Suite, Settings) {
    for scenario in &mut suite.scenarios {
        give_servers(&mut scenario.servers, &settings.servers);
        for server in &mut scenario.servers {
            server.protocol = Some(protocol);
        }
    }
    let settings = Settings {
        servers: Vec::new(),
        protocol: None,
        ..settings.clone()
    };
    (suite, settings)
}

/// The other version of each scenario that is to be run, which is another one, and there.
async fn live_others(
    versions: &Versions,
    scenarios: &[Scenario],
    against: &Against,
) -> Result<HashMap<String, OtherVersion>, Error> {
    let others = others(versions, scenarios, against)?;
    let mut states = States::default();
    for scenario in scenarios {
        if let Some(OtherVersion::Live(other, name)) = others.get(&scenario.id)
            && is_what_stands_there(scenario, other, &mut states)
        {
            return Err(Error::invalid(format!(
                "`{}` cannot be compared with {name}: that is the current version, unchanged",
                scenario.id
            )));
        }
    }
    if let Against::Url(url) = against
        && !others.is_empty()
        && http_client::is_deserted(url, PATIENCE).await
    {
        let message = format!("nothing can be compared with {against}: there is no server");
        return Err(Error::incomplete(message).hint(
            "start the server at that address first, or give a different one to `--against`",
        ));
    }
    Ok(others)
}

/// The same for scenarios that are set to one commit of their source already, and `originals` that are not, at another one.
pub(super) async fn compare_against_at(
    suite: Suite,
    settings: &Settings,
    originals: &[Scenario],
    commit: &str,
) -> Result<Finished, Error> {
    let versions = Versions::new();
    let others = others(&versions, originals, &Against::Git(commit.to_owned()))?;
    compare_with("bisect", suite, settings, others).await
}

/// The other version of each scenario that is to be run.
fn others(
    versions: &Versions,
    scenarios: &[Scenario],
    against: &Against,
) -> Result<HashMap<String, OtherVersion>, Error> {
    let mut laid_out = LaidOut::default();
    // What scanners said is the same, whatever stands where.
    let has_none = |it: &Scenario| matches!(it.measurement, Some(Measurement::Security(_)));
    let enabled = scenarios.iter().filter(|it| it.enabled && !has_none(it));
    if let Against::Run(folder) = against
        && let Some(run) = StoredRun::of(folder)?
    {
        let mut problems = enabled.clone().filter_map(|it| run.why_unusable(&it.id));
        if let Some(why) = problems.next() {
            let message = format!("nothing can be compared with {against}: {why}");
            return Err(Error::incomplete(message).hint("run it again, or name another run"));
        }
    }
    enabled
        .map(
            |scenario| match other(versions, scenario, against, &mut laid_out) {
                Ok(other) => Ok((scenario.id.clone(), other)),
                Err(why) => Err(Error::invalid(format!(
                    "`{}` cannot be compared with {against}: {why}",
                    scenario.id
                ))),
            },
        )
        .collect()
}

async fn compare_with(
    command: &str,
    suite: Suite,
    settings: &Settings,
    others: HashMap<String, OtherVersion>,
) -> Result<Finished, Error> {
    let selected = suite.scenarios.len();
    let doing = match command {
        "bisect" => Doing::Leave(NO_BISECT),
        _ => Doing::Against(Arc::new(measured(&others))),
    };
    play(command, doing, suite, settings, |scenario, run_context| {
        let other = others.get(&scenario.id).cloned();
        let settings = settings.clone();
        async move {
            let baselines = replay::baselines(&settings.baselines, &scenario, selected);
            let replayed = match replay::to_play(&scenario, &baselines) {
                Ok(replayed) => replayed,
                Err(problem) => return run_context.unplayed(&scenario, problem),
            };
            let Some(other) = other else {
                // Only a disabled scenario has none, and is not run.
                return run_context.unplayed(&scenario, Problem::new("it has no other version"));
            };
            let comparison = Comparison::new(&scenario, &settings, &run_context);
            Box::pin(comparison.with(&other, replayed)).await
        }
    })
    .await
}

/// Runs scenarios, and scores each by the answers of another version.
pub(super) async fn compare_held(
    suite: Suite,
    settings: &Settings,
    held: &HashMap<String, Kept>,
) -> Result<Finished, Error> {
    let doing = Doing::Leave(NO_BISECT);
    play("bisect", doing, suite, settings, |scenario, run_context| {
        let other = held.get(&scenario.id).cloned();
        let settings = settings.clone();
        async move {
            let Some(other) = other else {
                return run_context.unplayed(&scenario, Problem::new("nothing is known of it"));
            };
            let comparison = Comparison::new(&scenario, &settings, &run_context);
            let executed = run_context.execute(&scenario, Some(&other)).await;
            comparison.judged(executed, &other)
        }
    })
    .await
}

/// The other versions of what is measured.
fn measured(others: &HashMap<String, OtherVersion>) -> Others {
    let others = others.iter().filter_map(|(id, other)| match other {
        OtherVersion::Live(other, name) => Some((id.clone(), (Arc::clone(other), name.clone()))),
        OtherVersion::Stored(..) => None,
    });
    others.collect()
}

fn other(
    versions: &Versions,
    scenario: &Scenario,
    against: &Against,
    laid_out: &mut LaidOut,
) -> Result<OtherVersion, String> {
    if let Against::Run(folder) = against {
        if scenario.measurement.is_some() {
            return Err(
                "what was measured is not compared with a stored run: `baseline` in its file names figures that are"
                    .to_owned(),
            );
        }
        if !folder.is_dir() {
            return Err(format!(
                "no stored run in {}/ has an id that begins with this, and there is no such folder",
                RUNS.display()
            ));
        }
        let path = Runs::at(folder).path(&scenario.id);
        let stored = store::load(&path).map_err(|error| error.to_string())?;
        if !stored.ending.is_complete() {
            return Err(format!("the run in {} did not complete", path.display()));
        }
        return Ok(OtherVersion::Stored(Arc::new(stored), against.to_string()));
    }
    let (other, name) = versions.of(scenario, against, laid_out)?;
    Ok(OtherVersion::Live(Arc::new(other), name))
}
