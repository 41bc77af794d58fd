//! The ways in which models stop, and what the run makes of them.

use super::stand_in::{APIS, Stage, steps};
use crate::common::stands_alone;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_refusal_is_recorded_as_what_the_model_said() {
    for (name, agent) in APIS {
        if name == "ollama" {
            continue; // It has no word for it.
        }
        let stage = Stage::new(
            agent,
            "",
            "  - { text: I would rather not., stop: refusal }\n",
        );
        let trajectory = stage.trajectory(0);
        assert_eq!(
            steps(&trajectory)[1..],
            ["assistant: I would rather not."],
            "{name}"
        );
        assert_eq!(trajectory["ending"]["kind"], "completed");
        let ran = stage.expect(0, &["run", "-v"]);
        ran.says("the model refused");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_answer_that_is_cut_off_is_reported_and_its_last_call_is_not_made() {
    for (name, agent) in APIS {
        let stage = Stage::new(
            agent,
            "",
            r"
  - text: Let me
    tool_calls:
      - { name: mcp__weather__forecast, arguments: { city: Lisbon } }
      - { name: mcp__weather__forecast, arguments: { city: Por } }
    stop: max_tokens
  - expect: { tool_results: [{ contains: Lisbon }, { contains: cut off }] }
    text: Well, it
    stop: max_tokens
",
        );
        let trajectory = stage.trajectory(1);
        assert_eq!(
            steps(&trajectory)[1..],
            [
                "assistant: Let me",
                "forecast ok",
                "forecast not_sent",
                "assistant: Well, it"
            ],
            "{name}"
        );
        stage
            .expect(1, &["run", "-v"])
            .says("an answer of the model was cut off at its longest")
            .says("`agent.max_tokens` allows more");
    }
}

#[test]
fn a_filtered_answer_is_no_answer() {
    for agent in ["kind: openai", "kind: openai, api: responses"] {
        let stage = Stage::new(agent, "", "  - { text: Hm, stop: content_filter }\n");
        stage
            .expect(3, &["run"])
            .says("the vendor's content filter blocked the answer");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_model_that_says_nothing_is_noted() {
    for (name, agent) in APIS {
        let stage = Stage::new(agent, "", "  - { text: \"\" }\n");
        stage
            .expect(0, &["run", "-v"])
            .says("the model answered with nothing");
        assert_eq!(steps(&stage.trajectory(0)).len(), 1, "{name}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_recorded_run_of_a_model_is_compared_like_any_other() {
    let script = "  - tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Lisbon } }]\n  - { text: Rain. }\n";
    let stage = Stage::new("kind: anthropic", "", script);
    stage.expect(0, &["record"]);
    assert_eq!(stage.bodies().len(), 2, "a model is asked once");
    stage.expect(0, &["compare"]);
    // The same calls without the model.
    let ran = stage.expect(0, &["compare", "--agent", "replay"]);
    ran.says_not("Models:");
    assert_eq!(stage.bodies().len(), 4);
    let other = Stage::of(copied(&stage), "  - { text: Rain. }\n");
    other.expect(1, &["compare"]);
}

fn copied(stage: &Stage) -> crate::common::Project {
    let project = crate::common::Project::new();
    let file = "scenarios/s.yaml";
    project.file(file, stage.project.read(file));
    let file = "baselines/s/baseline.json";
    project.file(file, stands_alone(&stage.project, file));
    project
}
