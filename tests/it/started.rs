//! Servers over HTTP that are started for each run: fresh, at a port of their own, watched, and gone with all they started.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::{Project, ran, small_agent};

/// A server that answers otherwise once it has been asked, and one of its tools that takes long.
const STORE: &str = r"
name: store
tools:
  - name: count
    annotations: { read_only_hint: true }
    responses:
      - times: 1
        content: first
      - content: again
  - name: slow
    responses: [{ content: done, delay: 20s }]
";

/// A project with a gateway script: what `before` says is done before it serves, in the same shell.
fn project(before: &str) -> Project {
    let project = Project::new();
    project.file("scenarios/store.yaml.txt", STORE);
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let script = format!(
        "#!/bin/sh\n{before}\nexec '{program}' mock store.yaml.txt --transport http --port \"$1\" --call-log calls.jsonl\n"
    );
    gateway(&project, &script);
    project
}

fn gateway(project: &Project, script: &str) {
    project.file("scenarios/gateway.sh", script);
    let path = project.path("scenarios/gateway.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A server that is started from the script beside the scenario.
fn server() -> Value {
    json!({
        "type": "http", "url": "http://127.0.0.1:${port}/mcp",
        "start": { "command": "./gateway.sh", "args": ["${port}"], "cwd": ".",
            "env": { "API_TOKEN": "tok-5f2e9c81aa30b7", "LISTEN": "${port}" } },
    })
}

fn scenario(project: &Project, name: &str, server: &Value, calls: &[&str], more: &Value) {
    let calls: Vec<Value> = calls.iter().map(|it| json!({ "tool": it })).collect();
    let mut scenario = json!({ "name": name, "servers": { "gw": server },
        "agent": { "kind": "scripted", "calls": calls } });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    let path = format!("scenarios/{name}.yaml");
    project.file(&path, scenario.to_string());
}

/// The log of the last run of a scenario.
fn log(project: &Project, name: &str) -> String {
    let path = project.last_run().join(format!("logs/{name}.log"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_is_started_anew_for_every_run_and_its_output_is_kept() {
    let project =
        project("echo \"token $API_TOKEN at $LISTEN\" >&2\nsleep 300 &\nsetsid sleep 300 &");
    scenario(&project, "s", &server(), &["count"], &json!({}));
    project.expect(0, &["validate"]);
    project.expect(0, &["record"]);
    let baseline = project.read("baselines/s/baseline.json");
    assert!(baseline.contains("first") && !baseline.contains("again"));
    // It does not outlive a run, so that recording makes two, and nothing of the answer has varied.
    let recorded: Value = serde_json::from_str(&baseline).unwrap();
    assert_eq!(recorded["learned"][0]["takes"], 2, "{recorded:#}");
    for command in [
        &["compare"][..],
        &["compare", "--repeat", "3"],
        &["run", "--no-docker"],
    ] {
        let result = project.result(0, command);
        let kept = result["scenarios"][0]["container_log"].as_str();
        assert!(kept.is_some_and(|it| it.ends_with("s.log")), "{result:#}");
    }
    let log = log(&project, "s");
    assert!(log.contains("token <secret:env.API_TOKEN> at "), "{log}");
    assert!(log.contains("\"url\""), "of stdout, too: {log}");
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn scenarios_side_by_side_have_ports_of_their_own() {
    let project = project("echo \"port $1\"");
    for number in 0..6 {
        scenario(
            &project,
            &format!("s{number}"),
            &server(),
            &["count"],
            &json!({}),
        );
    }
    let ran = project.expect(0, &["run", "--jobs", "6"]);
    ran.says("6/6 tests passed");
    let mut ports: Vec<String> = (0..6)
        .map(|it| {
            log(&project, &format!("s{it}"))
                .lines()
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    ports.sort();
    ports.dedup();
    assert_eq!(ports.len(), 6, "{ports:?}");
}

#[test]
fn the_port_stands_in_headers_and_in_pages() {
    let project = project("");
    let mut with = server();
    with["headers"] = json!({ "X-Port": "${port}" });
    // What a client that speaks no MCP is answered.
    with["ready"] = json!({ "http": { "url": "http://127.0.0.1:${port}/mcp", "status": 400 }, "timeout": "20s" });
    let page = json!({ "ready": { "http": [
        { "url": "http://127.0.0.1:${port}/mcp", "status": 400 },
        { "path": "/mcp", "server": "gw", "headers": { "X-Port": "${port}" }, "status": 400 },
    ], "timeout": "20s" } });
    scenario(&project, "s", &with, &["count"], &page);
    project.expect(0, &["validate"]);
    project.expect(0, &["run"]).says("1/1 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_ends_is_an_error_and_no_verdict() {
    // Before it is ready, with and without `ready`.
    let project = project("echo \"cannot read the configuration, $API_TOKEN\" >&2\nexit 7");
    for more in [
        json!({}),
        json!({ "ready": { "min_tools": 1, "timeout": "20s" } }),
    ] {
        scenario(&project, "s", &server(), &["count"], &more);
        let ran = project.expect(3, &["record"]);
        ran.says("server `gw` exited with code 7 before it was ready")
            .says("its last lines:")
            .says("cannot read the configuration, <secret:env.API_TOKEN>");
        assert!(ran.took < Duration::from_secs(10), "{ran:#?}");
        assert!(!project.path("baselines").exists());
    }
    assert!(log(&project, "s").contains("cannot read"));

    // During the run, after an answer.
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let script = format!(
        "#!/bin/sh\nrm -f calls.jsonl\n'{program}' mock store.yaml.txt --transport http --port \"$1\" --call-log calls.jsonl &\nwhile ! grep -qs count calls.jsonl; do sleep 0.02; done\nsleep 0.3\necho out of memory >&2\nkill -9 $!\nexit 9\n"
    );
    gateway(&project, &script);
    scenario(&project, "s", &server(), &["count", "slow"], &json!({}));
    for command in ["record", "run"] {
        let ran = project.expect(3, &[command]);
        ran.says("server `gw` exited with code 9 during the run")
            .says("out of memory");
    }
    assert_eq!(project.survivors(), [""; 0]);

    // One that cannot be started at all.
    let mut nowhere = server();
    nowhere["start"]["command"] = json!("./nothing.sh");
    scenario(&project, "s", &nowhere, &["count"], &json!({}));
    let ran = project.expect(3, &["run"]);
    ran.says("server `gw` cannot be started").says("nothing.sh");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_does_not_get_ready_is_quoted() {
    let project = Project::new();
    gateway(&project, "#!/bin/sh\necho loading $1\nexec sleep 300\n");
    let more = json!({ "connect_timeout": "1s" });
    scenario(&project, "s", &server(), &["count"], &more);
    let ran = project.expect(3, &["run"]);
    ran.says("tried for 1s")
        .says("server `gw` is running")
        .says("loading ");
    assert_eq!(project.survivors(), [""; 0]);
}

/// Runs a scenario whose server hangs, has the program end by this signal, and waits until nothing of it is left.
#[track_caller]
fn ends_with(signal: Signal) {
    let project = project("sleep 300 &\nsetsid sleep 300 &");
    scenario(&project, "s", &server(), &["count", "slow"], &json!({}));
    let mut run = project
        .command()
        .arg("run")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let calls = project.path("scenarios/calls.jsonl");
    while !fs::read_to_string(&calls).is_ok_and(|it| it.contains("slow")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "no call");
        std::thread::sleep(Duration::from_millis(20));
        if fs::read_to_string(&calls).is_ok_and(|it| it.contains("count")) {
            // The call that takes long is logged only with its answer.
            std::thread::sleep(Duration::from_millis(300));
            break;
        }
    }
    kill_process(Pid::from_child(&run), signal).unwrap();
    let stopped = Instant::now();
    run.wait().unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(8));
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn nothing_is_left_after_an_interruption() {
    ends_with(Signal::INT);
}

#[test]
fn nothing_is_left_after_a_kill() {
    ends_with(Signal::KILL);
}

#[test]
fn a_program_with_a_client_of_its_own_reaches_it() {
    let project = project("");
    let agent = json!({ "agent": { "kind": "command", "command": [small_agent(), "call gw count {}"] },
        "user_intent": "count" });
    scenario(&project, "s", &server(), &[], &agent);
    project.expect(0, &["record"]);
    assert!(project.read("baselines/s/baseline.json").contains("first"));
    project.expect(0, &["compare"]);
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn a_session_of_somebody_else_reaches_it() {
    let project = project("");
    let mut from_above = server();
    from_above["start"]["command"] = json!("./scenarios/gateway.sh");
    from_above["start"]["cwd"] = json!("scenarios");
    let agent = json!({ "kind": "command", "command": ["none"] });
    let mine = json!({ "name": "Mine", "user_intent": "count", "agent": agent,
        "servers": { "gw": from_above } });
    project.file("mine.yaml", mine.to_string());
    let config = project.path("client.json");
    let mut listening = project
        .command()
        .args(["record", "--listen", "mine.yaml", "--name", "copy"])
        .stdout(fs::File::create(&config).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !fs::read_to_string(&config).is_ok_and(|it| it.ends_with("}\n")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "no address");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut agent = Command::new(small_agent());
    agent
        .arg("call gw count {}")
        .env("MCP_EVAL_MCP_CONFIG", &config);
    let said = ran(&mut agent);
    assert_eq!(said.code, 0, "{said:#?}");
    kill_process(Pid::from_child(&listening), Signal::INT).unwrap();
    assert!(listening.wait().unwrap().success());
    assert_eq!(project.survivors(), [""; 0]);
    assert!(project.read("scenarios/copy.yaml").contains("start:"));
    project.expect(0, &["compare", "scenarios/copy.yaml"]);
}

#[test]
fn the_program_and_the_address_have_to_agree_on_the_port() {
    let project = project("");
    let cases = [
        (
            "url",
            json!("http://127.0.0.1:8080/mcp"),
            "the program listens at a port that the address does not lead to",
        ),
        (
            "start",
            json!({ "command": "./gateway.sh" }),
            "nothing tells the program which port `url` leads to",
        ),
        (
            "start",
            json!({ "command": "x", "args": ["${port}"], "arg": 1 }),
            "unknown key `arg`",
        ),
    ];
    for (key, value, says) in cases {
        let mut wrong = server();
        wrong[key] = value;
        scenario(&project, "s", &wrong, &["count"], &json!({}));
        project.expect(2, &["validate"]).says(says);
    }
}
