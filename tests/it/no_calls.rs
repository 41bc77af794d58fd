//! Scenarios that call nothing hold what the servers list, say so, and are never green where there was nothing to look at.

use crate::common::Project;

/// A scenario whose script is empty, over a mock with these tools.
fn pinning(key: &str, tools: &str) -> Project {
    let project = Project::new();
    let text = format!(
        "name: s\nscoring: {{ drift: fail }}\n{key}\nservers: {{ m: {{ type: mock }} }}\nmcp_interactions: {{ m: {{ tools: {tools} }} }}\n"
    );
    project.file("scenarios/s.yaml", text);
    project
}

const TOOLS: &str =
    "[{ name: one, responses: [{ content: a }] }, { name: two, responses: [{ content: b }] }]";

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_script_without_calls_pins_what_is_listed() {
    for key in [
        "expected_trajectory: []",
        "expected_trajectory:\n  # - { tool: one }",
        "agent: { kind: scripted }\nexpected_trajectory: []",
    ] {
        let project = pinning(key, TOOLS);
        let validated = project.expect(0, &["validate"]);
        validated.says("1 valid scenario, 0 errors, 0 warnings");
        project.expect(0, &["run"]).says("0 calls, 2 tools listed");
        project
            .expect(0, &["record"])
            .says("0 calls, 2 tools pinned");
        project
            .expect(0, &["compare"])
            .says("passed")
            .says("0 calls, 2 tools pinned");

        project.edit("scenarios/s.yaml", "name: two,", "name: deux,");
        project
            .expect(1, &["compare"])
            .says("0 calls, 2 tools pinned")
            .says("`two`");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn where_nothing_is_called_and_nothing_is_listed_nothing_passes() {
    let project = pinning("expected_trajectory: []", "[]");
    for command in ["run", "record"] {
        project
            .expect(1, &[command])
            .says("nothing is called, and there is no tool to look at");
    }
    let project = pinning("expected_trajectory: []", TOOLS);
    project.expect(0, &["record"]);
    // Whatever `drift` is.
    project.edit("scenarios/s.yaml", "scoring: { drift: fail }", "");
    project.edit("scenarios/s.yaml", TOOLS, "[]");
    project.expect(1, &["compare"]).says("no tool to look at");
}

#[test]
fn what_says_nothing_of_calls_still_has_nothing_to_play() {
    for key in ["description: x", "agent: { kind: scripted, calls: [] }"] {
        pinning(key, TOOLS)
            .expect(2, &["run"])
            .says("nothing to play")
            .says("`expected_trajectory: []` holds the list of tools alone");
    }
}

#[test]
fn a_key_without_value_says_nothing_of_what_a_model_calls() {
    let project = Project::new();
    let agent = crate::common::small_agent();
    let text = format!(
        "name: s\nuser_intent: x\nagent: {{ kind: command, command: ['{agent}', 'call m one {{}}'] }}\nexpected_trajectory:\nservers: {{ m: {{ type: mock }} }}\nmcp_interactions: {{ m: {{ tools: {TOOLS} }} }}\n"
    );
    project.file("scenarios/s.yaml", text);
    project.expect(0, &["run"]);
    project.edit("scenarios/s.yaml", "trajectory:", "trajectory: []");
    project.expect(1, &["run"]).says("no tool is called");
}
