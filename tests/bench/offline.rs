//! How long the whole program takes to score a thousand stored runs of ten calls, beside merely reading the same files as JSON.
//!
//! `cargo bench --bench offline`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]
#![expect(
    clippy::print_stdout,
    reason = "its figures are what a benchmark is for"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const RUNS: usize = 1000;
const CALLS: usize = 10;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for number in 0..RUNS {
        write(
            &root.join(format!("baselines/s{number}/baseline.json")),
            &trajectory(number, "10:00:00"),
        );
        write(
            &root.join(format!("runs/s{number}.json")),
            &trajectory(number, "11:22:33"),
        );
    }

    let reference = fastest(|| {
        for number in 0..RUNS {
            for path in [
                format!("baselines/s{number}/baseline.json"),
                format!("runs/s{number}.json"),
            ] {
                let text = fs::read(root.join(path)).unwrap();
                std::hint::black_box(serde_json::from_slice::<Value>(&text).unwrap());
            }
        }
    });
    println!("reading {} files as JSON: {reference:?}", 2 * RUNS);
    for (what, options) in [
        (
            "--format json --no-report",
            &["--format", "json", "--no-report"][..],
        ),
        ("all reports", &[]),
    ] {
        let mut peak = 0;
        // Every round writes a report of its own: file systems are slow to make files where others were just removed.
        let took = fastest(|| {
            peak = peak.max(compare(root, options));
        });
        let ratio = took.as_secs_f64() / reference.as_secs_f64();
        println!(
            "compare, {what}: {took:?}, {ratio:.1} times the reading, at most {} MB",
            peak / 1024
        );
    }
}

/// Runs the program and returns the most memory it held, in KiB (0 where `/usr/bin/time` is missing).
fn compare(root: &Path, options: &[&str]) -> u64 {
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let arguments = ["compare", "--baseline", "baselines", "--run", "runs"];
    let timer = Path::new("/usr/bin/time");
    let mut command = if timer.exists() {
        let mut command = Command::new(timer);
        command.args(["-f", "%M", "-o", "peak", program]);
        command
    } else {
        Command::new(program)
    };
    let output = command
        .args(arguments)
        .args(options)
        .current_dir(root)
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(root.join("peak"))
        .ok()
        .and_then(|it| it.trim().parse().ok())
        .unwrap_or(0)
}

/// The fastest of three.
fn fastest(mut work: impl FnMut()) -> Duration {
    let mut time = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let times = [time(), time(), time()];
    times.into_iter().min().unwrap()
}

fn write(path: &Path, document: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, document.to_string()).unwrap();
}

/// A stored run, in the published format.
fn trajectory(number: usize, time: &str) -> Value {
    let steps: Vec<Value> = (0..CALLS)
        .map(|call| {
            let answer = json!({
                "servers": [{ "name": format!("server-{number}"), "connected": call % 2 == 0, "updated": format!("2026-01-02T{time}Z") }],
                "note": "what a proxy says of its upstream servers when it is asked for a list of them",
                "total": call,
            });
            json!({
                "kind": "tool_call", "server": "proxy", "tool": format!("tool_{}", call % 4),
                "arguments": { "operation": "list", "query": format!("environment variables {call}"), "limit": 10 },
                "outcome": { "status": "ok", "content": [{ "type": "text", "text": answer.to_string() }] },
                "start_ms": 1.0, "duration_ms": 2.0,
            })
        })
        .collect();
    let tools: Vec<Value> = (0..4)
        .map(|tool| json!({ "name": format!("tool_{tool}"), "inputSchema": { "type": "object", "properties": { "query": { "type": "string" } } } }))
        .collect();
    json!({
        "format_version": 1,
        "scenario": { "id": format!("s{number}"), "name": format!("Scenario {number}"), "hash": null },
        "stamp": { "recorded_at": "2026-01-02T03:04:05Z", "mcp_eval": "0.1.0", "agent": "scripted", "scenarios": { "unknown": "not asked" }, "source": null },
        "ending": { "kind": "completed" }, "duration_ms": 12.0, "steps": steps,
        "catalogue": [{ "server": "proxy", "info": null, "protocol_version": null, "tools": tools }],
    })
}
