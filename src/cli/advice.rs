//! Findings in a scenario's `scoring` section that the loader cannot make: paths that cannot be read, and rules without an effect.

use crate::model::rules::ErrorSign;
use crate::model::{Catalogue, ServerCatalogue, Tool};
use crate::scenario_file::agent::Agent;
use crate::scenario_file::{Finding, Scenario, Severity};
use crate::score::{self, KnownCall};

/// Paths under `scoring.ignore` and `scoring.errors` that cannot be read.
pub(super) fn unreadable_paths(scenario: &Scenario) -> Vec<Finding> {
    let ignored = (scenario.scoring.ignore.iter()).map(|path| ("scoring.ignore", path));
    let signs = scenario.scoring.errors.more.iter();
    let signs = signs.filter_map(|sign| match sign {
        ErrorSign::Path(path) => Some(("scoring.errors", path)),
        ErrorSign::Text(_) => None,
    });
    let checked = ignored
        .chain(signs)
        .filter_map(|(key, path)| Some((key, path, score::check_path(path).err()?)));
    checked
        .map(|(key, path, problem)| {
            let message = format!("`{key}` holds an invalid path: {problem}");
            Finding::at_word(&scenario.path, Severity::Error, message, path)
        })
        .collect()
}

/// The tools of the mocks that the scenario declares.
pub(super) fn mocked(scenario: &Scenario) -> Catalogue {
    let servers = scenario.interactions.iter().map(|(name, declared)| {
        let tools = declared.tools.iter();
        ServerCatalogue {
            server: name.clone(),
            tools: tools
                .map(|it| Tool {
                    served: it.served.clone(),
                })
                .collect(),
            ..ServerCatalogue::default()
        }
    });
    Catalogue {
        servers: servers.collect(),
        ..Catalogue::default()
    }
}

/// Rules that no call of the scenario can be affected by.
pub(super) fn idle_rules(scenario: &Scenario) -> Vec<Finding> {
    // A replay's calls are in its baseline, which is not read here.
    if matches!(scenario.agent, Agent::Replay { .. }) {
        return Vec::new();
    }
    let scripted = scenario.agent.calls().iter().map(|it| KnownCall {
        tool: &it.tool,
        arguments: &it.arguments,
    });
    let expected = scenario.expected_trajectory.iter().map(|it| KnownCall {
        tool: &it.tool,
        arguments: &it.arguments,
    });
    let known: Vec<KnownCall<'_>> = scripted.chain(expected).collect();
    let idle = score::idle_rules(&scenario.scoring, &known, &mocked(scenario)).into_iter();
    let idle = idle.map(|it| warning(scenario, &it, format!("a rule can have no effect: {it}")));
    idle.collect()
}

/// Rules that leave nothing to compare.
pub(super) fn sweeping_rules(scenario: &Scenario) -> Vec<Finding> {
    let sweeping = score::sweeping_rules(&scenario.scoring).into_iter();
    let sweeping = sweeping.map(|it| warning(scenario, &it, it.clone()));
    sweeping.collect()
}

/// A warning at the word that a rule's problem names first.
fn warning(scenario: &Scenario, problem: &str, message: String) -> Finding {
    let word = problem.split('`').nth(1).unwrap_or("scoring");
    Finding::at_word(&scenario.path, Severity::Warning, message, word)
}
