//! Playing a baseline's calls against a live server.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Project, faulty_server};

/// Only a program that hangs takes that long.
const WATCHDOG: Duration = Duration::from_secs(120);

/// A scenario with a script for the store of items; its server is started with these arguments.
fn items(project: &Project, name: &str, server: &[&str], calls: &Value, more: &Value) {
    let mut scenario = json!({
        "name": name,
        "user_intent": "Look after the items",
        "servers": { "s": { "type": "stdio", "command": faulty_server(), "args": server } },
        "agent": { "kind": "scripted", "calls": calls },
    });
    let (scenario_members, more) = (scenario.as_object_mut().unwrap(), more.as_object().unwrap());
    scenario_members.extend(more.clone());
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

/// Creates, looks, opens and deletes; every call after the first two needs what they were answered.
fn flow() -> Value {
    json!([
        { "tool": "create_item", "args": { "title": "first" } },
        { "tool": "create_item", "args": { "title": "second" } },
        { "tool": "get_item", "args": { "id": "{{calls.1.json:/id}}" } },
        { "tool": "list_items", "args": {} },
        { "tool": "open_url", "args": { "url": "https://other/{{calls.0.json:/id}}/edit", "authorization": "Bearer {{calls.1.json:/token}}" } },
        { "tool": "find_item", "args": { "args_json": "{\"id\": \"{{calls.0.json:/id}}\", \"deep\": true}" } },
        { "tool": "delete_item", "args": { "id": "{{calls.0.json:/id}}" } },
        { "tool": "delete_item", "args": { "id": "{{calls.1.json:/id}}" } },
    ])
}

fn job() -> Value {
    let mut calls = vec![json!({ "tool": "start_job", "args": {} })];
    calls.extend(std::iter::repeat_n(
        json!({ "tool": "job_status", "args": { "job": "{{calls.0.json:/job}}" } }),
        3,
    ));
    calls.push(json!({ "tool": "create_item", "args": { "title": "done" } }));
    calls.into()
}

#[track_caller]
fn assert_perfect(result: &Value) {
    for scenario in result["scenarios"].as_array().unwrap() {
        let comparison = &scenario["comparison"];
        assert_eq!(comparison["scores"]["overall"], 1.0, "{scenario:#}");
        assert_eq!(scenario["status"], "passed", "{scenario:#}");
        assert_eq!(comparison["warnings"], json!([]), "{scenario:#}");
    }
}

fn baseline(project: &Project, name: &str) -> Value {
    serde_json::from_str(&project.read(format!("baselines/{name}/baseline.json"))).unwrap()
}

/// `call 2 /id ← call 1 response /id` for each binding of a stored trajectory.
fn bindings(baseline: &Value) -> Vec<String> {
    let bindings = baseline["bindings"].as_array().unwrap();
    let word = |it: &Value| it.as_str().unwrap().to_owned();
    let one = |it: &Value| {
        let from = &it["from"];
        format!(
            "{} {} <- {} {}",
            it["call"],
            word(&it["path"]),
            from["call"],
            word(&from["path"])
        )
    };
    bindings.iter().map(one).collect()
}

fn with_server(project: &Project, name: &str, from: &str, to: &str) {
    project.edit(&format!("scenarios/{name}.yaml"), from, to);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn ids_of_any_kind_are_followed_and_score_1() {
    let project = Project::new();
    let styles = ["uuid", "short", "token", "number", "word", "fixed"];
    for style in styles {
        items(
            &project,
            style,
            &[&format!("items={style}")],
            &flow(),
            &json!({}),
        );
    }
    project
        .expect(0, &["record", "-v"])
        .says("taken from an earlier answer: call 3 /id ← call 2 response /id");
    for _ in 0..3 {
        assert_perfect(&project.result(0, &["compare", "--agent", "replay", "--jobs", "3"]));
    }
    // A script that follows its own references is judged by the same bindings.
    assert_perfect(&project.result(0, &["compare"]));
    for style in styles {
        let bindings = bindings(&baseline(&project, style));
        for binding in [
            "3 /id <- 2 /id",
            "5 /url <- 1 /id",
            "5 /authorization <- 2 /token",
            "6 /args_json <- 1 /id",
            "7 /id <- 1 /id",
            "8 /id <- 2 /id",
        ] {
            assert!(
                bindings.contains(&binding.to_owned()),
                "{style}: {bindings:?}"
            );
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn one_take_is_enough_for_values_that_look_made_up() {
    let project = Project::new();
    for style in ["uuid", "short", "token", "number"] {
        items(
            &project,
            style,
            &[&format!("items={style}")],
            &flow(),
            &json!({}),
        );
    }
    project.expect(0, &["record", "--takes", "1"]);
    for _ in 0..3 {
        assert_perfect(&project.result(0, &["compare", "--agent", "replay"]));
    }
}

#[test]
fn an_id_within_a_sentence_is_followed() {
    let project = Project::new();
    // A script cannot refer to a part of a text, so the ids of the recorded run are put in afterwards, as an agent that reads would.
    let calls = json!([
        { "tool": "create_item", "args": { "title": "first" } },
        { "tool": "delete_item", "args": { "id": "item-0000" } },
    ]);
    items(&project, "text", &["items=text"], &calls, &json!({}));
    project.expect(0, &["record", "--allow-failing", "--takes", "1"]);
    let path = "baselines/text/baseline.json";
    let recorded = baseline(&project, "text");
    let said = recorded["steps"][1]["outcome"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    let id = said.split(' ').nth(2).unwrap().to_owned();
    let text = project.read(path);
    let text = text
        .replace("\"item-0000\"", &format!("\"{id}\""))
        .replace("no item item-0000", &format!("Deleted item {id}."))
        .replace("tool_error", "ok");
    project.file(path, text);
    let result = project.result(0, &["compare", "--agent", "replay"]);
    assert_perfect(&result);
    let bound = &result["scenarios"][0]["comparison"]["rows"][1]["bound"][0];
    assert_eq!(
        bound["from"],
        json!({ "call": 1, "path": "/content/0/text" })
    );
    assert_eq!(bound["expected"], id);
    assert_ne!(bound["got"], id);
}

#[test]
fn bindings_are_shown_wherever_the_call_is() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let dialogue = project.read("baselines/flow/trajectory.txt");
    assert!(
        dialogue.contains("BOUND: /id ← call 2 response /id"),
        "{dialogue}"
    );
    let result = project.result(0, &["compare", "--agent", "replay"]);
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["current"]["stamp"]["agent"], "replay");
    assert_eq!(scenario["baseline"]["bindings"][0]["path"], "/id");
    let row = &scenario["comparison"]["rows"][2];
    let (was, now) = (&row["bound"][0]["expected"], &row["bound"][0]["got"]);
    assert_ne!(was, now, "random ids");
    // The report shows what was really sent.
    let parameter = &row["request"]["parameters"][0];
    assert_eq!(parameter["method"], "bound");
    assert_eq!((&parameter["expected"], &parameter["got"]), (was, now));
    project
        .expect(0, &["explain", "latest", "3", "--scenario", "flow"])
        .says("from an earlier answer: /id ← call 2 response /id")
        .says(now.as_str().unwrap());
    let page = project.read("reports/latest/flow.html");
    assert!(page.contains("/id ← call 2 response /id"), "{page}");
}

#[test]
fn a_regression_is_reported_in_the_words_of_the_run() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    with_server(&project, "flow", "items=short", "items=word");
    // Words are no ids of the recorded shape, but they are followed all the same: only what varied by nature differs.
    assert_perfect(&project.result(0, &["compare", "--agent", "replay"]));
    with_server(&project, "flow", "items=word", "items=number");
    let result = project.result(1, &["compare", "--agent", "replay"]);
    let comparison = &result["scenarios"][0]["comparison"];
    // A number where a text was is another contract, wherever it stands; and yet every call found its item.
    let change = &comparison["rows"][2]["response"]["contract_changes"];
    assert!(
        change.to_string().contains("became a number"),
        "{comparison:#}"
    );
    assert_eq!(comparison["current_status"], "success");
}

#[test]
fn an_id_that_stayed_the_same_in_all_takes_is_a_change_where_it_comes_from_alone() {
    let project = Project::new();
    // Asked once more, it gives a third id.
    let more = json!({ "scoring": { "confirm": 0 } });
    items(&project, "flow", &["items=fixed"], &flow(), &more);
    project.expect(0, &["record"]);
    with_server(&project, "flow", "items=fixed", "items=short");
    let ran = project.expect(1, &["compare", "--agent", "replay", "-v"]);
    ran.says("call 1, mcp__s__create_item")
        .says("changed, though stable in both recordings");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let rows = result["scenarios"][0]["comparison"]["rows"]
        .as_array()
        .unwrap();
    let scores: Vec<f64> = rows.iter().map(|it| it["call"].as_f64().unwrap()).collect();
    assert!(scores[0] < 0.9 && scores[1] < 0.9, "{scores:?}");
    assert!(scores[2..].iter().all(|it| *it > 1.0 - 1e-9), "{scores:?}");
}

#[test]
fn a_secret_the_server_gives_is_followed_and_never_stored() {
    let project = Project::new();
    items(&project, "flow", &["items=token"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let result = project.result(0, &["compare", "--agent", "replay"]);
    assert_perfect(&result);
    let row = &result["scenarios"][0]["comparison"]["rows"][4];
    let bound = row["bound"].as_array().unwrap();
    assert!(
        bound
            .iter()
            .any(|it| it["path"] == "/authorization" && it["got"] == "<secret:token>"),
        "{row:#}"
    );
    // The server answers `open_url` only when the address or the token holds a known id.
    let agent = json!({ "kind": "replay", "bindings": [{ "call": 5, "path": "/authorization", "from": "recorded" }] });
    items(
        &project,
        "flow",
        &["items=token"],
        &flow(),
        &json!({ "agent": agent }),
    );
    let result = project.result(3, &["compare"]);
    let problem = &result["scenarios"][0]["problem"];
    let message = problem["message"].to_string();
    assert!(
        message.contains("call 5 of `mcp__s__open_url` was recorded with a secret"),
        "{message}"
    );
    assert!(
        problem["details"].to_string().contains("secret: true"),
        "{problem}"
    );
    for entry in walkdir::WalkDir::new(project.path("")) {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            let text = fs::read_to_string(&path).unwrap_or_default();
            assert!(!text.contains("t-tok_x"), "{}", path.display());
        }
    }
}

#[test]
fn a_value_that_is_gone_is_replaced_by_the_recorded_one_and_reported() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/flow.yaml",
        "\"items=short\"",
        "\"items=short\",\"nameless\"",
    );
    let result = project.result(1, &["compare", "--agent", "replay"]);
    let scenario = &result["scenarios"][0];
    let notes = scenario["notes"].to_string();
    assert!(
        notes.contains("call 3 /id ← call 2 response /id: the answer has no such value now"),
        "{notes}"
    );
    let rows = &scenario["comparison"]["rows"];
    assert_eq!(rows.as_array().unwrap().len(), 8, "it goes on");
    assert_eq!(rows[2]["bound"][0]["got"], Value::Null);
    assert_eq!(rows[2]["request"]["similarity"], 1.0);
    assert_eq!(rows[2]["response"]["similarity"], 0.0);
    let page = project.read("reports/latest/flow.html");
    assert!(page.contains("not in the answer now"), "{page}");
}

#[test]
fn an_element_of_a_list_is_known_by_what_stands_beside_it() {
    let project = Project::new();
    let calls = json!([
        { "tool": "create_item", "args": { "title": "first" } },
        { "tool": "create_item", "args": { "title": "second" } },
        { "tool": "list_items", "args": {} },
        { "tool": "get_item", "args": { "id": "{{calls.2.json:/items/1/id}}" } },
    ]);
    // Without the ids in their own answers, the list is their source.
    items(
        &project,
        "list",
        &["items=short", "nameless"],
        &calls,
        &json!({}),
    );
    project.expect(0, &["record"]);
    assert_eq!(
        bindings(&baseline(&project, "list")),
        ["4 /id <- 3 /items/1/id"]
    );
    project.edit(
        "scenarios/list.yaml",
        "\"nameless\"",
        "\"nameless\",\"reversed\"",
    );
    let result = project.run(&["compare", "--agent", "replay", "--format", "json"]);
    let result: Value = serde_json::from_str(&result.stdout).unwrap();
    let row = &result["scenarios"][0]["comparison"]["rows"][3];
    assert_eq!(
        row["call"], 1.0,
        "the second item, though it is the first of the list now: {row:#}"
    );
}

#[test]
fn a_tool_that_is_gone_is_called_all_the_same() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/flow.yaml",
        "\"items=short\"",
        "\"items=short\",\"gone=create_item\"",
    );
    let ran = project.expect(1, &["compare", "--agent", "replay"]);
    ran.says("tool `create_item` is gone")
        .says("`create_item` failed: Unknown tool: create_item");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let row = &result["scenarios"][0]["comparison"]["rows"][0];
    assert_eq!(row["current"]["outcome"], "rpc_error");
    assert_eq!(result["scenarios"][0]["current"]["calls"], 8);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_poll_is_asked_again_until_it_has_its_recorded_answer() {
    let project = Project::new();
    for (name, tool) in [("hinted", "job_status"), ("unhinted", "check_job")] {
        let calls: Value =
            serde_json::from_str(&job().to_string().replace("job_status", tool)).unwrap();
        // Where the server does not say that a tool reads, the scenario does.
        let reads = json!({ "scoring": { "reads": [tool] } });
        items(&project, name, &["items=short", "polls=2"], &calls, &reads);
    }
    project.expect(0, &["record"]);
    for (before, now, calls) in [(2, 5, 8), (5, 0, 3), (0, 2, 5)] {
        for name in ["hinted", "unhinted"] {
            with_server(
                &project,
                name,
                &format!("polls={before}"),
                &format!("polls={now}"),
            );
        }
        let result = project.result(0, &["compare", "--agent", "replay", "--jobs", "2"]);
        assert_perfect(&result);
        for scenario in result["scenarios"].as_array().unwrap() {
            assert_eq!(scenario["current"]["calls"], calls);
            let poll = &scenario["comparison"]["rows"][1]["polled"];
            assert_eq!(poll, &json!({ "baseline": 3, "current": calls - 2 }));
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_comes_behind_a_poll_takes_its_values_from_the_calls_it_took_them_from() {
    let project = Project::new();
    let mut calls = job();
    let behind = calls.as_array_mut().unwrap();
    behind.extend([
        json!({ "tool": "get_item", "args": { "id": "{{calls.4.json:/id}}" } }),
        json!({ "tool": "delete_item", "args": { "id": "{{calls.4.json:/id}}" } }),
    ]);
    items(
        &project,
        "job",
        &["items=short", "polls=2"],
        &calls,
        &json!({}),
    );
    project.expect(0, &["record"]);
    let bound = bindings(&baseline(&project, "job"));
    assert!(bound.contains(&"6 /id <- 5 /id".to_owned()), "{bound:?}");
    // However often the job is asked for, the calls behind keep their numbers in the baseline.
    for polls in ["polls=2", "polls=0", "polls=5"] {
        with_server(&project, "job", "polls=2", polls);
        let result = project.result(0, &["compare", "--agent", "replay"]);
        assert_perfect(&result);
        let notes = result["scenarios"][0]["notes"].to_string();
        assert!(!notes.contains("so the recorded one was used"), "{notes}");
        with_server(&project, "job", polls, "polls=2");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_poll_that_never_ends_is_given_up_and_fails() {
    let project = Project::new();
    let agent = json!({ "agent": { "kind": "replay", "calls": job(), "poll_timeout": "300ms" } });
    items(&project, "job", &["items=short", "polls=2"], &job(), &agent);
    project.expect(0, &["record", "--agent", "scripted"]);
    with_server(&project, "job", "polls=2", "polls=1000000");
    let ran = project.expect(1, &["compare"]);
    ran.says("never gave its recorded final answer")
        .says("`job_status` returned a different `state`: \"finished\" → \"running\"")
        .says_not("extra call");
}

#[test]
fn ctrl_c_ends_a_poll_at_once() {
    let project = Project::new();
    let agent = json!({ "agent": { "kind": "replay", "calls": job(), "poll_timeout": "10m" }, "timeout": "10m" });
    items(&project, "job", &["items=short", "polls=2"], &job(), &agent);
    project.expect(0, &["record", "--agent", "scripted"]);
    with_server(&project, "job", "polls=2", "polls=1000000");
    let mut child = project
        .command()
        .args(["compare", "-v"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The fourth call of it is a third attempt.
    let said = BufReader::new(child.stderr.take().unwrap()).lines();
    let fourth = said.map_while(Result::ok).find(|it| it.contains("call 4"));
    assert!(fourth.is_some(), "the poll was not made");
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let asked = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(asked.elapsed() < WATCHDOG, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
    let gone = Instant::now();
    while !project.survivors().is_empty() {
        assert!(gone.elapsed() < WATCHDOG, "its server does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_attempt_that_fails_is_no_mere_attempt() {
    let project = Project::new();
    items(
        &project,
        "job",
        &["items=short", "polls=2"],
        &job(),
        &json!({}),
    );
    project.expect(0, &["record"]);
    // A stored run in which the second attempt was answered with an error.
    project.expect(0, &["compare"]);
    let run = fs::read_dir(project.path(".mcp-eval/runs"))
        .unwrap()
        .map(|it| it.unwrap().path().join("current/job.json"))
        .filter(|it| it.exists())
        .max()
        .unwrap();
    let mut stored: Value = serde_json::from_str(&fs::read_to_string(&run).unwrap()).unwrap();
    stored["steps"][3]["outcome"]["status"] = json!("tool_error");
    project.file("failed.json", stored.to_string());
    project.expect(1, &["compare", "--run", "failed.json"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_recorded_pace_keeps_the_gaps() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let path = "baselines/flow/baseline.json";
    let mut stored = baseline(&project, "flow");
    for (index, step) in stored["steps"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .skip(1)
        .enumerate()
    {
        step["start_ms"] = json!(100.0 * f64::from(u32::try_from(index).unwrap()));
        step["duration_ms"] = json!(1.0);
    }
    project.file(path, stored.to_string());
    let duration = || {
        let result = project.result(0, &["compare", "--agent", "replay"]);
        let file = result["scenarios"][0]["current"]["file"]
            .as_str()
            .unwrap()
            .to_owned();
        let run = fs::read_to_string(project.path("reports/latest").join(file)).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        let starts: Vec<f64> = (run["steps"].as_array().unwrap().iter())
            .filter_map(|it| it["start_ms"].as_f64())
            .collect();
        starts
            .windows(2)
            .map(|it| it[1] - it[0])
            .fold(f64::INFINITY, f64::min)
    };
    assert!(duration() < 98.0, "else the test shows nothing");
    project.edit(
        "scenarios/flow.yaml",
        "\"kind\":\"scripted\"",
        "\"kind\":\"replay\",\"pace\":\"recorded\"",
    );
    assert!(duration() >= 98.0);
}

#[test]
fn what_the_scenario_says_of_a_binding_counts() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let bind = |bindings: &Value| {
        let agent = json!({ "kind": "replay", "bindings": bindings, "calls": flow() });
        items(
            &project,
            "flow",
            &["items=short"],
            &flow(),
            &json!({ "agent": agent }),
        );
    };
    // The id of the same item from another answer, and a part of an argument.
    bind(&json!([
        { "call": 8, "path": "/id", "from": { "call": 3, "path": "/item/id" } },
        { "call": 5, "path": "/url", "from": { "call": 1, "path": "/id" } },
    ]));
    let result = project.result(0, &["compare"]);
    assert_perfect(&result);
    let rows = &result["scenarios"][0]["comparison"]["rows"];
    assert_eq!(
        rows[7]["bound"][0]["from"],
        json!({ "call": 3, "path": "/item/id" })
    );
    // Switched off, the recorded id is asked for, and the server knows no such item.
    bind(&json!([{ "call": 3, "path": "/id", "from": "recorded" }]));
    let result = project.result(1, &["compare"]);
    let row = &result["scenarios"][0]["comparison"]["rows"][2];
    assert_eq!(row["current"]["outcome"], "tool_error");
    assert_eq!(row["request"]["parameters"][0]["method"], "equal");
    assert_eq!(row.get("bound"), None);
}

#[test]
fn impossible_bindings_are_reported_with_their_place() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let scenario = project.read("scenarios/flow.yaml");
    let bind = |bindings: &str| {
        let agent = format!("\"agent\":{{\n  \"bindings\":\n{bindings},");
        project.file(
            "scenarios/flow.yaml",
            scenario.replace("\"agent\":{", &agent),
        );
    };
    bind(
        "  [{ \"call\": 3, \"path\": \"id\", \"from\": { \"call\": 3, \"path\": \"/id\" } },\n   { \"call\": 2, \"path\": \"/id\", \"from\": never }]",
    );
    project
        .expect(2, &["validate"])
        .says("flow.yaml:3:25: error: `id` is not a JSON pointer")
        .says("write `/id`")
        .says("flow.yaml:4:40")
        .says("expected one of recorded, found `never`");
    bind("  [{ \"call\": 3, \"path\": \"/id\", \"from\": { \"call\": 3, \"path\": \"/id\" } }]");
    project
        .expect(2, &["compare"])
        .says("flow.yaml:3:50")
        .says("call 3 cannot use the answer to call 3, which comes later");
    for (binding, why) in [
        (
            "\"call\": 30, \"path\": \"/id\"",
            "there is no call 30: the baseline has 8",
        ),
        (
            "\"call\": 3, \"path\": \"/uid\"",
            "call 3 has no argument /uid",
        ),
        (
            "\"call\": 4, \"path\": \"/id\"",
            "call 4 has no argument /id",
        ),
        (
            "\"call\": 7, \"path\": \"/id\"",
            "does not hold the value of call 2 response /id",
        ),
    ] {
        bind(&format!(
            "  [{{ {binding}, \"from\": {{ \"call\": 2, \"path\": \"/id\" }} }}]"
        ));
        project
            .expect(3, &["compare", "--agent", "replay"])
            .says("`agent.bindings` does not fit the baseline")
            .says("scenarios/flow.yaml:3:")
            .says(why);
    }
}

#[test]
fn without_a_baseline_there_is_nothing_to_replay() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    for command in ["compare", "run", "record"] {
        project
            .expect(3, &[command, "--agent", "replay"])
            .says("no baseline: baselines/flow/baseline.json does not exist")
            .says("mcp-eval record --scenario scenarios/flow.yaml --agent scripted");
    }
    project.file(
        "scenarios/flow.yaml",
        json!({ "name": "flow", "servers": { "s": { "command": faulty_server() } }, "agent": { "kind": "replay" } }).to_string(),
    );
    project.expect(0, &["validate"]);
    project
        .expect(3, &["compare"])
        .says("there is nothing to replay");
    project
        .expect(2, &["record", "--agent", "scripted"])
        .says("lists no calls for a scripted agent");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_replay_can_be_recorded_and_run_by_itself() {
    let project = Project::new();
    let expected =
        json!({ "expected_trajectory": [{ "tool": "create_item", "args": { "title": "first" } }] });
    let calls = json!([{ "tool": "create_item", "args": { "title": "first" } }]);
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    items(&project, "one", &["items=short"], &calls, &expected);
    project.expect(0, &["record"]);
    project.expect(
        0,
        &[
            "run",
            "--agent",
            "replay",
            "--scenario",
            "scenarios/one.yaml",
        ],
    );
    project.expect(
        0,
        &[
            "run",
            "--agent",
            "replay",
            "--scenario",
            "scenarios/one.yaml",
            "--baseline",
            "baselines/one",
        ],
    );
    let before = bindings(&baseline(&project, "flow"));
    project
        .expect(0, &["record", "-v", "--agent", "replay"])
        .says("learned from 2 takes");
    let unchanged = baseline(&project, "flow");
    assert_eq!(unchanged["stamp"]["agent"], "scripted");
    project.edit(
        "scenarios/flow.yaml",
        "\"name\":\"flow",
        "\"name\":\"the flow",
    );
    project.expect(0, &["record", "--agent", "replay"]);
    let after = baseline(&project, "flow");
    assert_eq!(after["stamp"]["agent"], "replay");
    assert_eq!(bindings(&after), before);
    assert_perfect(&project.result(0, &["compare", "--agent", "replay"]));
}

#[test]
fn a_server_the_scenario_no_longer_has_is_reported_before_anything_is_asked() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/flow.yaml",
        "\"servers\":{\"s\":",
        "\"servers\":{\"t\":",
    );
    project
        .expect(3, &["compare", "--agent", "replay", "-v"])
        .says("the baseline calls tools of `s`, and this run has no such server; it has `t`")
        .says("--mcp-config")
        .says_not("create_item");
}

#[test]
fn turns_are_said_again_and_other_tools_are_left_out() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record"]);
    let mut stored = baseline(&project, "flow");
    let steps = stored["steps"].as_array_mut().unwrap();
    let other = json!({ "kind": "tool_call", "server": null, "tool": "TodoWrite", "arguments": {},
        "outcome": { "status": "ok", "content": [] }, "start_ms": null, "duration_ms": null });
    steps.insert(
        2,
        json!({ "kind": "assistant", "text": "The first one is there." }),
    );
    steps.insert(3, json!({ "kind": "user", "text": "And now the second." }));
    steps.insert(4, other);
    project.file("baselines/flow/baseline.json", stored.to_string());
    let result = project.result(0, &["compare", "--agent", "replay"]);
    assert_perfect(&result);
    let notes = result["scenarios"][0]["notes"].to_string();
    assert!(
        notes.contains("not replayed, because they are no MCP tools: `TodoWrite`"),
        "{notes}"
    );
    let page = project.read("reports/latest/flow.html");
    assert!(page.contains("And now the second."), "{page}");
}

#[test]
fn a_baseline_that_ended_early_does_so_again() {
    let project = Project::new();
    let calls = json!([{ "tool": "get_item", "args": { "id": "nobody" }, "critical": true }, { "tool": "list_items", "args": {} }]);
    items(&project, "blocked", &["items=short"], &calls, &json!({}));
    project.expect(0, &["record", "--allow-failing"]);
    assert_eq!(baseline(&project, "blocked")["ending"]["kind"], "blocked");
    let result = project.result(0, &["compare", "--agent", "replay"]);
    assert_perfect(&result);
    assert_eq!(result["scenarios"][0]["current"]["ending"], "blocked");
}

#[test]
fn the_shipped_baselines_replay_perfectly() {
    let project = Project::shipped();
    let result = project.result(0, &["compare", "--agent", "replay", "--jobs", "2"]);
    assert_perfect(&result);
    assert_eq!(result["summary"]["passed"], 9);
}

#[test]
fn an_imported_recording_replays_without_a_catalogue_of_its_own() {
    let project = Project::new();
    items(&project, "flow", &["items=short"], &flow(), &json!({}));
    project.expect(0, &["record", "--takes", "1"]);
    let mut stored = baseline(&project, "flow");
    stored["catalogue"] = json!([]);
    stored["scenario"]["hash"] = Value::Null;
    stored.as_object_mut().unwrap().remove("bindings");
    project.file("baselines/flow/baseline.json", stored.to_string());
    // Without a catalogue nothing is known of what reads, and nothing needs to be.
    let result = project.result(0, &["compare", "--agent", "replay"]);
    assert_eq!(
        result["scenarios"][0]["comparison"]["scores"]["overall"], 1.0,
        "{result:#}"
    );
}

#[test]
fn a_recording_of_the_original_tool_is_bound_when_it_is_imported() {
    let project = Project::new();
    let asked = |id: &str, tool: &str, input: Value| {
        json!({ "timestamp": "2026-01-02T03:04:07.000000", "type": "AssistantMessage",
            "content": { "_type": "AssistantMessage", "content": [{ "id": id, "name": format!("mcp__s__{tool}"), "input": input }] } })
    };
    let answered = |id: &str, text: &str| {
        json!({ "timestamp": "2026-01-02T03:04:08.000000", "type": "UserMessage",
            "content": { "_type": "UserMessage", "content": [{ "tool_use_id": id, "content": [{ "type": "text", "text": text }], "is_error": null }] } })
    };
    let log = json!({
        "scenario": "Two items",
        "execution_time": "2026-01-02T03:04:05.500000",
        "user_intent": "Make an item and delete it",
        "execution_status": "SUCCESS",
        "early_stopped": false,
        "messages": [
            asked("t1", "create_item", json!({ "title": "first" })),
            answered("t1", "Created item item-8731 for you."),
            asked("t2", "delete_item", json!({ "id": "item-8731" })),
            answered("t2", "Deleted item item-8731."),
        ],
    });
    project.file("recordings/flow/detailed_log.json", log.to_string());
    project.expect(0, &["import", "original", "recordings"]);
    assert_eq!(
        bindings(&baseline(&project, "flow")),
        ["2 /id <- 1 /content/0/text"]
    );
    let agent = json!({ "agent": { "kind": "replay" } });
    items(&project, "flow", &["items=text"], &json!([]), &agent);
    let result = project.result(0, &["compare"]);
    let scores = &result["scenarios"][0]["comparison"]["scores"];
    assert_eq!(scores["overall"], 1.0, "{result:#}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_slower_tool_fails_where_the_scenario_says_so() {
    let project = Project::new();
    let calls = json!([{ "tool": "create_item", "args": { "title": "first" } }, { "tool": "list_items", "args": {} }]);
    let slower = |gate: &str| json!({ "scoring": { "slower": { "factor": 3, "floor": "1s", "gate": gate } } });
    items(&project, "flow", &["items=short"], &calls, &slower("fail"));
    project.expect(0, &["record"]);
    project.expect(0, &["compare", "--agent", "replay"]);
    let slow = ["items=short", "slow=list_items:1400"];
    items(&project, "flow", &slow, &calls, &slower("fail"));
    let ran = project.expect(1, &["compare", "--agent", "replay"]);
    ran.says("`list_items` takes much longer: ")
        .says_not("`create_item` takes");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let comparison = &result["scenarios"][0]["comparison"];
    assert_eq!(comparison["scores"]["overall"], 1.0);
    assert_eq!(comparison["reasons"][0]["kind"], "slower");
    assert!(comparison["slower"][0]["current_ms"].as_f64().unwrap() >= 1400.0);
    let page = project.read("reports/latest/flow.html");
    assert!(page.contains("takes much longer"), "{page}");
    items(&project, "flow", &slow, &calls, &slower("warn"));
    project
        .expect(0, &["compare", "-v", "--agent", "replay"])
        .says("took much longer");
    items(&project, "flow", &slow, &calls, &slower("ignore"));
    project
        .expect(0, &["compare", "-v", "--agent", "replay"])
        .says_not("took much longer");
    // Both must hold: so many times as long, and so much longer.
    let floor = json!({ "scoring": { "slower": { "floor": "60s", "gate": "fail" } } });
    items(&project, "flow", &slow, &calls, &floor);
    project.expect(0, &["compare", "--agent", "replay"]);
    let factor =
        json!({ "scoring": { "slower": { "factor": 1_000_000, "floor": "1ms", "gate": "fail" } } });
    items(&project, "flow", &slow, &calls, &factor);
    project.expect(0, &["compare", "--agent", "replay"]);
}
