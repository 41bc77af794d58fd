//! Servers that misbehave: each is recorded as what it is, with a readable message; none hangs us or stays behind.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use mcp_eval::mcp::{Launch, Target};
use mcp_eval::model::Outcome;
use mcp_eval::process::ChildCommand;

use crate::common::Project;

/// Runs one scenario on the faulty server and returns its part of the result.
#[track_caller]
fn run(code: i32, faults: &[&str], calls: &[(&str, Value)]) -> (Project, Value) {
    let project = Project::new();
    // Short only where it is waited out: a busy machine takes its time to start a server.
    let connect = if faults.contains(&"silent") || faults.contains(&"garbage") {
        "700ms"
    } else {
        "20s"
    };
    let tool = if faults.contains(&"hang") {
        "400ms"
    } else {
        "20s"
    };
    project.faulty_with(
        "s",
        faults,
        calls,
        &json!({ "tool_timeout": tool, "connect_timeout": connect }),
    );
    let result = project.result(code, &["run"]);
    assert_eq!(project.survivors(), [""; 0], "processes are left behind");
    let scenario = result["scenarios"][0].clone();
    (project, scenario)
}

/// The stored run.
fn stored(project: &Project) -> Value {
    serde_json::from_str(&project.read(project.last_run().join("current/s.json"))).unwrap()
}

fn echo() -> Vec<(&'static str, Value)> {
    vec![("echo", json!({ "a": 1 }))]
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_cannot_be_set_up_is_an_error_with_its_last_words() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["exit"],
            &[
                "server `s`",
                "closed the connection: it exited with code 3",
                "fatal: no configuration found",
            ],
        ),
        (
            &["silent"],
            &["did not get ready within 700ms", "faulty server starting"],
        ),
        (
            &["garbage"],
            &[
                "did not get ready within 700ms",
                "Traceback (most recent call last): <garbage>",
            ],
        ),
        (
            &["refuse"],
            &["refused `initialize`: license expired (code -32000)"],
        ),
        (&["pages=3", "circle"], &["lists its tools in a circle"]),
    ];
    for (faults, expected) in cases {
        let (_, scenario) = run(3, faults, &echo());
        assert_eq!(scenario["status"], "error", "{faults:?}");
        let problem = scenario["problem"].to_string();
        for part in *expected {
            assert!(
                problem.contains(part),
                "{faults:?}: no {part:?} in {problem}"
            );
        }
        assert!(scenario["comparison"].is_null(), "no score without a run");
    }
}

#[test]
fn a_command_that_does_not_exist_is_an_error_that_names_it() {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        "name: s\nservers: { s: { type: stdio, command: no-such-command-here } }\nagent: { kind: scripted, calls: [{ tool: t }] }\n",
    );
    project
        .expect(3, &["run"])
        .says("server `s` cannot be started: `no-such-command-here`: No such file or directory");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn calls_that_fail_are_recorded_as_what_they_are_and_the_script_goes_on() {
    let cases: &[(&str, &str, &str)] = &[
        ("tool-error", "tool_error", "the disk is on fire"),
        ("rpc-error", "rpc_error", "quota exceeded"),
        ("hang", "timeout", "no answer within 400ms"),
        ("no-content", "invalid_response", "`content` is missing"),
        (
            "no-result",
            "invalid_response",
            "holds neither a result nor an error",
        ),
        (
            "both",
            "invalid_response",
            "holds both a result and an error",
        ),
        ("text-code", "rpc_error", "codes are numbers"),
        ("latin-1", "invalid_response", "is not valid UTF-8"),
    ];
    for (fault, status, message) in cases {
        let (project, scenario) = run(1, &[fault], &[("echo", json!({})), ("count", json!({}))]);
        assert_eq!(scenario["status"], "failed", "{fault}");
        let steps = stored(&project)["steps"].clone();
        assert_eq!(
            steps.as_array().unwrap().len(),
            2,
            "{fault}: the script goes on"
        );
        assert_eq!(steps[0]["outcome"]["status"], *status, "{fault}");
        assert!(
            steps[0]["outcome"].to_string().contains(message),
            "{fault}: {}",
            steps[0]["outcome"]
        );
    }
}

#[test]
fn an_rpc_error_keeps_its_code_and_data() {
    let (project, _) = run(1, &["rpc-error"], &echo());
    let outcome = stored(&project)["steps"][0]["outcome"].clone();
    assert_eq!(
        outcome["error"],
        json!({ "message": "quota exceeded", "code": -32050, "data": { "limit": 3 } })
    );
}

