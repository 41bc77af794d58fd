//! Claude Code itself, with a stand-in for its model.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

use serde_json::Value;

use super::kit::steps;
use crate::common::{Project, Ran, StandIn, ran, skipped, stand_in};

/// A key that must be seen nowhere.
const CANARY: &str = "canary-claude-0c7d5e1b";

/// The scenario's server has a name that the agent does not take as it is.
const SCENARIO: &str = r#"
name: S
user_intent: Do I need an umbrella?
servers: { "my weather.2": { type: mock } }
agent:
  kind: command
  format: claude
  env: { ANTHROPIC_BASE_URL: "${LLM_URL}", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }
mcp_interactions:
  "my weather.2":
    tools:
      - name: fore.cast
        description: Tells the weather.
        input_schema: { type: object, properties: { city: { type: string } }, required: [city] }
        annotations: { read_only_hint: true }
        responses: [{ content: [{ json: { city: "{{args.city}}", sky: rain } }] }]
"#;

const CALL: &str = "{ name: mcp__my_weather_2__fore_cast, arguments: { city: Lisbon } }";

struct Stage {
    project: Project,
    _stand_in: StandIn,
    url: String,
    folder: String,
}

impl Stage {
    /// A project whose model follows this script; `None`, after saying so, where the agent is not installed.
    fn new(script: &str) -> Option<Self> {
        let Some(claude) = std::env::var_os("MCP_EVAL_CLAUDE") else {
            static SAID: Once = Once::new();
            let why = "MCP_EVAL_CLAUDE names no program";
            SAID.call_once(|| skipped("Claude Code was not tried", why));
            return None;
        };
        let folder = Path::new(&claude).parent().unwrap();
        let project = Project::new();
        project.file("scenarios/s.yaml", SCENARIO);
        project.file("llm.yaml", format!("llm_interactions:\n{script}"));
        let (stand_in, url) = stand_in(&project, "llm.yaml");
        Some(Self {
            project,
            _stand_in: stand_in,
            url,
            folder: folder.to_str().unwrap().to_owned(),
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = self.project.command();
        command
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.folder))
            .env("LLM_URL", &self.url)
            .env("ANTHROPIC_API_KEY", CANARY);
        command
    }

