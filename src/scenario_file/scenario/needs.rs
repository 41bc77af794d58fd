//! The servers that a scenario may need.

use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Criterion;
use crate::scenario_file::servers::Ready;

/// Whether a scenario can need the server of this name: it declares it or names one of its tools in full, or it names no server at all, so
/// that its tools may be those of any.
pub fn may_need(scenario: &Scenario, server: &str) -> bool {
    let declared = || scenario.servers.iter();
    let tools = tools(scenario);
    let prefix = format!("mcp__{server}__");
    let names_it = |it: &&str| it.starts_with(&prefix);
    let names_any = !scenario.servers.is_empty() || tools.iter().any(|it| it.starts_with("mcp__"));
    !names_any || declared().any(|it| it.name == server) || tools.iter().any(names_it)
}

/// The tools that it names anywhere.
fn tools(scenario: &Scenario) -> Vec<&str> {
    let ready = scenario.servers.iter().filter_map(|it| it.ready.as_ref());
    let ready: Vec<&Ready> = ready.chain(&scenario.ready).collect();
    let calls = scenario.agent.calls().iter().map(|it| &it.tool);
    let expected = scenario.expected_trajectory.iter().map(|it| &it.tool);
    let asked = ready.iter().flat_map(|it| &it.calls).map(|it| &it.tool);
    let listed = ready.iter().flat_map(|it| &it.tools);
    let criteria = scenario.success_criteria.iter();
    let criteria = criteria.filter_map(|it| match it {
        Criterion::ToolCalled(tool) | Criterion::ToolNeverCalled(tool) => Some(tool),
        // An upstream is none of the servers that the agent has.
        Criterion::Text(_)
        | Criterion::Says(_)
        | Criterion::UpstreamCalled { .. }
        | Criterion::NeverForwarded(_) => None,
    });
    let all = calls.chain(expected).chain(asked).chain(listed);
    all.chain(criteria).map(String::as_str).collect()
}
