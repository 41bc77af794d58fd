//! What `db import` takes: nothing that the schema cannot mean.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::kit::{Place, shop};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn rows_hold_what_the_schema_can_mean() {
    let place = Place::file();
    shop(
        &place.project,
        "tea",
        "7.50",
        "evaluators: [{ type: trace-no-errors }]",
    );
    place.expect(0, &["run"]);
    let text = place.expect(0, &["db", "export"]).stdout;
    let lines: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let other = place.another();
    let refused = |lines: &[Value], why: &str| {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        other.project.file("rows.jsonl", text);
        let done = other.expect(3, &["db", "import", "rows.jsonl"]);
        done.says("rows.jsonl")
            .says(why)
            .says_not("cannot be used")
            .says_not("constraint");
        assert!(!other.project.path(".mcp-eval").exists(), "{why}");
    };
    for (table, column, value, why) in [
        (
            "runs",
            "status",
            json!("great"),
            "is no status that there is",
        ),
        ("runs", "started_at", json!("yesterday"), "is no time"),
        (
            "runs",
            "started_at",
            json!("2026-01-31T12:00:00Z"),
            "is no time",
        ),
        ("runs", "total", json!(-1), "is -1, and counts something"),
        ("runs", "total", json!("many"), "is no whole number"),
        ("runs", "total", json!(1.5), "is no whole number"),
        ("runs", "command", Value::Null, "is missing"),
        ("runs", "name", json!(7), "is no text"),
        (
            "results",
            "status",
            json!("great"),
            "is no status that there is",
        ),
        ("results", "tags", json!("shop"), "is no JSON"),
        ("results", "tags", json!("{}"), "is no JSON list of texts"),
        (
            "results",
            "actual_tools",
            json!("[1]"),
            "is no JSON list of texts",
        ),
        ("results", "verdict", json!("[]"), "is no JSON object"),
        ("results", "duration_ms", json!(-1.0), "is below 0"),
        ("results", "duration_ms", json!("1"), "is no number"),
        ("results", "flaky", json!(2), "is 2, and may be 0 or 1"),
        (
            "results",
            "run_id",
            json!("nobody"),
            "is of no run that stands before it",
        ),
        (
            "evaluations",
            "status",
            json!("timeout"),
            "is no status that there is",
        ),
        (
            "tool_calls",
            "status",
            json!("passed"),
            "is no status that there is",
        ),
        (
            "tool_calls",
            "result_id",
            json!("nobody"),
            "is of no result",
        ),
    ] {
        let mut lines = lines.clone();
        let at = lines.iter().position(|it| it.get(table).is_some()).unwrap();
        lines[at][table][column] = value;
        refused(
            &lines,
            &format!("line {}: `{table}.{column}` {why}", at + 1),
        );
    }
    let mut newer = lines.clone();
    newer[0]["schema"] = json!(99);
    other.project.file(
        "rows.jsonl",
        newer
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    other
        .expect(2, &["db", "import", "rows.jsonl"])
        .says("line 1: its schema is version 99");

    // However far behind it stands, nothing before it is added.
    let scenario = lines.iter().find(|it| it.get("scenarios").is_some());
    let scenario = scenario.unwrap().clone();
    let mut long = lines.clone();
    for number in 0..1200 {
        let mut more = scenario.clone();
        more["scenarios"]["id"] = json!(format!("more {number}"));
        long.push(more);
    }
    let mut last = scenario;
    last["scenarios"]["created_at"] = json!("");
    long.push(last);
    refused(
        &long,
        &format!("line {}: `scenarios.created_at` is no time", long.len()),
    );

    place.project.file("rows.jsonl", text);
    other
        .project
        .file("rows.jsonl", place.project.read("rows.jsonl"));
    other
        .expect(0, &["db", "import", "rows.jsonl"])
        .says("1 runs and 1 results added");
}