#[test]
fn a_server_that_dies_in_the_middle_ends_the_run_without_a_verdict() {
    let calls = [
        ("count", json!({})),
        ("count", json!({})),
        ("count", json!({})),
        ("count", json!({})),
    ];
    let (project, scenario) = run(3, &["die-after=2"], &calls);
    assert_eq!(scenario["status"], "error");
    let problem = scenario["problem"].to_string();
    for part in [
        "call 3 of `count`",
        "exited with code 7",
        "panic: index out of range",
    ] {
        assert!(problem.contains(part), "no {part:?} in {problem}");
    }
    let stored = stored(&project);
    let steps = stored["steps"].as_array().unwrap();
    assert_eq!(
        steps.len(),
        3,
        "what happened is kept, and no call is made up"
    );
    assert_eq!(steps[2]["outcome"]["status"], "disconnected");
    assert_eq!(stored["ending"]["kind"], "error");
}

/// Makes this many calls of `echo` at once, and expects each to have its own answer as it was served.
pub(crate) fn calls_at_once(launch: Launch, number: usize) {
    let target = Target {
        name: "s".to_owned(),
        launch,
        protocol: None,
        inputs: Vec::new(),
        may_be_starting: false,
        if_late: Target::GIVE_MORE,
        connect_timeout: Duration::from_secs(30),
        tool_timeout: Duration::from_secs(30),
        observed: mcp_eval::mcp::Observed::default(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let tools = mcp_eval::mcp::connect(&[target], &|_| ()).await.unwrap();
        let arguments = (0..number).map(|n| json!({ "n": n, "pad": "x".repeat(n) }));
        let arguments: Vec<_> = arguments
            .map(|it| it.as_object().cloned().unwrap())
            .collect();
        let calls = arguments.iter().map(|it| tools.call("s", "echo", it));
        let called = futures_util::future::join_all(calls).await;
        for (called, arguments) in called.iter().zip(&arguments) {
            let Outcome::Answer(answer) = &called.outcome else {
                panic!("{called:?}");
            };
            assert_eq!(answer.text(), json!(arguments).to_string());
            // What a typed model of the answer has no place for.
            assert!(answer.content[0]["vendor"].is_number(), "{answer:?}");
        }
        tools.close().await;
    });
}

#[test]
fn answers_to_many_calls_at_once_are_all_kept_as_served() {
    let launch = Launch::Child(ChildCommand {
        program: crate::common::faulty_server().into(),
        args: vec!["reverse=400".into()],
        env: Vec::new(),
        cwd: None,
        supervisor: None,
        ..ChildCommand::default()
    });
    calls_at_once(launch, 400);
}

