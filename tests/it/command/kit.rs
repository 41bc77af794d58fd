//! Scenarios with an agent that follows a script.

use serde_json::{Value, json};

use crate::common::{Project, Ran, small_agent};

/// A project with one scenario.
pub(super) struct Stage {
    pub(super) project: Project,
}

impl Stage {
    /// An agent that makes these steps, with these servers.
    pub(super) fn new(steps: &[&str], servers: &Value) -> Self {
        Self::with(steps, servers, &json!({}))
    }

    /// The same, with more keys: those of `agent` join the agent's.
    pub(super) fn with(steps: &[&str], servers: &Value, more: &Value) -> Self {
        let mut command = vec![small_agent()];
        command.extend(steps.iter().map(|it| (*it).to_owned()));
        let mut scenario = json!({
            "name": "S",
            "user_intent": "Do I need an umbrella?",
            "servers": servers,
            "evaluators": [{ "type": "within", "duration": "1h" }],
            "agent": { "kind": "command", "command": command },
        });
        for (key, value) in more.as_object().unwrap() {
            match (&mut scenario[key], value) {
                (Value::Object(there), Value::Object(more)) => there.extend(more.clone()),
                (there, value) => *there = value.clone(),
            }
        }
        let project = Project::new();
        // JSON is YAML.
        project.file("scenarios/s.yaml", scenario.to_string());
        Self { project }
    }

    /// Runs the scenario, expects an exit code, and returns what was printed and what was recorded.
    #[track_caller]
    pub(super) fn run(&self, code: i32) -> (Ran, Value) {
        let ran = self.project.expect(code, &["run", "-v"]);
        (ran, self.recorded())
    }

    /// The one run that was kept.
    #[track_caller]
    pub(super) fn recorded(&self) -> Value {
        let runs = std::fs::read_dir(self.project.path(".mcp-eval/runs")).unwrap();
        let mut folders: Vec<_> = runs.map(|it| it.unwrap().path()).collect();
        folders.retain(|it| it.join("current/s.json").exists());
        folders.sort();
        let latest = folders.last().expect("a run was kept");
        serde_json::from_str(&self.project.read(latest.join("current/s.json"))).unwrap()
    }
}

/// The steps of a trajectory, a line each: `user: …`, `assistant: …`, or a call with its status.
pub(super) fn steps(trajectory: &Value) -> Vec<String> {
    let steps = trajectory["steps"].as_array().unwrap().iter();
    steps
        .map(|it| match it["kind"].as_str().unwrap() {
            "tool_call" => {
                let server = it["server"].as_str().map(|it| format!("{it}."));
                let outcome = &it["outcome"];
                format!(
                    "{}{} {} {}",
                    server.unwrap_or_default(),
                    it["tool"].as_str().unwrap(),
                    it["arguments"],
                    outcome["status"].as_str().unwrap()
                )
            }
            kind => format!("{kind}: {}", it["text"].as_str().unwrap()),
        })
        .collect()
}

/// A mock with a tool that answers, one that takes steps before, and one that asks back.
pub(super) fn mock() -> (Value, Value) {
    let servers = json!({ "weather": { "type": "mock" } });
    let interactions = json!({ "weather": { "tools": [
        { "name": "forecast", "responses": [
            { "match": { "city": "Nowhere" }, "content": "there is no such city", "is_error": true },
            { "content": [{ "json": { "city": "{{args.city}}", "sky": "rain" } }] },
        ] },
        { "name": "slow", "responses": [{
            "content": "done",
            "steps": [{ "progress": { "progress": 1, "total": 2 } }, { "log": { "level": "info", "data": "half" } }],
        }] },
        { "name": "ask", "responses": [{
            "content": "{{sampling.content.text}} {{elicitation.content.size}}",
            "steps": [
                { "sample": { "messages": [{ "content": "who?" }], "max_tokens": 5 } },
                { "elicit": { "message": "how big?", "requested_schema": { "type": "object", "properties": { "size": { "type": "string" } } } } },
            ],
        }] },
    ] } });
    (servers, interactions)
}

/// A stdio server that misbehaves in these ways.
pub(super) fn faulty(faults: &[&str]) -> Value {
    json!({ "s": { "type": "stdio", "command": crate::common::faulty_server(), "args": faults } })
}

impl Stage {
    /// The endpoint of the server `s`, once a run that was started elsewhere has one: as an agent gets it that says its
    /// configuration into a file.
    #[track_caller]
    pub(super) fn url(&self) -> String {
        let path = self.project.path("scenarios/url");
        let begun = std::time::Instant::now();
        loop {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(url) = text.strip_suffix('\n') {
                return url.to_owned();
            }
            assert!(begun.elapsed() < std::time::Duration::from_secs(60));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
