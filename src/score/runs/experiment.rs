//! Whether two runs are the same experiment: the same task for the same agent with the same model.

use crate::model::experiment::ExperimentChange;
use crate::model::trajectory::Trajectory;

/// The kind of agent that replays the calls of a baseline.
const REPLAY: &str = "replay";

/// How two runs are not the same experiment; empty when they are, or when one of them, being imported, does not know its scenario.
///
/// A replay makes the same calls as the baseline, so for a replay, the agent and its settings are not compared.
pub fn experiment_changes(baseline: &Trajectory, current: &Trajectory) -> Vec<ExperimentChange> {
    if baseline.scenario_hash.is_none() || current.scenario_hash.is_none() {
        return Vec::new();
    }
    let (was, is) = (&baseline.stamp, &current.stamp);
    let mut changes = Vec::new();
    if was.agent != REPLAY && is.agent != REPLAY {
        if was.model != is.model {
            changes.push(ExperimentChange::Model {
                baseline: was.model.clone(),
                current: is.model.clone(),
            });
        }
        if was.agent != is.agent {
            changes.push(ExperimentChange::Agent {
                baseline: was.agent.clone(),
                current: is.agent.clone(),
            });
        }
    }
    let asked = current.scenario_hash.as_deref();
    if scenario_has_changed(baseline, asked, &is.agent, is.agent_hash.as_deref()) {
        changes.push(ExperimentChange::Scenario);
    }
    changes
}

/// Whether a baseline was recorded when the scenario asked something else, or gave the same agent something else to ask it with. The
/// hashes are those of the scenario as it is now.
pub fn scenario_has_changed(
    baseline: &Trajectory,
    scenario_hash: Option<&str>,
    agent: &str,
    agent_hash: Option<&str>,
) -> bool {
    let differ =
        |was: Option<&str>, is: Option<&str>| was.zip(is).is_some_and(|(was, is)| was != is);
    // The settings of different kinds of agents cannot be compared.
    let given = baseline.stamp.agent_hash.as_deref();
    differ(baseline.scenario_hash.as_deref(), scenario_hash)
        || baseline.stamp.agent == agent && differ(given, agent_hash)
}
