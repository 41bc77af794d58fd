//! A proxy in a container, and what it makes of calls at servers behind it on this machine.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, small_proxy};
use crate::docker::kit::{A, containers, docker, engine};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_proxy_in_a_container_reaches_the_servers_behind_it() {
    if !engine("servers behind a container") {
        return;
    }
    let project = Project::new();
    let image = "mcp-eval-test/proxy:1";
    project.file(
        "image/Dockerfile",
        format!(
            "FROM {A}\nCOPY proxy /bin/proxy\nENV LISTEN=0.0.0.0\nLABEL dev.mcp-eval.test=behind\nENTRYPOINT [\"/bin/proxy\", \"8080\", \"/proxy.json\"]\nCMD []\n"
        ),
    );
    fs::copy(small_proxy(), project.path("image/proxy")).unwrap();
    let folder = project.path("image");
    docker(&["build", "-q", "-t", image, folder.to_str().unwrap()]);
    let configured = |faults: &[&str]| {
        let config =
            json!({ "upstreams": { "files": "{{upstream.files.url}}" }, "faults": faults });
        project.file("scenarios/proxy.json", config.to_string());
    };
    let scenario = json!({
        "name": "s",
        "config_file": "proxy.json",
        "docker": { "image": image, "port": 8080, "config_target": "/proxy.json" },
        "servers": { "proxy": { "type": "http", "url": "${docker.url}/mcp" } },
        "upstreams": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": { "tools": [{ "name": "write", "responses": [{ "content": "written" }] }] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "files__write", "args": { "path": "/b" } }] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    configured(&[]);
    // Each of the two takes has a container of its own, and both get the same address.
    project.expect(0, &["record"]);
    let baseline = fs::read_to_string(project.path("baselines/s/baseline.json")).unwrap();
    let baseline: Value = serde_json::from_str(&baseline).unwrap();
    let calls = &baseline["upstream"]["calls"];
    assert_eq!(calls.as_array().map(Vec::len), Some(1), "{calls}");
    assert_eq!(calls[0]["arguments"], json!({ "path": "/b" }));
    project.expect(0, &["compare", "--strict"]);
    configured(&["twice=write"]);
    let ran = project.expect(1, &["compare"]);
    ran.says("`files` received `write` 2 times, 1 before");
    assert!(
        containers(&["dev.mcp-eval.test=behind"]).is_empty(),
        "all are removed"
    );
    // What stands already was given no address.
    let ran = project.expect(3, &["compare", "--no-docker"]);
    ran.says("`upstreams`");
}
