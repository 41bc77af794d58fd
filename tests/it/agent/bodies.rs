//! The bodies that APIs are sent, and what is recorded of a whole conversation.

use serde_json::json;

use super::stand_in::{APIS, Stage, steps};

const TURNS: &str = r#"
turns: [Do I need an umbrella?, "And in Porto?"]
"#;

const SCRIPT: &str = r#"
  - expect: { model: m, system: Be brief., user: { contains: umbrella }, tools: [mcp__weather__forecast], tool_results: [] }
    text: Let me look.
    tool_calls:
      - { name: mcp__weather__forecast, arguments: { city: Lisbon } }
      - { name: mcp__weather__forecast, arguments: { city: Nowhere } }
    usage: { input: 100, output: 20 }
  - expect: { tool_results: [{ contains: Lisbon }, { contains: no such city }] }
    text: Rain in Lisbon.
    usage: { input: 150, output: 5 }
  - expect: { user: "And in Porto?" }
    tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Porto } }]
    usage: { input: 170, output: 10 }
  - expect: { tool_results: [{ contains: Porto }] }
    text: There, too.
    usage: { input: 190, output: 4 }
"#;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_api_carries_two_turns_with_parallel_calls() {
    for (name, agent) in APIS {
        let agent = format!(
            "{agent}, system: Be brief., max_tokens: 500, extra_body: {{ seed: 7 }}, price: {{ input: 1, output: 2 }}"
        );
        let stage = Stage::new(&agent, TURNS, SCRIPT);
        let trajectory = stage.trajectory(0);
        assert_eq!(
            steps(&trajectory),
            [
                "user: Do I need an umbrella?",
                "assistant: Let me look.",
                "forecast ok",
                "forecast tool_error",
                "assistant: Rain in Lisbon.",
                "user: And in Porto?",
                "forecast ok",
                "assistant: There, too.",
            ],
            "{name}"
        );
        let requests = trajectory["requests"].as_array().unwrap();
        let input: Vec<_> = requests
            .iter()
            .map(|it| &it["usage"]["input_tokens"])
            .collect();
        assert_eq!(input, [100, 150, 170, 190], "{name}");
        assert_eq!(requests[0]["model"], "m");
        assert_eq!(requests[0]["cost"], 0.00014);
        let after: Vec<_> = requests.iter().map(|it| &it["after_steps"]).collect();
        assert_eq!(after, [1, 4, 6, 7], "{name}");
        assert_eq!(trajectory["stamp"]["model"], "m");

        let bodies = stage.bodies();
        assert_eq!(bodies.len(), 4, "{name}");
        insta::with_settings!({
            snapshot_path => "../../fixtures/agent",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, { insta::assert_json_snapshot!(format!("bodies_{name}"), json!([bodies[0], bodies[3]])) });
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn usage_is_shown_in_the_result_on_the_terminal_and_in_the_report() {
    let stage = Stage::new(
        "kind: anthropic, price: { input: 1, output: 2, cache_read: 0.1 }",
        "",
        r"
  - { tool_calls: [{ name: mcp__weather__forecast }], usage: { input: 1000, output: 500, cache_read: 10000 } }
  - { text: Done., usage: { input: 2000, output: 100 } }
",
    );
    let ran = stage.expect(0, &["run", "--format", "json", "--output", "pages"]);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let usage = &result["scenarios"][0]["current"]["usage"];
    assert_eq!(usage["input_tokens"], 3000);
    assert_eq!(usage["output_tokens"], 600);
    assert_eq!(usage["cache_read_tokens"], 10000);
    assert_eq!(usage["cache_write_tokens"], json!(null));
    assert_eq!(usage["total_tokens"], 13600);
    assert_eq!(usage["cost"], 0.0052);
    assert_eq!(usage["requests"][1]["cost"], 0.0022);
    stage
        .expect(0, &["run"])
        .says("Models: 2 requests, 3000 tokens in, 600 out, 10000 from cache, cost 0.0052");
    let page = stage.project.read("pages/s.html");
    assert!(page.contains("What the model was asked"), "{page}");
    assert!(page.contains("1000 tokens in, 500 out, 10000 from cache"));
    assert!(page.contains("<td class=\"number\">0.0030</td>"), "{page}");
}

#[test]
fn what_the_api_does_not_tell_is_unknown() {
    for (name, agent) in APIS {
        let stage = Stage::new(agent, "", "  - { text: Hello. }\n");
        let trajectory = stage.trajectory(0);
        let request = &trajectory["requests"][0];
        assert_eq!(request["usage"]["input_tokens"], json!(null), "{name}");
        assert_eq!(request["cost"], json!(null), "{name}");
    }
}