#[test]
fn noise_on_stdout_does_no_harm() {
    let (project, scenario) = run(0, &["noise"], &echo());
    let notes = scenario["notes"].to_string();
    assert!(notes.contains("no MCP message to its stdout"), "{notes}");
    assert_eq!(
        stored(&project)["steps"][0]["outcome"]["content"][0]["text"],
        r#"{"a":1}"#
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_scenario_ends_within_its_timeout() {
    let project = Project::new();
    project.faulty_with(
        "s",
        &["hang"],
        &echo(),
        &json!({ "timeout": "600ms", "tool_timeout": "50s" }),
    );
    let ran = project.expect(3, &["run"]);
    ran.says("timeout")
        .says("the scenario's timeout of 600ms passed");
    assert_eq!(project.survivors(), [""; 0]);
    let steps = stored(&project)["steps"].clone();
    assert_eq!(
        steps[0]["outcome"]["status"], "timeout",
        "the call under way is kept"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_hangs_is_not_asked_to_leave_when_time_is_up() {
    let project = Project::new();
    let limits = json!({ "timeout": "600ms", "tool_timeout": "50s" });
    project.faulty_with("s", &["hang", "stubborn"], &echo(), &limits);
    // On a busy machine anything takes its time; asking to leave would take that of a stubborn server every time.
    let took = (0..5).map(|_| project.expect(3, &["run"]).took);
    let shortest = took.min().unwrap();
    assert!(shortest < Duration::from_millis(1500), "{shortest:?}");
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn five_megabytes_are_kept_whole() {
    let (project, _) = run(0, &["big=5000000"], &echo());
    let text = stored(&project)["steps"][0]["outcome"]["content"][0]["text"].clone();
    assert_eq!(text.as_str().unwrap().len(), 5_000_000);
}

#[test]
fn a_paged_catalogue_is_read_to_its_end_in_the_order_served() {
    let (project, _) = run(0, &["pages=3"], &echo());
    let tools = stored(&project)["catalogue"][0]["tools"].clone();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["echo", "tool-1", "tool-2"]);
    assert_eq!(
        tools[0]["x-vendor"], 1,
        "what a typed model would drop is kept"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn grandchildren_and_stubborn_servers_are_gone_afterwards() {
    let project = Project::new();
    let file = project.path("grandchild");
    let grandchild = format!("grandchild={}", file.display());
    project.faulty("s", &[&grandchild, "stubborn"], &echo());
    let ran = project.expect(0, &["run"]);
    assert!(ran.took < Duration::from_secs(20), "{ran:?}");
    let id = fs::read_to_string(file).unwrap();
    let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
    assert_eq!(project.survivors(), [""; 0]);
}

/// Whether the process whose id is in this file still runs, after a moment.
fn survives(file: &std::path::Path) -> bool {
    let id = fs::read_to_string(file).unwrap();
    let stat = format!("/proc/{}/stat", id.trim());
    (0..100).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") Z "))
    })
}

#[test]
fn a_daemon_that_a_server_starts_ends_with_the_run() {
    let project = Project::new();
    let file = project.path("daemon");
    let daemon = format!("daemon={}", file.display());
    project.faulty("s", &[&daemon], &echo());
    project.expect(0, &["run"]);
    assert!(!survives(&file));
}

#[test]
fn nothing_survives_when_we_are_killed() {
    let project = Project::new();
    let (daemon, grandchild) = (project.path("daemon"), project.path("grandchild"));
    let faults = [
        &format!("daemon={}", daemon.display()),
        &format!("grandchild={}", grandchild.display()),
        "hang",
    ];
    project.faulty("s", &faults, &echo());
    let mut run = project.command().arg("run").spawn().unwrap();
    while !(daemon.exists() && grandchild.exists()) {
        assert!(run.try_wait().unwrap().is_none(), "it has ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!survives(&daemon) && !survives(&grandchild));
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn a_process_is_supervised_for_us_alone() {
    let project = Project::new();
    project
        .expect(2, &["supervise", "true"])
        .says("`supervise` is for mcp-eval itself");
}

#[test]
fn an_ambiguous_or_unknown_tool_is_an_error_that_names_the_choices() {
    let project = Project::new();
    let server = crate::common::faulty_server();
    let scenario = |tool: &str| {
        format!(
            "name: two\nservers:\n  a: {{ type: stdio, command: {server} }}\n  b: {{ type: stdio, command: {server} }}\n\
             agent: {{ kind: scripted, calls: [{{ tool: {tool} }}] }}\n"
        )
    };
    project.file("scenarios/two.yaml", scenario("echo"));
    project
        .expect(3, &["run"])
        .says("tool `echo` is ambiguous: write `mcp__a__echo` or `mcp__b__echo`");
    project.file("scenarios/two.yaml", scenario("mcp__b__echo"));
    project.expect(0, &["run"]);
    project.file("scenarios/two.yaml", scenario("nope"));
    project
        .expect(3, &["run"])
        .says("no server lists a tool `nope`; the servers of this run are `a`, `b`");
}

#[test]
fn a_critical_call_that_fails_blocks_the_run() {
    let project = Project::new();
    let calls = json!([{ "tool": "echo", "args": { "operation": "add" } }, { "tool": "count" }]);
    let server = crate::common::faulty_server();
    let scenario = |calls: &Value| {
        json!({
            "name": "s", "servers": { "s": { "type": "stdio", "command": server, "args": ["tool-error"] } },
            "agent": { "kind": "scripted", "calls": calls },
        })
        .to_string()
    };
    project.file("scenarios/s.yaml", scenario(&calls));
    project
        .expect(1, &["record"])
        .says("not kept")
        .says("call 1 of `echo` is critical and failed")
        .says("--allow-failing");
    let run = stored(&project);
    assert_eq!(run["ending"]["kind"], "blocked");
    assert_eq!(run["steps"].as_array().unwrap().len(), 1);
    assert!(!project.path("baselines/s/baseline.json").exists());
    project.expect(0, &["record", "--allow-failing"]);
    assert!(project.path("baselines/s/baseline.json").exists());
}
