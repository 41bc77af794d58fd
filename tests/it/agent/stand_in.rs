//! The stand-in, and scenarios that use it.

use std::process::Command;

use serde_json::Value;

use crate::common::{Project, Ran, StandIn, ran, stand_in};

/// A key that must be seen nowhere.
pub(crate) const CANARY: &str = "canary-4f9d2c71b6";

/// The APIs, as lines of the `agent` section.
pub(crate) const APIS: [(&str, &str); 4] = [
    ("anthropic", "kind: anthropic"),
    ("chat", "kind: openai, api: chat"),
    ("responses", "kind: openai, api: responses"),
    ("ollama", "kind: ollama"),
];

/// A server with a tool to look and one to break.
const SERVERS: &str = r#"
servers: { weather: { type: mock } }
mcp_interactions:
  weather:
    tools:
      - name: forecast
        description: Tells the weather.
        input_schema: { type: object, properties: { city: { type: string } }, required: [city] }
        annotations: { read_only_hint: true }
        responses:
          - match: { city: Nowhere }
            content: there is no such city
            is_error: true
          - match: { city: Picture }
            content: [{ type: text, text: look }, { type: image, data: aGVsbG8=, mime_type: image/png }]
          - match: { city: Novel }
            content: "once upon a time there was a very long story"
          - content: [{ type: text, json: { city: "{{args.city}}", sky: rain } }]
"#;

/// A project with one scenario, and the stand-in that follows its script.
pub(crate) struct Stage {
    pub(crate) project: Project,
    _stand_in: StandIn,
    pub(crate) url: String,
}

impl Stage {
    /// A scenario of this agent (its lines, or one map), with these further sections, and this script.
    pub(crate) fn new(agent: &str, more: &str, script: &str) -> Self {
        let project = Project::new();
        project.file("scenarios/s.yaml", scenario("S", agent, more));
        Self::of(project, script)
    }

    /// A stand-in for a project that has its scenarios.
    pub(crate) fn of(project: Project, script: &str) -> Self {
        project.file("llm.yaml", format!("llm_interactions:\n{script}"));
        let (stand_in, url) = stand_in(&project, "llm.yaml");
        Self {
            project,
            _stand_in: stand_in,
            url,
        }
    }

    /// The program, with the address of the stand-in and a key.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command();
        command
            .env("LLM_URL", &self.url)
            .env("LLM_KEY", CANARY)
            .args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    #[track_caller]
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(
            ran.code,
            code,
            "mcp-eval {}: {ran:#?}\n{}",
            arguments.join(" "),
            self.project.read("asked.jsonl")
        );
        ran
    }

    /// Runs the scenario, expects an exit code, and returns what was recorded.
    #[track_caller]
    pub(crate) fn trajectory(&self, code: i32) -> Value {
        let ran = self.expect(code, &["run", "--format", "json"]);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        let folder = self
            .project
            .path(".mcp-eval/runs")
            .join(result["run_id"].as_str().unwrap());
        let path = folder.join("current/s.json");
        let text = std::fs::read_to_string(&path);
        serde_json::from_str(&text.unwrap_or_else(|_| panic!("{}: {ran:#?}", path.display())))
            .unwrap()
    }

    /// The bodies of the requests that were made, in order.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let log = self.project.read("asked.jsonl");
        let lines = log
            .lines()
            .map(|it| serde_json::from_str::<Value>(it).unwrap());
        lines.map(|it| it["body"].clone()).collect()
    }
}

/// A scenario file. The agent gets its model, its address and its key.
pub(crate) fn scenario(name: &str, agent: &str, more: &str) -> String {
    let intent = if more.contains("turns:") {
        ""
    } else {
        "user_intent: Do I need an umbrella?\n"
    };
    format!(
        "name: {name}\n{intent}{more}\nevaluators: [{{ type: within, duration: 1h }}]\nagent: {{ {agent}, model: m, base_url: \"${{LLM_URL}}\", api_key_env: LLM_KEY }}\n{SERVERS}"
    )
}

/// The names of a trajectory's steps: `user`, `assistant`, or a call's tool with its status.
pub(crate) fn steps(trajectory: &Value) -> Vec<String> {
    let steps = trajectory["steps"].as_array().unwrap().iter();
    steps
        .map(|it| match it["kind"].as_str().unwrap() {
            "tool_call" => format!(
                "{} {}",
                it["tool"].as_str().unwrap(),
                it["outcome"]["status"].as_str().unwrap()
            ),
            kind => format!("{kind}: {}", it["text"].as_str().unwrap()),
        })
        .collect()
}
