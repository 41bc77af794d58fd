//! Both sides of a proxy: what it makes of a call is heard at the servers behind it.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, small_proxy};

/// A server of files: one tool reads, the other one changes something.
fn files() -> Value {
    let ok = |text: &str| json!([{ "content": text }]);
    json!({ "tools": [
        { "name": "read", "annotations": { "read_only_hint": true },
          "input_schema": { "type": "object", "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } } },
          "responses": ok("twelve bottles of red wine") },
        { "name": "write",
          "input_schema": { "type": "object", "properties": { "path": { "type": "string" }, "text": { "type": "string" } } },
          "responses": ok("written") },
    ] })
}

/// The proxy, asked with a token and with a header that is no secret.
fn proxy() -> Value {
    json!({ "type": "http", "url": "http://127.0.0.1:${port}/mcp",
        "headers": { "Authorization": "Bearer tok-77aa31c9e05b42", "X-Tenant": "acme" },
        "start": { "command": small_proxy(), "args": ["${port}", "${config_file}"] } })
}

/// A project whose proxy stands in front of a mock of ours and has these faults.
struct Tried {
    project: Project,
}

impl Tried {
    fn new(faults: &[&str]) -> Self {
        let tried = Self {
            project: Project::new(),
        };
        tried.with(faults).scenario(&json!({}));
        tried
    }

    fn with(&self, faults: &[&str]) -> &Self {
        let config =
            json!({ "upstreams": { "files": "{{upstream.files.url}}" }, "faults": faults });
        self.project
            .file("scenarios/proxy.json", config.to_string());
        self
    }

    fn scenario(&self, more: &Value) -> &Self {
        let mut scenario = json!({
            "name": "s",
            "config_file": "proxy.json",
            "servers": { "proxy": proxy() },
            "upstreams": { "files": { "type": "mock" } },
            "mcp_interactions": { "files": files() },
            "agent": { "kind": "scripted", "calls": [
                { "tool": "files__read", "args": { "path": "/a", "limit": 5 } },
                { "tool": "files__write", "args": { "path": "/b", "text": "a new text" } },
            ] },
        });
        let more = more.as_object().unwrap().clone();
        scenario.as_object_mut().unwrap().extend(more);
        self.project.file("scenarios/s.yaml", scenario.to_string());
        self
    }

    fn baseline(&self) -> Value {
        let text = fs::read_to_string(self.project.path("baselines/s/baseline.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

#[test]
fn what_a_proxy_makes_of_each_call_is_kept_under_it() {
    let tried = Tried::new(&["startup=files__read"]);
    tried.project.expect(0, &["record"]);
    let baseline = tried.baseline();
    let calls = baseline["upstream"]["calls"].as_array().unwrap();
    let heard: Vec<Value> = calls
        .iter()
        .map(|it| json!([it["cause"], it["server"], it["tool"], it["arguments"]]))
        .collect();
    let expected = json!([
        [1, "files", "read", { "path": "/a", "limit": 5 }],
        [2, "files", "write", { "path": "/b", "text": "a new text" }],
    ]);
    assert_eq!(
        json!(heard),
        expected,
        "what came before the agent is left out"
    );
    let text = baseline.to_string();
    assert!(
        !text.contains("127.0.0.1:"),
        "its address is another one each time: {text}"
    );
    tried
        .project
        .expect(0, &["compare"])
        .says("1/1 tests passed");
    tried.project.expect(0, &["compare", "--strict"]);
}
