//! How long `compare --against git:HEAD~1` of a suite takes beside one `compare` of it with its baselines: where nothing differs between the
//! two versions, and where every scenario differs in an answer. Both with a server that is there at once, so that nothing but processors is
//! waited for, and with one that takes 200 ms to start, as most servers do.
//!
//! `cargo bench --bench against`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]
#![expect(
    clippy::print_stdout,
    reason = "its figures are what a benchmark is for"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SCENARIOS: usize = 8;
const CALLS: usize = 5;
const ROUNDS: usize = 9;
/// What a server does that takes its time to start.
const SLOWLY: &str = "sleep 0.2\n";

fn main() {
    for (what, now, starting, expected) in [
        ("at once, nothing differs", "twelve bottles", "", 0),
        ("at once, every scenario differs", "eleven bottles", "", 1),
        ("200 ms, nothing differs", "twelve bottles", SLOWLY, 0),
        (
            "200 ms, every scenario differs",
            "eleven bottles",
            SLOWLY,
            1,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        project(root, now, starting);
        let mut took = [Vec::new(), Vec::new()];
        // In turn, because machines are slower at times. The first round is not counted.
        for round in 0..=ROUNDS {
            for (took, options) in took
                .iter_mut()
                .zip([&[][..], &["--against", "git:HEAD~1"][..]])
            {
                let it = compare(root, options, expected);
                if round > 0 {
                    took.push(it);
                }
            }
        }
        let mut ratios: Vec<f64> = (took[0].iter().zip(&took[1]))
            .map(|(one, both)| both.as_secs_f64() / one.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ROUNDS / 2];
        let [one, both] = took.map(median);
        println!("{what}: compare {one:.1?}, compare --against {both:.1?}, ratio {ratio:.2}");
    }
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() / 2]
}

/// Scenarios with baselines of the last commit but one of their server, which answers with `now` since the last one.
fn project(root: &Path, now: &str, starting: &str) {
    let server = root.join("server");
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let run = format!("{starting}exec '{program}' mock \"${{0%/*}}/mock.yaml\"\n");
    write(&server.join("run.sh"), &run);
    write(&server.join("mock.yaml"), &mock("twelve bottles"));
    commit(&server, "Say twelve");
    for number in 0..SCENARIOS {
        let calls: Vec<Value> = (0..CALLS)
            .map(|it| json!({ "tool": "read", "args": { "page": it } }))
            .collect();
        let scenario = json!({
            "name": format!("Scenario {number}"),
            "source": { "repo": "../server" },
            "servers": { "mine": { "command": "sh", "args": ["${source.dir}/run.sh"] } },
            "expected_trajectory": calls,
        });
        let path = root.join(format!("scenarios/s{number}.yaml"));
        write(&path, &scenario.to_string());
    }
    let recorded = mcp_eval(root, &["record"]);
    assert_eq!(recorded, Some(0));
    write(&server.join("mock.yaml"), &mock(now));
    write(&server.join("NEWS"), "There are news.\n");
    commit(&server, "Say it anew");
}

/// A server whose last page says this.
fn mock(said: &str) -> String {
    let page = |number: usize| {
        let text = if number + 1 == CALLS { said } else { "nothing" };
        json!({ "match": { "page": number }, "content": [{ "json": { "page": number, "said": text } }] })
    };
    let pages: Vec<Value> = (0..CALLS).map(page).collect();
    let read = json!({
        "name": "read",
        "annotations": { "read_only_hint": true },
        "input_schema": { "type": "object", "properties": { "page": { "type": "integer" } } },
        "responses": pages,
    });
    json!({ "tools": [read] }).to_string()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Commits all there is in a folder.
fn commit(folder: &Path, message: &str) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=b", "-c", "user.email=b@example.com"]);
        let done = command.args(arguments).current_dir(folder).output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", message]);
}

/// How long a comparison takes, which ends with this exit code.
fn compare(root: &Path, options: &[&str], expected: i32) -> Duration {
    let arguments = [&["compare"], options].concat();
    let began = Instant::now();
    assert_eq!(mcp_eval(root, &arguments), Some(expected));
    began.elapsed()
}

fn mcp_eval(root: &Path, arguments: &[&str]) -> Option<i32> {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mcp-eval"));
    let mut command = Command::new(program);
    let done = command.args(arguments).current_dir(root).output();
    done.unwrap().status.code()
}
