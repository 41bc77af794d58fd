//! Codex itself, with a stand-in for its model.

use std::path::Path;

use super::kit::steps;
use crate::common::{Project, ran, skipped, stand_in};

const SCENARIO: &str = r#"
name: S
user_intent: Do I need an umbrella?
servers: { "my weather.2": { type: mock } }
agent:
  kind: command
  format: codex
  model: model-of-the-test
  price: { input: 1000, output: 1000 }
  command: [codex, exec, --json, --skip-git-repo-check, --ephemeral, --ignore-user-config, --model, "${model}", --config, "mcp_servers=${mcp_config}",
    --config, model_provider=stand_in, --config, "model_providers.stand_in={ name = 'Stand-in', base_url = '${LLM_URL}/v1', env_key = 'CODEX_KEY', wire_api = 'responses' }"]
success_criteria: [rain]
mcp_interactions:
  "my weather.2":
    tools:
      - name: forecast
        description: Tells the weather.
        input_schema: { type: object, properties: { city: { type: string } }, required: [city] }
        responses: [{ content: [{ json: { city: "{{args.city}}", sky: rain } }] }]
llm_interactions:
  - expect: { user: { contains: umbrella }, tools: [mcp__my_weather_2__forecast], headers: { authorization: Bearer canary-codex-0c7d5e1b } }
    text: I will look.
    tool_calls: [{ name: mcp__my_weather_2__forecast, arguments: { city: Lisbon } }]
    usage: { input: 100, output: 10 }
  - expect: { tool_results: [{ contains: rain }] }
    tool_calls: [{ name: exec_command, arguments: { cmd: echo noon } }]
    usage: { input: 200, output: 20, cache_read: 40 }
  - { text: "Take one: rain.", usage: { input: 300, output: 30 } }
"#;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn it_works_with_the_servers_of_a_scenario_and_all_it_does_is_recorded() {
    let Some(codex) = std::env::var_os("MCP_EVAL_CODEX") else {
        let why = "MCP_EVAL_CODEX names no program";
        return skipped("Codex was not tried", why);
    };
    // The program is a script for Node.
    let node = std::env::var_os("MCP_EVAL_NODE").unwrap_or_default();
    let folder = |it: &std::ffi::OsStr| Path::new(it).parent().map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap();
    let path = [folder(&codex), folder(&node)]
        .into_iter()
        .flatten()
        .chain(std::env::split_paths(&path));
    let project = Project::new();
    project.file("scenarios/s.yaml", SCENARIO);
    let (_stand_in, url) = stand_in(&project, "scenarios/s.yaml");
    let mut command = project.command();
    command
        .args(["run", "-v", "--format", "json"])
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("LLM_URL", &url)
        .env("CODEX_KEY", "canary-codex-0c7d5e1b");
    let ran = ran(&mut command);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let run = Path::new(".mcp-eval/runs").join(result["run_id"].as_str().unwrap());
    let recorded = project.read(run.join("current/s.json"));
    assert!(!format!("{recorded}{}", ran.all()).contains("canary-codex"));
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    let steps = steps(&recorded);
    assert_eq!(
        steps[..3],
        [
            "user: Do I need an umbrella?",
            "assistant: I will look.",
            r#"my weather.2.forecast {"city":"Lisbon"} ok"#,
        ]
    );
    assert!(steps[3].starts_with("command_execution "), "{steps:?}");
    assert_eq!(steps[4..], ["assistant: Take one: rain."]);
    let request = &recorded["requests"][0];
    assert_eq!(request["model"], "model-of-the-test");
    assert_eq!(request["usage"]["input_tokens"], 600);
    assert_eq!(request["usage"]["cache_read_tokens"], 40);
    assert_eq!(request["usage"]["output_tokens"], 60);
    assert_eq!(request["cost"], 0.7);
}
