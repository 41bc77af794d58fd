//! `compare --servers recorded`: the server side held still, each server a mock made from the main baseline.

use std::path::Path;

use crate::mock;
use crate::model::{Problem, Redacted, Servers, Trajectory};
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Server, Transport};
use crate::store;

/// The scenario with all servers of its main baseline, which lies in the file `path`, in place of its own.
///
/// # Errors
///
/// A [`Problem`] when the baseline knows nothing of a server that the scenario has.
pub(crate) fn hold_still(
    scenario: &Scenario,
    baseline: &Trajectory,
    path: &Path,
) -> Result<Scenario, Problem> {
    let names: Vec<String> = mock::recorded(baseline)
        .into_iter()
        .map(|it| it.0)
        .collect();
    let quoted = |names: &mut dyn Iterator<Item = &String>| {
        let quoted: Vec<String> = names.map(|it| format!("`{it}`")).collect();
        quoted.join(", ")
    };
    let declared = scenario.servers.iter().map(|it| &it.name);
    let unknown = quoted(&mut declared.filter(|it| !names.contains(it)));
    if !unknown.is_empty() || names.is_empty() {
        let known = match names.as_slice() {
            [] => "no server".to_owned(),
            names => format!("{} alone", quoted(&mut names.iter())),
        };
        let unknown = if unknown.is_empty() {
            String::new()
        } else {
            format!(", and nothing of {unknown}")
        };
        let message = format!("{} has recorded {known}{unknown}", path.display());
        return Err(Problem::new(message).hint(
            "record the baseline again, or compare with the servers themselves: `--servers live`",
        ));
    }
    let server = |name: String| {
        let own = scenario.servers.iter().find(|it| it.name == name);
        Server {
            connect_timeout: own.and_then(|it| it.connect_timeout),
            tool_timeout: own.and_then(|it| it.tool_timeout),
            // What was recorded is there at once.
            ready: None,
            protocol: own.and_then(|it| it.protocol),
            transport: Transport::Recorded {
                baseline: path.to_owned(),
            },
            name,
        }
    };
    Ok(Scenario {
        servers: names.into_iter().map(server).collect(),
        ready: None,
        ..scenario.clone()
    })
}

/// The scenario without what nobody needs whose servers are recorded ones: its containers, and what resets that which outlives a run.
pub(crate) fn without_live_setup(scenario: Scenario) -> Scenario {
    Scenario {
        containers: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        ..scenario
    }
}

/// Who answers in the name of a scenario's servers.
pub(crate) fn servers(scenario: &Scenario) -> Servers {
    let recorded = |it: &Server| matches!(it.transport, Transport::Recorded { .. });
    if scenario.servers.iter().any(recorded) {
        Servers::Recorded
    } else {
        Servers::Live
    }
}

/// The trajectory whose servers answer in the place of a scenario's; `None` where its own do.
pub(crate) fn recording(scenario: &Scenario) -> Option<Redacted<Trajectory>> {
    let mut servers = scenario.servers.iter();
    servers.find_map(|it| match &it.transport {
        Transport::Recorded { baseline } => store::load(baseline).ok(),
        _ => None,
    })
}

/// Tells which calls the recording had no answer to; `None` where it had one to all.
pub(crate) fn unanswered(trajectory: &Trajectory) -> Option<String> {
    let calls = trajectory.calls().enumerate();
    let unanswered: Vec<String> = calls
        .filter(|(_, call)| mock::is_unrecorded(&call.outcome))
        .map(|(index, _)| (index + 1).to_string())
        .collect();
    let (count, noun, verb) = match unanswered.len() {
        0 => return None,
        1 => (1, "call", "has"),
        count => (count, "calls", "have"),
    };
    Some(format!(
        "{count} {noun} {verb} no recorded answer, which is the recording's limit and not a server's doing: {noun} {}",
        unanswered.join(", ")
    ))
}
