//! Both sides of a proxy: what it makes of a call is observed at the servers behind it.

use serde_json::{Value, json};

use crate::common::{Project, faulty_server, served, small_agent, small_proxy, whole};

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
        whole(&self.project, "baselines/s/baseline.json")
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_proxy_makes_of_each_call_is_kept_under_it() {
    let tried = Tried::new(&["startup=files__read"]);
    tried.project.expect(0, &["record"]);
    let baseline = tried.baseline();
    let calls = baseline["upstream"]["calls"].as_array().unwrap();
    let behind: Vec<Value> = calls
        .iter()
        .map(|it| json!([it["cause"], it["server"], it["tool"], it["arguments"]]))
        .collect();
    let expected = json!([
        [null, "files", "read", {}],
        [1, "files", "read", { "path": "/a", "limit": 5 }],
        [2, "files", "write", { "path": "/b", "text": "a new text" }],
    ]);
    assert_eq!(
        json!(behind),
        expected,
        "what the proxy does when it starts comes first"
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

/// The result of comparing with these faults of the proxy.
fn compared(tried: &Tried, code: i32, faults: &[&str]) -> String {
    tried.with(faults);
    let ran = tried
        .project
        .expect(code, &["compare", "--no-report", "-v"]);
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_proxy_does_otherwise_is_found_and_said() {
    let tried = Tried::new(&[]);
    tried.project.expect(0, &["record"]);
    assert!(compared(&tried, 0, &[]).contains("1/1 tests passed"));
    let failing = [
        (
            &["twice=write"][..],
            "behind it, `files` received `write` 2 times, 1 before",
        ),
        (
            &["drop=limit"],
            "behind it, `files` received `read` without `limit`",
        ),
        (
            &["made-up"],
            "behind it, `files` received `read` with a new `request`",
        ),
        (
            &["forward=authorization"],
            "`authorization` is passed on to `files` now",
        ),
        (
            &["as-text=limit"],
            "behind it, `files` received `read` with a different `limit`",
        ),
        (
            &["startup=files__write"],
            "before the first call, `files` received `write`",
        ),
        (
            &["bare=authorization"],
            "`authorization` is passed on to `files` now",
        ),
        (
            &["forward=x-tenant"],
            "`x-tenant` is passed on to `files` now",
        ),
    ];
    for (faults, expected) in failing {
        let said = compared(&tried, 1, faults);
        assert!(said.contains(expected), "{faults:?}: {said}");
    }
    // A read that is made twice changes nothing, and is shown.
    let said = compared(&tried, 0, &["twice=read"]);
    assert!(said.contains("received `read` 2 times, 1 before"), "{said}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_proxy_makes_up_for_each_call_is_learned() {
    let tried = Tried::new(&["made-up"]);
    tried.project.expect(0, &["record"]);
    assert!(compared(&tried, 0, &["made-up"]).contains("1/1 tests passed"));
    let said = compared(&tried, 1, &["made-up", "drop=path"]);
    assert!(said.contains("without `path`"), "{said}");
    // It is another one each time, but it is there.
    let said = compared(&tried, 1, &[]);
    assert!(said.contains("without `request`"), "{said}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_call_that_is_passed_on_late_belongs_to_the_one_before() {
    let tried = Tried::new(&["late"]);
    let call = json!({ "tool": "files__write", "args": { "path": "/b" } });
    tried.scenario(&json!({ "agent": { "kind": "scripted", "calls": [call] } }));
    tried.project.expect(0, &["record"]);
    let baseline = tried.baseline();
    let calls = baseline["upstream"]["calls"].as_array().unwrap();
    let behind: Vec<_> = (calls.iter())
        .map(|it| json!([it["cause"], it["tool"]]))
        .collect();
    assert_eq!(json!(behind), json!([[1, "write"]]), "it is waited for");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_real_server_behind_a_proxy_is_observed_through_a_tap() {
    let tried = Tried::new(&[]);
    let server = json!({ "type": "stdio", "command": faulty_server(), "tap": true });
    let calls = json!([{ "tool": "files__echo", "args": { "a": 1 } }, { "tool": "files__count" }]);
    tried.scenario(&json!({
        "upstreams": { "files": server },
        "mcp_interactions": {},
        "agent": { "kind": "scripted", "calls": calls },
    }));
    tried.project.expect(0, &["record"]);
    let baseline = tried.baseline();
    let behind = &baseline["upstream"]["calls"];
    assert_eq!(behind[0]["arguments"], json!({ "a": 1 }), "{behind}");
    assert_eq!(behind[1]["tool"], "count", "{behind}");
    let offered = &baseline["upstream"]["catalogue"][0]["tools"];
    assert_eq!(offered.as_array().map(Vec::len), Some(2), "{offered}");
    assert!(compared(&tried, 1, &["twice=echo"]).contains("received `echo` 2 times, 1 before"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn calls_asked_again_to_learn_from_them_are_not_recorded_twice() {
    let tried = Tried::new(&[]);
    // Once, with each read asked again: what an agent program or a model decides cannot be played twice.
    for takes in [&["--takes", "1"][..], &[]] {
        let arguments = [&["record"], takes].concat();
        tried.project.expect(0, &arguments);
        let baseline = tried.baseline();
        let calls = baseline["upstream"]["calls"].as_array().map(Vec::len);
        assert_eq!(calls, Some(2), "{takes:?}");
    }
    let command = [
        &small_agent(),
        "call proxy files__read {\"path\":\"/a\"}",
        "call proxy files__write {\"path\":\"/b\"}",
    ];
    let agent = json!({ "kind": "command", "command": command });
    tried.scenario(&json!({ "agent": agent, "user_intent": "read, then write" }));
    let ran = tried.project.expect(0, &["record"]);
    let baseline = tried.baseline();
    let behind = baseline["upstream"]["calls"].as_array().unwrap();
    let causes: Vec<_> = behind
        .iter()
        .map(|it| json!([it["cause"], it["tool"]]))
        .collect();
    assert_eq!(
        json!(causes),
        json!([[1, "read"], [2, "write"]]),
        "{}",
        ran.stdout
    );
    // A server behind that outlives the run: its effects are made once, and each of its reads is asked again.
    tried.project.file("behind.yaml", files().to_string());
    let (_served, url) = served(
        &tried.project,
        &["mock", "behind.yaml", "--transport", "http"],
    );
    tried.scenario(&json!({
        "upstreams": { "files": { "type": "http", "url": url, "tap": true } },
        "mcp_interactions": {},
    }));
    tried.project.expect(0, &["record"]);
    let shared = tried.baseline();
    let behind = shared["upstream"]["calls"].as_array().map(Vec::len);
    assert_eq!(behind, Some(2), "{shared}");
    assert_eq!(shared["learned"][0]["takes"], 2, "the read was asked again");
    let learned = &baseline["learned"];
    assert_ne!(*learned, Value::Null, "the read was asked again");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_behind_that_is_gone_leaves_no_verdict() {
    let tried = Tried::new(&[]);
    let server = json!({ "type": "stdio", "command": faulty_server(), "args": ["die-after=0"], "tap": true });
    let calls = json!([{ "tool": "files__echo", "args": { "a": 1 }, "is_error": true }]);
    tried.scenario(&json!({
        "upstreams": { "files": server },
        "mcp_interactions": {},
        "agent": { "kind": "scripted", "calls": calls },
    }));
    let ran = tried.project.expect(3, &["run"]);
    ran.says("behind the servers");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn two_configurations_of_a_proxy_are_compared_without_a_baseline() {
    let tried = Tried::new(&[]);
    let other = tried.project.read("scenarios/proxy.json");
    tried.project.file("other.json", other);
    let against = ["compare", "--against", "config:other.json"];
    tried.project.expect(0, &against).says("1/1 tests passed");
    tried.with(&["twice=write"]);
    let ran = tried.project.expect(1, &against);
    ran.says("received `write` 2 times, 1 before");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn upstream_calls_are_shown_with_the_purpose_of_their_call() {
    let tried = Tried::new(&[]);
    let labelled = json!({ "label": { "files__write": "args.path" } });
    tried.scenario(&labelled);
    tried.project.expect(0, &["record"]);
    tried.with(&["twice=write"]);
    let ran = tried.project.expect(1, &["compare", "-v"]);
    ran.says("call 2 `files__write → /b`: behind it, `files` received `write`");
    let result: Value =
        serde_json::from_str(&tried.project.read("reports/latest/result.json")).unwrap();
    let cause = result["causes"][0]["text"].as_str().unwrap();
    let begins = "behind `files__write → /b`, `files` received `write`";
    assert!(cause.starts_with(begins), "{cause}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn whose_doing_another_answer_is_is_said() {
    let tried = Tried::new(&[]);
    tried.project.expect(0, &["record"]);
    let said = compared(&tried, 1, &["cut=5"]);
    assert!(
        said.contains("the server behind it, `files`, answered as before"),
        "{said}"
    );
    let mut other = files();
    other["tools"][0]["responses"][0]["content"] = json!("no bottles of red wine");
    tried.scenario(&json!({ "mcp_interactions": { "files": other } }));
    let said = compared(&tried, 1, &[]);
    assert!(
        said.contains("the server behind it, `files`, answered otherwise, too"),
        "{said}"
    );
    assert!(
        said.contains("A server behind it answered otherwise."),
        "{said}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn where_nobody_listened_on_one_side_that_is_a_change() {
    let tried = Tried::new(&[]);
    tried.project.expect(0, &["record"]);
    let mut baseline = tried.baseline();
    baseline.as_object_mut().unwrap().remove("upstream");
    baseline["format_version"] = json!(2);
    tried
        .project
        .file("baselines/s/baseline.json", baseline.to_string());
    let ran = tried.project.expect(0, &["compare"]);
    ran.says("calls behind the server were not recorded for the baseline");
    tried.project.expect(1, &["compare", "--strict"]);
}
