//! Integers are compared as integers, however long they are.

use mcp_eval::model::rules::Rules;
use serde_json::{Value, json};

use crate::common::{Project, faulty_server};
use crate::score_kit::{compare, only_pair};

const LONG: &str = "123456789012345678901234567890";
const OTHER: &str = "123456789012345678901234567891";

/// Two numbers as JSON writes them, and whether they are the same.
const CASES: [(&str, &str, bool); 14] = [
    ("1000000000", "1000000001", false),
    ("9007199254740992", "9007199254740993", false),
    ("18446744073709551615", "18446744073709551614", false),
    ("18446744073709551616", "18446744073709551617", false),
    ("18446744073709551615", "18446744073709551616", false),
    ("-9223372036854775809", "-9223372036854775810", false),
    (LONG, OTHER, false),
    (LONG, "-123456789012345678901234567890", false),
    (LONG, LONG, true),
    ("1000000000000000000000", "1e21", true),
    ("1000000000000000000001", "1e21", false),
    ("1000000000000000000000000000000", "1e30", true),
    ("1", "1.0", true),
    ("-10000000000000000000", "-1e19", true),
];

#[test]
fn in_json_they_differ_by_a_single_digit() {
    for (b, c, is_same) in CASES {
        for document in [
            "{\"id\": N}",
            "[N, 2]",
            "{\"rows\": [{\"id\": N, \"name\": \"a\"}, {\"id\": 7}]}",
        ] {
            let filled = |number: &str| document.replace('N', number);
            for (b, c) in [(b, c), (c, b)] {
                let (b, c) = (filled(b), filled(c));
                let answered =
                    |text: &str| json!({"tool": "mcp__p__t", "text": text, "reads": true});
                let asked = |text: &str| json!({"tool": "mcp__p__t", "args": {"filter": text}, "text": "x"});
                let compare = |b: Value, c: Value| compare(&[b], &[c], &Rules::default());

                let answers = compare(answered(&b), answered(&c));
                let response = &only_pair(&answers).response;
                assert_eq!(
                    response.differences.is_empty(),
                    is_same,
                    "{b} {c}: {response:?}"
                );
                assert_eq!(response.similarity >= 1.0, is_same, "{b} {c}");
                for it in &response.differences {
                    let shown = format!("{it:?}");
                    assert!(!shown.contains("fdd0"), "as it was written: {shown}");
                    assert!(it.expected != it.got, "{shown}");
                }

                let requests = compare(asked(&b), asked(&c));
                let request = &only_pair(&requests).request;
                assert_eq!(request.similarity >= 1.0, is_same, "{b} {c}: {request:?}");
            }
        }
    }
}

/// A server whose tool answers with an id in its structured content, and one in its text.
fn project(structured: &str, text: &str) -> Project {
    let project = Project::new();
    let result = json!({ "structuredContent": { "id": "N", "list": [{ "a/b": "N" }] }, "content": [{ "type": "text", "text": format!("{{\"no\": {text}}}") }] });
    let result = result.to_string().replace("\"N\"", structured);
    let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":{{{{id}}}},\"result\":{result}}}");
    let scenario = json!({
        "name": "ids",
        "servers": { "s": { "type": "mock" } },
        "mcp_interactions": { "s": { "tools": [{
            "name": "get",
            "annotations": { "read_only_hint": true },
            "responses": [{ "raw_message": message }],
        }] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "get", "args": {} }] },
    });
    project.file("scenarios/ids.yaml", scenario.to_string());
    project
}

#[test]
fn they_survive_the_wire_and_the_file() {
    let project = project(LONG, OTHER);
    project.expect(0, &["record"]);
    let baseline: Value =
        serde_json::from_str(&project.read("baselines/ids/baseline.json")).unwrap();
    let digits = &baseline["steps"][0]["outcome"]["digits"];
    assert_eq!(*digits, json!({ "/id": LONG, "/list/0/a~1b": LONG }));
    let same = project.expect(0, &["compare"]);
    same.says_not(LONG);

    project.edit("scenarios/ids.yaml", LONG, OTHER);
    let changed = project.run(&["compare", "-v", "--allow-changed", "--format", "json"]);
    let printed = changed.all();
    for text in [
        LONG,
        OTHER,
        "/structuredContent/id",
        "/structuredContent/list/0/a~1b",
    ] {
        changed.says(text);
    }
    assert!(
        !printed.contains('\u{fdd0}') && !printed.contains("fdd0"),
        "{printed}"
    );
}

#[test]
fn in_a_text_they_need_no_help_of_the_file() {
    let project = project("7", LONG);
    project.expect(0, &["record"]);
    project.edit("scenarios/ids.yaml", LONG, OTHER);
    let changed = project.run(&["compare", "-v", "--allow-changed", "--format", "json"]);
    changed.says(LONG).says(OTHER);
}

/// A file that was written before digits were kept says nothing of them.
#[test]
fn what_was_recorded_without_digits_is_no_change() {
    let project = project(LONG, "1");
    project.expect(0, &["record"]);
    let mut baseline: Value =
        serde_json::from_str(&project.read("baselines/ids/baseline.json")).unwrap();
    let outcome = baseline["steps"][0]["outcome"].as_object_mut().unwrap();
    outcome.remove("digits");
    project.file("baselines/ids/baseline.json", baseline.to_string());
    let result = project.result(0, &["compare"]);
    let printed = result.to_string();
    assert!(!printed.contains("/structuredContent/id"), "{printed}");
}

#[test]
fn they_are_passed_on_digit_for_digit() {
    let project = Project::new();
    let scenario = json!({
        "name": "s",
        "servers": {
            "a": { "command": faulty_server(), "args": [format!("text={{\"id\": {LONG}}}")] },
            "b": { "command": faulty_server(), "args": ["echo"] },
        },
        "expected_trajectory": [
            { "tool": "mcp__a__look", "args": {} },
            { "tool": "mcp__b__look", "args": { "id": "{{calls.0.json:/id}}", "name": "n-{{calls.0.json:/id}}" } },
        ],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    let sent = format!("{{\"id\":{LONG},\"name\":\"n-{LONG}\"}}");
    let read = project.read("baselines/s/trajectory.txt");
    assert_eq!(read.matches(&sent).count(), 2, "asked and answered: {read}");
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    assert_eq!(baseline["steps"][1]["digits"], json!({ "/id": LONG }));
    for agent in [&["compare"][..], &["compare", "--agent", "replay"]] {
        project.expect(0, agent).says("nothing changed");
    }
}
