//! The effect of a proxy on the answers of the servers behind it, as `compare --direct` shows it.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, faulty_server, small_proxy};

/// What the file holds that is read: 200 characters.
fn long() -> String {
    "abcdefghij".repeat(20)
}

/// A server of files: one tool reads, one counts, one refuses.
fn files() -> Value {
    json!({ "tools": [
        { "name": "read", "description": "Reads a file", "annotations": { "read_only_hint": true },
          "responses": [{ "content": long() }] },
        { "name": "count",
          "responses": [{ "content": "12 files", "structured_content": { "count": 12 } }] },
        { "name": "refuse", "responses": [{ "content": "there is no such file", "is_error": true }] },
    ] })
}

/// A project whose proxy has these faults, stands in front of a mock and of these, and is asked this.
fn tried(faults: &[&str], calls: &[&str], more: &Value) -> Project {
    let project = Project::new();
    let fails = |tool: &str| tool.ends_with("refuse") && !faults.contains(&"swallow");
    let mut scenario = json!({
        "name": "s",
        "config_file": "proxy.json",
        "servers": { "proxy": {
            "type": "http", "url": "http://127.0.0.1:${port}/mcp",
            "start": { "command": small_proxy(), "args": ["${port}", "${config_file}"] } } },
        "upstreams": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": files() },
        "agent": { "kind": "scripted", "calls":
            calls.iter().map(|it| json!({ "tool": it, "args": {}, "is_error": fails(it) })).collect::<Vec<_>>() },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    let upstreams = scenario["upstreams"].as_object().unwrap().keys();
    let upstreams = upstreams.map(|it| (it.clone(), json!(format!("{{{{upstream.{it}.url}}}}"))));
    let upstreams: serde_json::Map<_, _> = upstreams.collect();
    let config = json!({ "upstreams": upstreams, "faults": faults });
    project
        .file("scenarios/proxy.json", config.to_string())
        .file("scenarios/s.yaml", scenario.to_string());
    project
}

/// A real server behind the proxy, with these faults.
fn tapped(faults: &[&str]) -> Value {
    json!({ "upstreams": { "real": { "type": "stdio", "command": faulty_server(), "args": faults, "tap": true } },
        "mcp_interactions": {} })
}

const DIRECT: &[&str] = &["compare", "--direct"];

/// What is found of each call, in the document.
fn findings(result: &Value) -> Vec<String> {
    let calls = result["scenarios"][0]["direct"]["calls"].as_array();
    let calls = calls.unwrap_or_else(|| panic!("{result:#}")).iter();
    calls
        .map(|it| {
            let findings = it["findings"].as_array().unwrap().iter();
            let findings: Vec<&str> = findings.map(|it| it.as_str().unwrap()).collect();
            findings.join("; ")
        })
        .collect()
}

/// The page of the only scenario.
fn page(project: &Project) -> String {
    let folder = project.path("reports/latest");
    let pages = fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    let mut pages = pages.filter(|it| {
        let is_page = it.extension().is_some_and(|it| it == "html");
        is_page && !it.ends_with("index.html")
    });
    fs::read_to_string(pages.next().unwrap()).unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn changes_by_a_proxy_to_an_answer_are_reported() {
    let cases = [
        ("cut=50", "files__read", "cut after 50 of 200 characters"),
        (
            "reword",
            "files__read",
            "8 characters were put around the text",
        ),
        ("swallow", "files__refuse", "an error became a success"),
    ];
    for (fault, tool, finding) in cases {
        let project = tried(&[fault], &[tool], &json!({}));
        assert_eq!(findings(&project.result(0, DIRECT)), [finding], "{fault}");
        let ran = project.expect(0, DIRECT);
        let behind = tool.replace("__", ".");
        ran.says(&format!("~ call 1 {tool} → {behind}: {finding} · "))
            .says("3 tools are listed as they are")
            .says(" × the time, ")
            .says_not("with changes");
        assert!(page(&project).contains(finding), "{fault}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_passed_on_as_it_was_is_no_finding() {
    let project = tried(
        &[],
        &["files__read", "files__count", "files__refuse"],
        &json!({}),
    );
    let result = project.result(0, DIRECT);
    assert_eq!(findings(&result), ["", "", ""]);
    let direct = &result["scenarios"][0]["direct"];
    let numbers = |it: &Value| {
        let cost = |key: &str| it[key].as_f64().unwrap_or_else(|| panic!("{key}: {it}"));
        [cost("ms"), cost("bytes"), cost("tokens")]
    };
    let calls = direct["calls"].as_array().unwrap();
    for call in calls {
        let (through, straight) = (numbers(&call["through"]), numbers(&call["straight"]));
        assert!(
            through.iter().chain(&straight).all(|it| *it > 0.0),
            "{call}"
        );
        assert_eq!(
            through[1..],
            straight[1..],
            "the answer is the same: {call}"
        );
    }
    let sum = |side: &str, at: usize| calls.iter().map(|it| numbers(&it[side])[at]).sum::<f64>();
    for side in ["through", "straight"] {
        let total = numbers(&direct["totals"][side]);
        assert!((total[0] - sum(side, 0)).abs() < 1e-6, "{direct}");
        assert_eq!(total[1..], [sum(side, 1), sum(side, 2)]);
    }
    let listed = json!([
        { "server": "files", "tool": "read", "listed_as": "files__read", "findings": [] },
        { "server": "files", "tool": "count", "listed_as": "files__count", "findings": [] },
        { "server": "files", "tool": "refuse", "listed_as": "files__refuse", "findings": [] },
    ]);
    assert_eq!(direct["tools"], listed);
    project
        .expect(0, DIRECT)
        .says("· 3 calls passed on as they were")
        .says("· 3 tools are listed as they are")
        .says("straight: ")
        .says_not("~ call")
        .says_not("recorded again");
    let page = page(&project);
    assert_eq!(page.matches("passed on as it was").count(), 3);
    assert!(page.contains("What the proxy does to answers"));
    // Without `--direct`, nothing is said of it.
    let plain = project.result(0, &["run"]);
    assert_eq!(plain["scenarios"][0]["direct"], Value::Null);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tools_left_out_by_a_proxy_are_reported() {
    let project = tried(&["lose=annotations"], &["files__read"], &json!({}));
    let result = project.result(0, DIRECT);
    let tools = &result["scenarios"][0]["direct"]["tools"];
    assert_eq!(tools[0]["findings"], json!(["`annotations` was lost"]));
    assert_eq!(tools[1]["findings"], json!([]));
    project
        .expect(0, DIRECT)
        .says("~ files.read is listed as files__read: `annotations` was lost")
        .says("2 tools are listed as they are");
    assert!(page(&project).contains("`annotations` was lost"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_call_that_becomes_two_is_shown_twice_and_counts_once() {
    let project = tried(&["twice=read"], &["files__read"], &json!({}));
    let result = project.result(0, DIRECT);
    assert_eq!(findings(&result), ["", ""]);
    let direct = &result["scenarios"][0]["direct"];
    let bytes = |it: &Value| it["bytes"].as_u64().unwrap();
    let one = bytes(&direct["calls"][0]["through"]);
    assert_eq!(bytes(&direct["totals"]["through"]), one);
    assert_eq!(bytes(&direct["totals"]["straight"]), 2 * one);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_answer_that_is_another_one_each_time_is_not_the_proxys_doing() {
    // A mock that has answered the proxy's own call before, so that the agent gets the second answer, and the straight call the first.
    let answers = json!([{ "content": "the first answer" }, { "content": "the second answer" }]);
    let mocked = json!({ "mcp_interactions": { "files": { "tools": [{ "name": "read", "responses": answers }] } } });
    let project = tried(&["startup=files__read"], &["files__read"], &mocked);
    assert_eq!(findings(&project.result(0, DIRECT)), [""]);
    // A server that makes something up each time.
    let project = tried(&[], &["real__count"], &tapped(&["random"]));
    assert_eq!(findings(&project.result(0, DIRECT)), [""]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_real_server_behind_is_asked_straight_too() {
    let secret = "hush-3f9a77";
    let text = format!("the key is {secret} and {}", long());
    let mut more = tapped(&[&format!("text={text}")]);
    more["redact"] = json!(["hush-[0-9a-f]+"]);
    let project = tried(&["cut=40", "reword"], &["real__echo"], &more);
    let result = project.result(0, DIRECT);
    let found = findings(&result);
    assert!(found[0].starts_with("reworded: \"the key is "), "{found:?}");
    let straight = &result["scenarios"][0]["direct"]["calls"][0]["straight"];
    assert!(straight["ms"].as_f64().unwrap() > 0.0);
    assert!(!result.to_string().contains(secret));
    project
        .expect(0, DIRECT)
        .says("reworded: ")
        .says_not(secret);
    assert!(!page(&project).contains(secret));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_cannot_be_asked_straight_leaves_what_is_known() {
    // It starts for its tools, then for the proxy, and leaves at once when it is started to be asked straight.
    let project = Project::new();
    let starts = project.path("starts").to_str().unwrap().to_owned();
    let mut more = tapped(&[&format!("runs={starts}:..x")]);
    more["redact"] = json!(["no configuration"]);
    let project = tried(&["reword"], &["real__echo"], &more);
    let result = project.result(3, DIRECT);
    assert_eq!(findings(&result), ["8 characters were put around the text"]);
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "error");
    let problem = &scenario["problem"];
    let message = problem["message"].as_str().unwrap();
    assert!(
        message.starts_with("asking the servers behind straight: "),
        "{problem}"
    );
    assert!(
        !problem.to_string().contains("no configuration"),
        "{problem}"
    );
    assert_eq!(
        scenario["direct"]["calls"][0]["straight"]["ms"],
        Value::Null
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_resets_a_server_is_run_before_it_is_asked_straight() {
    let project = tried(
        &[],
        &["files__read"],
        &json!({
            "before": [{ "command": ["sh", "-c", "echo before >> hooks"] }],
            "after": [{ "command": ["sh", "-c", "echo after >> hooks"] }],
        }),
    );
    project.expect(0, DIRECT);
    let hooks = project.path("hooks");
    let hooks = if hooks.exists() {
        hooks
    } else {
        project.path("scenarios/hooks")
    };
    assert_eq!(
        fs::read_to_string(hooks)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>(),
        ["before", "after", "before", "after"]
    );
}

#[test]
fn where_nothing_stands_behind_nothing_is_said() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({}))]);
    project
        .expect(3, DIRECT)
        .says("it declares no `upstreams`, so there is nothing behind its servers to be asked straight")
        .says("Exit 3: something could not be run or judged, or nothing ran");
    let result = project.result(3, DIRECT);
    assert_eq!(result["scenarios"][0]["status"], "skipped");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fails_its_own_expectations_fails() {
    let more = json!({ "success_criteria": [{ "upstream_called": { "server": "files", "tool": "read", "times": 1 } }] });
    let project = tried(&["twice=read"], &["files__read"], &more);
    project
        .expect(1, DIRECT)
        .says("the tool was called 2 times")
        .says("2 calls passed on as they were");
}
