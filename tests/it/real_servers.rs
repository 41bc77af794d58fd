//! Servers from npm and `PyPI`, recorded and compared again in the same version: nothing may look like a change.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Project, free_port, skipped};

/// How often a baseline is compared with.
const RETAKES: usize = 3;

/// The programs, where they are installed.
struct Installed {
    node: OsString,
    everything: String,
    memory: String,
    time: String,
    /// Puts a server that speaks over stdio behind Streamable HTTP.
    proxy: String,
}

fn installed() -> Result<Installed, String> {
    let named = |variable: &str, package: &str| {
        let path = std::env::var(variable).ok();
        path.filter(|it| Path::new(it).exists())
            .ok_or_else(|| format!("{variable} names no copy of {package}"))
    };
    let servers = "@modelcontextprotocol/server";
    Ok(Installed {
        node: std::env::var_os("MCP_EVAL_NODE").unwrap_or_else(|| "node".into()),
        everything: named("MCP_EVAL_EVERYTHING", &format!("{servers}-everything"))?,
        memory: named("MCP_EVAL_MEMORY", &format!("{servers}-memory"))?,
        time: named("MCP_EVAL_TIME", "mcp-server-time")?,
        proxy: named("MCP_EVAL_MCP_PROXY", "mcp-proxy")?,
    })
}

/// What is asked of each server, and how to see that it can be.
fn questions() -> [(&'static str, Value, Value); 3] {
    [
        (
            "everything",
            json!([
                { "tool": "echo", "args": { "message": "hello" } },
                { "tool": "get-sum", "args": { "a": 2, "b": 40 } },
                { "tool": "get-structured-content", "args": { "location": "New York" } },
                { "tool": "get-annotated-message", "args": { "messageType": "error", "includeImage": true } },
                { "tool": "get-resource-links", "args": { "count": 3 } },
                { "tool": "get-tiny-image", "args": {} },
            ]),
            json!({ "tool": "echo", "args": { "message": "ready" }, "expect": { "text": "ready" } }),
        ),
        (
            "time",
            json!([
                { "tool": "get_current_time", "args": { "timezone": "Europe/Lisbon" } },
                { "tool": "convert_time", "args": { "source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kolkata" } },
            ]),
            json!({ "tool": "get_current_time", "args": { "timezone": "UTC" }, "expect": { "path": "/timezone", "equals": "UTC" } }),
        ),
        (
            "memory",
            json!([
                { "tool": "read_graph", "args": {} },
                { "tool": "search_nodes", "args": { "query": "Lisbon" } },
                { "tool": "open_nodes", "args": { "names": ["Ada", "nobody"] } },
            ]),
            json!({ "tool": "read_graph", "expect": { "path": "/entities", "min_items": 2 } }),
        ),
    ]
}

/// What server-memory remembers.
const MEMORY: &str = r#"{"type":"entity","name":"Ada","entityType":"person","observations":["lives in Lisbon"]}
{"type":"entity","name":"Lisbon","entityType":"city","observations":["lies by the sea"]}
{"type":"relation","from":"Ada","to":"Lisbon","relationType":"lives in"}
"#;

impl Installed {
    /// The command line of a server that speaks over stdio.
    fn command(&self, server: &str) -> Vec<String> {
        let node = self.node.to_string_lossy().into_owned();
        match server {
            "everything" => vec![node, self.everything.clone(), "stdio".to_owned()],
            "memory" => vec![node, self.memory.clone()],
            _ => vec![self.time.clone(), "--local-timezone".into(), "UTC".into()],
        }
    }
}

fn scenario(project: &Project, name: &str, server: &Value, calls: &Value, ready: &Value) {
    let mut server = server.clone();
    server["ready"] = json!({ "calls": [ready], "settle": "300ms" });
    let scenario = json!({
        "name": name,
        "servers": { name: server },
        "expected_trajectory": calls,
        // Its server says nothing of what reads.
        "scoring": { "reads": calls.as_array().unwrap().iter().map(|it| it["tool"].clone()).collect::<Value>() },
    });
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

/// Records, and compares a few times.
#[track_caller]
fn no_alarm(project: &Project) {
    project
        .expect(0, &["validate"])
        .says("0 errors, 0 warnings");
    project.expect(0, &["record", "--jobs", "3"]);
    for _ in 0..RETAKES {
        let result = project.result(0, &["compare", "--jobs", "3"]);
        for scenario in result["scenarios"].as_array().unwrap() {
            assert_eq!(scenario["status"], "passed", "{scenario:#}");
            let overall = &scenario["comparison"]["scores"]["overall"];
            assert_eq!(overall.as_f64(), Some(1.0), "{scenario:#}");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn real_servers_over_stdio_raise_no_alarm() {
    let servers = match installed() {
        Ok(servers) => servers,
        Err(why) => return skipped("real servers over stdio were not asked", &why),
    };
    let project = Project::new();
    project.file("memory.jsonl", MEMORY);
    for (name, calls, ready) in questions() {
        let command = servers.command(name);
        let server = json!({
            "type": "stdio", "command": command[0], "args": command[1..],
            "env": { "MEMORY_FILE_PATH": project.path("memory.jsonl") },
        });
        scenario(&project, name, &server, &calls, &ready);
    }
    no_alarm(&project);
}

/// A server that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn real_servers_over_http_raise_no_alarm() {
    let servers = match installed() {
        Ok(servers) => servers,
        Err(why) => return skipped("real servers over HTTP were not asked", &why),
    };
    let project = Project::new();
    project.file("memory.jsonl", MEMORY);
    let mut running = Vec::new();
    for (name, calls, ready) in questions() {
        let port = free_port().to_string();
        let mut command = if name == "everything" {
            let mut command = Command::new(&servers.node);
            command.args([&servers.everything, "streamableHttp"]);
            command
        } else {
            let mut command = Command::new(&servers.proxy);
            command.args(["--pass-environment", "--port", &port, "--"]);
            command.args(servers.command(name));
            command
        };
        let command = command
            .env("PORT", &port)
            .env("MEMORY_FILE_PATH", project.path("memory.jsonl"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Nobody waits for it here: that it is there before it is asked is what `ready` is for.
        running.push(Running(command.spawn().unwrap()));
        let url = format!("http://127.0.0.1:{port}/mcp");
        let server = json!({ "type": "http", "url": url });
        scenario(&project, name, &server, &calls, &ready);
    }
    no_alarm(&project);
}
