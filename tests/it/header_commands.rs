//! Headers that a command prints before each run.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Project, Ran, ran, small_agent};
use crate::http::{Mode, Server, serve};

fn project(command: &Value, agent: &Value) -> (Project, Server) {
    let (address, server) = serve(Mode::Json);
    let project = Project::new();
    let web = json!({
        "url": format!("http://{address}/mcp"), "headers_command": command,
        "headers": { "x-given": "kept", "X-Team": "replaced" }, "bearer_token_env": "MY_TOKEN",
    });
    let scenario =
        json!({ "name": "web", "user_intent": "Go.", "servers": { "web": web }, "agent": agent });
    project.file("scenarios/web.yaml", scenario.to_string());
    (project, server)
}

fn scripted() -> Value {
    let args = json!({ "seen": "printed-canary" });
    json!({ "kind": "scripted", "calls": [{ "tool": "big", "args": args }] })
}

fn run(project: &Project, arguments: &[&str]) -> Ran {
    let mut command = project.command();
    command.arg("run").args(arguments);
    ran(command.env("MY_TOKEN", "bearer-canary"))
}

#[test]
fn what_a_command_prints_is_sent_and_nowhere_shown() {
    let lines = "echo 'Authorization: Bearer printed-canary'; echo; echo 'x-team: blue-canary'";
    let object = r#"echo '{"authorization": "Bearer printed-canary", "X-TEAM": "blue-canary"}'"#;
    for script in [lines, object] {
        for agent in [
            scripted(),
            json!({ "kind": "command", "command": [small_agent(), r#"call web big {"seen": "printed-canary"}"#] }),
        ] {
            let (project, server) = project(&json!(["sh", "-c", script]), &agent);
            let ran = run(&project, &["--format", "json"]);
            assert_eq!(ran.code, 0, "{ran:#?}");
            ran.says_not("canary");
            let result: Value = serde_json::from_str(&ran.stdout).unwrap();
            let file = result["scenarios"][0]["current"]["file"].as_str().unwrap();
            let folder = project.path("reports/latest").canonicalize().unwrap();
            let stored = project.read(folder.join(file));
            assert!(!stored.contains("canary"), "{stored}");
            assert!(
                stored.to_lowercase().contains("header.authorization"),
                "{stored}"
            );
            let seen = server.seen.lock().unwrap();
            assert!(seen.len() >= 4);
            for headers in seen.iter() {
                assert_eq!(headers["authorization"], "Bearer printed-canary");
                assert_eq!(headers["x-team"], "blue-canary");
                assert_eq!(headers["x-given"], "kept");
            }
        }
    }
}

#[test]
fn it_is_run_before_each_run_and_belongs_to_the_file_that_names_it() {
    let (project, server) = project(&json!(["./token", "${PREFIX:-key}"]), &scripted());
    project.file(
        "scenarios/token",
        "#!/bin/sh\necho x >> \"$HOME/asked\"\necho \"X-Key: $1-$(wc -l < \"$HOME/asked\" | tr -d ' ')\"\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("scenarios/token"), mode).unwrap();
    let ran = run(&project, &["--repeat", "2"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let seen = server.seen.lock().unwrap();
    let mut keys: Vec<&str> = seen
        .iter()
        .map(|it| it["x-key"].to_str().unwrap())
        .collect();
    keys.dedup();
    assert_eq!(keys, ["key-1", "key-2"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_command_that_fails_is_an_error_that_names_it() {
    let cases = [
        (
            json!([
                "sh",
                "-c",
                "echo first >&2; echo log in as ${MY_TOKEN} first >&2; exit 4"
            ]),
            "server `web`: `headers_command` `sh` exited with code 4: log in as",
        ),
        (
            json!(["sh", "-c", "kill -9 $$"]),
            "`sh` was killed by signal 9",
        ),
        (
            json!(["/no/such/program"]),
            "`/no/such/program` cannot be started: No such file",
        ),
        (
            json!(["echo", "printed-canary"]),
            "`echo` printed neither a JSON object of headers nor lines",
        ),
        (json!(["true"]), "`true` printed no headers"),
        (
            json!(["sh", "-c", "cat; echo '{\"a\": [\"printed-canary\"]}'"]),
            "a value that is not text",
        ),
        (
            json!(["sh", "-c", "yes | head -c 2000000"]),
            "prints more than 1048576 bytes",
        ),
        (
            json!(["echo", "a b: printed-canary"]),
            "cannot be asked with the header `a b`",
        ),
        (json!(["echo", "X: ${UNSET_ONE}"]), "`UNSET_ONE` is not set"),
    ];
    for (command, message) in cases {
        let (project, server) = project(&command, &scripted());
        let ran = run(&project, &[]);
        assert_eq!(ran.code, 3, "{command} {ran:#?}");
        ran.says(message).says_not("canary");
        assert!(server.seen.lock().unwrap().is_empty());
    }
}

#[test]
fn a_command_must_name_a_program() {
    for command in [json!([]), json!([""])] {
        let (project, _) = project(&command, &scripted());
        project
            .expect(2, &["validate"])
            .says("names no program")
            .says("list the program and its arguments");
    }
}

#[test]
fn it_ends_with_an_interruption_and_so_does_what_it_has_started() {
    let script = "sleep 1000 & echo begun > begun; sleep 1000";
    let (project, _) = project(&json!(["sh", "-c", script]), &scripted());
    let mut running = project
        .command()
        .arg("run")
        .env("MY_TOKEN", "t")
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !project.path("begun").exists() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(project.survivors(), [""; 0]);
}