    #[track_caller]
    fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = ran(&mut self.command(arguments));
        assert_eq!(ran.code, code, "{ran:#?}");
        assert!(!ran.all().contains(CANARY), "{ran:#?}");
        ran
    }

    /// Runs the scenario, and returns what was recorded.
    #[track_caller]
    fn trajectory(&self, code: i32) -> (Ran, Value) {
        let ran = self.expect(code, &["run", "-v"]);
        let mut runs: Vec<_> = std::fs::read_dir(self.project.path(".mcp-eval/runs"))
            .unwrap()
            .map(|it| it.unwrap().path().join("current/s.json"))
            .filter(|it| it.exists())
            .collect();
        runs.sort();
        let recorded = self.project.read(runs.last().unwrap());
        assert!(!recorded.contains(CANARY));
        (ran, serde_json::from_str(&recorded).unwrap())
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn it_works_with_the_servers_of_a_scenario_and_all_it_does_is_recorded() {
    let script = format!(
        r#"
  - {{ error: {{ status: 529, message: busy }} }}
  - {{ expect: {{ user: {{ contains: umbrella }}, headers: {{ x-api-key: {CANARY} }} }}, text: I will look., tool_calls: [{CALL}], usage: {{ input: 100, output: 10, cache_read: 40 }} }}
  - {{ expect: {{ tool_results: [{{ contains: rain }}] }}, tool_calls: [{{ name: Bash, arguments: {{ command: echo noon, description: Tell the time }} }}], usage: {{ input: 200, output: 20 }} }}
  - {{ text: "Take one: rain.", usage: {{ input: 300, output: 30 }} }}
"#
    );
    let Some(stage) = Stage::new(&script) else {
        return;
    };
    let (ran, recorded) = stage.trajectory(0);
    assert_eq!(
        steps(&recorded),
        [
            "user: Do I need an umbrella?",
            "assistant: I will look.",
            r#"my weather.2.fore.cast {"city":"Lisbon"} ok"#,
            r#"Bash {"command":"echo noon","description":"Tell the time"} ok"#,
            "assistant: Take one: rain.",
        ]
    );
    ran.says("3 requests (1 more attempt), 600 tokens in, 60 out, 40 from cache, cost 0.0");
    let requests = recorded["requests"].as_array().unwrap();
    let failed = &requests[0]["attempts"][0];
    assert_eq!(failed["status"], 529, "{failed}");
    assert!(requests.iter().all(|it| it["model"].is_string()));
    assert_eq!(requests[2]["stop_reason"], "end_turn");
    // What it did is a baseline like any other.
    stage.expect(0, &["record", "--takes", "1"]);
    stage.expect(0, &["compare"]);
    stage.expect(0, &["compare", "--agent", "replay"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_call_it_does_not_allow_is_a_call_that_was_not_made() {
    let script = format!("  - {{ tool_calls: [{CALL}] }}\n  - {{ text: I cannot. }}\n");
    let Some(stage) = Stage::new(&script) else {
        return;
    };
    let command = r#"command: [claude, --print, --mcp-config, "${mcp_config}", --strict-mcp-config, --output-format, stream-json, --verbose, --model, "${model}"]"#;
    stage.project.edit(
        "scenarios/s.yaml",
        "  format: claude\n",
        &format!("  format: claude\n  model: claude-of-the-test\n  {command}\n"),
    );
    let (ran, recorded) = stage.trajectory(1);
    assert_eq!(
        steps(&recorded)[1..],
        [
            r#"my weather.2.fore.cast {"city":"Lisbon"} not_sent"#,
            "assistant: I cannot.",
        ]
    );
    ran.says("allow it with `--allowedTools mcp__my_weather_2__fore_cast` in `agent.command`");
    assert_eq!(recorded["requests"][0]["model"], "claude-of-the-test");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_error_of_its_models_api_is_an_error_and_no_failure() {
    let script = "  - { error: { status: 403, message: no such luck } }\n";
    let Some(stage) = Stage::new(script) else {
        return;
    };
    let (ran, recorded) = stage.trajectory(3);
    ran.says("the model of Claude Code gave no answer (HTTP 403)")
        .says("no such luck");
    assert_eq!(recorded["ending"]["kind"], "error");
    assert_eq!(steps(&recorded).len(), 1);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn its_limits_and_ours_fail_the_run() {
    let script = format!(
        "  - {{ tool_calls: [{CALL}], usage: {{ input: 100, output: 10 }} }}\n  - {{ fault: hang }}\n"
    );
    let Some(stage) = Stage::new(&script) else {
        return;
    };
    let scenario = stage.project.read("scenarios/s.yaml");
    let limited = format!("{scenario}limits: {{ max_total_tokens: 50 }}\n");
    stage.project.file("scenarios/s.yaml", limited);
    let (ran, _) = stage.trajectory(1);
    ran.says("`limits.max_total_tokens` ended the run: 110 tokens were used of 50");
    let command = r#"command: [claude, --print, --mcp-config, "${mcp_config}", --allowedTools, mcp__my_weather_2, --output-format, stream-json, --verbose, --max-turns, "1"]"#;
    stage.project.file("scenarios/s.yaml", scenario);
    stage.project.edit(
        "scenarios/s.yaml",
        "  format: claude\n",
        &format!("  format: claude\n  {command}\n"),
    );
    let (ran, _) = stage.trajectory(1);
    ran.says("`--max-turns` of Claude Code ended the run");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_it_was_not_given_is_an_error() {
    let Some(stage) = Stage::new("  - { text: Hello. }\n") else {
        return;
    };
    let command = "command: [claude, --print, --output-format, stream-json, --verbose]";
    stage.project.edit(
        "scenarios/s.yaml",
        "  format: claude\n",
        &format!("  format: claude\n  {command}\n"),
    );
    let (ran, _) = stage.trajectory(3);
    ran.says("Claude Code was not given the server `my weather.2`: `agent.command` needs `--mcp-config ${mcp_config}`");
}
