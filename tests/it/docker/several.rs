//! Several containers of one scenario, on a network of their own.

use serde_json::{Value, json};

use crate::common::Project;
use crate::docker::kit::{containers, docker, engine, own};

/// A scenario with these containers, whose `proxy` is asked.
fn scenario(project: &Project, containers: &Value) {
    let scenario = json!({
        "name": "s",
        "containers": containers,
        "servers": { "proxy": { "type": "http", "url": "${containers.proxy.url}/mcp" } },
        "expected_trajectory": [
            { "tool": "upstream_servers", "args": { "operation": "add", "name": "weather" } },
            { "tool": "upstream_servers", "args": { "operation": "list" } },
        ],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
}

fn networks() -> Vec<String> {
    let filter = [
        "--filter",
        "label=dev.mcp-eval.session",
        "--format",
        "{{.Name}}",
    ];
    let listed = docker(&[&["network", "ls"][..], &filter].concat());
    listed.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn several_containers_are_started_in_order_and_reach_each_other_by_name() {
    if !engine("several containers") {
        return;
    }
    let (image, label) = own("several");
    let project = Project::new();
    // It is healthy only while the one before it is reached by its name, so the run proves that it was.
    let asks = "HEALTHCHECK --interval=200ms --retries=20 CMD [\"/bin/mcp-eval\", \"run\", \"--no-report\", \"/look.yaml\"]";
    let look = json!({
        "name": "look",
        "servers": { "u": { "type": "http", "url": "http://upstream:8080/mcp" } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "retrieve_tools", "args": { "query": "x" } }] },
    });
    project.file("image/look.yaml", look.to_string());
    project.file(
        "image/Dockerfile",
        format!("FROM {image}\nCOPY look.yaml /\nWORKDIR /tmp\n{asks}\n"),
    );
    let asking = "mcp-eval-test/several-asking:1";
    docker(&[
        "build",
        "-q",
        "-t",
        asking,
        project.path("image").to_str().unwrap(),
    ]);
    let proxy = json!({ "image": asking, "port": 8080, "ready": { "tools": ["retrieve_tools"] } });
    scenario(
        &project,
        &json!({ "upstream": { "image": image }, "proxy": proxy }),
    );
    let before = networks();
    // Adding a server twice is an error: each take has fresh ones.
    project.expect(0, &["record"]).says("1/1 tests recorded");
    let ran = project.expect(0, &["compare", "-v", "--jobs", "2"]);
    ran.says("1/1 tests passed");
    let (first, second) = (format!("starting {image}"), format!("starting {asking}"));
    assert!(ran.stderr.find(&first).unwrap() < ran.stderr.find(&second).unwrap());
    assert!(containers(&[&label]).is_empty(), "all are removed");
    let left: Vec<String> = networks()
        .into_iter()
        .filter(|it| !before.contains(it))
        .collect();
    // Other tests may have some of theirs by now.
    assert!(!left.iter().any(|it| ran.stderr.contains(it.as_str())));
    let logs = walkdir::WalkDir::new(project.path(".mcp-eval/runs"))
        .into_iter()
        .flatten();
    let log = logs.filter(|it| it.file_name() == "s.log").last().unwrap();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(
        log.contains("==> upstream <==") && log.contains("==> proxy <=="),
        "{log}"
    );

    // Without the one it needs, it does not get ready, and the message says which.
    let alone = json!({ "image": asking, "port": 8080, "ready": { "timeout": "4s" } });
    scenario(
        &project,
        &json!({ "other": { "image": image }, "proxy": alone }),
    );
    project
        .expect(3, &["compare"])
        .says("container `proxy`: the container is");
    assert!(containers(&[&label]).is_empty(), "all are removed");
}

#[test]
fn what_means_nothing_under_several_containers_is_an_error() {
    let project = Project::new();
    let several = json!({
        "proxy": { "image": "a", "port": 8080, "network": "mine", "reset": "suite" },
        "a b": { "image": "b", "ready": { "tools": ["t"] }, "host_port": 8081 },
    });
    scenario(&project, &several);
    let validated = project.expect(2, &["validate"]);
    for part in [
        "`network` means nothing under `containers`",
        "`reset` means nothing under `containers`",
        "is not a name that the others could reach it by",
        "`ready` means nothing without `port`",
        "`host_port` means nothing without `port`",
    ] {
        validated.says(part);
    }
    let both = json!({
        "name": "s",
        "docker": { "image": "a" },
        "containers": { "b": { "image": "b", "port": 1 } },
        "servers": { "s": { "type": "http", "url": "${containers.c.url}/mcp" } },
        "expected_trajectory": [{ "tool": "t" }],
    });
    project.file("scenarios/s.yaml", both.to_string());
    project
        .expect(2, &["validate"])
        .says("`docker` and `containers` exclude each other")
        .says("does not say which port to publish")
        .says("nothing in the scenario provides `containers.c.url`");
}
