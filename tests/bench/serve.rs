//! How long a batch of runs takes over HTTP, beside `mcp-eval run` of the same scenarios, as many at a time.
//!
//! `cargo bench --bench serve`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]
#![expect(
    clippy::print_stdout,
    reason = "its figures are what a benchmark is for"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_eval::client::TestClient;
use serde_json::{Value, json};

const SCENARIOS: usize = 1000;
const ROUNDS: usize = 3;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    project(root);
    let jobs = std::thread::available_parallelism().map_or(2, |it| it.get().clamp(2, 8));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut took = [Vec::new(), Vec::new()];
    let (mut server, client) = serve(root);
    // In turn, because machines are slower at times. The first round is not counted.
    for round in 0..=ROUNDS {
        let alone = command_line(root, jobs);
        let over_http = runtime.block_on(batch(&client, jobs));
        if round > 0 {
            took[0].push(alone);
            took[1].push(over_http);
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let mut ratios: Vec<f64> = (took[0].iter().zip(&took[1]))
        .map(|(alone, over_http)| over_http.as_secs_f64() / alone.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ROUNDS / 2];
    let [alone, over_http] = took.map(median);
    println!(
        "{SCENARIOS} mock runs, {jobs} at a time: run {alone:.1?}, run-batch {over_http:.1?}, ratio {ratio:.2}"
    );
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() / 2]
}

/// Scenarios that each ask a mock server of their own.
fn project(root: &Path) {
    let mock = json!({ "s": { "tools": [{ "name": "read", "responses": [{ "content": "twelve bottles" }] }] } });
    fs::create_dir(root.join("scenarios")).unwrap();
    for number in 0..SCENARIOS {
        let scenario = json!({
            "name": format!("Scenario {number}"),
            "servers": { "s": { "type": "mock" } },
            "expected_trajectory": [{ "tool": "read", "args": { "page": number } }],
            "success_criteria": ["twelve bottles"],
            "mcp_interactions": mock,
        });
        let path = root.join(format!("scenarios/s{number:04}.yaml"));
        fs::write(path, scenario.to_string()).unwrap();
    }
}

fn mcp_eval(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-eval"));
    command.current_dir(root).stdin(Stdio::null());
    command
}

fn command_line(root: &Path, jobs: usize) -> Duration {
    let began = Instant::now();
    let done = mcp_eval(root)
        .args(["run", "--no-report", "-q", "--jobs", &jobs.to_string()])
        .stdout(Stdio::null())
        .status();
    assert!(done.unwrap().success());
    began.elapsed()
}

fn serve(root: &Path) -> (Child, TestClient) {
    let mut server = mcp_eval(root)
        .args(["serve", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let text = |key: &str| ready[key].as_str().unwrap().to_owned();
    (server, TestClient::new(text("url"), Some(text("token"))))
}

async fn batch(client: &TestClient, jobs: usize) -> Duration {
    let cases = (0..SCENARIOS).map(|it| json!({ "scenario": format!("s{it:04}") }));
    let body = json!({ "testCases": cases.collect::<Vec<_>>(), "parallel": jobs });
    let began = Instant::now();
    let reply = client.run_batch(&body).await.unwrap();
    assert_eq!(reply.summary.passed, SCENARIOS);
    began.elapsed()
}
