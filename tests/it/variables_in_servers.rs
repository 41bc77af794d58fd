//! `{{variables}}` in what is started and asked: servers, hooks and programs get values, and no server hears a `{{name}}`.

use serde_json::{Value, json};

use crate::common::Project;

/// A scenario with one call to a server which a shell starts, and which reads what it serves from the file that `$FILE` names.
fn scenario(keys: &Value, env: &Value) -> Project {
    let project = Project::new();
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let start = format!("printf %s \"$SAID\" > said.txt; exec {program} mock \"$FILE\"");
    let mut scenario = json!({
        "name": "s",
        "servers": { "shop": { "command": "sh", "args": ["-c", start], "env": env, "cwd": "." } },
        "expected_trajectory": [{ "tool": "pay" }],
    });
    for (key, value) in keys.as_object().unwrap() {
        scenario[key] = value.clone();
    }
    project.file("scenarios/s.yaml", scenario.to_string());
    for (file, said) in [("one", "one is paid"), ("two", "two is paid")] {
        let mock = json!({ "tools": [{ "name": "pay", "responses": [{ "content": said }] }] });
        project.file(&format!("{file}.yaml"), mock.to_string());
    }
    project
}

#[test]
fn each_row_starts_its_own_server() {
    let keys = json!({
        "name": "s {{row.id}}",
        "dataset": [{ "id": "one" }, { "id": "two" }, { "id": "three" }],
        "evaluators": [{ "type": "text", "contains": "{{row.id}} is paid" }],
    });
    let project = scenario(&keys, &json!({ "FILE": "../{{row.id}}.yaml" }));
    project.expect(0, &["validate"]).says("0 warnings");
    // There is no third file, so its server cannot be started.
    let result = project.result(3, &["run"]);
    let scenarios = result["scenarios"].as_array().unwrap();
    let status = |id: &str| {
        let of_row = scenarios.iter().find(|it| it["id"] == format!("s/{id}"));
        of_row.unwrap()["status"].clone()
    };
    assert_eq!(status("one"), "passed", "{result}");
    assert_eq!(status("two"), "passed", "{result}");
    assert_eq!(status("three"), "error", "{result}");
}

#[test]
fn a_value_is_never_read_as_a_reference() {
    let keys = json!({
        "variables": { "file": "one", "said": "${HOME} $${x} {{file}} $" },
    });
    let env =
        json!({ "FILE": "../{{ file }}.yaml", "SAID": "{{said}}|${NOBODY:-{{file}}}|{{.Names}}" });
    let project = scenario(&keys, &env);
    project.expect(0, &["run"]);
    assert_eq!(
        project.read("scenarios/said.txt"),
        "${HOME} $${x} {{file}} $|one|{{.Names}}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn addresses_headers_hooks_and_programs_are_filled_in() {
    let keys = json!({
        "variables": { "host": "localhost", "word": "before" },
        "environments": { "staging": { "host": "127.0.0.1" } },
        "before": [["sh", "-c", "echo {{word}} {{.Names}} > hook.txt"]],
        "servers": { "shop": { "url": "http://{{host}}:1/mcp", "headers": { "x-host": "{{host}}" }, "connect_timeout": "1s" } },
    });
    let project = scenario(&keys, &json!({}));
    project.expect(3, &["run"]).says("http://localhost:1/mcp");
    let staging = ["run", "--environment", "staging", "--var", "word=after"];
    project.expect(3, &staging).says("http://127.0.0.1:1/mcp");
    assert_eq!(project.read("hook.txt").trim(), "after {{.Names}}");
    let agent = json!({
        "variables": { "word": "hello" },
        "user_intent": "Say hello",
        "agent": { "kind": "command", "command": ["sh", "-c", "echo $SAID {{word}}"], "env": { "SAID": "{{word}}" } },
        "evaluators": [{ "type": "text", "in": "final_text", "equals": "hello hello" }],
        "expected_trajectory": [],
    });
    scenario(&agent, &json!({ "FILE": "../one.yaml" })).expect(0, &["run"]);
}

#[test]
fn what_cannot_be_filled_in_is_refused() {
    let secret = json!({ "token": { "value": "not-so-secret", "secret": true }, "host": "a" });
    let with = |more: Value| {
        let mut keys = json!({ "variables": secret });
        for (key, value) in more.as_object().unwrap() {
            keys[key] = value.clone();
        }
        keys
    };
    let url = |url: &str| json!({ "servers": { "shop": { "url": url } } });
    for (keys, says) in [
        (with(url("http://{{hosst}}:1/mcp")), "did you mean `host`"),
        (
            with(url("http://{{token}}:1/mcp")),
            "the secret `token` is not filled in here",
        ),
        (
            with(url("http://{{calls.0.text}}:1/mcp")),
            "is known only after a call",
        ),
        (
            with(url("http://{{row.host}}:1/mcp")),
            "`row.host` is not declared",
        ),
        (
            with(json!({ "after": [["echo", "{{token}}"]] })),
            "write `${NAME}`",
        ),
        (
            with(json!({ "docker": { "build": "../{{host}}", "port": 8080 } })),
            "variables are not filled in here",
        ),
        (
            with(json!({ "source": { "repo": "../{{host}}" } })),
            "variables are not filled in here",
        ),
    ] {
        scenario(&keys, &json!({}))
            .expect(2, &["validate"])
            .says(says);
    }
}
