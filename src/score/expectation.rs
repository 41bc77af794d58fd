//! What a scenario expects of a run, in the form of a trajectory to compare with.

use crate::model::Digits;
use crate::model::catalogue::Catalogue;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Answer, Ending, Outcome, Step, ToolCall, Trajectory};

/// The expected calls as if they had been recorded, for a comparison that ignores answers
/// ([`crate::model::rules::Responses::Ignore`]).
///
/// Tool names are resolved against the servers of the run's catalogue. Each call has an empty answer, an error where
/// one is expected. Everything else is the run's own, so that neither drift nor durations differ.
pub fn expectation(scenario: &Scenario, current: &Trajectory) -> Trajectory {
    let expected = scenario.expected_trajectory.iter().map(|expected| {
        let (server, tool) = resolve(&expected.tool, &current.catalogue);
        Step::ToolCall(Box::new(ToolCall {
            server: Some(server),
            tool,
            arguments: expected.arguments.clone(),
            outcome: Outcome::Answer(Answer {
                is_error: expected.is_error,
                ..Answer::default()
            }),
            digits: Digits::new(),
            again: Vec::new(),
            start_ms: None,
            duration_ms: None,
        }))
    });
    Trajectory {
        scenario: scenario.id.clone(),
        name: scenario.name.clone(),
        scenario_hash: Some(scenario.hash.clone()),
        stamp: current.stamp.clone(),
        catalogue: current.catalogue.clone(),
        steps: expected.collect(),
        ending: Ending::Completed,
        duration_ms: None,
        learned: Vec::new(),
        repeated: None,
        bindings: Vec::new(),
        requests: Vec::new(),
    }
}

/// The server and the bare name of a tool.
///
/// Server and tool names may themselves hold `__`, so the longest server name that fits wins. A bare name belongs to
/// the server that lists it. A name nobody lists is split at its first `__`, or kept without a server.
fn resolve(name: &str, catalogue: &Catalogue) -> (String, String) {
    let servers = catalogue.servers.iter();
    if let Some(rest) = name.strip_prefix("mcp__") {
        let split = |server: &str| Some(rest.strip_prefix(server)?.strip_prefix("__")?.to_owned());
        let known = servers
            .clone()
            .filter_map(|it| Some((it.server.clone(), split(&it.server)?)))
            .max_by_key(|(server, _)| server.len());
        if let Some(known) = known {
            return known;
        }
        if let Some((server, tool)) = rest.split_once("__") {
            return (server.to_owned(), tool.to_owned());
        }
    }
    let lister = servers
        .clone()
        .find(|it| it.tools.iter().any(|tool| tool.name() == name))
        .or_else(|| (catalogue.servers.len() == 1).then(|| &catalogue.servers[0]));
    let server = lister.map(|it| it.server.clone()).unwrap_or_default();
    (server, name.to_owned())
}
