//! What the results database costs: to ask it about one scenario when it has a hundred thousand results, to open it, and to write to it while
//! scenarios run, each beside doing the same without it.
//!
//! `cargo bench --bench database`

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

use mcp_eval::store::database::{Database, Options, Place};

/// A hundred thousand results: so many runs of so many scenarios.
const RUNS: usize = 1000;
const SCENARIOS: usize = 100;
/// How many scenarios run in one command.
const MANY: usize = 1000;
const ROUNDS: usize = 15;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fill(root);
    let file = root.join(".mcp-eval/results.db");
    let megabytes = fs::metadata(&file).unwrap().len() / 1_000_000;
    println!("{} results in {megabytes} MB", RUNS * SCENARIOS);

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let opening = median(ROUNDS, || {
        let database = Database::new(Place::file(&file), Options::default());
        runtime.block_on(database.health()).unwrap();
    });
    println!("opening it: {opening:.1?} (goal 20 ms)");
    let start = median(ROUNDS, || ran(root, &["--version"]));
    let one = median(ROUNDS, || ran(root, &["history", "s7"]));
    println!("history NAME: {one:.1?}, of which the start of a program {start:.1?} (goal 50 ms)");
    let all = median(3, || ran(root, &["history"]));
    println!("history: {all:.1?}");

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    scenario(root, "one", "");
    compare(
        "one run",
        root,
        &["run", "-q", "--no-report", "scenarios/one.yaml"],
        ROUNDS,
    );
    let rows: Vec<String> = (0..MANY).map(|it| format!("{{\"id\": {it}}}")).collect();
    fs::write(root.join("scenarios/rows.jsonl"), rows.join("\n")).unwrap();
    scenario(root, "many", "dataset: rows.jsonl\n");
    compare(
        &format!("{MANY} runs"),
        root,
        &["run", "-q", "--no-report", "scenarios/many.yaml"],
        3,
    );
}

/// The same with and without the database, in turn, because machines are slower at times. The first round is not counted.
fn compare(what: &str, root: &Path, arguments: &[&str], rounds: usize) {
    let mut took = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for (took, options) in took.iter_mut().zip([&["--no-db"][..], &[]]) {
            let started = Instant::now();
            ran(root, &[arguments, options].concat());
            if round > 0 {
                took.push(started.elapsed());
            }
        }
    }
    let mut ratios: Vec<f64> = (took[0].iter().zip(&took[1]))
        .map(|(without, with)| with.as_secs_f64() / without.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let [without, with] = took.map(|mut it| {
        it.sort();
        it[it.len() / 2]
    });
    let more = with.as_secs_f64() * 1000.0 - without.as_secs_f64() * 1000.0;
    println!(
        "{what}: {with:.1?} with the database, {without:.1?} without, {more:.1} ms more, ratio {ratio:.2}"
    );
}

fn median(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..rounds)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    took.sort();
    took[took.len() / 2]
}

fn ran(root: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-eval"));
    let done = command
        .args(arguments)
        .current_dir(root)
        .env_remove("CI")
        .env_remove("MCP_EVAL_DB")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// A scenario with a mock server.
fn scenario(root: &Path, name: &str, more: &str) {
    fs::create_dir_all(root.join("scenarios")).unwrap();
    let text = format!(
        "name: {name}\n{more}servers: {{ shop: {{ type: mock }} }}\nmcp_interactions:\n  shop:\n    tools:\n      - {{ name: pay, responses: \
         [{{ content: paid }}] }}\nexpected_trajectory:\n  - {{ tool: mcp__shop__pay, args: {{}} }}\n"
    );
    fs::write(root.join(format!("scenarios/{name}.yaml")), text).unwrap();
}

/// Makes one result, and of it as many as there are to be.
fn fill(root: &Path) {
    scenario(root, "s7", "");
    ran(root, &["run", "-q"]);
    let file = rusqlite::Connection::open(root.join(".mcp-eval/results.db")).unwrap();
    let columns = |table: &str| -> Vec<String> {
        let mut asked = file
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap();
        let names = asked.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let copied = |table: &str, of: &dyn Fn(&str) -> Option<&'static str>| -> String {
        let columns = columns(table);
        let values: Vec<String> = columns
            .iter()
            .map(|it| of(it).map_or_else(|| format!("o.{it}"), str::to_owned))
            .collect();
        format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {table} o",
            columns.join(", "),
            values.join(", ")
        )
    };
    let at = "strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2020-01-01', '+' || r.n || ' hours')";
    let numbers = |name: &str, count: usize| {
        format!("{name}(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM {name} WHERE n + 1 < {count})")
    };
    let runs = copied("runs", &|column| match column {
        "id" | "run" => Some("'r' || r.n"),
        "started_at" => {
            Some("strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2020-01-01', '+' || r.n || ' hours')")
        }
        _ => None,
    });
    let results = copied("results", &|column| match column {
        "id" => Some("'x' || r.n || '-' || s.n"),
        "run_id" => Some("'r' || r.n"),
        "scenario_id" | "test_name" => Some("'s' || s.n"),
        "created_at" => {
            Some("strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2020-01-01', '+' || r.n || ' hours')")
        }
        "duration_ms" => Some("100.0 + (r.n * 7 + s.n) % 50"),
        _ => None,
    });
    assert!(runs.contains(at), "{runs}");
    let (r, s) = (numbers("r", RUNS), numbers("s", SCENARIOS));
    file.execute_batch(&format!(
        "BEGIN; WITH RECURSIVE {r} {runs}, r LIMIT {RUNS}; WITH RECURSIVE {r}, {s} {results}, r, s LIMIT {}; COMMIT; ANALYZE;",
        RUNS * SCENARIOS
    ))
    .unwrap();
}
