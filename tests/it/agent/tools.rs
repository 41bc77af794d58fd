//! Calls that models make: malformed, of no tool, with long or odd answers, by shortened names.

use serde_json::json;

use super::stand_in::{APIS, Stage, steps};
use crate::common::Project;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn malformed_arguments_are_recorded_and_reported_and_the_run_goes_on() {
    for (name, agent) in APIS {
        let stage = Stage::new(
            agent,
            "",
            r#"
  - tool_calls:
      - { name: mcp__weather__forecast, arguments: "{\"city\": " }
      - { name: mcp__weather__forecast, arguments: { city: Lisbon } }
  - expect: { tool_results: [{ contains: not valid JSON }, { contains: Lisbon }] }
    tool_calls: [{ name: mcp__weather__forecast, arguments: "[1]" }]
  - expect: { tool_results: [{ contains: no JSON object }] }
    tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Porto } }]
  - text: There we are.
"#,
        );
        let trajectory = stage.trajectory(0);
        assert_eq!(
            steps(&trajectory)[1..],
            [
                "forecast not_sent",
                "forecast ok",
                "forecast not_sent",
                "forecast ok",
                "assistant: There we are."
            ],
            "{name}"
        );
        let error = &trajectory["steps"][1]["outcome"]["error"];
        assert_eq!(error["data"]["arguments"], "{\"city\": ", "{name}");
        assert_eq!(trajectory["steps"][1]["arguments"], json!({}));
    }
}

#[test]
fn a_tool_that_is_not_there_is_recorded_and_reported() {
    let stage = Stage::new(
        "kind: anthropic",
        "",
        r"
  - tool_calls: [{ name: mcp__nobody__x }, { name: mcp__weather__made_up }]
  - expect: { tool_results: [{ contains: belongs to no server }, { contains: made_up }] }
    text: I see.
",
    );
    let trajectory = stage.trajectory(1);
    assert_eq!(
        steps(&trajectory)[1..],
        [
            "mcp__nobody__x not_sent",
            "made_up rpc_error",
            "assistant: I see."
        ]
    );
}

#[test]
fn long_answers_are_cut_for_the_model_and_kept_in_the_record() {
    let stage = Stage::new(
        "kind: openai, max_result_chars: 15",
        "",
        r#"
  - tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Novel } }]
  - expect: { tool_results: ["once upon a tim\n[cut: 15 of 44 characters are shown]"] }
    text: Long.
"#,
    );
    let trajectory = stage.trajectory(0);
    let text = &trajectory["steps"][1]["outcome"]["content"][0]["text"];
    assert_eq!(text, "once upon a time there was a very long story");
}

#[test]
fn pictures_reach_the_model_as_each_api_has_them() {
    let places = [
        (
            "anthropic",
            "/messages/2/content/0/content/1/source/data",
            "aGVsbG8=",
        ),
        (
            "chat",
            "/messages/3/content/0/image_url/url",
            "data:image/png;base64,aGVsbG8=",
        ),
        (
            "responses",
            "/input/2/output/1/image_url",
            "data:image/png;base64,aGVsbG8=",
        ),
        ("ollama", "/messages/2/images/0", "aGVsbG8="),
    ];
    for ((name, agent), (_, pointer, expected)) in APIS.into_iter().zip(places) {
        let script = r"
  - tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Picture } }]
  - text: Nice.
";
        let stage = Stage::new(agent, "", script);
        stage.trajectory(0);
        let bodies = stage.bodies();
        let found = bodies[1].pointer(pointer);
        assert_eq!(found, Some(&json!(expected)), "{name}: {}", bodies[1]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn names_an_api_does_not_allow_are_shortened_and_found_again() {
    let long = format!("find.{}", "x".repeat(70));
    let servers = format!(
        "servers: {{ s: {{ type: mock }} }}\nmcp_interactions:\n  s:\n    tools:\n      - {{ name: {long}, responses: [{{ content: found }}] }}\n"
    );
    for (name, agent) in &APIS[..3] {
        let scenario = |called: &str| {
            let project = Project::new();
            project.file(
                "scenarios/s.yaml",
                format!("name: S\nuser_intent: find\nagent: {{ {agent}, model: m, base_url: \"${{LLM_URL}}\" }}\n{servers}"),
            );
            let script = format!("  - tool_calls: [{{ name: {called} }}]\n  - {{ text: Done. }}\n");
            Stage::of(project, &script)
        };
        // The stand-in refuses names the API would not allow, so that the first run shows the name.
        let stage = scenario("anything");
        stage.run(&["run"]);
        let body = &stage.bodies()[0];
        let offered = body
            .pointer("/tools/0/name")
            .or_else(|| body.pointer("/tools/0/function/name"));
        let offered = offered.unwrap().as_str().unwrap().to_owned();
        assert_eq!(offered.len(), 64, "{name}");
        assert!(offered.starts_with("mcp__s__find_xxx"), "{offered}");
        let trajectory = scenario(&offered).trajectory(0);
        assert_eq!(steps(&trajectory)[1], format!("{long} ok"), "{name}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_tool_that_must_be_called_must_be_called_once_a_turn() {
    for (choice, anthropic, chat) in [
        ("required", json!({ "type": "any" }), json!("required")),
        (
            "{ tool: forecast }",
            json!({ "type": "tool", "name": "mcp__weather__forecast" }),
            json!({ "type": "function", "function": { "name": "mcp__weather__forecast" } }),
        ),
    ] {
        for (kind, expected) in [("anthropic", anthropic), ("openai", chat)] {
            let agent = format!("kind: {kind}, tool_choice: {choice}");
            let script =
                "  - tool_calls: [{ name: mcp__weather__forecast }]\n  - { text: Done. }\n";
            let stage = Stage::new(&agent, "", script);
            stage.trajectory(0);
            let bodies = stage.bodies();
            assert_eq!(bodies[0]["tool_choice"], expected);
            assert_eq!(bodies[1]["tool_choice"], json!(null));
        }
    }
    let stage = Stage::new(
        "kind: openai, tool_choice: { tool: nothing }",
        "",
        "  - { text: x }\n",
    );
    stage
        .expect(3, &["run"])
        .says("`agent.tool_choice` names `nothing`");
}
