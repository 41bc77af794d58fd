//! Obstacles, each with its own message and a way out, and exit code 3.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Project, free_port, ran, skipped};
use crate::docker::kit::{A, B, containers, derived, docker, engine, scenario, search, searching};

fn project() -> Project {
    let project = Project::new();
    searching(&project, &json!({}));
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_missing_image_is_named() {
    if !engine("missing images") {
        return;
    }
    let project = Project::new();
    let section = json!({ "image": "mcp-eval-test/nowhere:1" });
    searching(&project, &section);
    project
        .expect(3, &["run"])
        .says("the image `mcp-eval-test/nowhere:1` is not there: get it with `docker pull mcp-eval-test/nowhere:1`");
    project
        .expect(0, &["list"])
        .says("s (image mcp-eval-test/nowhere:1 is missing)");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_scenario_that_can_do_without_its_image_is_skipped() {
    if !engine("optional images") {
        return;
    }
    let project = Project::new();
    let section = json!({ "image": "mcp-eval-test/nowhere:1", "optional": true });
    scenario(&project, "without", &section, &search(), &json!({}));
    project
        .expect(3, &["run"])
        .says("without")
        .says("skipped")
        .says("its image `mcp-eval-test/nowhere:1` is not there: get it with `docker pull`")
        .says("Suite Results: 0/0 tests passed, 1 skipped");
    scenario(
        &project,
        "with",
        &json!({ "optional": true }),
        &search(),
        &json!({}),
    );
    project
        .expect(0, &["run"])
        .says("Suite Results: 1/1 tests passed, 1 skipped");
    let result = project.result(0, &["report"]);
    assert_eq!(result["scenarios"][1]["not_run"], "unavailable");
}

/// Runs with `DOCKER_HOST` set, and expects exit code 3.
fn with_host(host: &str) -> crate::common::Ran {
    let project = project();
    let ran = ran(project.command().env("DOCKER_HOST", host).arg("run"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran
}

#[test]
fn without_an_engine_the_way_to_one_is_shown() {
    with_host("unix:///nowhere/docker.sock")
        .says("no Docker engine runs at unix:///nowhere/docker.sock: start it")
        .says("--no-docker");

    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("stale.sock");
    drop(UnixListener::bind(&socket).unwrap());
    with_host(&format!("unix://{}", socket.display())).says("no Docker engine runs at");

    let port = free_port();
    with_host(&format!("tcp://127.0.0.1:{port}")).says("no Docker engine runs at tcp://127.0.0.1:");

    with_host("ssh://me@far.example")
        .says("SSH is not spoken here")
        .says("ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock me@far.example");
    with_host("carrier-pigeon").says("which is not an address");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_engine_that_does_not_answer_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("mute.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    with_host(&format!("unix://{}", socket.display()))
        .says("accepts connections and has not answered within 60s");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_engine_that_answers_late_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("late.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let mut connections = listener.incoming();
        // Whoever comes first is never answered.
        let _mute = connections.next();
        for connection in connections {
            let mut asked = BufReader::new(connection.unwrap());
            let lines = asked.by_ref().lines().map(Result::unwrap);
            let lines: Vec<String> = lines.take_while(|it| !it.is_empty()).collect();
            let (status, body) = match lines.first() {
                Some(first) if first.contains("/version ") => {
                    ("200 OK", r#"{"ApiVersion":"1.41","Version":"20.10.24"}"#)
                }
                _ => ("404 Not Found", r#"{"message":"there is none"}"#),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = asked.into_inner().write_all(answer.as_bytes());
        }
    });
    with_host(&format!("unix://{}", socket.display()))
        .says("s: waiting for the Docker engine at unix://")
        .says(&format!("the image `{A}` is not there"));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fails_whoever_needs_it_is_not_waited_for_again() {
    if !engine("images that never get ready") {
        return;
    }
    let exits = "ENTRYPOINT [\"/bin/mcp-eval\", \"nonsense\"]\nCMD []";
    let ill = "HEALTHCHECK --interval=100ms --retries=1000 CMD [\"/bin/mcp-eval\", \"nonsense\"]";
    for (name, lines, said) in [
        ("exits", exits, "the container has exited with code 2"),
        (
            "ill",
            ill,
            "the container is not ready after 2s: still waiting for its health check",
        ),
    ] {
        let image = format!("mcp-eval-test/{name}:1");
        let label = format!("dev.mcp-eval.test={name}");
        derived(&image, &format!("LABEL {label}\n{lines}"));
        let project = Project::new();
        let section = json!({ "image": image, "ready": { "timeout": "2s" } });
        for name in ["one", "two", "three"] {
            scenario(&project, name, &section, &search(), &json!({}));
        }
        let other = json!({ "image": image, "ready": { "timeout": "1s" } });
        scenario(&project, "zero", &other, &search(), &json!({}));
        let result = project.result(3, &["run", "--jobs", "1"]);
        let scenarios = result["scenarios"].as_array().unwrap();
        let message = |it: &Value| it["problem"]["message"].as_str().unwrap().to_owned();
        let of_same = scenarios
            .iter()
            .filter(|it| it["id"] != "zero")
            .map(message);
        let of_same: Vec<String> = of_same.collect();
        assert!(of_same[0].starts_with(said), "{of_same:?}");
        assert!(of_same.iter().all(|it| *it == of_same[0]), "{of_same:?}");
    }
}

#[test]
fn an_optional_image_without_an_engine_is_a_skip_that_says_why() {
    let project = Project::new();
    searching(&project, &json!({ "optional": true }));
    let mut command = project.command();
    let ran = ran(command
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .arg("run"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("skipped").says("no Docker engine runs at");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn without_permission_the_way_to_it_is_shown() {
    let what = "an engine without permission";
    if !engine(what) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skipped(what, "only root can become somebody else");
    }
    let project = project();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(project.path(""), open).unwrap();
    // The program may lie where no other user can read it.
    let program = project.path("mcp-eval");
    std::fs::copy(env!("CARGO_BIN_EXE_mcp-eval"), &program).unwrap();
    let mut command = std::process::Command::new(program);
    command
        .arg("run")
        .current_dir(project.path(""))
        .env_clear()
        .uid(65534)
        .gid(65534);
    let ran = ran(&mut command);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("no permission to use the Docker engine at unix:///var/run/docker.sock")
        .says("usermod -aG docker");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_taken_port_is_named() {
    if !engine("taken ports") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let project = Project::new();
    searching(&project, &json!({ "host_port": port }));
    project
        .expect(3, &["run"])
        .says(&format!("port {port} of this machine is taken"))
        .says("without `host_port`, a free one is used");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_program_that_is_not_in_the_image_is_reported() {
    if !engine("missing programs") {
        return;
    }
    let image = "mcp-eval-test/demo:nowhere";
    derived(image, "ENTRYPOINT [\"/nowhere\"]");
    let project = Project::new();
    searching(&project, &json!({ "image": image }));
    project
        .expect(3, &["run"])
        .says("cannot be started")
        .says("look at `command` and at the image's entry point");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_failing_build_shows_what_it_said() {
    if !engine("failing builds") {
        return;
    }
    let project = Project::new();
    let build = |what: Value| json!({ "image": null, "build": what });
    project.file("image/Dockerfile", format!("FROM {A}\nCOPY nothing /\n"));
    searching(&project, &build(json!("../image")));
    project
        .expect(3, &["run"])
        .says("image failed: ")
        .says("nothing")
        .says("Step 2/");
    searching(&project, &build(json!("../nowhere")));
    project.expect(3, &["run"]).says("there is no folder");
    let other = json!({ "context": "../image", "dockerfile": "Other" });
    searching(&project, &build(other));
    project
        .expect(3, &["run"])
        .says("there is no file")
        .says("`build: { context, dockerfile }` names another");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_image_is_built_once_with_its_arguments_and_without_what_is_ignored() {
    if !engine("building images") {
        return;
    }
    let project = Project::new();
    project
        .file("image/Dockerfile", format!("FROM {A}\nARG NAME=none\nLABEL org.opencontainers.image.version=$NAME\nCOPY . /files\n"))
        .file("image/.dockerignore", "secret.txt\nmany/*\n!many/kept.txt\n")
        .file("image/secret.txt", "hidden")
        .file("image/many/gone.txt", "gone")
        .file("image/many/kept.txt", "kept");
    let build = json!({ "context": "../image", "args": { "NAME": "${VERSION:-7.1}" } });
    let section = json!({ "image": null, "build": build });
    for name in ["one", "two"] {
        scenario(&project, name, &section, &search(), &json!({}));
    }
    let ran = project.expect(0, &["run", "--jobs", "2"]);
    for (said, times) in [
        (": building the image of ", 1),
        (": built the image of ", 1),
    ] {
        assert_eq!(ran.stderr.matches(said).count(), times, "{ran:#?}");
    }
    let log = ran.stderr.split("; log: ").nth(1).unwrap();
    let log = project.read(log.lines().next().unwrap());
    assert!(log.starts_with("Step 1/"), "{log}");
    let result = project.result(0, &["run", "scenarios/one.yaml"]);
    let image = &result["scenarios"][0]["current"]["stamp"]["image"];
    assert_eq!(image["version"], "7.1");
    let name = image["name"].as_str().unwrap();
    assert!(name.starts_with("mcp-eval/image:"), "{name}");
    let id = docker(&["create", name]);
    let listed = std::process::Command::new("sh")
        .args(["-c", &format!("docker export {id} | tar -t")])
        .output()
        .unwrap();
    docker(&["rm", &id]);
    docker(&["rmi", name]);
    let files = String::from_utf8(listed.stdout).unwrap();
    assert!(files.contains("files/many/kept.txt"), "{files}");
    assert!(
        !files.contains("gone.txt") && !files.contains("secret.txt"),
        "{files}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_container_that_is_killed_during_a_run_leaves_no_verdict() {
    if !engine("killing a container") {
        return;
    }
    let project = Project::new();
    let calls = vec![("describe_tool", json!({ "tool": "printEnv" })); 40];
    scenario(&project, "s", &json!({ "image": B }), &calls, &json!({}));
    let mut child = project
        .command()
        .args(["run", "-v"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|it| it.unwrap().contains("call 1/40")));
    let label = format!("dev.mcp-eval.process={}", child.id());
    let names = containers(&[&label]);
    assert_eq!(names.len(), 1, "{names:?}");
    docker(&["kill", &names[0]]);
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{printed} {rest:?}");
    let flowing = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flowing.contains("the container has exited with code 137 (SIGKILL) during the run"),
        "{printed}"
    );
    assert_eq!(containers(&[&label]), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn secrets_are_taken_out_of_what_a_container_says() {
    if !engine("secrets in logs") {
        return;
    }
    let project = Project::new();
    let section =
        json!({ "command": ["--${PROXY_TOKEN}"], "env": { "API_KEY": "another-hidden-value" } });
    searching(&project, &section);
    let mut command = project.command();
    let ran = ran(command
        .env("PROXY_TOKEN", "hidden-value-of-mine")
        .arg("run"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("exited with code 2")
        .says("<secret:")
        .says_not("hidden-value-of-mine");
    let result = project.read("reports/latest/result.json");
    let result: Value = serde_json::from_str(&result).unwrap();
    let id = result["run_id"].as_str().unwrap();
    let log = project.read(format!(".mcp-eval/runs/{id}/logs/s.log"));
    assert!(
        log.contains("<secret:") && !log.contains("hidden-value-of-mine"),
        "{log}"
    );
}
