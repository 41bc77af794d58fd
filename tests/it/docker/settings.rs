//! What the `docker` section says reaches the container, to the letter.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::Project;
use crate::docker::kit::{B, containers, docker, engine, scenario};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_setting_reaches_the_container() {
    if !engine("the settings of a container") {
        return;
    }
    let project = Project::new();
    project
        .file(
            "scenarios/config.json",
            "{\"mcpServers\": {\"behind\": {\"command\": \"nowhere\"}}}",
        )
        .file("scenarios/data/file.txt", "data");
    let section = json!({
        "image": B,
        "env": { "PLAIN": "value", "FROM_OUTSIDE": "${OUTSIDE:-a default}" },
        "command": ["--max-body", "1000000"],
        "mounts": [
            "./data:/data:ro",
            { "source": "data/file.txt", "target": "/file.txt" },
            { "tmpfs": true, "target": "/scratch" },
        ],
        "config_target": "/etc/proxy.json",
        "network": "bridge",
        "memory": "256m",
        "cpus": 1.5,
        "pids": 50,
        "user": "1000:1001",
        "read_only": true,
        "docker_socket": true,
    });
    let calls = vec![("describe_tool", json!({ "tool": "printEnv" })); 60];
    let more = json!({ "config_file": "config.json" });
    scenario(&project, "s", &section, &calls, &more);
    let mut child = project
        .command()
        .args(["run", "-v"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut printed = String::new();
    assert!(said.any(|it| {
        printed.push_str(it.as_ref().unwrap());
        it.unwrap().contains("call 1/60")
    }));
    assert!(
        printed.contains("`docker_socket` gives the container the engine"),
        "{printed}"
    );
    let label = format!("dev.mcp-eval.process={}", child.id());
    let name = containers(&[&label]).remove(0);
    let inspected: Value = serde_json::from_str(&docker(&["inspect", &name])).unwrap();
    std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    said.for_each(drop);
    child.wait().unwrap();

    let (config, host) = (&inspected[0]["Config"], &inspected[0]["HostConfig"]);
    let env = config["Env"].to_string();
    assert!(
        env.contains("PLAIN=value") && env.contains("FROM_OUTSIDE=a default"),
        "{env}"
    );
    assert_eq!(config["Cmd"], json!(["--max-body", "1000000"]));
    assert_eq!(config["User"], "1000:1001");
    assert_eq!(host["Memory"], 256 * 1024 * 1024);
    assert_eq!(host["NanoCpus"], 1_500_000_000);
    assert_eq!(host["PidsLimit"], 50);
    assert_eq!(host["ReadonlyRootfs"], true);
    assert_eq!(host["NetworkMode"], "bridge");
    assert_eq!(host["PortBindings"]["8080/tcp"][0]["HostIp"], "127.0.0.1");
    let mounts = inspected[0]["Mounts"].as_array().unwrap();
    let mount = |target: &str| {
        let found = mounts.iter().find(|it| it["Destination"] == target);
        found.unwrap_or_else(|| panic!("nothing at {target}: {mounts:#?}"))
    };
    let folder = project.path("scenarios").canonicalize().unwrap();
    let is_at = |target: &str, file: &str, writable: bool| {
        let mount = mount(target);
        let source = std::path::Path::new(mount["Source"].as_str().unwrap());
        assert_eq!(source.canonicalize().unwrap(), folder.join(file));
        assert_eq!(mount["RW"], writable, "{target}");
    };
    is_at("/data", "data", false);
    is_at("/file.txt", "data/file.txt", true);
    is_at("/etc/proxy.json", "config.json", false);
    assert_eq!(mount("/scratch")["Type"], "tmpfs");
    assert_eq!(mount("/var/run/docker.sock")["RW"], true);
    for name in ["session", "machine", "boot", "process", "started"] {
        let label = config["Labels"][format!("dev.mcp-eval.{name}")].as_str();
        assert!(label.is_some_and(|it| !it.is_empty()), "{name}");
    }
}
